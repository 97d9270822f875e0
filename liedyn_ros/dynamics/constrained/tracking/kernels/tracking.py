# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
All joints from the measured ones: a sample by continuation (12.32), without allocation.

A point is a closed configuration with the singular values of how the other joints move the
constraints there. From one point the others follow along the motion that the loops allow, then by
Newton's method. A step whose correction is not small against its motion is halved, so that the
configuration stays on its branch.
"""

import math

from liedyn_ros.dynamics.constrained.kernels import position
from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_STEP, MIN_INVERSE_CONDITION, RANK_TOLERANCE, REDUNDANT, STALLED_RESIDUAL)
from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, VECTOR, WHOLE
from liedyn_ros.linear_algebra.kernels.orthogonal import (
    inner_product, orthogonalize_columns, orthonormalize_rows, write_identity)
from liedyn_ros.model.kernels import configuration

MAX_STEP = 0.5  # rad or m that an unmeasured joint may move in one step
MAX_CORRECTION = 0.3  # of that motion
MIN_STEP = 1.0 / 1024  # of the motion between two samples
NEGLIGIBLE = 1e-6  # correction that leads to no other branch, rad or m
MAX_CORRECTIONS = 50
DIFFERENCE = 1e-6  # s, for the rate of the inverse condition number

FIRST, NEXT, LOOK, RESUME = range(4)  # requests to complete_sample
DONE, EVALUATE, BLOCKED, DISAGREEING, UNDECIDED = range(5)  # how it ends
ARRIVED, LOST, AGAIN = range(3)
# Columns of a report
(CONDITION_OF_OTHERS, IS_REDUNDANT, TIME_TO_SINGULARITY, PATH_FRACTION, WORST_MEASURED,
 MEASURED_ERROR, TRACKING_REPORT_WIDTH) = range(7)
# Columns of progress
COMMAND, PATH_DONE, PATH_STEP, LARGEST_CORRECTION, CORRECTION_COUNT, PROGRESS_WIDTH = range(6)

# State of a tracker, and scratch buffers, for n measured coordinates and m constraints.
TRACKER = Bundle(
    'Tracker',
    scale=VECTOR,  # (m,) that makes rows of length one
    at_q=INTEGERS, at_v=INTEGERS,  # (n,) measured coordinates
    turns=INTEGERS,  # (n,) 1 where an encoder may start again after a turn
    others=INTEGERS,  # coordinates that follow
    agreement=VECTOR,  # (1,) largest error of redundant measurements
    nearest=VECTOR,  # (C,) whole turns of helical closures
    progress=VECTOR, way=VECTOR, rates=VECTOR,  # (PROGRESS_WIDTH,), (n,), (n,)
    change=VECTOR,  # (n,)
    f=VECTOR, left=VECTOR,  # (m,)
    step=VECTOR, q=VECTOR)  # (nv,), (nq,)

# A point. Rows of slope are the columns of the Jacobian of the others, made orthogonal by the
# rows of mix; size has their lengths. Rows of excess are the columns of measured joints less the
# part that the others can close, where more joints are measured than needed.
TRACKING_STATE = Bundle(
    'Point',
    q=VECTOR, rows=MATRIX,  # (nq,), (m, nv) scaled
    slope=MATRIX, mix=MATRIX, size=VECTOR,  # (others, m), (others, others), (others,)
    excess=MATRIX, excess_mix=MATRIX, excess_size=VECTOR,  # (n, m), (n, n), (n,)
    report=VECTOR)  # (TRACKING_REPORT_WIDTH,)

tracker_of, point_of = TRACKER.view, TRACKING_STATE.view


@kernel
def complete_sample(
        workspace: VECTOR, tables: VECTOR, good: VECTOR, near: VECTOR, trial: VECTOR,
        command: WHOLE, positions: VECTOR, rates: VECTOR, q: VECTOR, v: VECTOR, report: VECTOR
        ) -> WHOLE:
    """
    Complete a sample: write q and, where rates (n,) are given, v, and `report`.

    FIRST takes a closed configuration q as it is, but where joints are redundant. NEXT moves from
    the point `good` to the positions (n,). Both replace `good` if they are DONE. BLOCKED: no
    motion leads there. DISAGREEING: redundant measurements are off. UNDECIDED: the measured joints
    do not decide the others. LOOK writes the time until the inverse condition number is
    zero. EVALUATE: the caller adds residuals and rows of functions to `tables` and `trial`, and
    calls RESUME.
    """
    machine, t = workspace_of(workspace).machine, tracker_of(tables)
    here, there, progress = point_of(near), point_of(trial), t.progress
    if command == RESUME:
        command = int(progress[COMMAND])
    else:
        if not begin_sample(machine, t, good, near, trial, command, positions, rates, q, v):
            return blocked(t, near, report)
        if not evaluate_loops(workspace, machine, t, there):
            return EVALUATE
    while True:
        if command == LOOK:
            report[TIME_TO_SINGULARITY] = time_left(t, here, there, v)
            return DONE
        if command == FIRST:
            write_identity(there.mix)
            linearize(t, there)
            copy_point(trial, near)
            progress[PATH_DONE], command = 1.0, NEXT
            progress[COMMAND] = NEXT
            moving = there.report[IS_REDUNDANT] == 0.0 or begin_path(
                machine, t, here, there, positions)
        else:
            moving = use_evaluation(machine, t, near, trial)
        if not moving:
            return blocked(t, near, report)
        if progress[PATH_DONE] >= 1.0:
            return finish_sample(t, good, near, positions, rates, q, v, report)
        if not evaluate_loops(workspace, machine, t, there):
            return EVALUATE


@kernel
def begin_sample(machine, t, good, near, trial, command, positions, rates, q, v):
    """Prepare the first point of a command; return whether a motion leads there."""
    here, there = point_of(near), point_of(trial)
    t.progress[COMMAND] = command
    if command == FIRST:
        copy_point(q, there.q)
        return True
    copy_point(good, near)
    if command == LOOK:
        complete_velocity(t, here, rates, v)
        look_ahead(machine, t, here, there, v)
        return True
    return begin_path(machine, t, here, there, positions)


@kernel
def copy_point(source, target):
    """Copy all numbers, such as the flat array of a point."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel
