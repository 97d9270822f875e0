# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Gradients of weighted results of constrained dynamics and of gaps (13.20), in reverse.

They follow a call of the dynamics at order zero too. The systems that a product solves are solved
for the weights of these equations, r = ID - A^T lam = tau and c = A a + A' v = 0.

The gradient of weighted residuals of closures by kinematic parameters (13.20). A residual of a
closed loop varies by its row of A on the displacement of frame b against frame a. That of a rod
also varies by its length, that of a screw by its pitch. A v varies as in reverse.vjp_rows.
"""

from liedyn_ros.dynamics.constrained.kernels import order
from liedyn_ros.dynamics.constrained.kernels.closures import frames_of, links_of, row_wrench
from liedyn_ros.dynamics.constrained.kernels.groups import count_groups, rows_of
from liedyn_ros.dynamics.constrained.kernels.tables import (
    AXES, axpy6, get3, ORIGIN, RANK, START, task_of, workspace_of)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels import (
    closure_rows, parameters as loop_parameters, variation)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import BY_POSE, FIELD
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.products import (
    are_projected, begin_products, complete_rates, COORDINATE_CHANGE, LEFT, MU, multiplier_range,
    product_of, VARIED, write_side_multipliers)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.variation import (
    add_force_response, add_scaled_columns, store_field, ZERO_MOTION)
from liedyn_ros.dynamics.constrained.solver.kernels import solution
from liedyn_ros.dynamics.constrained.solver.kernels.solver import HYBRID_TASK, LEAST_FORCE_TASK
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    all_finite, CLOSURE_LENGTH, CLOSURE_PITCH)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, TRUTH, TRUTHS, VECTOR
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.linear_algebra.kernels import orthogonal
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import ALONG_ROD, SCREW


@kernel
def constrained_gradient(
        workspace: VECTOR, task: VECTOR, product: VECTOR,
        params: loop_parameters.ParameterArrays | None,
        functions: closure_rows.FunctionWeights | None, y: VECTOR, z: VECTOR, found: MATRIX
        ) -> TRUTH:
    """
    Write the gradient (nv,) of y . x + z . lam, x being a where it is unknown, and tau elsewhere.

    The rows of `found` are those by q, v and a, and weights (nv,) of the equations of forces. In
    HYBRID_TASK these are the gradient by given forces, in other tasks y less this gradient.
    params, if given, gets the gradient by parameters. functions is FunctionWeights, or None. Else
    it is as in constrained_product.
    """
    tables, work, task_table = workspace_of(workspace), product_of(product).work, task_of(task)
    begin_products(tables.machine, tables.motion, tables.space, work, task_table.kind[0],
                   task_table.free, task_table.chosen)
    return adjoint_pass(workspace, task, product, params, functions, y, z, found)


@kernel
def adjoint_pass(
        workspace: VECTOR, task: VECTOR, product: VECTOR,
        params: loop_parameters.ParameterArrays | None,
        functions: closure_rows.FunctionWeights | None, y: VECTOR, z: VECTOR, found: MATRIX):
    """Write a gradient as constrained_gradient does, after one of the same solution."""
    if not (finite(y) and finite(z)):
        return False
    tables, work = workspace_of(workspace), product_of(product).work
    machine, motion, task_table = tables.machine, tables.motion, task_of(task)
    kind, table = task_table.kind[0], product_of(product).variations
    scratch = tables.by_column if kind == LEAST_FORCE_TASK else tables.by_row
    by_q, by_v, by_a, weights = found[0], found[1], found[2], found[3]
    rank, size, count = int(scratch.report[RANK]), len(y), len(z)
    varied, sign = work[VARIED, :count], -1.0 if kind == HYBRID_TASK else 1.0
    variation.clear_weights(machine, table, params)
    for r in range(count):
        varied[r] = z[r]
    vjp_solution(tables, task_table, scratch, table, work, rank, sign, y, varied, weights)
    vjp_reactions(machine, motion, table, params, functions, work,
                  *multiplier_range(kind, rank < count),
                  size, count)
    if kind != HYBRID_TASK:
        for r in range(count):  # no constraint on accelerations is solved
            varied[r] = 0.0
    variation.vjp_equations(machine, motion, table, params, weights, varied)
    variation.vjp_motion(machine, motion, table, params, weights, by_q, by_v, by_a)
    if functions is not None:
        for j in range(size):
            by_q[j] += work[COORDINATE_CHANGE, j]
        closure_rows.vjp_change(motion, functions, count - len(functions.pushes), weights,
                                varied, by_q, by_v)
    vjp_couplings(machine, varied, by_a)
    for j in range(size):
        by_q[j], by_v[j], by_a[j] = sign * by_q[j], sign * by_v[j], sign * by_a[j]
    if params is not None:
        loop_parameters.write_parameter_gradient(
            machine, motion, table, FIELD, params, sign, weights, machine.moving_frames[0])
        if not all_finite(params.vector):
            return False
    return finite(found)


@kernel
def vjp_solution(tables, task, scratch, table, work, rank, sign, y, varied, weights):
    """Replace weights of multipliers by those of the constraints; write the weights of forces."""
    machine, motion, kind = tables.machine, tables.motion, task.kind[0]
    if kind == HYBRID_TASK:
        vjp_known_accelerations(motion, task.free, y, weights, varied)
    if are_projected(kind, rank < len(varied)):
        project_weights(scratch, sign, varied, work[LEFT, :len(varied)])
    if kind == HYBRID_TASK:
        vjp_hybrid(machine, motion, scratch, table, work, task.free, y, weights)
    elif kind == LEAST_FORCE_TASK:
        vjp_least_force(machine, motion, scratch, varied, task.chosen, task.weight, y, weights)
    else:
        vjp_least_torque(machine, motion, scratch, tables.space, work, task.free, task.chosen,
                         task.weight, y, weights)


@kernel
def vjp_reactions(machine, motion, table, params, functions, work, first, end, size, count):
    """Pull back weights of the rows' reactions; those of functions go to COORDINATE_CHANGE."""
    for j in range(size):
        work[COORDINATE_CHANGE, j] = 0.0
    for k in range(first, end):
        mu, weights = work[MU + k, :size], work[VARIED + k, :count]
        variation.vjp_rows(machine, motion, table, params, mu, weights)
        if functions is not None:
            closure_rows.vjp_function_rows(
                functions, count - len(functions.pushes), mu, weights,
                work[COORDINATE_CHANGE, :size])


