# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of named bodies, and their Jacobians."""

from liedyn_ros.dynamics.tree.kernels import joints, motion
from liedyn_ros.dynamics.tree.kernels.tables import (
    ACCELERATION, ACCELERATIONS, BODIES, body_row, CARRIER, COMPUTED, KIND, LINKS, load3, load9,
    PARENT, PITCH, PLACEMENT, POSES, store3, TWIST, TWISTS, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import mat3, se3, vec3


@kernel
def kinematics(model, data, q, v, a, poses, twists, accelerations):
    """Write poses (B, 4, 4), twists and accelerations (B, 6); return whether all are good."""
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a)):
        return False
    for i in range(1, get_int(model, 0, LINKS)):
        motion.store_ground_pose(model, data, i, q)
        motion.store_twist(model, data, i, v)
        motion.store_acceleration(model, data, i, v, a)
    lift = load3(data, 0, ACCELERATION + 3)  # -a_g, by which all accelerations are off (3.0)
    for b in range(get_int(model, 0, BODIES)):
        row = body_row(model, b)
        i, e, d = get_int(model, row, CARRIER), load9(model, row, PLACEMENT), load3(
            model, row, PLACEMENT + 9)
        r, p = motion.load_ground_pose(data, i)
        store_matrix(poses, b, *se3.compose(r, p, e, d))
        w, u = se3.adjoint_inverse(e, d, load3(data, i, TWIST), load3(data, i, TWIST + 3))
        store3(twists, b, 0, w)
        store3(twists, b, 3, u)
        dw = load3(data, i, ACCELERATION)
        du = vec3.sub(load3(data, i, ACCELERATION + 3), mat3.apply_t(r, lift))
        dw, du = se3.adjoint_inverse(e, d, dw, du)
        store3(accelerations, b, 0, dw)
        store3(accelerations, b, 3, du)
    put(data, 0, COMPUTED, float(POSES + TWISTS + ACCELERATIONS))
    return (joints.finite(poses.reshape(-1)) and joints.finite(twists.reshape(-1))
            and joints.finite(accelerations.reshape(-1)))


@inlined
def store_matrix(poses, b, r, p):
    """Write a pose as a 4 by 4 matrix."""
    for row in range(3):
        for column in range(3):
            poses[b, row, column] = r[3 * row + column]
        poses[b, row, 3] = p[row]
        poses[b, 3, row] = 0.0
    poses[b, 3, 3] = 1.0


@kernel
def twist_jacobian(model, data, b, spatial, q, out):
    """Write the Jacobian (6, nv) of the body or spatial twist; return whether all is good."""
    put(data, 0, COMPUTED, 0.0)
    if not joints.acceptable(model, q):
        return False
    for i in range(1, get_int(model, 0, LINKS)):
        motion.store_ground_pose(model, data, i, q)
    out[:] = 0.0
    row = body_row(model, b)
    i = get_int(model, row, CARRIER)
    r, p = motion.load_ground_pose(data, i)
    r, p = se3.compose(r, p, load9(model, row, PLACEMENT), load3(model, row, PLACEMENT + 9))
    while i > 0:
        ri, pi = motion.load_ground_pose(data, i)
        for k in range(joints.degrees(get_int(model, i, KIND))):
            w, v = joints.screw(get_int(model, i, KIND), get(model, i, PITCH), k)
            w, v = se3.adjoint(ri, pi, w, v)  # (0.5)
            if not spatial:
                w, v = se3.adjoint_inverse(r, p, w, v)
            column = get_int(model, i, VI) + k
            out[0, column], out[1, column], out[2, column] = w
            out[3, column], out[4, column], out[5, column] = v
        i = get_int(model, i, PARENT)
    put(data, 0, COMPUTED, float(POSES))
    return joints.finite(out.reshape(-1))
