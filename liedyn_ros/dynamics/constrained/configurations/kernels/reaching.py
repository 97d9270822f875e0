# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Inverse kinematics: a start on its way to the targets, and towards a rest posture (12.31).

Targets are closures of the machine with the ground, beside those of its loops. Rest postures are
approached within the motions that the targets leave.
"""

import math

from liedyn_ros.dynamics.constrained.configurations.kernels.closing import (
    begin_closing, CLOSED, closing_of, continue_closing, EVALUATE, write_moving,
    write_normal_matrix, write_trial)
from liedyn_ros.dynamics.constrained.kernels.position import (
    closure_residuals, largest_magnitude)
from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import NUMBER, VECTOR, WHOLE
from liedyn_ros.linear_algebra.kernels.elimination import solve_by_elimination
from liedyn_ros.model.kernels import configuration

POSTURE_STEPS = 60  # steps towards a rest posture
LONGEST_STEP, SHORTEST_STEP = 0.3, 1e-5  # of such a step, rad or m; a shorter one ends them
# Of loops beside targets out of reach, a weight w leaves 1 / w^2 of what is least, and rounding in
# the normal matrix w^2 eps: least together at eps^-1/4. It grows to that in so many steps.
LOOPS_FIRST, STEPS_TO_LOOPS = 2.0**13, 4
POSTURE_DAMPING = 1e-10  # of the largest diagonal entry: what is free is free beside it


@long_kernel
def descend(workspace: VECTOR, tables: VECTOR, start: VECTOR, turns: VECTOR):
    """
    Go from a start (nq,) to the nearest configuration at which residuals are least.

    It is left in the tables, with its residuals. turns (C,) is a scratch buffer.
    """
    begin_closing(workspace, tables, start)
    t, command = closing_of(tables), EVALUATE
    while command == EVALUATE:
        turns[:] = math.nan
        if not closure_residuals(workspace, t.trial, turns, t.trial_f, t.trial_rows):
            t.trial_f[:] = math.inf
        command = continue_closing(workspace, tables)
    return CLOSED


@long_kernel
def close_loops_first(workspace: VECTOR, tables: VECTOR, begin: WHOLE, end: WHOLE, turns: VECTOR,
                      usual: VECTOR, start: VECTOR):
    """
    Go from the configuration in the tables to one that closes loops, near the targets.

    Rows from begin to end are of targets, out of reach. usual (m,), start (nq,) and turns (C,) are
    scratch buffers.
    """
    t = closing_of(tables)
    copy_to(t.size, usual)
    for step in range(STEPS_TO_LOOPS + 1):
        for r in range(len(usual)):
            if begin <= r < end:
                t.size[r] = t.size[r] if step < STEPS_TO_LOOPS else math.inf  # the loops alone
            elif step < STEPS_TO_LOOPS:
                t.size[r] /= LOOPS_FIRST**(1.0 / STEPS_TO_LOOPS)
        copy_to(t.q, start)
        descend(workspace, tables, start, turns)
    copy_to(usual, t.size)


@long_kernel
def approach_rest(
        workspace: VECTOR, tables: VECTOR, rest: VECTOR, turns: VECTOR, limit: NUMBER,
        away: VECTOR, free: VECTOR, start: VECTOR, q: VECTOR):
    """
    Move q (nq,), at which all is within a limit, towards a rest posture while all stays so.

    Its distance from rest (nq,) falls with each step along the motions that rows leave free. away
    and free (nv,) and start (nq,) are scratch buffers.
    """
    machine, t, longest = workspace_of(workspace).machine, closing_of(tables), LONGEST_STEP
    descend(workspace, tables, q, turns)
    for _ in range(POSTURE_STEPS):
        configuration.difference(machine.kind, machine.qi, machine.vi, q, rest, away)
        before = distance_from_rest(t, away)
        write_free_part(machine, t, away, free)
        most = largest_magnitude(free)
        if not most > SHORTEST_STEP:
            break
        for j in range(len(free)):
            t.step[j] = free[j] * min(1.0, longest / most)
        write_trial(machine, t)
        copy_to(t.trial, start)
        descend(workspace, tables, start, turns)
        configuration.difference(machine.kind, machine.qi, machine.vi, t.q, rest, away)
        if largest_magnitude(t.f) <= limit and distance_from_rest(t, away) < before:
            copy_to(t.q, q)
        else:
            longest *= 0.25
            if longest < SHORTEST_STEP:
                break
            descend(workspace, tables, q, turns)


@kernel
def copy_to(values, out):
    """Write values into another array."""
    for i in range(len(values)):
        out[i] = values[i]


@kernel
def distance_from_rest(t, away):
    """Return the square of a distance of the coordinates that move."""
    total = 0.0
    for j in range(len(away)):
        if t.free[j] != 0:
            total += away[j] * away[j]
    return total


@kernel
def write_free_part(machine, t, away, free):
    """Write the part of a displacement (nv,) that rows leave free, within limits (12.64)."""
    count = write_moving(machine, t, away)
    most = write_normal_matrix(t, count)
    for i in range(count):
        t.normal[(count + 1) * i] += POSTURE_DAMPING * max(most, POSTURE_DAMPING)
        t.right[i] = 0.0
    for r in range(len(t.f)):
        total = 0.0
        for i in range(count):
            total += t.rows[r, t.moving[i]] * away[t.moving[i]]
        for i in range(count):
            t.right[i] += t.rows[r, t.moving[i]] * total
    solve_by_elimination(t.normal[:count * count], t.right[:count])
    free[:] = 0.0
    for i in range(count):
        free[t.moving[i]] = away[t.moving[i]] - t.right[i]
