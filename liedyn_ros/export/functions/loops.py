# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
# mypy: disable-error-code="valid-type,index,attr-defined"
"""
Functions of the C library for closed loops: those of liedyn.h, in its order.

They return DONE or a code of the kernels. Partial derivatives follow a solution of order zero, of
inverse dynamics or of hybrid dynamics.
"""

import math

from liedyn_ros.dynamics.algorithms.kernels import centroidal
from liedyn_ros.dynamics.algorithms.kernels.coriolis import BLOCK_WIDTH
from liedyn_ros.dynamics.constrained.configurations.kernels import closing, velocity
from liedyn_ros.dynamics.constrained.configurations.kernels.closing import closing_of
from liedyn_ros.dynamics.constrained.kernels import task_mobility
from liedyn_ros.dynamics.constrained.kernels.position import closure_residuals, largest_magnitude
from liedyn_ros.dynamics.constrained.kernels.series import is_configuration
from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.dynamics.constrained.kernels.tolerances import STALLED_RESIDUAL
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.independent_motions import (
    reduce_bias, reduce_mass)
from liedyn_ros.dynamics.constrained.solver.kernels.solver import DONE, REFUSED
from liedyn_ros.dynamics.constrained.tracking.kernels import completion
from liedyn_ros.export.kernels import loop_partials as partials
from liedyn_ros.export.kernels import loops as area
from liedyn_ros.export.kernels.interface import (
    ACTUATED_OR, BODY_WRENCHES, CLOSURE_NUMBER, CODE, COMPLETED, CONFIGURATION,
    CONFIGURATION_OR_NONE, CONSTRAINTS, CONSTRAINTS_BY_RATES, FLAGS_OR_NONE, MODEL, OBSERVED,
    OF_TASKS, ONE_ORDER, ORDER_NUMBER, ORDERS, POSE_MATRIX, RATES, RATES_OR_ZERO, REPORT, RESULT,
    SCRATCH_MATRIX, SETTINGS, SIZE_NUMBER, SQUARE, SQUARE_OF_TASKS, TASK_ROWS, TASKS_NUMBER,
    TRUTH_NUMBER, WORK, WRENCH_ORDERS, WRENCHES_OF_ONE_ORDER)
from liedyn_ros.jit.pointers import as_flags, pointer_of, vector
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.stewart.dynamics.kernels.platform import is_pose


def loops_inverse(work: WORK, order: ORDER_NUMBER, q: CONFIGURATION, v: RATES, a: ORDERS,
                  external: WRENCH_ORDERS, tau: RESULT[ORDERS], report: REPORT) -> CODE:
    """
    Write tau and its time derivatives (order + 1, nv) of the file's actuators, of a and its own.

    Other joints have tau 0. If there are more actuators than needed, the sum of tau^2 is least.
    """
    code = area.solve_inverse(work, q, v, a, external, tau)
    area.write_answer(work, report)
    return code


def loops_forward(work: WORK, order: ORDER_NUMBER, q: CONFIGURATION, v: RATES, tau: ORDERS,
                  external: WRENCH_ORDERS, a: RESULT[ORDERS], report: REPORT) -> CODE:
    """Write a and its time derivatives (order + 1, nv) of tau and its own."""
    none = vector(as_flags(pointer_of(work)), 0)
    code = area.solve_hybrid(work, q, v, none, a, tau, tau[:0], external)
    area.write_answer(work, report)
    return code


def loops_hybrid(work: WORK, order: ORDER_NUMBER, q: CONFIGURATION, v: RATES,
                 prescribed: FLAGS_OR_NONE, a: COMPLETED[ORDERS, True],
                 tau: COMPLETED[ORDERS, False], external: WRENCH_ORDERS, report: REPORT) -> CODE:
    """Complete a and tau (order + 1, nv) in their place, as hybrid_derivatives does."""
    code = area.solve_hybrid(work, q, v, prescribed, a, tau, tau, external)
    area.write_answer(work, report)
    return code


