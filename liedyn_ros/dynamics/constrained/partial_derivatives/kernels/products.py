# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Products of the Jacobians of constrained dynamics with vectors.

They follow a call of the dynamics at order zero, and use its factors: a product solves one system,
as the dynamics does. The equations are r = ID - A^T lam = tau and
c = A a + A' v = 0. Redundant forces are the least, with mu: lam = A mu, or tau = mu / Q, A mu = 0.
All are varied. Module `gradients` has products with vectors from the left.
"""

from liedyn_ros.dynamics.constrained.kernels import closures, order
from liedyn_ros.dynamics.constrained.kernels.groups import (
    coordinates_of, count_groups, rows_of)
from liedyn_ros.dynamics.constrained.kernels.tables import add6, RANK, START, task_of, workspace_of
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels import (
    closure_rows, parameters as loop_parameters)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.variation import (
    add_force_response, vary_equations, vary_rows)
from liedyn_ros.dynamics.constrained.solver.kernels import inverse, least_torque, solution, solver
from liedyn_ros.dynamics.constrained.solver.kernels.solver import (
    HYBRID_TASK, LEAST_FORCE_TASK, LEAST_TORQUE_TASK)
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import all_finite
from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR
from liedyn_ros.linear_algebra.kernels import orthogonal
from liedyn_ros.model.kernels.configuration import finite

# Rows of the scratch buffer of vectors: mu of redundant forces, and of redundant multipliers. The
# next are the change of A mu by each, or its weights. Two are of coordinates.
MU, POTENTIAL, VARIED, LEFT, WEIGHT, COORDINATE_CHANGE, WORK_ROWS = range(7)

PRODUCT = Bundle(
    'Product',
    variations=MATRIX,  # (N + 1, VARIATION_WIDTH), as closure_rows has them
    work=MATRIX)  # (WORK_ROWS, max(nv, m))

product_of = PRODUCT.view


@kernel
def constrained_product(
        workspace: VECTOR, task: VECTOR, product: VECTOR,
        params: loop_parameters.ParameterArrays | None,
        functions: closure_rows.FunctionChange | None, xq: VECTOR, xv: VECTOR, xa: VECTOR,
        xtau: VECTOR, found: VECTOR) -> TRUTH:
    """
    Write how a, tau (nv,) and the multipliers (m,) vary along xq, xv and what is given.

    The three follow each other in `found`. xa is zero where accelerations are unknown; xtau is
    read where forces are given. workspace, task and product are those of a WORKSPACE, a TASK and a
    PRODUCT. params is a ParameterArrays of changes, or None; functions is a FunctionChange, or
    None. Returns whether all that is given, and found, is finite.
    """
    if not (finite(xq) and finite(xv) and finite(xa) and finite(xtau)):
        return False
    tables, work = workspace_of(workspace), product_of(product).work
    machine, motion, task_table = tables.machine, tables.motion, task_of(task)
    kind, free, table = task_table.kind[0], task_table.free, product_of(product).variations
    scratch = tables.by_column if kind == LEAST_FORCE_TASK else tables.by_row
    rank, size = int(scratch.report[RANK]), len(xq)
    a, tau, multipliers = found[:size], found[size:2 * size], found[2 * size:]
    count = len(multipliers)
    begin_products(machine, motion, tables.space, work, kind, free, task_table.chosen)
    if params is not None:
        if not all_finite(params.vector):
            return False
        loop_parameters.write_parameter_changes(machine, motion, params)
    vary_equations(machine, motion, table, params, xq, xv, xa, scratch.gamma, tau)
    if functions is not None:
        closure_rows.add_change(motion, functions, count - len(functions.push), scratch.gamma,
                                tau)
    vary_reactions(machine, motion, table, params, functions, work,
                   *multiplier_range(kind, rank < count),
                   size, count)
    vary_solution(tables, task_table, scratch, work, count, xa, xtau, tau, a)
    write_multipliers(motion, scratch, work, rank, kind, multipliers)
    complete_forces(machine, motion, table, work, task_table, a, multipliers, xtau, tau)
    return finite(found)


@kernel
def are_projected(kind, redundant):
    """Return whether the multipliers of a task are those of least norm, lam = A mu."""
    return redundant and kind != LEAST_FORCE_TASK


@kernel
def multiplier_range(kind, redundant):
    """Return the rows of work, from MU to POTENTIAL, that a task depends on: first and end."""
    return (POTENTIAL if kind == HYBRID_TASK else MU,
            POTENTIAL + 1 if are_projected(kind, redundant) else POTENTIAL)


@kernel
def begin_products(machine, motion, space, work, kind, free, chosen):
    """Write the rates mu, and complete the motion and the wrenches of links."""
    size = len(machine.link)
    for j in range(size):
        work[MU, j] = 0.0
        work[POTENTIAL, j] = motion.potential[START, j]
    if kind == LEAST_FORCE_TASK:
        for j in chosen:
            work[MU, j] = motion.potential[START, j]
    elif kind == LEAST_TORQUE_TASK:
        for g in range(count_groups(machine)):
            least_torque.add_free_motions(machine, space, g, space.size[:, START], work[MU])
        subtract_closure_changes(machine, motion)
    elif solver.all_set(free):
        order.complete_order(machine, motion, free, START, True)


@kernel
def subtract_closure_changes(machine, motion):
    """Subtract the wrenches of closures from those of links, and of the links before them."""
    for c in range(len(machine.closure_kind)):
        (a, b), (m, f) = closures.links_of(machine, c), closures.closure_wrench(
            machine, motion, c, START, START)
        for i, sign in ((a, 1.0), (b, -1.0)):
            while i < len(machine.kind):
                add6(motion.wrench, i, START, sign, m, f)
                i = machine.parent[i]


@kernel
def vary_reactions(machine, motion, table, params, functions, work, first, end, size, count):
    """Write the change of A mu for each mu in use, the mu being constant."""
    for k in range(first, end):
        mu, varied = work[MU + k, :size], work[VARIED + k, :count]
        vary_rows(machine, motion, table, params, mu, varied)
        if functions is not None:
            closure_rows.add_rows(functions, count - len(functions.push), mu, varied)


@kernel
def vary_solution(tables, task, scratch, work, count, xa, xtau, tau, a):
    """Write how accelerations and multipliers vary; tau is how the equations of forces do."""
    machine, motion, kind = tables.machine, tables.motion, task.kind[0]
    if kind == HYBRID_TASK:
        vary_hybrid(machine, motion, scratch, task.free, xa, xtau, tau, a)
    elif kind == LEAST_FORCE_TASK:
        vary_least_force(
            machine, motion, scratch, work[VARIED, :count], task.weight, xa, xtau, tau, a)
    else:
        vary_least_torque(machine, motion, scratch, tables.space, work, task.free, task.chosen,
                          task.weight, xa, xtau, tau, a)


@kernel
def write_multipliers(motion, scratch, work, rank, kind, multipliers):
    """Write how the multipliers vary; LEFT is the change of A mu."""
    count = len(multipliers)
    for r in range(count):
        multipliers[r] = motion.multiplier[1, r]
    if are_projected(kind, rank < count):
        change = work[VARIED, :count]
        for r in range(count):
            change[r] = multipliers[r] - work[LEFT, r]
        solution.project_multipliers(scratch, change)
        for r in range(count):
            multipliers[r] = work[LEFT, r] + change[r]


@kernel
def complete_forces(machine, motion, table, work, task, a, multipliers, xtau, tau):
    """Add the forces of the changes of a and of the multipliers; write the given forces."""
    kind, free, size = task.kind[0], task.free, len(a)
    if kind == LEAST_FORCE_TASK or (kind == HYBRID_TASK and not solver.all_set(free)):
        for j in range(size):
            work[COORDINATE_CHANGE, j] = a[j] if free[j] else 0.0
        add_force_response(machine, motion, table, work[COORDINATE_CHANGE, :size], multipliers,
                           tau)
    if kind == LEAST_FORCE_TASK:
        for j in task.chosen:
            tau[j] = xtau[j]
    elif kind == HYBRID_TASK:
        for j in range(size):
            if free[j]:
                tau[j] = xtau[j]


@kernel
def vary_hybrid(machine, motion, scratch, free, xa, xtau, need, a):
    """Write how accelerations and multipliers vary (13.19)."""
    x = scratch.x
    for j in range(len(x)):
        x[j] = xtau[j] - need[j] if free[j] else 0.0
    solution.solve_constraints(machine, scratch, free, x, scratch.gamma, motion.multiplier[1])
    for j in range(len(x)):
        a[j] = x[j] if free[j] else xa[j]


@kernel
def vary_least_force(machine, motion, scratch, varied, weight, xa, xtau, need, a):
    """Write how multipliers vary: A_p^T lam' = need - xtau, W lam = A_p mu (12.18)."""
    qr = scratch.qr
    for j in range(len(xa)):
        a[j] = xa[j]
    for g in range(count_groups(machine)):
        first, end = rows_of(machine, g)
        x, z = scratch.local[first:end], scratch.z[qr.slot[g]:qr.slot[g] + qr.count[g]]
        for i in range(len(x)):
            r = machine.row_at[first + i]
            x[i] = weight[r] * varied[r]
        orthogonal.apply_q_transposed(qr, g, x)
        inverse.write_scaled_needs(scratch, g, need, xtau, z)
        orthogonal.solve_r_transposed(qr, g, z)
        for s in range(len(z)):
            x[s] = z[s]
        orthogonal.apply_q(qr, g, x)
        for i in range(len(x)):
            r = machine.row_at[first + i]
            motion.multiplier[1, r] = weight[r] * x[i]


