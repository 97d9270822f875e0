# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The admissible Coriolis matrix (7.17, Lemma 1) by composite matrices, in body frames.

C is the sum over links i of J_i^T (I_i (Jdot_i + ad_V J_i) - ad_V^T I_i J_i), J_i being the body
Jacobian. The bracket has I_i X_ij ad_V S_j - ad_V^T I_i X_ij S_j in the column of a
coordinate j before link i. So sums over links become the composite inertia and the composite of
-ad_V^T I, a general matrix [a b; c d] in four blocks.
"""

from liedyn_ros.dynamics.algorithms.kernels import crba
from liedyn_ros.dynamics.tree.kernels import joints, motion, rigid
from liedyn_ros.dynamics.tree.kernels.tables import (
    COMPOSITE, COMPOSITE_INERTIAS, COMPUTED, INERTIA, KIND, LINKS, load3, load9, PARENT, PITCH,
    POSES, POSITION, ROTATION, store9, TWIST, TWISTS, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.acceptance import finite

BLOCKS = 36  # numbers of the four blocks


@kernel
def coriolis_matrix(model, data, blocks, q, v, out):
    """Write C (nv, nv); blocks (N + 1, BLOCKS) is a scratch buffer. Return whether all is good."""
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_matrix(model, out, len(v)) and not overlap(out, q)
            and not overlap(out, v)):
        return False
    out[:] = 0.0
    links = get_int(model, 0, LINKS)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        body = rigid.load(model, i, INERTIA)
        rigid.store(data, i, COMPOSITE, body)
        store(blocks, i, rate_of(body, w, u))
    for i in range(links - 1, 0, -1):
        for k in range(joints.degrees(get_int(model, i, KIND))):
            fill_coriolis(model, data, blocks, i, k, out)
        add_to_parent(model, data, blocks, i)
    put(data, 0, COMPUTED, float(POSES + TWISTS + COMPOSITE_INERTIAS))
    return finite(out.reshape(-1))


@inlined
def add_to_parent(model, data, blocks, i):
    """Add the composite inertia of link i and its blocks to those of its parent."""
    crba.add_composite_to_parent(model, data, i, rigid.load(data, i, COMPOSITE))
    parent = get_int(model, i, PARENT)
    if parent > 0:
        r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
        store(blocks, parent, add(load(blocks, parent), transport(r, p, load(blocks, i))))


@inlined
def fill_coriolis(model, data, blocks, i, k, out):
    """Write row and column of coordinate k of link i, as far as its joint and all before it."""
    kind, pitch, own = get_int(model, i, KIND), get(model, i, PITCH), get_int(model, i, VI) + k
    body, rate = rigid.load(data, i, COMPOSITE), load(blocks, i)
    w, v = joints.screw(kind, pitch, k)
    # Wrenches for the row (with ad_V S and S of the joints before) and for the column.
    m, f = rigid.apply(body, w, v)
    tm, tf = apply_t(rate, w, v)
    ew, ev = se3.ad(load3(data, i, TWIST), load3(data, i, TWIST + 3), w, v)
    em, ef = rigid.apply(body, ew, ev)
    bm, bf = apply(rate, w, v)
    cm, cf = vec3.add(em, bm), vec3.add(ef, bf)
    first = i
    while i > 0:
        kind, pitch, vi = get_int(model, i, KIND), get(model, i, PITCH), get_int(model, i, VI)
        w, v = load3(data, i, TWIST), load3(data, i, TWIST + 3)
        for j in range(joints.degrees(kind)):
            out[vi + j, own] = joints.along(kind, pitch, j, cm, cf)
            if i != first:
                out[own, vi + j] = (joints.along_bracket(kind, pitch, j, w, v, m, f)
                                    + joints.along(kind, pitch, j, tm, tf))
        r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        tm, tf = se3.adjoint_inverse_dual(r, p, tm, tf)
        cm, cf = se3.adjoint_inverse_dual(r, p, cm, cf)
        i = get_int(model, i, PARENT)


@inlined
def rate_of(body, w, v):
    """Return -ad_V^T I of a rigid body, [[w] [v]; 0 [w]] times [J [h]; -[h] m 1]."""
    m, h, j = body
    full = (j[0], j[1], j[2], j[1], j[3], j[4], j[2], j[4], j[5])
    hat_w, hat_v, hat_h = mat3.hat(w), mat3.hat(v), mat3.hat(h)
    wh, vh = mat3.mul(hat_w, hat_h), mat3.mul(hat_v, hat_h)
    return (mat3.add(mat3.mul(hat_w, full), mat3.scale(-1.0, vh)),
            mat3.add(wh, mat3.scale(m, hat_v)), mat3.scale(-1.0, wh), mat3.scale(m, hat_w))


@inlined
def load(blocks, i):
    """Return the four blocks of row i."""
    return load9(blocks, i, 0), load9(blocks, i, 9), load9(blocks, i, 18), load9(blocks, i, 27)


@inlined
def store(blocks, i, x):
    """Write the four blocks of row i."""
    store9(blocks, i, 0, x[0])
    store9(blocks, i, 9, x[1])
    store9(blocks, i, 18, x[2])
    store9(blocks, i, 27, x[3])


@inlined
def add(x, y):
    """Return the sum of two matrices in blocks."""
    return mat3.add(x[0], y[0]), mat3.add(x[1], y[1]), mat3.add(x[2], y[2]), mat3.add(x[3], y[3])


@inlined
def apply(x, w, v):
    """Return the product of the matrix and a twist."""
    return (vec3.add(mat3.apply(x[0], w), mat3.apply(x[1], v)),
            vec3.add(mat3.apply(x[2], w), mat3.apply(x[3], v)))


@inlined
def apply_t(x, w, v):
    """Return the product of the transposed matrix and a twist."""
    return (vec3.add(mat3.apply_t(x[0], w), mat3.apply_t(x[2], v)),
            vec3.add(mat3.apply_t(x[1], w), mat3.apply_t(x[3], v)))


@inlined
def transport(r, p, x):
    """Return Ad_{T^-1}^T times the matrix times Ad_{T^-1}, T = (r, p)."""
    rt, hat_p = mat3.transpose(r), mat3.hat(p)
    a, b = mat3.mul(r, mat3.mul(x[0], rt)), mat3.mul(r, mat3.mul(x[1], rt))
    c, d = mat3.mul(r, mat3.mul(x[2], rt)), mat3.mul(r, mat3.mul(x[3], rt))
    c = mat3.add(c, mat3.scale(-1.0, mat3.mul(d, hat_p)))
    a = mat3.add(a, mat3.add(mat3.mul(hat_p, c), mat3.scale(-1.0, mat3.mul(b, hat_p))))
    return a, mat3.add(b, mat3.mul(hat_p, d)), c, d
