# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Jacobians of inverse dynamics, O(n depth) (13.10) to (13.12)."""

from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import change
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.motion import compute_motion
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    LINK_WIDTH, load_derivative, load_derivatives, P, Q, R, S, SharedLink, sum_of)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.motion import spring_rate
from liedyn_ros.dynamics.tree.kernels.tables import coordinate_of, Link, store3, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.pointers import overlap, rows_of
from liedyn_ros.jit.simd import get, get_lanes, joined, LANES, parts, put, put_lanes, quad_of
from liedyn_ros.lie.kernels import se3, vec3

INERTIA_AT = SharedLink.column('inertia')


@kernel
def inverse_jacobians(
        model: MATRIX, links: MATRIX, columns: MATRIX, q: VECTOR, v: VECTOR, a: VECTOR,
        external: MATRIX, by_q: MATRIX, by_v: MATRIX, by_a: MATRIX, by_gravity: MATRIX) -> TRUTH:
    """
    Write dtau/dq, dtau/dv and dtau/da = M, each (nv, nv), and dtau/d(gravity) (nv, 3).

    Returns False for unacceptable input, a result that is not finite, has another shape, or shares
    memory.
    """
    n = len(v)
    if not (is_square(by_q, n) and is_square(by_v, n) and is_square(by_a, n)
            and by_gravity.shape == (n, 3)):
        return False
    if (shares_memory(by_q, q, v, a, external) or shares_memory(by_v, q, v, a, external)
            or shares_memory(by_a, q, v, a, external)
        or shares_memory(by_gravity, q, v, a, external)
            or overlap(by_q, by_v) or overlap(by_q, by_a) or overlap(by_v, by_a)):
        return False
    clear_matrix(by_q)
    clear_matrix(by_v)
    clear_matrix(by_a)
    return write_jacobians(model, None, links, columns, q, v, a, external, by_q, by_v, by_a,
                           by_gravity, 0, 0)


@kernel
def write_jacobians(model, data, links, columns, q, v, a, external, by_q, by_v, by_a, by_gravity,
                    at_v, at_gravity):
    """
    Write the Jacobians into columns of zero matrices: dtau/dv from column at_v on.

    data is as in compute_motion. dtau/d(gravity) begins at column at_gravity. Returns whether the
    input is acceptable and the Jacobians by q, v and a are finite.
    """
    if not compute_motion(model, data, links, columns, q, v, a, external):
        return False
    excess = 0.0
    for i in range(Tree(model, 0).links - 1, 0, -1):
        link = Link(model, i)
        for k in range(joints.degrees(link.kind)):
            excess += fill_jacobians(model, links, columns, i, link.vi + k,
                                     by_q, by_v, by_a, by_gravity, at_v, at_gravity)
        parent = link.parent
        if parent > 0:  # (13.10)
            add_carried(links, parent, i)
    for k in range(len(v)):  # (13.13), (3.19), (3.20)
        x, y, z = (get(by_q, k, k) + spring_rate(model, k, q),
                   get(by_v, k, at_v + k) + coordinate_of(model, k).damping,
                   get(by_a, k, k) + coordinate_of(model, k).armature)
        put(by_q, k, k, x)
        put(by_v, k, at_v + k, y)
        put(by_a, k, k, z)
        excess += (x - x) + (y - y) + (z - z)
    return excess == 0.0


@inlined
def add_carried(links, parent, i):
    """Add inertia and B of link i to those of its parent: 22 neighbours."""
    for c in (INERTIA_AT, INERTIA_AT + LANES):
        put_lanes(links, parent, c, get_lanes(links, parent, c) + get_lanes(links, i, c))
    for c in range(INERTIA_AT + 2 * LANES, LINK_WIDTH):
        put(links, parent, c, get(links, parent, c) + get(links, i, c))


@inlined
def clear_matrix(x):
    """Write zeros into a matrix."""
    row = rows_of(x, 0, 1, x.size)
    for k in range(x.size):
        put(row, 0, k, 0.0)


@inlined
def is_square(x, n):
    """Return whether a matrix is (n, n)."""
    return x.shape[0] == n and x.shape[1] == n


@inlined
def shares_memory(x, q, v, a, external):
    """Return whether a result shares memory with an input."""
    return overlap(x, q) or overlap(x, v) or overlap(x, a) or overlap(x, external)


@inlined
def fill_jacobians(model, links, columns, i, k, by_q, by_v, by_a, by_gravity, at_v, at_gravity):
    """
    Write the rows and columns of coordinate k of link i, with those before it (13.11).

    U, Z, I P and G are side by side. Returns zero, or NaN where an entry is not finite.
    """
    link = SharedLink(links, i)
    body, (t, b) = link.inertia, link.change
    x, y = load_derivatives(columns, k)
    m, f = sum_of(rigid.apply(body, x, y), change.apply(t, b, upper3(x)))
    (sw, sv), excess = load_derivative(columns, k, S), quad_of(0.0)
    gm, gf, km = lane3(m, S), lane3(f, S), change.apply_t(t, b, sw, sv)
    store3(by_gravity, k, at_gravity, vec3.neg(gf))  # (13.29)
    first = Link(model, i).vi
    for j in range(first, first + joints.degrees(Link(model, i).kind)):
        ahead = power_along(columns, j, m, f)
        put_entries(by_q, by_v, by_a, j, k, at_v, parts(ahead))
        excess = excess + (ahead - ahead)
    xm, xf = se3.ad_dual(sw, sv, *link.force)  # N(F) S
    m, f = vec3.sub(m, alone3(xm)), vec3.sub(f, alone3(xf))
    i = Link(model, i).parent
    while i > 0:
        first = Link(model, i).vi
        for j in range(first, first + joints.degrees(Link(model, i).kind)):
            x, y = load_derivatives(columns, j)
            ahead, back = power_along(columns, j, m, f), vec3.dot(gm, x) + vec3.dot(gf, y)
            back = back + upper(vec3.dot(km, x))
            put_entries(by_q, by_v, by_a, j, k, at_v, parts(ahead))
            put_entries(by_q, by_v, by_a, k, j, at_v, parts(back))
            excess = excess + (ahead - ahead) + (back - back)
        i = Link(model, i).parent
    e = parts(excess)
    return e[Q] + e[R] + e[S]


@inlined
def power_along(columns, j, m, f):
    """Return the power of wrenches side by side along the screw of coordinate j."""
    w, v = load_derivative(columns, j, S)
    return vec3.dot(w, m) + vec3.dot(v, f)


@inlined
def put_entries(by_q, by_v, by_a, row, column, at_v, entries):
    """Write one entry of each Jacobian."""
    put(by_q, row, column, entries[Q])
    put(by_v, row, at_v + column, entries[R])
    put(by_a, row, column, entries[S])


@inlined
def lane3(x, lane):
    """Return one of four vectors side by side."""
    return parts(x[0])[lane], parts(x[1])[lane], parts(x[2])[lane]


@inlined
def alone3(x):
    """Return a vector and three zero vectors side by side."""
    return (joined(x[0], 0.0, 0.0, 0.0), joined(x[1], 0.0, 0.0, 0.0),
            joined(x[2], 0.0, 0.0, 0.0))


@inlined
def upper(x):
    """Return the last two of four numbers in the place of the first two, and zeros."""
    p = parts(x)
    return joined(p[P], p[S], 0.0, 0.0)


@inlined
def upper3(x):
    """Return upper of each of three entries."""
    return upper(x[0]), upper(x[1]), upper(x[2])
