# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Brackets of screws and wrenches, and products of Taylor series, of arrays with further axes."""

from collections.abc import Callable

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import so3

# Of each entry of a vector product, or of two beside each other, the entries that it multiplies.
_NEXT, _LAST = np.array([1, 2, 0, 4, 5, 3]), np.array([2, 0, 1, 5, 3, 4])
_NEXT_OF_3, _LAST_OF_3 = _NEXT % 3, _LAST % 3
Product = Callable[[Array, Array], Array]


def convolve(x: Array, y: Array, product: Product) -> Array:
    """Return the Taylor coefficients (rows, ...) of a product of two series."""
    return np.array([sum(product(x[i], y[m - i]) for i in range(m + 1)) for m in range(len(x))])


def bracket(x: Array, y: Array) -> Array:
    """Return [x, y] of rows (..., 6) (1.3); np.cross takes four times as long."""
    w, v = y[..., :3], y[..., 3:]
    result = x[..., _NEXT] * w[..., _LAST_OF_3] - x[..., _LAST] * w[..., _NEXT_OF_3]
    result[..., 3:] += (x[..., _NEXT[:3]] * v[..., _LAST[:3]]
                        - x[..., _LAST[:3]] * v[..., _NEXT[:3]])
    return result


def apply(matrix: Array, vector: Array) -> Array:
    """Return the products of matrices (..., n, m) and vectors (..., m)."""
    return np.einsum('...ab,...b->...a', matrix, vector)


def outer(x: Array, y: Array) -> Array:
    """Return the products of all rows of two matrices."""
    return x @ y.T


def dual_bracket(wrench: Array) -> Array:
    """Return N(h) = [[m] [f]; [f] 0] (..., 6, 6) with N(h) P = ad_P^T h."""
    result = np.zeros((*wrench.shape, 6))
    result[..., :3, :3] = so3.hat(wrench[..., :3])
    result[..., :3, 3:] = result[..., 3:, :3] = so3.hat(wrench[..., 3:])
    return result
