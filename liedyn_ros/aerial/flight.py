# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The control of a flight that goes on where answers or states are late, lost or wrong."""

import math

import numpy as np

from liedyn_ros.aerial.reference import Reference
from liedyn_ros.aerial.vehicle import AerialManipulator, Command, Lags
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control import Feedback, Gains, ReferenceMotion
from liedyn_ros.control.feedback import RateFeedback
from liedyn_ros.control.follower import DesiredMotion, Follower, Phase
from liedyn_ros.dynamics.linearization import linearize
from liedyn_ros.lie import so3


MAX_OVERTURNED = 1e-4  # the share of silences in normal gusts that may end beyond a right angle


class FlightControl(Follower[Command]):
    """
    Follows a reference by feedback, with the forces of a server, and without.

    `see` takes a state and returns the acceleration to ask a server for. `answer` takes the forces
    that it answered: the command of the flight, and its begin. Where answers are late by more than
    `hold`, `overdue` tells so, and `command` has the own model, corrected by what earlier answers
    said of it. Where none comes for `reply_timeout`, the reference slows down to a hover, and goes
    on with the next. An answer beyond what the actuators give counts as none, unless the own
    model's is, too.

    `silent` goes on without states by dead reckoning: it hovers, descends after `state_timeout`,
    and stops the rotors after `blind_time` until `reset`: after `stop_time`, or before, where
    the wind may have turned the vehicle over by then.
    """

    reply_timeout, state_timeout, descent = 0.2, 0.5, 0.5  # s, s, m/s

    def __init__(self, machine: AerialManipulator, reference: Reference, *,
                 with_rates: bool = False, gains: Gains = Gains(), lags: Lags = Lags()) -> None:
        """
        Take a vehicle, whose model the own commands use; it stands until the first answer.

        with_rates: accelerations with their derivative, for actuators with lags. Raises LimitError
        where the actuators cannot carry the vehicle.
        """
        self.machine, self._with_rates, self.lags = machine, with_rates, lags
        law = RateFeedback if with_rates else Feedback
        super().__init__(machine.model, reference.at, law(
            machine.model, gains, machine.authority(reference.at(0.0).q)))
        self.use(gains)

    def reset(self) -> None:
        """Stand again, before the reference."""
        super().reset()
        self._drop = self._sink = 0.0  # of the reference, m, and its rate
        self._grown = -1.0, 1e-6  # the time of a state, and the rate there
        self._correction: Array | None = None
        self._answered = self._commanded = 0.0  # of the states at the last answer and command

    def see(self, time: float, q: Array, v: Array, age: float = 0.0) -> DesiredMotion:
        """Take a state at a time (s), of an age (s); return what is wanted of the vehicle."""
        served = time - self._answered <= self.reply_timeout
        self._sink = 0.0
        wanted = self.take(time, q, v, 1.0 if served and self._drop == 0.0 else 0.0, age)
        if self.begun and self.phase is not Phase.STOPPED:
            self.phase = Phase.HOVERING if not served else (
                Phase.WAITING if self._drop else self.see_phase())
        return wanted

    def answer(self, wanted: DesiredMotion, tau: Array) -> Command | None:
        """
        Take the forces (nv,), or (2, nv) with rates, that a server answered to what was wanted.

        Returns the command, None where it comes too late. The first answer begins the flight.
        Raises LimitError naming the actuators that the answer asks too much of.
        """
        own, last = self._own(wanted), self._correction
        led, known = self._led(tau), self._corrected(own)
        command = self.machine.command(led, wanted.q)
        if command.at_limit and (led != known).any() and not self.machine.command(
                known, wanted.q).at_limit:
            raise LimitError(
                'efforts: expected efforts within the limits of the actuators, got '
                f'{", ".join(command.at_limit)} at a limit', names=command.at_limit)
        if not self.begun:
            self.phase = Phase.FOLLOWING
            self.begin(wanted.time)
        share = -math.expm1(-self._pole * max(wanted.time - self._answered, 0.0))
        self._correction = tau - own if last is None else last + share * (tau - own - last)
        self._answered = max(self._seen, self._answered)
        age = self._seen - wanted.time
        return self._given(wanted, command, own) if (
            age <= self.hold and wanted.time >= self._commanded) else None

    @property
    def overdue(self) -> bool:
        """Return whether the flight needs a command of the own model for the last state."""
        return self.begun and self._seen - self._answered > self.hold

    def command(self) -> Command:
        """Return the command of the own model for the last state; raises LimitError without."""
        if self.last is None:
            raise LimitError('state: expected one before a command, got none')
        own = self._own(self.last)
        return self._given(
            self.last, self.machine.command(self._corrected(own), self.last.q), own)

    @property
    def blind_time(self) -> float:
        """
        Return the silence (s) after which the rotors stop.

        A push that is `a` (rad/s^2) off tilts by a (cosh(k t) - 1) / k^2 where errors grow at a
        rate k (8.11): beyond a right angle no thrust lifts. In two axes a share exp(-m^2) of
        normal pushes is more than m times their root mean square off; that of the change since
        the last push is up to the square root of two times their spread.
        """
        push, grows = math.sqrt(-2.0 * math.log(MAX_OVERTURNED)) * float(
            np.linalg.norm(self.spread[:2])), self._growth()
        if not push:
            return self.stop_time
        return min(self.stop_time, 2.0 / grows * math.asinh(
            0.5 * grows * math.sqrt(math.pi / push)))

    def _growth(self) -> float:
        """Return how fast (1/s) errors grow where the forces hold what was seen last at rest."""
        if self.last is not None and self._grown[0] != self._seen:
            q, still = self.last.q, np.zeros(self._model.nv)
            dynamics = self.machine.dynamics
            model = linearize(dynamics, q, still, dynamics.inverse(q, still, still))
            self._grown = self._seen, max(float(np.linalg.eigvals(model.A).real.max()), 1e-6)
        return self._grown[1]

    def _reckon(self, silence: float) -> DesiredMotion:
        if silence > self.state_timeout:
            self.phase, self._sink = Phase.DESCENDING, self.descent
        return super()._reckon(silence)

    def _own_command(self) -> Command:
        return self.command()

    def _led(self, tau: Array) -> Array:
        """Return the forces (nv,) to command for those that are wanted."""
        return self.lags.lead(tau) if self._with_rates else tau

    def _corrected(self, own: Array) -> Array:
        """Return the forces (nv,) to command by the own model, and what answers said of it."""
        return self._led(own if self._correction is None else own + self._correction)

    def _given(self, wanted: DesiredMotion, command: Command, own: Array) -> Command:
        """Take note of a command, and of what it lacks by the own model's forces."""
        self._commanded = wanted.time
        if self.phase is Phase.STOPPED:
            return self._stop()
        self.short = np.zeros(self._model.nv)
        if command.at_limit:
            less = np.concatenate(
                (command.rotors.wrench, command.torques)) - self._corrected(own)
            self.short = self.machine.dynamics.inverse_mass_matrix(wanted.q) @ less
        return command

    def _stop(self) -> Command:
        return self.machine.stopped()

    def _own(self, wanted: DesiredMotion) -> Array:
        inverse = self.machine.dynamics.inverse
        q, v, a = wanted.q, wanted.v, wanted.acceleration
        return inverse.time_derivatives(q, v, a) if self._with_rates else inverse(q, v, a)

    def _move(self, dt: float, pace: float) -> None:
        """Move the reference on, and down where it sinks, or back up."""
        super()._move(dt, pace)
        if self._sink == 0.0 and self._drop > 0.0 and dt > 0.0:
            self._sink = -min(self.descent, self._drop / dt)
        self._drop = max(self._drop + dt * self._sink, 0.0)

    def _motion(self) -> ReferenceMotion:
        motion = super()._motion()
        if not self._drop and not self._sink:
            return motion
        down = np.array([0.0, 0.0, -1.0])
        q, v = motion.q.copy(), motion.v.copy()
        q[:3] += self._drop * down
        v[3:6] += self._sink * so3.from_quaternion(q[3:7]).T @ down
        return motion._replace(q=q, v=v)