def evaluate_loops(workspace, machine, t, there):
    """Write residuals and their derivative; return whether they are all, without functions."""
    for c in range(len(t.nearest)):
        t.nearest[c] = math.nan
    if not position.closure_residuals(workspace, there.q, t.nearest, t.f, there.rows):
        t.f[:] = math.nan
    return machine.functions[0] == 0


@kernel
def begin_path(machine, t, here, there, positions):
    """Start the way to positions; return whether there is a first step."""
    write_path(t, here, positions)
    t.progress[PATH_DONE], t.progress[PATH_STEP] = 0.0, 1.0
    return make_step(machine, t, here, there)


@kernel
def write_path(t, here, positions):
    """Write how far the measured joints are from positions."""
    for i in range(len(t.way)):
        way = positions[i] - here.q[t.at_q[i]]
        if t.turns[i] != 0:
            way -= 2.0 * math.pi * math.floor(way / (2.0 * math.pi) + 0.5)
        t.way[i] = way


@kernel
def make_step(machine, t, here, there):
    """Make a step, as long as it may be; return whether there is one."""
    progress = t.progress
    while True:
        progress[PATH_STEP] = min(progress[PATH_STEP], 1.0 - progress[PATH_DONE])
        for i in range(len(t.way)):
            t.rates[i] = progress[PATH_STEP] * t.way[i]
        complete_velocity(t, here, t.rates, t.step)
        size = 0.0
        for j in t.others:
            if not abs(t.step[j]) <= size:
                size = abs(t.step[j])
        if size <= MAX_STEP:
            configuration.integrate(machine.kind, machine.qi, machine.vi, here.q, t.step, there.q)
            progress[LARGEST_CORRECTION] = max(MAX_CORRECTION * size, NEGLIGIBLE)
            progress[CORRECTION_COUNT] = 0.0
            return True
        if not progress[PATH_STEP] > MIN_STEP:
            return False
        progress[PATH_STEP] *= 0.5


