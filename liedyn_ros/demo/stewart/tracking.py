# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Evaluation of a recording of the pose node: errors against the truth, losses, times."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, so3
from liedyn_ros.ros.messages.conversions import from_pose, nanoseconds

ERROR_SIGMAS = 3.0  # standard deviations of an error, within which 99.7 % of all lie


@dataclass(frozen=True)
class Tracking:
    """
    A recording, row by row in time.

    times: (n,), s from the first sample. truth, estimate: (n, 4, 4), m, of the samples that have a
    pose. iterations, solve_times (s): of every status of a solve. sampled, solved, failed: numbers
    of true poses, of those with a published pose, and of solves without convergence. judged_times
    (m,), s: those whose pose has a covariance. judged_errors and deviations (m, 6), m and rad:
    errors and their predicted standard deviations, of position x, y, z and of rotation about x, y,
    z in the base's axes.
    """

    times: Array
    truth: Array
    estimate: Array
    iterations: Array
    solve_times: Array
    judged_times: Array
    judged_errors: Array
    deviations: Array
    sampled: int
    solved: int
    failed: int

    @classmethod
    def of(cls, truths: list[Any], poses: list[Any], statuses: list[Any],
           covariances: list[Any]) -> 'Tracking':
        """Match true poses and what was published, each (arrival ns, message), by their stamps."""
        true_poses = {nanoseconds(m.header.stamp): m.pose for _, m in truths}
        published = {nanoseconds(m.header.stamp): m.pose for _, m in poses}
        stamps = sorted(stamp for stamp in published if stamp in true_poses)
        first = min(true_poses, default=0)
        judged = {nanoseconds(m.header.stamp): np.reshape(m.pose.covariance, (6, 6)).diagonal()
                  for _, m in covariances}
        covered = [stamp for stamp in stamps if stamp in judged]
        solves = [m for _, m in statuses if m.status != m.REJECTED]
        return cls(
            times=1e-9 * np.array([stamp - first for stamp in stamps]),
            truth=_stack([from_pose(true_poses[stamp]) for stamp in stamps]),
            estimate=_stack([from_pose(published[stamp]) for stamp in stamps]),
            iterations=np.array([m.iterations for m in solves], dtype=float),
            solve_times=np.array([m.solve_time for m in solves], dtype=float),
            judged_times=1e-9 * np.array([stamp - first for stamp in covered]),
            judged_errors=in_fixed_axes(
                _stack([from_pose(true_poses[stamp]) for stamp in covered]),
                _stack([from_pose(published[stamp]) for stamp in covered])),
            deviations=np.sqrt(np.reshape([judged[stamp] for stamp in covered], (-1, 6))),
            sampled=len(true_poses), solved=len(stamps),
            failed=sum(m.status != m.CONVERGED for m in solves))

    @property
    def errors(self) -> tuple[Array, Array]:
        """Return how far rotations (n,), rad, and positions (n,), m, are off."""
        return _distances(self.truth, self.estimate)

    @property
    def within(self) -> float:
        """Return the share of errors within the predicted three sigma, 0 to 1; NaN without any."""
        if not len(self.deviations):
            return float('nan')
        return float(np.mean(np.abs(self.judged_errors) <= ERROR_SIGMAS * self.deviations))

    @property
    def displacements(self) -> tuple[Array, Array]:
        """Return how far the truth is from its start, rotations (n,), rad, positions (n,), m."""
        return _distances(self.truth[:1], self.truth)


def in_fixed_axes(truth: Array, estimate: Array) -> Array:
    """Return errors (n, 6) of poses (n, 4, 4), position, m, then rotation, rad, in fixed axes."""
    turned = so3.log(estimate[:, :3, :3] @ truth[:, :3, :3].swapaxes(1, 2))
    return np.concatenate((estimate[:, :3, 3] - truth[:, :3, 3], turned), axis=1)


def _stack(poses: list[Array]) -> Array:
    return np.array(poses).reshape(-1, 4, 4)


def _distances(poses: Array, others: Array) -> tuple[Array, Array]:
    twists = se3.log(se3.compose(se3.inverse(poses), others))
    return np.linalg.norm(twists[:, :3], axis=1), np.linalg.norm(twists[:, 3:], axis=1)
