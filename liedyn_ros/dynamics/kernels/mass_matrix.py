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

"""The joint-space inertia by composite rigid bodies."""

from liedyn_ros.dynamics.kernels import joints, motion, rigid
from liedyn_ros.dynamics.kernels.rows import (
    ARTICULATED, INERTIA, KIND, load3, load9, PARENT, PITCH, POSITION, ROTATION, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import se3

COMPOSITE = ARTICULATED  # the ten numbers of a link and of all that it carries


@kernel
def mass_matrix(topology, links, q, out):
    """Write M (nv, nv); return whether q is acceptable and M is finite."""
    if not joints.acceptable(topology, q):
        return False
    out[:] = 0.0
    for i in range(1, len(links)):
        motion.store_pose(topology, links, i, q)
        rigid.store(links, i, COMPOSITE, rigid.load(links, i, INERTIA))
    for i in range(len(links) - 1, 0, -1):
        kind, pitch = topology[i, KIND], links[i, PITCH]
        body = rigid.load(links, i, COMPOSITE)
        for k in range(joints.degrees(kind)):
            w, v = joints.screw(kind, pitch, k)
            m, f = rigid.apply(body, w, v)
            fill(topology, links, i, topology[i, VI] + k, m, f, out)
        parent = topology[i, PARENT]
        if parent > 0:
            r, p = load9(links, i, ROTATION), load3(links, i, POSITION)
            carried = rigid.add(
                rigid.load(links, parent, COMPOSITE), rigid.transport(r, p, body))
            rigid.store(links, parent, COMPOSITE, carried)
    return joints.finite(out.reshape(-1))


@inlined
def fill(topology, links, i, column, m, f, out):
    """Write what the wrench of a coordinate of link i does at its joint and all before it."""
    while i > 0:
        kind, pitch, vi = topology[i, KIND], links[i, PITCH], topology[i, VI]
        for k in range(joints.degrees(kind)):
            entry = joints.along(kind, pitch, k, m, f)
            out[vi + k, column] = entry
            out[column, vi + k] = entry
        r, p = load9(links, i, ROTATION), load3(links, i, POSITION)
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        i = topology[i, PARENT]
