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
Where series begin and end: derivatives of one state go into lane numbers of the tables, and back.

A derivative x^(k) is k! times a coefficient.
"""

from liedyn_ros.dynamics.kernels import joints
from liedyn_ros.dynamics.kernels.rows import (
    ACCELERATION, FRICTION, KIND, load3, load9, PRESCRIBED, QI, store3, store6)
from liedyn_ros.dynamics.kernels.trigonometry import sine_cosine
from liedyn_ros.dynamics.time_derivatives.kernels.joints import lead
from liedyn_ros.dynamics.time_derivatives.kernels.table import (
    COSINE, CURVE, EFFORT, EXTERNAL, LIFT, RATE, SHIFT, SINE, SPIN, TRAVEL, TURN)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get_lane, put_lane
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@inlined
def ground(links, series, size):
    """Write the motion of the ground, whose acceleration stands for gravity."""
    for k in range(size):
        store3(series, k, SPIN, vec3.ZERO)
        store3(series, k, LIFT, vec3.ZERO)
        store6(series, k, CURVE, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    store3(series, 0, LIFT, load3(links, 0, ACCELERATION + 3))  # (3.0)


@inlined
def pose(topology, links, series, q, lane, size):
    """Write the poses of all joints."""
    for i in range(1, len(links)):
        kind, row, qi = topology[i, KIND], i * size, topology[i, QI]
        if kind < SPHERICAL:
            if kind != REVOLUTE:
                put_lane(series, row, TRAVEL, lane, lead(kind, links, i) * q[qi])
            if kind != PRISMATIC:
                s, c = sine_cosine(q[qi])
                put_lane(series, row, SINE, lane, s)
                put_lane(series, row, COSINE, lane, c)
        else:
            if kind == FREE:
                for j in range(3):
                    put_lane(series, row, SHIFT + j, lane, q[qi + j])
                qi += 3
            r = joints.rotation((q[qi], q[qi + 1], q[qi + 2], q[qi + 3]))
            for j in range(9):
                put_lane(series, row, TURN + j, lane, r[j])


@kernel
def apply_wrenches(series, body_row, body_placement, external, size):
    """Apply wrenches on bodies, given with derivatives (n, B, 6); return if they are finite."""
    return press_bodies(series, body_row, body_placement, external, 0, size)


@inlined
def press_bodies(series, body_row, body_placement, external, lane, size):
    """Write applied wrenches from their derivatives (n, B, 6); return whether they are finite."""
    scale = 1.0
    for k in range(len(external)):
        for i in range(len(series) // size):
            for j in range(EXTERNAL, EXTERNAL + 6):
                put_lane(series, i * size + k, j, lane, 0.0)
        for b in range(len(body_row)):
            r, p = load9(body_placement, b, 0), load3(body_placement, b, 9)
            m, f = se3.adjoint_inverse_dual(
                r, p, load3(external[k], b, 0), load3(external[k], b, 3))
            row = body_row[b] * size + k
            for j in range(3):
                add_lane(series, row, EXTERNAL + j, lane, scale * m[j])
                add_lane(series, row, EXTERNAL + 3 + j, lane, scale * f[j])
        scale /= k + 1.0
    return joints.finite(external.reshape(-1))


@inlined
def add_lane(table, row, column, lane, value):
    """Add to the float of one state."""
    put_lane(table, row, column, lane, get_lane(table, row, column, lane) + value)


@inlined
def begin(values, rates, column, lane):
    """Write coefficients of derivatives (n, nv) into a column of rates."""
    scale, count = 1.0, values.shape[1]
    for k in range(len(values)):
        for j in range(count):
            put_lane(rates, k * count + j, column, lane, scale * values[k, j])
        scale /= k + 1.0


@inlined
def end(values, rates, column, lane):
    """Write derivatives (n, nv) from the coefficients in a column of rates."""
    scale, count = 1.0, values.shape[1]
    for k in range(len(values)):
        for j in range(count):
            values[k, j] = scale * get_lane(rates, k * count + j, column, lane)
        scale *= k + 1.0


@inlined
def add_friction(coordinates, motion, tau):
    """Add Coulomb friction to the forces themselves."""
    for j in range(motion.shape[1]):
        tau[0, j] += coulomb(coordinates, j, motion[0, j])


@inlined
def begin_hybrid(coordinates, v, a, tau, rates, lane, first):
    """Write coefficients of what is given into rates, from a first order on zero for the rest."""
    count, scale = len(v), 1.0
    for j in range(count):
        put_lane(rates, j, RATE, lane, v[j])
    for k in range(len(a)):
        for j in range(count):
            prescribed = coordinates[j, PRESCRIBED] > 0.0
            friction = coulomb(coordinates, j, v[j]) if k == 0 else 0.0
            put_lane(rates, (k + 1) * count + j, RATE, lane,
                     scale / (k + 1.0) * a[k, j] if prescribed or k < first else 0.0)
            put_lane(rates, k * count + j, EFFORT, lane,
                     0.0 if prescribed else scale * (tau[k, j] - friction))
        scale /= k + 1.0


@inlined
def end_hybrid(coordinates, v, rates, a, tau, lane, first):
    """Write what was sought, from a first order on."""
    count, scale = a.shape[1], 1.0
    for k in range(first, len(a)):
        scale *= max(k, 1)
        for j in range(count):
            if coordinates[j, PRESCRIBED] > 0.0:
                friction = coulomb(coordinates, j, v[j]) if k == 0 else 0.0
                tau[k, j] = scale * get_lane(rates, k * count + j, EFFORT, lane) + friction
            else:
                a[k, j] = scale * (k + 1.0) * get_lane(
                    rates, (k + 1) * count + j, RATE, lane)


@inlined
def coulomb(coordinates, j, rate):
    """Return Coulomb friction, which is constant while the rate does not change its sign."""
    return coordinates[j, FRICTION] * ((rate > 0.0) - (rate < 0.0))
