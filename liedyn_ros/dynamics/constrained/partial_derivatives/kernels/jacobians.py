# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The partial derivatives of the equations of machines with loops at order zero (13.19).

They follow a call of the dynamics, and the tree's Jacobians of inverse dynamics. A closure varies
with the coordinates of its own path alone.
"""

from liedyn_ros.dynamics.constrained.kernels import order
from liedyn_ros.dynamics.constrained.kernels.closures import (
    closure_wrench, links_of, row_wrench)
from liedyn_ros.dynamics.constrained.kernels.groups import count_groups
from liedyn_ros.dynamics.constrained.kernels.tables import (
    axpy6, dot6, get6, RANK, START, task_of, workspace_of)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.changes import (
    hybrid_changes, inverse_changes)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    D_POSE, D_TWIST, FIELD, row_jet)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.variation import (
    dual, relative_columns, relative_motion, store_field, twist_bracket, ZERO_MOTION)
from liedyn_ros.dynamics.constrained.solver.kernels.least_torque import add_free_motions
from liedyn_ros.dynamics.constrained.solver.kernels.solver import all_set, LEAST_FORCE_TASK
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import store_pair
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, TRUTH, VECTOR
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.linear_algebra.kernels.rows import copy_scaled
from liedyn_ros.model.kernels.kinds import SCREW


@kernel
def hybrid_loop_jacobians(
        table: MATRIX, partials: ARRAY4, reactions: ARRAY4, lanes: MATRIX, changes: CUBE,
        workspace: VECTOR, task: VECTOR, by_q: MATRIX, by_v: MATRIX, mass: MATRIX, found: VECTOR
        ) -> TRUTH:
    """
    Write the Jacobians of hybrid dynamics of order zero, as hybrid_changes does.

    table (N + 1, VARIATION_WIDTH) is for variations. by_q, by_v and mass (nv, nv) are those of the
    tree's inverse dynamics. Returns whether all that is found is finite.
    """
    tables, free = workspace_of(workspace), task_of(task).free
    machine, motion, n = tables.machine, tables.motion, len(free)
    if all_set(free):
        order.complete_order(machine, motion, free, START, True)
    rows = motion.jacobian[:1]
    write_equations(machine, motion, table, by_q, by_v, partials[0])
    if not all_set(free):
        write_matrix(motion, mass, partials[0, 2])
    if int(tables.by_row.report[RANK]) < rows.shape[1]:
        for j in range(n):
            tables.by_row.x[j] = motion.potential[START, j]
        store_field(machine, motion, table, tables.by_row.x)
        vary_reactions_by_path(machine, motion, table, reactions[0])
    return hybrid_changes(workspace, task, partials, rows, reactions, lanes, changes, found)


@kernel
def inverse_loop_jacobians(
        table: MATRIX, partials: ARRAY4, slopes: ARRAY4, reactions: ARRAY4, lanes: MATRIX,
        changes: CUBE, workspace: VECTOR, task: VECTOR, by_q: MATRIX, by_v: MATRIX, mass: MATRIX,
        found: VECTOR) -> TRUTH:
    """Write the Jacobians of inverse dynamics of order zero, as inverse_changes does."""
    tables, chosen, kind = workspace_of(workspace), task_of(task).chosen, task_of(task).kind[0]
    machine, motion, space = tables.machine, tables.motion, tables.space
    scratch = tables.by_column if kind == LEAST_FORCE_TASK else tables.by_row
    rows = motion.jacobian[:1]
    write_equations(machine, motion, table, by_q, by_v, partials[0])
    write_matrix(motion, mass, partials[0, 2])
    for j in range(len(scratch.x)):
        scratch.x[j] = 0.0
    if kind == LEAST_FORCE_TASK:
        for j in chosen:
            scratch.x[j] = motion.potential[START, j]
        store_field(machine, motion, table, scratch.x)
        vary_reactions_by_path(machine, motion, table, reactions[0])
    else:
        for g in range(count_groups(machine)):
            add_free_motions(machine, space, g, space.size[:, START], scratch.x)
        store_field(machine, motion, table, scratch.x)
        vary_reactions_by_path(machine, motion, table, slopes[0])
        if int(scratch.report[RANK]) < rows.shape[1]:
            for j in range(len(scratch.x)):
                scratch.x[j] = motion.potential[START, j]
            store_field(machine, motion, table, scratch.x)
            vary_reactions_by_path(machine, motion, table, reactions[0])
    return inverse_changes(
        workspace, task, partials, rows, slopes, reactions, lanes, changes, found)


@kernel
def write_equations(machine, motion, table, by_q, by_v, partials):
    """Write partials of ID - A^T lam and of A a + A' v (2, nv + m, nv), by q and v."""
    n = len(by_q)
    for i in range(n):
        copy_scaled(by_q, i, 0, partials[0], i, 0, n, 1.0)
        copy_scaled(by_v, i, 0, partials[1], i, 0, n, 1.0)
    for r in range(n, n + motion.jacobian.shape[1]):  # where no path leads, rows are constant
        for j in range(n):
            partials[0, r, j] = partials[1, r, j] = 0.0
    for c in range(len(machine.closure_kind)):
        vary_closure_by_path(machine, motion, table, c, n, partials[0], partials[1])


