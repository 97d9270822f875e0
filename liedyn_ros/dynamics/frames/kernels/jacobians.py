# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Jacobians of frames and their rates, on the walk of `motion` from the frame to the ground."""

from liedyn_ros.dynamics.frames.kernels.motion import (
    as_pose, frame_on_link, pose_in_parent, relative_joint_twist, screw_in_frame)
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.kinematics import (
    are_axes, expressed, LOCAL, LOCAL_WORLD_ALIGNED)
from liedyn_ros.dynamics.tree.kernels.tables import Link
from liedyn_ros.jit.decorators import inlined, kernel, long_kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, TRUTH, VECTOR, WHOLE
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.jit.simd import get, put
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.configuration import finite


@kernel
def frame_jacobian(model: MATRIX, q: VECTOR, frame: WHOLE, axes: WHOLE, out: MATRIX) -> TRUTH:
    """Write J (6, nv) with J v the twist of a frame; return whether all is good."""
    if not (joints.acceptable(model, q) and are_axes(axes) and joints.is_matrix(model, out, 6)
            and not overlap(out, q)):
        return False
    write_frame_jacobian(model, q, frame, axes, out)
    return finite(out)


@kernel
def frame_jacobians(model: MATRIX, q: VECTOR, frames: INTEGERS, axes: WHOLE, out: CUBE):
    """Write the Jacobians (F, 6, nv) of frames (F,); return whether all is good."""
    if not (joints.acceptable(model, q) and are_axes(axes) and not overlap(out, q)):
        return False
    for k in range(len(frames)):
        write_frame_jacobian(model, q, frames[k], axes, out[k])
    return finite(out)


@long_kernel
def jacobians_of_states(model: MATRIX, q: MATRIX, frame: WHOLE, axes: WHOLE, out: CUBE):
    """Write the Jacobians (K, 6, nv) of a frame; return the first state refused, K if none."""
    for s in range(len(q)):
        if not joints.acceptable(model, q[s]):
            return s
        write_frame_jacobian(model, q[s], frame, axes, out[s])
        if not finite(out[s]):
            return s
    return len(q)


@kernel
def frame_jacobian_rates(
        model: MATRIX, jacobian: MATRIX, q: VECTOR, v: VECTOR, frames: INTEGERS, axes: WHOLE,
        out: CUBE) -> TRUTH:
    """
    Write dJ/dt (F, 6, nv) of frames (F,) in motion; return whether all is good.

    jacobian (6, nv) is a scratch buffer.
    """
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v) and are_axes(axes)):
        return False
    for k in range(len(frames)):
        write_frame_jacobian_rate(model, q, v, frames[k], axes, jacobian, out[k])
    return finite(out)


@inlined
def write_frame_jacobian(model, q, frame, axes, out):
    """Write the Jacobian of a frame: each screw of the path, in the frame (0.5)."""
    out[:] = 0.0
    first, rows = frame_on_link(model, frame)
    i = first
    while i > 0:
        for k in range(joints.degrees(Link(model, i).kind)):
            w, u = screw_in_frame(model, i, k, rows)
            put_screw(out, Link(model, i).vi + k, w, u)
        parent = Link(model, i).parent
        if parent > 0 or axes != LOCAL:
            rows = pose_in_parent(model, i, q, rows)
        i = parent
    if axes == LOCAL:
        return
    i, (r, p) = first, as_pose(rows)
    while i > 0:
        vi = Link(model, i).vi
        for column in range(vi, vi + joints.degrees(Link(model, i).kind)):
            w, u = screw_at(out, column)
            put_screw(out, column, *expressed(axes, r, p, w, u))
        i = Link(model, i).parent


@inlined
def write_frame_jacobian_rate(model, q, v, frame, axes, jacobian, out):
    """
    Write the time derivative of the Jacobian of a frame, and the body Jacobian beside it.

    In the frame (Ad_{T^-1} S)' = -ad_V Ad_{T^-1} S, V being the twist of the frame against the
    link of S (0.13). In axes A of the ground, (A J)' = A (J' + a J): a is ad of the body twist for
    WORLD, and the cross product with its angular part for LOCAL_WORLD_ALIGNED.
    """
    out[:] = 0.0
    first, rows = frame_on_link(model, frame)
    i, w, u = first, vec3.ZERO, vec3.ZERO
    while i > 0:
        for k in range(joints.degrees(Link(model, i).kind)):
            sw, su = screw_in_frame(model, i, k, rows)
            put_screw(jacobian, Link(model, i).vi + k, sw, su)
            put_screw(out, Link(model, i).vi + k, *se3.ad(sw, su, w, u))
        jw, ju = relative_joint_twist(model, i, v, rows)
        w, u = vec3.add(w, jw), vec3.add(u, ju)
        rows = pose_in_parent(model, i, q, rows)
        i = Link(model, i).parent
    if axes == LOCAL:
        return
    if axes == LOCAL_WORLD_ALIGNED:  # ad_(w, 0) turns both halves
        u = vec3.ZERO
    i, (r, p) = first, as_pose(rows)
    while i > 0:
        vi = Link(model, i).vi
        for column in range(vi, vi + joints.degrees(Link(model, i).kind)):
            sw, su = screw_at(jacobian, column)
            dw, du = se3.ad(w, u, sw, su)
            sw, su = screw_at(out, column)
            put_screw(out, column, *expressed(
                axes, r, p, vec3.add(sw, dw), vec3.add(su, du)))
        i = Link(model, i).parent


@inlined
def screw_at(matrix, column):
    """Return the six entries of a column."""
    return ((get(matrix, 0, column), get(matrix, 1, column), get(matrix, 2, column)),
            (get(matrix, 3, column), get(matrix, 4, column), get(matrix, 5, column)))


@inlined
def put_screw(matrix, column, w, v):
    """Write the six entries of a column."""
    for k in range(3):
        put(matrix, k, column, w[k])
        put(matrix, k + 3, column, v[k])
