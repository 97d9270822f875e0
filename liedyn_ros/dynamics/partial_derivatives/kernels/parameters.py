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

"""
Parameters of bodies and joints as parameters of links, and back: both linear.

A link feels four things: a displacement of all that its joint carries, and changes of its inertia,
of the wrench on it and of its pitch. A body that a parameter displaces within its link takes its
inertia, its wrench and the joints on it along. This shift of the body and the displacement of a
link behind it are twists in the frame of the same link, or in the ground.
"""

import numpy as np

from liedyn_ros.dynamics.kernels import rigid, symmetric, tables
from liedyn_ros.dynamics.kernels.tables import (
    ACCELERATION, body_row, CARRIER, KIND, load3, load9, ORDER_CHANGE, PARENT, store3,
    TWIST)
from liedyn_ros.dynamics.kernels.wrenches import on_link
from liedyn_ros.dynamics.partial_derivatives.kernels import change
from liedyn_ros.dynamics.partial_derivatives.kernels.table import (
    add_pair, load_pair, store_pair, sum_of)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.kinds import HELICAL, SPHERICAL

# Columns of the parameters: a row for each coordinate, for each body and the joint that moves it,
# for each closure. Gravity has a row of its own.
DAMPING, FRICTION, ROTOR_INERTIA, COORDINATE_WIDTH = range(4)
EXTERNAL, INERTIA, PLACEMENT, AXIS, PITCH, BODY_WIDTH = 0, 6, 16, 22, 25, 26
FRAME_A, FRAME_B, CLOSURE_PITCH, LENGTH, CLOSURE_WIDTH = 0, 6, 12, 13, 14

# Columns of what links feel, or of the derivatives by it, with the rows of the dynamics.
MOVED, LINK_INERTIA, LINK_EXTERNAL, LINK_PITCH, PART_WIDTH = 0, 6, 16, 22, 23
GRAVITY = 0  # of row 0, the ground

# Columns of the joints: the row of the first link, 0 for none, and the body that it stands on.
FIRST, ON, JOINT_WIDTH = range(3)
GROUND = -1


@kernel
def to_links(model, joints, bodies, external, ground, of_bodies, shifts, parts):
    """
    Write what links feel of changes of parameters, and the shifts (B, 6) of bodies.

    bodies (B, 10) are their inertias in the frames of their links.
    """
    parts[:] = 0.0
    store3(parts, 0, GRAVITY, load3(ground, 0, 0))
    for b in range(len(bodies)):
        x = (vec3.ZERO, vec3.ZERO)
        if joints[b, ON] != GROUND:
            x = load_pair(shifts, joints[b, ON], 0)
        x = place(model, parts, b, joints[b, FIRST], of_bodies, x)
        store_pair(shifts, b, 0, x[0], x[1])
        row = body_row(model, b)
        link, (r, p) = get_int(model, row, CARRIER), placement(model, row)
        if link > 0:
            own = rigid.transport(r, p, rigid.load(of_bodies, b, INERTIA))
            own = rigid.add(own, displaced(rigid.load(bodies, b, 0), x))
            rigid.store(parts, link, LINK_INERTIA, rigid.add(
                rigid.load(parts, link, LINK_INERTIA), own))
            add_pair(parts, link, LINK_EXTERNAL, *se3.adjoint_inverse_dual(
                r, p, *load_pair(of_bodies, b, EXTERNAL)))
            if len(external) > 0:
                m, f = se3.ad_dual(x[0], x[1], *on_link(model, b, external))
                add_pair(parts, link, LINK_EXTERNAL, vec3.neg(m), vec3.neg(f))


