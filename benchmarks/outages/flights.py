# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Flights in fast time, in one process, beside a server, sensors and drives that fail."""

from __future__ import annotations

import numpy as np

from benchmarks.outages.outage import Gusts, Outage, Passed
from liedyn_ros.aerial import (
    AerialManipulator, Command, FlightControl, FlightSimulation, MujocoSimulation, Reference)
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives, Phase, Wanted
from liedyn_ros.model import load_model, scale_masses

STEP, LOOK = 0.004, 5  # s: states come at 250 Hz; steps between two looks at errors
LOST = 90.0, 10.0  # deg of attitude or m from the reference under commands: a crash
END = 10.0, 0.5  # deg, m: the bounds of a flight's end
WIND = 3.0, 1.5  # N, mean and gusts in each direction on the base: the drag of some 6 m/s
MASS = 0.2  # of which masses are known wrongly, at most
FLIGHT = (
    Outage('none'),
    Outage('server paused', 'server', 0.6), Outage('server paused', 'server', 2.0),
    Outage('server killed', 'server', 99.0), Outage('answers late', latency=0.05),
    Outage('answers late', latency=0.1), Outage('answers late', latency=0.2),
    Outage('another model, refused', 'server', 2.0), Outage('states paused', 'states', 0.3),
    Outage('states paused', 'states', 0.6), Outage('states paused', 'states', 1.0),
    Outage('states paused', 'states', 2.0), Outage('states killed', 'states', 99.0),
    Outage('a second publisher of states, refused', 'states', 0.6),
    Outage('commands lost', 'commands', 0.3), Outage('commands lost', 'commands', 0.6),
    Outage('commands lost', 'commands', 2.0), Outage('commands lost for good', 'commands', 99.0),
    Outage('commands doubled, 50 ms late', 'doubled', 2.0))


def vehicle() -> AerialManipulator:
    """Return the aerial manipulator of the package."""
    return AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))


class Flight:
    """A vehicle, its controller whose masses may be wrong, and what fails between them."""

    def __init__(self, machine: AerialManipulator, reference: Reference, outage: Outage,
                 seed: int, mass: float, wind: tuple[float, float], mujoco: bool) -> None:
        """Take a flight; mass: ratio of that of all models to the true one. wind: as WIND."""
        rng = np.random.default_rng(seed)
        self._known = AerialManipulator(scale_masses(machine.model, mass))
        self.control = FlightControl(self._known, reference)
        physics = MujocoSimulation if mujoco else FlightSimulation
        self.simulation = physics(machine, reference.at(0.0).q, STEP, known=self._known)
        self.gusts, self._reference = Gusts(rng, *wind), reference
        self._outage = outage
        self._asked: Wanted | None = None
        self._due = self._seen = self.most = 0.0
        self._fastest = np.array([rotor.max_speed for rotor in machine.model.rotors])
        self._again: list[tuple[float, Command]] = []  # commands that come a second time

    def step(self) -> None:
        """Go on by a step, from a state to the next."""
        now, outage = self.simulation.time, self._outage
        while self._again and self._again[0][0] <= now:
            self._drive(self._again.pop(0)[1])
        self._answer(now)
        if outage.on('states', now):
            self._command(self.control.silent(now - self._seen), now)
        else:
            self._seen = now
            wanted = self.control.see(now, self.simulation.q.copy(), self.simulation.v.copy())
            if self._asked is None:
                self._asked, self._due = wanted, now + outage.latency
            self._answer(now)
            if self.control.overdue:
                self._command(self.control.command(), now)
        self.simulation.wind = self.gusts.step(STEP)
        self.simulation.step()

    @property
    def follows(self) -> bool:
        """Return whether the vehicle follows its reference, which is at full pace."""
        return self.control.phase is Phase.FOLLOWING and self.control.pace > 0.99

    def errors(self) -> tuple[float, float]:
        """Return attitude (deg) and distance (m) from the reference where it is."""
        at = self._reference.at(self.control.place)
        error = self._known.model.difference(at.q, self.simulation.q)
        return (float(np.degrees(np.linalg.norm(error[:3]))),
                float(np.linalg.norm(self.simulation.q[:3] - at.q[:3])))

    def _answer(self, now: float) -> None:
        """Hand over the answer that is due, if the server gives one."""
        asked = self._asked
        if asked is None or now < self._due - 1e-9:
            return
        if self._outage.on('server', now):
            if now - asked.time > self.control.reply_timeout:
                self._asked = None  # given up
            return
        self._asked = None
        tau = self._known.dynamics.inverse(asked.q, asked.v, asked.acceleration)
        self._command(self.control.answer(asked, tau), now)

    def _command(self, command: Command | None, now: float) -> None:
        if command is None or self._outage.on('commands', now):
            return
        self._drive(command)
        if self._outage.on('doubled', now):
            self._again.append((now + 0.05, command))

    def _drive(self, command: Command) -> None:
        self.most = max(self.most, float((command.rotors.speeds / self._fastest).max()))
        self.simulation.command_rotors(command.rotors.speeds)
        self.simulation.command_torques(command.torques)


def fly(machine: AerialManipulator, reference: Reference, outage: Outage, seed: int, *,
        mass: float = 1.0, duration: float = 12.0, wind: tuple[float, float] = WIND,
        mujoco: bool = False, ends: bool = False) -> Passed:
    """
    Fly beside an outage until the end, a crash, or the stop of the rotors.

    ends: where it follows the reference again after the outage, too.
    """
    outage = outage.at_random(np.random.default_rng((seed, 2)))
    flight = Flight(machine, reference, outage, seed, mass, wind, mujoco)
    worst, errors, phases, said = np.zeros(2), (0.0, 0.0), [], True
    for k in range(round(duration / STEP)):
        flight.step()
        if k % LOOK:
            continue
        errors = flight.errors()
        worst = np.maximum(worst, errors)
        drives, lost = flight.simulation.drives, worst > LOST
        lost[1] &= drives is Drives.COMMANDED  # without commands it drifts with the wind
        phases.append(flight.control.phase)
        if (worst > END).any() and len(set(phases[1:])) == 1:
            said = False
        if flight.control.phase is Phase.STOPPED or lost.any() or drives is Drives.LANDED or (
                ends and flight.follows and outage.settled(flight.simulation.time)):
            break
    return Passed(*worst, errors[1], (flight.control.phase if drives is Drives.COMMANDED
                                      else drives).value, bool(lost.any()),
                  tuple(dict.fromkeys(phase.value for phase in phases)),
                  flight.most, said)


def random_reference(seed: int) -> Reference:
    """Return a circle of any size and speed, with any yaw and any sweep of the arms."""
    rng = np.random.default_rng(seed)
    machine = vehicle()
    low, high = machine.model.limits.lower[6:], machine.model.limits.upper[6:]
    start, end = rng.uniform(low, high, (2, len(low)))
    return Reference(start, end - start, rng.uniform(0.2, 2.0), 2.0, rng.uniform(8.0, 20.0),
                     rng.uniform(0.0, np.pi / 2.0), rng.uniform(0.0, 0.15))
