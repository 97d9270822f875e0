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
The motion of a link, order by order, its parent's being known.

A link is moved by its angular velocity w and by the acceleration a of its origin less gravity,
both in its own axes: what is at a constant p from the origin has a + ([w'] + [w]^2) p. So neither
velocity nor gravity is a series of its own, and a rigid body needs, of all products of its series,
only the symmetric w w^T, less than half of the brackets of (7.24).
"""

from liedyn_ros.dynamics.kernels import symmetric
from liedyn_ros.dynamics.kernels.rows import (
    ACCELERATION, KIND, load3, load6, load9, PARENT, PLACEMENT, store3, store6, store9, VI)
from liedyn_ros.dynamics.time_derivatives.kernels import joints
from liedyn_ros.dynamics.time_derivatives.kernels.table import (
    BEND, CURVE, HAT_LIFT, HAT_SPIN, LIFT, PULL, RATE, SHIFT, SPIN, TRAVEL, TURN)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, nought
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@inlined
def begin(topology, links, series, rates, i, size):
    """Write the angular velocity of link i."""
    kind, rate, row = topology[i, KIND], topology[i, VI], i * size
    hat = mat3.apply_t(load9(links, i, PLACEMENT), load3(series, topology[i, PARENT] * size, SPIN))
    store3(series, row, HAT_SPIN, hat)
    store3(series, row, SPIN, add_spin(
        kind, rates, rate, joints.into_at_rest(kind, series, row, hat)))


@inlined
def move(topology, links, series, rates, i, k, size, count):
    """Write coefficient k of w', a and [w]^2 of link i, and coefficient k + 1 of its pose."""
    kind, rate = topology[i, KIND], topology[i, VI]
    row, parent = i * size, topology[i, PARENT] * size
    if parent == 0 and kind >= SPHERICAL:  # what hangs on the ground needs no series of its pose
        zero = nought(series)
        w, a = (zero, zero, zero), falling(links, series, i, row, k)
    else:
        e = load9(links, i, PLACEMENT)
        store3(series, row + k + 1, HAT_SPIN, mat3.apply_t(e, load3(series, parent + k + 1, SPIN)))
        store3(series, row + k, HAT_LIFT, carried(
            kind, links, series, rates, rate, i, parent, row, k, count))
        w, a = joints.into(
            kind, joints.lead(kind, links, i), series, row, rates, rate, k, count)
    store3(series, row + k + 1, SPIN, add_spin(kind, rates, rate + (k + 1) * count, w))
    if kind == FREE:
        a = vec3.add(a, thrown(series, row, rates, rate, k, count))
    store3(series, row + k, LIFT, a)
    store6(series, row + k, CURVE, curve(series, row, k))


@inlined
def add_spin(kind, rates, rate, w):
    """Return w with the rates of a joint added."""
    if kind >= SPHERICAL:
        return vec3.add(w, joints.rate3(rates, rate))
    if kind == PRISMATIC:
        return w
    return w[0], w[1], w[2] + get(rates, rate, RATE)


@inlined
def falling(links, series, i, row, k):
    """Write and return coefficient k of minus gravity g as the link sees it, g' = -w x g."""
    if k == 0:
        g = mat3.apply_t(load9(links, i, PLACEMENT), load3(links, 0, ACCELERATION + 3))
        x = mat3.apply_t(load9(series, row, TURN), g)
    else:
        x = vec3.cross(load3(series, row, HAT_LIFT), load3(series, row + k - 1, SPIN))
        for j in range(1, k):
            x = vec3.add(x, vec3.cross(
                load3(series, row + j, HAT_LIFT), load3(series, row + k - 1 - j, SPIN)))
        x = vec3.scale(1.0 / k, x)
    store3(series, row + k, HAT_LIFT, x)
    return x


@inlined
def carried(kind, links, series, rates, rate, i, parent, row, k, count):
    """Return coefficient k of the acceleration of the origin of the link, in the joint frame."""
    e, p = load9(links, i, PLACEMENT), load3(links, i, PLACEMENT + 9)
    dw, bend = spin_rate(series, parent, k), load6(series, parent + k, CURVE)
    y = mat3.apply_t(e, vec3.add(load3(series, parent + k, LIFT), bent(dw, bend, p)))
    if kind == REVOLUTE or kind == SPHERICAL:
        return y
    if kind == FREE:
        store9(series, row + k, BEND, seen(e, dw, bend))
        return vec3.add(y, pulled_free(series, row, k))
    pull = mat3.apply_t(e, bent(dw, bend, (e[2], e[5], e[8])))
    store3(series, row + k, PULL, pull)
    pitch = joints.lead(kind, links, i)
    return vec3.add(y, pulled(pitch, series, rates, rate, row, k, count))


@inlined
def spin_rate(series, row, k):
    """Return coefficient k of w'."""
    return vec3.scale(k + 1.0, load3(series, row + k + 1, SPIN))


@inlined
def bent(dw, c, x):
    """Return ([w'] + C) x."""
    return vec3.add(vec3.cross(dw, x), symmetric.apply(c, x))


@inlined
def seen(e, dw, c):
    """Return E^T ([w'] + C) E."""
    x = mat3.apply_t(e, bent(dw, c, (e[0], e[3], e[6])))
    y = mat3.apply_t(e, bent(dw, c, (e[1], e[4], e[7])))
    z = mat3.apply_t(e, bent(dw, c, (e[2], e[5], e[8])))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@inlined
def pulled(pitch, series, rates, rate, row, k, count):
    """Return coefficient k of travel t along z: ([w'] + [w]^2) z t + 2 w x z t' + z t''."""
    at = rate + k * count
    pull, t, speed = load3(series, row, PULL), get(series, row + k, TRAVEL), get(rates, at, RATE)
    wx, wy = get(series, row, HAT_SPIN), get(series, row, HAT_SPIN + 1)
    x, y, z = t * pull[0], t * pull[1], t * pull[2]
    u, v = speed * wy, speed * wx
    for j in range(1, k + 1):
        at -= count
        pull, t = load3(series, row + j, PULL), get(series, row + k - j, TRAVEL)
        speed = get(rates, at, RATE)
        wx, wy = get(series, row + j, HAT_SPIN), get(series, row + j, HAT_SPIN + 1)
        x, y, z = x + t * pull[0], y + t * pull[1], z + t * pull[2]
        u, v = u + speed * wy, v + speed * wx
    twice, gain = 2.0 * pitch, (k + 1.0) * pitch
    return (x + twice * u, y - twice * v,
            z + gain * get(rates, rate + (k + 1) * count, RATE))


@inlined
def pulled_free(series, row, k):
    """Return coefficient k of ([w'] + [w]^2) p for the shift p of a free link."""
    x = mat3.apply(load9(series, row, BEND), load3(series, row + k, SHIFT))
    for j in range(1, k + 1):
        x = vec3.add(x, mat3.apply(
            load9(series, row + j, BEND), load3(series, row + k - j, SHIFT)))
    return x


@inlined
def thrown(series, row, rates, rate, k, count):
    """Return coefficient k of v' + (2 w - w_J) x v of a free link's rates (w_J, v)."""
    at = rate + k * count
    x = vec3.scale(k + 1.0, joints.rate3(rates, at + count + 3))
    for j in range(k + 1):
        w, own = load3(series, row + j, SPIN), joints.rate3(rates, rate + j * count)
        x = vec3.add(x, vec3.cross(
            vec3.sub(vec3.scale(2.0, w), own), joints.rate3(rates, at - j * count + 3)))
    return x


@inlined
def curve(series, row, k):
    """Return coefficient k of [w]^2 = w w^T - (w . w) 1."""
    half = k // 2
    a = load3(series, row + half, SPIN)
    b = load3(series, row + k - half, SPIN)
    if 2 * half == k:  # the middle term, once
        b = vec3.scale(0.5, b)
    xx, yy, zz = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    xy, xz, yz = a[0] * b[1] + a[1] * b[0], a[0] * b[2] + a[2] * b[0], a[1] * b[2] + a[2] * b[1]
    for j in range(half):
        a, b = load3(series, row + j, SPIN), load3(series, row + k - j, SPIN)
        xx, yy, zz = xx + a[0] * b[0], yy + a[1] * b[1], zz + a[2] * b[2]
        xy = xy + (a[0] * b[1] + a[1] * b[0])
        xz = xz + (a[0] * b[2] + a[2] * b[0])
        yz = yz + (a[1] * b[2] + a[2] * b[1])
    return -2.0 * (yy + zz), xy, xz, -2.0 * (xx + zz), yz, -2.0 * (xx + yy)
