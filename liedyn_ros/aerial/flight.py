# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The control of a flight that goes on where answers or states are late, lost or wrong."""

from enum import Enum
import math

import numpy as np

from liedyn_ros.aerial.actuators import Lags
from liedyn_ros.aerial.reference import Reference
from liedyn_ros.aerial.vehicle import AerialManipulator, Command
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control import (
    Feedback, Follower, Gains, RateFeedback, ReferenceMotion, Wanted)
from liedyn_ros.lie import so3


class Phase(Enum):
    """Phase of a flight; the value is its word in a status."""

    STANDING = 'stands, no command yet'
    FLYING = 'follows the reference'
    WAITING = 'the reference waits for the vehicle'
    HOVERING = 'hovers by its own model, no answers'
    BLIND = 'hovers by dead reckoning, no states'
    DESCENDING = 'descends by dead reckoning, no states'
    STOPPED = 'rotors stopped, no states'


class FlightControl(Follower):
    """
    Follows a reference by feedback, with the forces of a server, and without.

    `see` takes a state and returns the acceleration to ask a server for. `answer` takes the forces
    that it answered: the command of the flight, and its begin. Where answers are late by more than
    `hold`, `overdue` tells so, and `command` has the own model, corrected by what earlier answers
    said of it. Where none comes for `reply_timeout`, the reference slows down to a hover, and goes
    on with the next.

    `silent` goes on without states by dead reckoning: it hovers, descends after `state_timeout`,
    and stops the rotors after `stop_time` until `reset`.
    """

    reply_timeout, state_timeout, stop_time, descent = 0.2, 0.5, 2.0, 0.5  # s, m/s

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
        self._correction: Array | None = None
        self._answered = self._commanded = 0.0  # of the states at the last answer and command
        self.phase = Phase.STANDING

    def see(self, time: float, q: Array, v: Array) -> Wanted:
        """Take a state at a time (s); return what is wanted of the vehicle."""
        served = time - self._answered <= self.reply_timeout
        self._sink = 0.0
        wanted = self.take(time, q, v, 1.0 if served and self._drop == 0.0 else 0.0)
        if self.begun and self.phase is not Phase.STOPPED:
            self.phase = (Phase.HOVERING if not served else
                          Phase.FLYING if self.lag < 0.5 and self._drop == 0.0 else Phase.WAITING)
        return wanted

    def answer(self, wanted: Wanted, tau: Array) -> Command | None:
        """
        Take the forces (nv,), or (2, nv) with rates, that a server answered to what was wanted.

        Returns the command, None where it comes too late. The first answer begins the flight.
        """
        if not self.begun:
            self.phase = Phase.FLYING
            self.begin(wanted.time)
        found, last = tau - self._own(wanted), self._correction
        share = -math.expm1(-self._pole * max(wanted.time - self._answered, 0.0))
        self._correction = found if last is None else last + share * (found - last)
        self._answered = max(self._seen, self._answered)
        age = self._seen - wanted.time
        return self._command(wanted, tau) if (
            age <= self.hold and wanted.time >= self._commanded) else None

    @property
    def overdue(self) -> bool:
        """Return whether the flight needs a command of the own model for the last state."""
        return self.begun and self._seen - self._answered > self.hold

    def command(self) -> Command:
        """Return the command of the own model for the last state; raises LimitError without."""
        if self.last is None:
            raise LimitError('state: expected one before a command, got none')
        tau = self._own(self.last)
        return self._command(
            self.last, tau if self._correction is None else tau + self._correction)

    def silent(self, silence: float) -> Command | None:
        """Return the command after a time (s) without a state, None where the last one holds."""
        if not self.begun or silence <= self.hold:
            return None
        if self.phase is Phase.STOPPED or silence > self.stop_time:
            self.phase = Phase.STOPPED
            return self._stopped()
        descends = silence > self.state_timeout
        self._sink = self.descent if descends else 0.0
        self.phase = Phase.DESCENDING if descends else Phase.BLIND
        self.reckon(silence)
        return self.command()

    def _command(self, wanted: Wanted, tau: Array) -> Command:
        self._commanded = wanted.time
        if self.phase is Phase.STOPPED:
            return self._stopped()
        return self.machine.command(self.lags.lead(tau) if self._with_rates else tau, wanted.q)

    def _stopped(self) -> Command:
        allocation = self.machine.allocation
        return Command(allocation.at_shares(allocation.share_limits[0], np.zeros(6)),
                       np.zeros(len(self.machine.joints)), allocation.names)

    def _own(self, wanted: Wanted) -> Array:
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
