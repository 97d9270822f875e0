# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Two poses of the same lengths, both followed through a singularity until one is ruled out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.solver.pose_solver import LevenbergMarquardt
from liedyn_ros.stewart.tracking.branch.kernels.branch import MIN_NOISE
from liedyn_ros.stewart.tracking.branch.monitor import Branch
from liedyn_ros.stewart.tracking.kernels.follower import FOUND_START, TWIST_SPAN
from liedyn_ros.stewart.tracking.tracker import PoseFollower, Sample, TrackedPose

# Of two poses: whether a redundant sensor fits the second better; None if it does not decide.
Preference = Callable[[Array, Array], bool | None]


class BranchChoice(NamedTuple):
    """
    The better of two poses of a sample.

    tracked, branch: the better pose and its branch. other: (4, 4), m, the other pose while
    both are possible. switched: whether the better one is not the tracker's. confirmed: whether a
    sensor decided.
    """

    tracked: TrackedPose
    branch: Branch
    other: Array | None = None
    switched: bool = False
    confirmed: bool = False


class TwoBranchTracker:
    """
    Finds and follows the pose on the other branch until one of the two is ruled out.

    It is the tracker's pose reflected along the null twist and solved again; from then on it is
    tracked on its own. The motion or a sensor decides.
    """

    def __init__(
            self, geometry: StewartGeometry, home: ArrayLike, method: LevenbergMarquardt,
            meter: PlatformMeter) -> None:
        """Take the arguments of a PoseFollower."""
        self._meter = meter
        self._other = PoseFollower(geometry, home, method, meter)

    def reset(self) -> None:
        """Stop following the other pose."""
        self._other.continue_from(None)

    def choose(
            self, tracked: TrackedPose, sample: Sample, branch: Branch,
            prefer: Preference | None, both: bool = False) -> BranchChoice:
        """
        Return the better of the tracker's pose of a sample and the one on the other branch.

        branch: that of the tracker's pose. prefer: a redundant sensor's answer. both: whether the
        branch rests on nothing, though the motion tells none of the two.
        """
        if not (branch.unsure or branch.wrong or both):
            self.reset()
            return BranchChoice(tracked, branch)
        other = self._follow(tracked, sample)
        if other is None:
            return BranchChoice(tracked, branch)
        preferred = None if prefer is None else prefer(tracked.pose, other.pose)
        switched = branch.wrong if preferred is None else preferred
        if switched:
            self._other.continue_from(tracked)
            apart = other.state.signed_value - tracked.state.signed_value
            branch = branch._replace(
                wrong=False, prediction_gap=branch.prediction_gap
                + apart / max(abs(tracked.state.slope), MIN_NOISE))
            tracked, other = other, tracked
        if preferred is None:
            return BranchChoice(tracked, branch, other.pose, switched)
        self.reset()
        return BranchChoice(tracked, branch._replace(
            expected_sign=tracked.state.determinant_sign, wrong=False, unsure=False),
            None, switched, True)

    def _follow(self, tracked: TrackedPose, sample: Sample) -> TrackedPose | None:
        """Return the second pose of a sample, or None where no other is found."""
        sign = tracked.state.determinant_sign
        if self._other.started:
            other = self._other.solve_sample(sample, may_restart=False)
            if other.converged and other.state.determinant_sign != sign:
                return other
            self.reset()
        other = self._other.solve_from(self._meter.reflected(tracked.state), tracked)
        if not other.converged or other.state.determinant_sign == sign:
            return None
        # The tracker's twist is that of the wrong branch; the span says that there is a motion.
        other.numbers[FOUND_START] = tracked.start
        other.numbers[TWIST_SPAN] = tracked.twist_span
        self._other.continue_from(other)
        return other
