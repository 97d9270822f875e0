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
    axpy_four, COSINE, four_zeros, get_four, load_two, PARENT_MOTION, RATE, SERIES_POSITION,
    SERIES_ROTATION, SERIES_WRENCH, SINE, TRANSLATION, unpack_four)
from liedyn_ros.dynamics.tree.kernels.tables import Link, load3, load9, store3, store9
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, put
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@inlined
def translation_per_unit(kind, model, i):
    """Return the translation, m, that a unit of the coordinate of link i makes."""
    return 1.0 if kind == PRISMATIC else Link(model, i).pitch


@inlined
def advance_pose(kind, per_unit, series, row, k):
    """
    Write coefficient k + 1 of the pose; return the parent's part of w and a, in the link's axes.

    That is R^T times the two vectors of PARENT_MOTION, coefficient k + 1 of the velocity and k of
    the acceleration, for the rotation R of the joint (7.31), (7.32).
    """
    if kind != REVOLUTE and kind < SPHERICAL:
        put(series, row + k + 1, TRANSLATION, (per_unit / (k + 1)) * get(series, row + k, RATE))
    if kind == PRISMATIC:
        return load_two(series, row + k + 1, PARENT_MOTION)
    if kind < SPHERICAL:
        return advance_about_axis(series, row, k)
    store_rotation(series, row, k + 1)
    if kind == FREE:
        store_position(series, row, k + 1)
    return rotate_back(series, row, k)


@inlined
def advance_about_axis(series, row, k):
    """Write coefficient k + 1 of cosine and sine; return the result of advance."""
    x, y = load_two(series, row + k + 1, PARENT_MOTION)
    w, a = rotate_back_now(REVOLUTE, series, row, x), rotate_back_now(REVOLUTE, series, row, y)
    rate = get(series, row + k, RATE)
    s, c = rate * get(series, row, COSINE), -rate * get(series, row, SINE)
    by_cosine = by_sine = four_zeros(series)
    for j in range(1, k + 1):  # products that share their factors
        cosine, sine = get(series, row + j, COSINE), get(series, row + j, SINE)
        rate = get(series, row + k - j, RATE)
        s, c = s + rate * cosine, c - rate * sine
        x = get_four(series, row + k + 1 - j, PARENT_MOTION)
        by_cosine = axpy_four(series, cosine, x, by_cosine)
        by_sine = axpy_four(series, sine, x, by_sine)
    s, c = (1.0 / (k + 1)) * s, (1.0 / (k + 1)) * c
    put(series, row + k + 1, SINE, s)  # (7.19)
    put(series, row + k + 1, COSINE, c)
    d, e = unpack_four(series, by_cosine), unpack_four(series, by_sine)
    x, y = get(series, row, PARENT_MOTION), get(series, row, PARENT_MOTION + 1)
    return ((w[0] + (d[0] + e[1] + (c * x + s * y)), w[1] + (d[1] - e[0] + (c * y - s * x)), w[2]),
            (a[0] + (d[2] + e[3]), a[1] + (d[3] - e[2]), a[2]))


@inlined
def store_rotation(series, row, n):
    """Write coefficient n of the rotation of a spherical or free joint, R' = R [w_J] (7.28)."""
    r = times_hat(load9(series, row, SERIES_ROTATION), load3(series, row + n - 1, RATE))
    for j in range(1, n):
        r = mat3.add(r, times_hat(
            load9(series, row + j, SERIES_ROTATION), load3(series, row + n - 1 - j, RATE)))
    store9(series, row + n, SERIES_ROTATION, mat3.scale(1.0 / n, r))


@inlined
def store_position(series, row, n):
    """Write coefficient n of the position of a free joint, d' = R v_J (7.28)."""
    p = mat3.apply(load9(series, row, SERIES_ROTATION), load3(series, row + n - 1, RATE + 3))
    for j in range(1, n):
        p = vec3.add(p, mat3.apply(
            load9(series, row + j, SERIES_ROTATION), load3(series, row + n - 1 - j, RATE + 3)))
    store3(series, row + n, SERIES_POSITION, vec3.scale(1.0 / n, p))


