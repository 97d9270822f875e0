# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Pose, twist and acceleration of a frame: one walk from the frame to the ground.

On the way rows are those of T, the pose of the frame in the link. A screw S of the link's joint is
Ad_{T^-1} S in the frame. No table is written, and links off the path cost nothing.
"""

from liedyn_ros.dynamics.frames.kernels.rows import (
    are_zeros, as_pose, placement_rows, put_whole_pose, seen_from_parent)
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.axes import are_axes, expressed
from liedyn_ros.dynamics.tree.kernels.tables import (
    body_row, CARRIER, KIND, load12, PARENT, PITCH, PLACEMENT, QI, VI)
from liedyn_ros.dynamics.tree.kernels.trigonometry import sine_cosine
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, TRUTH, VECTOR, WHOLE
from liedyn_ros.jit.simd import get, get_int, parts, quad_of
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.acceptance import finite
from liedyn_ros.model.kernels.kinds import REVOLUTE


@inlined
def frame_on_link(model, frame):
    """Return the link that carries a frame, and the pose of the frame in it."""
    row = body_row(model, frame)
    return get_int(model, row, CARRIER), placement_rows(model, row)


@inlined
def pose_in_parent(model, i, q, rows):
    """Return the pose of the frame in the parent of link i."""
    if get_int(model, i, KIND) == REVOLUTE:
        s, c = sine_cosine(q[get_int(model, i, QI)])
        r, p = load12(model, i, PLACEMENT)
        return seen_from_parent(r, p, (
            c * rows[0] - s * rows[1], s * rows[0] + c * rows[1], rows[2]))
    r, p = joints.joint_pose(model, i, q)
    return seen_from_parent(r, p, rows)


@inlined
def screw_in_frame(model, i, k, rows):
    """Return Ad_{T^-1} S of coordinate k of link i."""
    kind = get_int(model, i, KIND)
    if kind == REVOLUTE:  # w = R^T z and u = -R^T (p x z), without the products by zero
        w = parts(rows[2])
        u = parts(parts(rows[0])[3] * rows[1] - parts(rows[1])[3] * rows[0])
        return w[0:3], u[0:3]
    r, p = as_pose(rows)
    return se3.adjoint_inverse(r, p, *joints.screw(kind, get(model, i, PITCH), k))


@inlined
def relative_joint_twist(model, i, rates, rows):
    """Return the twist of link i against its parent, at the rates of its joint, in the frame."""
    r, p = as_pose(rows)
    w, v = joints.relative_twist(get_int(model, i, KIND), get(model, i, PITCH), rates,
                                 get_int(model, i, VI))
    return se3.adjoint_inverse(r, p, w, v)  # (0.5)


@inlined
def pose_of(model, q, frame):
    """Return the pose of a frame in the ground, in rows."""
    i, rows = frame_on_link(model, frame)
    while i > 0:
        rows = pose_in_parent(model, i, q, rows)
        i = get_int(model, i, PARENT)
    return rows


@inlined
def twist_of(model, q, v, frame):
    """Return the pose (r, p) of a frame in the ground, and its body twist (w, u)."""
    i, rows = frame_on_link(model, frame)
    w, u = vec3.ZERO, vec3.ZERO
    while i > 0:
        jw, ju = relative_joint_twist(model, i, v, rows)
        w, u = vec3.add(w, jw), vec3.add(u, ju)
        rows = pose_in_parent(model, i, q, rows)
        i = get_int(model, i, PARENT)
    r, p = as_pose(rows)
    return r, p, w, u


@inlined
def acceleration_of(model, q, v, a, frame):
    """Return pose, body twist (w, u) of a frame, and the derivative (dw, du) of its numbers."""
    i, rows = frame_on_link(model, frame)
    w, u, dw, du = vec3.ZERO, vec3.ZERO, vec3.ZERO, vec3.ZERO
    while i > 0:
        # (Ad_{T^-1} S)' = -ad_V Ad_{T^-1} S, V being the twist against link i so far (0.13).
        jw, ju = relative_joint_twist(model, i, v, rows)
        bw, bu = se3.ad(jw, ju, w, u)
        aw, au = relative_joint_twist(model, i, a, rows)
        dw, du = vec3.add(dw, vec3.add(aw, bw)), vec3.add(du, vec3.add(au, bu))
        w, u = vec3.add(w, jw), vec3.add(u, ju)
        rows = pose_in_parent(model, i, q, rows)
        i = get_int(model, i, PARENT)
    r, p = as_pose(rows)
    return r, p, w, u, dw, du


@kernel
def frame_poses(model: MATRIX, q: VECTOR, frames: INTEGERS, out: CUBE) -> TRUTH:
    """Write the poses (F, 4, 4) of frames (F,); return whether all is good."""
    if not joints.acceptable(model, q):
        return False
    poses, excess = out.reshape((len(out), 16)), quad_of(0.0)
    for k in range(len(frames)):
        excess = excess + put_whole_pose(poses, k, pose_of(model, q, frames[k]))
    return are_zeros(excess)


@kernel
def frame_twists(model: MATRIX, q: VECTOR, v: VECTOR, frames: INTEGERS, axes: WHOLE, out: MATRIX
                 ) -> TRUTH:
    """Write the twists (F, 6) of frames (F,); return whether all is good."""
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v) and are_axes(axes)):
        return False
    for k in range(len(frames)):
        r, p, w, u = twist_of(model, q, v, frames[k])
        store_twist_of(out, k, *expressed(axes, r, p, w, u))
    return finite(out)


@kernel
def frame_accelerations(
        model: MATRIX, q: VECTOR, v: VECTOR, a: VECTOR, frames: INTEGERS, axes: WHOLE,
        classical: TRUTH, out: MATRIX) -> TRUTH:
    """Write the accelerations (F, 6) of frames (F,); return whether all is good."""
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a) and are_axes(axes)):
        return False
    for k in range(len(frames)):
        r, p, w, u, dw, du = acceleration_of(model, q, v, a, frames[k])
        w, u = expressed(axes, r, p, w, u)
        dw, du = expressed(axes, r, p, dw, du)
        if classical:
            du = vec3.add(du, vec3.cross(w, u))
        store_twist_of(out, k, dw, du)
    return finite(out)


@inlined
def store_twist_of(out, k, w, v):
    """Write a twist into row k."""
    out[k, 0], out[k, 1], out[k, 2] = w
    out[k, 3], out[k, 4], out[k, 5] = v