def loops_residual(work: WORK, q: CONFIGURATION, residual: RESULT[CONSTRAINTS],
                   jacobian: RESULT[CONSTRAINTS_BY_RATES]) -> CODE:
    """Write how far constraints are open (m), rad and m, and the derivative (m, nv), or NULL."""
    loops = area.loops_of(work)
    loops.turns[:] = math.nan
    rows = loops.jacobian.reshape((len(residual), area.count_coordinates(loops)))
    good = closure_residuals(loops.workspace, q, loops.turns, residual, rows)
    for i in range(len(jacobian)):
        for j in range(jacobian.shape[1]):
            jacobian[i, j] = rows[i, j]
    return DONE if good else REFUSED


def loops_complete_velocity(work: WORK, q: CONFIGURATION, known: ACTUATED_OR,
                            v: COMPLETED[ONE_ORDER, True]) -> CODE:
    """
    Complete v (nv) in its place by the constraints, where known (nv) is 0.

    Those entries are not read. A NULL for known: the actuators' are known.
    """
    rest = area.loops_of(work).rest  # where A a = 0, as A v = 0
    return area.complete(work, q, rest, known, v)


def loops_complete_acceleration(
        work: WORK, order: ORDER_NUMBER, q: CONFIGURATION, v: RATES, known: ACTUATED_OR,
        a: COMPLETED[ORDERS, True]) -> CODE:
    """Complete a and its time derivatives (order + 1, nv) in the same way."""
    return area.complete(work, q, v, known, a)


def loops_independent(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, known: ACTUATED_OR,
        external: BODY_WRENCHES, motions: RESULT[SQUARE], rate: RESULT[SQUARE],
        mass: RESULT[SQUARE], bias: RESULT[RATES]) -> CODE:
    """
    Write N and N' (nv, nv), N^T M N (nv, nv) and b (nv) of independent coordinates.

    These are the equations of motion mass a + bias = N^T tau of those whose known (nv) is 1. NULL:
    the actuators' are. Rods do not spin where these leave it free. Rows and columns of others are
    zero, but for the rows of N, which have the rates of all coordinates.
    """
    loops, n = area.loops_of(work), len(v)
    along, code = loops.gradient.reshape((4, n)), area.find_motions(
        loops, known, False, q, v, motions, rate)
    if code != DONE:
        return code
    return DONE if (
        reduce_mass(model, loops.data, q, motions, loops.of_tree[:n], loops.of_tree[n:2 * n], mass)
        and reduce_bias(model, loops.data, q, v, external, motions, rate, along[:2], bias)
        ) else REFUSED


def loops_task_space(
        model: MODEL, work: WORK, q: CONFIGURATION, known: ACTUATED_OR, tasks: TASKS_NUMBER,
        jacobian: TASK_ROWS, response: RESULT[TASK_ROWS], mobility: RESULT[SQUARE_OF_TASKS],
        inertia: RESULT[SQUARE_OF_TASKS], directions: RESULT[SQUARE_OF_TASKS],
        sizes: RESULT[OF_TASKS]) -> CODE:
    """
    Write the inertia (tasks, tasks) of tasks in operational space, while the loops stay closed.

    Arguments are those of task_space, known those of loops_independent.
    """
    loops, n = area.loops_of(work), jacobian.shape[1]
    motions = loops.found[:n * n].reshape((n, n))
    mass, factor = loops.of_tree[2 * n:], loops.of_tree[n:2 * n]
    code = area.find_motions(loops, known, True, q, loops.rest, motions, mass)
    if code != DONE:
        return code
    if not (reduce_mass(model, loops.data, q, motions, loops.of_tree[:n], factor, mass)
            and task_mobility.loop_mobility(mass, motions, jacobian, factor, response, mobility)):
        return REFUSED
    task_mobility.invert_on_range(mobility, directions, sizes, inertia)
    return DONE


