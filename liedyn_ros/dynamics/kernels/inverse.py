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

"""Inverse dynamics: the recursive Newton-Euler algorithm in body frames (Kim, Table 2)."""

from liedyn_ros.dynamics.kernels import joints, motion, rigid
from liedyn_ros.dynamics.kernels.rows import (
    add3, EXTERNAL, INERTIA, KIND, load3, load9, PARENT, PITCH, POSITION, ROTATION, store3, VI,
    WRENCH)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import se3, vec3


@kernel
def inverse(topology, links, coordinates, q, v, a, tau):
    """Write the joint forces of a motion; return whether it is acceptable and they are finite."""
    if not (joints.acceptable(topology, q) and joints.complete(topology, v)
            and joints.complete(topology, a)):
        return False
    for i in range(1, len(links)):
        motion.store_pose(topology, links, i, q)
        move(topology, links, i, v, a)
    for i in range(len(links) - 1, 0, -1):
        balance(topology, links, i, tau)
    for k in range(len(tau)):
        tau[k] += motion.dissipation(coordinates, k, v[k])
    return joints.finite(tau)


@inlined
def move(topology, links, i, v, a):
    """Write twist, acceleration and net wrench of link i, its parent's motion being known."""
    w, u = motion.store_twist(topology, links, i, v)  # (3.1)
    dw, du = motion.store_acceleration(topology, links, i, v, a)
    body = rigid.load(links, i, INERTIA)
    m, f = rigid.apply(body, dw, du)
    bm, bf = rigid.bias(body, w, u)
    store3(links, i, WRENCH, vec3.sub(vec3.add(m, bm), load3(links, i, EXTERNAL)))  # (3.4)
    store3(links, i, WRENCH + 3, vec3.sub(vec3.add(f, bf), load3(links, i, EXTERNAL + 3)))


@inlined
def balance(topology, links, i, tau):
    """Write the forces of the joint of link i and hand its wrench on to the parent."""
    kind, parent, pitch = topology[i, KIND], topology[i, PARENT], links[i, PITCH]
    m, f = load3(links, i, WRENCH), load3(links, i, WRENCH + 3)
    for k in range(joints.degrees(kind)):
        tau[topology[i, VI] + k] = joints.along(kind, pitch, k, m, f)  # (3.5)
    if parent > 0:
        r, p = load9(links, i, ROTATION), load3(links, i, POSITION)
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        add3(links, parent, WRENCH, m)  # (3.4)
        add3(links, parent, WRENCH + 3, f)
