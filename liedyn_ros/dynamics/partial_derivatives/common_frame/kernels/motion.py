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
    load_derivative, P, Q, R, S, SharedLink, store_derivative, sum_of, twist_axpy)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.motion import fits_bodies, on_link
from liedyn_ros.dynamics.tree.kernels.tables import body_at, Link, State, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.kinds import REVOLUTE


@kernel
def compute_motion(model, data, links, columns, q, v, a, external):
    """
    Write poses, twists, accelerations, inertias, B and wrenches of all links, and all columns.

    data has the poses of links in their parents, or is None. Wrenches are summed over what a link
    carries, inertias and B are not. Returns whether the input is acceptable.
    """
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a) and fits_bodies(model, external)):
        return False
    place_ground(model, SharedLink, links)
    if data is None:
        joints.store_angles(model, SharedLink, links, q)
    count = Tree(model, 0).links
    for i in range(1, count):
        kind = Link(model, i).kind
        if data is None:
            r, p = turned_pose(model, links, i, q)
        else:
            r, p = State(data, i).pose
        if kind == REVOLUTE:  # without a look at the kind at each step
            store_motion(model, links, columns, i, REVOLUTE, r, p, v, a)
        else:
            store_motion(model, links, columns, i, kind, r, p, v, a)
    for b in range(len(external)):
        i = body_at(model, b).carrier
        if i > 0:
            m, f = on_link(model, b, external)
            m, f = se3.adjoint_inverse_dual(*SharedLink(links, i).pose, m, f)
            SharedLink(links, i).plus.force = vec3.neg(m), vec3.neg(f)
    for i in range(count - 1, 0, -1):
        parent = Link(model, i).parent
        if parent > 0:
            SharedLink(links, parent).plus.force = SharedLink(links, i).force
    return True


@inlined
def place_ground(model, row_of, links):
    """Write the row of the ground but for its position, which comes with that of link 1."""
    ground = row_of(links, 0)
    ground.pose = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), vec3.ZERO
    ground.twist = vec3.ZERO, vec3.ZERO
    ground.acceleration = vec3.ZERO, vec3.neg(Tree(model, 0).gravity)


@inlined
def turned_pose(model, links, i, q):
    """Return the pose of link i in its parent, after joints.store_angles."""
    link = Link(model, i)
    e, p = link.placement
    return joints.turned(link.kind, link.pitch, e, p, q, link.qi, *SharedLink(links, i).angle)


@inlined
def place_link(model, row_of, links, i, r, p):
    """Write and return the pose of link i from that in its parent, whose pose is known."""
    if i == 1:  # its origin is that of the common frame
        ground = row_of(links, 0)
        ground.pose = ground.pose[0], vec3.neg(p)
    r, p = se3.compose(*row_of(links, Link(model, i).parent).pose, r, p)
    row_of(links, i).pose = r, p
    return r, p


@inlined
def screw_seen(kind, pitch, k, r, p):
    """Return Ad_T S_k, the screw of coordinate k of a link at T = (r, p) in the common frame."""
    if kind == REVOLUTE:
        axis = r[2], r[5], r[8]
        return axis, vec3.cross(p, axis)
    w, v = joints.screw(kind, pitch, k)
    return se3.adjoint(r, p, w, v)


@inlined
def store_motion(model, links, columns, i, kind, r, p, v, a):
    """Write motion and columns of link i at its pose in the parent, whose motion is known."""
    link = Link(model, i)
    parent, vi, pitch = link.parent, link.vi, link.pitch
    degrees = joints.degrees(kind)
    r, p = place_link(model, SharedLink, links, i, r, p)
    parent_shared = SharedLink(links, parent)
    v0, a0 = parent_shared.twist, parent_shared.acceleration
    twist, acceleration = v0, a0
    for k in range(degrees):
        s = screw_seen(kind, pitch, k, r, p)
        store_derivative(columns, vi + k, S, *s)
        twist = twist_axpy(v[vi + k], s, twist)  # (3.1)
    for k in range(vi, vi + degrees):
        s = load_derivative(columns, k, S)
        along = se3.ad(*v0, *s)  # (13.6)
        store_derivative(columns, k, P, *along)
        store_derivative(columns, k, Q, *sum_of(se3.ad(*a0, *s), se3.ad(*v0, *along)))
        turned = along if degrees == 1 else se3.ad(*twist, *s)
        store_derivative(columns, k, R, *sum_of(along, turned))
        acceleration = twist_axpy(v[k], turned, twist_axpy(a[k], s, acceleration))  # (3.3)
    shared = SharedLink(links, i)
    shared.twist = twist
    shared.acceleration = acceleration
    body = rigid.transport(r, p, link.inertia)
    shared.inertia = body
    t, b = change.of_rigid(body, *twist)
    shared.change = t, b
    m, f = change.apply(t, b, vec3.scale(0.5, twist[0]))  # B V = -2 ad_V^T I V (13.9)
    shared.force = sum_of(rigid.apply(body, *acceleration), (m, f))  # (3.4)
