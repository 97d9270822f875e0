# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Articulated inertias of a configuration, as in kernels/aba.py, of LANES states.

They, the gains and the pivots depend on the pose alone and serve every order (Lemma 2).
"""

from liedyn_ros.dynamics.algorithms.kernels import aba, articulated, floating_base
from liedyn_ros.dynamics.algorithms.kernels.aba import is_prescribed
from liedyn_ros.dynamics.time_derivatives.kernels.series import (
    COSINE, SERIES_POSITION, SERIES_ROTATION, SINE, TRANSLATION)
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import (
    Coordinate, coordinate_row, Link, load3, load9, Pivot, Tree)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, get_lane, zero_like
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, PRISMATIC, REVOLUTE, SPHERICAL

MARGIN_AT = Pivot.column('margin')


@inlined
def factor_articulated(model, data, series, prescribed, size):
    """Write articulated inertias, gains and inverse pivots, and the margin of each pivot."""
    links = Tree(model, 0).links
    for i in range(1, links):
        store_rigid_inertia(model, data, i)
    for i in range(links - 1, 0, -1):
        factor_link(model, data, series, prescribed, i, size)


@inlined
def store_rigid_inertia(model, data, i):
    """Write the inertia of link i alone, to which those of its children are added."""
    articulated.store(data, i, articulated.of_rigid(Link(model, i).inertia))


@inlined
def factor_link(model, data, series, prescribed, i, size):
    """Eliminate the coordinates of link i; add what is left of its inertia to its parent's."""
    body = articulated.load(data, i)  # (3.7)
    link = Link(model, i)
    smallest = articulated.MIN_PIVOT * aba.pivot_scale(link.kind, link.pitch, body)
    if aba.is_floating_base(model, prescribed, i):
        floating_base.factor(data, coordinate_row(model, link.vi), body, smallest)
    elif aba.is_plain_turn(model, prescribed, i):
        factor_turn(model, data, series, i, size, body, smallest)
    else:
        factor_joint(model, data, series, prescribed, i, size, body, smallest)


@inlined
def factor_turn(model, data, series, i, size, body, smallest):
    """Eliminate the coordinate of a revolute joint without armature."""
    gm, gf = aba.gain(REVOLUTE, 0.0, 0, body)
    link = Link(model, i)
    inverse_pivot = articulated.store_factor(
        data, coordinate_row(model, link.vi), gm[2], smallest, gm, gf)
    if link.parent > 0:
        rest = articulated.eliminate_turn(body, inverse_pivot)
        add_inertia_to_parent(model, data, i, articulated.transport_without_turn(
            lane_rotation(REVOLUTE, model, series, i, i * size),
            position(REVOLUTE, model, series, i, i * size), rest))


@inlined
def factor_joint(model, data, series, prescribed, i, size, body, smallest):
    """Eliminate the coordinates of link i that are not prescribed."""
    link = Link(model, i)
    kind, pitch = link.kind, link.pitch
    for k in range(joints.degrees(kind) - 1, -1, -1):
        j = link.vi + k
        if not is_prescribed(prescribed, j):
            row = coordinate_row(model, j)
            gm, gf = aba.gain(kind, pitch, k, body)
            # S^T Ihat S and the armature (3.20)
            pivot = joints.along(kind, pitch, k, gm, gf) + Coordinate(model, row).armature
            inverse_pivot = articulated.store_factor(data, row, pivot, smallest, gm, gf)
            body = articulated.eliminate(body, inverse_pivot, gm, gf)  # (3.10)
    if link.parent > 0:
        add_inertia_to_parent(model, data, i, articulated.transport(
            lane_rotation(kind, model, series, i, i * size),
            position(kind, model, series, i, i * size), body))


@inlined
def add_inertia_to_parent(model, data, i, inertia):
    """Add an inertia, seen by the parent of link i, to that of the parent (3.11)."""
    parent = Link(model, i).parent
    articulated.store(data, parent, articulated.add(articulated.load(data, parent), inertia))


@inlined
def singular(model, data, prescribed, lane):
    """
    Return k + 1 for a coordinate k of one state whose pivot is too small, 0 if there is none.

    It may be an inertia all the same: aba decides, for that state alone.
    """
    for j in range(Tree(model, 0).nv - 1, -1, -1):
        if not is_prescribed(prescribed, j) and not get_lane(
                data, coordinate_row(model, j), MARGIN_AT, lane) > 0.0:
            return j + 1
    return 0


@inlined
def lane_rotation(kind, model, series, i, row):
    """Return the rotation of link i in its parent."""
    e, zero = Link(model, i).placement[0], zero_like(series)
    if kind == PRISMATIC:
        return (zero + e[0], zero + e[1], zero + e[2], zero + e[3], zero + e[4], zero + e[5],
                zero + e[6], zero + e[7], zero + e[8])
    if kind >= SPHERICAL:
        return mat3.mul(e, load9(series, row, SERIES_ROTATION))
    s, c = get(series, row, SINE), get(series, row, COSINE)
    return (c * e[0] + s * e[1], c * e[1] - s * e[0], zero + e[2],
            c * e[3] + s * e[4], c * e[4] - s * e[3], zero + e[5],
            c * e[6] + s * e[7], c * e[7] - s * e[6], zero + e[8])


@inlined
def position(kind, model, series, i, row):
    """Return the position of link i in its parent."""
    e, p = Link(model, i).placement
    zero = zero_like(series)
    if kind == FREE:
        return vec3.add(p, mat3.apply(e, load3(series, row, SERIES_POSITION)))
    if kind == REVOLUTE or kind == SPHERICAL:
        return zero + p[0], zero + p[1], zero + p[2]
    return joints.advance_position(e, get(series, row, TRANSLATION), p)
