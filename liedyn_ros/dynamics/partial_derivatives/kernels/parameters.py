# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Parameters of bodies and joints as parameters of links, and back: both linear.

A parameter change perturbs a link in four ways: it displaces the subtree of its joint, and changes
its net wrench, its pitch or gravity. A body displaced within its link takes its inertia, its
external wrench and its joints along. This shift of the body, and the displacement of a link behind
it, are twists in the frame of the link or in the ground.

Steps that do not depend on another body run for eight bodies at a time, side by side.

How an inertia changes with a displacement of its body, and derivatives by inertias.
by_displacement transposes displaced, and transported_back transposes rigid.transport. An inertia
has nine entries besides the mass: h, and J as six that stand for a symmetric matrix.
"""

from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import sum_of
from liedyn_ros.dynamics.tree.kernels import rigid, symmetric
from liedyn_ros.dynamics.tree.kernels.tables import DATA_WIDTH, load3, State, store3
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.pointers import rows_of
from liedyn_ros.jit.simd import (
    align_stack, broadcast, get, get_int, get_lanes, LANES, of_width, put, put_lanes, total,
    transposed)
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.configuration import finite
MOTION_AT, RATES_AT = State.column('twist'), State.column('order_change')


@inlined
def displaced(body, x):
    """Return how an inertia changes with a displacement of the body (1.5)."""
    (m, h, j), (w, u) = body, x
    a, b, c = (vec3.cross(w, (j[0], j[1], j[2])), vec3.cross(w, (j[1], j[3], j[4])),
               vec3.cross(w, (j[2], j[4], j[5])))  # columns of [w] J
    x, y, z = h[0] * u[0], h[1] * u[1], h[2] * u[2]  # of 2 (h.u) 1 - h u^T - u h^T
    moved = (2.0 * (a[0] + (y + z)), (a[1] + b[0]) - (h[0] * u[1] + u[0] * h[1]),
             (a[2] + c[0]) - (h[0] * u[2] + u[0] * h[2]), 2.0 * (b[1] + (x + z)),
             (b[2] + c[1]) - (h[1] * u[2] + u[1] * h[2]), 2.0 * (c[2] + (x + y)))
    return 0.0, vec3.add(vec3.cross(w, h), vec3.scale(m, u)), moved


@inlined
def by_displacement(body, by_h, by_j):
    """Return the derivatives by a displacement of the body from those by its h and J."""
    (m, h, j), x = body, symmetric.apply(by_j, body[1])
    a, b, c = (symmetric.apply(j, (by_j[0], by_j[1], by_j[2])),
               symmetric.apply(j, (by_j[1], by_j[3], by_j[4])),
               symmetric.apply(j, (by_j[2], by_j[4], by_j[5])))  # columns of J by_J
    turned = c[1] - b[2], a[2] - c[0], b[0] - a[1]
    return (vec3.axpy(2.0, turned, vec3.cross(h, by_h)), vec3.axpy(
        2.0, vec3.sub(vec3.scale(symmetric.trace(by_j), h), x), vec3.scale(m, by_h)))


@inlined
def transported_back(r, p, by_m, by_h, by_j):
    """Return the derivatives by an inertia from those by the result of rigid.transport."""
    z = vec3.sub(vec3.scale(symmetric.trace(by_j), p), symmetric.apply(by_j, p))
    return (by_m + vec3.dot(p, vec3.add(by_h, z)), mat3.apply_t(r, vec3.axpy(2.0, z, by_h)),
            symmetric.rotate(mat3.transpose(r), by_j))


@inlined
def by_inertia(xw, xu, yw, yu):
    """Return the derivatives of x . I y by m, h and J (6.22)."""
    return (vec3.dot(xu, yu), vec3.sub(vec3.cross(yu, xw), vec3.cross(yw, xu)),
            (xw[0] * yw[0], xw[0] * yw[1] + xw[1] * yw[0], xw[0] * yw[2] + xw[2] * yw[0],
             xw[1] * yw[1], xw[1] * yw[2] + xw[2] * yw[1], xw[2] * yw[2]))


# Columns of the parameters: a row for each coordinate, for each body and the joint that moves it,
# for each closure. Gravity has a row of its own.
DAMPING, FRICTION, ROTOR_INERTIA, COORDINATE_WIDTH = range(4)
BODY_WRENCH, BODY_INERTIA, JOINT_PLACEMENT, JOINT_AXIS, JOINT_PITCH, BODY_WIDTH = (
    0, 6, 16, 22, 25, 26)
FRAME_A, FRAME_B, CLOSURE_PITCH, CLOSURE_LENGTH, CLOSURE_WIDTH = 0, 6, 12, 13, 14

# Columns of the perturbations of links, or of the derivatives by them, with the rows of the
# dynamics. A displacement and a pitch are one register; so is a wrench.
LINK_DISPLACEMENT, LINK_PITCH, LINK_WRENCH, PART_WIDTH = 0, 6, 8, 16
PRODUCT_WIDTH = PART_WIDTH + 24  # the columns behind are those of products
GRAVITY_COLUMN = 0  # of row 0, the ground

# Rows of the table of bodies, which has a column for each body, filled up to a multiple of LANES.
# Poses are a rotation row by row and a translation. A joint's has the axes of the body and the
# origin of its first link, both at q = 0. A fixed joint's is that of the body.
BODY_POSE, JOINT_POSE = 0, 12
HAS_AXIS, HAS_PITCH = 24, 25  # 1 or 0
OWN_INERTIA = 26  # in the frame of the link
# Whole numbers. FIRST_LINK: row of the joint's first link, 0 if fixed. ON: the joint's parent
# body.
# LINK: row of the body's link. ITSELF: the body, or in the columns behind the last, the last one.
FIRST_LINK, ON, LINK, ITSELF = range(36, 40)
EXTERNAL_WRENCH = 40  # wrenches on bodies
# From here on there are rows of eight numbers, one row a body, and one for the ground.
BODY_SHIFT, OWN_CHANGE, TABLE_ROWS = 46, 55, 64


@kernel
def to_links(data, bodies, external, ground, of_bodies, parts):
    """
    Map parameter changes to perturbations of links (displacement, pitch, wrench) and body shifts.

    data has the motion of links. The first columns of parts are the perturbations.
    """
    align_stack()
    data, parts = of_width(data, DATA_WIDTH), of_width(parts, PRODUCT_WIDTH)
    of_bodies = of_width(of_bodies, BODY_WIDTH)
    store_body_wrenches(bodies, external)
    for i in range(len(parts)):
        put_lanes(parts, i, LINK_DISPLACEMENT, broadcast(0.0))
        put_lanes(parts, i, LINK_WRENCH, broadcast(0.0))
    store3(parts, 0, GRAVITY_COLUMN, load3(ground, 0, 0))
    for b in range(0, len(of_bodies), LANES):
        displace_joints(bodies, b, of_bodies)
    put_row_of(bodies, BODY_SHIFT, bodies.shape[1], broadcast(0.0))
    for b in range(len(of_bodies)):
        first, on = get_int(bodies, FIRST_LINK, b), get_int(bodies, ON, b)
        moved = row_of(bodies, OWN_CHANGE, b) + row_of(bodies, BODY_SHIFT, on)
        if first == 0:
            put_row_of(bodies, BODY_SHIFT, b, moved)
        else:
            put_lanes(parts, first, LINK_DISPLACEMENT, moved)
    for b in range(0, len(of_bodies), LANES):
        change_bodies(data, bodies, b, len(external) > 0, of_bodies)
    # Of bodies on one link in a row none waits for the one before
    last, wrench = -1, broadcast(0.0)
    for b in range(len(of_bodies)):
        i = get_int(bodies, LINK, b)
        if i != last:
            last, wrench = i, get_lanes(parts, i, LINK_WRENCH)
        wrench = wrench + row_of(bodies, OWN_CHANGE, b)
        put_lanes(parts, i, LINK_WRENCH, wrench)


@inlined
def displace_joints(bodies, b, of_bodies):
    """Write displacements behind joints, and shifts that undo those of turned axes at q = 0."""
    x, y = gather_columns(of_bodies, bodies, ITSELF, b, JOINT_PLACEMENT), gather_columns(
        of_bodies, bodies, ITSELF, b, JOINT_PITCH - 7)
    (r, _), (e, d) = body_poses(bodies, BODY_POSE, b), body_poses(bodies, JOINT_POSE, b)
    turn = vec3.scale(get_lanes(bodies, HAS_AXIS, b), (y[4], y[5], y[6]))
    w, u = se3.adjoint(e, d, vec3.add(x[0:3], turn), x[3:6])
    store_eight_bodies(bodies, OWN_CHANGE, b, w, u, get_lanes(bodies, HAS_PITCH, b) * y[7])
    w = vec3.neg(mat3.apply(r, turn))  # at rest a turned axis leaves the body
    store_eight_bodies(bodies, BODY_SHIFT, b, w, (broadcast(0.0), broadcast(0.0), broadcast(0.0)),
                       broadcast(0.0))


@inlined
def change_bodies(data, bodies, b, loaded, of_bodies):
    """Write the change of the net wrench of eight bodies by inertia, external wrench and shift."""
    x, y = (gather_columns(of_bodies, bodies, ITSELF, b, BODY_WRENCH),
            gather_columns(of_bodies, bodies, ITSELF, b, BODY_WRENCH + 8))
    (r, p), shift = body_poses(bodies, BODY_POSE, b), load_eight_bodies(bodies, BODY_SHIFT, b)
    shift = shift[0:3], shift[3:6]
    body = rigid.transport(r, p, (x[6], (x[7], y[0], y[1]), y[2:8]))
    body = rigid.add(body, displaced(rigid_of(bodies, b), shift))
    (w, u), (dw, du) = motion_of(data, bodies, b)
    m, f = rigid.net_wrench(body, w, u, dw, du)
    xm, xf = se3.adjoint_inverse_dual(r, p, x[0:3], x[3:6])
    m, f = vec3.sub(m, xm), vec3.sub(f, xf)
    if loaded:
        m, f = sum_of((m, f), se3.ad_dual(shift[0], shift[1], *on_links(bodies, b)))
    store_eight_bodies(bodies, OWN_CHANGE, b, m, f, broadcast(0.0))


@kernel
def vjp_shifts(data, bodies, external, sign, of_bodies):
    """
    Write sign times the derivatives by inertias and wrenches, and into BODY_SHIFT those by shifts.

    data has the motion, and as order_change the twists at the rates y. Further derivatives by
    shifts may be added before from_links. Returns whether the derivatives are finite.
    """
    align_stack()
    data, of_bodies = of_width(data, DATA_WIDTH), of_width(of_bodies, BODY_WIDTH)
    store_body_wrenches(bodies, external)
    put_row_of(bodies, BODY_SHIFT, bodies.shape[1], broadcast(0.0))
    zero = broadcast(0.0)
    for b in range(0, len(of_bodies), LANES):
        zero = zero + vjp_bodies(data, bodies, b, len(external) > 0, sign, of_bodies)
    return total(zero) == 0.0


@kernel
def from_links(bodies, sign, parts, ground, of_bodies):
    """
    Write sign times the derivatives by gravity and joints: with vjp_shifts transposes to_links.

    parts has the derivatives by displacement and pitch of links and by gravity. Returns whether
    those by joints and gravity are finite.
    """
    parts, of_bodies = of_width(parts, PRODUCT_WIDTH), of_width(of_bodies, BODY_WIDTH)
    x, y, z = vec3.scale(sign, load3(parts, 0, GRAVITY_COLUMN))
    store3(ground, 0, 0, (x, y, z))
    for b in range(len(of_bodies) - 1, -1, -1):
        first, on = get_int(bodies, FIRST_LINK, b), get_int(bodies, ON, b)
        moved = row_of(bodies, BODY_SHIFT, b)
        if first > 0:
            moved = get_lanes(parts, first, LINK_DISPLACEMENT)
        put_row_of(bodies, OWN_CHANGE, b, moved)
        put_row_of(bodies, BODY_SHIFT, on, row_of(bodies, BODY_SHIFT, on) + moved)
    for b in range(len(of_bodies), bodies.shape[1]):  # behind the last body
        put_row_of(bodies, OWN_CHANGE, b, broadcast(0.0))
    zero = broadcast(0.0)
    for b in range(0, len(of_bodies), LANES):
        zero = zero + vjp_joints(bodies, b, sign, of_bodies)
    return total(zero) + (x - x) + (y - y) + (z - z) == 0.0


@inlined
def vjp_bodies(data, bodies, b, loaded, sign, of_bodies):
    """Write derivatives of eight bodies by inertias, wrenches and shifts; return zero_of them."""
    r, p = body_poses(bodies, BODY_POSE, b)
    (w, u), (dw, du) = motion_of(data, bodies, b)
    y = gather_columns(data, bodies, LINK, b, RATES_AT)
    yw, yu = y[0:3], y[3:6]
    xw, xu = se3.ad(w, u, yw, yu)  # y . (I V' - ad_V^T I V) is to be differentiated (6.22)
    mass, h, j = rigid.add(
        by_inertia(yw, yu, dw, du), by_inertia(vec3.neg(xw), vec3.neg(xu), w, u))
    j = j[0], 0.5 * j[1], 0.5 * j[2], j[3], 0.5 * j[4], j[5]  # by each of nine entries
    m, f = by_displacement(rigid_of(bodies, b), h, j)
    if loaded:
        m, f = sum_of((m, f), se3.ad_dual(vec3.neg(yw), vec3.neg(yu), *on_links(bodies, b)))
    store_eight_bodies(bodies, BODY_SHIFT, b, m, f, broadcast(0.0))
    yw, yu = se3.adjoint_inverse(r, p, vec3.scale(-sign, yw), vec3.scale(-sign, yu))
    mass, h, j = transported_back(r, p, mass, h, j)
    mass, h = sign * mass, vec3.scale(sign, h)
    two = 2.0 * sign
    x = yw[0], yw[1], yw[2], yu[0], yu[1], yu[2], mass, h[0]
    y = h[1], h[2], sign * j[0], two * j[1], two * j[2], sign * j[3], two * j[4], sign * j[5]
    scatter_bodies(of_bodies, bodies, b, BODY_WRENCH, x)
    scatter_bodies(of_bodies, bodies, b, BODY_WRENCH + 8, y)
    return zero_of(x) + zero_of(y)


@inlined
def vjp_joints(bodies, b, sign, of_bodies):
    """Write the derivatives by the joints of eight bodies; return zero_of them."""
    x, shift = load_eight_bodies(bodies, OWN_CHANGE, b), load_eight_bodies(bodies, BODY_SHIFT, b)
    (r, _), (e, d) = body_poses(bodies, BODY_POSE, b), body_poses(bodies, JOINT_POSE, b)
    m, f = se3.adjoint_dual(e, d, vec3.scale(sign, x[0:3]), vec3.scale(sign, x[3:6]))
    turn = vec3.scale(get_lanes(bodies, HAS_AXIS, b), vec3.axpy(
        -sign, mat3.apply_t(r, shift[0:3]), m))
    pitch = (sign * get_lanes(bodies, HAS_PITCH, b)) * x[6]
    x, y = (*m, *f, turn[0], turn[1]), (m[2], *f, *turn, pitch)
    scatter_bodies(of_bodies, bodies, b, JOINT_PLACEMENT, x)
    scatter_bodies(of_bodies, bodies, b, JOINT_PITCH - 7, y)
    return zero_of(x) + zero_of(y)


@inlined
def zero_of(x):
    """Return zeros, and NaN for each of eight lanes that is not finite."""
    return ((0.0 * x[0] + 0.0 * x[1]) + (0.0 * x[2] + 0.0 * x[3])) + (
        (0.0 * x[4] + 0.0 * x[5]) + (0.0 * x[6] + 0.0 * x[7]))


@inlined
def store_body_wrenches(bodies, external):
    """Write the wrenches on bodies side by side."""
    for b in range(len(external)):
        for k in range(6):
            put(bodies, EXTERNAL_WRENCH + k, b, get(external, b, k))


@inlined
def on_links(bodies, b):
    """Return the wrenches on eight bodies in the frames of their links."""
    r, p = body_poses(bodies, BODY_POSE, b)
    return se3.adjoint_inverse_dual(
        r, p, vec3_of(bodies, EXTERNAL_WRENCH, b), vec3_of(bodies, EXTERNAL_WRENCH + 3, b))


@inlined
def motion_of(data, bodies, b):
    """Return twists and accelerations of the links that carry eight bodies."""
    x, y = gather_columns(data, bodies, LINK, b, MOTION_AT), gather_columns(
        data, bodies, LINK, b, MOTION_AT + 8)
    return (x[0:3], x[3:6]), ((x[6], x[7], y[0]), y[1:4])


@inlined
def vec3_of(bodies, at, b):
    """Return three rows of the table for eight bodies."""
    return get_lanes(bodies, at, b), get_lanes(bodies, at + 1, b), get_lanes(bodies, at + 2, b)


@inlined
def mat3_of(bodies, at, b):
    """Return nine rows of the table for eight bodies."""
    x, y, z = vec3_of(bodies, at, b), vec3_of(bodies, at + 3, b), vec3_of(bodies, at + 6, b)
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@inlined
def body_poses(bodies, at, b):
    """Return poses of eight bodies."""
    return mat3_of(bodies, at, b), vec3_of(bodies, at + 9, b)


@inlined
def rigid_of(bodies, b):
    """Return the inertias of eight bodies."""
    x, y = vec3_of(bodies, OWN_INERTIA + 4, b), vec3_of(bodies, OWN_INERTIA + 7, b)
    return (get_lanes(bodies, OWN_INERTIA, b), vec3_of(bodies, OWN_INERTIA + 1, b),
            (x[0], x[1], x[2], y[0], y[1], y[2]))


@inlined
def row_of(bodies, at, b):
    """Return the row of eight of a body."""
    return get_lanes(rows_of(bodies, at * bodies.shape[1], bodies.shape[1] + 1, LANES), b, 0)


@inlined
def put_row_of(bodies, at, b, value):
    """Write the row of eight of a body."""
    put_lanes(rows_of(bodies, at * bodies.shape[1], bodies.shape[1] + 1, LANES), b, 0, value)


@inlined
def load_eight_bodies(bodies, at, b):
    """Return the entries of the rows of eight bodies, side by side."""
    return transposed(
        row_of(bodies, at, b), row_of(bodies, at, b + 1), row_of(bodies, at, b + 2),
        row_of(bodies, at, b + 3), row_of(bodies, at, b + 4), row_of(bodies, at, b + 5),
        row_of(bodies, at, b + 6), row_of(bodies, at, b + 7))


@inlined
def store_eight_bodies(bodies, at, b, x, y, z):
    """Write two vectors and a number into rows of eight bodies."""
    rows = transposed(x[0], x[1], x[2], y[0], y[1], y[2], z, broadcast(0.0))
    put_row_of(bodies, at, b, rows[0])
    put_row_of(bodies, at, b + 1, rows[1])
    put_row_of(bodies, at, b + 2, rows[2])
    put_row_of(bodies, at, b + 3, rows[3])
    put_row_of(bodies, at, b + 4, rows[4])
    put_row_of(bodies, at, b + 5, rows[5])
    put_row_of(bodies, at, b + 6, rows[6])
    put_row_of(bodies, at, b + 7, rows[7])


@inlined
def gather_columns(table, bodies, index, b, at):
    """Return eight columns of the rows that a row of whole numbers lists for eight bodies."""
    return transposed(
        get_lanes(table, get_int(bodies, index, b), at),
        get_lanes(table, get_int(bodies, index, b + 1), at),
        get_lanes(table, get_int(bodies, index, b + 2), at),
        get_lanes(table, get_int(bodies, index, b + 3), at),
        get_lanes(table, get_int(bodies, index, b + 4), at),
        get_lanes(table, get_int(bodies, index, b + 5), at),
        get_lanes(table, get_int(bodies, index, b + 6), at),
        get_lanes(table, get_int(bodies, index, b + 7), at))


@inlined
def scatter_bodies(table, bodies, b, at, x):
    """Write eight columns of the rows of eight bodies; columns behind the last body are lost."""
    rows = transposed(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])
    put_lanes(table, get_int(bodies, ITSELF, b + 7), at, rows[7])  # the last body comes last
    put_lanes(table, get_int(bodies, ITSELF, b + 6), at, rows[6])
    put_lanes(table, get_int(bodies, ITSELF, b + 5), at, rows[5])
    put_lanes(table, get_int(bodies, ITSELF, b + 4), at, rows[4])
    put_lanes(table, get_int(bodies, ITSELF, b + 3), at, rows[3])
    put_lanes(table, get_int(bodies, ITSELF, b + 2), at, rows[2])
    put_lanes(table, get_int(bodies, ITSELF, b + 1), at, rows[1])
    put_lanes(table, get_int(bodies, ITSELF, b), at, rows[0])


@inlined
def all_finite(array):
    """Return whether all entries are finite; on long arrays faster than joints.finite."""
    row, end = rows_of(array, 0, 1, array.size), array.size - array.size % (4 * LANES)
    x = y = z = w = broadcast(0.0)
    for k in range(0, end, 4 * LANES):
        x = x + 0.0 * get_lanes(row, 0, k)
        y = y + 0.0 * get_lanes(row, 0, k + LANES)
        z = z + 0.0 * get_lanes(row, 0, k + 2 * LANES)
        w = w + 0.0 * get_lanes(row, 0, k + 3 * LANES)
    return total((x + y) + (z + w)) == 0.0 and finite(row[0, end:])


@inlined
def vjp_coordinates(v, a, weights, sign, dissipation, of_coordinates):
    """
    Write sign times the derivatives by damping, friction and rotor inertia.

    Returns zero, or NaN where one is not finite.
    """
    excess = 0.0
    for k in range(len(v)):
        x = sign * weights[k]
        of_damping, of_friction, of_rotor = (
            dissipation * x * v[k], dissipation * x * sign_of(v[k]), x * a[k])
        put(of_coordinates, k, DAMPING, of_damping)
        put(of_coordinates, k, FRICTION, of_friction)
        put(of_coordinates, k, ROTOR_INERTIA, of_rotor)
        excess += (of_damping - of_damping) + (of_friction - of_friction) + (of_rotor - of_rotor)
    return excess


@inlined
def add_dissipation_changes(v, a, dissipation, of_coordinates, tau):
    """
    Add the forces of changes of damping, friction and rotor inertia.

    Returns zero, or NaN where a sum is not finite.
    """
    excess = 0.0
    for k in range(len(v)):
        tau[k] += get(of_coordinates, k, ROTOR_INERTIA) * a[k] + dissipation * (
            get(of_coordinates, k, DAMPING) * v[k]
            + get(of_coordinates, k, FRICTION) * sign_of(v[k]))
        excess += tau[k] - tau[k]
    return excess


@inlined
def sign_of(x):
    """Return the sign of a number, or zero."""
    return float((x > 0.0) - (x < 0.0))
