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
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def crba(model, data, q, out):
    """Write M (nv, nv); return whether q is acceptable and M is finite."""
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_matrix(model, out, get_int(model, 0, NV))
            and not overlap(out, q)):
        return False
    out[:] = 0.0
    links = get_int(model, 0, LINKS)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        rigid.store(data, i, COMPOSITE, rigid.load(model, i, INERTIA))
    for i in range(links - 1, 0, -1):
        kind, pitch = get_int(model, i, KIND), get(model, i, PITCH)
        body = rigid.load(data, i, COMPOSITE)
        for k in range(joints.degrees(kind)):
            w, v = joints.screw(kind, pitch, k)
            m, f = rigid.apply(body, w, v)
            fill_mass_matrix(model, data, i, get_int(model, i, VI) + k, m, f, out)
        add_composite_to_parent(model, data, i, body)
    if get_int(model, 0, LOADED_JOINTS):
        for k in range(len(out)):  # (3.20)
            out[k, k] += get(model, coordinate_row(model, k), ARMATURE)
    put(data, 0, COMPUTED, float(POSES + COMPOSITE_INERTIAS))
    return finite(out.reshape(-1))


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
    """Write the entries of a coordinate of link i: its wrench along all joints before (13.11)."""
    while i > 0:
        kind, pitch, vi = get_int(model, i, KIND), get(model, i, PITCH), get_int(model, i, VI)
        for k in range(joints.degrees(kind)):
            entry = joints.along(kind, pitch, k, m, f)
            out[vi + k, column] = entry
            out[column, vi + k] = entry
        r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        i = get_int(model, i, PARENT)
