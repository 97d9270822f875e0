# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The platform at a pose: J = dL/d(body twist), its inverse, and how far it is from singular.

Lengths and positions are in characteristic lengths here, so that J, its singular values and its
null twist are dimensionless. The signed value is the smallest singular value with the sign of
det J: smooth through a singularity, where it changes sign.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, NUMBER, VECTOR
from liedyn_ros.lie.kernels import mat3, motion, se3, vec3
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, legs, singular_value
from liedyn_ros.stewart.platform.kernels.singular_value import SINGULAR_VALUE_WORK

# Where the parts of a state begin: J, J^-1, null twist, leg errors it makes, value, slope.
INVERSE_AT, NULL_TWIST_AT, LEFT_VECTOR_AT, VALUE_AT, SLOPE_AT, STATE_SIZE = 36, 72, 78, 84, 85, 86
SINGULARITY_WARNING = 0.05  # smallest singular value at which a pose is near a singularity
STATE_WORK = 36 + SINGULAR_VALUE_WORK + 48  # numbers in a workspace: J, J^-1, vectors nearby
SLOPE_DIFFERENCE = 1e-6  # of a difference, rad and characteristic lengths


@kernel
def write_platform_state(joints, r, p, state, work):
    """Write the state (STATE_SIZE numbers) of a pose, joints and p in characteristic lengths."""
    jacobian = state[0:36]
    leg_types.write_leg_ends(joints, r, p)
    leg_types.rod_jacobian(joints, r, p, legs.BY_BODY_TWIST, jacobian)
    null, left = state[NULL_TWIST_AT:LEFT_VECTOR_AT], state[LEFT_VECTOR_AT:VALUE_AT]
    state[VALUE_AT] = singular_value.signed_smallest(
        jacobian, state[INVERSE_AT:NULL_TWIST_AT], null, left, work)
    if not leg_rows.has_rows(joints):
        state[SLOPE_AT] = 0.0
        for i in range(6):
            state[SLOPE_AT] += left[i] * second_rate(joints, i, r, p, null)
    else:
        finish_moving_ends(joints, r, p, state, work)


@kernel
def finish_moving_ends(joints, r, p, state, work):
    """Write the slope by a difference; scale J and J^-1 from rods to drive coordinates (14.34)."""
    moved_r, moved_p = se3.compose(r, p, *se3.exp(
        vec3.scale(SLOPE_DIFFERENCE, vec3.load(state, NULL_TWIST_AT)),
        vec3.scale(SLOPE_DIFFERENCE, vec3.load(state, NULL_TWIST_AT + 3))))
    jacobian, spare = work[0:36], work[36 + SINGULAR_VALUE_WORK:STATE_WORK]
    leg_types.write_leg_ends(joints, moved_r, moved_p)
    leg_types.rod_jacobian(joints, moved_r, moved_p, legs.BY_BODY_TWIST, jacobian)
    value = singular_value.signed_smallest(
        jacobian, spare[0:36], spare[36:42], spare[42:48], work[36:36 + SINGULAR_VALUE_WORK])
    state[SLOPE_AT] = (value - state[VALUE_AT]) / SLOPE_DIFFERENCE
    leg_types.write_leg_ends(joints, r, p)
    for i in range(6):
        ratio = leg_types.ratio(joints, i)
        for k in range(6):
            state[6 * i + k] /= ratio
            state[INVERSE_AT + 6 * k + i] *= ratio


@kernel
def second_rate(joints, i, r, p, twist):
    """
    Return the second time derivative of a leg's length at a constant body twist.

    It is d(J twist) along the twist: with left and null vectors the signed value's slope.
    """
    w, v, b = vec3.load(twist, 0), vec3.load(twist, 3), legs.platform_joint(joints, i)
    leg = mat3.apply_t(r, legs.leg_vector(joints, i, r, p))
    s = vec3.add(v, vec3.cross(w, b))  # velocity of the platform joint, platform frame
    square = vec3.dot(leg, leg)
    along = vec3.dot(leg, s)
    return (vec3.dot(s, s) - along * along / square
            + vec3.dot(leg, vec3.cross(w, s))) / square ** 0.5


@kernel
def examine_pose(joints: VECTOR, scale: NUMBER, pose: MATRIX, state: VECTOR, work: VECTOR) -> None:
    """Write the state of a pose (4, 4) with the position in units of 1 / scale."""
    r, p = motion.split(pose)
    write_platform_state(joints, r, vec3.scale(1.0 / scale, p), state, work)


@kernel
def twist(state: VECTOR, scale: NUMBER, rates: VECTOR, out: VECTOR):
    """Write the twist of the body, (6,), rad/s and m/s, of leg rates (6,), m/s."""
    for k in range(6):
        total = 0.0
        for i in range(6):
            total += state[INVERSE_AT + 6 * k + i] * rates[i]
        out[k] = total / scale if k < 3 else total


@kernel
def signed_values(
        joints: VECTOR, scale: NUMBER, poses: CUBE, values: VECTOR, state: VECTOR, work: VECTOR):
    """Write the signed value of each of n poses (4, 4), m."""
    for n in range(poses.shape[0]):
        examine_pose(joints, scale, poses[n], state, work)
        values[n] = state[VALUE_AT]
