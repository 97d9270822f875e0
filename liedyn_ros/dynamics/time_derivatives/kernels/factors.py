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
Articulated inertias of a configuration: what hybrid.py knows at order zero, of LANES states too.

They, the gains and the pivots depend on the pose alone and serve every order (Lemma 2).
"""

from liedyn_ros.dynamics.kernels import articulated, hybrid, joints, rigid
from liedyn_ros.dynamics.kernels.rows import (
    GAIN, INERTIA, INVERSE_PIVOT, KIND, load3, load9, PARENT, PITCH, PLACEMENT, PRESCRIBED,
    RESIDUAL, store3, VI)
from liedyn_ros.dynamics.time_derivatives.kernels.table import COSINE, SHIFT, SINE, TRAVEL, TURN
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, get_lane, nought, put
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@inlined
def factor(topology, links, coordinates, state, pivots, series, size):
    """Write articulated inertias, gains and inverse pivots; the residuals are for `singular`."""
    for i in range(1, len(links)):
        articulated.store(state, i, articulated.of_rigid(rigid.load(links, i, INERTIA)))
    for i in range(len(links) - 1, 0, -1):
        kind, parent, pitch = topology[i, KIND], topology[i, PARENT], links[i, PITCH]
        body = articulated.load(state, i)  # (3.7)
        smallest = hybrid.SMALLEST_PIVOT * hybrid.scale(kind, pitch, body)
        for k in range(joints.degrees(kind) - 1, -1, -1):
            j = topology[i, VI] + k
            if coordinates[j, PRESCRIBED] == 0.0:
                gm, gf = hybrid.gain(kind, pitch, k, body)
                pivot = joints.along(kind, pitch, k, gm, gf)  # S^T Ihat S
                inverse_pivot = 1.0 / pivot
                put(pivots, j, RESIDUAL, pivot - smallest)
                put(pivots, j, INVERSE_PIVOT, inverse_pivot)
                store3(pivots, j, GAIN, gm)
                store3(pivots, j, GAIN + 3, gf)
                body = articulated.eliminate(body, inverse_pivot, gm, gf)  # (3.10)
        if parent > 0:
            r = rotation(kind, links, series, i, i * size)
            p = position(kind, links, series, i, i * size)
            articulated.store(state, parent, articulated.add(
                articulated.load(state, parent), articulated.transport(r, p, body)))  # (3.11)


@inlined
def singular(coordinates, pivots, lane):
    """Return k + 1 for a coordinate k of one state that moves no inertia, 0 if all do."""
    for j in range(len(coordinates) - 1, -1, -1):
        if coordinates[j, PRESCRIBED] == 0.0 and not get_lane(pivots, j, RESIDUAL, lane) > 0.0:
            return j + 1
    return 0


@inlined
def rotation(kind, links, series, i, row):
    """Return the rotation of link i in its parent."""
    e, zero = load9(links, i, PLACEMENT), nought(series)
    if kind == PRISMATIC:
        return (zero + e[0], zero + e[1], zero + e[2], zero + e[3], zero + e[4], zero + e[5],
                zero + e[6], zero + e[7], zero + e[8])
    if kind >= SPHERICAL:
        return mat3.mul(e, load9(series, row, TURN))
    s, c = get(series, row, SINE), get(series, row, COSINE)
    return (c * e[0] + s * e[1], c * e[1] - s * e[0], zero + e[2],
            c * e[3] + s * e[4], c * e[4] - s * e[3], zero + e[5],
            c * e[6] + s * e[7], c * e[7] - s * e[6], zero + e[8])


@inlined
def position(kind, links, series, i, row):
    """Return the position of link i in its parent."""
    e, p, zero = load9(links, i, PLACEMENT), load3(links, i, PLACEMENT + 9), nought(series)
    if kind == FREE:
        return vec3.add(p, mat3.apply(e, load3(series, row, SHIFT)))
    if kind == REVOLUTE or kind == SPHERICAL:
        return zero + p[0], zero + p[1], zero + p[2]
    return joints.advance(e, get(series, row, TRAVEL), p)
