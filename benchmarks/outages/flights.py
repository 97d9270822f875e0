# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Flights in fast time, in one process, beside a server, sensors and drives that fail."""

from __future__ import annotations

from collections import deque
from functools import cache

import numpy as np

from benchmarks.outages.outage import Outage, Passed
from liedyn_ros.aerial import AerialManipulator, Command, FlightSimulation, Reference
from liedyn_ros.aerial.flight import FlightControl
from liedyn_ros.aerial.simulation import MujocoSimulation
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives
from liedyn_ros.control.follower import DesiredMotion, Phase
from liedyn_ros.control.gusts import Gusts
from liedyn_ros.model import load_model, scale_masses

STEP, LOOK = 0.004, 5  # s: states come at 250 Hz; steps between two looks at errors
LOST = 90.0, 10.0  # deg of attitude or m from the reference under commands: a crash
END = 10.0, 0.5  # deg, m: the bounds of a flight's end
STRAY = 0.5  # rad and m, by which stray states are off in every coordinate
WIND = 3.0, 1.5  # N, mean and gusts in each direction on the base: the drag of some 6 m/s
MASS = 0.2  # of which masses are known wrongly, at most
FLIGHT = (
    Outage('none'),
    Outage('server paused', 'server', 0.6), Outage('server paused', 'server', 2.0),
    Outage('server killed', 'server', 99.0), Outage('answers late', latency=0.05),
    Outage('answers late', latency=0.1), Outage('answers late', latency=0.2),
    Outage('states late', 'states', latency=0.04), Outage('states late', 'states', latency=0.08),
    Outage('states late', 'states', latency=0.2),
    Outage('another model, refused', 'server', 2.0), Outage('states paused', 'states', 0.3),
    Outage('states paused', 'states', 0.6), Outage('states paused', 'states', 1.0),
    Outage('states paused', 'states', 2.0), Outage('states killed', 'states', 99.0),
    Outage('a second publisher of states, refused', 'states', 0.6),
    Outage('a stray state in ten', 'stray', 2.0),
    Outage('commands lost', 'commands', 0.3), Outage('commands lost', 'commands', 0.6),
    Outage('commands lost', 'commands', 2.0), Outage('commands lost for good', 'commands', 99.0),
    Outage('commands doubled, 50 ms late', 'doubled', 2.0))


@cache
def vehicle() -> AerialManipulator:
    """Return the aerial manipulator of the package."""
    return AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))


class Flight:
    """A vehicle, its controller whose masses may be wrong, and what fails between them."""

    def __init__(self, machine: AerialManipulator, reference: Reference, outage: Outage,
                 seed: int, mass: float, wind: tuple[float, float], mujoco: bool,
                 known: AerialManipulator | None = None) -> None:
        """Take a flight; mass: ratio of what all models have to the truth or known. wind: WIND."""
        rng = np.random.default_rng(seed)
        self._known = AerialManipulator(scale_masses((known or machine).model, mass))
        self.control = FlightControl(self._known, reference)
        physics = MujocoSimulation if mujoco else FlightSimulation
        self.simulation = physics(machine, reference.at(0.0).q, STEP, known=self._known)
        self.gusts, self._reference = Gusts.from_anywhere(rng, *wind), reference
        self._outage = outage
        self._asked: DesiredMotion | None = None
        self._due = self._seen = self.most = 0.0
        self._fastest = np.array([rotor.max_speed for rotor in machine.model.rotors])
        self._states = deque[tuple[float, Array, Array]]()  # that have not come yet
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
            q = self.simulation.q.copy()
            if outage.on('stray', now) and round(now / STEP) % 10 == 0:
                q = self._known.model.integrate(q, np.full(len(self.simulation.v), STRAY))
            self._states.append((now, q, self.simulation.v.copy()))
            late = outage.latency if outage.what == 'states' and now >= outage.begin else 0.0
            if self._states[0][0] <= now - late + 1e-9:
                self._see(now, *self._states.popleft())
            else:
                self._command(self.control.silent(now - self._seen), now)
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

    def run(self, duration: float, ends: bool = False) -> Passed:
        """
        Fly for a duration (s), until a crash or the stop of the rotors.

        ends: until it follows the reference again after the outage, too.
        """
        worst, errors, phases, said = np.zeros(2), (0.0, 0.0), [], True
        for k in range(round(duration / STEP)):
            self.step()
            if k % LOOK:
                continue
            errors = self.errors()
            worst = np.maximum(worst, errors)
            drives, lost = self.simulation.drives, worst > LOST
            lost[1] &= drives is Drives.COMMANDED  # without commands it drifts with the wind
            phases.append(self.control.phase)
            if (np.array(errors) > END).any() and Phase.FOLLOWING in phases[-2:]:
                said = False  # a look before, and all the time
            if self.control.phase is Phase.STOPPED or lost.any() or drives is Drives.LANDED or (
                    ends and self.follows and self._outage.settled(self.simulation.time)):
                break
        return Passed(*worst.tolist(), errors[1], (
            self.control.phase if drives is Drives.COMMANDED else drives).value,
            bool(lost.any()), tuple(dict.fromkeys(phase.value for phase in phases)), self.most,
            said)

    def _see(self, now: float, stamp: float, q: Array, v: Array) -> None:
        """Act upon a state; one that is refused counts as none."""
        try:
            wanted = self.control.see(stamp, q, v, now - stamp)
        except LiedynError:
            self._command(self.control.silent(now - self._seen), now)
            return
        self._seen = now
        if self._asked is None:
            late = 0.0 if self._outage.what == 'states' else self._outage.latency
            self._asked, self._due = wanted, now + late
        self._answer(now)
        if self.control.overdue:
            self._command(self.control.command(), now)

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
        try:
            self._command(self.control.answer(asked, tau), now)
        except LimitError:
            pass  # it counts as none

    def _command(self, command: Command | None, now: float) -> None:
        if command is None or self._outage.on('commands', now):
            return
        self._drive(command)
        if self._outage.on('doubled', now):
            self._again.append((now + 0.05, command))

    def _drive(self, command: Command) -> None:
        self.most = max(self.most, *(command.rotors.speeds / self._fastest).tolist())
        self.simulation.command_wrench(command.rotors.wrench)  # of speeds up to their most
        self.simulation.command_torques(command.torques)


def fly(machine: AerialManipulator, reference: Reference, outage: Outage, seed: int, *,
        mass: float = 1.0, duration: float = 12.0, wind: tuple[float, float] = WIND,
        mujoco: bool = False, ends: bool = False) -> Passed:
    """Fly beside an outage that begins at a random time, as Flight.run."""
    outage = outage.at_random(np.random.default_rng((seed, 2)))
    return Flight(machine, reference, outage, seed, mass, wind, mujoco).run(duration, ends)


def random_reference(seed: int) -> Reference:
    """
    Return a circle to 3 m, a turn in 2 to 20 s, any yaw and sweep of arms, begun in 0.5 to 4 s.

    A quarter of these take more than the rotors give, and say so.
    """
    rng = np.random.default_rng(seed)
    machine = vehicle()
    low, high = machine.model.limits.lower[6:], machine.model.limits.upper[6:]
    start, end = rng.uniform(low, high, (2, len(low)))
    return Reference(start, end - start, rng.uniform(0.0, 3.0), 2.0, 2.0 * 10.0**rng.uniform(),
                     rng.uniform(0.0, np.pi), rng.uniform(0.0, 0.5), rng.uniform(0.5, 4.0))
