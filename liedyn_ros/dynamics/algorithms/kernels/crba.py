# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mass matrix (3.6): the composite-rigid-body algorithm (Featherstone, 6.2)."""

from liedyn_ros.dynamics.tree.kernels import joints, motion, rigid
from liedyn_ros.dynamics.tree.kernels.tables import (
    coordinate_of, Link, State, Tree)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.jit.simd import filled, get, parts, put, QUAD, quad_of
from liedyn_ros.lie.kernels import se3
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL


@kernel
def crba(model: MATRIX, data: MATRIX, q: VECTOR, out: MATRIX) -> TRUTH:
    """Write M (nv, nv); return whether q is acceptable and M is finite."""
    tree = Tree(model, 0)
    if not (joints.acceptable(model, q) and joints.is_matrix(model, out, tree.nv)
            and not overlap(out, q)):
        return False
    out[:] = 0.0
    links, excess = tree.links, 0.0
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        State(data, i).composite = Link(model, i).inertia
    for i in range(links - 1, 0, -1):
        add_composite_to_parent(model, data, i, State(data, i).composite)
    for i in range(links - 1, 0, -1):
        link = Link(model, i)
        vi = link.vi
        for k in range(vi, vi + joints.degrees(link.kind)):
            if get(out, k, k) == 0.0:  # it has no column yet
                excess += fill_columns(model, data, i, out)
    if tree.loaded_joints:
        for k in range(len(out)):  # (3.20)
            out[k, k] += coordinate_of(model, k).armature
            excess += out[k, k] - out[k, k]
    return excess == 0.0


@inlined
def add_composite_to_parent(model, data, i, body):
    """Add the composite inertia of link i to that of its parent (13.10)."""
    parent = Link(model, i).parent
    if parent > 0:
        r, p = State(data, i).pose
        parent_state = State(data, parent)
        parent_state.composite = rigid.add(parent_state.composite, rigid.transport(r, p, body))


@inlined
def fill_columns(model, data, i, out):
    """
    Write up to four columns, side by side: of link i, and of links before it that have none yet.

    Each has the wrench of a coordinate along all joints before (13.11). Lanes without a column of
    their own repeat the last one. Returns zero, or NaN where an entry is not finite.
    """
    taken, columns, zero = 0, (0, 0, 0, 0), quad_of(0.0)
    m, f, excess = (zero, zero, zero), (zero, zero, zero), zero
    while True:
        link, state = Link(model, i), State(data, i)
        kind, vi, pitch = link.kind, link.vi, link.pitch
        for k in range(joints.degrees(kind)):
            if taken < QUAD and get(out, vi + k, vi + k) == 0.0:
                moment, force = rigid.of_screw(state.composite, kind, pitch, k)
                m, f = filled3(m, taken, moment), filled3(f, taken, force)
                columns = (vi + k if taken == 0 else columns[0],
                           vi + k if taken <= 1 else columns[1],
                           vi + k if taken <= 2 else columns[2], vi + k)
                taken += 1
        if kind < SPHERICAL:
            excess = excess + put_symmetric(
                out, vi, columns, joints.along(kind, pitch, 0, m, f))
        else:
            excess = excess + put_vector(out, vi, columns, m)
            if kind == FREE:
                excess = excess + put_vector(out, vi + 3, columns, f)
        parent = link.parent
        if parent == 0:
            e = parts(excess)
            return e[0] + e[1] + e[2] + e[3]
        r, p = state.pose
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        i = parent


@inlined
def filled3(value, lane, numbers):
    """Return a vector of four Lanes with a vector in those from a lane on."""
    return (filled(value[0], lane, numbers[0]), filled(value[1], lane, numbers[1]),
            filled(value[2], lane, numbers[2]))


@inlined
def put_vector(out, row, columns, entries):
    """Write three rows of four columns, as put_symmetric does."""
    return (put_symmetric(out, row, columns, entries[0])
            + put_symmetric(out, row + 1, columns, entries[1])
            + put_symmetric(out, row + 2, columns, entries[2]))


@inlined
def put_symmetric(out, row, columns, entries):
    """Write four entries of a symmetric matrix; return zeros, or NaN where one is not finite."""
    e = parts(entries)
    put_twice(out, row, columns[0], e[0])
    put_twice(out, row, columns[1], e[1])
    put_twice(out, row, columns[2], e[2])
    put_twice(out, row, columns[3], e[3])
    return entries - entries


@inlined
def put_twice(out, i, j, entry):
    """Write an entry of a symmetric matrix."""
    put(out, i, j, entry)
    put(out, j, i, entry)
