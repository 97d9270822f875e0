# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
All Jacobians of forward dynamics of a machine with loops, whose rows are independent (13.19).

They follow a call of the dynamics at order zero, and the tree's Jacobians of inverse dynamics. A
closure varies with the coordinates of its own path alone. The KKT system is scaled by the roots of
the inertias and by the scales of rows. It is solved for all columns at once.
"""

from liedyn_ros.dynamics.constrained.kernels import order
from liedyn_ros.dynamics.constrained.kernels.closures import closure_wrench, links_of
from liedyn_ros.dynamics.constrained.kernels.tables import (
    axpy6, dot6, get6, START, task_of, workspace_of)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    D_POSE, D_TWIST, row_jet)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.variation import (
    dual, NOTHING, relative_motion, twist_bracket)
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import store_pair
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get, LANES, put, put_lanes, spread
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.linear_algebra.kernels.many_sides import solve_many_sides
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def forward_loop_jacobians(task, table, matrix, workspace, by_q, by_v, mass, found):
    """
    Write how a (nv, nv) and the multipliers (m, nv) vary with q, v and tau.

    The six follow each other in `found`: a by q, v and tau, then the multipliers. table (N + 1,
    VARIATION_WIDTH) is for variations. matrix has nv + m rows, and columns as many and 3 nv, each
    filled up to LANES. by_q, by_v and mass (nv, nv) are those of the tree's inverse dynamics; by_q
    is overwritten. Returns whether all that is found is finite.
    """
    tables, free = workspace_of(workspace), task_of(task).free
    machine, motion, scratch = tables.machine, tables.motion, tables.by_row
    n, m = len(machine.link), len(scratch.gamma)
    first = LANES * ((n + m + LANES - 1) // LANES)
    order.complete_order(machine, motion, free, START)
    for i in range(n + m):
        for c in range(0, matrix.shape[1], LANES):
            put_lanes(matrix, i, c, spread(0.0))
    for c in range(len(machine.closure_kind)):
        vary_closure_by_path(machine, motion, table, scratch.scale, c, matrix, first, by_q)
    write_scaled_saddle_point(motion, scratch, matrix, first, by_q, by_v, mass)
    solve_many_sides(matrix, n + m, first)
    for block in range(3):
        at = first + block * n
        for i in range(n):
            copy_scaled(matrix, i, at, n, scratch.x[i], found, (block * n + i) * n)
        for r in range(m):
            copy_scaled(matrix, n + r, at, n, -scratch.scale[r], found,
                        (3 * n + block * m + r) * n)
    return finite(found)


@kernel
def copy_scaled(matrix, i, at, count, scale, found, to):
    """Write scale times `count` entries of row i, from column `at` on, into found from `to` on."""
    for j in range(count):
        found[to + j] = scale * get(matrix, i, at + j)


@kernel
def write_scaled_saddle_point(motion, scratch, matrix, first, by_q, by_v, mass):
    """
    Write M, A and A^T, and the sides of forces, in scaled coordinates and rows.

    scratch.x is given the scales of the coordinates.
    """
    n, m = len(by_q), len(scratch.gamma)
    for i in range(n):
        scratch.x[i] = 1.0 / scratch.y[i]
    for i in range(n):
        d = scratch.x[i]
        for j in range(n):
            put(matrix, i, j, d * scratch.x[j] * mass[i, j])
            put(matrix, i, first + j, -d * by_q[i, j])
            put(matrix, i, first + n + j, -d * by_v[i, j])
        put(matrix, i, first + 2 * n + i, d)
        for r in range(m):
            entry = d * scratch.scale[r] * get(motion.jacobian[0], r, i)
            put(matrix, i, n + r, entry)
            put(matrix, n + r, i, entry)


@kernel
def vary_closure_by_path(machine, motion, table, scale, c, matrix, first, by_q):
    """
    Write how closure c varies with the coordinates that move one of its bodies against the other.

    Sides of the matrix are given - D(A a + A' v) by q and by v, times the scale of their rows.
    D(A^T lam) by q is subtracted from by_q (nv, nv). Coordinates that move both bodies change
    neither.
    """
    (a, b), n = links_of(machine, c), len(by_q)
    V, A = (relative_motion(motion.twist, a, b, START),
            relative_motion(motion.twist, a, b, START + 1))
    wrench = closure_wrench(machine, motion, c, START, START)
    store_pair(table, a, D_POSE, vec3.ZERO, vec3.ZERO)
    store_pair(table, a, D_TWIST, vec3.ZERO, vec3.ZERO)
    store_pair(table, b, D_POSE, vec3.ZERO, vec3.ZERO)
    store_pair(table, b, D_TWIST, vec3.ZERO, vec3.ZERO)
    for at in range(machine.path_start[c], machine.path_start[c + 1]):
        j = machine.path[at]
        sign, screw = machine.path_sign[c, j], get6(motion.screw, j, START)
        i = b if sign > 0.0 else a
        turned, pushed, pushed_by_rate = displaced_motion(machine, motion, i, j)
        store_pair(table, i, D_POSE, screw[0], screw[1])
        store_pair(table, i, D_TWIST, turned[0], turned[1])
        varied = NOTHING
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            m, f = row_jet(machine, motion, table, None, c, machine.row_kind[r])
            row, rate, change, both = (m[0], f[0]), (m[1], f[1]), (m[2], f[2]), (m[3], f[3])
            put(matrix, n + r, first + j, -scale[r] * (
                dot6(change, A) + dot6(both, V) + sign * (dot6(row, pushed) + dot6(rate, turned))))
            put(matrix, n + r, first + n + j, -scale[r] * (
                dot6(change, V) + sign * (dot6(row, pushed_by_rate) + dot6(rate, screw))))
            varied = axpy6(motion.multiplier[r, START], change, varied)
        subtract_path_forces(machine, motion, c, j, varied, dual(screw, wrench), by_q)
        store_pair(table, i, D_POSE, vec3.ZERO, vec3.ZERO)
        store_pair(table, i, D_TWIST, vec3.ZERO, vec3.ZERO)


@kernel
def displaced_motion(machine, motion, i, j):
    """Return how twist and acceleration of link i vary with q_j, and the latter with v_j."""
    own, screw = machine.link[j], get6(motion.screw, j, START)
    before = machine.parent[own]
    V0 = get6(motion.twist, before, START)
    rate, push = (relative_motion(motion.twist, before, i, START),
                  relative_motion(motion.twist, before, i, START + 1))
    push = axpy6(-1.0, twist_bracket(V0, rate), push)  # as seen from the link before
    turned = twist_bracket(screw, rate)
    pushed = axpy6(1.0, twist_bracket(screw, push), twist_bracket(V0, turned))
    own_rate = relative_motion(motion.twist, own, i, START)
    return turned, pushed, axpy6(1.0, twist_bracket(screw, own_rate), twist_bracket(V0, screw))


@kernel
def subtract_path_forces(machine, motion, c, j, varied, turned, by_q):
    """Subtract D_j(A^T lam) of a closure: of its wrench, and of the screws that j carries."""
    side, both = machine.path_sign[c, j], axpy6(1.0, varied, turned)
    for at in range(machine.path_start[c], machine.path_start[c + 1]):
        k = machine.path[at]
        sign = machine.path_sign[c, k]
        moved = sign == side and machine.link[k] >= machine.link[j]
        by_q[k, j] -= sign * dot6(get6(motion.screw, k, START), both if moved else varied)
