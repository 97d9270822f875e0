# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The motion of a link, order by order, and the wrenches on it (7.29 to 7.35).

A link moves with its angular velocity w and the specific acceleration s of its origin: the
acceleration less gravity, both in its own axes. A point at a constant x from the origin has
s + ([w'] + [w]^2) x, with the acceleration tensor in brackets. So neither linear velocity nor
gravity needs a series. Of all products of its series a rigid body needs only the symmetric w w^T:
less than half of the brackets of (7.24).
"""

from liedyn_ros.dynamics.time_derivatives.kernels import joints
from liedyn_ros.dynamics.time_derivatives.kernels.series import (
    add_two, AXIS_ACCELERATION, EFFORT, JOINT_FORCE, load_two, PARENT_MOTION, RATE,
    SERIES_EXTERNAL, SERIES_POSITION, SERIES_ROTATION, SERIES_WRENCH, SPECIFIC_ACCELERATION, STOP,
    store_two, TENSOR, TRANSLATION, VELOCITY, VELOCITY_SQUARE)
from liedyn_ros.dynamics.tree.kernels import stops, symmetric
from liedyn_ros.dynamics.tree.kernels.joints import along, degrees
from liedyn_ros.dynamics.tree.kernels.tables import (
    coordinate_of, Link, load3, load6, load9, store3, store6, store9, Tree)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, put, zero_like
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@inlined
def store_velocity(model, series, i, size):
    """Write coefficient 0 of the angular velocity of link i."""
    link = Link(model, i)
    kind, row, parent = link.kind, i * size, link.parent * size
    w = mat3.apply_t(link.placement[0], load3(series, parent, VELOCITY))
    zero = zero_like(series)
    store_two(series, row, PARENT_MOTION, w, (zero, zero, zero))
    store3(series, row, VELOCITY, add_joint_velocity(
        kind, series, row, joints.rotate_back_now(kind, series, row, w)))


@inlined
def store_motion_series(model, series, i, k, size):
    """Write coefficient k of w', s and [w]^2 of link i, and coefficient k + 1 of its pose."""
    link = Link(model, i)
    kind, row, parent = link.kind, i * size, link.parent * size
    if parent == 0 and kind >= SPHERICAL:  # on the ground, no series of the pose is needed
        zero = zero_like(series)
        w, s = (zero, zero, zero), opposite_gravity(model, series, i, row, k)
    else:
        w = mat3.apply_t(link.placement[0], load3(series, parent + k + 1, VELOCITY))
        store_two(series, row + k + 1, PARENT_MOTION, w, origin_acceleration(
            kind, model, series, i, parent, row, k))
        w, s = joints.advance_pose(
            kind, joints.translation_per_unit(kind, model, i), series, row, k)
    store3(series, row + k + 1, VELOCITY, add_joint_velocity(kind, series, row + k + 1, w))
    if kind == FREE:
        s = vec3.add(s, free_acceleration(series, row, k))
    store3(series, row + k, SPECIFIC_ACCELERATION, s)
    store6(series, row + k, VELOCITY_SQUARE, square_coefficient(series, row, k))


@inlined
def add_joint_velocity(kind, series, row, w):
    """Return w with the angular velocity of the joint added, of one row (7.31)."""
    if kind >= SPHERICAL:
        return vec3.add(w, load3(series, row, RATE))
    if kind == PRISMATIC:
        return w
    return w[0], w[1], w[2] + get(series, row, RATE)


@inlined
def opposite_gravity(model, series, i, row, k):
    """Write and return coefficient k of s = -g in the axes of the link, s' = s x w (7.33)."""
    if k == 0:
        s = mat3.apply_t(Link(model, i).placement[0], vec3.neg(Tree(model, 0).gravity))
        s = mat3.apply_t(load9(series, row, SERIES_ROTATION), s)
    else:
        _, before = load_two(series, row + 1, PARENT_MOTION)
        s = vec3.cross(before, load3(series, row + k - 1, VELOCITY))
        for j in range(1, k):
            _, before = load_two(series, row + 1 + j, PARENT_MOTION)
            s = vec3.add(s, vec3.cross(before, load3(series, row + k - 1 - j, VELOCITY)))
        s = vec3.scale(1.0 / k, s)
    zero = zero_like(series)
    store_two(series, row + k + 1, PARENT_MOTION, (zero, zero, zero), s)
    return s


@inlined
def origin_acceleration(kind, model, series, i, parent, row, k):
    """Return coefficient k of the parent's part of s of link i, in the joint frame (7.29)."""
    e, p = Link(model, i).placement
    dw, c = angular_acceleration(series, parent, k), load6(series, parent + k, VELOCITY_SQUARE)
    s = mat3.apply_t(e, vec3.add(
        load3(series, parent + k, SPECIFIC_ACCELERATION), tensor_times(dw, c, p)))
    if kind == REVOLUTE or kind == SPHERICAL:
        return s
    if kind == FREE:
        store9(series, row + k, TENSOR, tensor_in_joint(e, dw, c))
        return vec3.add(s, tensor_times_position(series, row, k))
    axis = mat3.apply_t(e, tensor_times(dw, c, (e[2], e[5], e[8])))
    store3(series, row + k, AXIS_ACCELERATION, axis)
    return vec3.add(s, translation_acceleration(
        joints.translation_per_unit(kind, model, i), series, row, k))


@inlined
def angular_acceleration(series, row, k):
    """Return coefficient k of w' (7.27)."""
    return vec3.scale(k + 1.0, load3(series, row + k + 1, VELOCITY))


@inlined
def tensor_times(dw, c, x):
    """Return ([w'] + [w]^2) x, of w' and the square c of [w]."""
    return vec3.add(vec3.cross(dw, x), symmetric.apply(c, x))


@inlined
def tensor_in_joint(e, dw, c):
    """Return E^T ([w'] + [w]^2) E."""
    x = mat3.apply_t(e, tensor_times(dw, c, (e[0], e[3], e[6])))
    y = mat3.apply_t(e, tensor_times(dw, c, (e[1], e[4], e[7])))
    z = mat3.apply_t(e, tensor_times(dw, c, (e[2], e[5], e[8])))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@inlined
def translation_acceleration(per_unit, series, row, k):
    """Return coefficient k of ([w'] + [w]^2) z t + 2 w x z t' + z t'', translation t (7.30)."""
    axis, t = load3(series, row, AXIS_ACCELERATION), get(series, row + k, TRANSLATION)
    rate = get(series, row + k, RATE)
    wx, wy = get(series, row, PARENT_MOTION), get(series, row, PARENT_MOTION + 1)
    x, y, z = t * axis[0], t * axis[1], t * axis[2]
    u, v = rate * wy, rate * wx
    for j in range(1, k + 1):
        axis = load3(series, row + j, AXIS_ACCELERATION)
        t, rate = get(series, row + k - j, TRANSLATION), get(series, row + k - j, RATE)
        wx, wy = get(series, row + j, PARENT_MOTION), get(series, row + j, PARENT_MOTION + 1)
        x, y, z = x + t * axis[0], y + t * axis[1], z + t * axis[2]
        u, v = u + rate * wy, v + rate * wx
    twice, gain = 2.0 * per_unit, (k + 1.0) * per_unit
    return x + twice * u, y - twice * v, z + gain * get(series, row + k + 1, RATE)


@inlined
def tensor_times_position(series, row, k):
    """Return coefficient k of ([w'] + [w]^2) d for the position d of a free joint (7.29)."""
    x = mat3.apply(load9(series, row, TENSOR), load3(series, row + k, SERIES_POSITION))
    for j in range(1, k + 1):
        x = vec3.add(x, mat3.apply(
            load9(series, row + j, TENSOR), load3(series, row + k - j, SERIES_POSITION)))
    return x


@inlined
def free_acceleration(series, row, k):
    """Return coefficient k of v_J' + (2 w - w_J) x v_J of a free joint (7.32)."""
    x = vec3.scale(k + 1.0, load3(series, row + k + 1, RATE + 3))
    for j in range(k + 1):
        w, own = load3(series, row + j, VELOCITY), load3(series, row + j, RATE)
        x = vec3.add(x, vec3.cross(
            vec3.sub(vec3.scale(2.0, w), own), load3(series, row + k - j, RATE + 3)))
    return x


@inlined
def square_coefficient(series, row, k):
    """Return coefficient k of [w]^2 = w w^T - (w . w) 1 (7.34)."""
    half = k // 2
    a = load3(series, row + half, VELOCITY)
    b = load3(series, row + k - half, VELOCITY)
    if 2 * half == k:  # the middle term, once
        b = vec3.scale(0.5, b)
    xx, yy, zz = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    xy, xz, yz = a[0] * b[1] + a[1] * b[0], a[0] * b[2] + a[2] * b[0], a[1] * b[2] + a[2] * b[1]
    for j in range(half):
        a, b = load3(series, row + j, VELOCITY), load3(series, row + k - j, VELOCITY)
        xx, yy, zz = xx + a[0] * b[0], yy + a[1] * b[1], zz + a[2] * b[2]
        xy = xy + (a[0] * b[1] + a[1] * b[0])
        xz = xz + (a[0] * b[2] + a[2] * b[0])
        yz = yz + (a[1] * b[2] + a[2] * b[1])
    return -2.0 * (yy + zz), xy, xz, -2.0 * (xx + zz), yz, -2.0 * (xx + yy)


@inlined
def store_net_wrench(model, series, i, k, size, loaded):
    """Write coefficient k of the net wrench of link i alone (7.35), (7.36)."""
    row = i * size
    mass, h, inertia = Link(model, i).inertia
    dw, c = angular_acceleration(series, row, k), load6(series, row + k, VELOCITY_SQUARE)
    s = load3(series, row + k, SPECIFIC_ACCELERATION)
    f = vec3.axpy(mass, s, tensor_times(dw, c, h))
    m = vec3.add(vec3.add(vec3.cross(h, s), symmetric.apply(inertia, dw)),
                 gyroscopic(inertia, c))
    if loaded:
        m = vec3.sub(m, load3(series, row + k, SERIES_EXTERNAL))
        f = vec3.sub(f, load3(series, row + k, SERIES_EXTERNAL + 3))
    store_two(series, row + k, SERIES_WRENCH, m, f)


@inlined
def gyroscopic(inertia, c):
    """Return w x J w, which is linear in c = [w]^2 (7.36)."""
    jxx, jxy, jxz, jyy, jyz, jzz = inertia
    xx, xy, xz, yy, yz, zz = c
    return (jxz * xy - jxy * xz + jyz * (yy - zz) + (jzz - jyy) * yz,
            jxy * yz - jyz * xy + jxz * (zz - xx) + (jxx - jzz) * xz,
            jyz * xz - jxz * yz + jxy * (xx - yy) + (jyy - jxx) * xy)


@inlined
def add_wrench_to_parent(model, series, i, k, size):
    """Add coefficient k of the wrench of link i to that of its parent (7.37)."""
    link = Link(model, i)
    kind, row, parent = link.kind, i * size, link.parent * size
    e, p = link.placement
    m, f = joints.rotate_wrench(kind, series, row, k)
    if kind == FREE:
        store3(series, row + k, JOINT_FORCE, f)
        m = vec3.add(m, moment_of_position(series, row, k))
    elif kind != REVOLUTE and kind != SPHERICAL:
        store3(series, row + k, JOINT_FORCE, f)
        m = add_moment_of_translation(series, row, k, m)
    f = mat3.apply(e, f)
    add_two(series, parent + k, SERIES_WRENCH, vec3.add(mat3.apply(e, m), vec3.cross(p, f)), f)


@inlined
def add_moment_of_translation(series, row, k, m):
    """Return coefficient k of m + t z x f for a translation t."""
    x, y, z = m
    for j in range(k + 1):
        t = get(series, row + j, TRANSLATION)
        x = x - t * get(series, row + k - j, JOINT_FORCE + 1)
        y = y + t * get(series, row + k - j, JOINT_FORCE)
    return x, y, z


@inlined
def moment_of_position(series, row, k):
    """Return coefficient k of d x f for the position d of a free joint."""
    m = vec3.cross(load3(series, row, SERIES_POSITION), load3(series, row + k, JOINT_FORCE))
    for j in range(1, k + 1):
        m = vec3.add(m, vec3.cross(
            load3(series, row + j, SERIES_POSITION), load3(series, row + k - j, JOINT_FORCE)))
    return m


@inlined
def store_efforts(model, series, i, k, size):
    """Write coefficient k of the forces of the joint of link i (7.25), damping among them."""
    link = Link(model, i)
    kind, pitch, vi = link.kind, link.pitch, link.vi
    row = i * size + k
    m, f = load_two(series, row, SERIES_WRENCH)
    for j in range(degrees(kind)):
        damping = coordinate_of(model, vi + j).damping
        put(series, row, EFFORT + j,
            damping * get(series, row, RATE + j) + along(kind, pitch, j, m, f))
    if Tree(model, 0).loaded_joints:
        for j in range(degrees(kind)):
            armature = coordinate_of(model, vi + j).armature
            force = (k + 1.0) * armature * get(series, row + 1, RATE + j)  # (3.20)
            if k > 0:  # that of order zero is added to the efforts, as Coulomb friction is
                force = force + spring_coefficient(model, series, vi + j, row, j, k)
            put(series, row, EFFORT + j, get(series, row, EFFORT + j) + force)


@inlined
def spring_coefficient(model, series, j, row, column, k):
    """Return coefficient k > 0 of the force of spring and stops of coordinate j (3.19), (3.21)."""
    coordinate = coordinate_of(model, j)
    force = (coordinate.stiffness / k) * get(series, row - 1, RATE + column)
    stiffness = coordinate.stop[0]
    if stiffness > 0.0:
        force = force + stops.force_coefficient(series, row - k, STOP, series, row - k, RATE
                                                + column, k, stiffness, coordinate.stop[1])
    return force
