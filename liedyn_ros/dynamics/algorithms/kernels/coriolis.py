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
B = -ad_V^T I. In each frame B = [a, [u] - c; c, [n]], with 3 by 3 matrices a and c and vectors u
and n: of one link c = -[w][h], u = m v and n = m w. Rows of three stand in four Lanes.
"""

from liedyn_ros.dynamics.algorithms.kernels import crba
from liedyn_ros.dynamics.tree.kernels import joints, motion, rigid
from liedyn_ros.dynamics.tree.kernels.tables import (
    Link, load3, State, Tree)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.jit.simd import get, get_quad, joined, of_width, parts, put, put_quad, rolled
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.kinds import FREE, REVOLUTE, SPHERICAL

A, C, N, U = 0, 12, 24, 28  # columns of the rows of a and c, of n and of u, four each
BLOCK_WIDTH = 32  # numbers of them all


@kernel
def coriolis_matrix(
        model: MATRIX, data: MATRIX, blocks: MATRIX, q: VECTOR, v: VECTOR, out: MATRIX) -> TRUTH:
    """Write C (nv, nv); blocks (N + 1, BLOCK_WIDTH) is scratch. Return whether all is finite."""
    blocks = of_width(blocks, BLOCK_WIDTH)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_matrix(model, out, len(v)) and not overlap(out, q)
            and not overlap(out, v)):
        return False
    out[:] = 0.0
    links, excess = Tree(model, 0).links, 0.0
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        body = Link(model, i).inertia
        State(data, i).composite = body
        store_rate(blocks, i, body, w, u)
    for i in range(links - 1, 0, -1):
        for k in range(joints.degrees(Link(model, i).kind)):
            excess += fill_coriolis(model, data, blocks, i, k, out)
        add_to_parent(model, data, blocks, i)
    return excess == 0.0


@inlined
def add_to_parent(model, data, blocks, i):
    """Add the composite inertia of link i and its B to those of its parent."""
    state = State(data, i)
    crba.add_composite_to_parent(model, data, i, state.composite)
    parent = Link(model, i).parent
    if parent > 0:
        add_transported(*state.pose, blocks, i, parent)


@inlined
def fill_coriolis(model, data, blocks, i, k, out):
    """
    Write row and column of coordinate k of link i, as far as its joint and all before it.

    Three wrenches go to the ground side by side: I S and B^T S for the row, which ad_V S and S of
    a joint meet, and I ad_V S + B S for the column. Returns zero, or NaN where an entry is not
    finite.
    """
    own, excess = Link(model, i).vi + k, 0.0
    m, f = wrenches(model, data, blocks, i, k)
    while True:
        link = Link(model, i)
        kind, pitch, vi = link.kind, link.pitch, link.vi
        w, v = State(data, i).twist
        if kind < SPHERICAL:
            excess += put_pair(out, own, vi, joints.along_bracket(kind, pitch, 0, w, v, m, f),
                               joints.along(kind, pitch, 0, m, f))
        else:
            em, ef = se3.ad_dual(w, v, m, f)
            excess += put_pairs(out, own, vi, em, m)
            if kind == FREE:
                excess += put_pairs(out, own, vi + 3, ef, f)
        parent = link.parent
        if parent == 0:
            return excess
        m, f = se3.adjoint_inverse_dual(*State(data, i).pose, m, f)
        i = parent


@inlined
def wrenches(model, data, blocks, i, k):
    """Return I S, B^T S and I ad_V S + B S of coordinate k of link i, side by side."""
    link = Link(model, i)
    state = State(data, i)
    kind, pitch, body = link.kind, link.pitch, state.composite
    w, v = joints.screw(kind, pitch, k)
    em, ef = rigid.apply(body, *se3.ad(*state.twist, w, v))
    m, f = rigid.of_screw(body, kind, pitch, k)
    if kind == REVOLUTE:  # S picks a row and a column
        a, c, u = load_matrix(blocks, i, A), load_matrix(blocks, i, C), load3(blocks, i, U)
        tm, tf = a[6:9], (-c[6] - u[1], u[0] - c[7], -c[8])
        bm, bf = (a[2], a[5], a[8]), (c[2], c[5], c[8])
    else:
        tm, tf = apply_t(blocks, i, w, v)
        bm, bf = apply(blocks, i, w, v)
    return join_columns(m, tm, vec3.add(em, bm)), join_columns(f, tf, vec3.add(ef, bf))


@inlined
def join_columns(x, y, z):
    """Return three vectors side by side."""
    return (joined(x[0], y[0], z[0], 0.0), joined(x[1], y[1], z[1], 0.0),
            joined(x[2], y[2], z[2], 0.0))


@inlined
def put_pair(out, own, j, bracket, along):
    """Write the entries of two coordinates; return zero, or NaN where one is not finite."""
    b, e = parts(bracket), parts(along)
    row, column = b[0] + e[1], e[2]
    put(out, own, j, row)
    put(out, j, own, column)
    return (row - row) + (column - column)


@inlined
def put_pairs(out, own, j, bracket, along):
    """Write the entries of three coordinates, as put_pair does."""
    return (put_pair(out, own, j, bracket[0], along[0])
            + put_pair(out, own, j + 1, bracket[1], along[1])
            + put_pair(out, own, j + 2, bracket[2], along[2]))


@inlined
def store_rate(blocks, i, body, w, v):
    """Write -ad_V^T I of a rigid body, [[w] [v]; 0 [w]] times [J [h]; -[h] m 1]."""
    m, h, j = body
    angular, linear = as_row(w), as_row(v)
    full = as_row(j[0:3]), as_row((j[1], j[3], j[4])), as_row((j[2], j[4], j[5]))
    store(blocks, i, (vec3.add(vec3.cross(w, full), minus_hats(linear, h)),
                      minus_hats(angular, h), m * angular, m * linear))


@inlined
def add_transported(r, p, blocks, i, parent):
    """Add Ad_{T^-1}^T B Ad_{T^-1} to the matrix of a parent, T = (r, p)."""
    t = as_row(r[0:9:3]), as_row(r[1:9:3]), as_row(r[2:9:3])  # rows of R^T
    n, u, row_p = turned_row(t, blocks, i, N), turned_row(t, blocks, i, U), as_row(p)
    a = mat3.apply(r, turned_rows(t, blocks, i, A))
    c = mat3.apply(r, turned_rows(t, blocks, i, C))
    cp = cross_rows(c[0], row_p), cross_rows(c[1], row_p), cross_rows(c[2], row_p)  # c [p]
    c = vec3.add(c, minus_hats(n, p))
    a = vec3.add(vec3.add(a, vec3.cross(p, c)), vec3.add(cp, minus_hats(u, p)))
    store(blocks, parent, (
        vec3.add(load_rows(blocks, parent, A), a), vec3.add(load_rows(blocks, parent, C), c),
        get_quad(blocks, parent, N) + n, get_quad(blocks, parent, U) + u - cross_rows(n, row_p)))


@inlined
def turned_rows(t, blocks, i, at):
    """Return the rows of a matrix times R^T."""
    return (turned_row(t, blocks, i, at), turned_row(t, blocks, i, at + 4),
            turned_row(t, blocks, i, at + 8))


@inlined
def turned_row(t, blocks, i, at):
    """Return three numbers of blocks as a row times R^T."""
    return (get(blocks, i, at) * t[0] + get(blocks, i, at + 1) * t[1]
            + get(blocks, i, at + 2) * t[2])


@inlined
def as_row(x):
    """Return a vector as a row."""
    return joined(x[0], x[1], x[2], 0.0)


@inlined
def cross_rows(x, y):
    """Return the cross product of two rows, which is also the row x times [y]."""
    return rolled(x * rolled(y) - rolled(x) * y)


@inlined
def minus_hats(row, y):
    """Return the rows of -[x][y] = (x.y) 1 - y x^T for a row x."""
    x = parts(row)
    s = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    return (joined(s, 0.0, 0.0, 0.0) - y[0] * row, joined(0.0, s, 0.0, 0.0) - y[1] * row,
            joined(0.0, 0.0, s, 0.0) - y[2] * row)


@inlined
def load_rows(blocks, i, at):
    """Return the rows of a matrix."""
    return get_quad(blocks, i, at), get_quad(blocks, i, at + 4), get_quad(blocks, i, at + 8)


@inlined
def load_matrix(blocks, i, at):
    """Return the nine numbers of a matrix."""
    return (get(blocks, i, at), get(blocks, i, at + 1), get(blocks, i, at + 2),
            get(blocks, i, at + 4), get(blocks, i, at + 5), get(blocks, i, at + 6),
            get(blocks, i, at + 8), get(blocks, i, at + 9), get(blocks, i, at + 10))


@inlined
def store(blocks, i, rows):
    """Write a, c, n and u, all in rows."""
    a, c, n, u = rows
    put_quad(blocks, i, A, a[0])
    put_quad(blocks, i, A + 4, a[1])
    put_quad(blocks, i, A + 8, a[2])
    put_quad(blocks, i, C, c[0])
    put_quad(blocks, i, C + 4, c[1])
    put_quad(blocks, i, C + 8, c[2])
    put_quad(blocks, i, N, n)
    put_quad(blocks, i, U, u)


@inlined
def apply(blocks, i, w, v):
    """Return B times a twist."""
    a, c = load_matrix(blocks, i, A), load_matrix(blocks, i, C)
    n, u = load3(blocks, i, N), load3(blocks, i, U)
    return (vec3.add(vec3.sub(mat3.apply(a, w), mat3.apply(c, v)), vec3.cross(u, v)),
            vec3.add(mat3.apply(c, w), vec3.cross(n, v)))


@inlined
def apply_t(blocks, i, w, v):
    """Return B^T times a twist."""
    a, c = load_matrix(blocks, i, A), load_matrix(blocks, i, C)
    n, u = load3(blocks, i, N), load3(blocks, i, U)
    return (vec3.add(mat3.apply_t(a, w), mat3.apply_t(c, v)), vec3.sub(
        vec3.cross(w, u), vec3.add(mat3.apply_t(c, w), vec3.cross(n, v))))