@kernel
def vary_least_torque(machine, motion, scratch, space, work, free, active, weight, xa, xtau, tau,
                      a):
    """Write how forces and multipliers vary: tau_a = mu / Q, A mu = 0 (12.20)."""
    size, count = len(free), len(scratch.gamma)
    side = work[COORDINATE_CHANGE, :size]
    for r in range(count):
        work[VARIED, r] = -work[VARIED, r]
    for j in range(size):
        a[j], side[j] = xa[j], tau[j] - xtau[j]
    complete_rates(machine, scratch, space, free, weight, work[VARIED, :count], side,
                   work[WEIGHT, :size])
    for j in range(size):
        tau[j] = xtau[j]
    for j in active:
        tau[j] = weight[j] * work[WEIGHT, j]
        side[j] -= tau[j]
    write_side_multipliers(machine, motion, scratch, free, side)


@kernel
def complete_rates(machine, scratch, space, free, weight, rows, side, x):
    """Write the rates x with A x = rows, and N^T (side - x_a / Q) = 0 along the free motions N."""
    solution.write_least_rates(machine, scratch, free, rows, x)
    for g in range(count_groups(machine)):
        first, end = coordinates_of(machine, g)
        s = space.s[first:end]
        for n in range(space.qr.count[g]):
            i, total = space.qr.order[first + n], 0.0
            for at in range(first, end):
                j = machine.coordinate_at[at]
                total += space.basis[START, i, j] * side[j]
            for j in space.active[first:first + space.qr.size[g]]:
                total -= space.basis[START, i, j] * weight[j] * x[j]
            s[n] = total
        orthogonal.solve_r_transposed(space.qr, g, s)
        orthogonal.solve_r(space.qr, g, s)
        for n in range(space.qr.count[g]):
            i = space.qr.order[first + n]
            for at in range(first, end):
                j = machine.coordinate_at[at]
                x[j] += space.basis[START, i, j] * s[n]


@kernel
def write_side_multipliers(machine, motion, scratch, free, side):
    """Write multipliers of the independent rows with A^T lam = side."""
    for j in range(len(free)):
        scratch.x[j] = side[j]
    solution.write_independent_multipliers(
        machine, scratch, free, scratch.x, motion.multiplier[1])
