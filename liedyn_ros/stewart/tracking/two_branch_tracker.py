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

"""Two poses of the same lengths, both followed through a singularity until one is ruled out."""

from collections.abc import Callable
from dataclasses import replace

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.platform.singularity import Singularity, SingularityMeter
from liedyn_ros.stewart.solver.pose_solver import PoseSolver
from liedyn_ros.stewart.tracking.branch_monitor import Branch, BranchGuard, EXACT
from liedyn_ros.stewart.tracking.tracker import PoseTracker, TrackedPose

# Given two poses, tells by a redundant sensor whether the second fits better; None for neither.
Preference = Callable[[Array, Array], bool | None]


class Hypotheses:
    """
    A tracker's pose and the pose on the other branch, while it is open which is true.

    The other one is the tracker's pose reflected along the null twist and solved again; from
    then on it is tracked on its own. The motion (by the guard) or a sensor decides, and the
    tracker is set on the branch that is chosen.
    """

    def __init__(self, tracker: PoseTracker, meter: SingularityMeter, guard: BranchGuard) -> None:
        """Take the tracker, and what measures and judges its poses."""
        self._tracker, self._meter, self._guard = tracker, meter, guard
        self._solver = PoseSolver(tracker.geometry, tracker.method)
        self._other = PoseTracker(tracker.geometry, tracker.home, tracker.method)
        self._other.restarts = False

    def drop(self) -> None:
        """Follow the tracker's pose alone."""
        self._other.reset()

    def choose(
            self, tracked: TrackedPose, singularity: Singularity, branch: Branch,
            prefer: Preference | None
    ) -> tuple[TrackedPose, Singularity, Branch, Array | None]:
        """
        Return pose, measure and judgement of the better branch, and the other's pose if open.

        tracked: the tracker's pose of this sample; singularity, branch: what is known of it.
        prefer: a redundant sensor's answer, where there is one.
        """
        if not (branch.unsure or branch.wrong):
            self.drop()
            return tracked, singularity, branch, None
        other = self._follow(tracked, singularity)
        if other is None:
            return tracked, singularity, branch, None
        told = None if prefer is None else prefer(tracked.solution.pose, other.solution.pose)
        if branch.wrong if told is None else told:
            self._tracker.last, self._other.last = other, tracked
            tracked, other = other, tracked
            before, singularity = singularity, self._meter.measure(tracked.solution.pose)
            apart = singularity.signed_value - before.signed_value
            branch = branch._replace(
                wrong=False,
                prediction_gap=branch.prediction_gap + apart / max(abs(before.slope), EXACT))
        if told is None:
            return tracked, singularity, branch, other.solution.pose
        self._guard.settle(singularity)
        self.drop()
        return tracked, singularity, branch._replace(
            expected_sign=singularity.determinant_sign, wrong=False, unsure=False), None

    def _follow(self, tracked: TrackedPose, singularity: Singularity) -> TrackedPose | None:
        """Return the other pose of the same sample, or None where no other is found."""
        if self._other.last is not None:
            other = self._other.advance(tracked.stamp_ns, tracked.lengths)
            if other.solution.converged and self._is_other(other.solution.pose, singularity):
                return other
            self.drop()
        guess = self._meter.reflected(tracked.solution.pose, singularity)
        solution = self._solver.solve(tracked.lengths, guess)
        if not (solution.converged and self._is_other(solution.pose, singularity)):
            return None
        # Its twist comes with the next sample: the tracker's is that of the wrong branch.
        self._other.last = replace(tracked, solution=solution, twist=None)
        return self._other.last

    def _is_other(self, pose: Array, singularity: Singularity) -> bool:
        return (self._meter.measure(pose).determinant_sign != singularity.determinant_sign)
