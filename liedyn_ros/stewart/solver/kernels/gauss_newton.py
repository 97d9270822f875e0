# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Gauss-Newton in any chart with the half-step descent rule: Algorithm A1, corrected (11.6)."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.linear_algebra.kernels.cholesky import (
    factor_cholesky, solve_cholesky_negated)
from liedyn_ros.stewart.solver.kernels import normal_equations, problem

SMALLEST_STEP_FACTOR = 1e-14  # the paper's eps3
SMALLEST_PIVOT = 1e-14  # of A, relative to its largest diagonal entry


@kernel
def descends(equations, x, step, alpha, half_square, x_new, r_new):
    """Try alpha s and its half; return whether |r| falls to the half and on to the whole (27)."""
    problem.step_state(equations, x, step, 0.5 * alpha, x_new)
    half_way = problem.length_residuals(equations, x_new, r_new)
    problem.step_state(equations, x, step, alpha, x_new)
    whole_way = problem.length_residuals(equations, x_new, r_new)
    return half_way <= half_square and whole_way <= half_way


@kernel
def gauss_newton(
        equations, x, work, alpha_0, max_iterations, tolerance, step_tolerance):
    """
    Move the state x to where the residuals vanish; return (status, iterations).

    The step factor starts at alpha_0 < 1 and is squared until the step descends.
    """
    unknowns = equations.unknowns
    jacobian, a, factor, r, r_new, g, step, x_new = problem.solver_views(work, unknowns)
    for k in range(max_iterations):
        half_square = problem.length_residuals(equations, x, r)
        if problem.largest_residual(r, unknowns) <= tolerance:
            return problem.CONVERGED, k
        problem.residual_jacobian(equations, x, jacobian)
        size = normal_equations.assemble(unknowns, jacobian, r, a, g)
        if not factor_cholesky(unknowns, a, 0.0, SMALLEST_PIVOT * size, factor):
            return problem.SINGULAR, k
        solve_cholesky_negated(unknowns, factor, g, step)  # (Stewart 26)
        if problem.norm(step, unknowns) <= step_tolerance:
            return problem.STALLED, k + 1
        alpha = alpha_0
        while not descends(equations, x, step, alpha, half_square, x_new, r_new):
            alpha *= alpha
            if alpha <= SMALLEST_STEP_FACTOR:
                return problem.STALLED, k + 1
        problem.copy_values(x_new, x)  # (Stewart 28)
    problem.length_residuals(equations, x, r)
    if problem.largest_residual(r, unknowns) <= tolerance:
        return problem.CONVERGED, max_iterations
    return problem.MAX_ITERATIONS, max_iterations