def loops_observe_external(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, tau: RATES, known: ACTUATED_OR,
        external: BODY_WRENCHES, settings: SETTINGS, state: COMPLETED[OBSERVED, True],
        motions: COMPLETED[SQUARE, True], estimate: RESULT[RATES]) -> CODE:
    """
    Estimate external forces (nv) at independent coordinates, from the momentum; others are zero.

    Arguments are those of observe_external, known those of loops_independent. motions (nv, nv) is
    the observer's own too, of finite numbers before it begins: N of the last sample.
    """
    loops, n = area.loops_of(work), len(v)
    if not (settings[0] > 0.0 and settings[1] >= 0.0):
        return REFUSED
    along, found = loops.gradient.reshape((4, n)), loops.found[:n * (n + 3)].reshape((n + 3, n))
    mass, matrix, rate = loops.of_tree[:n], loops.of_tree[n:2 * n], loops.of_tree[2 * n:]
    code = area.find_motions(loops, known, False, q, v, found[:n], rate)
    if code != DONE:
        return code
    links = len(loops.links)
    blocks = loops.links.reshape(links * loops.links.shape[1])[:links * BLOCK_WIDTH].reshape(
        (links, BLOCK_WIDTH))
    if not centroidal.momentum_and_drift(model, loops.data, blocks, q, v, loops.rest, external,
                                         mass, matrix, along[0], along[1]):
        return REFUSED
    centroidal.observe_motions(along[0], along[1], found[:n], rate, tau, settings[0], settings[1],
                               motions, found[n:], state, estimate)
    return DONE if finite(estimate) else REFUSED


def loops_velocity_within(
        work: WORK, q: CONFIGURATION, settings: SETTINGS, tasks: TASKS_NUMBER,
        jacobian: TASK_ROWS, wanted: OF_TASKS, damping: RATES, lower: RATES, upper: RATES,
        back: RATES_OR_ZERO, size: SIZE_NUMBER, scratch: RESULT[SCRATCH_MATRIX],
        v: RESULT[RATES]) -> CODE:
    """
    Write the v (nv) of velocity_within with which loops are closed at the end of a step.

    settings are the step, s, and the gain by which gaps of loops fall, 1/s; both above 0. scratch
    is (size, size), size constraints + tasks + 6 nv + 13 at least.
    """
    loops = area.loops_of(work)
    t = closing_of(loops.closing)
    if not (settings[0] > 0.0 and settings[1] > 0.0 and finite(jacobian) and finite(wanted)
            and finite(damping) and finite(back)):
        return REFUSED
    code = velocity.lead(
        loops.workspace, loops.turns, t.size, q, settings[0], settings[1], jacobian, wanted,
        0, damping, lower, upper, back, t.trial, t.trial_f, t.trial_rows, scratch, v)
    return DONE if code == velocity.FOUND else (
        REFUSED if code == velocity.NO_CONFIGURATION else completion.UNSATISFIABLE)


def loops_reach(work: WORK, closure: CLOSURE_NUMBER, q: COMPLETED[CONFIGURATION, True],
                q_rest: CONFIGURATION_OR_NONE, held: FLAGS_OR_NONE,
                within_limits: TRUTH_NUMBER) -> CODE:
    """
    Move q (nq) to the nearest configuration at which targets are reached, and loops are closed.

    closure is the first one of the targets, as loops_move takes it. Coordinates whose held (nv) is
    1 stay; NULL: none. What targets leave free approaches q_rest (nq), if it is not NULL.
    Out of reach, loops are closed and q is near the targets: LIEDYN_NOT_CONVERGED.
    """
    loops = area.loops_of(work)
    machine, t = workspace_of(loops.workspace).machine, closing_of(loops.closing)
    area.let_move(loops, t, held, within_limits != 0)
    n, start = area.count_coordinates(loops), loops.gradient[:len(q)]
    if not is_configuration(machine, q) or (
            len(q_rest) > 0 and not is_configuration(machine, q_rest)):
        return REFUSED
    closing.descend(loops.workspace, loops.closing, q, loops.turns)
    reached = largest_magnitude(t.f) <= STALLED_RESIDUAL
    begin, end = machine.closure_row[closure], len(machine.row_kind)
    if not reached and (begin > 0 or end < len(t.f)):
        closing.close_loops_first(loops.workspace, loops.closing, begin, end, loops.turns,
                                  loops.jacobian[:len(t.f)], start)
    closing.copy_to(t.q, q)
    if reached and len(q_rest) > 0:
        closing.approach_rest(
            loops.workspace, loops.closing, q_rest, loops.turns, STALLED_RESIDUAL,
            loops.change[:n], loops.change[n:2 * n], start, q)
    return DONE if reached else area.TARGET_NOT_REACHED


