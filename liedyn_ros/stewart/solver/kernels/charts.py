# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Charts: the unknowns of a solver, their pose, and the update by a step.

In the charts BODY and SPATIAL (11.2, 11.3) the state is the pose itself, R row by row and then p,
and a step is a twist. In the other two the state is a vector, and a step is added to it. It has
the position, then ZYX angles (roll, pitch, yaw) or a quaternion x, y, z, w of any norm.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, se3, so3, vec3
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_screws, legs

BODY = legs.BODY  # T <- T exp(s)
SPATIAL = legs.SPATIAL  # T <- exp(s) T
ANGLES = 2  # six numbers
QUATERNION = 3  # seven numbers, and one equation more to fix the norm

CHART_STATE = 12  # numbers in the longest state

# The indices of the unknowns. A tuple's type includes its length. So loops over it are compiled
# once for six unknowns and once for seven, unrolled in both.
SIX = (0, 1, 2, 3, 4, 5)
SEVEN = (0, 1, 2, 3, 4, 5, 6)


@kernel
def state_pose(chart, x):
    """Return rotation and position of a state."""
    if chart == BODY or chart == SPATIAL:
        return mat3.load(x, 0), vec3.load(x, 9)
    if chart == ANGLES:
        return rotation_of_rpy(x[3], x[4], x[5]), vec3.load(x, 0)
    shrink = 1.0 / quaternion_square_norm(x) ** 0.5
    return (so3.from_quaternion((shrink * x[3], shrink * x[4], shrink * x[5], shrink * x[6])),
            vec3.load(x, 0))


@kernel
def store_state(chart, r, p, x):
    """Write the state of a pose."""
    if chart == BODY or chart == SPATIAL:
        mat3.store(x, 0, r)
        vec3.store(x, 9, p)
        return
    vec3.store(x, 0, p)
    if chart == ANGLES:
        vec3.store(x, 3, angles(r))
    else:
        x[3], x[4], x[5], x[6] = so3.to_quaternion(r)


@kernel
def retract_chart(chart, unknowns, x, step, factor, out):
    """Write T exp(factor s) for a body twist s (Stewart 28), exp(factor s) T, or x + factor s."""
    if chart == ANGLES or chart == QUATERNION:
        for i in unknowns:
            out[i] = x[i] + factor * step[i]
        return
    r, p = mat3.load(x, 0), vec3.load(x, 9)
    dr, dp = se3.exp(vec3.scale(factor, vec3.load(step, 0)),
                     vec3.scale(factor, vec3.load(step, 3)))
    if chart == BODY:
        r, p = se3.compose(r, p, dr, dp)
    else:
        r, p = se3.compose(dr, dp, r, p)
    mat3.store(out, 0, r)
    vec3.store(out, 9, p)


@kernel
def chart_jacobian(chart, unknowns, joints, x, r, p, out):
    """Write the derivative of the squared lengths, and of |q|^2, by a vector of unknowns."""
    n = len(unknowns)
    for i in range(6):
        # Of the force along the leg and its moment about the platform's centre, in the base
        # frame, the chart takes its parts.
        f = vec3.scale(2.0, legs.leg_vector(joints, i, r, p))
        m = vec3.cross(mat3.apply(r, legs.platform_joint(joints, i)), f)
        if len(joints) > leg_rows.ENDS:
            m, f = leg_screws.with_turn(joints, i, r, p, m, f)
        vec3.store(out, n * i, f)
        if chart == ANGLES:
            store_angles_row(m, x, r, out, n * i + 3)
        else:
            store_quaternion_row(m, x, out, n * i + 3)
    if chart == QUATERNION:
        vec3.store(out, 6 * n, vec3.ZERO)
        for k in range(3, 7):
            out[6 * n + k] = 2.0 * x[k]


@kernel
def store_angles_row(m, x, r, out, at):
    """Write the moments about the axes of roll, R e_x, of pitch, Rz(yaw) e_y, and of yaw."""
    out[at] = r[0] * m[0] + r[3] * m[1] + r[6] * m[2]
    out[at + 1] = math.cos(x[5]) * m[1] - math.sin(x[5]) * m[0]
    out[at + 2] = m[2]


@kernel
def store_quaternion_row(m, x, out, at):
    """Write the derivative by q of a work m.w, where w = 2 dq q^-1."""
    v, s = vec3.load(x, 3), x[6]
    double = 2.0 / quaternion_square_norm(x)
    vec3.store(out, at, vec3.scale(double, vec3.sub(vec3.scale(s, m), vec3.cross(v, m))))
    out[at + 3] = -double * vec3.dot(v, m)


@kernel
def quaternion_square_norm(x):
    """Return the square norm of the quaternion in a state."""
    return x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6]


@kernel
def rotation_of_rpy(roll, pitch, yaw):
    """Return Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,
            sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,
            -sp, cp * sr, cp * cr)


@kernel
def angles(r):
    """Return roll, pitch and yaw of a rotation, |pitch| <= pi/2; at pi/2 one of those that fit."""
    roll = math.atan2(r[7], r[8])
    c, s = math.cos(roll), math.sin(roll)
    # Without the roll the rotation is Rz(yaw) Ry(pitch), whose second column knows yaw always.
    return (roll, math.atan2(-r[6], (r[7] * r[7] + r[8] * r[8]) ** 0.5),
            math.atan2(s * r[2] - c * r[1], c * r[4] - s * r[5]))
