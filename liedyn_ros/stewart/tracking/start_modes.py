# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
All poses of a start's lengths: those of the assembly modes that joints, legs and drives allow.

It takes 40 ms and more, so it runs beside the tracking, once for each start or gap.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
import math
from typing import Any, TYPE_CHECKING

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.assembly.modes import AssemblyModeSolver, MachineModes
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.state import PlatformMeter

if TYPE_CHECKING:
    from liedyn_ros.stewart.tracking.monitored_tracker import MonitoredTracker

SAME_MODE = 1e-3  # rad and characteristic lengths, between two solves of one pose, at most
LENGTH_DEVIATIONS = 6.0  # of the lengths' noise


class StartModes:
    """Judges the starts of a tracker by all poses of their lengths; in one thread."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry."""
        self.solver = AssemblyModeSolver(geometry)
        self._meter = PlatformMeter(geometry)
        self._weighed = 0

    def weigh(
            self, tracker: MonitoredTracker, lock: AbstractContextManager[Any] = nullcontext()
    ) -> None:
        """Weigh the last start of a tracker, once; the lock guards the tracker."""
        with lock:
            start = tracker.start
        if start is None or start.number == self._weighed or self.solver.unsupported:
            return
        self._weighed = start.number
        found = self.find(start.lengths, start.pose, start.noise)
        with lock:
            tracker.weigh(start, found)

    def find(self, lengths: Array, pose: Array, noise: float) -> MachineModes:
        """
        Return the poses of lengths (n,) within joint cones, clearances and dead centres.

        pose: (4, 4), m, that was found: limits that it exceeds itself are wrong, and none is
        used. noise: standard deviation of a length in characteristic lengths. Where it may have
        made two poses meet and vanish, these are not all. Of more lengths than six a pose that
        they fit is not found by chance: what is found counts as all.
        """
        found, meter = self.solver.solve(lengths, noise), self._meter
        modes = [mode.pose for mode in found.modes if mode.of_machine]
        if modes and meter.measure(pose).margins.within_limits:
            within = meter.margins(np.array(modes)).within_limits
            modes = [mode for mode, kept in zip(modes, within) if kept]
        # Near where two poses meet they are as far apart as the root of what the lengths miss.
        apart = 2.0 * math.sqrt(LENGTH_DEVIATIONS * noise)
        complete = self.solver.geometry.redundant or (
            found.complete and found.nearest_complex > apart)
        return MachineModes(tuple(modes), complete, SAME_MODE * meter.characteristic_length)
