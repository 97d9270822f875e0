# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The poses of all frames: each link is placed once, after its parent."""

from liedyn_ros.dynamics.frames.kernels.motion import frame_on_link
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.kinematics import store_matrix
from liedyn_ros.dynamics.tree.kernels.tables import (
    body_row, LINKS, load3, load9, PARENT, store3, store9)
from liedyn_ros.jit.decorators import inlined, kernel, long_kernel
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.simd import get_int
from liedyn_ros.lie.kernels import se3
from liedyn_ros.model.kernels.acceptance import finite

WIDTH = 12  # of the scratch buffer: the pose of a link in the ground, rotation row by row


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
    if not joints.acceptable(model, q):
        return False
    for i in range(1, get_int(model, 0, LINKS)):
        r, p = joints.joint_pose(model, i, q)  # (2.1)
        parent = get_int(model, i, PARENT)
        if parent > 0:
            r, p = se3.compose(load9(links, parent, 0), load3(links, parent, 9), r, p)
        store9(links, i, 0, r)
        store3(links, i, 9, p)
    for k in range(len(out)):
        i, r, p = frame_on_link(model, k)
        if i > 0:
            r, p = se3.compose(load9(links, i, 0), load3(links, i, 9), r, p)
        store_matrix(out, k, r, p)
    return finite(out.reshape(-1))
