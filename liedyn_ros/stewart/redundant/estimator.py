# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pose and twist of seven legs or more with their common covariance, at a sample and near it."""

from __future__ import annotations

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.redundant_geometry import RedundantGeometry
from liedyn_ros.stewart.platform.kernels import inverse_rates as kernels
from liedyn_ros.stewart.redundant.solver import gain_of, RedundantSolver
from liedyn_ros.stewart.redundant.tracker import RedundantPose
from liedyn_ros.stewart.tracking.covariance import of_moved
from liedyn_ros.stewart.tracking.prediction import (
    joint_covariance, MAX_DEVIATION, measured_variances, MotionEstimate)


class RedundantEstimator:
    """
    Motions of poses of redundant lengths with their covariance; use one in each thread.

    The covariance is that of the legs' noise and of the motion between samples.
    """

    def __init__(self, geometry: RedundantGeometry, rate_noise: float = 0.0) -> None:
        """Take the deviation of a measured rate, m/s or rad/s; 0 where it is not known."""
        self._geometry, self._rate_noise = geometry, rate_noise
        self._solver, self._tables = RedundantSolver(geometry), geometry.tables()
        self._change, self._work = np.empty((len(self._tables), 36)), np.empty(36)

    def pose_covariance(self, tracked: RedundantPose) -> Array | None:
        """Return (6, 6) in body twist coordinates; None where noise or pose are not known."""
        return tracked.covariance

    def of(self, tracked: RedundantPose) -> MotionEstimate:
        """
        Return the motion at a pose's own stamp, with its covariance where the noise is known.

        Raises LimitError without a twist.
        """
        if tracked.twist is None:
            raise LimitError('tracked: expected a pose with a twist, got the first one')
        motion, of_pose = tracked.motion, tracked.covariance
        if motion is None or of_pose is None or tracked.gain is None:
            return MotionEstimate(tracked.pose, tracked.twist)
        legs, shared = motion.at(), None
        if tracked.rates is None:
            variances, shared = legs.rate_variances, _spread(tracked.gain, legs.shared)
        else:
            variances = measured_variances(
                tracked.rates, legs.rates, legs.rate_variances, self._rate_noise)
        return MotionEstimate(tracked.pose, tracked.twist, self._joint(
            tracked.pose, tracked.twist, tracked.gain, of_pose, variances, shared))

    def predict(self, tracked: RedundantPose, seconds: float) -> MotionEstimate:
        """
        Return the motion a time (s) after a pose, or before it (14.27).

        The motion of the legs is extrapolated and the pose of the lengths solved. Raises
        LimitError where the motion is not known, or not for as long, ConvergenceError where no
        pose is near the lengths, SingularError at a singularity.
        """
        if tracked.motion is None:
            raise LimitError('tracked: expected a pose with a motion, got the first one')
        legs, scales = tracked.motion.at(seconds), self._geometry.drive_scales
        size = self._geometry.characteristic_length
        deviation = float((np.sqrt(legs.length_variances) * scales).max()) / size
        if not deviation < MAX_DEVIATION:
            raise LimitError(f'prediction over {seconds:g} s: expected lengths known to '
                             f'{MAX_DEVIATION} characteristic lengths, got {deviation:.3g}')
        guess = tracked.pose
        if tracked.twist is not None:
            guess = se3.normalize(se3.compose(guess, se3.exp(seconds * tracked.twist)))
        left_out = set(range(len(scales))).difference(tracked.used)
        solution = self._solver.solve(legs.lengths, guess, sorted(left_out))
        if not solution.converged:
            raise ConvergenceError(f'prediction over {seconds:g} s: expected lengths of a pose, '
                                   f'got {solution.status.name.lower()}')
        weights = self._solver.without(sorted(left_out))
        gain = gain_of(solution.covariance, solution.jacobian, weights)
        twist = gain @ legs.rates
        if tracked.covariance is None:
            return MotionEstimate(solution.pose, twist)
        return MotionEstimate(solution.pose, twist, self._joint(
            solution.pose, twist, gain, _spread(gain, legs.length_variances),
            legs.rate_variances, _spread(gain, legs.shared)))

    def _joint(
            self, pose: Array, twist: Array, gain: Array, of_pose: Array, variances: Array,
            shared: Array | None) -> Array:
        """Return (12, 12) of pose and twist; variances: (n,), of the rates (14.26)."""
        pose, twist = np.array(pose), np.array(twist)
        for table, change in zip(self._tables, self._change):
            kernels.jacobian_change(table, pose, twist, change, self._work)
        changes = self._change.reshape(-1, 6)[:len(variances)]
        of_twist, cross = of_moved(-gain @ changes, of_pose, _spread(gain, variances), shared)
        return joint_covariance(of_pose, of_twist, cross)


def _spread(gain: Array, variances: Array) -> Array:
    """Return the covariance (6, 6) by independent errors of the legs, of variances (n,)."""
    return np.asarray(gain * variances @ gain.T)
