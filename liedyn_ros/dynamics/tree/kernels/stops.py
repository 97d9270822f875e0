# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
End stops: a spring against the smooth depth beyond a limit, w log(1 + exp(x)) (3.21).

w is the width of a stop and x = (q - upper) / w, or (lower - q) / w. The depth is the distance far
beyond the limit, and falls as exp(x) within it. So all derivatives exist.
"""

import math

from liedyn_ros.dynamics.tree.kernels.tables import coordinate_of
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, put


@inlined
def soft_depth(x):
    """Return log(1 + exp(x)) and its slope, without overflow."""
    if x > 0.0:
        small = math.exp(-x)
        return x + math.log1p(small), 1.0 / (1.0 + small)
    small = math.exp(x)
    return math.log1p(small), small / (1.0 + small)


@kernel
def stop_force(stiffness, width, lower, upper, q):
    """Return the force that holds the stops of a coordinate at q."""
    above, up = soft_depth((q - upper) / width)
    below, down = soft_depth((lower - q) / width)
    return stiffness * width * (above * up - below * down)


@kernel
def stop_rate(stiffness, width, lower, upper, q):
    """Return its derivative by q."""
    above, up = soft_depth((q - upper) / width)
    below, down = soft_depth((lower - q) / width)
    return stiffness * (up * up + above * up * (1.0 - up)
                        + down * down + below * down * (1.0 - down))


@kernel
def curvature(stiffness, width, lower, upper, q):
    """Return its second derivative by q."""
    above, up = soft_depth((q - upper) / width)
    below, down = soft_depth((lower - q) / width)
    return stiffness / width * (second_slope(above, up) - second_slope(below, down))


@inlined
def second_slope(soft, slope):
    """Return the second derivative of soft times slope."""
    return slope * (1.0 - slope) * (3.0 * slope + soft * (1.0 - 2.0 * slope))


@kernel
def energy(stiffness, width, lower, upper, q):
    """Return the energy of the stops of a coordinate at q."""
    above, _ = soft_depth((q - upper) / width)
    below, _ = soft_depth((lower - q) / width)
    return 0.5 * stiffness * width * width * (above * above + below * below)


@inlined
def of_coordinate(model, k, function, q):
    """Return a function of the stops of coordinate k of a tree; zero without stops."""
    coordinate = coordinate_of(model, k)
    stiffness = coordinate.stop[0]
    if stiffness > 0.0:
        return function(stiffness, coordinate.stop[1], coordinate.stop[2],
                        coordinate.stop[3], q[coordinate.position_at])
    return 0.0


@inlined
def advance(table, row, at, rates, rate_row, rate_column, k, scale):
    """
    Write coefficient k > 0 of depth and slope of scale q + constant, columns at and at + 1.

    rates holds the coefficients of the rate of q in rows from rate_row on.
    """
    soft = slope = 0.0 * get(rates, rate_row, rate_column)
    for j in range(1, k + 1):  # x' = scale v, depth' = slope x', slope' = slope (1 - slope) x'
        step = (scale / k) * get(rates, rate_row + j - 1, rate_column)
        square = get(table, row + k - j, at + 1)
        soft = soft + step * square
        for i in range(k - j + 1):
            square = square - get(table, row + i, at + 1) * get(table, row + k - j - i, at + 1)
        slope = slope + step * square
    put(table, row + k, at, soft)
    put(table, row + k, at + 1, slope)


@inlined
def column_product(table, row, at, other, k):
    """Return coefficient k of the product of two columns."""
    total = get(table, row, at) * get(table, row + k, other)
    for i in range(1, k + 1):
        total = total + get(table, row + i, at) * get(table, row + k - i, other)
    return total


@inlined
def force_coefficient(table, row, at, rates, rate_row, rate_column, k, stiffness, width):
    """
    Return coefficient k > 0 of the force of two stops, and write those of depths and slopes.

    Four columns from at on: depth and slope above the upper limit, then those below the lower.
    Coefficients before k are there.
    """
    advance(table, row, at, rates, rate_row, rate_column, k, 1.0 / width)
    advance(table, row, at + 2, rates, rate_row, rate_column, k, -1.0 / width)
    return (stiffness * width) * (column_product(table, row, at, at + 1, k)
                                  - column_product(table, row, at + 2, at + 3, k))


@inlined
def rate_coefficient(table, row, at, k, stiffness):
    """Return coefficient k of the derivative of that force by q, from the same columns."""
    total = 0.0
    for column in (at, at + 2):  # slope^2 + depth slope (1 - slope)
        total += column_product(table, row, column + 1, column + 1, k) + column_product(
            table, row, column, column + 1, k)
        for i in range(k + 1):
            total -= get(table, row + i, column) * column_product(
                table, row, column + 1, column + 1, k - i)
    return stiffness * total
