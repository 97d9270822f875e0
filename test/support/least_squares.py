# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kernel of constrained least squares, with its work area and a new result."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.linear_algebra.kernels.constrained_least_squares import (
    solve_constrained_least_squares)


def within_constraints(rows: Array, wanted: Array, held: int, damping: Array, lower: Array,
                       upper: Array) -> Array | None:
    """
    Return the x (n,) of the least |A x - b|^2 + damping x^2 with C x = c, lower <= x <= upper.

    Args:
        rows: (m, n) of finite numbers, C above A.
        wanted: (m,), c before b.
        held: how many rows C has. They may depend on each other.
        damping: (n,) above 0, or 0 where A tells of x.
        lower: bounds (n,).
        upper: bounds (n,).

    Returns:
        x (n,), or None where there is none.
    """
    m, n = rows.shape
    x, size = np.empty(n), m + 4 * n + 4
    rows, wanted, damping, lower, upper = map(
        np.ascontiguousarray, (rows, wanted, damping, lower, upper))
    found = solve_constrained_least_squares(
        rows, wanted, held, damping, lower, upper, np.empty((size, size)), x)
    return x if found else None
