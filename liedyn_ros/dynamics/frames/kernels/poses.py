# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The poses of all frames: each link is placed once, after its parent."""

from liedyn_ros.dynamics.frames.kernels.motion import frame_on_link
from liedyn_ros.dynamics.frames.kernels.rows import (
    are_zeros, as_rows, placement_rows, put_pose, put_whole_pose, row_times_pose)
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import (
    body_row, KIND, LINKS, MODEL_WIDTH, PARENT)
from liedyn_ros.jit.decorators import inlined, kernel, long_kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, VECTOR
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.shuffles import swapped
from liedyn_ros.jit.simd import get, get_int, joined, of_width, quad_of
from liedyn_ros.model.kernels.kinds import REVOLUTE

POSE_WIDTH = 12  # of the scratch buffer: the pose of a link in the ground, row by row


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
    model, links = of_width(model, MODEL_WIDTH), of_width(links, POSE_WIDTH)
    if not joints.acceptable(model, q):
        return False
    joints.store_angles(model, links, q)
    for i in range(1, get_int(model, 0, LINKS)):
        put_pose(links, i, on_parent(
            links, get_int(model, i, PARENT), joint_rows(model, links, i, q)))
    poses, excess = out.reshape((len(out), 16)), quad_of(0.0)
    for k in range(len(poses)):
        i, rows = frame_on_link(model, k)
        excess = excess + put_whole_pose(poses, k, on_parent(links, i, rows))
    return are_zeros(excess)


@inlined
def joint_rows(model, links, i, q):
    """Return the pose of link i in its parent (2.1)."""
    if get_int(model, i, KIND) == REVOLUTE:
        s, c = get(links, i, 0), get(links, i, 1)
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
