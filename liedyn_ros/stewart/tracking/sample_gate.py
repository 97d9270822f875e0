# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The first stage of tracking: a sample must have lengths in range and a stamp after the last.

Its age is judged before, by the AgeGate of the node (ros/streams/input_gate.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.stamps import Timeline
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels import legs


class Sample(NamedTuple):
    """
    An accepted sample: its time, lengths (n,), m, and rates (n,), m/s, if measured.

    clock_set_back: whether its time shows that the clock was set back.
    """

    stamp_ns: int
    lengths: Array
    rates: Array | None
    clock_set_back: bool


class SampleGate:
    """Checks shape, finiteness, limits and order of stamps of each sample, once."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry."""
        self._geometry = geometry
        self._admit = BoundKernel(legs.admit, geometry.length_limits.copy())
        self._shape = (len(geometry.leg_names),)
        self._timeline = Timeline()

    def reset(self) -> None:
        """Forget the stamps: the next sample may have any."""
        self._timeline.reset()

    def accept(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None = None) -> Sample:
        """
        Return a sample that may be solved.

        lengths: (n,), m. rates: (n,), m/s. Raises ShapeError, NotFiniteError, LimitError for
        lengths beyond the limits, and StampError for a time that is not a whole number or not
        after the last.
        """
        given: Array = np.empty(self._shape)
        measured: Any = rates  # arrays, where the kernel takes them
        if not self._admit.attempt(lengths, lengths if rates is None else rates, given):
            given = checks.as_array('lengths', lengths, self._shape).copy()
            self._geometry.require_values(given)
            self._geometry.require_within_limits(given)
            measured = None if rates is None else checks.as_array(
                'rates', rates, self._shape)
        follows = self._timeline.follows(stamp_ns)
        return Sample(int(stamp_ns), given, measured, not follows)  # one type: nothing compiles
