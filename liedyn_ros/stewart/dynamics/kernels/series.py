# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Power series in the rows of a table: Taylor coefficients x^(k) / k!, their products (7.26)."""

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import vec3


@inlined
def get(series, row, k):
    """Return coefficient k of a vector."""
    return series[row, k], series[row + 1, k], series[row + 2, k]


@inlined
def put(series, row, k, x):
    """Write coefficient k of a vector."""
    series[row, k], series[row + 1, k], series[row + 2, k] = x


@inlined
def product(series, x, y, k):
    """Return coefficient k of the product of two numbers."""
    total = 0.0
    for h in range(k + 1):
        total += series[x, h] * series[y, k - h]
    return total


@kernel
def inner(series, x, y, k):
    """Return coefficient k of x . y."""
    total = 0.0
    for h in range(k + 1):
        total += vec3.dot(get(series, x, h), get(series, y, k - h))
    return total


@kernel
def times(series, x, y, k):
    """Return coefficient k of a number times a vector."""
    total = vec3.ZERO
    for h in range(k + 1):
        total = vec3.axpy(series[x, h], get(series, y, k - h), total)
    return total


@kernel
def cross_coefficient(series, x, y, k):
    """Return coefficient k of x x y."""
    total = vec3.ZERO
    for h in range(k + 1):
        total = vec3.add(total, vec3.cross(get(series, x, h), get(series, y, k - h)))
    return total


@kernel
def power(series, x, y, exponent, k):
    """Write coefficient k of y = x^exponent (Knuth, 4.7)."""
    if k == 0:
        series[y, 0] = series[x, 0]**exponent
        return
    total = 0.0
    for h in range(1, k + 1):
        total += (exponent * h - (k - h)) * series[x, h] * series[y, k - h]
    series[y, k] = total / (k * series[x, 0])
