# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Least torque within effort limits: which actuators stand at a limit, and which way.

The least sum of w tau^2 over |tau| <= limit, with N_a^T tau what the motion needs, has
tau = clip(N_a s / w) for some s (12.57). The dual function of s is concave and piecewise
quadratic. Newton's method with a line search finds its maximum in finitely many steps.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array

STEPS = 200  # of Newton's method
EXACT, OPEN = 1e-12, 1e-6  # part of the need that may be open: where steps end, and at most
_ROUNDING = 1e-12  # part of the Hessian that is added where few actuators are free


class EffortSplit(NamedTuple):
    """
    Actuators (n,) at their limits, and the efforts (n,) of all.

    missing is the part of the need that they cannot hold, 0 where they can.
    """

    at_limit: NDArray[np.bool_]
    efforts: Array
    missing: float


def split_efforts(moved: Array, need: Array, weights: Array, limits: Array) -> EffortSplit:
    """
    Return the efforts (n,) of least weighted square within limits (n,).

    moved (f, n) are the rates of the actuators in f free motions, need (f,) is what those take.
    Weights and limits are above 0.
    """
    size = np.abs(moved) @ np.where(np.isfinite(limits), limits, 0.0)
    scale = max(float(np.abs(need).max(initial=0.0)), float(size.max(initial=0.0)), 1e-300)
    s = np.linalg.lstsq((moved / weights) @ moved.T, need, rcond=None)[0]
    added = _ROUNDING * np.trace((moved / weights) @ moved.T) * np.eye(len(need))
    for _ in range(STEPS):
        wanted = (moved.T @ s) / weights
        held = np.clip(wanted, -limits, limits)
        left = need - moved @ held
        if np.abs(left).max(initial=0.0) <= EXACT * scale:
            break
        free = np.where(np.abs(wanted) < limits, 1.0 / weights, 0.0)
        step = np.linalg.solve((moved * free) @ moved.T + added, left)
        part = _best(float(need @ step), moved.T @ step, wanted, weights, limits)
        if part == math.inf:
            break
        s = s + part * step
    open_part = float(np.abs(left).max(initial=0.0)) / scale
    return EffortSplit(np.abs(wanted) >= limits, held, open_part if open_part > OPEN else 0.0)


def _best(gain: float, pull: Array, wanted: Array, weights: Array, limits: Array) -> float:
    """
    Return the part of a step at which the dual function is greatest; its slope falls.

    gain is need @ step, pull (n,) is moved.T @ step. Infinite where no efforts are enough.
    """
    change = pull / weights
    with np.errstate(divide='ignore', invalid='ignore'):
        ends = np.concatenate(((limits - wanted) / change, (-limits - wanted) / change))
    places = np.unique(np.append(ends[np.isfinite(ends) & (ends > 0.0)], [0.0, 1.0]))
    places = np.append(places, 2.0 * places[-1])  # beyond it the slope stays
    held = np.clip(wanted + places[:, None] * change, -limits, limits)
    exact = gain - held @ pull
    slopes = exact.copy()
    slopes[slopes <= EXACT * (abs(gain) + np.abs(held) @ np.abs(pull))] = 0.0  # by rounding
    if slopes[-1] > 0.0:  # beyond the last end only actuators without a limit count
        fall = float(pull[np.isinf(limits)] @ change[np.isinf(limits)])
        return float(places[-1] + slopes[-1] / fall) if fall > 0.0 else math.inf
    after = int(np.argmax(slopes == 0.0))
    before = max(after - 1, 0)
    return float(np.interp(0.0, -exact[[before, after]], places[[before, after]]))
