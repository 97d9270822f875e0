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
How far a pose is from singular, on which side, and along which twist.

J = dL/d(body twist) is taken in units of the characteristic length throughout, so that its
singular values and its null twist are dimensionless. The signed value is the smallest singular
value with the sign of det J: smooth through a singularity, where it changes sign.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, se3, so3, vec3
from liedyn_ros.stewart.platform.kernels import legs, linear6

WORK = 102  # numbers in a workspace: rows, squares, a copy of J, a moved state, the state
STEP = 1e-5  # of the differences, in rad and characteristic lengths


@kernel
def load(pose, scale, x):
    """Write a 4 by 4 pose in metres as a scaled state: R row by row, then p."""
    for i in range(3):
        for j in range(3):
            x[3 * i + j] = pose[i, j]
        x[9 + i] = pose[i, 3] / scale


@kernel
def signed_value(joints, x, work):
    """Return the signed smallest singular value of a state; orthogonal rows stay in `work`."""
    rows, squares, copy = work[0:36], work[36:42], work[42:78]
    legs.length_jacobian(joints, mat3.load(x, 0), vec3.load(x, 9), legs.BODY, rows)
    for i in range(36):
        copy[i] = rows[i]
    return determinant_sign(copy) * linear6.smallest_singular_value(rows, squares)


@kernel
def determinant_sign(a):
    """Return the sign of the determinant, 1 or -1; the matrix is overwritten."""
    sign = 1.0
    for k in range(6):
        pivot = k
        for i in range(k + 1, 6):
            if abs(a[6 * i + k]) > abs(a[6 * pivot + k]):
                pivot = i
        if pivot != k:
            sign = -sign
            for j in range(k, 6):
                a[6 * k + j], a[6 * pivot + j] = a[6 * pivot + j], a[6 * k + j]
        if a[7 * k] < 0.0:
            sign = -sign
        if a[7 * k] == 0.0:
            return sign
        for i in range(k + 1, 6):
            factor = a[6 * i + k] / a[7 * k]
            for j in range(k + 1, 6):
                a[6 * i + j] -= factor * a[6 * k + j]
    return sign


@kernel
def null_twist(work, null):
    """
    Write the unit twist orthogonal to all rows but the smallest.

    The rows are those that `signed_value` left in the workspace.
    """
    rows, squares = work[0:36], work[36:42]
    smallest = 0
    for i in range(1, 6):
        if squares[i] < squares[smallest]:
            smallest = i
    # What the five others leave of the unit vector that they leave the most of: exact to
    # rounding however small the sixth row is.
    most, best = 2.0, 0
    for k in range(6):
        covered = 0.0
        for i in range(6):
            if i != smallest:
                covered += rows[6 * i + k] * rows[6 * i + k] / squares[i]
        if covered < most:
            most, best = covered, k
    for k in range(6):
        null[k] = 0.0
    null[best] = 1.0
    for i in range(6):
        if i != smallest:
            share = rows[6 * i + best] / squares[i]
            for k in range(6):
                null[k] -= share * rows[6 * i + k]
    total = 0.0
    for k in range(6):
        total += null[k] * null[k]
    for k in range(6):
        null[k] /= total ** 0.5


@kernel
def slope(joints, x, value, direction, work):
    """Return how the signed value, `value` at x, changes along a unit twist: by a difference."""
    moved = work[78:90]
    r, p = se3.compose(
        mat3.load(x, 0), vec3.load(x, 9), *se3.exp(
            vec3.scale(STEP, vec3.load(direction, 0)), vec3.scale(STEP, vec3.load(direction, 3))))
    mat3.store(moved, 0, so3.normalize(r))
    vec3.store(moved, 9, p)
    return (signed_value(joints, moved, work) - value) / STEP


@kernel
def examine(joints, scale, pose, null, work):
    """Write the null twist of a pose (4 by 4, m); return the signed value and its slope there."""
    x = work[90:102]
    load(pose, scale, x)
    value = signed_value(joints, x, work)
    null_twist(work, null)
    return value, slope(joints, x, value, null, work)


@kernel
def signed_values(joints, scale, poses, values, work):
    """Write the signed value of each of n poses (4 by 4, m)."""
    x = work[90:102]
    for n in range(poses.shape[0]):
        load(poses[n], scale, x)
        values[n] = signed_value(joints, x, work)
