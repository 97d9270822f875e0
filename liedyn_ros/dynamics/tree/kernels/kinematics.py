# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The motion of named bodies, the axes of its twists, velocities in exponential coordinates.

Axes in which the twist of a frame is expressed. LOCAL has the axes and the origin of the frame:
the body twist. WORLD has those of the ground: the spatial twist. LOCAL_WORLD_ALIGNED has the
origin of the frame and the axes of the ground.
"""

from liedyn_ros.dynamics.tree.kernels import joints, motion
from liedyn_ros.dynamics.tree.kernels.tables import (
    body_at, Link, State, store3, Tree)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, TRUTH, VECTOR
from liedyn_ros.lie.kernels import mat3, se3, so3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL


@kernel
def kinematics(
        model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, a: VECTOR, poses: CUBE, twists: MATRIX,
        accelerations: MATRIX) -> TRUTH:
    """Write poses (B, 4, 4), twists and accelerations (B, 6); return whether all are good."""
    ground = State(data, 0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a)):
        return False
    joints.store_angles(model, State, data, q)
    tree = Tree(model, 0)
    for i in range(1, tree.links):
        motion.store_ground_pose(model, data, i, q)
        motion.store_twist(model, data, i, v)
        motion.store_acceleration(model, data, i, v, a)
    lift = ground.acceleration[1]  # -a_g, by which all accelerations are off (3.0)
    for b in range(tree.bodies):
        carried = body_at(model, b)
        i = carried.carrier
        e, d = carried.placement
        r, p = motion.load_ground_pose(data, i)
        store_matrix(poses, b, *se3.compose(r, p, e, d))
        state = State(data, i)
        w, u = se3.adjoint_inverse(e, d, *state.twist)
        store3(twists, b, 0, w)
        store3(twists, b, 3, u)
        dw, du = state.acceleration
        dw, du = se3.adjoint_inverse(e, d, dw, vec3.sub(du, mat3.apply_t(r, lift)))
        store3(accelerations, b, 0, dw)
        store3(accelerations, b, 3, du)
    return (finite(poses) and finite(twists)
            and finite(accelerations))


@inlined
def store_matrix(poses, b, r, p):
    """Write a pose as a 4 by 4 matrix."""
    for row in range(3):
        for column in range(3):
            poses[b, row, column] = r[3 * row + column]
        poses[b, row, 3] = p[row]
        poses[b, 3, row] = 0.0
    poses[b, 3, 3] = 1.0


WORLD, LOCAL, LOCAL_WORLD_ALIGNED = range(3)  # as Pinocchio numbers them


@inlined
def are_axes(axes):
    """Return whether a number is one of the three."""
    return WORLD <= axes <= LOCAL_WORLD_ALIGNED


@inlined
def expressed(axes, r, p, w, v):
    """Return a body twist of the frame at the pose (r, p) in axes."""
    if axes == LOCAL:
        return w, v
    if axes == WORLD:
        return se3.adjoint(r, p, w, v)  # (1.2)
    return mat3.apply(r, w), mat3.apply(r, v)


@kernel
def exponential_rate(model: MATRIX, x: VECTOR, v: VECTOR, out: VECTOR):
    """Write the dx/dt that moves q0 (+) x with the velocity v: dexp(-x)^-1 v on each group."""
    for k in range(len(v)):
        out[k] = v[k]
    for i in range(1, Tree(model, 0).links):
        link = Link(model, i)
        kind, vi = link.kind, link.vi
        if kind == SPHERICAL:
            jacobian = so3.left_jacobian_inverse(vec3.neg(vec3.load(x, vi)))
            vec3.store(out, vi, mat3.apply(jacobian, vec3.load(v, vi)))  # (1.14)
        elif kind == FREE:
            j, q = se3.left_jacobian_inverse(
                vec3.neg(vec3.load(x, vi)), vec3.neg(vec3.load(x, vi + 3)))
            w, u = vec3.load(v, vi), vec3.load(v, vi + 3)
            vec3.store(out, vi, mat3.apply(j, w))  # (1.14)
            vec3.store(out, vi + 3, vec3.add(mat3.apply(q, w), mat3.apply(j, u)))
