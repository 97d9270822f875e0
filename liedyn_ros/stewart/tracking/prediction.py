# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A pose and a twist with their common covariance, and what they will be at another time."""

from dataclasses import dataclass

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.geometry import StewartGeometry
from liedyn_ros.stewart.tracking.covariance import LegNoise, of_difference, of_measured
from liedyn_ros.stewart.tracking.tracker import TrackedPose


@dataclass(frozen=True)
class MotionEstimate:
    """
    An estimate of a moving frame at one time.

    pose: (4, 4), m. twist: (6,), body twist, rad/s and m/s. covariance: (12, 12), of the pose's
    error d in T exp(d) and then of the twist's; None where it is not known.
    """

    pose: Array
    twist: Array
    covariance: Array | None = None

    @property
    def pose_covariance(self) -> Array | None:
        """Return the pose's part, (6, 6) in body twist coordinates, rad and m."""
        return None if self.covariance is None else self.covariance[:6, :6]

    @property
    def twist_covariance(self) -> Array | None:
        """Return the twist's part, (6, 6), rad/s and m/s."""
        return None if self.covariance is None else self.covariance[6:, 6:]

    def after(
            self, seconds: float, acceleration: float = 0.0, length: float = 1.0
    ) -> 'MotionEstimate':
        """
        Return the motion after a time, s, at constant body twist; the time may be negative.

        acceleration: standard deviation of the accelerations that the constant twist leaves
        out, m/s^2; turning points at the distance `length` (m) as fast, length s of rad.
        """
        step = seconds * self.twist
        pose = se3.normalize(se3.compose(self.pose, se3.exp(step)))
        if self.covariance is None:
            return MotionEstimate(pose, self.twist)
        # T exp(d) exp((V + e) t) = T exp(V t) exp(Ad^-1 d + t J_r(V t) e) to first order (1.14)
        forward = np.eye(12)
        forward[:6, :6] = se3.adjoint(se3.exp(-step))
        forward[:6, 6:] = seconds * se3.right_jacobian(step)
        covariance = forward @ self.covariance @ forward.T
        unknown = np.array([acceleration / length] * 3 + [acceleration] * 3)
        drift = np.vstack((0.5 * seconds ** 2 * np.diag(unknown), seconds * np.diag(unknown)))
        return MotionEstimate(pose, self.twist, covariance + drift @ drift.T)


def joint_covariance(pose: Array, twist: Array, cross: Array | None = None) -> Array:
    """Return (12, 12) of a pose's and a twist's covariance; cross: of pose (rows) with twist."""
    mixed = np.zeros((6, 6)) if cross is None else cross
    return np.block([[pose, mixed], [mixed.T, twist]])


class MotionEstimator:
    """Motions of tracked poses, with the covariance that the legs' noise gives them."""

    def __init__(self, geometry: StewartGeometry, leg_noise: float, rate_noise: float) -> None:
        """Take standard deviations of a length (m) and a measured rate (m/s); 0 if not known."""
        self._geometry = geometry
        self._lengths = LegNoise(geometry, np.full(6, leg_noise))
        self._rates = LegNoise(geometry, np.full(6, rate_noise))
        self._known = leg_noise > 0.0, rate_noise > 0.0

    def pose_covariance(self, tracked: TrackedPose) -> Array | None:
        """Return (6, 6) in body twist coordinates; None where the noise is not known."""
        return self._lengths.covariance(tracked.pose) if self._known[0] else None

    def of(self, tracked: TrackedPose) -> MotionEstimate:
        """
        Return the motion of a pose that has a twist, and its covariance if all noise is known.

        A twist that is a difference of poses shares the last one's error; one from measured
        rates has an error of its own beside what that of its pose makes of it. Raises LimitError
        without a twist, SingularError at a singularity.
        """
        pose, twist, span = tracked.pose, tracked.twist, tracked.twist_span
        if twist is None:
            raise LimitError('tracked: expected a pose with a twist, got the first one')
        at_pose = self.pose_covariance(tracked)
        if at_pose is None or not (span or self._known[1]):
            return MotionEstimate(pose, twist)
        if not span:
            covariance, cross = of_measured(
                self._geometry, pose, twist, at_pose, self._rates.covariance(pose))
            return MotionEstimate(pose, twist, joint_covariance(at_pose, covariance, cross))
        before = se3.compose(pose, se3.exp(-span * twist))
        covariance, cross = of_difference(
            span * twist, span, self._lengths.covariance(before), at_pose)
        return MotionEstimate(pose, twist, joint_covariance(at_pose, covariance, cross))
