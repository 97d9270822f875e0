# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The factors M = L^T D L of a mass matrix, with the zeros of its tree (Featherstone, 6.5).

M^-1 by them, and the solution of M x = y from the factors of forward dynamics, O(n) (13.16).
"""

import math

from liedyn_ros.dynamics.algorithms.kernels import aba, crba
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import coordinate_row, Link, Pivot, State, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, VECTOR
from liedyn_ros.jit.simd import get, get_lanes, LANES, put, put_lanes
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.configuration import finite

PANEL = 4  # times LANES columns are solved at once


@inlined
def factor_tree_matrix(before, matrix):
    """Replace M by L below the diagonal and D on it; return k + 1 for a pivot k not above 0."""
    end = len(before)
    for i in range(len(before) - 1, -1, -1):
        end = end_of_subtree(before, i, end)
        j = i
        while j >= 0:
            c = j // LANES * LANES
            row = get_lanes(matrix, i, c)
            for k in range(i + 1, end):
                row = row - get(matrix, k, i) * get(matrix, k, k) * get_lanes(matrix, k, c)
            put_lanes(matrix, i, c, row)
            j = before_block(before, j, c)
        pivot = get(matrix, i, i)
        if not pivot > 0.0:
            return i + 1
        inverse, j = 1.0 / pivot, i
        while j >= 0:
            c = j // LANES * LANES
            put_lanes(matrix, i, c, inverse * get_lanes(matrix, i, c))
            j = before_block(before, j, c)
        put(matrix, i, i, pivot)
    return 0


@inlined
def before_block(before, j, first):
    """Return the last coordinate on the path of j that comes before the first of a block."""
    while j >= first:
        j = before[j]
    return j


@inlined
def invert_tree_matrix(before, factors, roots):
    """
    Replace the factors by M^-1 on and above the diagonal; roots is a scratch table like them.

    M^-1 is the sum of r_j r_j^T, r_j being row j of L^-T over the root of D_j. It has entries in
    the subtree of j alone, so one of M^-1 is a sum over the coordinates before both of its own.
    """
    roots[:] = 0.0
    end = n = len(before)
    for j in range(n - 1, -1, -1):
        end = end_of_subtree(before, j, end)
        root = math.sqrt(get(factors, j, j))
        put(factors, j, j, root)
        for c in range(j // LANES * LANES, end, LANES):
            row = get_lanes(roots, j, c)
            for k in range(j + 1, min(end, c + LANES)):
                row = row - get(factors, k, j) * get(factors, k, k) * get_lanes(roots, k, c)
            put_lanes(roots, j, c, 1.0 / root * row)
        put(roots, j, j, 1.0 / root)
    factors[:] = 0.0
    for j in range(n - 1, -1, -1):
        end = end_of_subtree(before, j, end)
        for i in range(j, end):
            for c in range(i // LANES * LANES, end, LANES):
                put_lanes(factors, i, c, get_lanes(factors, i, c)
                          + get(roots, j, i) * get_lanes(roots, j, c))


@inlined
def read_solutions(sides, start, by_q, by_v, by_inverse, by_gravity):
    """Read the negative solutions, and the inverse, of which one triangle was solved."""
    n = len(by_q)
    for i in range(n):
        for j in range(n):
            put(by_q, i, j, -get(sides, i, j))
            put(by_v, i, j, -get(sides, i, n + j))
        for j in range(i, n):
            x = get(sides, i, start + j)
            put(by_inverse, i, j, x)
            put(by_inverse, j, i, x)
        for c in range(3):
            put(by_gravity, i, c, -get(sides, i, 2 * n + c))


@inlined
def solve_tree_matrix(before, factors, sides, start):
    """
    Replace the rows X (nv, width) of sides by those of M^-1 X.

    From column start on, X is the identity, and only entries from the diagonal on are written.
    start and the width are multiples of LANES. Columns are solved by panels, so that a sum over
    the rows of a path or a subtree stays in registers.
    """
    c, n = 0, len(before)
    while c < sides.shape[1]:
        end = start if c < start else sides.shape[1]
        count = PANEL if c + PANEL * LANES <= end else 1
        first, last = 0, n  # rows that these columns of the identity have
        if c >= start:
            first, last = c - start, min(c - start + count * LANES, n)
        if count == PANEL:
            solve_panel(before, factors, sides, c, first, last)
        else:
            solve_column(before, factors, sides, c, first, last)
        c += count * LANES


@inlined
def solve_panel(before, factors, sides, c, first, last):
    """
    Solve PANEL times LANES columns from c on, whose right sides have rows from first to last.

    L^-T has entries at pairs on one path alone. Coordinates are depth first, so a row has them up
    to the end of its subtree.
    """
    d, e, f, after = c + LANES, c + 2 * LANES, c + 3 * LANES, len(before)
    for j in range(len(before) - 1, -1, -1):
        after = end_of_subtree(before, j, after)
        if j < last and after > first:
            w, x, y, z = (get_lanes(sides, j, c), get_lanes(sides, j, d), get_lanes(sides, j, e),
                          get_lanes(sides, j, f))
            for i in range(j + 1, min(after, last)):
                factor = get(factors, i, j)
                w = w - factor * get_lanes(sides, i, c)
                x = x - factor * get_lanes(sides, i, d)
                y = y - factor * get_lanes(sides, i, e)
                z = z - factor * get_lanes(sides, i, f)
            put_lanes(sides, j, c, w)
            put_lanes(sides, j, d, x)
            put_lanes(sides, j, e, y)
            put_lanes(sides, j, f, z)
    for i in range(last):
        scale = 1.0 / get(factors, i, i)
        w, x, y, z = (scale * get_lanes(sides, i, c), scale * get_lanes(sides, i, d),
                      scale * get_lanes(sides, i, e), scale * get_lanes(sides, i, f))
        j = before[i]
        while j >= 0:
            factor = get(factors, i, j)
            w = w - factor * get_lanes(sides, j, c)
            x = x - factor * get_lanes(sides, j, d)
            y = y - factor * get_lanes(sides, j, e)
            z = z - factor * get_lanes(sides, j, f)
            j = before[j]
        put_lanes(sides, i, c, w)
        put_lanes(sides, i, d, x)
        put_lanes(sides, i, e, y)
        put_lanes(sides, i, f, z)


@inlined
def solve_column(before, factors, sides, c, first, last):
    """Solve LANES columns from c on, as solve_panel does."""
    after = len(before)
    for j in range(len(before) - 1, -1, -1):
        after = end_of_subtree(before, j, after)
        if j < last and after > first:
            x = get_lanes(sides, j, c)
            for i in range(j + 1, min(after, last)):
                x = x - get(factors, i, j) * get_lanes(sides, i, c)
            put_lanes(sides, j, c, x)
    for i in range(last):
        x, j = 1.0 / get(factors, i, i) * get_lanes(sides, i, c), before[i]
        while j >= 0:
            x = x - get(factors, i, j) * get_lanes(sides, j, c)
            j = before[j]
        put_lanes(sides, i, c, x)


@inlined
def end_of_subtree(before, i, after):
    """Return the coordinate after i and all that follow it in the tree; after is that of i + 1."""
    end = after if i + 1 < len(before) and before[i + 1] == i else i + 1
    while end < len(before) and before[end] >= i:
        end += 1
    return end


@kernel
def inverse_mass_matrix(
        model: MATRIX, data: MATRIX, before: INTEGERS, factors: MATRIX, roots: MATRIX, q: VECTOR,
        out: MATRIX):
    """
    Write M^-1 (nv, nv); return the code of forward.

    factors and roots (nv, nv filled up to LANES) are scratch buffers.
    """
    n = len(before)
    if not crba.crba(model, data, q, out):
        return aba.REFUSED
    factors[:] = 0.0
    for i in range(n):
        for j in range(i + 1):
            put(factors, i, j, get(out, i, j))
    code = factor_tree_matrix(before, factors)
    if code > 0:
        return code
    invert_tree_matrix(before, factors, roots)
    for i in range(n):
        for j in range(i, n):
            x = get(factors, i, j)
            put(out, i, j, x)
            put(out, j, i, x)
    return aba.DONE if finite(out) else aba.REFUSED


@kernel
def solve_mass(model, data, y, x):
    """Write x = M^-1 y (nv,), data being that of a call of forward; x may be y."""
    count = Tree(model, 0).links
    for i in range(1, count):
        State(data, i).order_wrench = vec3.ZERO, vec3.ZERO
    State(data, 0).order_change = vec3.ZERO, vec3.ZERO
    for i in range(count - 1, 0, -1):
        eliminate_joint(model, data, i, y, x)
    for i in range(1, count):
        substitute(model, data, i, x)


@inlined
def eliminate_joint(model, data, i, y, x):
    """Write t = Psi (y - S^T p) of link i, and add its bias wrench to its parent's."""
    link = Link(model, i)
    kind, pitch, parent = link.kind, link.pitch, link.parent
    state = State(data, i)
    m, f = state.order_wrench
    for k in range(joints.degrees(kind) - 1, -1, -1):
        j = link.vi + k
        row = coordinate_row(model, j)
        pivot = Pivot(data, row)
        x[j] = (y[j] - joints.along(kind, pitch, k, m, f)) * pivot.inverse
        m = vec3.axpy(x[j], pivot.gain[0], m)
        f = vec3.axpy(x[j], pivot.gain[1], f)
    if parent > 0:
        r, p = state.pose
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        State(data, parent).plus.order_wrench = m, f


@inlined
def substitute(model, data, i, x):
    """Write x = t - Psi U^T b of link i, b being the acceleration of its parent."""
    link = Link(model, i)
    kind, pitch, parent = link.kind, link.pitch, link.parent
    state = State(data, i)
    w, u = se3.adjoint_inverse(*state.pose, *State(data, parent).order_change)
    for k in range(joints.degrees(kind)):
        j = link.vi + k
        row = coordinate_row(model, j)
        pivot = Pivot(data, row)
        x[j] -= pivot.inverse * (vec3.dot(pivot.gain[0], w) + vec3.dot(pivot.gain[1], u))
        w, u = joints.add_along(kind, pitch, k, x[j], w, u)
    state.order_change = w, u
