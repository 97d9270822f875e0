# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A pose with its warnings, and a pose that a start or a gap began with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.platform.limits import margins_of
from liedyn_ros.stewart.platform.state import PlatformMeter, PlatformState
from liedyn_ros.stewart.tracking.bias_monitor import BiasFit
from liedyn_ros.stewart.tracking.branch.monitor import Branch
from liedyn_ros.stewart.tracking.branch_evidence import BranchSource
from liedyn_ros.stewart.tracking.kernels import follower as parts
from liedyn_ros.stewart.tracking.legs.monitor import LegMotion
from liedyn_ros.stewart.tracking.sensor_monitor import SensorFit
from liedyn_ros.stewart.tracking.tracker import TrackedPose

NO_FLAGS = Flag(0)


class MonitoredPose(TrackedPose):
    """
    A tracked pose and the warnings attached to it, from MonitoredTracker.track.

    flags: docs/stewart.md. legs: indices of the legs suspected. other: (4, 4), m, the pose of the
    other branch while both are held. fit: of the redundant sensor's reading, None where none was
    compared. motion: of the legs; None for the first sample. rates: (n,), the measured ones that
    the twist comes from. None where it is estimated at the stamp, or, within singularity_warning
    of a singularity, the mean since the pose before (twist_span > 0). branch_reason: why the
    branch rests on nothing, or ''. bias_fit: of redundant lengths, None of six. margins: of a good
    pose, as LimitMargins.

    >>> MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home)).flags
    <Flag: 0>
    """

    __slots__ = (
        'bias_fit', 'branch_reason', 'fit', 'flags', 'legs', 'margins', 'motion', 'other', 'rates')

    def __init__(self, meter: PlatformMeter, stamp_ns: int, lengths: Array,
                 legs: tuple[int, ...], motion: LegMotion | None) -> None:
        """
        Take a sample, whose results are still to be written.

        Args:
            meter: of the platform.
            stamp_ns: the sample's time; ns.
            lengths: (n,); m, of cranks rad.
            legs: indices of those suspected.
            motion: of the legs, if known.
        """
        super().__init__(meter, stamp_ns, lengths)
        self.legs, self.motion, self.branch_reason = legs, motion, ''
        self.flags = NO_FLAGS
        self.margins: Array = np.empty(margins_of(meter.legs))
        self.other: Array | None = None
        self.fit: SensorFit | None = None
        self.rates: Array | None = None
        self.bias_fit: BiasFit | None = None

    @property
    def branch(self) -> Branch | None:
        """Return the branch as the motion shows it; None where there is no pose."""
        if not self.converged:
            return None
        sign, rate, gap = self.numbers[parts.FOUND_SIGN:parts.FOUND_SOURCE].tolist()
        unsure, wrong = self.numbers[parts.IS_UNSURE:parts.UNTIL].tolist()
        return Branch(int(sign), rate, gap, bool(unsure), bool(wrong))

    @branch.setter
    def branch(self, branch: Branch) -> None:
        self.numbers[parts.FOUND_SIGN:parts.FOUND_SOURCE] = branch[:3]
        self.numbers[parts.IS_UNSURE:parts.UNTIL] = branch[3:]

    @property
    def time_to_singularity(self) -> float:
        """
        Return s until the smallest singular value falls to singularity_warning.

        It falls at its present rate; where it does not, the time is infinite.
        """
        return float(self.numbers[parts.UNTIL])

    @property
    def branch_source(self) -> BranchSource:
        """Return the source that the branch rests on."""
        return BranchSource(int(self.numbers[parts.FOUND_SOURCE]))

    @property
    def state(self) -> PlatformState:
        """Return the platform's state at the pose."""
        if self._state is None:
            self._state = PlatformState(
                self.meter, self.pose, self.values, self.margins if self.converged else None)
        return self._state

    def take(self, tracked: TrackedPose) -> None:
        """
        Take the solve of a pose of the same sample; what is said about the branch stays.

        Args:
            tracked: a TrackedPose of the sample.

        >>> lengths = leg_lengths(geometry, home)
        >>> said = MonitoredTracker(geometry, home).track(0, lengths)
        >>> said.take(PoseTracker(geometry, home).track(0, lengths))
        >>> said.converged
        True
        """
        said, self.numbers = self.numbers, tracked.numbers.copy()
        self.numbers[parts.FOUND_FLAGS:parts.SOLVE_TIME] = said[parts.FOUND_FLAGS:parts.SOLVE_TIME]
        self.pose, self.values, self.status, self._state = (
            tracked.pose, tracked.values, tracked.status, None)

    @property
    def residuals(self) -> Array:
        """Return readings less those of the pose of all legs, (n,), m or rad; 0 of six legs."""
        return np.zeros(len(self.lengths)) if self.bias_fit is None else self.bias_fit.residuals

    @property
    def left_out(self) -> tuple[int, ...]:
        """Return the indices of legs that do not count in the pose."""
        fit = self.bias_fit
        return fit.legs if fit is not None and fit.left_out else ()


class StartedPose(NamedTuple):
    """
    A pose (4, 4), m, since whose start nothing was proved, and its lengths (6,).

    number: of the start or gap. noise: deviation of a length, in characteristic lengths.
    """

    number: int
    lengths: Array
    pose: Array
    noise: float
