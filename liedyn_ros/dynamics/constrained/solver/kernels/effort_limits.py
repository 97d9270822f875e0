# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Least torque within effort limits: which actuators stand at a limit, and which way (12.57).

The least sum of w tau^2 over |tau| <= limit, with N_a^T tau what the motion needs, has
tau = clip(N_a s / w) for some s. The dual function of s is concave and piecewise quadratic.
Newton's method with a line search finds its maximum in finitely many steps.
"""

import math

from liedyn_ros.dynamics.constrained.kernels.groups import coordinates_of, count_groups
from liedyn_ros.dynamics.constrained.kernels.tables import DEFECT
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.linear_algebra.kernels.elimination import solve_by_elimination

# Columns of the table of a group: efforts and their change by coordinate, the others by motion.
DESIRED, CHANGE, NEED, MOTION_SIZE, COLUMNS = range(5)
STEPS = 200  # of Newton's method
ENDLESS_STEP = 1e100  # part of a step that has no end: it names who stands at a limit
EXACT, OPEN_NEED = 1e-12, 1e-6  # part of the need that may be open: where steps end, and at most
_ROUNDING = 1e-12  # part of the Hessian that is added where few actuators are free


@kernel
def bound_efforts(machine, motion, scratch, space, weight, limit):
    """
    Mark in scratch.x (nv,) the actuators that stand at a limit, and write efforts of order zero.

    space.need[0] holds the forces that the motion needs without closures; weight (nv,) is 1 / Q.
    Returns their number, or -1 where the limits are not enough. Then DEFECT of the report is the
    part of the need that stays open, and motion.effort has the efforts nearest to it.
    """
    held, most, table = 0, 0.0, scratch.steps
    for j in range(len(limit)):
        scratch.x[j] = 0.0
    for g in range(count_groups(machine)):
        (first, end), count = coordinates_of(machine, g), space.qr.count[g]
        active = space.active[first:first + space.qr.size[g]]
        rows = space.basis[0, first:first + count]
        for i in range(count):
            table[i, NEED] = 0.0
            for at in range(first, end):
                j = machine.coordinate_at[at]
                table[i, NEED] += rows[i, j] * (space.need[0, j] - motion.effort[0, j])
        left = split_efforts(rows, active, weight, limit, table, space.s[first:first + count],
                             space.basis[1].reshape(-1))  # whose order is not yet written
        most = max(most, left)
        for j in active:
            if abs(table[j, DESIRED]) >= limit[j]:
                held += 1
                scratch.x[j] = 1.0
                motion.effort[0, j] = math.copysign(limit[j], table[j, DESIRED])
    if most > OPEN_NEED:
        scratch.report[DEFECT] = most
        return -1
    return held


@kernel
def split_efforts(rows, active, weight, limit, table, step, curvature):
    """
    Write DESIRED (n,), which cut at the limits are the efforts; return the part of the need left.

    rows (f, nv) are free motions, active lists n actuated coordinates, weight and limit are (nv,).
    NEED (f,) of the table is what the motions take. step (f,) and curvature (f f,) are scratch.
    """
    scale = need_magnitude(rows, active, limit, table)
    for i in range(len(step)):
        table[i, MOTION_SIZE] = 0.0
    for j in active:
        table[j, DESIRED] = 0.0
    for _ in range(STEPS):
        left = write_left(rows, active, limit, table, step)
        if left <= EXACT * scale:
            break
        write_dual_curvature(rows, active, weight, limit, table, len(step), curvature)
        solve_by_elimination(curvature, step)
        gain = 0.0
        for i in range(len(step)):
            gain += table[i, NEED] * step[i]
        for j in active:
            table[j, CHANGE] = 0.0
            for i in range(len(step)):
                table[j, CHANGE] += weight[j] * rows[i, j] * step[i]
        part = best_part(active, weight, limit, table, gain)
        if not part > 0.0:
            break
        far = min(part, ENDLESS_STEP)
        for i in range(len(step)):
            table[i, MOTION_SIZE] += far * step[i]
        for j in active:
            table[j, DESIRED] = 0.0
            for i in range(len(step)):
                table[j, DESIRED] += weight[j] * rows[i, j] * table[i, MOTION_SIZE]
        if part == math.inf:
            break
    return write_left(rows, active, limit, table, step) / scale


@kernel
def need_magnitude(rows, active, limit, table):
    """Return the size with which rounding of the need is compared."""
    scale = 1e-300
    for i in range(len(rows)):
        size = 0.0
        for j in active:
            if limit[j] < math.inf:
                size += abs(rows[i, j]) * limit[j]
        scale = max(scale, size, abs(table[i, NEED]))
    return scale


@kernel
def write_left(rows, active, limit, table, left):
    """Write the part of the need that the efforts leave open, and return the largest entry."""
    largest = 0.0
    for i in range(len(left)):
        left[i] = table[i, NEED]
        for j in active:
            left[i] -= rows[i, j] * min(max(table[j, DESIRED], -limit[j]), limit[j])
        largest = max(largest, abs(left[i]))
    return largest


@kernel
def write_dual_curvature(rows, active, weight, limit, table, f, curvature):
    """Write N_a^T Q^-1 N_a (f f,) of the actuators within limits, with a little of all of them."""
    trace = 0.0
    for j in active:
        for i in range(f):
            trace += weight[j] * rows[i, j]**2
    for i in range(f):
        for n in range(f):
            curvature[f * i + n] = _ROUNDING * trace if i == n else 0.0
    for j in active:
        if abs(table[j, DESIRED]) < limit[j]:
            for i in range(f):
                for n in range(f):
                    curvature[f * i + n] += weight[j] * rows[i, j] * rows[n, j]


@kernel
def best_part(active, weight, limit, table, gain):
    """
    Return the part of a step at which the dual function is greatest; its slope falls.

    gain is NEED times the step. Infinite where no efforts are enough.
    """
    part = 0.0
    slope, size = slope_at(active, weight, limit, table, gain, part)
    if slope <= EXACT * size:
        return 0.0
    while True:
        end, fall = math.inf, 0.0
        for j in active:
            change = table[j, CHANGE]
            if change != 0.0 and limit[j] < math.inf:
                for side in (-limit[j], limit[j]):
                    at = (side - table[j, DESIRED]) / change
                    if part < at < end:
                        end = at
            elif limit[j] == math.inf:
                fall += change * change / weight[j]
        if end == math.inf:  # beyond the last end only actuators without a limit count
            return part + slope / fall if fall > 0.0 else math.inf
        later, size = slope_at(active, weight, limit, table, gain, end)
        if later <= EXACT * size:
            return part + (end - part) * min(slope / (slope - later), 1.0)
        part, slope = end, later


@kernel
def slope_at(active, weight, limit, table, gain, part):
    """Return the slope of the dual function at a part of a step, and what rounds it."""
    slope, size = gain, abs(gain)
    for j in active:
        wanted = table[j, DESIRED] + part * table[j, CHANGE]
        power = min(max(wanted, -limit[j]), limit[j]) * table[j, CHANGE] / weight[j]
        slope, size = slope - power, size + abs(power)
    return slope, size
