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
The accelerations of one order: elimination from the leaves, solution from the root.

The series hold the motion without the accelerations that are sought, and the wrenches it needs.
Articulated inertias, gains and pivots are those of order zero, in the columns of rows.py: in state
a row for each link, in pivots for each coordinate.
"""

from liedyn_ros.dynamics.kernels import articulated
from liedyn_ros.dynamics.kernels.joints import along, degrees, screw
from liedyn_ros.dynamics.kernels.rows import (
    add3, add9, DAMPING, GAIN, INVERSE_PIVOT, KIND, load3, load9, PARENT, PITCH, PLACEMENT,
    PRESCRIBED, RESIDUAL, store3, TWIST, VI, WRENCH)
from liedyn_ros.dynamics.time_derivatives.kernels import joints, table
from liedyn_ros.dynamics.time_derivatives.kernels.table import (
    EFFORT, HAT_FORCE, HAT_LIFT, HAT_SPIN, LIFT, RATE, SHIFT, SPIN, TRAVEL)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, put
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, REVOLUTE, SPHERICAL

CHANGE = TWIST  # in state: what the solution adds to w' and a of a link; the ground has zeros


@inlined
def eliminate(topology, links, coordinates, state, pivots, series, rates, i, k, size, count):
    """Take the coordinates of link i out of coefficient k of the wrench that it hands on."""
    kind, pitch, vi, row = topology[i, KIND], links[i, PITCH], topology[i, VI], i * size + k
    m, f = load3(series, row, table.WRENCH), load3(series, row, table.WRENCH + 3)
    store3(state, i, WRENCH, m)
    store3(state, i, WRENCH + 3, f)
    for j in range(vi + degrees(kind) - 1, vi - 1, -1):
        if coordinates[j, PRESCRIBED] == 0.0:
            at = k * count + j
            residual = (get(rates, at, EFFORT) - coordinates[j, DAMPING] * get(rates, at, RATE)
                        - along(kind, pitch, j - vi, m, f))
            put(pivots, j, RESIDUAL, residual)
            step = get(pivots, j, INVERSE_PIVOT) * residual
            m = vec3.axpy(step, load3(pivots, j, GAIN), m)
            f = vec3.axpy(step, load3(pivots, j, GAIN + 3), f)
    store3(series, row, table.WRENCH, m)
    store3(series, row, table.WRENCH + 3, f)


@inlined
def solve(topology, links, coordinates, state, pivots, series, rates, i, k, size, count):
    """Solve for the coordinates of link i, and complete its motion and its wrench."""
    kind, row, parent = topology[i, KIND], i * size, topology[i, PARENT]
    dw, da = load3(state, parent, CHANGE), load3(state, parent, CHANGE + 3)
    if parent > 0:
        dw, da = follow(kind, links, series, i, row, k, dw, da)
    dw, da = advance(
        topology, links, coordinates, pivots, series, rates, i, k, size, count, dw, da)
    store3(state, i, CHANGE, dw)
    store3(state, i, CHANGE + 3, da)
    add3(series, row + k + 1, SPIN, vec3.scale(1.0 / (k + 1.0), dw))
    add3(series, row + k, LIFT, da)
    m, f = articulated.apply(articulated.load(state, i), dw, da)
    m = vec3.add(m, load3(state, i, WRENCH))  # Lemma 2 (7.16)
    f = vec3.add(f, load3(state, i, WRENCH + 3))
    if kind != REVOLUTE and kind != SPHERICAL:
        change = vec3.sub(f, load3(series, row + k, table.WRENCH + 3))
        add3(series, row + k, HAT_FORCE, joints.out_of_at_rest(kind, series, row, change))
    store3(series, row + k, table.WRENCH, m)
    store3(series, row + k, table.WRENCH + 3, f)


@inlined
def follow(kind, links, series, i, row, k, dw, da):
    """Complete what link i has of its parent's motion; return what that adds to w' and a."""
    e, p = load9(links, i, PLACEMENT), load3(links, i, PLACEMENT + 9)
    da = mat3.apply_t(e, vec3.add(da, vec3.cross(dw, p)))
    dw = mat3.apply_t(e, dw)
    if kind == FREE:
        add9(series, row + k, table.BEND, mat3.hat(dw))
        da = vec3.add(da, vec3.cross(dw, load3(series, row, SHIFT)))
    elif kind != REVOLUTE and kind != SPHERICAL:
        x, y, t = dw[1], -dw[0], get(series, row, TRAVEL)  # w' x z
        put(series, row + k, table.PULL, get(series, row + k, table.PULL) + x)
        put(series, row + k, table.PULL + 1, get(series, row + k, table.PULL + 1) + y)
        da = (da[0] + t * x, da[1] + t * y, da[2])
    add3(series, row + k + 1, HAT_SPIN, vec3.scale(1.0 / (k + 1.0), dw))
    add3(series, row + k, HAT_LIFT, da)
    return (joints.into_at_rest(kind, series, row, dw),
            joints.into_at_rest(kind, series, row, da))


@inlined
def advance(topology, links, coordinates, pivots, series, rates, i, k, size, count, dw, da):
    """Solve for the coordinates of link i; return dw and da with what they add."""
    kind, pitch, vi, row = topology[i, KIND], links[i, PITCH], topology[i, VI], i * size + k
    for j in range(vi, vi + degrees(kind)):
        if coordinates[j, PRESCRIBED] == 0.0:
            gm, gf = load3(pivots, j, GAIN), load3(pivots, j, GAIN + 3)
            y = get(pivots, j, INVERSE_PIVOT) * (
                get(pivots, j, RESIDUAL) - (vec3.dot(gm, dw) + vec3.dot(gf, da)))
            w, u = screw(kind, pitch, j - vi)
            dw, da = vec3.axpy(y, w, dw), vec3.axpy(y, u, da)
            put(rates, (k + 1) * count + j, RATE, (1.0 / (k + 1.0)) * y)
            if kind != REVOLUTE and kind < SPHERICAL:
                gain = joints.lead(kind, links, i) * y
                put(series, row, HAT_LIFT + 2, get(series, row, HAT_LIFT + 2) + gain)
    return dw, da
