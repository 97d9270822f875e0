# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The one entry to constrained dynamics (12.15, 12.16, 12.18, 12.21), of one state or many.

All tasks are one kernel, and share what takes long to compile: they differ in what is factored
and in how an order is solved.

Constrained forward and hybrid dynamics at one order (12.15), (12.16).
"""

import math

from liedyn_ros.dynamics.constrained.kernels import closures, order
from liedyn_ros.dynamics.constrained.kernels.position import is_open
from liedyn_ros.dynamics.constrained.kernels.series import is_configuration
from liedyn_ros.dynamics.constrained.kernels.tables import (
    ACTUATION, DEFECT, RANK, REPORT_WIDTH, START, task_of, workspace_of)
from liedyn_ros.dynamics.constrained.kernels.tolerances import CONSISTENT, SINGULAR_ACTUATION
from liedyn_ros.dynamics.constrained.solver.kernels import (
    effort_limits, inverse, least_torque, solution)
from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.model.kernels.configuration import finite


@kernel
def solve_forward(machine, motion, scratch, free, rank, k, last):
    """
    Write coefficient k of accelerations, forces and multipliers.

    scratch.x holds the forces that the motion needs without them. last says that no order follows.
    """
    x, effort, rate, scale = scratch.x, motion.effort[k], motion.rate[k + 1], 1.0 / (k + 1.0)
    for j in range(len(x)):  # without branches
        need, given = x[j], effort[j]
        x[j], effort[j] = given - need if free[j] else need, given if free[j] else need
    solution.solve_constraints(machine, scratch, free, x, scratch.gamma, motion.multiplier[k])
    for j in range(len(x)):
        rate[j] = scale * x[j] if free[j] else rate[j]
    if rank < len(scratch.gamma):
        if k > 0:
            closures.write_jacobian(machine, motion, k)
        solution.take_least_norm(machine, motion, scratch, free, k)
    if not (last and all_set(free)):
        order.complete_order(machine, motion, free, k, last and k == 0)


@kernel
def all_set(free):
    """Return whether all coordinates are free: then the last order is not completed."""
    for j in range(len(free)):
        if not free[j]:
            return False
    return True


HYBRID_TASK, LEAST_FORCE_TASK, LEAST_TORQUE_TASK = range(3)
DONE, REFUSED = 0, -1
MOTION_UNDETERMINED = -2  # the actuators do not determine the motion
OFF_CONSTRAINTS = -3  # the state is not on the constraints
LIMITS_INSUFFICIENT = -4  # the effort limits are not enough


@kernel
def solve_constrained(
        workspace: VECTOR, task: VECTOR, closed: NUMBER, external: CUBE, q: VECTOR, v: VECTOR,
        a: VECTOR, tau: VECTOR, found: VECTOR):
    """
    Run solve_state for a caller from Python, to whom each argument costs time.

    workspace and task are flat arrays of a WORKSPACE and a TASK. a and tau are flat; `parts`
    splits `found`. Returns as solve_state does, and REFUSED where sizes do not fit.
    """
    tables = workspace_of(workspace)
    nv = len(tables.machine.link)
    rows = count_orders(tables, found)
    if not (len(q) == tables.machine.nq[0] and len(v) == nv and len(a) == rows * nv
            and len(tau) == rows * nv):
        return REFUSED
    return solve_state(
        workspace, task, closed, external, q, v, a.reshape((rows, nv)),
        tau.reshape((rows, nv)), *parts(tables, rows, found))


@kernel
def count_orders(tables, found):
    """Return the number of orders in the flat array of results."""
    machine = tables.machine
    width = 2 * len(machine.link) + len(machine.row_size) + 6 * len(machine.closure_kind)
    return (len(found) - REPORT_WIDTH) // max(width, 1)


@kernel
def parts(tables, rows, found):
    """Return a, tau, multipliers, wrenches and report, which follow each other in `found`."""
    nv, m = len(tables.machine.link), len(tables.machine.row_size)
    closed = len(tables.machine.closure_kind)
    second, third = rows * nv, 2 * rows * nv
    fourth = third + rows * m
    end = fourth + rows * closed * 6
    return (found[:second].reshape((rows, nv)), found[second:third].reshape((rows, nv)),
            found[third:fourth].reshape((rows, m)), found[fourth:end].reshape((rows, closed, 6)),
            found[end:])


@kernel
def solve_state(
        workspace: VECTOR, task_array: VECTOR, closed: NUMBER, external: CUBE, q: VECTOR,
        v: VECTOR, given_a: MATRIX, given_tau: MATRIX, a: MATRIX, tau: MATRIX, multipliers: MATRIX,
        wrenches: CUBE, report: VECTOR) -> WHOLE:
    """
    Write the solution of a task: a and tau (order + 1, nv), multipliers and wrenches.

    closed is the largest residual of a constraint accepted; infinity skips the check. HYBRID_TASK
    reads accelerations of prescribed and forces of free coordinates; other tasks read both.
    Wrenches (order + 1, C, 6) act on bodies b, in frames b. Returns DONE; REFUSED for numbers that
    are not finite or too large. OFF_CONSTRAINTS: the state is off the constraints.
    MOTION_UNDETERMINED: the actuators do not determine the motion. LIMITS_INSUFFICIENT: their
    limits are not enough; tau has the nearest efforts, and DEFECT is the part that they leave
    open. Else returns k + 1 for a coordinate k that moves no inertia by itself.
    """
    tables, task = workspace_of(workspace), task_of(task_array)
    kind, free, chosen = task.kind[0], task.free, task.chosen
    machine, motion, space = tables.machine, tables.motion, tables.space
    scratch = tables.by_column if kind == LEAST_FORCE_TASK else tables.by_row
    if not (is_configuration(machine, q) and finite(v) and finite(external)
            and readable(kind == HYBRID_TASK, free, given_a, given_tau)):
        return REFUSED
    frames = len(machine.frame_link) if len(external) else machine.moving_frames[0]
    examined = 2 * len(machine.closure_kind) if closed < math.inf else 0
    order.begin_state(machine, motion, kind == HYBRID_TASK, free, max(frames, examined), q, v,
                      given_a, given_tau)
    if closed < math.inf and is_open(machine, motion, scratch.gamma, q, v, closed):
        return OFF_CONSTRAINTS
    code = factor_task(machine, motion, scratch, space, task)
    if code != DONE:
        return code
    rank, scale = int(scratch.report[RANK]), 1.0
    if kind != HYBRID_TASK:
        closures.write_rates(machine, motion, START, 1.0, scratch.gamma)
        order.note_defect(machine, motion, scratch, START)
    if kind == LEAST_TORQUE_TASK:
        for j in chosen:
            motion.effort[:, j] = 0.0
    for k in range(len(a)):
        code = solve_order(machine, motion, scratch, space, task, external, frames, rank, k,
                           k + 1 == len(a))
        if code != DONE:
            break
        scale *= max(k, 1)
        order.write_order(machine, motion, kind == HYBRID_TASK, k, scale, given_a, a, tau,
                          multipliers, wrenches)
    for k in range(REPORT_WIDTH):
        report[k] = scratch.report[k]
    if code != DONE:
        for j in chosen:
            tau[0, j] = motion.effort[0, j]
        return code
    good = finite(a) and finite(tau) and finite(multipliers)
    return DONE if good else REFUSED


@kernel
def solve_order(machine, motion, scratch, space, task, external, frames, rank, k, last):
    """
    Complete the motion of order k and solve it for a task; last: no order follows.

    Returns as solve_state does.
    """
    kind, free, chosen, weight = task.kind[0], task.free, task.chosen, task.weight
    need = scratch.x if kind == HYBRID_TASK else scratch.y
    if kind == LEAST_TORQUE_TASK:
        need = space.need[k]
    order.advance_order(machine, motion, scratch, external, frames, kind != LEAST_TORQUE_TASK, k,
                        need, last and k == 0)
    if kind == HYBRID_TASK:
        solve_forward(machine, motion, scratch, free, rank, k, last)
        return DONE
    order.note_defect(machine, motion, scratch, k + 1)
    if kind == LEAST_FORCE_TASK:
        inverse.solve_least_force(machine, motion, scratch, free, chosen, weight, k, last)
        return DONE
    if k == 0 and len(task.limit) > 0 and scratch.report[DEFECT] <= CONSISTENT:
        code = hold_limits(machine, motion, scratch, space, task)
        if code != DONE:
            return code
    least_torque.solve_least_torque(machine, motion, scratch, space, free, weight, rank, k)
    closures.gather_wrenches(machine, motion, k)
    return DONE


@kernel
def hold_limits(machine, motion, scratch, space, task):
    """Leave out actuators that stand at a limit, whose forces are known; return as solve_state."""
    held = effort_limits.bound_efforts(machine, motion, scratch, space, task.weight, task.limit)
    if held == 0:
        return DONE
    if held < 0 or not least_torque.factor_actuators(
            machine, space, task.chosen, task.weight, scratch.x):
        return LIMITS_INSUFFICIENT
    return judge_actuation(scratch, least_torque.torque_actuation(
        machine, scratch, space, task.weight))


@kernel
def readable(hybrid, free, a, tau):
    """Return whether the input that a task reads of a and tau (orders, nv) is finite."""
    if not hybrid:
        return finite(a) and finite(tau)
    count = 0
    for k in range(len(a)):
        for j in range(len(free)):
            count += abs(tau[k, j] if free[j] else a[k, j]) < math.inf
    return count == a.size


@kernel
def factor_task(machine, motion, scratch, space, task):
    """Compute the factors common to all orders; return as solve_state does."""
    kind, free, chosen, weight = task.kind[0], task.free, task.chosen, task.weight
    scratch.report[DEFECT] = 0.0
    scratch.report[ACTUATION] = 1.0  # of HYBRID_TASK: no actuator holds anything
    if kind == LEAST_FORCE_TASK:
        solution.write_inertia(machine, motion, scratch)
        if not inverse.factor_passive_columns(machine, motion, scratch, chosen, weight):
            return MOTION_UNDETERMINED
        return judge_actuation(scratch, inverse.force_actuation(machine, motion, scratch, weight))
    code = solution.factor_constraints(machine, motion, scratch, free, task.most[0],
                                       kind != HYBRID_TASK)
    if code != DONE or kind == HYBRID_TASK:
        return code
    least_torque.write_null_space(machine, scratch, space, free)
    for j in range(len(scratch.x)):
        scratch.x[j] = 0.0  # none stands at a limit
    if not least_torque.factor_actuators(machine, space, chosen, weight, scratch.x):
        return MOTION_UNDETERMINED
    return judge_actuation(scratch, least_torque.torque_actuation(machine, scratch, space, weight))


@kernel
def judge_actuation(scratch, condition):
    """Report the inverse condition number of the actuation; return whether actuators hold."""
    scratch.report[ACTUATION] = condition
    return DONE if condition > SINGULAR_ACTUATION else MOTION_UNDETERMINED


@long_kernel
def solve_states(
        workspace: VECTOR, task: VECTOR, closed: NUMBER, external: ARRAY4, q: MATRIX, v: MATRIX,
        a: CUBE, tau: CUBE, multipliers: CUBE, wrenches: ARRAY4, report: MATRIX):
    """
    Run solve_state on each state, in place; external may have no bodies.

    Returns the first state that was refused, their number if none, and the code.
    """
    for s in range(len(q)):
        code = solve_state(workspace, task, closed, external[s], q[s], v[s], a[s], tau[s], a[s],
                           tau[s], multipliers[s], wrenches[s], report[s])
        if code != DONE:
            return s, code
    return len(q), DONE