@inlined
def place(model, parts, b, first, of_bodies, x):
    """Return the shift of body b, x being that of the body before; write that of a first link."""
    row, (mw, mu) = body_row(model, b), load_pair(of_bodies, b, PLACEMENT)
    r, p = placement(model, row)
    if first == 0:  # a fixed joint
        return sum_of(x, se3.adjoint(r, p, mw, mu))
    e, d = placement(model, first)
    turn = axis_of(model, first, load3(of_bodies, b, AXIS))
    c = at_rest(model, b, first)
    own = se3.adjoint(e, d, mat3.apply(c, vec3.add(mw, turn)), mat3.apply(c, mu))
    store_pair(parts, first, MOVED, *sum_of(own, x))
    if get_int(model, first, KIND) == HELICAL:
        put(parts, first, LINK_PITCH, get(of_bodies, b, PITCH))
    return vec3.neg(mat3.apply(r, turn)), vec3.ZERO  # at rest a turned axis leaves the body


@kernel
def from_links(model, data, joints, bodies, external, sign, shifts, parts, ground, of_bodies):
    """
    Write sign times the derivatives by the parameters of bodies and joints: undoes to_links.

    parts has those by displacement and pitch of links and by gravity; data has motion, and twists
    at the weights of forces in ORDER_CHANGE. shifts (B, 6) has what else weighs shifts of bodies.
    """
    store3(ground, 0, 0, vec3.scale(sign, load3(parts, 0, GRAVITY)))
    of_bodies[:] = 0.0
    for b in range(len(bodies) - 1, -1, -1):
        x = load_pair(shifts, b, 0)
        if get_int(model, body_row(model, b), CARRIER) > 0:
            x = sum_of(x, weigh_body(model, data, b, bodies, external, sign, of_bodies))
        first, on = joints[b, FIRST], joints[b, ON]
        x = weigh_joint(model, parts, b, first, sign, of_bodies, x)
        if on != GROUND:
            add_pair(shifts, on, 0, x[0], x[1])


@inlined
def weigh_body(model, data, b, bodies, external, sign, of_bodies):
    """Write the derivatives by inertia and wrench of body b; return that by its shift."""
    row, body = body_row(model, b), rigid.load(bodies, b, 0)
    link, (r, p) = get_int(model, row, CARRIER), placement(model, row)
    (w, u), (yw, yu) = load_pair(data, link, TWIST), load_pair(data, link, ORDER_CHANGE)
    dw, du = load_pair(data, link, ACCELERATION)
    m, f = sum_of(rigid.apply(body, dw, du), rigid.bias(body, w, u))
    if len(external) > 0:
        xm, xf = on_link(model, b, external)
        m, f = vec3.sub(m, xm), vec3.sub(f, xf)
    am, af = rigid.apply(body, yw, yu)
    cm, cf = se3.ad_dual(w, u, am, af)
    cm = vec3.add(cm, change.times_t(body, w, u, yw, yu))
    shift = sum_of(se3.ad_dual(yw, yu, m, f), sum_of(
        se3.ad_dual(dw, du, am, af), se3.ad_dual(w, u, cm, cf)))
    (w, u), (dw, du), (yw, yu) = (
        se3.adjoint_inverse(r, p, w, u), se3.adjoint_inverse(r, p, dw, du),
        se3.adjoint_inverse(r, p, yw, yu))
    xw, xu = se3.ad(w, u, vec3.scale(-sign, yw), vec3.scale(-sign, yu))
    rigid.store(of_bodies, b, INERTIA, rigid.add(
        by_inertia(vec3.scale(sign, yw), vec3.scale(sign, yu), dw, du), by_inertia(xw, xu, w, u)))
    store_pair(of_bodies, b, EXTERNAL, vec3.scale(-sign, yw), vec3.scale(-sign, yu))
    return shift


