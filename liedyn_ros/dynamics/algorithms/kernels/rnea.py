# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Inverse dynamics: the recursive Newton-Euler algorithm in body frames (Kim, Table 2).

The forces of springs and end stops by themselves (3.19), (3.21).
"""

from liedyn_ros.dynamics.tree.kernels import joints, motion, rigid
from liedyn_ros.dynamics.tree.kernels.motion import fits_bodies, subtract_external
from liedyn_ros.dynamics.tree.kernels.tables import (
    coordinate_of, Link, State, Tree)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.lie.kernels import se3
from liedyn_ros.model.kernels.configuration import finite


@kernel
def rnea(
        model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, a: VECTOR, external: MATRIX,
        tau: VECTOR) -> TRUTH:
    """
    Write the joint forces of a motion; external (B, 6) has rows or none.

    Returns whether the input is acceptable, the forces are finite, and tau has its own memory.
    """
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a) and fits_bodies(model, external)):
        return False
    if overlap(tau, q) or overlap(tau, v) or overlap(tau, a) or overlap(tau, external):
        return False
    tree = Tree(model, 0)
    links = tree.links
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        move_link(model, data, i, v, a)
    subtract_external(model, data, external, False)
    for i in range(links - 1, 0, -1):
        balance_link(model, data, i, tau)
    for k in range(len(tau)):
        tau[k] += motion.dissipation(model, k, v[k])
    if tree.loaded_joints:
        for k in range(len(tau)):  # (3.19), (3.20)
            tau[k] += motion.spring(model, k, q) + coordinate_of(model, k).armature * a[k]
    return finite(tau)


@inlined
def move_link(model, data, i, v, a):
    """Write twist, acceleration and net wrench of link i, its parent's motion being known."""
    w, u = motion.store_twist(model, data, i, v)  # (3.1)
    dw, du = motion.store_acceleration(model, data, i, v, a)
    body = Link(model, i).inertia
    m, f = rigid.net_wrench(body, w, u, dw, du)
    State(data, i).wrench = m, f


@inlined
def balance_link(model, data, i, tau):
    """Write the forces of the joint of link i and add its wrench to the parent's."""
    link = Link(model, i)
    kind, parent, pitch = link.kind, link.parent, link.pitch
    state = State(data, i)
    m, f = state.wrench
    for k in range(joints.degrees(kind)):
        tau[link.vi + k] = joints.along(kind, pitch, k, m, f)  # (3.5)
    if parent > 0:
        r, p = state.pose
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        State(data, parent).plus.wrench = m, f  # (3.4)


@kernel
def spring_forces(model: MATRIX, q: VECTOR, out: VECTOR):
    """Write the joint forces (nv,) that hold springs and stops; return whether all is good."""
    count = Tree(model, 0).nv
    if not joints.acceptable(model, q) or len(out) != count or overlap(out, q):
        return False
    for k in range(count):
        out[k] = motion.spring(model, k, q)
    return finite(out)
