# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The pose of a joint as a series, and products of it with other series (7.19 to 7.21).

Seen from the joint frame a joint turns about z (cosine and sine), slides along z (travel), or is a
ball (a rotation matrix), with a shift besides if it is free. Only these are multiplied as series:
the constant placement of the joint frame in the parent is applied once an order.

In all functions row is that of coefficient 0 of the link in series, rate that of coefficient 0 of
its first velocity coordinate in rates, where the next coefficient is count rows on.
"""

from liedyn_ros.dynamics.kernels.rows import load3, load9, PITCH, store3, store9
from liedyn_ros.dynamics.time_derivatives.kernels.table import (
    COSINE, HAT_LIFT, HAT_SPIN, RATE, SHIFT, SINE, TRAVEL, TURN)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, nought, put
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@inlined
def lead(kind, links, i):
    """Return the travel, m, that a unit of the coordinate of link i makes."""
    return 1.0 if kind == PRISMATIC else links[i, PITCH]


@inlined
def into(kind, lead, series, row, rates, rate, k, count):
    """
    Write coefficient k + 1 of the pose; return those of J^T w and J^T a seen from the link.

    w is HAT_SPIN, of which coefficient k + 1 is returned, and a is HAT_LIFT, coefficient k.
    """
    if kind != REVOLUTE and kind < SPHERICAL:
        put(series, row + k + 1, TRAVEL, (lead / (k + 1)) * get(rates, rate + k * count, RATE))
    if kind == PRISMATIC:
        return load3(series, row + k + 1, HAT_SPIN), load3(series, row + k, HAT_LIFT)
    if kind < SPHERICAL:
        return turn_back(series, row, rates, rate, k, count)
    roll(series, row, rates, rate, count, k + 1)
    if kind == FREE:
        shift(series, row, rates, rate, count, k + 1)
    return rolled_back(series, row, HAT_SPIN, k + 1), rolled_back(series, row, HAT_LIFT, k)


@inlined
def turn_back(series, row, rates, rate, k, count):
    """Write coefficient k + 1 of cosine and sine, and return what into returns."""
    s = c = ax = ay = wx = wy = nought(series)
    for j in range(k + 1):  # three products that share their factors
        cosine, sine = get(series, row + j, COSINE), get(series, row + j, SINE)
        speed = get(rates, rate + (k - j) * count, RATE)
        s, c = s + speed * cosine, c - speed * sine
        x, y = get(series, row + k - j, HAT_LIFT), get(series, row + k - j, HAT_LIFT + 1)
        ax, ay = ax + (cosine * x + sine * y), ay + (cosine * y - sine * x)
        x, y = get(series, row + k + 1 - j, HAT_SPIN), get(series, row + k + 1 - j, HAT_SPIN + 1)
        wx, wy = wx + (cosine * x + sine * y), wy + (cosine * y - sine * x)
    s, c = (1.0 / (k + 1)) * s, (1.0 / (k + 1)) * c
    put(series, row + k + 1, SINE, s)  # (7.19)
    put(series, row + k + 1, COSINE, c)
    x, y = get(series, row, HAT_SPIN), get(series, row, HAT_SPIN + 1)
    return ((wx + (c * x + s * y), wy + (c * y - s * x), get(series, row + k + 1, HAT_SPIN + 2)),
            (ax, ay, get(series, row + k, HAT_LIFT + 2)))


@inlined
def roll(series, row, rates, rate, count, n):
    """Write coefficient n of the rotation of a ball, R' = R [w]."""
    r = times_hat(load9(series, row, TURN), rate3(rates, rate + (n - 1) * count))
    for j in range(1, n):
        r = mat3.add(r, times_hat(
            load9(series, row + j, TURN), rate3(rates, rate + (n - 1 - j) * count)))
    store9(series, row + n, TURN, mat3.scale(1.0 / n, r))


@inlined
def shift(series, row, rates, rate, count, n):
    """Write coefficient n of the shift of a free link, p' = R v."""
    p = mat3.apply(load9(series, row, TURN), rate3(rates, rate + (n - 1) * count + 3))
    for j in range(1, n):
        p = vec3.add(p, mat3.apply(
            load9(series, row + j, TURN), rate3(rates, rate + (n - 1 - j) * count + 3)))
    store3(series, row + n, SHIFT, vec3.scale(1.0 / n, p))


@inlined
def times_hat(r, w):
    """Return R [w], whose rows are those of R times w."""
    x, y, z = vec3.cross(r[0:3], w), vec3.cross(r[3:6], w), vec3.cross(r[6:9], w)
    return (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


@inlined
def rate3(rates, at):
    """Return the rates of three coordinates."""
    return get(rates, at, RATE), get(rates, at + 1, RATE), get(rates, at + 2, RATE)


@inlined
def rolled_back(series, row, column, n):
    """Return coefficient n of R^T x, x being three columns of series."""
    x = mat3.apply_t(load9(series, row, TURN), load3(series, row + n, column))
    for j in range(1, n + 1):
        x = vec3.add(x, mat3.apply_t(
            load9(series, row + j, TURN), load3(series, row + n - j, column)))
    return x


@inlined
def out_of(kind, series, row, column, n):
    """Return coefficient n of J x and of J y, y being the three columns after x."""
    if kind == PRISMATIC:
        return load3(series, row + n, column), load3(series, row + n, column + 3)
    if kind < SPHERICAL:
        return turned(series, row, column, n)
    r = load9(series, row, TURN)
    x = mat3.apply(r, load3(series, row + n, column))
    y = mat3.apply(r, load3(series, row + n, column + 3))
    for j in range(1, n + 1):
        r = load9(series, row + j, TURN)
        x = vec3.add(x, mat3.apply(r, load3(series, row + n - j, column)))
        y = vec3.add(y, mat3.apply(r, load3(series, row + n - j, column + 3)))
    return x, y


@inlined
def turned(series, row, column, n):
    """Return coefficient n of Rz x and of Rz y, y being the three columns after x."""
    c, s = get(series, row, COSINE), get(series, row, SINE)
    a, b = get(series, row + n, column), get(series, row + n, column + 1)
    d, e = get(series, row + n, column + 3), get(series, row + n, column + 4)
    xa, xb, ya, yb = c * a - s * b, c * b + s * a, c * d - s * e, c * e + s * d
    for j in range(1, n + 1):
        c, s = get(series, row + j, COSINE), get(series, row + j, SINE)
        a, b = get(series, row + n - j, column), get(series, row + n - j, column + 1)
        d, e = get(series, row + n - j, column + 3), get(series, row + n - j, column + 4)
        xa, xb = xa + (c * a - s * b), xb + (c * b + s * a)
        ya, yb = ya + (c * d - s * e), yb + (c * e + s * d)
    return ((xa, xb, get(series, row + n, column + 2)),
            (ya, yb, get(series, row + n, column + 5)))


@inlined
def into_at_rest(kind, series, row, x):
    """Return J^T x, x being constant and J as it is now."""
    if kind == PRISMATIC:
        return x
    if kind < SPHERICAL:
        c, s = get(series, row, COSINE), get(series, row, SINE)
        return c * x[0] + s * x[1], c * x[1] - s * x[0], x[2]
    return mat3.apply_t(load9(series, row, TURN), x)


@inlined
def out_of_at_rest(kind, series, row, x):
    """Return J x, x being constant and J as it is now."""
    if kind == PRISMATIC:
        return x
    if kind < SPHERICAL:
        c, s = get(series, row, COSINE), get(series, row, SINE)
        return c * x[0] - s * x[1], c * x[1] + s * x[0], x[2]
    return mat3.apply(load9(series, row, TURN), x)
