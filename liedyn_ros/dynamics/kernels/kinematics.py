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
What is asked of named bodies: their motion, their Jacobians, the wrenches applied to them.

A named body b is fixed to row body_row[b] of links, 0 for the ground, where body_placement[b] is
its pose, rotation row by row, then translation.
"""

from liedyn_ros.dynamics.kernels import joints, motion
from liedyn_ros.dynamics.kernels.rows import (
    ACCELERATION, add3, EXTERNAL, KIND, load3, load9, PARENT, PITCH, store3, TWIST, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import mat3, se3, vec3


@kernel
def apply_wrenches(links, body_row, body_placement, external):
    """Replace the applied wrenches of all links by those (B, 6) on bodies, in their frames."""
    finite = True
    for i in range(len(links)):
        store3(links, i, EXTERNAL, vec3.ZERO)
        store3(links, i, EXTERNAL + 3, vec3.ZERO)
    for b in range(len(body_row)):
        r, p = load9(body_placement, b, 0), load3(body_placement, b, 9)
        m, f = se3.adjoint_inverse_dual(r, p, load3(external, b, 0), load3(external, b, 3))
        add3(links, body_row[b], EXTERNAL, m)
        add3(links, body_row[b], EXTERNAL + 3, f)
        finite = finite and joints.finite(external[b])
    return finite


@kernel
def kinematics(topology, links, body_row, body_placement, q, v, a, poses, twists, accelerations):
    """Write poses (B, 4, 4), twists and accelerations (B, 6); return whether all are good."""
    if not (joints.acceptable(topology, q) and joints.finite(v) and joints.finite(a)):
        return False
    for i in range(1, len(links)):
        motion.store_ground_pose(topology, links, i, q)
        motion.store_twist(topology, links, i, v)
        motion.store_acceleration(topology, links, i, v, a)
    lift = load3(links, 0, ACCELERATION + 3)  # -a_g, by which all accelerations are off (3.0)
    for b in range(len(body_row)):
        i, e, d = body_row[b], load9(body_placement, b, 0), load3(body_placement, b, 9)
        r, p = motion.load_ground_pose(links, i)
        store_matrix(poses, b, *se3.compose(r, p, e, d))
        w, u = se3.adjoint_inverse(e, d, load3(links, i, TWIST), load3(links, i, TWIST + 3))
        store3(twists, b, 0, w)
        store3(twists, b, 3, u)
        dw = load3(links, i, ACCELERATION)
        du = vec3.sub(load3(links, i, ACCELERATION + 3), mat3.apply_t(r, lift))
        dw, du = se3.adjoint_inverse(e, d, dw, du)
        store3(accelerations, b, 0, dw)
        store3(accelerations, b, 3, du)
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
def jacobian(topology, links, body_row, body_placement, b, spatial, q, out):
    """Write the Jacobian (6, nv) of the body or spatial twist; return whether all is good."""
    if not joints.acceptable(topology, q):
        return False
    for i in range(1, len(links)):
        motion.store_ground_pose(topology, links, i, q)
    out[:] = 0.0
    r, p = motion.load_ground_pose(links, body_row[b])
    r, p = se3.compose(r, p, load9(body_placement, b, 0), load3(body_placement, b, 9))
    i = body_row[b]
    while i > 0:
        ri, pi = motion.load_ground_pose(links, i)
        for k in range(joints.degrees(topology[i, KIND])):
            w, v = joints.screw(topology[i, KIND], links[i, PITCH], k)
            w, v = se3.adjoint(ri, pi, w, v)  # (0.5)
            if not spatial:
                w, v = se3.adjoint_inverse(r, p, w, v)
            column = topology[i, VI] + k
            out[0, column], out[1, column], out[2, column] = w
            out[3, column], out[4, column], out[5, column] = v
        i = topology[i, PARENT]
    return joints.finite(out.reshape(-1))
