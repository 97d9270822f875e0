# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Noise and biased legs, from redundant lengths (14.71 to 14.73).

For each leg the others give a pose. A bias of that leg leaves them in agreement, and its own error
at their pose constant, wherever the platform moves. No other leg's bias does both.
"""

import math

import numpy as np

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, NUMBER, TRUTH, VECTOR, WHOLE
from liedyn_ros.linear_algebra.kernels.elimination import (
    factor_cholesky, SIX, solve_cholesky_negated)
from liedyn_ros.stewart.solver.kernels import least_squares
from liedyn_ros.stewart.solver.kernels.least_squares import (
    RANK_PIVOT, system_parts, weighted_normal_equations)
from liedyn_ros.stewart.solver.kernels.problem import CONVERGED, SINGULAR

# Of a leg: sum w e^2 of the others at their pose, its own error there, its variance's inverse.
OTHERS_SQUARE, OWN_ERROR, OWN_WEIGHT = 0, 1, 2
NUMBERS_OF_LEG = 3  # numbers of a leg
# Sums of a leg over a path: those of OTHERS_SQUARE, OWN_WEIGHT, OWN_WEIGHT OWN_ERROR and
# OWN_WEIGHT OWN_ERROR^2, and of the samples in which it was judged.
SQUARE_SUM, WEIGHT_SUM, ERROR_SUM, ERROR_SQUARE_SUM, JUDGED_SAMPLES = 0, 1, 2, 3, 4
SUM_COUNT = 5
LEAST_REDUNDANCY = 0.01  # of a leg that the pose of the others judges
LINEAR = 0.1  # of its deviation, that the second order of a pose's noise may be in an error
REPEATED = 1e-16  # of the residuals, below which their change is rounding
CLIPPED = 16.0  # times the variance so far: more is no noise


@kernel
def write_residuals(
        weights: VECTOR, rows: VECTOR, errors: VECTOR, system: VECTOR, residuals: VECTOR,
        redundancies: VECTOR):
    """
    Write S e (n,) and the redundancies (n,) of errors near the best pose (14.71).

    Returns e^T W S e, or -1 where A has no inverse.
    """
    a, factor, g, step = system_parts(system)
    largest = weighted_normal_equations(weights, rows, errors, a, g)
    if not factor_cholesky(SIX, a, 0.0, RANK_PIVOT * largest, factor):
        return -1.0
    solve_cholesky_negated(SIX, factor, g, step)
    square = 0.0
    for i in range(len(errors)):
        residuals[i] = errors[i]
        for j in range(6):
            residuals[i] -= rows[6 * i + j] * step[j]
        square += weights[i] * residuals[i] * residuals[i]
    for i in range(len(errors)):
        redundancies[i] = 1.0 - weights[i] * reading_variance(rows, i, factor, g, step)
    return square


@kernel
def reading_variance(rows, i, factor, g, step):
    """Return j A^-1 j^T of a row of J: the variance of a leg's reading at the pose."""
    for j in range(6):
        g[j] = -rows[6 * i + j]
    solve_cholesky_negated(SIX, factor, g, step)
    total = 0.0
    for j in range(6):
        total += rows[6 * i + j] * step[j]
    return total


@kernel
def leave_one_out(
        table: VECTOR, scale: NUMBER, units: VECTOR, turns: VECTOR, lengths: VECTOR,
        weights: VECTOR, pose: MATRIX, twist: VECTOR, seconds: NUMBER, limit: WHOLE,
        tolerance: NUMBER, poses: CUBE, started: TRUTH, doubtful: TRUTH, others: MATRIX,
        values: VECTOR, rows: VECTOR, errors: VECTOR, system: VECTOR, used: VECTOR,
        second: MATRIX):
    """
    Write, for each leg, how the others agree without it, and its error (14.72).

    The result is (n, NUMBERS_OF_LEG).

    pose: (4, 4), m, of all legs. poses: (n, 4, 4), m, of the others at the sample before, if
    started; those of this sample are written there. If doubtful, they are searched near the pose
    of all legs too, since the others may have gone to another of their poses. A leg without which
    there is hardly a pose has weight 0: nothing tells whether it is biased. used: (n,), second:
    (4, 4), space.
    """
    a, factor, g, step = system_parts(system)
    n = len(weights)
    for i in range(n):
        for k in range(n):
            used[k] = weights[k] if k != i else 0.0
        status, square = SINGULAR, 0.0
        if started:
            status, _, square = least_squares.weighted_levenberg_marquardt(
                table, scale, units, turns, lengths, used, poses[i], twist, seconds, limit,
                tolerance, poses[i], values, rows, errors, system)
        if status != CONVERGED:
            status, _, square = least_squares.weighted_levenberg_marquardt(
                table, scale, units, turns, lengths, used, pose, twist, 0.0, limit, tolerance,
                poses[i], values, rows, errors, system)
        elif doubtful:
            found, _, least = least_squares.weighted_levenberg_marquardt(
                table, scale, units, turns, lengths, used, pose, twist, 0.0, limit, tolerance,
                second, values, rows, errors, system)
            begin = poses[i]
            if found == CONVERGED and least < square:
                begin = second
            # Once more from the better one, for its rows and errors.
            status, _, square = least_squares.weighted_levenberg_marquardt(
                table, scale, units, turns, lengths, used, begin, twist, 0.0, limit, tolerance,
                poses[i], values, rows, errors, system)
        others[i, OTHERS_SQUARE], others[i, OWN_ERROR], others[i, OWN_WEIGHT] = 0.0, 0.0, 0.0
        largest = weighted_normal_equations(used, rows, errors, a, g)
        if status != CONVERGED or not factor_cholesky(
                SIX, a, 0.0, RANK_PIVOT * largest, factor):
            copy_pose(pose, poses[i])
        else:
            others[i, OTHERS_SQUARE], others[i, OWN_ERROR] = square, errors[i]
            variance = reading_variance(rows, i, factor, g, step)
            total, moved = variance + 1.0 / weights[i], 0.0
            for j in range(6):
                moved += step[j] * step[j]
            if weights[i] * total * LEAST_REDUNDANCY < 1.0 and (
                    scale * moved < LINEAR * variance * total ** 0.5):
                others[i, OWN_WEIGHT] = 1.0 / total


