# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg forces that track a motion, and commands of drives that lag."""

from enum import Enum
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.control import (
    Follower, Gains, RateFeedback, ReferenceMotion, TrackingError, Wanted)
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.stewart.control.leg_forces import LegForces
from liedyn_ros.stewart.dynamics.redundant import AnyDynamics
from liedyn_ros.stewart.simulation.trajectory import SmoothTrajectory


class Phase(Enum):
    """Phase of a platform; the value is its word in a status."""

    STANDING = 'stands, no command yet'
    FOLLOWING = 'follows the reference'
    WAITING = 'the reference waits for the platform'
    BOUNDED = 'forces at their limits'
    BLIND = 'comes to rest by dead reckoning, no states'
    STOPPED = 'holds its weight where it came to rest, no states'


class LegForceCommand(NamedTuple):
    """
    The command of a state.

    forces (n,), N, along the legs: the command to the drives. wanted (2, n): the forces that they
    should give, and their rates. error: the displacement of the platform from the reference and
    its rate. pose (4, 4): the reference. share and at_limit are those of GivenForces.
    """

    forces: Array
    wanted: Array
    error: TrackingError
    pose: Array
    share: float
    at_limit: tuple[str, ...]


class PlatformController(Follower):
    """
    Computed acceleration on SE(3), and inverse dynamics to order one, within limits of forces.

    Feedback gives two time derivatives of the body twist that track the trajectory (8.10). Inverse
    dynamics gives the leg forces and their rates (12.43). A command leads these forces, so that
    drives with a lag of `lag` (s) produce them (8.8). LegForces says how they are bounded.

    `see` answers a state of a platform whose reference waits where it lags. `silent` goes on
    without states: to rest by dead reckoning until `state_timeout` (s), from when on the forces
    are those that bear the weight there. Errors and wanted accelerations are bounded by what the
    legs can give at home.
    """

    state_timeout = 0.5

    def __init__(self, dynamics: AnyDynamics, trajectory: SmoothTrajectory,
                 gains: Gains = Gains(), lag: float = 0.0) -> None:
        """Take the dynamics as it is known, which is this object's own from now on."""
        self._trajectory = trajectory
        self._legs = LegForces(dynamics, trajectory, gains.integral_limit, lag, _fastest(gains))
        body = _free_body()
        super().__init__(body, self._at, RateFeedback(
            body, gains, self._legs.authority(trajectory.home)))
        self.use(gains)

    def use(self, gains: Gains, lag: float | None = None) -> None:
        """Change the gains, and the lag (s) that commands make up for; keep the integral."""
        super().use(gains)
        self._legs.use(gains.integral_limit, self._legs.lag if lag is None else lag,
                       _fastest(gains))

    @property
    def limits(self) -> Array:
        """Return the least and the greatest forces (2, n), N, N m of cranks."""
        return self._legs.limits

    def reset(self) -> None:
        """Forget the reference, and the integral and the filter of the feedback."""
        super().reset()
        self.phase = Phase.STANDING

    def command(self, t: float, dt: float, pose: Array, twist: Array) -> LegForceCommand:
        """
        Return the command at a time t of the trajectory, dt after the last call, s.

        pose (4, 4) and twist (6,), body, are those of the platform. Raises ShapeError,
        NotFiniteError, NotInGroupError, and SingularError where the legs do not hold the platform.
        """
        self._path.place = t
        return self._give(self._want(t, _configuration(pose), twist, dt, dt), pose)

    def see(self, time: float, pose: Array, twist: Array) -> LegForceCommand:
        """Return the command of a state at a time (s); raises what `command` raises."""
        command = self._give(self.take(time, _configuration(pose), twist), pose)
        if self.begun:
            self.phase = (Phase.BOUNDED if command.at_limit else
                          Phase.WAITING if self.lag >= 0.5 else Phase.FOLLOWING)
        return command

    def silent(self, silence: float) -> LegForceCommand | None:
        """Return the command after a time (s) without a state, None where the last one holds."""
        if not self.begun or silence <= self.hold:
            return None
        if silence > self.state_timeout:
            self.phase = Phase.STOPPED
            bear = np.stack((-self._feedback.disturbance, np.zeros(6)))  # what the model lacks
            wanted = self.reckon(self.state_timeout)._replace(acceleration=bear, v=bear[1])
        else:
            self.phase, wanted = Phase.BLIND, self.reckon(silence)
        return self._give(wanted, _pose(wanted.q))

    def _at(self, place: float) -> ReferenceMotion:
        return ReferenceMotion(
            _configuration(self._trajectory.pose(place)), *self._trajectory.derivatives(place))

    def _give(self, wanted: Wanted, pose: Array) -> LegForceCommand:
        given = self._legs.give(pose, wanted.v, wanted.acceleration)
        return LegForceCommand(given.forces, given.wanted, wanted.error, _pose(wanted.motion.q),
                               given.share, given.at_limit)


def _fastest(gains: Gains) -> float:
    return max(gains.rotation, gains.position)


def _free_body() -> Model:
    """Return the body of the feedback: a platform that moves freely."""
    builder = ModelBuilder('platform')
    builder.add_body('platform', SpatialInertia(1.0, np.zeros(3), np.eye(3)))
    builder.add_joint('platform_joint', 'free', None, 'platform')
    return builder.build()


def _configuration(pose: Array) -> Array:
    """Return position and quaternion (7,) of a pose."""
    return np.concatenate((pose[:3, 3], so3.to_quaternion(pose[:3, :3])))


def _pose(q: Array) -> Array:
    """Return the pose (4, 4) of position and quaternion (7,)."""
    return se3.from_rotation_translation(so3.from_quaternion(q[3:]), q[:3])
