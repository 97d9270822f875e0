# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One solve by Levenberg-Marquardt on body twists (11.5), or a batch, in scaled lengths."""

import numpy as np

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, NUMBER, SOLVED, VECTOR
from liedyn_ros.lie.kernels import motion, so3
from liedyn_ros.linear_algebra.kernels.elimination import (
    factor_cholesky, SIX, solve_cholesky_negated)
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, legs, state as platform
from liedyn_ros.stewart.solver.kernels import problem


@kernel
def levenberg_marquardt(
        equations, x, work, tau, max_iterations, tolerance, step_tolerance):
    """
    Move the state x to where the residuals vanish; return (status, iterations).

    Lengths are in units of the characteristic length. So the damping and the steps mean the same
    on a platform of any size.
    """
    jacobian, a, factor, r, r_new, g, step, x_new = problem.solver_views(work)
    half_square = problem.length_residuals(equations, x, r)
    problem.residual_jacobian(equations, x, jacobian)
    mu = tau * assemble(jacobian, r, a, g)
    nu = 2.0
    for k in range(max_iterations):
        if problem.largest_residual(r) <= tolerance:
            return problem.CONVERGED, k
        if not factor_cholesky(SIX, a, mu, 0.0, factor):
            return problem.SINGULAR, k
        solve_cholesky_negated(SIX, factor, g, step)
        if problem.norm(step) <= step_tolerance:
            return problem.STALLED, k + 1
        problem.step_state(x, step, x_new)
        half_square_new = problem.length_residuals(equations, x_new, r_new)
        predicted = 0.0
        for i in range(6):
            predicted += 0.5 * step[i] * (mu * step[i] - g[i])
        gain = (half_square - half_square_new) / predicted
        if gain > 0.0:
            problem.copy_values(x_new, x)
            problem.copy_values(r_new, r)
            half_square = half_square_new
            problem.residual_jacobian(equations, x, jacobian)
            assemble(jacobian, r, a, g)
            mu *= max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3)
            nu = 2.0
        else:
            mu *= nu
            nu *= 2.0
    if problem.largest_residual(r) <= tolerance:
        return problem.CONVERGED, max_iterations
    return problem.MAX_ITERATIONS, max_iterations


@kernel
def assemble(jacobian, residual, a, g):
    """
    Write the lower triangle of A = J^T J and g = J^T r; return A's largest diagonal entry (11.5).

    Matrices are flat, row by row.
    """
    for i in range(6):
        g[i] = 0.0
        for k in range(6):
            g[i] += jacobian[6 * k + i] * residual[k]
        for j in range(i + 1):
            total = 0.0
            for k in range(6):
                total += jacobian[6 * k + i] * jacobian[6 * k + j]
            a[6 * i + j] = total
    largest = 0.0
    for i in range(6):
        largest = max(largest, a[7 * i])
    return largest


SOLVER_WORK = problem.PROBLEM_WORK + platform.STATE_WORK  # numbers in a workspace

ORTHONORMAL = 1e-6  # by how much a guess may differ from a pose
MAX_GUESS_MISS = 3.0  # times the residual of a guess, for that of where it is moved on


@kernel
def solve_six(
        joints: VECTOR, scale: NUMBER, lengths: VECTOR, guess: MATRIX, twist: VECTOR,
        seconds: NUMBER, settings: problem.Settings, pose: MATRIX, state: VECTOR, work: VECTOR
        ) -> SOLVED:
    """Solve as solve_pose, from a guess moved on for a time (s) at a twist."""
    predict_pose(guess, twist, seconds, pose)
    if seconds != 0.0 and misses_lengths(joints, scale, lengths, guess, pose, work):
        predict_pose(guess, twist, 0.0, pose)
    return solve_pose(joints, scale, lengths, pose, settings, pose, state, work)


@kernel
def predict_pose(guess, twist, seconds, pose):
    """Write a guess moved on for a time (s) at a twist; at 0 s as it is."""
    if seconds != 0.0:
        motion.move_pose(guess, twist, seconds, pose)
        return
    for i in range(4):
        for j in range(4):
            pose[i, j] = guess[i, j]


