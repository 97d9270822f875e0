# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
Functions of the C library for closed loops, on pointers, by Python's kernels.

work is a work area (kernels/loops.py). Returns DONE or a code of the kernels.
"""

import math

from liedyn_ros.dynamics.constrained.kernels.position import closure_residuals
from liedyn_ros.dynamics.constrained.kernels.tables import (
    REPORT_WIDTH, task_of, workspace_of)
from liedyn_ros.dynamics.constrained.kernels.tolerances import CLOSED_STATE
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.dynamics.constrained.tracking.kernels.completion import complete_accelerations
from liedyn_ros.dynamics.constrained.tracking.kernels.tracking import (
    REPORT_WIDTH as SAMPLE_WIDTH)
from liedyn_ros.dynamics.time_derivatives.kernels.series import MAX_ORDER
from liedyn_ros.export.kernels import loops as area
from liedyn_ros.export.kernels.arrays import is_work_area
from liedyn_ros.export.kernels.buffers import (
    are_buffers, are_of_jacobians, are_tasks, is_closing, is_point, is_tracker)
from liedyn_ros.export.kernels.machine import is_machine
from liedyn_ros.jit.pointers import COUNT, FLAGS, given, NUMBERS, vector

DONE, REFUSED = solver.DONE, solver.REFUSED


def loops_accepts(work: NUMBERS, count: COUNT, nq: COUNT, nv: COUNT, bodies: COUNT,
                  constraints: COUNT, closures: COUNT) -> COUNT:
    """Return 0 where a work area is that of a machine of these sizes: no index leads out of it."""
    if not is_work_area(work, count):
        return 1
    loops = area.loops_of(vector(work, 1))
    sizes, workspace, tracker = loops.sizes, loops.workspace, loops.tracker
    if not (len(sizes) == area.SIZES and 0 <= sizes[area.ORDER] <= MAX_ORDER
            and sizes[area.CONSTRAINTS] == constraints and sizes[area.CLOSURES] == closures
            and sizes[area.BODIES] == bodies and 0 <= sizes[area.USUAL_RANK] <= constraints
            and is_machine(workspace, nq, nv, bodies, constraints, closures)
            and are_buffers(workspace, sizes[area.ORDER] + 2, bodies)
            and are_tasks(loops.hybrid, loops.inverse, loops.product, nv, constraints,
                          len(workspace_of(workspace).machine.kind))
            and is_closing(loops.closing, nq, nv, constraints)):
        return 1
    if len(tracker) > 0 and not (
            is_tracker(tracker, nq, nv, constraints, closures)
            and is_point(loops.good, tracker, nq, nv, constraints)
            and is_point(loops.near, tracker, nq, nv, constraints)
            and is_point(loops.trial, tracker, nq, nv, constraints)):
        return 1
    rows = sizes[area.ORDER] + 1
    good = (len(loops.actuated) == nv and len(loops.passive) == nv and len(loops.rest) == nv
            and len(loops.ones) == constraints and len(loops.turns) == closures
            and len(loops.a) == rows * nv and len(loops.tau) == rows * nv
            and len(loops.external) == bodies * rows * 6
            and len(loops.multipliers) == rows * constraints
            and len(loops.wrenches) == rows * closures * 6
            and len(loops.jacobian) == constraints * nv and len(loops.report) == REPORT_WIDTH
            and len(loops.change) == 2 * nv + constraints and len(loops.gradient) == 4 * nv
            and len(loops.still) == constraints and len(loops.sample) == SAMPLE_WIDTH
            and are_of_jacobians(loops, nv, constraints)
            and len(loops.lower) == nv and len(loops.upper) == nv)
    return 0 if good else 1


def loops_size(work: NUMBERS, what: COUNT) -> COUNT:
    """Return a size of a work area, by its column."""
    return area.loops_of(vector(work, 1)).sizes[what]


def loops_hybrid(work: NUMBERS, order: COUNT, q: NUMBERS, v: NUMBERS, prescribed: FLAGS,
                 a: NUMBERS, tau: NUMBERS, all_tau: NUMBERS, external: NUMBERS, found: NUMBERS
                 ) -> COUNT:
    """
    Complete a (order + 1, nv) in its place, and write all_tau unless NULL, which may be tau.

    NULL prescribes nothing.
    """
    loops = area.loops_of(vector(work, 1))
    nv, rows = area.count_coordinates(loops), order + 1
    task, unprescribed = task_of(loops.hybrid), True
    known_a, known_tau = vector(a, rows * nv), vector(tau, rows * nv)
    for j in range(nv):
        free = not given(prescribed) or not vector(prescribed, nv)[j]
        unprescribed = unprescribed and free
        task.free[j] = free
        for k in range(rows):
            loops.a[k * nv + j] = 0.0 if free else known_a[k * nv + j]
            loops.tau[k * nv + j] = known_tau[k * nv + j] if free else 0.0
    return area.solve_task(work, rows, False, unprescribed, q, v, a, all_tau, external, found)


def loops_inverse(work: NUMBERS, order: COUNT, q: NUMBERS, v: NUMBERS, a: NUMBERS, tau: NUMBERS,
                  external: NUMBERS, found: NUMBERS) -> COUNT:
    """Write tau (order + 1, nv) of the actuated coordinates, zero elsewhere."""
    loops = area.loops_of(vector(work, 1))
    nv, rows = area.count_coordinates(loops), order + 1
    motion = vector(a, rows * nv)
    for i in range(rows * nv):
        loops.a[i], loops.tau[i] = motion[i], 0.0
    return area.solve_task(work, rows, True, True, q, v, a, tau, external, found)


def loops_forces(work: NUMBERS, order: COUNT, multipliers: NUMBERS, wrenches: NUMBERS) -> COUNT:
    """Write multipliers (order + 1, m) and wrenches (order + 1, C, 6) of the last solution."""
    loops = area.loops_of(vector(work, 1))
    count, width = loops.sizes[area.CONSTRAINTS], 6 * loops.sizes[area.CLOSURES]
    for i in range((order + 1) * count if given(multipliers) else 0):
        vector(multipliers, i + 1)[i] = loops.multipliers[i]
    for i in range((order + 1) * width if given(wrenches) else 0):
        vector(wrenches, i + 1)[i] = loops.wrenches[i]
    return DONE


def loops_residual(work: NUMBERS, q: NUMBERS, residual: NUMBERS, jacobian: NUMBERS) -> COUNT:
    """Write how far constraints are open (m,), and its derivative (m, nv)."""
    loops = area.loops_of(vector(work, 1))
    nv, count = area.count_coordinates(loops), loops.sizes[area.CONSTRAINTS]
    loops.turns[:] = math.nan
    rows = loops.jacobian.reshape((count, nv))
    good = closure_residuals(
        loops.workspace, vector(q, workspace_of(loops.workspace).machine.nq[0]), loops.turns,
        vector(residual, count), rows)
    for i in range(count * nv if given(jacobian) else 0):
        vector(jacobian, i + 1)[i] = loops.jacobian[i]
    return DONE if good else REFUSED


def loops_complete(work: NUMBERS, order: COUNT, q: NUMBERS, v: NUMBERS, known: FLAGS, a: NUMBERS
                   ) -> COUNT:
    """
    Complete a (order + 1, nv) by the constraints; a NULL v is at rest, known NULL the actuated.

    At rest A a = 0, so a may be a velocity.
    """
    loops = area.loops_of(vector(work, 1))
    nv, count = area.count_coordinates(loops), 0
    motion = vector(a, (order + 1) * nv)
    for j in range(nv):
        if not (vector(known, nv)[j] if given(known) else loops.actuated[j] != 0):
            loops.passive[count] = j
            count += 1
            for k in range(order + 1):
                motion[k * nv + j] = 0.0
    rates = vector(v, nv) if given(v) else loops.rest
    return complete_accelerations(
        loops.workspace, loops.passive[:count], loops.ones, CLOSED_STATE,
        vector(q, workspace_of(loops.workspace).machine.nq[0]), rates,
        motion.reshape((order + 1, nv)))
