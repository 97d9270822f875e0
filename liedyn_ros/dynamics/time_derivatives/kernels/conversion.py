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
Derivatives of one state become coefficients in a lane of the table, and back.

A derivative x^(k) is k! times a coefficient.
"""

from liedyn_ros.dynamics.kernels import joints, wrenches
from liedyn_ros.dynamics.kernels.aba import is_prescribed
from liedyn_ros.dynamics.kernels.tables import (
    BODIES, body_row, CARRIER, coordinate_row, FRICTION, GRAVITY, KIND, LINKS, load3, QI, store3,
    store6, VI)
from liedyn_ros.dynamics.kernels.trigonometry import sine_cosine
from liedyn_ros.dynamics.time_derivatives.kernels.joints import translation_per_unit
from liedyn_ros.dynamics.time_derivatives.kernels.series import (
    ACCELERATION, COSINE, EFFORT, EXTERNAL, POSITION, RATE, ROTATION, SINE, SQUARE, TRANSLATION,
    VELOCITY)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, get_int, get_lane, put_lane
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@inlined
def store_ground(model, series, size):
    """Write the motion of the ground, whose specific acceleration stands for gravity."""
    for k in range(size):
        store3(series, k, VELOCITY, vec3.ZERO)
        store3(series, k, ACCELERATION, vec3.ZERO)
        store6(series, k, SQUARE, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    store3(series, 0, ACCELERATION, vec3.neg(load3(model, 0, GRAVITY)))  # (3.0)


@inlined
def store_poses(model, series, q, lane, size):
    """Write coefficient 0 of the poses of all joints."""
    for i in range(1, get_int(model, 0, LINKS)):
        kind, row, qi = get_int(model, i, KIND), i * size, get_int(model, i, QI)
        if kind < SPHERICAL:
            if kind != REVOLUTE:
                put_lane(series, row, TRANSLATION, lane,
                         translation_per_unit(kind, model, i) * q[qi])
            if kind != PRISMATIC:
                s, c = sine_cosine(q[qi])
                put_lane(series, row, SINE, lane, s)
                put_lane(series, row, COSINE, lane, c)
        else:
            if kind == FREE:
                for j in range(3):
                    put_lane(series, row, POSITION + j, lane, q[qi + j])
                qi += 3
            r = joints.rotation((q[qi], q[qi + 1], q[qi + 2], q[qi + 3]))
            for j in range(9):
                put_lane(series, row, ROTATION + j, lane, r[j])


@inlined
def fits(model, external, orders):
    """Return whether there are finite wrenches (orders, B, 6) on all bodies, or none (0, B, 6)."""
    if len(external) == 0:
        return True
    return (len(external) == orders and external.shape[1] == get_int(model, 0, BODIES)
            and external.shape[2] == 6 and joints.finite(external.reshape(-1)))


@inlined
def store_external(model, series, external, lane, size):
    """Write the wrenches on links from derivatives (r + 1, B, 6) of those on bodies."""
    scale = 1.0
    for k in range(len(external)):
        for i in range(get_int(model, 0, LINKS)):
            for j in range(EXTERNAL, EXTERNAL + 6):
                put_lane(series, i * size + k, j, lane, 0.0)
        for b in range(external.shape[1]):
            m, f = wrenches.on_link(model, b, external[k])
            row = get_int(model, body_row(model, b), CARRIER) * size + k
            for j in range(3):
                add_lane(series, row, EXTERNAL + j, lane, scale * m[j])
                add_lane(series, row, EXTERNAL + 3 + j, lane, scale * f[j])
        scale /= k + 1.0


@inlined
def add_lane(table, row, column, lane, value):
    """Add to the float of one state."""
    put_lane(table, row, column, lane, get_lane(table, row, column, lane) + value)


@inlined
def store_rates(model, series, v, a, lane, size):
    """Write coefficients of v (nv,) and of its derivatives a (r + 1, nv)."""
    for i in range(1, get_int(model, 0, LINKS)):
        vi, row, scale = get_int(model, i, VI), i * size, 1.0
        count = joints.degrees(get_int(model, i, KIND))
        for j in range(count):
            put_lane(series, row, RATE + j, lane, v[vi + j])
        for k in range(len(a)):
            scale /= k + 1.0
            for j in range(count):
                put_lane(series, row + k + 1, RATE + j, lane, scale * a[k, vi + j])


@inlined
def load_efforts(model, series, v, tau, lane, size):
    """Write derivatives tau (r + 1, nv) from coefficients, and add Coulomb friction."""
    for i in range(1, get_int(model, 0, LINKS)):
        vi, row, scale = get_int(model, i, VI), i * size, 1.0
        for k in range(len(tau)):
            scale *= max(k, 1)
            for j in range(joints.degrees(get_int(model, i, KIND))):
                tau[k, vi + j] = scale * get_lane(series, row + k, EFFORT + j, lane)
                if k == 0:
                    tau[k, vi + j] += coulomb(model, vi + j, v[vi + j])


@inlined
def store_given(model, series, v, prescribed, a, tau, lane, size, first):
    """Write coefficients of what is given, from a first order on zero for the rest."""
    for i in range(1, get_int(model, 0, LINKS)):
        vi, row, scale = get_int(model, i, VI), i * size, 1.0
        count = joints.degrees(get_int(model, i, KIND))
        for j in range(count):
            put_lane(series, row, RATE + j, lane, v[vi + j])
        for k in range(len(a)):
            for j in range(count):
                held = is_prescribed(prescribed, vi + j)
                friction = coulomb(model, vi + j, v[vi + j]) if k == 0 else 0.0
                put_lane(series, row + k + 1, RATE + j, lane,
                         scale / (k + 1.0) * a[k, vi + j] if held or k < first else 0.0)
                put_lane(series, row + k, EFFORT + j, lane,
                         0.0 if held else scale * (tau[k, vi + j] - friction))
            scale /= k + 1.0


@inlined
def load_sought(model, series, v, prescribed, a, tau, lane, size, first):
    """Write derivatives of what was sought, from a first order on."""
    for i in range(1, get_int(model, 0, LINKS)):
        vi, row, scale = get_int(model, i, VI), i * size, 1.0
        for k in range(len(a)):
            scale *= max(k, 1)
            if k < first:
                continue
            for j in range(joints.degrees(get_int(model, i, KIND))):
                if is_prescribed(prescribed, vi + j):
                    friction = coulomb(model, vi + j, v[vi + j]) if k == 0 else 0.0
                    tau[k, vi + j] = friction + scale * get_lane(
                        series, row + k, EFFORT + j, lane)
                else:
                    a[k, vi + j] = scale * (k + 1.0) * get_lane(
                        series, row + k + 1, RATE + j, lane)


@inlined
def coulomb(model, j, rate):
    """Return Coulomb friction, which is constant while the rate does not change its sign."""
    return get(model, coordinate_row(model, j), FRICTION) * ((rate > 0.0) - (rate < 0.0))
