# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A passage through a singularity: the truth, a plain solver, and what the pose node published."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.demo.verdict import NotShownError
from liedyn_ros.lie import se3
from liedyn_ros.ros.messages.conversions import from_pose, nanoseconds
from liedyn_ros.stewart import Flag, PoseTracker, StewartGeometry
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.reports.health import SINGULARITY

WRONG_DISTANCE = 0.05  # rad and m; noise takes no pose so far that is not within a singularity


@dataclass(frozen=True)
class Crossing:
    """
    A recorded passage, row by row in time, s from the first sample.

    truth and plain: (n, 4, 4), m, the true poses and those of a solver that follows the lengths
    from its last pose and velocity. ours: (m, 4, 4), m, what the node published, and ours_truth
    beside it. distances: (n,), signed smallest singular values of the truth; they change sign at
    the singularity. answered: number of true poses with a status, whether it has a pose or not.
    flags: (m,), those of each published pose.
    """

    times: Array
    truth: Array
    plain: Array
    distances: Array
    answered: int
    ours_times: Array
    ours: Array
    ours_truth: Array
    flags: tuple[Flag, ...]

    @classmethod
    def of(cls, geometry: StewartGeometry, truths: Sequence[Any], legs: Sequence[Any],
           poses: Sequence[Any], statuses: Sequence[Any]) -> 'Crossing':
        """
        Take the messages of a recording, each (arrival ns, message), and solve plainly.

        Raises NotShownError where none of them are of one time.
        """
        true_poses = {nanoseconds(m.header.stamp): from_pose(m.pose) for _, m in truths}
        lengths = {nanoseconds(m.header.stamp): np.array(m.position) for _, m in legs}
        flags = {nanoseconds(m.header.stamp): Flag(m.flags) for _, m in statuses}
        published = {nanoseconds(m.header.stamp): from_pose(m.pose) for _, m in poses}
        stamps = sorted(set(true_poses) & set(lengths))
        compared = sorted(set(published) & set(flags) & set(true_poses))
        if not (stamps and compared):
            raise NotShownError(f'expected true poses, lengths, poses and statuses of one time, '
                                f'got {len(truths)}, {len(legs)}, {len(poses)}, {len(statuses)}')
        truth = np.array([true_poses[stamp] for stamp in stamps])
        tracker = PoseTracker(geometry, truth[0])
        begin = stamps[0]
        return cls(
            times=1e-9 * (np.array(stamps) - begin), truth=truth,
            plain=np.array([tracker.track(stamp, lengths[stamp]).pose for stamp in stamps]),
            distances=np.asarray(PlatformMeter(geometry).signed_values(truth)),
            answered=len(set(true_poses) & set(flags)),
            ours_times=1e-9 * (np.array(compared) - begin),
            ours=np.array([published[stamp] for stamp in compared]),
            ours_truth=np.array([true_poses[stamp] for stamp in compared]),
            flags=tuple(flags[stamp] for stamp in compared))

    @property
    def plain_errors(self) -> Array:
        """Return how far (n,) the plain solver is off: the largest of its rad and m."""
        return errors(self.plain, self.truth)

    @property
    def our_errors(self) -> Array:
        """Return how far (m,) the published poses are off: the largest of their rad and m."""
        return errors(self.ours, self.ours_truth)

    @property
    def crossed_at(self) -> float:
        """Return when the truth passes the singularity, s; NaN where it does not."""
        changes = np.flatnonzero(np.diff(np.sign(self.distances)))
        return float(self.times[changes[0] + 1]) if len(changes) else float('nan')

    def warnings(self) -> list[tuple[str, float, float]]:
        """Return each warning of the singularity, with the times of its first and last pose, s."""
        found = []
        for flag, sentence in SINGULARITY.items():
            at = [t for t, flags in zip(self.ours_times.tolist(), self.flags) if flag in flags]
            if at:
                found.append((sentence, at[0], at[-1]))
        return sorted(found, key=lambda row: row[1])

    def unsaid(self) -> int:
        """Return how many wrong poses were published without a word."""
        doubt = Flag.BRANCH_UNSURE | Flag.BRANCH_WRONG
        return sum(error > WRONG_DISTANCE and not flags & doubt
                   for error, flags in zip(self.our_errors.tolist(), self.flags))


def errors(poses: Array, truth: Array) -> Array:
    """Return the largest entries (n,) of the twists between poses (n, 4, 4), rad or m."""
    return np.asarray(np.abs(se3.log(se3.compose(se3.inverse(truth), poses))).max(axis=1))
