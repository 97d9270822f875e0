# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A pose with its warnings, and a pose that a start or a gap began with."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.tracking.bias_monitor import BiasFit
from liedyn_ros.stewart.tracking.branch.monitor import Branch
from liedyn_ros.stewart.tracking.branch_evidence import BranchSource
from liedyn_ros.stewart.tracking.legs.monitor import LegMotion
from liedyn_ros.stewart.tracking.sensor_monitor import SensorFit
from liedyn_ros.stewart.tracking.tracker import TrackedPose


@dataclass(slots=True, eq=False)
class MonitoredPose(TrackedPose):
    """
    A tracked pose and the warnings attached to it.

    flags: docs/stewart.md. legs: indices of the legs suspected. branch: as the motion
    shows it; None where there is no pose. time_to_singularity: s, until the smallest singular
    value falls to singularity_warning at its present rate; infinite where it does not. other:
    (4, 4), m, the pose of the other branch while both are held. fit: of the redundant sensor's
    reading, None where none was compared. motion: of the legs; None for the first sample.
    rates: (n,), the measured ones that the twist comes from. None where it is estimated at the
    stamp, or, within singularity_warning of a singularity, the mean since the pose before
    (twist_span > 0).
    branch_source: what the branch rests on. branch_reason: why that is nothing, else ''.
    bias_fit: of redundant lengths, None of six.

    >>> MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home)).flags
    <Flag: 0>
    """

    flags: Flag
    legs: tuple[int, ...] = ()
    branch: Branch | None = None
    time_to_singularity: float = math.inf
    other: Array | None = None
    fit: SensorFit | None = None
    motion: LegMotion | None = None
    rates: Array | None = None
    branch_source: BranchSource = BranchSource.UNSURE
    branch_reason: str = ''
    bias_fit: BiasFit | None = None

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
