# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The pose of a joint as a series, and products of it with other series (7.19 to 7.21, 7.28).

Seen from the joint frame a joint rotates about z (cosine and sine) or translates along z. A
spherical joint has a rotation matrix, a free joint also a position. Only these are multiplied as
series: the constant placement of the joint frame in the parent is applied once an order.

In all functions row is that of coefficient 0 of the link in the table.
"""

from liedyn_ros.dynamics.time_derivatives.kernels.series import (
    COSINE, PARENT_ACCELERATION, PARENT_VELOCITY, POSITION, RATE, ROTATION, SINE, TRANSLATION)
from liedyn_ros.dynamics.tree.kernels.tables import load3, load9, PITCH, store3, store9
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, put, zero_like
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@inlined
def translation_per_unit(kind, model, i):
    """Return the translation, m, that a unit of the coordinate of link i makes."""
    return 1.0 if kind == PRISMATIC else get(model, i, PITCH)


@inlined
def advance_pose(kind, per_unit, series, row, k):
    """
    Write coefficient k + 1 of the pose; return the parent's part of w and a, in the link's axes.

    That is R^T times the columns PARENT_VELOCITY, coefficient k + 1, and PARENT_ACCELERATION,
    coefficient k, for the rotation R of the joint (7.31), (7.32).
    """
    if kind != REVOLUTE and kind < SPHERICAL:
        put(series, row + k + 1, TRANSLATION, (per_unit / (k + 1)) * get(series, row + k, RATE))
    if kind == PRISMATIC:
        return (load3(series, row + k + 1, PARENT_VELOCITY),
                load3(series, row + k, PARENT_ACCELERATION))
    if kind < SPHERICAL:
        return advance_about_axis(series, row, k)
    store_rotation(series, row, k + 1)
    if kind == FREE:
        store_position(series, row, k + 1)
    return (rotate_back(series, row, PARENT_VELOCITY, k + 1),
            rotate_back(series, row, PARENT_ACCELERATION, k))


@inlined
def advance_about_axis(series, row, k):
    """Write coefficient k + 1 of cosine and sine; return the result of advance."""
    s = c = ax = ay = wx = wy = zero_like(series)
    for j in range(k + 1):  # three products that share their factors
        cosine, sine = get(series, row + j, COSINE), get(series, row + j, SINE)
        rate = get(series, row + k - j, RATE)
        s, c = s + rate * cosine, c - rate * sine
        x = get(series, row + k - j, PARENT_ACCELERATION)
        y = get(series, row + k - j, PARENT_ACCELERATION + 1)
        ax, ay = ax + (cosine * x + sine * y), ay + (cosine * y - sine * x)
        x = get(series, row + k + 1 - j, PARENT_VELOCITY)
        y = get(series, row + k + 1 - j, PARENT_VELOCITY + 1)
        wx, wy = wx + (cosine * x + sine * y), wy + (cosine * y - sine * x)
    s, c = (1.0 / (k + 1)) * s, (1.0 / (k + 1)) * c
    put(series, row + k + 1, SINE, s)  # (7.19)
    put(series, row + k + 1, COSINE, c)
    x, y = get(series, row, PARENT_VELOCITY), get(series, row, PARENT_VELOCITY + 1)
    return ((wx + (c * x + s * y), wy + (c * y - s * x),
             get(series, row + k + 1, PARENT_VELOCITY + 2)),
            (ax, ay, get(series, row + k, PARENT_ACCELERATION + 2)))


@inlined
def store_rotation(series, row, n):
    """Write coefficient n of the rotation of a spherical or free joint, R' = R [w_J] (7.28)."""
    r = times_hat(load9(series, row, ROTATION), load3(series, row + n - 1, RATE))
    for j in range(1, n):
        r = mat3.add(r, times_hat(
            load9(series, row + j, ROTATION), load3(series, row + n - 1 - j, RATE)))
    store9(series, row + n, ROTATION, mat3.scale(1.0 / n, r))


@inlined
def store_position(series, row, n):
    """Write coefficient n of the position of a free joint, d' = R v_J (7.28)."""
    p = mat3.apply(load9(series, row, ROTATION), load3(series, row + n - 1, RATE + 3))
    for j in range(1, n):
        p = vec3.add(p, mat3.apply(
            load9(series, row + j, ROTATION), load3(series, row + n - 1 - j, RATE + 3)))
    store3(series, row + n, POSITION, vec3.scale(1.0 / n, p))


@inlined
def times_hat(r, w):
    """Return R [w], whose rows are those of R times w."""
    x, y, z = vec3.cross(r[0:3], w), vec3.cross(r[3:6], w), vec3.cross(r[6:9], w)
    return (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


@inlined
def rotate_back(series, row, column, n):
    """Return coefficient n of R^T x, x being three columns of the table."""
    x = mat3.apply_t(load9(series, row, ROTATION), load3(series, row + n, column))
    for j in range(1, n + 1):
        x = vec3.add(x, mat3.apply_t(
            load9(series, row + j, ROTATION), load3(series, row + n - j, column)))
    return x


@inlined
def rotate_columns(kind, series, row, column, n):
    """Return coefficient n of R x and of R y, y being the three columns after x."""
    if kind == PRISMATIC:
        return load3(series, row + n, column), load3(series, row + n, column + 3)
    if kind < SPHERICAL:
        return rotate_pair_about_axis(series, row, column, n)
    r = load9(series, row, ROTATION)
    x = mat3.apply(r, load3(series, row + n, column))
    y = mat3.apply(r, load3(series, row + n, column + 3))
    for j in range(1, n + 1):
        r = load9(series, row + j, ROTATION)
        x = vec3.add(x, mat3.apply(r, load3(series, row + n - j, column)))
        y = vec3.add(y, mat3.apply(r, load3(series, row + n - j, column + 3)))
    return x, y


@inlined
def rotate_pair_about_axis(series, row, column, n):
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
def rotate_back_now(kind, series, row, x):
    """Return R^T x for a constant x and R as it is now."""
    if kind == PRISMATIC:
        return x
    if kind < SPHERICAL:
        c, s = get(series, row, COSINE), get(series, row, SINE)
        return c * x[0] + s * x[1], c * x[1] - s * x[0], x[2]
    return mat3.apply_t(load9(series, row, ROTATION), x)


@inlined
def rotate_now(kind, series, row, x):
    """Return R x for a constant x and R as it is now."""
    if kind == PRISMATIC:
        return x
    if kind < SPHERICAL:
        c, s = get(series, row, COSINE), get(series, row, SINE)
        return c * x[0] - s * x[1], c * x[1] + s * x[0], x[2]
    return mat3.apply(load9(series, row, ROTATION), x)
