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
    ARMATURE, COMPOSITE, COMPOSITE_INERTIAS, COMPUTED, coordinate_row, INERTIA, KIND, LINKS, load3,
    load9, LOADED_JOINTS, NV, PARENT, PITCH, POSES, POSITION, ROTATION, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import se3
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL


@kernel
def crba(model, data, q, out):
    """Write M (nv, nv); return whether q is acceptable and M is finite."""
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_matrix(model, out, get_int(model, 0, NV))
            and not overlap(out, q)):
        return False
    out[:] = 0.0
    links, excess = get_int(model, 0, LINKS), 0.0
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        rigid.store(data, i, COMPOSITE, rigid.load(model, i, INERTIA))
    for i in range(links - 1, 0, -1):
        kind, pitch = get_int(model, i, KIND), get(model, i, PITCH)
        body = rigid.load(data, i, COMPOSITE)
        for k in range(joints.degrees(kind)):
            w, v = joints.screw(kind, pitch, k)
            m, f = rigid.apply(body, w, v)
            excess += fill_mass_matrix(model, data, i, get_int(model, i, VI) + k, m, f, out)
        add_composite_to_parent(model, data, i, body)
    if get_int(model, 0, LOADED_JOINTS):
        for k in range(len(out)):  # (3.20)
            out[k, k] += get(model, coordinate_row(model, k), ARMATURE)
            excess += out[k, k] - out[k, k]
    put(data, 0, COMPUTED, float(POSES + COMPOSITE_INERTIAS))
    return excess == 0.0


@inlined
def add_composite_to_parent(model, data, i, body):
    """Add the composite inertia of link i to that of its parent (13.10)."""
    parent = get_int(model, i, PARENT)
    if parent > 0:
        r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
        rigid.store(data, parent, COMPOSITE, rigid.add(
            rigid.load(data, parent, COMPOSITE), rigid.transport(r, p, body)))


@inlined
def fill_mass_matrix(model, data, i, column, m, f, out):
    """
    Write the entries of a coordinate of link i: its wrench along all joints before (13.11).

    Returns zero, or NaN where an entry is not finite.
    """
    excess = 0.0
    while True:
        kind, vi = get_int(model, i, KIND), get_int(model, i, VI)
        if kind < SPHERICAL:
            excess += put_twice(
                out, vi, column, joints.along(kind, get(model, i, PITCH), 0, m, f))
        else:
            excess += put_three(out, vi, column, m)
            if kind == FREE:
                excess += put_three(out, vi + 3, column, f)
        parent = get_int(model, i, PARENT)
        if parent == 0:
            return excess
        r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        i = parent


@inlined
def put_three(out, i, j, entries):
    """Write three entries of a symmetric matrix from (i, j) downward, as put_twice does."""
    return (put_twice(out, i, j, entries[0]) + put_twice(out, i + 1, j, entries[1])
            + put_twice(out, i + 2, j, entries[2]))


@inlined
def put_twice(out, i, j, entry):
    """Write an entry of a symmetric matrix; return zero, or NaN where it is not finite."""
    out[i, j] = entry
    out[j, i] = entry
    return entry - entry