@kernel
def misses_lengths(joints, scale, lengths, guess, moved, work):
    """
    Return whether a guess that is moved on misses the lengths by much more than the guess itself.

    So it is where a reading has jumped, and the twist is that of the jump.
    """
    x, squared = problem.state(work)
    equations, residuals = problem.LegEquations(joints, squared), problem.solver_views(work)[3]
    if not load_problem(joints, lengths, guess, scale, x, squared):
        return False
    before = problem.length_residuals(equations, x, residuals)
    load_problem(joints, lengths, moved, scale, x, squared)
    return problem.length_residuals(equations, x, residuals) > MAX_GUESS_MISS ** 2 * before


@kernel
def solve_pose(joints, scale, lengths, guess, settings, pose, state, work):
    """
    Solve the pose (4 by 4) of six leg lengths from a guess (4 by 4); write the state there.

    The guess may stand where the pose is written. The joints, a platform's table, are in units of
    `scale` (m), the characteristic length. Returns (status, iterations, largest length error in m,
    smallest singular value of dL/d(twist) with lengths in units of the scale, or the least
    transmission).
    """
    x, squared = problem.state(work)
    if not load_problem(joints, lengths, guess, scale, x, squared):
        return problem.INVALID, 0, np.nan, np.nan
    equations = problem.LegEquations(joints, squared)
    status, iterations = levenberg_marquardt(
        equations, x, work, settings.damping, settings.iterations,
        settings.tolerance * problem.rounding_scale(equations), settings.step_tolerance)
    r, p = problem.state_pose(x)
    residual, transmission = length_error(joints, squared, r, p, work)
    platform.write_platform_state(joints, r, p, state, work[problem.PROBLEM_WORK:])
    smallest = min(abs(state[platform.VALUE_AT]), transmission)
    if not smallest > settings.singular:
        status = problem.SINGULAR
    store_solution(r, p, scale, pose)
    return status, iterations, scale * residual, smallest


@kernel
def solve_poses(
        joints: VECTOR, scale: NUMBER, lengths: MATRIX, guess: CUBE, settings: problem.Settings,
        poses: CUBE, outcome: MATRIX, state: VECTOR, work: VECTOR):
    """
    Solve n poses.

    Rows of outcome are (status, iterations, residual, smallest singular value).
    """
    for n in range(lengths.shape[0]):
        outcome[n, 0], outcome[n, 1], outcome[n, 2], outcome[n, 3] = solve_pose(
            joints, scale, lengths[n], guess[n], settings, poses[n], state, work)


@kernel
def load_problem(joints, lengths, guess, scale, x, squared):
    """Write the scaled state, driven ends and squared lengths; return whether all can be used."""
    usable = True
    if len(joints) == leg_rows.ENDS:
        for i in range(6):
            squared[i] = (lengths[i] / scale) ** 2
            usable &= 0.0 < lengths[i] and squared[i] < np.inf
    else:
        leg_types.write_driven_ends(joints, lengths, squared)
        for i in range(6):
            usable &= squared[i] < np.inf
    r, p = motion.split(guess)
    p = (p[0] / scale, p[1] / scale, p[2] / scale)
    rotation = so3.normalize(r)
    for i in range(3):
        usable &= abs(p[i]) < np.inf
    for i in range(9):
        usable &= abs(rotation[i] - r[i]) <= ORTHONORMAL
    for j in range(4):
        usable &= abs(guess[3, j] - (j == 3)) <= ORTHONORMAL
    problem.store_state(rotation, p, x)
    return usable


@kernel
def length_error(joints, squared, r, p, work):
    """Return the largest length error of a pose, and the least transmission of a drive."""
    error = problem.solver_views(work)[3]
    leg_types.write_all_ends(joints, r, p)
    legs.lengths(joints, r, p, error)
    for i in range(6):
        error[i] -= squared[i] ** 0.5
    return problem.largest_residual(error), leg_types.least_drive(joints, r, p)


@kernel
def store_solution(r, p, scale, pose):
    """Write the 4 by 4 matrix of a pose, in metres."""
    for i in range(3):
        for j in range(3):
            pose[i, j] = r[3 * i + j]
        pose[i, 3] = scale * p[i]
        pose[3, i] = 0.0
    pose[3, 3] = 1.0
