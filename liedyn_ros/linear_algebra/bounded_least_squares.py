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
from liedyn_ros.linear_algebra.kernels.constrained_least_squares import (
    solve_constrained_least_squares)


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

    >>> within_constraints(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 2.0]), 1,
    ...                    np.full(2, 1e-9), np.zeros(2), np.array([0.75, 1.0]))
    array([0.75, 0.25])
    """
    m, n = rows.shape
    x, size = np.empty(n), m + 4 * n + 4
    rows, wanted, damping, lower, upper = map(
        np.ascontiguousarray, (rows, wanted, damping, lower, upper))
    found = solve_constrained_least_squares(
        rows, wanted, held, damping, lower, upper, np.empty((size, size)), x)
    return x if found else None