@inlined
def times_hat(r, w):
    """Return R [w], whose rows are those of R times w."""
    x, y, z = vec3.cross(r[0:3], w), vec3.cross(r[3:6], w), vec3.cross(r[6:9], w)
    return (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


@inlined
def rotate_back(series, row, k):
    """Return R^T w, coefficient k + 1, and R^T s, coefficient k, of the parent's w and s."""
    w, s = load_two(series, row + k + 1, PARENT_MOTION)
    r = load9(series, row, SERIES_ROTATION)
    w, s = mat3.apply_t(r, w), mat3.apply_t(r, s)
    for j in range(1, k + 1):
        r = load9(series, row + j, SERIES_ROTATION)
        x, y = load_two(series, row + k + 1 - j, PARENT_MOTION)
        w, s = vec3.add(w, mat3.apply_t(r, x)), vec3.add(s, mat3.apply_t(r, y))
    x, _ = load_two(series, row, PARENT_MOTION)
    return vec3.add(w, mat3.apply_t(load9(series, row + k + 1, SERIES_ROTATION), x)), s


@inlined
def rotate_wrench(kind, series, row, n):
    """Return coefficient n of R m and of R f, of the wrench (m, f) of the link."""
    if kind == PRISMATIC:
        return load_two(series, row + n, SERIES_WRENCH)
    if kind < SPHERICAL:
        return rotate_wrench_about_axis(series, row, n)
    m, f = load_two(series, row + n, SERIES_WRENCH)
    r = load9(series, row, SERIES_ROTATION)
    m, f = mat3.apply(r, m), mat3.apply(r, f)
    for j in range(1, n + 1):
        r = load9(series, row + j, SERIES_ROTATION)
        x, y = load_two(series, row + n - j, SERIES_WRENCH)
        m, f = vec3.add(m, mat3.apply(r, x)), vec3.add(f, mat3.apply(r, y))
    return m, f


@inlined
def rotate_wrench_about_axis(series, row, n):
    """Return coefficient n of Rz m and of Rz f."""
    m, f = load_two(series, row + n, SERIES_WRENCH)
    m, f = rotate_now(REVOLUTE, series, row, m), rotate_now(REVOLUTE, series, row, f)
    by_cosine = by_sine = four_zeros(series)
    for j in range(1, n + 1):
        x = get_four(series, row + n - j, SERIES_WRENCH)
        by_cosine = axpy_four(series, get(series, row + j, COSINE), x, by_cosine)
        by_sine = axpy_four(series, get(series, row + j, SINE), x, by_sine)
    d, e = unpack_four(series, by_cosine), unpack_four(series, by_sine)
    return ((m[0] + (d[0] - e[1]), m[1] + (d[1] + e[0]), m[2]),
            (f[0] + (d[2] - e[3]), f[1] + (d[3] + e[2]), f[2]))


@inlined
def rotate_back_now(kind, series, row, x):
    """Return R^T x for a constant x and R as it is now."""
    if kind == PRISMATIC:
        return x
    if kind < SPHERICAL:
        c, s = get(series, row, COSINE), get(series, row, SINE)
        return c * x[0] + s * x[1], c * x[1] - s * x[0], x[2]
    return mat3.apply_t(load9(series, row, SERIES_ROTATION), x)


@inlined
def rotate_now(kind, series, row, x):
    """Return R x for a constant x and R as it is now."""
    if kind == PRISMATIC:
        return x
    if kind < SPHERICAL:
        c, s = get(series, row, COSINE), get(series, row, SINE)
        return c * x[0] - s * x[1], c * x[1] + s * x[0], x[2]
    return mat3.apply(load9(series, row, SERIES_ROTATION), x)
