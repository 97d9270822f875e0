# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The equations of six leg lengths, codes of the end of a solve, and the layout of a workspace.

The residuals are those of squared lengths. The state is the pose itself, R row by row and then p,
and a step is a body twist (11.2).
"""

from typing import Any, NamedTuple

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import NUMBER, WHOLE
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.stewart.platform.kernels import leg_types, legs

CONVERGED = 0
MAX_ITERATIONS = 1
STALLED = 2
SINGULAR = 3
INVALID = 4  # a length or a guess that is no number, or a length that is not positive

STATE = 12  # numbers of a pose
# Where the state begins, behind the parts of solver_views.
PROBLEM_STATE = 3 * 36 + 4 * 6 + STATE
PROBLEM_WORK = PROBLEM_STATE + STATE + 6  # numbers in a workspace


class Settings(NamedTuple):
    """Tau, the most iterations, tolerances of residual and step, least singular value allowed."""

    damping: NUMBER
    iterations: WHOLE
    tolerance: NUMBER
    step_tolerance: NUMBER
    singular: NUMBER


class LegEquations(NamedTuple):
    """Joints (36 numbers) and squared lengths."""

    joints: Any
    squared: Any


@kernel
def solver_views(work):
    """Return the parts a solver works in: J, A, its factor, r, trial r, g, step, trial state."""
    return (work[0:36], work[36:72], work[72:108], work[108:114], work[114:120], work[120:126],
            work[126:132], work[132:132 + STATE])


@kernel
def state(work):
    """Return the parts that hold the state and the squared lengths."""
    end = PROBLEM_STATE + STATE
    return work[PROBLEM_STATE:end], work[end:PROBLEM_WORK]


@kernel
def state_pose(x):
    """Return rotation and position of a state."""
    return mat3.load(x, 0), vec3.load(x, 9)


@kernel
def store_state(r, p, x):
    """Write the state of a pose."""
    mat3.store(x, 0, r)
    vec3.store(x, 9, p)


@kernel
def step_state(x, step, out):
    """Write T exp(s), the state that a step leads to (Stewart 28)."""
    r, p = state_pose(x)
    store_state(*se3.compose(r, p, *se3.exp(vec3.load(step, 0), vec3.load(step, 3))), out)


@kernel
def length_residuals(equations, x, out):
    """Write the residuals of a state and return half their square norm (Stewart 18)."""
    r, p = state_pose(x)
    leg_types.write_all_ends(equations.joints, r, p)
    legs.squared_residual(equations.joints, equations.squared, r, p, out)
    total = 0.0
    for i in range(6):
        total += out[i] * out[i]
    return 0.5 * total


@kernel
def residual_jacobian(equations, x, out):
    """Write the derivative of the residuals by a body twist, row by row."""
    r, p = state_pose(x)
    leg_types.write_all_ends(equations.joints, r, p)
    legs.squared_jacobian(equations.joints, r, p, out)
    leg_types.add_turns(equations.joints, r, p, legs.BY_BODY_TWIST, True, out)


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
    return length * (length + base ** 0.5 + platform ** 0.5)


@kernel
def largest_residual(values):
    """Return the largest magnitude of six values, NaN where one of them is NaN."""
    most = 0.0
    for i in range(6):
        if not abs(values[i]) <= most:
            most = abs(values[i])
    return most


@kernel
def norm(values):
    """Return the 2-norm of six values."""
    total = 0.0
    for i in range(6):
        total += values[i] * values[i]
    return total ** 0.5


@kernel
def copy_values(values, out):
    """Write the values elsewhere; assigning to a slice would copy them twice."""
    for i in range(len(values)):
        out[i] = values[i]