@kernel
def use_evaluation(machine, t, near, trial):
    """Use an evaluation: correct, arrive or turn back; return whether there is a way on."""
    here, there, progress = point_of(near), point_of(trial), t.progress
    outcome = newton_step(machine, t, here, there)
    if outcome == AGAIN:
        return True
    if outcome == ARRIVED:
        for i in range(len(here.mix)):
            copy_point(here.mix[i], there.mix[i])
        linearize(t, there)
        copy_point(trial, near)
        progress[PATH_DONE] += progress[PATH_STEP]
        progress[PATH_STEP] *= 2.0
        return progress[PATH_DONE] >= 1.0 or make_step(machine, t, here, there)
    if not progress[PATH_STEP] > MIN_STEP:
        return False
    progress[PATH_STEP] *= 0.5
    return make_step(machine, t, here, there)


@kernel
def newton_step(machine, t, here, there):
    """Make a step of Newton's method, with the derivative of the point before."""
    for r in range(len(t.left)):
        t.left[r] = t.scale[r] * t.f[r]
    t.rates[:] = 0.0
    close_velocity(t, here, t.rates, t.step)
    size, progress = position.largest_magnitude(t.step), t.progress
    if size > CLOSED_STEP or math.isnan(size):
        if not size <= progress[LARGEST_CORRECTION]:  # no contraction
            if not size <= STALLED_RESIDUAL:
                return LOST
        elif progress[CORRECTION_COUNT] + 1.0 >= MAX_CORRECTIONS:
            return LOST
        else:
            configuration.integrate(machine.kind, machine.qi, machine.vi, there.q, t.step, t.q)
            copy_point(t.q, there.q)
            progress[LARGEST_CORRECTION] = 0.5 * size
            progress[CORRECTION_COUNT] += 1.0
            return AGAIN
    return ARRIVED if position.largest_magnitude(t.f) <= STALLED_RESIDUAL else LOST


@kernel
def complete_velocity(t, point, rates, v):
    """Write how all coordinates (nv,) move with the measured ones, on the loops (12.33)."""
    for r in range(len(t.left)):
        t.left[r] = 0.0
        for i in range(len(rates)):
            t.left[r] += point.rows[r, t.at_v[i]] * rates[i]
    for i in range(len(rates)):
        t.rates[i] = rates[i]
    close_velocity(t, point, t.rates, v)


@kernel
def close_velocity(t, point, rates, v):
    """Write the v (nv,) that closes left, with the rates (n,) or, where redundant, near them."""
    v[:] = 0.0
    if point.report[IS_REDUNDANT] > 0.0:
        largest = position.largest_magnitude(point.excess_size)
        t.change[:] = 0.0
        for p in range(len(rates)):
            size = point.excess_size[p]
            if size > RANK_TOLERANCE * largest:
                part = inner_product(point.excess[p], t.left) / (size * size)
                for i in range(len(rates)):
                    t.change[i] -= part * point.excess_mix[p, i]
        for i in range(len(rates)):
            rates[i] += t.change[i]
            for r in range(len(t.left)):
                t.left[r] += point.rows[r, t.at_v[i]] * t.change[i]
    for i in range(len(rates)):
        v[t.at_v[i]] = rates[i]
    largest = position.largest_magnitude(point.size)
    for p in range(len(point.size)):
        size = point.size[p]
        if size > RANK_TOLERANCE * largest:
            part = inner_product(point.slope[p], t.left) / (size * size)
            for i in range(len(t.others)):
                v[t.others[i]] -= part * point.mix[p, i]


