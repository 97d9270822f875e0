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
    ACCELERATION, add3, BODIES, body_row, CARRIER, coordinate_row, DAMPING, FRICTION, GROUND_POSE,
    KIND, load12, load3, load9, PARENT, PITCH, PLACEMENT, POSITION, POSITION_AT, QI, REST,
    ROTATION, STIFFNESS, store12, store3, store9, TWIST, VI)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, get_int
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import REVOLUTE


@inlined
def store_pose(model, data, i, q):
    """Write the pose of link i in its parent, after joints.store_angles."""
    e, p = load12(model, i, PLACEMENT)
    r, p = joints.turned(get_int(model, i, KIND), get(model, i, PITCH), e, p, q, get_int(
        model, i, QI), get(data, i, ROTATION), get(data, i, ROTATION + 1))
    store9(data, i, ROTATION, r)
    store3(data, i, POSITION, p)


@inlined
def store_twist(model, data, i, v):
    """Write and return the twist of link i, its parent's being known."""
    parent, kind, vi = get_int(model, i, PARENT), get_int(model, i, KIND), get_int(model, i, VI)
    r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
    w, u = se3.adjoint_inverse(r, p, load3(data, parent, TWIST), load3(data, parent, TWIST + 3))
    if kind == REVOLUTE:
        w = (w[0], w[1], w[2] + v[vi])
    else:
        sw, su = joints.relative_twist(kind, get(model, i, PITCH), v, vi)
        w, u = vec3.add(w, sw), vec3.add(u, su)
    store3(data, i, TWIST, w)
    store3(data, i, TWIST + 3, u)
    return w, u  # (3.1)


@inlined
def velocity_bias(model, data, i, v):
    """Return eta = ad_V S qdot of link i."""
    kind, vi = get_int(model, i, KIND), get_int(model, i, VI)
    w, u = load3(data, i, TWIST), load3(data, i, TWIST + 3)
    return joints.joint_bracket(kind, get(model, i, PITCH), w, u, v, vi)  # (3.2)


@inlined
def store_acceleration(model, data, i, v, a):
    """Write and return the acceleration of link i, its twist and its parent's motion known."""
    parent, kind = get_int(model, i, PARENT), get_int(model, i, KIND)
    r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
    w, u = se3.adjoint_inverse(
        r, p, load3(data, parent, ACCELERATION), load3(data, parent, ACCELERATION + 3))
    ew, eu = velocity_bias(model, data, i, v)
    vi = get_int(model, i, VI)
    if kind == REVOLUTE:
        w, u = (w[0] + ew[0], w[1] + ew[1], w[2] + a[vi]), (u[0] + eu[0], u[1] + eu[1], u[2])
    else:
        sw, su = joints.relative_twist(kind, get(model, i, PITCH), a, vi)
        w, u = vec3.add(vec3.add(w, ew), sw), vec3.add(vec3.add(u, eu), su)  # (3.3)
    store3(data, i, ACCELERATION, w)
    store3(data, i, ACCELERATION + 3, u)
    return w, u


@inlined
def store_ground_pose(model, data, i, q):
    """Write the pose of link i in its parent and in the ground, after that of its parent."""
    store_pose(model, data, i, q)
    rp, pp = load_ground_pose(data, get_int(model, i, PARENT))
    r, p = se3.compose(rp, pp, load9(data, i, ROTATION), load3(data, i, POSITION))
    store12(data, i, GROUND_POSE, r, p)


@inlined
def load_ground_pose(data, i):
    """Return the pose (r, p) of link i in the ground."""
    return load12(data, i, GROUND_POSE)


@inlined
def dissipation(model, k, rate):
    """Return the force that overcomes damping and Coulomb friction; none at rest."""
    row, sign = coordinate_row(model, k), (rate > 0.0) - (rate < 0.0)
    return get(model, row, DAMPING) * rate + get(model, row, FRICTION) * sign


@inlined
def spring(model, k, q):
    """Return the force that holds spring and stops of a coordinate (3.19); q is one state."""
    row = coordinate_row(model, k)
    return get(model, row, STIFFNESS) * (q[get_int(model, row, POSITION_AT)] - get(
        model, row, REST)) + stops.of_coordinate(model, k, stops.stop_force, q)  # (3.21)


@inlined
def spring_rate(model, k, q):
    """Return the derivative of that force by the coordinate."""
    return get(model, coordinate_row(model, k), STIFFNESS) + stops.of_coordinate(
        model, k, stops.stop_rate, q)


@inlined
def fits_bodies(model, external):
    """Return whether there are finite wrenches (B, 6) on all bodies, or none (0, 6)."""
    if len(external) == 0:
        return True
    return (len(external) == get_int(model, 0, BODIES) and external.shape[1] == 6
            and finite(external))


@inlined
def on_link(model, b, external):
    """Return the wrench on body b in the frame of the link that carries it (1.5)."""
    row = body_row(model, b)
    r, p = load12(model, row, PLACEMENT)
    return se3.adjoint_inverse_dual(r, p, load3(external, b, 0), load3(external, b, 3))


@inlined
def subtract_external(model, data, external, column):
    """Subtract wrenches on bodies from those in six columns of the links that carry them (3.4)."""
    for b in range(len(external)):
        link = get_int(model, body_row(model, b), CARRIER)
        if link > 0:
            m, f = on_link(model, b, external)
            add3(data, link, column, vec3.neg(m))
            add3(data, link, column + 3, vec3.neg(f))