@kernel
def write_matrix(motion, mass, partials):
    """Write partials by a (nv + m, nv): M and A."""
    n = len(mass)
    for i in range(n):
        copy_scaled(mass, i, 0, partials, i, 0, n, 1.0)
    for r in range(motion.jacobian.shape[1]):
        copy_scaled(motion.jacobian[0], r, 0, partials, n + r, 0, n, 1.0)


@kernel
def clear_displacements(table, a, b):
    """Write that no displacement moves links a and b."""
    for i in (a, b):
        store_pair(table, i, D_POSE, vec3.ZERO, vec3.ZERO)
        store_pair(table, i, D_TWIST, vec3.ZERO, vec3.ZERO)


@kernel
def vary_closure_by_path(machine, motion, table, c, n, by_q, by_v):
    """
    Write how closure c varies with the coordinates that move one of its bodies against the other.

    Rows n + r of by_q and by_v (nv + m, nv) are given D(A a + A' v). D(A^T lam) by q is subtracted
    from the first nv rows of by_q. Coordinates that move both bodies change neither.
    """
    a, b = links_of(machine, c)
    V, A = (relative_motion(motion.twist, a, b, START),
            relative_motion(motion.twist, a, b, START + 1))
    wrench = closure_wrench(machine, motion, c, START, START)
    clear_displacements(table, a, b)
    for at in range(machine.path_start[c], machine.path_start[c + 1]):
        j = machine.path[at]
        sign, screw = machine.path_sign[c, j], get6(motion.screw, j, START)
        i = b if sign > 0.0 else a
        turned, pushed, pushed_by_rate = displaced_motion(machine, motion, i, j)
        seen, pushes, rates = turned, pushed, pushed_by_rate
        if sign > 0.0:  # as frame b sees it, which moves with the coordinate
            own = axpy6(-1.0, twist_bracket(screw, get6(motion.twist, b, START)), turned)
            seen = axpy6(-1.0, twist_bracket(screw, V), turned)
            pushes = axpy6(-1.0, twist_bracket(screw, A), axpy6(
                -1.0, twist_bracket(own, V), pushed))
            rates = axpy6(-1.0, twist_bracket(screw, V), pushed_by_rate)
        store_pair(table, i, D_POSE, screw[0], screw[1])
        store_pair(table, i, D_TWIST, turned[0], turned[1])
        varied, held = ZERO_MOTION, ZERO_MOTION
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            kind = machine.row_kind[r]
            if kind <= SCREW:
                row, rate = (row_wrench(machine, motion, c, r, START),
                             row_wrench(machine, motion, c, r, START + 1))
                by_q[n + r, j] = sign * (dot6(row, pushes) + dot6(rate, seen))
                by_v[n + r, j] = sign * (dot6(row, rates) + dot6(rate, screw))
                held = axpy6(motion.multiplier[START, r], row, held)
                continue
            m, f = row_jet(machine, motion, table, None, c, kind)
            row, rate, change, both = (m[0], f[0]), (m[1], f[1]), (m[2], f[2]), (m[3], f[3])
            by_q[n + r, j] = (dot6(change, A) + dot6(both, V) + sign * (
                dot6(row, pushed) + dot6(rate, turned)))
            by_v[n + r, j] = dot6(change, V) + sign * (
                dot6(row, pushed_by_rate) + dot6(rate, screw))
            varied = axpy6(motion.multiplier[START, r], change, varied)
        if sign > 0.0:
            varied = axpy6(-1.0, dual(screw, held), varied)
        subtract_path_forces(machine, motion, c, j, varied, dual(screw, wrench), by_q)
        clear_displacements(table, a, b)


@kernel
def vary_reactions_by_path(machine, motion, table, out):
    """Write D(A y) by q (m, nv), y being constant, after store_field."""
    for r in range(motion.jacobian.shape[1]):
        for j in range(len(machine.link)):
            out[0, r, j] = out[1, r, j] = 0.0
    for c in range(len(machine.closure_kind)):
        a, b = links_of(machine, c)
        field = relative_columns(table, a, b, FIELD)
        clear_displacements(table, a, b)
        for at in range(machine.path_start[c], machine.path_start[c + 1]):
            j = machine.path[at]
            sign, screw = machine.path_sign[c, j], get6(motion.screw, j, START)
            i = b if sign > 0.0 else a
            turned = twist_bracket(screw, relative_columns(
                table, machine.parent[machine.link[j]], i, FIELD))
            store_pair(table, i, D_POSE, screw[0], screw[1])
            for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
                m, f = row_jet(machine, motion, table, None, c, machine.row_kind[r])
                out[0, r, j] = dot6((m[2], f[2]), field) + sign * dot6((m[0], f[0]), turned)
            clear_displacements(table, a, b)


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
