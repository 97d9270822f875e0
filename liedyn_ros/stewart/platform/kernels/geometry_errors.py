# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Errors of the geometry in a pose and its twist (14.30).

Of each leg they are those of its base joint a, its platform joint b, its offset, and its scale if
there are eight. The value of a leg depends on R b + p - a and R alone, whatever the leg type. So a
shift of a is a shift of the pose, for this leg, and a shift of b another one.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.kernels import inverse_rates, leg_types, legs

# Numbers: J and inverse, J kept, d(J twist), values, the map
GEOMETRY_WORK = 72 + 36 + 36 + 12 + 12 * 48


@kernel
def covariance_of_errors(
        joints: VECTOR, pose: MATRIX, twist: VECTOR, errors: MATRIX, out: MATRIX, work: VECTOR):
    """
    Write the covariance (12, 12) of a pose's error and its twist's, by those of the geometry.

    errors: (6 m, 6 m), their covariance, of m = 7 or 8 numbers a leg. Returns False where J has no
    inverse.
    """
    numbers = len(errors)
    effects = work[156:156 + 12 * numbers]
    if not write_effects(joints, pose, twist, numbers // 6, effects, work):
        return False
    for i in range(12):
        for j in range(12):
            out[i, j] = 0.0
    for k in range(numbers):
        for j in range(12):
            total = 0.0
            for n in range(numbers):
                total += errors[k, n] * effects[numbers * j + n]
            for i in range(12):
                out[i, j] += effects[numbers * i + k] * total
    for i in range(12):
        for j in range(i):
            out[i, j] = out[j, i] = 0.5 * (out[i, j] + out[j, i])
    return True


@kernel
def write_effects(joints, pose, twist, width, effects, work):
    """
    Write d(pose, twist)/d(errors), 12 rows of width numbers a leg, by J(T) V = s m'.

    delta x = -J^-1 G delta theta, delta V = J^-1 (delta s m' - delta_theta(J V) - B delta x), with
    B = d(J V)/d(pose). Returns False where J has no inverse.
    """
    inverse, jacobian, change, values = work[36:72], work[72:108], work[108:144], work[144:156]
    numbers = 6 * width
    if not inverse_rates.inverse_jacobian(joints, pose, work):
        return False
    inverse_rates.jacobian_change(joints, pose, twist, change, jacobian)
    r, p = split(pose)
    leg_types.value_jacobian(joints, r, p, legs.BY_BODY_TWIST, jacobian)
    for i in range(6):
        values[i] = leg_types.leg_value(joints, i, r, p)
        values[6 + i] = 0.0
        for k in range(6):
            values[6 + i] += jacobian[6 * i + k] * twist[k]
    for leg in range(6):
        direct, by_pose = vec3.load(jacobian, 6 * leg + 3), vec3.load(change, 6 * leg + 3)
        turning = vec3.cross(direct, vec3.load(twist, 0))  # J [w], as a row
        base, base_rate = mat3.apply(r, direct), mat3.apply(r, by_pose)
        for k in range(width):
            error, rate = 1.0, 0.0
            if k < 3:
                error, rate = base[k % 3], base_rate[k % 3]
            elif k < 6:
                error, rate = -direct[k % 3], -by_pose[k % 3] - turning[k % 3]
            elif k == 7:
                error, rate = values[leg], values[6 + leg]
            column = width * leg + k
            for i in range(6):
                effects[numbers * i + column] = inverse[6 * i + leg] * error
                effects[numbers * (6 + i) + column] = inverse[6 * i + leg] * rate
    for column in range(numbers):
        for i in range(6):
            for leg in range(6):
                shift = 0.0
                for k in range(6):
                    shift += change[6 * leg + k] * effects[numbers * k + column]
                effects[numbers * (6 + i) + column] -= inverse[6 * i + leg] * shift
    return True