@kernel
def copy_pose(pose, out):
    """Write a pose (4, 4) elsewhere."""
    for i in range(4):
        for j in range(4):
            out[i, j] = pose[i, j]


@kernel
def add_sample(
        keeps: VECTOR, share: NUMBER, square: NUMBER, others: MATRIX, sums: CUBE, tallies: MATRIX):
    """
    Add a sample to the sums of each memory (14.72).

    keeps: (m,), the shares that are kept of former sums; share: of the sample. square: of all
    legs. sums: (m, n, SUM_COUNT). tallies: (m, 2), the squares of all legs and the shares. A leg
    that cannot be judged counts as if its error were a usual one.
    """
    for m in range(len(keeps)):
        keep = keeps[m]
        tallies[m, 0] = keep * tallies[m, 0] + share * square
        tallies[m, 1] = keep * tallies[m, 1] + share
        for i in range(others.shape[0]):
            error, weight = others[i, OWN_ERROR], others[i, OWN_WEIGHT]
            judged = share if weight > 0.0 else 0.0
            sums[m, i, SQUARE_SUM] = keep * sums[m, i, SQUARE_SUM] + (
                share * others[i, OTHERS_SQUARE] + share - judged)
            sums[m, i, JUDGED_SAMPLES] = keep * sums[m, i, JUDGED_SAMPLES] + judged
            sums[m, i, WEIGHT_SUM] = keep * sums[m, i, WEIGHT_SUM] + share * weight
            sums[m, i, ERROR_SUM] = keep * sums[m, i, ERROR_SUM] + share * weight * error
            sums[m, i, ERROR_SQUARE_SUM] = (
                keep * sums[m, i, ERROR_SQUARE_SUM] + share * weight * error * error)


@kernel
def best_leg(sums: MATRIX):
    """
    Return the leg whose bias best explains the sums (n, SUM_COUNT) of a memory.

    Returns (the leg, the square that its constant bias leaves, the least that one of another leg
    leaves, the bias).
    """
    best, least, second, bias = 0, math.inf, math.inf, 0.0
    for i in range(sums.shape[0]):
        weight, first = sums[i, WEIGHT_SUM], sums[i, ERROR_SUM]
        left = sums[i, SQUARE_SUM]
        if weight > 0.0:
            left += max(0.0, sums[i, ERROR_SQUARE_SUM] - first * first / weight)
        if left < least:
            best, least, second = i, left, least
            bias = first / weight if weight > 0.0 else np.nan
        else:
            second = min(second, left)
    return best, least, second, bias


@kernel
def add_noise(
        gain: NUMBER, count: WHOLE, weights: VECTOR, residuals: VECTOR, before: VECTOR,
        variance: NUMBER):
    """
    Return the mean variance of the residuals' changes, by which the weights are wrong (14.73).

    before: (n,), residuals of the sample before, replaced by these. Readings that repeat say
    nothing: all changes are rounding then.
    """
    square, size = 0.0, 0.0
    for i in range(len(residuals)):
        change = residuals[i] - before[i]
        square += weights[i] * change * change
        size += weights[i] * residuals[i] * residuals[i]
        before[i] = residuals[i]
    square /= 2.0 * count
    if square <= REPEATED * size:
        return variance
    if variance > 0.0:
        square = min(square, CLIPPED * variance)
    return variance + gain * (square - variance)