def loops_move(work: WORK, closure: CLOSURE_NUMBER, pose: POSE_MATRIX) -> CODE:
    """Move the frame (4, 4) in the ground of a closure with it, such as a target of export."""
    machine = workspace_of(area.loops_of(work).workspace).machine
    at, ground = closure, len(machine.kind)
    if machine.frame_link[at] != ground:
        at += len(machine.closure_kind)
    if machine.frame_link[at] != ground:
        return area.NO_GROUND
    if not is_pose(pose[0]):
        return area.NOT_A_POSE
    for i in range(3):
        for j in range(3):
            machine.frame_placement[at, 3 * i + j] = pose[0, i, j]
        machine.frame_placement[at, 9 + i] = pose[0, i, 3]
    return DONE


def loops_inverse_jacobians(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, a: ONE_ORDER,
        external: WRENCHES_OF_ONE_ORDER, tau: RESULT[ONE_ORDER], by_q: RESULT[SQUARE],
        by_v: RESULT[SQUARE], by_a: RESULT[SQUARE]) -> CODE:
    """Write tau (nv), dtau/dq, dtau/dv and dtau/da (nv, nv)."""
    code = area.solve_inverse(work, q, v, a, external, tau)
    if code == DONE:
        code = area.require_derivatives(work, True)
    return code if code != DONE else partials.loop_jacobians(
        model, work, True, q, v, a, external, by_q, by_v, by_a)


def loops_inverse_product(
        work: WORK, q: CONFIGURATION, v: RATES, a: ONE_ORDER, external: WRENCHES_OF_ONE_ORDER,
        dq: RATES, dv: RATES, da: RATES, tau: RESULT[ONE_ORDER], dtau: RESULT[RATES]) -> CODE:
    """Write tau (nv), and its change along dq, dv, da."""
    code = area.solve_inverse(work, q, v, a, external, tau)
    if code == DONE:
        code = area.require_derivatives(work, True)
    return partials.loop_product(work, True, dq, dv, da, dtau[:0], dtau) if code == DONE else code


def loops_inverse_gradient(
        work: WORK, q: CONFIGURATION, v: RATES, a: ONE_ORDER, external: WRENCHES_OF_ONE_ORDER,
        y: RATES, tau: RESULT[ONE_ORDER], by_q: RESULT[RATES], by_v: RESULT[RATES],
        by_a: RESULT[RATES]) -> CODE:
    """Write tau (nv), and the gradient of y . tau, each (nv)."""
    code = area.solve_inverse(work, q, v, a, external, tau)
    if code == DONE:
        code = area.require_derivatives(work, True)
    return partials.loop_gradient(work, True, y, by_q, by_v, by_a) if code == DONE else code


def loops_forward_jacobians(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, tau: ONE_ORDER,
        external: WRENCHES_OF_ONE_ORDER, a: RESULT[ONE_ORDER], by_q: RESULT[SQUARE],
        by_v: RESULT[SQUARE], by_tau: RESULT[SQUARE]) -> CODE:
    """Write a (nv), da/dq, da/dv and da/dtau (nv, nv)."""
    none = vector(as_flags(pointer_of(work)), 0)
    code = area.solve_hybrid(work, q, v, none, a, tau, tau[:0], external)
    if code == DONE:
        code = area.require_derivatives(work, False)
    return code if code != DONE else partials.loop_jacobians(
        model, work, False, q, v, a, external, by_q, by_v, by_tau)


