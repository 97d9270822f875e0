# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
What the solvers share: the state on SE(3), its retraction, and when a residual counts as zero.

The state is a flat array of twelve numbers, R row by row and then p.
"""

from liedyn_ros.compile import kernel
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.stewart.kernels import legs

CONVERGED = 0
MAX_ITERATIONS = 1
STALLED = 2
SINGULAR = 3
INVALID = 4  # a length or a guess that is no number, or a length that is not positive

WORK = 162  # numbers in a workspace, which `views` and `state` divide


@kernel
def views(work):
    """Return the parts a solver works in: J, A, its factor, r, trial r, g, step, trial state."""
    return (work[0:36], work[36:72], work[72:108], work[108:114], work[114:120], work[120:126],
            work[126:132], work[132:144])


@kernel
def state(work):
    """Return the parts that hold the state and the squared lengths."""
    return work[144:156], work[156:162]


@kernel
def retract(x, step, factor, trivialization, out):
    """Write T exp(factor s) for a body twist s (Stewart 28), exp(factor s) T for a spatial one."""
    r, p = mat3.load(x, 0), vec3.load(x, 9)
    dr, dp = se3.exp(vec3.scale(factor, vec3.load(step, 0)),
                     vec3.scale(factor, vec3.load(step, 3)))
    if trivialization == legs.BODY:
        r, p = se3.compose(r, p, dr, dp)
    else:
        r, p = se3.compose(dr, dp, r, p)
    mat3.store(out, 0, r)
    vec3.store(out, 9, p)


@kernel
def residual(joints, squared, x, out):
    """Write the six residuals of a state and return half their square norm."""
    return legs.squared_residual(joints, squared, mat3.load(x, 0), vec3.load(x, 9), out)


@kernel
def jacobian(joints, x, trivialization, out):
    """Write the derivative of the residuals by the twist."""
    legs.squared_jacobian(joints, mat3.load(x, 0), vec3.load(x, 9), trivialization, out)


@kernel
def rounding_scale(joints, squared):
    """Return the size of the numbers whose rounding limits a residual: L (L + |a| + |b|)."""
    length, base, platform = 0.0, 0.0, 0.0
    for i in range(6):
        a, b = legs.base_joint(joints, i), legs.platform_joint(joints, i)
        length = max(length, squared[i])
        base = max(base, vec3.dot(a, a))
        platform = max(platform, vec3.dot(b, b))
    length **= 0.5
    return length * (length + base ** 0.5 + platform ** 0.5)


@kernel
def largest(values):
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
