# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg forces that track a motion, and commands of drives that lag."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.control import (
    Gains, lead, RateFeedback, ReferenceMotion, tracking_error, TrackingError)
from liedyn_ros.lie import so3
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.stewart.redundant.dynamics import AnyDynamics
from liedyn_ros.stewart.simulation.trajectory import SmoothTrajectory


class LegForceCommand(NamedTuple):
    """
    The command of a state.

    forces (n,), N, along the legs: the command to the drives. wanted (2, n): the forces that they
    should give, and their rates. error: the displacement of the platform from the reference and
    its rate.
    """

    forces: Array
    wanted: Array
    error: TrackingError


class PlatformController:
    """
    Computed acceleration on SE(3), and inverse dynamics to order one.

    Feedback gives two time derivatives of the body twist that track the trajectory (8.10). Inverse
    dynamics gives the leg forces and their rates (12.43). A command leads these forces, so that
    drives with a lag of `lag` (s) produce them (8.8).
    """

    def __init__(self, dynamics: AnyDynamics, trajectory: SmoothTrajectory,
                 gains: Gains = Gains(), lag: float = 0.0) -> None:
        """Take the dynamics as it is known, which is this object's own from now on."""
        self.lag = lag
        self._dynamics, self._trajectory = dynamics, trajectory
        self._body = _free_body()
        self._feedback = RateFeedback(self._body, gains)

    def use(self, gains: Gains) -> None:
        """Change the gains and keep the integral."""
        self._feedback.use(gains)

    def reset(self) -> None:
        """Forget the integral and the filter of the feedback."""
        self._feedback.reset()

    def command(self, t: float, dt: float, pose: Array, twist: Array) -> LegForceCommand:
        """
        Return the command at a time t of the trajectory, dt after the last call, s.

        pose (4, 4) and twist (6,), body, are those of the platform. Raises ShapeError,
        NotFiniteError, NotInGroupError, and SingularError where the legs do not hold the platform.
        """
        motion = ReferenceMotion(
            _configuration(self._trajectory.pose(t)), *self._trajectory.derivatives(t))
        error = tracking_error(self._body, motion, _configuration(pose), twist)
        wanted = self._dynamics.inverse(
            pose, twist, self._feedback.acceleration(error, dt)).forces
        return LegForceCommand(lead(wanted, self.lag), wanted, error)


def _free_body() -> Model:
    """Return the body of the feedback: a platform that moves freely."""
    builder = ModelBuilder('platform')
    builder.add_body('platform', SpatialInertia(1.0, np.zeros(3), np.eye(3)))
    builder.add_joint('platform_joint', 'free', None, 'platform')
    return builder.build()


def _configuration(pose: Array) -> Array:
    """Return position and quaternion (7,) of a pose."""
    return np.concatenate((pose[:3, 3], so3.to_quaternion(pose[:3, :3])))