def loops_forward_product(
        work: WORK, q: CONFIGURATION, v: RATES, tau: ONE_ORDER, external: WRENCHES_OF_ONE_ORDER,
        dq: RATES, dv: RATES, dtau: RATES, a: RESULT[ONE_ORDER], da: RESULT[RATES]) -> CODE:
    """Write a (nv), and its change along dq, dv, dtau."""
    none = vector(as_flags(pointer_of(work)), 0)
    code = area.solve_hybrid(work, q, v, none, a, tau, tau[:0], external)
    if code == DONE:
        code = area.require_derivatives(work, False)
    return partials.loop_product(work, False, dq, dv, dtau, da, da[:0]) if code == DONE else code


def loops_forward_gradient(
        work: WORK, q: CONFIGURATION, v: RATES, tau: ONE_ORDER, external: WRENCHES_OF_ONE_ORDER,
        y: RATES, a: RESULT[ONE_ORDER], by_q: RESULT[RATES], by_v: RESULT[RATES],
        by_tau: RESULT[RATES]) -> CODE:
    """Write a (nv), and the gradient of y . a, each (nv)."""
    none = vector(as_flags(pointer_of(work)), 0)
    code = area.solve_hybrid(work, q, v, none, a, tau, tau[:0], external)
    if code == DONE:
        code = area.require_derivatives(work, False)
    return partials.loop_gradient(work, False, y, by_q, by_v, by_tau) if code == DONE else code


def loops_hybrid_jacobians(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, prescribed: FLAGS_OR_NONE,
        a: COMPLETED[ONE_ORDER, True], tau: COMPLETED[ONE_ORDER, False],
        external: WRENCHES_OF_ONE_ORDER, by_q: RESULT[SQUARE], by_v: RESULT[SQUARE],
        by_given: RESULT[SQUARE]) -> CODE:
    """Complete a and tau (nv), and write how the unknowns change (nv, nv)."""
    code = area.solve_hybrid(work, q, v, prescribed, a, tau, tau, external)
    if code == DONE:
        code = area.require_derivatives(work, False)
    return code if code != DONE else partials.loop_jacobians(
        model, work, False, q, v, a, external, by_q, by_v, by_given)


def loops_hybrid_product(
        work: WORK, q: CONFIGURATION, v: RATES, prescribed: FLAGS_OR_NONE,
        a: COMPLETED[ONE_ORDER, True], tau: COMPLETED[ONE_ORDER, False],
        external: WRENCHES_OF_ONE_ORDER, dq: RATES, dv: RATES, given: RATES, da: RESULT[RATES],
        dtau: RESULT[RATES]) -> CODE:
    """Complete a and tau (nv), and write their change along dq, dv, given."""
    code = area.solve_hybrid(work, q, v, prescribed, a, tau, tau, external)
    if code == DONE:
        code = area.require_derivatives(work, False)
    return partials.loop_product(work, False, dq, dv, given, da, dtau) if code == DONE else code


def loops_hybrid_gradient(
        work: WORK, q: CONFIGURATION, v: RATES, prescribed: FLAGS_OR_NONE,
        a: COMPLETED[ONE_ORDER, True], tau: COMPLETED[ONE_ORDER, False],
        external: WRENCHES_OF_ONE_ORDER, y: RATES, by_q: RESULT[RATES], by_v: RESULT[RATES],
        by_given: RESULT[RATES]) -> CODE:
    """Complete a and tau (nv), and write the gradient of y . x, each (nv)."""
    code = area.solve_hybrid(work, q, v, prescribed, a, tau, tau, external)
    if code == DONE:
        code = area.require_derivatives(work, False)
    return partials.loop_gradient(work, False, y, by_q, by_v, by_given) if code == DONE else code
