# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Steps of recursions: pose and twist of a link from its parent's, forces, wrenches."""

from liedyn_ros.dynamics.tree.kernels import joints, stops
from liedyn_ros.dynamics.tree.kernels.tables import (
    body_at, coordinate_of, Link, load3, State, Tree)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import REVOLUTE


@inlined
def store_pose(model, data, i, q):
    """Write the pose of link i in its parent, after joints.store_angles."""
    link = Link(model, i)
    e, p = link.placement
    state = State(data, i)
    state.pose = joints.turned(link.kind, link.pitch, e, p, q, link.qi, *state.angle)


@inlined
def store_twist(model, data, i, v):
    """Write and return the twist of link i, its parent's being known."""
    link = Link(model, i)
    parent, kind, vi = link.parent, link.kind, link.vi
    state = State(data, i)
    r, p = state.pose
    w, u = se3.adjoint_inverse(r, p, *State(data, parent).twist)
    if kind == REVOLUTE:
        w = (w[0], w[1], w[2] + v[vi])
    else:
        sw, su = joints.relative_twist(kind, link.pitch, v, vi)
        w, u = vec3.add(w, sw), vec3.add(u, su)
    state.twist = w, u
    return w, u  # (3.1)


@inlined
def velocity_bias(model, data, i, v):
    """Return eta = ad_V S qdot of link i."""
    link = Link(model, i)
    kind, vi = link.kind, link.vi
    w, u = State(data, i).twist
    return joints.joint_bracket(kind, link.pitch, w, u, v, vi)  # (3.2)


@inlined
def store_acceleration(model, data, i, v, a):
    """Write and return the acceleration of link i, its twist and its parent's motion known."""
    link = Link(model, i)
    parent, kind = link.parent, link.kind
    state = State(data, i)
    r, p = state.pose
    w, u = se3.adjoint_inverse(r, p, *State(data, parent).acceleration)
    ew, eu = velocity_bias(model, data, i, v)
    vi = link.vi
    if kind == REVOLUTE:
        w, u = (w[0] + ew[0], w[1] + ew[1], w[2] + a[vi]), (u[0] + eu[0], u[1] + eu[1], u[2])
    else:
        sw, su = joints.relative_twist(kind, link.pitch, a, vi)
        w, u = vec3.add(vec3.add(w, ew), sw), vec3.add(vec3.add(u, eu), su)  # (3.3)
    state.acceleration = w, u
    return w, u


@inlined
def store_ground_pose(model, data, i, q):
    """Write the pose of link i in its parent and in the ground, after that of its parent."""
    store_pose(model, data, i, q)
    rp, pp = load_ground_pose(data, Link(model, i).parent)
    state = State(data, i)
    state.ground_pose = se3.compose(rp, pp, *state.pose)


@inlined
def load_ground_pose(data, i):
    """Return the pose (r, p) of link i in the ground."""
    return State(data, i).ground_pose


@inlined
def dissipation(model, k, rate):
    """Return the force that overcomes damping and Coulomb friction; none at rest."""
    coordinate, sign = coordinate_of(model, k), (rate > 0.0) - (rate < 0.0)
    return coordinate.damping * rate + coordinate.friction * sign


@inlined
def spring(model, k, q):
    """Return the force that holds spring and stops of a coordinate (3.19); q is one state."""
    coordinate = coordinate_of(model, k)
    return coordinate.stiffness * (q[coordinate.position_at] - coordinate.rest) + (
        stops.of_coordinate(model, k, stops.stop_force, q))  # (3.21)


@inlined
def spring_rate(model, k, q):
    """Return the derivative of that force by the coordinate."""
    return coordinate_of(model, k).stiffness + stops.of_coordinate(model, k, stops.stop_rate, q)


@inlined
def fits_bodies(model, external):
    """Return whether there are finite wrenches (B, 6) on all bodies, or none (0, 6)."""
    if len(external) == 0:
        return True
    return (len(external) == Tree(model, 0).bodies and external.shape[1] == 6 and finite(external))


@inlined
def on_link(model, b, external):
    """Return the wrench on body b in the frame of the link that carries it (1.5)."""
    r, p = body_at(model, b).placement
    return se3.adjoint_inverse_dual(r, p, load3(external, b, 0), load3(external, b, 3))


@inlined
def subtract_external(model, data, external, articulated):
    """Subtract wrenches on bodies from those of links, or of articulated bodies (3.4)."""
    for b in range(len(external)):
        link = body_at(model, b).carrier
        if link > 0:
            m, f = on_link(model, b, external)
            if articulated:
                State(data, link).plus.bias_wrench = vec3.neg(m), vec3.neg(f)
            else:
                State(data, link).plus.wrench = vec3.neg(m), vec3.neg(f)
