# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The common parts of the solvers: equations, codes of the end of a solve, and workspace layout.

The equations are those of six leg lengths, as lengths or as squared lengths. A chart with a
quaternion adds that of its unit norm. The unknowns are those of the chart.
"""

from typing import Any, NamedTuple

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.stewart.platform.kernels import leg_screws, leg_types, legs
from liedyn_ros.stewart.solver.kernels import charts

CONVERGED = 0
MAX_ITERATIONS = 1
STALLED = 2
SINGULAR = 3
INVALID = 4  # a length or a guess that is no number, or a length that is not positive

SQUARED_LENGTHS = 0
LENGTHS = 1

# Where the state begins, behind the parts of solver_views.
PROBLEM_STATE = 3 * 49 + 4 * 7 + charts.CHART_STATE
PROBLEM_WORK = PROBLEM_STATE + charts.CHART_STATE + 6  # numbers in a workspace


class Equations(NamedTuple):
    """Joints (36 numbers), squared lengths, chart, kind of residual, indices of unknowns."""

    joints: Any
    squared: Any
    chart: int
    form: int
    unknowns: tuple[int, ...]


@kernel
def solver_views(work, unknowns):
    """Return the parts a solver works in: J, A, its factor, r, trial r, g, step, trial state."""
    n = len(unknowns)
    r = 3 * n * n
    return (work[0:n * n], work[n * n:2 * n * n], work[2 * n * n:r], work[r:r + n],
            work[r + n:r + 2 * n], work[r + 2 * n:r + 3 * n], work[r + 3 * n:r + 4 * n],
            work[r + 4 * n:r + 4 * n + charts.CHART_STATE])


@kernel
def state(work):
    """Return the parts that hold the state and the squared lengths."""
    end = PROBLEM_STATE + charts.CHART_STATE
    return work[PROBLEM_STATE:end], work[end:PROBLEM_WORK]


@kernel
def step_state(equations, x, step, factor, out):
    """Write the state that a step, times a factor, leads to."""
    charts.retract_chart(equations.chart, equations.unknowns, x, step, factor, out)


@kernel
def length_residuals(equations, x, out):
    """Write the residuals of a state and return half their square norm (Stewart 18)."""
    r, p = charts.state_pose(equations.chart, x)
    leg_types.settle_all_ends(equations.joints, r, p)
    legs.squared_residual(equations.joints, equations.squared, r, p, out)
    if equations.form == LENGTHS:
        legs.length_residual(equations.squared, out)
    if equations.chart == charts.QUATERNION:
        out[6] = charts.quaternion_square_norm(x) - 1.0
    total = 0.0
    for i in range(len(equations.unknowns)):
        total += out[i] * out[i]
    return 0.5 * total


@kernel
def residual_jacobian(equations, x, out):
    """Write the derivative of the residuals by the unknowns, row by row."""
    r, p = charts.state_pose(equations.chart, x)
    leg_types.settle_all_ends(equations.joints, r, p)
    if equations.chart == charts.BODY or equations.chart == charts.SPATIAL:
        legs.squared_jacobian(equations.joints, r, p, equations.chart, out)
        leg_screws.add_turns(equations.joints, r, p, equations.chart, True, out)
    else:
        charts.chart_jacobian(
            equations.chart, equations.unknowns, equations.joints, x, r, p, out)
    if equations.form == LENGTHS:
        length_rows(equations, r, p, out)


@kernel
def length_rows(equations, r, p, out):
    """Turn the derivative of squared lengths into that of lengths: dL = d(L^2) / (2 L) (11.4)."""
    n = len(equations.unknowns)
    for i in range(6):
        d = legs.leg_vector(equations.joints, i, r, p)
        factor = 0.5 / vec3.dot(d, d) ** 0.5
        for k in range(n):
            out[n * i + k] *= factor


@kernel
def rounding_scale(equations):
    """Return the size of the numbers whose rounding limits a residual: L (L + |a| + |b|)."""
    length, base, platform = 0.0, 0.0, 0.0
    for i in range(6):
        a = legs.base_joint(equations.joints, i)
        b = legs.platform_joint(equations.joints, i)
        length = max(length, equations.squared[i])
        base = max(base, vec3.dot(a, a))
        platform = max(platform, vec3.dot(b, b))
    length **= 0.5
    reach = length + base ** 0.5 + platform ** 0.5
    return reach if equations.form == LENGTHS else length * reach


@kernel
def largest_residual(values, unknowns):
    """Return the largest magnitude of values, NaN where one of them is NaN."""
    most = 0.0
    for i in range(len(unknowns)):
        if not abs(values[i]) <= most:
            most = abs(values[i])
    return most


@kernel
def norm(values, unknowns):
    """Return the 2-norm of values."""
    total = 0.0
    for i in range(len(unknowns)):
        total += values[i] * values[i]
    return total ** 0.5


@kernel
def copy_values(values, out):
    """Write the values elsewhere; assigning to a slice would copy them twice."""
    for i in range(len(values)):
        out[i] = values[i]
