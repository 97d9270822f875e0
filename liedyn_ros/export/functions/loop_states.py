# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
Functions of the C library for files of closed loops, tracking and starts, on pointers.

work is a work area (kernels/loops.py). They return DONE or a code of the kernels.
"""

import math

from liedyn_ros.dynamics.constrained.configurations.kernels.closing import (
    closing_of, descend, TRIAL_COUNT as STEPS)
from liedyn_ros.dynamics.constrained.kernels.position import closure_residuals, largest_magnitude
from liedyn_ros.dynamics.constrained.kernels.series import is_configuration
from liedyn_ros.dynamics.constrained.kernels.tables import REPORT_WIDTH, workspace_of
from liedyn_ros.dynamics.constrained.kernels.tolerances import CLOSED_STATE, STALLED_RESIDUAL
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.dynamics.constrained.tracking.kernels import tracking
from liedyn_ros.dynamics.constrained.tracking.kernels.tracking import (
    TRACKING_REPORT_WIDTH as SAMPLE_WIDTH)
from liedyn_ros.dynamics.time_derivatives.kernels.series import MAX_ORDER
from liedyn_ros.export.kernels import loops as area
from liedyn_ros.export.kernels.arrays import is_work_area
from liedyn_ros.export.kernels.buffers import (
    are_buffers, are_of_jacobians, are_tasks, is_closing, is_point, is_tracker)
from liedyn_ros.export.kernels.loops import write_random
from liedyn_ros.export.kernels.machine import is_machine
from liedyn_ros.jit.pointers import as_pointer, COUNT, FLAGS, NUMBERS, vector
from liedyn_ros.model.kernels.kinds import NQ_OF_KIND, NV_OF_KIND

DONE, REFUSED, OPEN = solver.DONE, solver.REFUSED, solver.OFF_CONSTRAINTS


def loops_accepts(work: NUMBERS, count: COUNT, nq: COUNT, nv: COUNT, bodies: COUNT,
                  constraints: COUNT, closures: COUNT) -> COUNT:
    """Return 0 where a work area is that of a machine of these sizes: no index leads out of it."""
    if not is_work_area(work, count):
        return 1
    loops = area.loops_of(vector(work, 1))
    sizes, workspace, tracker = loops.sizes, loops.workspace, loops.tracker
    if not (len(sizes) == area.SIZES and 0 <= sizes[area.LOOP_ORDER] <= MAX_ORDER
            and sizes[area.CONSTRAINT_COUNT] == constraints and sizes[area.CLOSURES] == closures
            and sizes[area.BODIES] == bodies and 0 <= sizes[area.LOOP_RANK] <= constraints
            and is_machine(workspace, nq, nv, bodies, constraints, closures)
            and are_buffers(workspace, sizes[area.LOOP_ORDER] + 2, bodies)
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
    rows = sizes[area.LOOP_ORDER] + 1
    good = (len(loops.actuated) == nv and len(loops.passive) == nv and len(loops.rest) == nv
            and len(loops.ones) == constraints and len(loops.turns) == closures
            and len(loops.a) == rows * nv and len(loops.tau) == rows * nv
            and len(loops.external) == bodies * rows * 6
            and len(loops.multipliers) == rows * constraints
            and len(loops.wrenches) == rows * closures * 6
            and len(loops.jacobian) == constraints * nv and len(loops.report) == REPORT_WIDTH
            and len(loops.answer) == area.ANSWER
            and len(loops.change) == 2 * nv + constraints and len(loops.gradient) == 4 * nv
            and len(loops.still) == constraints and len(loops.sample) == SAMPLE_WIDTH
            and are_of_jacobians(loops, nv, constraints)
            and len(loops.lower) == nv and len(loops.upper) == nv)
    return 0 if good else 1


def loops_size(work: NUMBERS, what: COUNT) -> COUNT:
    """Return a size of a work area, by its column."""
    return area.loops_of(vector(work, 1)).sizes[what]


def loops_forces(work: NUMBERS, order: COUNT, multipliers: NUMBERS, wrenches: NUMBERS) -> COUNT:
    """Write multipliers (order + 1, m) and wrenches (order + 1, C, 6) of the last solution."""
    loops = area.loops_of(vector(work, 1))
    count, width = loops.sizes[area.CONSTRAINT_COUNT], 6 * loops.sizes[area.CLOSURES]
    for i in range((order + 1) * count if as_pointer(multipliers) else 0):
        vector(multipliers, i + 1)[i] = loops.multipliers[i]
    for i in range((order + 1) * width if as_pointer(wrenches) else 0):
        vector(wrenches, i + 1)[i] = loops.wrenches[i]
    return DONE


def loops_measured(work: NUMBERS, joint: COUNT) -> COUNT:
    """Return the coordinate of a measured joint, or for -1 how many there are; -1 for none."""
    loops = area.loops_of(vector(work, 1))
    if len(loops.tracker) == 0:
        return -1
    measured = tracking.tracker_of(loops.tracker).at_v
    return measured[joint] if joint >= 0 else len(measured)


def loops_track(work: NUMBERS, positions: NUMBERS, rates: NUMBERS, q: NUMBERS, v: NUMBERS,
                found: NUMBERS) -> COUNT:
    """
    Write q and, with rates, v, and the report of a sample, from the last one on.

    Returns tracking.DONE, BLOCKED, DISAGREEING or UNDECIDED.
    """
    loops, out = area.loops_of(vector(work, 1)), vector(found, tracking.TRACKING_REPORT_WIDTH)
    nv, nq = area.count_coordinates(loops), workspace_of(loops.workspace).machine.nq[0]
    count = len(tracking.tracker_of(loops.tracker).at_v)
    known = vector(rates, count if as_pointer(rates) else 0)
    code = tracking.complete_sample(
        loops.workspace, loops.tracker, loops.good, loops.near, loops.trial, tracking.NEXT,
        vector(positions, count), known, vector(q, nq), vector(v, nv if as_pointer(rates) else 0),
        loops.sample)
    loops.sample[tracking.TIME_TO_SINGULARITY] = math.inf
    if code == tracking.DONE and as_pointer(rates):
        tracking.complete_sample(
            loops.workspace, loops.tracker, loops.good, loops.near, loops.trial, tracking.LOOK,
            known, known, vector(q, nq), loops.a[:nv], loops.sample)
    for k in range(tracking.TRACKING_REPORT_WIDTH):
        out[k] = loops.sample[k]
    return code


def loops_restart(work: NUMBERS, q: NUMBERS) -> COUNT:
    """Let the next sample go on from a closed configuration; return OFF_CONSTRAINTS if open."""
    loops = area.loops_of(vector(work, 1))
    nv, nq = area.count_coordinates(loops), workspace_of(loops.workspace).machine.nq[0]
    here, residual = vector(q, nq), loops.change[:len(loops.ones)]
    loops.turns[:] = math.nan
    if not closure_residuals(loops.workspace, here, loops.turns, residual,
                             loops.jacobian.reshape((len(loops.ones), nv))):
        return REFUSED
    if not largest_magnitude(residual) <= CLOSED_STATE:
        return OPEN
    at, begun = tracking.tracker_of(loops.tracker).at_q, tracking.tracker_of(loops.tracker).q
    positions, none = loops.a[:len(at)], loops.rest[:0]
    tracking.copy_point(here, begun)
    for i in range(len(at)):
        positions[i] = here[at[i]]
    return tracking.complete_sample(
        loops.workspace, loops.tracker, loops.good, loops.near, loops.trial, tracking.FIRST,
        positions, none, begun, none, loops.sample)


def loops_assemble(work: NUMBERS, attempt: COUNT, start: NUMBERS, held: FLAGS, limited: COUNT,
                   q: NUMBERS, found: NUMBERS) -> COUNT:
    """
    Write where a start leads, and its largest residual, that constraint and the steps (3,).

    Attempt 0 is from the start, NULL for the neutral configuration; each other from a random one,
    whose held links are those of the start. OFF_CONSTRAINTS: it is not closed.
    """
    loops = area.loops_of(vector(work, 1))
    machine, t = workspace_of(loops.workspace).machine, closing_of(loops.closing)
    nq, nv, count = machine.nq[0], len(machine.link), len(loops.ones)
    end, out = vector(q, nq), vector(found, 3)
    for i in range(len(machine.kind)):
        kind, at = machine.kind[i], machine.qi[i]
        for k in range(NQ_OF_KIND[kind]):
            end[at + k] = vector(start, nq)[at + k] if as_pointer(start) else (
                1.0 if k == NQ_OF_KIND[kind] - 1 >= NV_OF_KIND[kind] else 0.0)
    if not is_configuration(machine, end):
        return REFUSED
    area.let_move(loops, t, vector(held, nv if as_pointer(held) else 0), limited != 0)
    if attempt > 0:
        for j in range(nv):
            loops.passive[j] = 1 - t.free[j]
        write_random(machine, loops.passive, loops.lower, loops.upper, attempt, end)
    descend(loops.workspace, loops.closing, end, loops.turns)
    out[0], out[1], out[2] = 0.0, -1.0, t.numbers[STEPS]
    for r in range(count):
        if not abs(t.f[r]) <= out[0]:
            out[0], out[1] = abs(t.f[r]), r
    for i in range(nq):
        end[i] = t.q[i]
    return DONE if out[0] <= STALLED_RESIDUAL else OPEN
