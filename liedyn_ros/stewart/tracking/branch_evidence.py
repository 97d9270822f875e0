# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Evidence of a pose's branch: a proof, home, the motion, a redundant sensor, or none.

Lengths have several poses. A solve finds one of them, with no residual and certified, whichever
the machine is at. At a start only the word of home chooses among them, after a gap the last pose.
branch/kernels/evidence.py judges when that is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels.state import INVERSE_AT
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.solver.pose_solver import PoseSolver, Status
from liedyn_ros.stewart.tracking.branch.kernels import evidence as kernels
from liedyn_ros.stewart.tracking.branch.kernels.branch import LOG_ODDS_LIMIT
from liedyn_ros.stewart.tracking.branch.kernels.separation import separation
from liedyn_ros.stewart.tracking.tracker import TrackedPose

REASONS = {
    kernels.NO_REASON: '', kernels.START_REASON: 'start: home does not choose among poses',
    kernels.GAP_REASON: 'gap: a second pose was within reach while no lengths came',
    kernels.HOME_DISAGREES: 'home: a solve from there leads to another pose, which is near it'}
NOISE_REASON = 'singularity: the motion does not distinguish two poses'


class BranchSource(IntEnum):
    """
    Source of the evidence of a pose's branch.

    UNSURE: on nothing. HOME: on the word of home, or of a user who confirmed a pose. MOTION: on a
    motion that led through a singularity. SENSOR: on a redundant sensor. PROVED: only one of the
    machine's poses has the lengths.

    >>> tracked = MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home))
    >>> tracked.branch_source.name
    'HOME'
    """

    UNSURE = kernels.UNSURE_CODE
    HOME = kernels.HOME_CODE
    MOTION = kernels.MOTION_CODE
    SENSOR = kernels.SENSOR_CODE
    PROVED = kernels.PROVED_CODE


class BranchEvidence:
    """Judges starts and gaps, and remembers what the branch rests on; for one thread."""

    def __init__(self, geometry: StewartGeometry, home: Array, meter: PlatformMeter) -> None:
        """Take a geometry, the home pose (4, 4), m, the meter of the tracker."""
        self._scale = geometry.characteristic_length
        self._solver = PoseSolver(geometry)
        self._meter, self._home = meter, home
        self.buffer = kernels.empty_evidence()  # of the kernels
        if not geometry.redundant:  # more legs tell of all branches
            kernels.set_home(self.buffer, geometry.table(self._scale), self._scale, home)
        self._numbers = kernels.EVIDENCE.array(self.buffer, 'numbers')
        self._centre = tuple(kernels.EVIDENCE.array(self.buffer, 'centre').tolist())
        self._poses = 0, ''  # a start, and what is known of its poses

    def reset(self) -> None:
        """Forget everything: the next pose is a start."""
        kernels.forget_evidence(self.buffer)

    def restart(self) -> None:
        """Note that a motion was lost: the next pose is a start that nobody asked for."""
        kernels.lose_evidence(self.buffer)

    @property
    def starts(self) -> int:
        """Return the number of starts and gaps that were judged: a proof is of one of them."""
        return int(self._numbers[kernels.STARTS])

    @property
    def source(self) -> BranchSource:
        """Return the source that the branch rests on where it is not unsure."""
        return BranchSource(int(self._numbers[kernels.SOURCE]))

    @property
    def reason(self) -> str:
        """Return why the branch rests on nothing, until one of four ways clears it; else ''."""
        reason, (number, poses) = int(self._numbers[kernels.REASON]), self._poses
        return REASONS[reason] + (poses if number == self.starts else '') if reason else ''

    @property
    def unsure(self) -> bool:
        """Return whether the branch rests on nothing."""
        return bool(self._numbers[kernels.REASON])

    @property
    def restarted(self) -> bool:
        """Return whether a motion was lost, and nothing has cleared that."""
        return bool(self._numbers[kernels.RESTARTED])

    def continue_from(self, tracked: TrackedPose) -> None:
        """Take another pose of the same sample for the last one."""
        kernels.keep_evidence(
            self.buffer, tracked.stamp_ns, tracked.pose, tracked.state.values)

    def weigh(self, pose: Array, poses: Sequence[Array], complete: bool) -> bool:
        """
        Judge the pose of a start, (4, 4), m, by the machine's poses of the same lengths (11.14).

        complete: whether these are all. Then they may clear the start, else only speak against it.
        Return whether there is no other.
        """
        others = [other for other in poses if self._apart(pose, other) > kernels.SAME_POSE]
        if not others or self._numbers[kernels.REASON] == kernels.GAP_REASON:
            return complete and not others
        ways = [self._apart(self._home, other) for other in (pose, *others)]
        odds = 6.0 * np.log(np.maximum(ways, 1e-300)) + self._log_size(np.array((pose, *others)))
        odds -= odds[0]
        if odds[1:].min() < LOG_ODDS_LIMIT:
            if self.source is BranchSource.HOME:
                self._numbers[kernels.REASON] = kernels.START_REASON
            likeliest = ways[1 + int(odds[1:].argmin())]
            self._poses = self.starts, (
                f'; {len(ways)} poses of this machine have these lengths, this one '
                f'{ways[0]:.2g} from home, another {likeliest:.2g}')
        elif complete and self._numbers[kernels.REASON] == kernels.START_REASON:
            self.confirm(BranchSource.HOME)
        return False

    def ask(self, prefer: Callable[[Array, Array], bool | None], tracked: TrackedPose) -> None:
        """Take a pose for the right one where a redundant sensor prefers it to its second pose."""
        pose, status, *_ = self._solver.solve_checked(
            tracked.lengths, self._meter.reflected(tracked.state), self._meter.empty())
        if status is Status.CONVERGED and self._apart(pose, tracked.pose) > kernels.SAME_POSE and (
                prefer(tracked.pose, pose) is False):
            self.confirm(BranchSource.SENSOR)

    def await_residual(self, known: bool) -> None:
        """
        Note that more than six lengths do not fit the pose of a start, or that nothing tells yet.

        known: whether their noise is.
        """
        self._numbers[kernels.STARTS] += not self.unsure
        self._numbers[kernels.REASON] = kernels.START_REASON
        self._poses = self.starts, '; these lengths contradict each other at this pose' if known \
            else '; more than six lengths choose once their noise is known: set it'

    def rest_on(self, source: BranchSource) -> None:
        """Let the branch rest on a source from now on."""
        self._numbers[kernels.SOURCE] = source

    def confirm(self, source: BranchSource) -> None:
        """Take the present branch for the right one, on the word of a source."""
        kernels.confirm_evidence(self._numbers, source)

    def _log_size(self, poses: Array) -> Array:
        """Return log |det J| of poses (n, 4, 4), m, in rad and characteristic lengths."""
        return np.array([np.linalg.slogdet(
            self._meter.measure(pose).values[:INVERSE_AT].reshape(6, 6))[1] for pose in poses])

    def _apart(self, first: ArrayLike, second: ArrayLike) -> float:
        return float(separation(first, second, self._centre, self._scale))
