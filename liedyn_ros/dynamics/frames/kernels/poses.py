# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The poses of all frames: each link is placed once, after its parent.

The three rows [r p] of a pose stand in four Lanes each.
"""

from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import (
    body_row, CARRIER, KIND, LINKS, MODEL_WIDTH, PARENT, PLACEMENT)
from liedyn_ros.jit.decorators import inlined, kernel, long_kernel
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.shuffles import swapped
from liedyn_ros.jit.simd import (
    filled, get, get_int, get_quad, joined, of_width, parts, put_quad, quad_of)
from liedyn_ros.model.kernels.kinds import REVOLUTE

WIDTH = 12  # of the scratch buffer: the pose of a link in the ground, row by row


@kernel
def all_poses(model, links, q, out):
    """
    Write the poses (F, 4, 4) of all frames; return whether all is good.

    links (N + 1, WIDTH) is a scratch buffer.
    """
    frames = model.shape[0] - body_row(model, 0)
    if out.shape[0] != frames or out.shape[1] != 4 or out.shape[2] != 4 or overlap(out, q):
        return False
    return write_all_poses(model, links, q, out)


@long_kernel
def poses_of_states(model, links, q, out):
    """Write the poses (K, F, 4, 4) of K states; return the first one refused, K if none."""
    for s in range(len(q)):
        if not write_all_poses(model, links, q[s], out[s]):
            return s
    return len(q)


@inlined
def write_all_poses(model, links, q, out):
    """Write the pose of each frame; return whether all is good."""
    model, links = of_width(model, MODEL_WIDTH), of_width(links, WIDTH)
    if not joints.acceptable(model, q):
        return False
    joints.store_angles(model, links, q)
    for i in range(1, get_int(model, 0, LINKS)):
        put_pose(links, i, on_parent(
            links, get_int(model, i, PARENT), joint_rows(model, links, i, q)))
    poses, excess = out.reshape((len(out), 16)), quad_of(0.0)
    for k in range(len(poses)):
        row = body_row(model, k)
        pose = on_parent(links, get_int(model, row, CARRIER), placement_rows(model, row))
        put_pose(poses, k, pose)
        put_quad(poses, k, 12, joined(0.0, 0.0, 0.0, 1.0))
        excess = excess + (pose[0] - pose[0]) + (pose[1] - pose[1]) + (pose[2] - pose[2])
    e = parts(excess)
    return e[0] + e[1] + e[2] + e[3] == 0.0


@inlined
def joint_rows(model, links, i, q):
    """Return the pose of link i in its parent (2.1)."""
    if get_int(model, i, KIND) == REVOLUTE:
        s, c = get(links, i, 0), get(links, i, 1)
        a, b, d = placement_rows(model, i)
        cosines, sines = joined(c, c, 1.0, 1.0), joined(s, -s, 0.0, 0.0)
        return (cosines * a + sines * swapped(a), cosines * b + sines * swapped(b),
                cosines * d + sines * swapped(d))
    r, p = joints.joint_pose(model, i, q)
    return (joined(r[0], r[1], r[2], p[0]), joined(r[3], r[4], r[5], p[1]),
            joined(r[6], r[7], r[8], p[2]))


@inlined
def placement_rows(model, row):
    """Return the placement of a link or frame in what carries it."""
    return (filled(get_quad(model, row, PLACEMENT), 3, get(model, row, PLACEMENT + 9)),
            filled(get_quad(model, row, PLACEMENT + 3), 3, get(model, row, PLACEMENT + 10)),
            filled(get_quad(model, row, PLACEMENT + 6), 3, get(model, row, PLACEMENT + 11)))


@inlined
def on_parent(links, parent, pose):
    """Return a pose in the ground, of what stands on a link, or on the ground for row 0."""
    if parent == 0:
        return pose
    return (placed_row(links, parent, 0, pose), placed_row(links, parent, 4, pose),
            placed_row(links, parent, 8, pose))


@inlined
def placed_row(links, parent, at, pose):
    """Return a row of the pose of a link times a pose."""
    return ((get(links, parent, at) * pose[0] + get(links, parent, at + 1) * pose[1])
            + (get(links, parent, at + 2) * pose[2]
               + filled(quad_of(0.0), 3, get(links, parent, at + 3))))


@inlined
def put_pose(table, i, pose):
    """Write the rows of a pose into the first columns of row i."""
    put_quad(table, i, 0, pose[0])
    put_quad(table, i, 4, pose[1])
    put_quad(table, i, 8, pose[2])
