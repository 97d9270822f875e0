# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Least squares within bounds, in some 20 us where scipy takes milliseconds."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.linear_algebra.kernels.bounded_least_squares import solve_within_bounds


def within_bounds(a: Array, b: Array, lower: Array, upper: Array, near: Array) -> Array:
    """
    Return the x (n,) of the least |a x - b| with lower <= x <= upper.

    Args:
        a: matrix (m, n) of finite numbers. Rows may weigh as differently as one likes, where
            those that weigh most come first.
        b: wanted (m,).
        lower: bounds (n,).
        upper: bounds (n,).
        near: x (n,) of which that stays which a does not tell; it may be beyond the bounds.

    Returns:
        x (n,).

    >>> within_bounds(np.eye(2), np.array([2.0, 0.5]), np.zeros(2), np.ones(2), np.zeros(2))
    array([1. , 0.5])
    """
    m, n = a.shape
    x, order = np.array(near, float), np.empty((2, n), dtype=np.int64)
    solve_within_bounds(*map(np.ascontiguousarray, (a, b, lower, upper)), x,
                        np.empty((m, n + 1)), np.empty(n), *order)
    return x
