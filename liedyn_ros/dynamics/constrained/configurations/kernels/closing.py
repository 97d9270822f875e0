# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Starts of an assembly and of inverse kinematics: to constraints, targets and rest (12.31).

It stops for each trial configuration, whose residuals and rows the caller writes. So those of a
user's functions may come from Python. Residuals are compared with the sizes of their rows.

Inverse kinematics: a start on its way to the targets, and towards a rest posture (12.31). Targets
are closures of the machine with the ground, beside those of its loops. Rest postures are
approached within the motions that the targets leave.
"""

import math

from liedyn_ros.dynamics.constrained.kernels import position
from liedyn_ros.dynamics.constrained.kernels.position import closure_residuals, largest_magnitude
from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_CONFIGURATION, STALLED_RESIDUAL)
from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.linear_algebra.kernels.elimination import solve_by_elimination
from liedyn_ros.model.kernels import configuration

MAX_TRIALS = 200  # of one start
FIRST_DAMPING, LEAST_DAMPING, LARGEST_DAMPING = 1e-3, 1e-15, 1e8  # of the largest diagonal entry
LEAST_SCALE = 1e-12  # of that entry
LEAST_GAIN = 1e-6  # part of the cost, below which a minimum is one
CLOSED, EVALUATE = 0, 1  # how a call ends: it has come to an end, or wants residuals of the trial
STEP_DAMPING, COST, TRIAL_COUNT, CLOSING_WIDTH = range(4)  # columns of numbers

CLOSING = Bundle(
    'Closing',
    numbers=VECTOR,  # (CLOSING_WIDTH,)
    free=INTEGERS,  # (nv,) 1 where a coordinate moves
    lower=VECTOR, upper=VECTOR,  # (nv,) position limits of those that move, rad or m
    size=VECTOR,  # (m,) of the rows
    q=VECTOR, f=VECTOR, rows=MATRIX,  # (nq,), (m,), (m, nv) where it is; these are compared
    trial=VECTOR, trial_f=VECTOR, trial_rows=MATRIX,  # the same of the next configuration
    normal=VECTOR, right=VECTOR, step=VECTOR,  # (nv nv,), (nv,), (nv,)
    moving=INTEGERS)  # (nv,) the coordinates of a step

closing_of = CLOSING.view


@kernel
def begin_closing(workspace: VECTOR, tables: VECTOR, q: VECTOR):
    """Take a configuration q (nq,), within limits: the first trial."""
    machine, t = workspace_of(workspace).machine, closing_of(tables)
    t.numbers[STEP_DAMPING], t.numbers[COST], t.numbers[TRIAL_COUNT] = FIRST_DAMPING, math.inf, 0.0
    for i in range(len(q)):
        t.q[i] = t.trial[i] = q[i]
    for j in range(len(t.step)):
        if has_limit(t, j):
            at = machine.position_at[j]
            t.trial[at] = min(max(q[at], t.lower[j]), t.upper[j])


@kernel
def continue_closing(workspace: VECTOR, tables: VECTOR) -> WHOLE:
    """Use residuals and rows of the trial; return EVALUATE, or CLOSED where t.q is the end."""
    machine, t = workspace_of(workspace).machine, closing_of(tables)
    numbers, cost = t.numbers, 0.0
    for r in range(len(t.size)):
        t.trial_f[r] /= t.size[r]
        cost += t.trial_f[r] * t.trial_f[r]
        for j in range(len(t.step)):
            t.trial_rows[r, j] /= t.size[r]
    if numbers[TRIAL_COUNT] == 0.0:
        accept_trial(t, cost)
    elif cost < numbers[COST]:
        gain = 1.0 - cost / numbers[COST]
        accept_trial(t, cost)
        numbers[STEP_DAMPING] = max(0.1 * numbers[STEP_DAMPING], LEAST_DAMPING)
        if gain < LEAST_GAIN and cost > STALLED_RESIDUAL * STALLED_RESIDUAL:
            return CLOSED  # a minimum that is not closed
    else:
        numbers[STEP_DAMPING] *= 10.0
        if numbers[STEP_DAMPING] > LARGEST_DAMPING:
            return CLOSED
    if position.largest_magnitude(t.f) <= CLOSED_CONFIGURATION or (
            numbers[TRIAL_COUNT] >= MAX_TRIALS):
        return CLOSED
    numbers[TRIAL_COUNT] += 1.0
    write_damped_step(machine, t)
    write_trial(machine, t)
    return EVALUATE


@kernel
def accept_trial(t, cost):
    """Go to the trial."""
    t.numbers[COST] = cost
    for i in range(len(t.q)):
        t.q[i] = t.trial[i]
    for r in range(len(t.f)):
        t.f[r] = t.trial_f[r]
        for j in range(len(t.step)):
            t.rows[r, j] = t.trial_rows[r, j]


@kernel
def write_trial(machine, t):
    """Write the configuration a step further, which ends at the limits."""
    for j in range(len(t.step)):
        if has_limit(t, j):
            here = t.q[machine.position_at[j]]
            t.step[j] = min(max(here + t.step[j], t.lower[j]), t.upper[j]) - here
    configuration.integrate(machine.kind, machine.qi, machine.vi, t.q, t.step, t.trial)


@kernel
def write_damped_step(machine, t):
    """Write the damped step (nv,) of the coordinates that move, none longer than pi."""
    for j in range(len(t.step)):  # down the slope of half the cost
        t.step[j] = 0.0
        for r in range(len(t.f)):
            t.step[j] -= t.rows[r, j] * t.f[r]
    count = write_moving(machine, t, t.step)
    most = write_normal_matrix(t, count)
    for i in range(count):
        t.normal[(count + 1) * i] += t.numbers[STEP_DAMPING] * max(most, LEAST_SCALE)
        t.right[i] = -t.step[t.moving[i]]
    solve_by_elimination(t.normal[:count * count], t.right[:count])
    longest = max(1.0, position.largest_magnitude(t.right[:count]) / math.pi)
    t.step[:] = 0.0
    for i in range(count):
        t.step[t.moving[i]] = -t.right[i] / longest


@kernel
def write_normal_matrix(t, count):
    """Write rows^T rows of the coordinates that move; return the largest diagonal entry."""
    t.normal[:count * count] = 0.0
    for r in range(len(t.f)):
        for i in range(count):
            entry = t.rows[r, t.moving[i]]
            if entry != 0.0:
                for k in range(i + 1):
                    t.normal[count * i + k] += entry * t.rows[r, t.moving[k]]
    most = 0.0
    for i in range(count):
        most = max(most, t.normal[(count + 1) * i])
        for k in range(i):
            t.normal[count * k + i] = t.normal[count * i + k]
    return most


@kernel
def write_moving(machine, t, towards):
    """List the coordinates that a direction (nv,) does not take off limits; return how many."""
    count = 0
    for j in range(len(towards)):
        moves = t.free[j] != 0
        if moves and has_limit(t, j):
            here = t.q[machine.position_at[j]]
            moves = not ((here <= t.lower[j] and towards[j] < 0.0)
                         or (here >= t.upper[j] and towards[j] > 0.0))
        if moves:
            t.moving[count] = j
            count += 1
    return count


@kernel
def has_limit(t, j):
    """Return whether a coordinate has a position limit."""
    return t.lower[j] > -math.inf or t.upper[j] < math.inf


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
