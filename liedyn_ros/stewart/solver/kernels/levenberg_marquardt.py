# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Levenberg-Marquardt by body twists: Algorithm A2 of the Stewart paper, corrected (11.5)."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.linear_algebra.kernels.cholesky import factor_cholesky, SIX, solve_cholesky_negated
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