@kernel
def project_weights(scratch, sign, varied, left):
    """Project weights of multipliers on the range of A; write sign times the rest to left."""
    for r in range(len(varied)):
        left[r] = sign * varied[r]
    solution.project_multipliers(scratch, varied)
    for r in range(len(varied)):
        left[r] -= sign * varied[r]


@kernel
def vjp_couplings(machine, varied, by_a):
    """Back-propagate the weights of couplings and functions to accelerations."""
    for r in range(len(machine.coupling)):
        for j in range(len(by_a)):
            by_a[j] += varied[len(machine.row_kind) + r] * machine.coupling[r, j]


@kernel
def vjp_known_accelerations(motion, free, y, weights, varied):
    """Write -y as weights of known accelerations; add their weights of multipliers."""
    for j in range(len(y)):
        weights[j] = 0.0 if free[j] else -y[j]
        if not free[j]:
            for r in range(len(varied)):
                varied[r] += motion.jacobian[START, r, j] * weights[j]


@kernel
def vjp_hybrid(machine, motion, scratch, table, work, free, y, weights):
    """Write the weights of given forces, and of constraints (13.19)."""
    size, count, x, side = len(y), len(scratch.gamma), scratch.x, work[COORDINATE_CHANGE, :len(y)]
    varied = work[VARIED, :count]
    for r in range(count):
        scratch.gamma[r], varied[r] = varied[r], 0.0
    for j in range(size):
        side[j] = 0.0
    add_force_response(machine, motion, table, weights, varied, side)
    for j in range(size):
        x[j] = y[j] - side[j] if free[j] else 0.0
    solution.solve_constraints(machine, scratch, free, x, scratch.gamma, motion.multiplier[1])
    for j in range(size):
        if free[j]:
            weights[j] = x[j]
    for r in range(count):
        varied[r] = -motion.multiplier[1, r]


