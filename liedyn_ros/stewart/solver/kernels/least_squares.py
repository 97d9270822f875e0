# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The pose of n lengths, n > 6, by weighted least squares (14.70).

The table is in units of a scale (m). Twists are of the body, in rad and scales. J (6 n,), row by
row, is of readings (m, or rad of cranks) by such a twist.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import FITTED, MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.lie.kernels import motion, se3, so3, vec3
from liedyn_ros.linear_algebra.kernels.elimination import (
    factor_cholesky, SIX, solve_cholesky_negated)
from liedyn_ros.stewart.platform.kernels import leg_types, legs
from liedyn_ros.stewart.solver.kernels.problem import (
    CONVERGED, INVALID, MAX_ITERATIONS, SINGULAR)
from liedyn_ros.stewart.solver.kernels.solve import store_solution

# Of the largest entry of A, the first where an undamped step does not descend
INITIAL_DAMPING = 1e-3
UNDAMPED = 1e-8  # of it, below which the damping is left out
RANK_PIVOT = 1e-24  # of the largest entry of A: J has lost rank to rounding
MIN_POSE_STEP = 1e-8  # of a step, rad and scales, whose descent is lost in rounding
SYSTEM = 36 + 36 + 6 + 6  # numbers in a workspace: A, its factor, g, step


@kernel
def write_reading_rows(table, scale, units, r, p, values, rows):
    """Write the readings (n,) and J (6 n,) of a pose; NaN where a rod does not reach."""
    leg_types.value_jacobian(table, r, p, legs.BY_BODY_TWIST, rows)
    for i in range(len(values)):
        values[i] = leg_types.leg_value(table, i, r, p) * units[i]
        for j in range(6 * i, 6 * i + 6):
            rows[j] *= scale


@kernel
def write_errors(lengths, turns, values, errors):
    """Write the readings less those of a pose (n,); turns: of a crank 2 pi, else 0."""
    for i in range(len(lengths)):
        error = lengths[i] - values[i]
        if turns[i] > 0.0:
            error -= turns[i] * math.floor(error / turns[i] + 0.5)
        errors[i] = error


@kernel
def weighted_square(weights, errors):
    """Return sum w e^2 (14.71)."""
    total = 0.0
    for i in range(len(errors)):
        if weights[i] != 0.0:  # a leg that is left out may read anything
            total += weights[i] * errors[i] * errors[i]
    return total


@kernel
def weighted_normal_equations(weights, rows, errors, a, g):
    """Write A = J^T W J and g = -J^T W e (14.70); return the largest diagonal entry of A."""
    largest = 0.0
    for j in range(6):
        g[j] = 0.0
        for i in range(len(weights)):
            if weights[i] != 0.0:
                g[j] -= weights[i] * rows[6 * i + j] * errors[i]
        for k in range(6):
            total = 0.0
            for i in range(len(weights)):
                if weights[i] != 0.0:
                    total += weights[i] * rows[6 * i + j] * rows[6 * i + k]
            a[6 * j + k] = total
        largest = max(largest, a[7 * j])
    return largest


@kernel
def system_parts(system):
    """Return the parts of a workspace: A, its factor, g, step."""
    return system[:36], system[36:72], system[72:78], system[78:84]


@kernel
def weighted_levenberg_marquardt(
        table: VECTOR, scale: NUMBER, units: VECTOR, turns: VECTOR, lengths: VECTOR,
        weights: VECTOR, guess: MATRIX, twist: VECTOR, seconds: NUMBER, limit: WHOLE,
        tolerance: NUMBER, pose: MATRIX, values: VECTOR, rows: VECTOR, errors: VECTOR,
        system: VECTOR) -> FITTED:
    """
    Write the pose (4, 4) of lengths (n,) of weights (n,) from a guess moved on at a twist.

    twist: (6,), rad/s and m/s, seconds: of it. Writes the readings there, J and the errors too.
    Returns (status, iterations, sum w e^2).
    """
    a, factor, g, step = system_parts(system)
    motion.move_pose(guess, twist, seconds, pose)
    r, p = motion.split(pose)
    p = vec3.scale(1.0 / scale, p)
    write_reading_rows(table, scale, units, r, p, values, rows)
    write_errors(lengths, turns, values, errors)
    square, damping, status, count = weighted_square(weights, errors), 0.0, MAX_ITERATIONS, 0
    if not square < math.inf:
        return INVALID, 0, square
    largest = weighted_normal_equations(weights, rows, errors, a, g)
    while count < limit:
        count += 1
        if not factor_cholesky(SIX, a, damping * largest, RANK_PIVOT * largest, factor):
            status = SINGULAR
            break
        solve_cholesky_negated(SIX, factor, g, step)
        size = 0.0
        for j in range(6):
            size += step[j] * step[j]
        size = size ** 0.5
        new_r, new_p = se3.compose(r, p, *se3.exp(vec3.load(step, 0), vec3.load(step, 3)))
        write_reading_rows(table, scale, units, new_r, new_p, values, rows)
        write_errors(lengths, turns, values, errors)
        new_square = weighted_square(weights, errors)
        if new_square <= square or size <= MIN_POSE_STEP:
            r, p, square = so3.normalize(new_r), new_p, new_square
            if size <= tolerance:
                status = CONVERGED
                break
            largest = weighted_normal_equations(weights, rows, errors, a, g)
            damping = 0.1 * damping if damping > UNDAMPED else 0.0
        else:
            damping = max(INITIAL_DAMPING, 10.0 * damping)
            write_reading_rows(table, scale, units, r, p, values, rows)
            write_errors(lengths, turns, values, errors)
    store_solution(r, p, scale, pose)
    return status, count, square


@kernel
def write_covariance(
        scale: NUMBER, weights: VECTOR, rows: VECTOR, errors: VECTOR, system: VECTOR, out: MATRIX):
    """Write A^-1 (6, 6), in rad and m; return whether A has one (14.70)."""
    a, factor, g, step = system_parts(system)
    largest = weighted_normal_equations(weights, rows, errors, a, g)
    if not factor_cholesky(SIX, a, 0.0, RANK_PIVOT * largest, factor):
        return False
    for k in range(6):
        for j in range(6):
            g[j] = -1.0 if j == k else 0.0
        solve_cholesky_negated(SIX, factor, g, step)
        for j in range(6):
            out[j, k] = step[j] * (scale if j >= 3 else 1.0) * (scale if k >= 3 else 1.0)
    return True
