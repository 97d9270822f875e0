# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of samples as they come: a polynomial through the newest ones."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError, StampError

DEGREE = 4


class WindowSample(NamedTuple):
    """A smoothed sample: time (s), q, v, a and tau (n,)."""

    time: float
    q: Array
    v: Array
    a: Array
    tau: Array


class MotionWindow:
    """
    Smooths joints of one coordinate by a polynomial of degree 4 over the newest samples.

    The result is that of the middle of the window, so it is late by half of it: the delay. Forces
    are smoothed alike, so that they belong to the motion. Stamps may be uneven.
    """

    def __init__(self, size: int = 21) -> None:
        """Take the number of samples, odd and at least 7."""
        if size < DEGREE + 3 or size % 2 == 0:
            raise LimitError(f'size: expected an odd number of at least {DEGREE + 3}, got {size}')
        self._kept: deque[tuple[float, Array]] = deque(maxlen=size)

    def take(self, time: float, q: ArrayLike, tau: ArrayLike) -> WindowSample | None:
        """
        Return the sample of the middle, None until the window is full.

        Raises StampError for a time (s) that is not after the last one, ShapeError and
        NotFiniteError.
        """
        q = as_array('q', q, (-1,))
        tau = as_array('tau', tau, (len(q),))
        kept = self._kept
        if kept and not time > kept[-1][0]:
            raise StampError(f'time: expected one after {kept[-1][0]!r} s, got {time!r}')
        kept.append((time, np.stack([q, tau])))
        if len(kept) < (kept.maxlen or 0):
            return None
        stamps = np.array([each[0] for each in kept])
        middle = float(stamps[len(kept) // 2])
        reach = float(np.abs(stamps - middle).max())
        powers = np.vander((stamps - middle) / reach, DEGREE + 1, increasing=True)
        values = np.array([each[1] for each in kept]).reshape(len(kept), -1)
        found = np.linalg.lstsq(powers, values, rcond=None)[0].reshape(-1, 2, len(q))
        return WindowSample(middle, found[0, 0], found[1, 0] / reach, 2.0 * found[2, 0] / reach**2,
                            found[0, 1])
