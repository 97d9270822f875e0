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

"""The wrenches on a link, order by order: what its motion needs, and what its parent feels."""

from liedyn_ros.dynamics.kernels import rigid, symmetric
from liedyn_ros.dynamics.kernels.joints import along, degrees
from liedyn_ros.dynamics.kernels.rows import (
    add3, DAMPING, INERTIA, KIND, load3, load6, load9, PARENT, PITCH, PLACEMENT, store3, VI)
from liedyn_ros.dynamics.time_derivatives.kernels import joints
from liedyn_ros.dynamics.time_derivatives.kernels.motion import bent, move, spin_rate
from liedyn_ros.dynamics.time_derivatives.kernels.table import (
    CURVE, EFFORT, EXTERNAL, HAT_FORCE, LIFT, RATE, SHIFT, TRAVEL, WRENCH)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, put
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, REVOLUTE, SPHERICAL


@inlined
def accelerate(topology, links, series, rates, i, k, size, count):
    """Write coefficient k of w' and a of link i, and of the wrench that it needs alone."""
    move(topology, links, series, rates, i, k, size, count)
    press(links, series, i, k, size)


@inlined
def press(links, series, i, k, size):
    """Write coefficient k of the wrench that the motion of link i alone needs."""
    row = i * size
    mass, h, j = rigid.load(links, i, INERTIA)
    dw, c = spin_rate(series, row, k), load6(series, row + k, CURVE)
    a = load3(series, row + k, LIFT)
    f = vec3.axpy(mass, a, bent(dw, c, h))
    m = vec3.add(vec3.add(vec3.cross(h, a), symmetric.apply(j, dw)), gyration(j, c))
    store3(series, row + k, WRENCH, vec3.sub(m, load3(series, row + k, EXTERNAL)))
    store3(series, row + k, WRENCH + 3, vec3.sub(f, load3(series, row + k, EXTERNAL + 3)))


@inlined
def gyration(j, c):
    """Return w x J w, which is linear in [w]^2 = C."""
    jxx, jxy, jxz, jyy, jyz, jzz = j
    xx, xy, xz, yy, yz, zz = c
    return (jxz * xy - jxy * xz + jyz * (yy - zz) + (jzz - jyy) * yz,
            jxy * yz - jyz * xy + jxz * (zz - xx) + (jxx - jzz) * xz,
            jyz * xz - jxz * yz + jxy * (xx - yy) + (jyy - jxx) * xy)


@inlined
def hand_on(topology, links, series, i, k, size):
    """Add coefficient k of the wrench of link i to that of its parent."""
    kind, row, parent = topology[i, KIND], i * size, topology[i, PARENT] * size
    e, p = load9(links, i, PLACEMENT), load3(links, i, PLACEMENT + 9)
    m, f = joints.out_of(kind, series, row, WRENCH, k)
    if kind == FREE:
        store3(series, row + k, HAT_FORCE, f)
        m = vec3.add(m, levered_by_shift(series, row, k))
    elif kind != REVOLUTE and kind != SPHERICAL:
        store3(series, row + k, HAT_FORCE, f)
        m = levered_by_travel(series, row, k, m)
    f = mat3.apply(e, f)
    add3(series, parent + k, WRENCH, vec3.add(mat3.apply(e, m), vec3.cross(p, f)))  # (7.24)
    add3(series, parent + k, WRENCH + 3, f)


@inlined
def levered_by_travel(series, row, k, m):
    """Return coefficient k of m + t z x f for the travel t of a slide."""
    x, y, z = m
    for j in range(k + 1):
        t = get(series, row + j, TRAVEL)
        x = x - t * get(series, row + k - j, HAT_FORCE + 1)
        y = y + t * get(series, row + k - j, HAT_FORCE)
    return x, y, z


@inlined
def levered_by_shift(series, row, k):
    """Return coefficient k of p x f for the shift p of a free link."""
    m = vec3.cross(load3(series, row, SHIFT), load3(series, row + k, HAT_FORCE))
    for j in range(1, k + 1):
        m = vec3.add(m, vec3.cross(
            load3(series, row + j, SHIFT), load3(series, row + k - j, HAT_FORCE)))
    return m


@inlined
def felt(topology, links, coordinates, series, rates, i, k, size, count):
    """Write coefficient k of the forces of the joint of link i."""
    kind, pitch, vi = topology[i, KIND], links[i, PITCH], topology[i, VI]
    row, rate = i * size + k, k * count + vi
    m, f = load3(series, row, WRENCH), load3(series, row, WRENCH + 3)
    for j in range(degrees(kind)):
        damped = coordinates[vi + j, DAMPING] * get(rates, rate + j, RATE)
        put(rates, rate + j, EFFORT, damped + along(kind, pitch, j, m, f))  # (7.25)