@inlined
def weigh_joint(model, parts, b, first, sign, of_bodies, x):
    """Write the derivatives by the joint of body b; return that by the shift of its parent."""
    r, p = placement(model, body_row(model, b))
    if first == 0:
        m, f = se3.adjoint_dual(r, p, x[0], x[1])
        store_pair(of_bodies, b, PLACEMENT, vec3.scale(sign, m), vec3.scale(sign, f))
        return x
    (e, d), moved = placement(model, first), load_pair(parts, first, MOVED)
    m, f = se3.adjoint_dual(e, d, moved[0], moved[1])
    c = at_rest(model, b, first)
    gm, gf = mat3.apply_t(c, m), mat3.apply_t(c, f)
    store_pair(of_bodies, b, PLACEMENT, vec3.scale(sign, gm), vec3.scale(sign, gf))
    turn = axis_of(model, first, vec3.sub(gm, mat3.apply_t(r, x[0])))
    store3(of_bodies, b, AXIS, vec3.scale(sign, turn))
    if get_int(model, first, KIND) == HELICAL:
        put(of_bodies, b, PITCH, sign * get(parts, first, LINK_PITCH))
    return moved


@inlined
def placement(model, row):
    """Return the pose (r, p) in the row of a link or of a body."""
    return load9(model, row, tables.PLACEMENT), load3(model, row, tables.PLACEMENT + 9)


@inlined
def axis_of(model, first, x):
    """Return x where the joint of a first link has an axis, else zero."""
    return x if get_int(model, first, KIND) < SPHERICAL else vec3.ZERO


@inlined
def at_rest(model, b, first):
    """Return the rotation of body b in the first link of its joint at the zero of its q."""
    row = body_row(model, b)
    r, i = load9(model, row, tables.PLACEMENT), get_int(model, row, CARRIER)
    while i != first:
        r, i = mat3.mul(load9(model, i, tables.PLACEMENT), r), get_int(model, i, PARENT)
    return r


@inlined
def displaced(body, x):
    """Return how an inertia changes with a displacement of the body (1.5)."""
    (m, h, j), (w, u) = body, x
    s = 2.0 * vec3.dot(h, u)
    a, b, c = (symmetric.apply(j, (1.0, 0.0, 0.0)), symmetric.apply(j, (0.0, 1.0, 0.0)),
               symmetric.apply(j, (0.0, 0.0, 1.0)))
    a, b, c = vec3.cross(w, a), vec3.cross(w, b), vec3.cross(w, c)  # columns of [w] J
    turned = (2.0 * a[0], a[1] + b[0], a[2] + c[0], 2.0 * b[1], b[2] + c[1], 2.0 * c[2])
    shift = (s - 2.0 * h[0] * u[0], -h[0] * u[1] - u[0] * h[1], -h[0] * u[2] - u[0] * h[2],
             s - 2.0 * h[1] * u[1], -h[1] * u[2] - u[1] * h[2], s - 2.0 * h[2] * u[2])
    return 0.0, vec3.add(vec3.cross(w, h), vec3.scale(m, u)), symmetric.add(turned, shift)


@inlined
def by_inertia(xw, xu, yw, yu):
    """Return the derivatives of x . I y by m, h and J (6.22)."""
    return (vec3.dot(xu, yu), vec3.sub(vec3.cross(yu, xw), vec3.cross(yw, xu)),
            (xw[0] * yw[0], xw[0] * yw[1] + xw[1] * yw[0], xw[0] * yw[2] + xw[2] * yw[0],
             xw[1] * yw[1], xw[1] * yw[2] + xw[2] * yw[1], xw[2] * yw[2]))


@inlined
def weigh_coordinates(v, a, weights, sign, dissipation, of_coordinates):
    """Write sign times the derivatives by damping, friction and rotor inertia."""
    for k in range(len(v)):
        x = sign * weights[k]
        put(of_coordinates, k, DAMPING, dissipation * x * v[k])
        put(of_coordinates, k, FRICTION, dissipation * x * np.sign(v[k]))
        put(of_coordinates, k, ROTOR_INERTIA, x * a[k])


@inlined
def resist(v, a, dissipation, of_coordinates, tau):
    """Add what changes of damping, friction and rotor inertia add to the forces."""
    for k in range(len(v)):
        tau[k] += get(of_coordinates, k, ROTOR_INERTIA) * a[k] + dissipation * (
            get(of_coordinates, k, DAMPING) * v[k]
            + get(of_coordinates, k, FRICTION) * np.sign(v[k]))
