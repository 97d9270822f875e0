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
    ACCELERATION, INERTIA_CHANGE, LINK_FORCE, LINK_INERTIA, load_derivative, load_pair, P,
    POSITION, Q, R, ROTATION, S, store_derivative, store_pair, sum_of, TWIST, twist_axpy)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.motion import fits_bodies, on_link
from liedyn_ros.dynamics.tree.kernels.tables import (
    add3, body_row, CARRIER, GRAVITY, INERTIA as OWN_INERTIA, KIND, LINKS, load12, load3, load9,
    PARENT, PITCH, PLACEMENT, POSITION as LINK_POSITION, QI, ROTATION as LINK_ROTATION, store12,
    store3, store9, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, get_int
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
    place_ground(model, links)
    if data is None:
        joints.store_angles(model, links, q)
    count = get_int(model, 0, LINKS)
    for i in range(1, count):
        kind = get_int(model, i, KIND)
        if data is None:
            r, p = turned_pose(model, links, i, q)
        else:
            r, p = load9(data, i, LINK_ROTATION), load3(data, i, LINK_POSITION)
        if kind == REVOLUTE:  # without a look at the kind at each step
            store_motion(model, links, columns, i, REVOLUTE, r, p, v, a)
        else:
            store_motion(model, links, columns, i, kind, r, p, v, a)
    for b in range(len(external)):
        i = get_int(model, body_row(model, b), CARRIER)
        if i > 0:
            m, f = on_link(model, b, external)
            m, f = se3.adjoint_inverse_dual(
                load9(links, i, ROTATION), load3(links, i, POSITION), m, f)
            add3(links, i, LINK_FORCE, vec3.neg(m))
            add3(links, i, LINK_FORCE + 3, vec3.neg(f))
    for i in range(count - 1, 0, -1):
        parent = get_int(model, i, PARENT)
        if parent > 0:
            add3(links, parent, LINK_FORCE, load3(links, i, LINK_FORCE))
            add3(links, parent, LINK_FORCE + 3, load3(links, i, LINK_FORCE + 3))
    return True


@inlined
def place_ground(model, links):
    """Write the row of the ground but for its position, which comes with that of link 1."""
    store9(links, 0, ROTATION, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    store3(links, 0, POSITION, vec3.ZERO)
    store_pair(links, 0, TWIST, vec3.ZERO, vec3.ZERO)
    store_pair(links, 0, ACCELERATION, vec3.ZERO, vec3.neg(load3(model, 0, GRAVITY)))


@inlined
def turned_pose(model, links, i, q):
    """Return the pose of link i in its parent, after joints.store_angles."""
    e, p = load12(model, i, PLACEMENT)
    return joints.turned(get_int(model, i, KIND), get(model, i, PITCH), e, p, q, get_int(
        model, i, QI), get(links, i, ROTATION), get(links, i, ROTATION + 1))


@inlined
def place_link(model, links, i, r, p):
    """Write and return the pose of link i from that in its parent, whose pose is known."""
    if i == 1:  # its origin is that of the common frame
        store3(links, 0, POSITION, vec3.neg(p))
    parent = get_int(model, i, PARENT)
    r, p = se3.compose(load9(links, parent, ROTATION), load3(links, parent, POSITION), r, p)
    store9(links, i, ROTATION, r)
    store3(links, i, POSITION, p)
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
    parent, vi, pitch = get_int(model, i, PARENT), get_int(model, i, VI), get(model, i, PITCH)
    degrees = joints.degrees(kind)
    r, p = place_link(model, links, i, r, p)
    v0, a0 = load_pair(links, parent, TWIST), load_pair(links, parent, ACCELERATION)
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
    store_pair(links, i, TWIST, *twist)
    store_pair(links, i, ACCELERATION, *acceleration)
    body = rigid.transport(r, p, rigid.load(model, i, OWN_INERTIA))
    rigid.store(links, i, LINK_INERTIA, body)
    t, b = change.of_rigid(body, *twist)
    store12(links, i, INERTIA_CHANGE, t, b)
    m, f = change.apply(t, b, vec3.scale(0.5, twist[0]))  # B V = -2 ad_V^T I V (13.9)
    store_pair(links, i, LINK_FORCE, *sum_of(rigid.apply(body, *acceleration), (m, f)))  # (3.4)
