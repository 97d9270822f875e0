# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Pose, twist and acceleration of a frame: one walk to the ground; the poses of all frames.

On the way rows are those of T, the pose of the frame in the link. A screw S of the link's joint is
Ad_{T^-1} S in the frame. No table is written, and links off the path cost nothing.
"""

from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.joints import sine_cosine
from liedyn_ros.dynamics.tree.kernels.kinematics import are_axes, expressed
from liedyn_ros.dynamics.tree.kernels.tables import (
    Body, body_row, Link, Tree)
from liedyn_ros.jit.decorators import inlined, kernel, long_kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, INTEGERS, MATRIX, TRUTH, VECTOR, WHOLE
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.jit.rows import Row, SINE_COSINE
from liedyn_ros.jit.simd import (
    filled, get, get_quad, joined, of_width, parts, put_quad, quad_of, swapped)
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import REVOLUTE

PLACEMENT = Body.column('placement')


@inlined
def as_rows(r, p):
    """Return the rows of a pose."""
    return (joined(r[0], r[1], r[2], p[0]), joined(r[3], r[4], r[5], p[1]),
            joined(r[6], r[7], r[8], p[2]))


@inlined
def as_pose(rows):
    """Return the pose (r, p) of rows."""
    x, y, z = parts(rows[0]), parts(rows[1]), parts(rows[2])
    return x[0:3] + y[0:3] + z[0:3], (x[3], y[3], z[3])


@inlined
def placement_rows(model, row):
    """Return the placement of a link or frame in what carries it."""
    _, p = Body(model, row).placement
    return (filled(get_quad(model, row, PLACEMENT), 3, p[0]),
            filled(get_quad(model, row, PLACEMENT + 3), 3, p[1]),
            filled(get_quad(model, row, PLACEMENT + 6), 3, p[2]))


@inlined
def seen_from_parent(r, p, rows):
    """Return the product of a pose (r, p) and a pose in rows."""
    return (row_times_pose(r[0], r[1], r[2], p[0], rows),
            row_times_pose(r[3], r[4], r[5], p[1], rows),
            row_times_pose(r[6], r[7], r[8], p[2], rows))


@inlined
def row_times_pose(a, b, c, d, rows):
    """Return the row a, b, c, d of a pose times another pose."""
    return (a * rows[0] + b * rows[1]) + (c * rows[2] + filled(quad_of(0.0), 3, d))


@inlined
def put_pose(table, i, rows):
    """Write the rows of a pose into the first columns of row i."""
    put_quad(table, i, 0, rows[0])
    put_quad(table, i, 4, rows[1])
    put_quad(table, i, 8, rows[2])


@inlined
def put_whole_pose(table, i, rows):
    """Write the 4 by 4 matrix of a pose into row i; return zeros, or NaN if it is not finite."""
    put_pose(table, i, rows)
    put_quad(table, i, 12, joined(0.0, 0.0, 0.0, 1.0))
    return (rows[0] - rows[0]) + (rows[1] - rows[1]) + (rows[2] - rows[2])


@inlined
def are_zeros(quad):
    """Return whether four Lanes are zeros, and not NaN."""
    x = parts(quad)
    return x[0] + x[1] + x[2] + x[3] == 0.0


@inlined
def frame_on_link(model, frame):
    """Return the link that carries a frame, and the pose of the frame in it."""
    row = body_row(model, frame)
    return Body(model, row).carrier, placement_rows(model, row)


@inlined
def pose_in_parent(model, i, q, rows):
    """Return the pose of the frame in the parent of link i."""
    link = Link(model, i)
    if link.kind == REVOLUTE:
        s, c = sine_cosine(q[link.qi])
        r, p = link.placement
        return seen_from_parent(r, p, (
            c * rows[0] - s * rows[1], s * rows[0] + c * rows[1], rows[2]))
    r, p = joints.joint_pose(model, i, q)
    return seen_from_parent(r, p, rows)


@inlined
def screw_in_frame(model, i, k, rows):
    """Return Ad_{T^-1} S of coordinate k of link i."""
    link = Link(model, i)
    kind = link.kind
    if kind == REVOLUTE:  # w = R^T z and u = -R^T (p x z), without the products by zero
        w = parts(rows[2])
        u = parts(parts(rows[0])[3] * rows[1] - parts(rows[1])[3] * rows[0])
        return w[0:3], u[0:3]
    r, p = as_pose(rows)
    return se3.adjoint_inverse(r, p, *joints.screw(kind, link.pitch, k))


@inlined
def relative_joint_twist(model, i, rates, rows):
    """Return the twist of link i against its parent, at the rates of its joint, in the frame."""
    r, p = as_pose(rows)
    link = Link(model, i)
    w, v = joints.relative_twist(link.kind, link.pitch, rates, link.vi)
    return se3.adjoint_inverse(r, p, w, v)  # (0.5)


@inlined
def pose_of(model, q, frame):
    """Return the pose of a frame in the ground, in rows."""
    i, rows = frame_on_link(model, frame)
    while i > 0:
        rows = pose_in_parent(model, i, q, rows)
        i = Link(model, i).parent
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
        i = Link(model, i).parent
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
        i = Link(model, i).parent
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


POSE_WIDTH = 12  # of the scratch buffer: the pose of a link in the ground, row by row
GroundPose = Row('GroundPose', POSE_WIDTH, angle=SINE_COSINE)


@kernel
def all_poses(model: MATRIX, links: MATRIX, q: VECTOR, out: CUBE):
    """
    Write the poses (F, 4, 4) of all frames; return whether all is good.

    links (N + 1, POSE_WIDTH) is a scratch buffer.
    """
    frames = model.shape[0] - body_row(model, 0)
    if out.shape[0] != frames or out.shape[1] != 4 or out.shape[2] != 4 or overlap(out, q):
        return False
    return write_all_poses(model, links, q, out)


@long_kernel
def poses_of_states(model: MATRIX, links: MATRIX, q: MATRIX, out: ARRAY4):
    """Write the poses (K, F, 4, 4) of K states; return the first one refused, K if none."""
    for s in range(len(q)):
        if not write_all_poses(model, links, q[s], out[s]):
            return s
    return len(q)


@inlined
def write_all_poses(model, links, q, out):
    """Write the pose of each frame; return whether all is good."""
    links = of_width(links, POSE_WIDTH)
    if not joints.acceptable(model, q):
        return False
    joints.store_angles(model, GroundPose, links, q)
    for i in range(1, Tree(model, 0).links):
        put_pose(links, i, on_parent(links, Link(model, i).parent, joint_rows(model, links, i, q)))
    poses, excess = out.reshape((len(out), 16)), quad_of(0.0)
    for k in range(len(poses)):
        i, rows = frame_on_link(model, k)
        excess = excess + put_whole_pose(poses, k, on_parent(links, i, rows))
    return are_zeros(excess)


@inlined
def joint_rows(model, links, i, q):
    """Return the pose of link i in its parent (2.1)."""
    if Link(model, i).kind == REVOLUTE:
        s, c = GroundPose(links, i).angle
        x, y, z = placement_rows(model, i)
        cosines, sines = joined(c, c, 1.0, 1.0), joined(s, -s, 0.0, 0.0)
        return (cosines * x + sines * swapped(x), cosines * y + sines * swapped(y),
                cosines * z + sines * swapped(z))
    return as_rows(*joints.joint_pose(model, i, q))


@inlined
def on_parent(links, parent, rows):
    """Return a pose in the ground, of what stands on a link, or on the ground for row 0."""
    if parent == 0:
        return rows
    return (row_on_parent(links, parent, 0, rows), row_on_parent(links, parent, 4, rows),
            row_on_parent(links, parent, 8, rows))


@inlined
def row_on_parent(links, parent, at, rows):
    """Return a row of the pose of a link times a pose."""
    return row_times_pose(get(links, parent, at), get(links, parent, at + 1),
                          get(links, parent, at + 2), get(links, parent, at + 3), rows)