@kernel
def linearize(t, point):
    """Write a point's parts but q, given its rows without scales; mix is a first guess."""
    rows, others, report = point.rows, t.others, point.report
    for r in range(len(t.scale)):
        for j in range(rows.shape[1]):
            rows[r, j] *= t.scale[r]
    orthonormalize_rows(point.mix)
    for p in range(len(others)):
        for r in range(len(t.scale)):
            point.slope[p, r] = 0.0
            for i in range(len(others)):
                point.slope[p, r] += point.mix[p, i] * rows[r, others[i]]
    orthogonalize_columns(point.slope, point.mix, point.size)
    largest, smallest, rank = position.largest_magnitude(point.size), math.inf, 0
    for size in point.size:
        smallest = min(smallest, size)
        rank += 1 if size > RANK_TOLERANCE * largest else 0
    report[CONDITION_OF_OTHERS] = 1.0 if len(others) == 0 else 0.0
    if 0 < len(others) <= len(t.scale) and largest > 0.0:
        report[CONDITION_OF_OTHERS] = smallest / largest
    report[IS_REDUNDANT] = 0.0
    if rank < len(t.scale):
        write_excess(t, point, largest)


@kernel
def write_excess(t, point, largest):
    """Write motion of constraints by measured joints that no motion of the others closes."""
    most = 0.0
    for i in range(len(t.at_v)):
        part = point.excess[i]
        for r in range(len(part)):
            part[r] = point.rows[r, t.at_v[i]]
        for p in range(len(point.size)):
            size = point.size[p]
            if size > RANK_TOLERANCE * largest:
                along = inner_product(point.slope[p], part) / (size * size)
                for r in range(len(part)):
                    part[r] -= along * point.slope[p, r]
        most = max(most, position.largest_magnitude(part))
    if most > REDUNDANT:
        point.report[IS_REDUNDANT] = 1.0
        write_identity(point.excess_mix)
        orthogonalize_columns(point.excess, point.excess_mix, point.excess_size)


@kernel
def finish_sample(t, good, near, positions, rates, q, v, report):
    """Write the results of a sample and keep its point, unless they cannot be trusted."""
    here = point_of(near)
    here.report[MEASURED_ERROR] = here.report[WORST_MEASURED] = 0.0
    if here.report[IS_REDUNDANT] > 0.0:
        write_path(t, here, positions)
        for i in range(len(t.way)):
            if not abs(t.way[i]) <= here.report[MEASURED_ERROR]:
                here.report[MEASURED_ERROR], here.report[WORST_MEASURED] = abs(t.way[i]), i
    for k in range(TRACKING_REPORT_WIDTH):
        report[k] = here.report[k]
    if not report[MEASURED_ERROR] <= t.agreement[0]:
        return DISAGREEING
    if not report[CONDITION_OF_OTHERS] >= MIN_INVERSE_CONDITION:
        return UNDECIDED
    copy_point(here.q, q)
    if len(rates) > 0:
        complete_velocity(t, here, rates, v)
    copy_point(near, good)
    return DONE


@kernel
def blocked(t, near, report):
    """Tell how much of the way was free, and the inverse condition number there."""
    report[CONDITION_OF_OTHERS] = point_of(near).report[CONDITION_OF_OTHERS]
    report[PATH_FRACTION] = t.progress[PATH_DONE]
    return BLOCKED


@kernel
def look_ahead(machine, t, here, there, v):
    """Write the configuration a moment later."""
    for j in range(len(v)):
        t.step[j] = DIFFERENCE * v[j]
    configuration.integrate(machine.kind, machine.qi, machine.vi, here.q, t.step, there.q)


@kernel
def time_left(t, here, there, v):
    """Return the time in which the smallest singular value reaches zero (12.35)."""
    if len(here.size) == 0 or position.largest_magnitude(v) == 0.0:
        return math.inf
    p = 0
    for s in range(1, len(here.size)):
        if here.size[s] < here.size[p]:
            p = s
    rate = 0.0
    for r in range(len(t.scale)):
        along = 0.0
        for i in range(len(t.others)):
            j = t.others[i]
            along += here.mix[p, i] * (t.scale[r] * there.rows[r, j] - here.rows[r, j])
        rate += here.slope[p, r] / here.size[p] * along / DIFFERENCE
    return -here.size[p] / rate if rate < 0.0 else math.inf
