# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The failsafe of a vehicle: its own flight controller and joint drives, where commands stop."""

import numpy as np

from liedyn_ros.aerial.vehicle import AerialManipulator, FREE_BASE, JOINTS, Lags
from liedyn_ros.common.checks import Array
from liedyn_ros.control import Drives, Feedback, Gains, ReferenceMotion, tracking_error
from liedyn_ros.control.follower import Follower
from liedyn_ros.lie import so3

# PX4's defaults: MPC_LAND_SPEED; LNDMC_Z_VEL_MAX for LNDMC_TRIG_TIME says that it stands.
DESCENT, STANDS, STANDS_FOR = 0.7, 0.25, 1.0  # m/s, m/s, s
DELAY_BORNE = 0.5 * 0.41  # of the loop over its pole: half of its margin, see Gains


class Failsafe:
    """
    Forces of a vehicle without commands: level, at its height and yaw, joints held.

    After `hover` (s), from when on its controller gives up, it descends, and stops the rotors
    where it has stood for `STANDS_FOR` on the way down, as ArduPilot levels and holds height where
    guidance stops (GUID_TIMEOUT), and PX4 lands by its barometer alone. It knows what such a
    vehicle feels itself: attitude and turn rates (inertial unit), height and climb rate
    (barometer), joints (encoders); and a model of the vehicle. It knows no position, so it drifts
    with the wind.
    """

    hover = Follower.stop_time

    def __init__(self, machine: AerialManipulator, q: Array, lags: Lags) -> None:
        """Take the vehicle as its flight controller knows it; raises as its authority does."""
        usual = Gains()
        with np.errstate(divide='ignore'):
            base, joints = np.divide(DELAY_BORNE, (lags.rotors, lags.joints))
        gains = Gains(min(usual.rotation, base), min(usual.position, base),
                      min(usual.joints, joints), usual.integral_limit)
        self._machine, self._still = machine, np.zeros(machine.model.nv)
        level = np.concatenate((np.zeros(3), (0.0, 0.0, 0.0, 1.0), q[7:]))
        self._feedback = Feedback(machine.model, gains, machine.authority(level))
        self.reset()

    def reset(self) -> None:
        """Do nothing, as commands come."""
        self.phase, self._stands = Drives.COMMANDED, 0.0
        self._lost: tuple[bool, bool] = (False, False)

    def command(self, command: Array, q: Array, v: Array, dt: float,
                silence: tuple[float, float]) -> Array:
        """
        Return the forces (nv,) of a command, and its own where base or joints have none.

        silence: for how long each had no command beyond its time, s; 0 where it has.
        """
        if self.phase is Drives.LANDED:
            return self._stopped()
        lost = silence[0] > 0.0, silence[1] > 0.0
        if not any(lost):
            self.reset()
            return command
        if lost != self._lost:
            self._hold(lost, q)
        self._decide(silence[0], q, v, dt)
        own, given = self._own(q, v, dt), command.copy()
        for part, is_lost in zip((FREE_BASE, JOINTS), lost):
            if is_lost:
                given[part] = own[part]
        return given

    def _hold(self, lost: tuple[bool, bool], q: Array) -> None:
        """Begin to hold height, yaw and joints where they are."""
        self._lost, self._held = lost, q.copy()
        turn = so3.from_quaternion(q[3:7])
        yaw = 0.5 * np.arctan2(turn[1, 0], turn[0, 0])
        self._held[:2], self._held[3:7] = 0.0, (0.0, 0.0, np.sin(yaw), np.cos(yaw))
        self._feedback.reset()

    def _decide(self, silence: float, q: Array, v: Array, dt: float) -> None:
        descends = silence > self.hover
        self.phase = Drives.DESCENDING if descends else (
            Drives.HOVERING if self._lost[0] else Drives.HOLDING)
        climb = so3.from_quaternion(q[3:7])[2] @ v[3:6]
        self._stands = self._stands + dt if descends and abs(climb) < STANDS else 0.0
        if self._stands > STANDS_FOR:
            self.phase = Drives.LANDED
        self._held[2] -= DESCENT * dt * descends

    def _own(self, q: Array, v: Array, dt: float) -> Array:
        """Return the forces (nv,) by what the vehicle feels."""
        if self.phase is Drives.LANDED:
            return self._stopped()
        felt, rate, up = q.copy(), v.copy(), so3.from_quaternion(q[3:7])[2]
        felt[:2], rate[3:6] = 0.0, (up @ v[3:6]) * up
        sinks = self._still.copy()
        sinks[5] = -DESCENT * (self.phase is Drives.DESCENDING)
        if not self._lost[1]:  # others move the joints
            self._held[7:], sinks[JOINTS] = q[7:], v[JOINTS]
        error = tracking_error(self._machine.model, ReferenceMotion(
            self._held, sinks, self._still, self._still), felt, rate)
        wanted = self._machine.dynamics.inverse(
            felt, rate, self._feedback.acceleration(error, dt))
        command = self._machine.command(wanted, felt)
        return np.concatenate((command.rotors.wrench, command.torques))

    def _stopped(self) -> Array:
        stopped = self._machine.stopped()
        return np.concatenate((stopped.rotors.wrench, stopped.torques))