@kernel
def vjp_least_force(machine, motion, scratch, varied, passive, weight, y, weights):
    """Write the weights of forces, y where these are unknown, and of W lam = A_p mu (12.18)."""
    qr = scratch.qr
    for j in range(len(y)):
        weights[j] = y[j]
    for j in passive:
        weights[j] = 0.0
    for r in range(len(varied)):
        for at in range(machine.support_start[r], machine.support_start[r + 1]):
            j = machine.support[at]
            varied[r] -= motion.jacobian[START, r, j] * weights[j]
    for g in range(count_groups(machine)):
        first, end = rows_of(machine, g)
        x, z = scratch.local[first:end], scratch.z[qr.slot[g]:qr.slot[g] + qr.count[g]]
        for i in range(len(x)):
            r = machine.row_at[first + i]
            x[i] = weight[r] * varied[r]
        orthogonal.apply_q_transposed(qr, g, x)
        for s in range(len(z)):
            z[s], x[s] = x[s], 0.0
        orthogonal.apply_q(qr, g, x)
        orthogonal.solve_r(qr, g, z)
        for s in range(len(z)):
            j = qr.order[qr.slot[g] + s]
            weights[j] = scratch.scale[j] * z[s]
        for i in range(len(x)):
            r = machine.row_at[first + i]
            varied[r] = weight[r] * x[i]


@kernel
def vjp_least_torque(machine, motion, scratch, space, work, free, active, weight, y, weights):
    """Write the weights of forces, and of A mu = 0 (12.20)."""
    size, count, side = len(y), len(scratch.gamma), work[COORDINATE_CHANGE, :len(y)]
    for j in range(size):
        side[j] = 0.0
    for j in active:
        side[j] = weight[j] * y[j]
    complete_rates(machine, scratch, space, free, weight, work[VARIED, :count], side, weights)
    for j in active:
        side[j] = weight[j] * weights[j] - side[j]
    write_side_multipliers(machine, motion, scratch, free, side)
    for r in range(count):
        work[VARIED, r] = motion.multiplier[1, r]


@kernel
def gap_gradient(
        workspace: VECTOR, product: VECTOR, params: loop_parameters.ParameterArrays,
        free: TRUTHS, q: VECTOR, v: VECTOR, rest: MATRIX, no_wrenches: CUBE,
        by_position: VECTOR, by_rate: VECTOR, out: MATRIX):
    """
    Write the gradient of by_position . f + by_rate . A v by all parameters into params.

    The state is closed. free (nv,) is False, rest (1, nv) zero, no_wrenches (0, 1, 6). out (3, nv)
    is overwritten.
    """
    tables = workspace_of(workspace)
    machine, motion, scratch = tables.machine, tables.motion, tables.by_row
    table, frames = product_of(product).variations, 2 * len(machine.closure_kind)
    nothing = rest[0]
    order.begin_state(machine, motion, False, free, frames, q, v, rest, rest)
    order.advance_order(machine, motion, scratch, no_wrenches, frames, False, 0, scratch.x, True)
    variation.clear_weights(machine, table, params)
    variation.vjp_rows(machine, motion, table, params, v, by_rate)
    for c in range(len(machine.closure_kind)):
        vjp_residuals(machine, motion, table, params, c, by_position)
    store_field(machine, motion, table, nothing)
    variation.vjp_motion(machine, motion, table, params, nothing, out[0], out[1], out[2])
    loop_parameters.write_parameter_gradient(machine, motion, table, FIELD, params, 1.0, nothing,
                                             frames)


@kernel
def vjp_residuals(machine, motion, table, params, c, weights):
    """Add the weights of displacements, pitch and length in the residuals of closure c."""
    (a, b), (frame_a, frame_b), wrench = links_of(machine, c), frames_of(machine, c), ZERO_MOTION
    for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
        wrench = axpy6(weights[r], row_wrench(machine, motion, c, r, START), wrench)
        if machine.row_kind[r] == SCREW:  # z - pitch angle = 0
            apart = vec3.sub(get3(motion.frame, frame_b, START, ORIGIN),
                             get3(motion.frame, frame_a, START, ORIGIN))
            z = vec3.dot(apart, get3(motion.frame, frame_b, START, AXES + 6))
            params.closures[c, CLOSURE_PITCH] -= weights[r] * z / machine.closure_size[c, 0]
        elif machine.row_kind[r] == ALONG_ROD:
            params.closures[c, CLOSURE_LENGTH] -= weights[r]
    for i, f, sign in ((a, frame_a, -1.0), (b, frame_b, 1.0)):
        add_scaled_columns(table, i, BY_POSE, sign, wrench)
        add_scaled_columns(params.frames, f, 0, sign, wrench)
