# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of a tree in the common frame, and its derivatives by each coordinate (13.6)."""

from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import change
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    ACCELERATION, CHANGE, FORCE, INERTIA, load_pair, P, POSITION, Q, R, ROTATION, S, store_pair,
    TWIST)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.tables import (
    add3, body_row, CARRIER, GRAVITY, INERTIA as OWN_INERTIA, KIND, LINKS, load3, load9, PARENT,
    PITCH, store12, store3, store9, VI)
from liedyn_ros.dynamics.tree.kernels.wrenches import fits_bodies, on_link
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, get_int
from liedyn_ros.lie.kernels import se3, vec3


@kernel
def compute_motion(model, links, columns, q, v, a, external):
    """
    Write poses, twists, accelerations, inertias, B and wrenches of all links, and all columns.

    Wrenches are summed over what a link carries, inertias and B are not. Returns whether the input
    is acceptable.
    """
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a) and fits_bodies(model, external)):
        return False
    place_ground(model, links, q)
    count = get_int(model, 0, LINKS)
    for i in range(1, count):
        store_motion(model, links, columns, i, q, v, a)
    for b in range(len(external)):
        i = get_int(model, body_row(model, b), CARRIER)
        if i > 0:
            m, f = on_link(model, b, external)
            m, f = se3.adjoint_inverse_dual(
                load9(links, i, ROTATION), load3(links, i, POSITION), m, f)
            add3(links, i, FORCE, vec3.neg(m))
            add3(links, i, FORCE + 3, vec3.neg(f))
    for i in range(count - 1, 0, -1):
        parent = get_int(model, i, PARENT)
        if parent > 0:
            add3(links, parent, FORCE, load3(links, i, FORCE))
            add3(links, parent, FORCE + 3, load3(links, i, FORCE + 3))
    return True


@inlined
def place_ground(model, links, q):
    """Write the row of the ground, the origin of the common frame being that of link 1."""
    store9(links, 0, ROTATION, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    store3(links, 0, POSITION, vec3.ZERO)
    if get_int(model, 0, LINKS) > 1:
        _, p = joints.joint_pose(model, 1, q)
        store3(links, 0, POSITION, vec3.neg(p))
    store_pair(links, 0, TWIST, vec3.ZERO, vec3.ZERO)
    store_pair(links, 0, ACCELERATION, vec3.ZERO, vec3.neg(load3(model, 0, GRAVITY)))


@inlined
def store_motion(model, links, columns, i, q, v, a):
    """Write the motion and the columns of link i, its parent's motion being known."""
    parent, kind, vi = get_int(model, i, PARENT), get_int(model, i, KIND), get_int(model, i, VI)
    pitch = get(model, i, PITCH)
    r, p = joints.joint_pose(model, i, q)
    r, p = se3.compose(load9(links, parent, ROTATION), load3(links, parent, POSITION), r, p)
    store9(links, i, ROTATION, r)
    store3(links, i, POSITION, p)
    w0, u0 = load_pair(links, parent, TWIST)
    dw0, du0 = load_pair(links, parent, ACCELERATION)
    rw, ru = se3.adjoint(r, p, *joints.relative_twist(kind, pitch, v, vi))
    w, u = vec3.add(w0, rw), vec3.add(u0, ru)  # (3.1)
    ew, eu = se3.ad(w, u, rw, ru)
    aw, au = se3.adjoint(r, p, *joints.relative_twist(kind, pitch, a, vi))
    dw, du = vec3.add(dw0, vec3.add(ew, aw)), vec3.add(du0, vec3.add(eu, au))  # (3.3)
    store_pair(links, i, TWIST, w, u)
    store_pair(links, i, ACCELERATION, dw, du)
    for k in range(joints.degrees(kind)):
        sw, sv = joints.screw(kind, pitch, k)
        sw, sv = se3.adjoint(r, p, sw, sv)
        store_pair(columns, vi + k, S, sw, sv)
        pw, pv = vec3.ZERO, vec3.ZERO  # (13.6)
        qw, qv = se3.ad(dw0, du0, sw, sv)
        rw, ru = se3.ad(w, u, sw, sv)
        if parent > 0:  # the ground has no twist
            pw, pv = se3.ad(w0, u0, sw, sv)
            xw, xv = se3.ad(w0, u0, pw, pv)
            qw, qv = vec3.add(qw, xw), vec3.add(qv, xv)
            rw, ru = vec3.add(pw, rw), vec3.add(pv, ru)
        store_pair(columns, vi + k, P, pw, pv)
        store_pair(columns, vi + k, Q, qw, qv)
        store_pair(columns, vi + k, R, rw, ru)
    body = rigid.transport(r, p, rigid.load(model, i, OWN_INERTIA))
    rigid.store(links, i, INERTIA, body)
    t, b = change.of_rigid(body, w, u)
    store12(links, i, CHANGE, t, b)
    m, f = rigid.apply(body, dw, du)
    bm, bf = rigid.bias(body, w, u)
    store_pair(links, i, FORCE, vec3.add(m, bm), vec3.add(f, bf))  # (3.4)
