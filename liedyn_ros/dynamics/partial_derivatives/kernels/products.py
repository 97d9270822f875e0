# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
JVP and VJP of inverse dynamics, O(n) (13.8), (13.22).

They run in body frames on what rnea has of each link: pose, twist, acceleration, wrench.
A direction that is not finite makes a result that is not.
"""

from liedyn_ros.dynamics.algorithms.kernels.rnea import move_link
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import change
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    add_pair, load_pair, store_pair, sum_of)
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import shares_memory
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    GRAVITY_COLUMN, LINK_DISPLACEMENT, LINK_PITCH, LINK_WRENCH, PART_WIDTH)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.motion import (
    fits_bodies, spring_rate, store_pose, subtract_external)
from liedyn_ros.dynamics.tree.kernels.tables import (
    add3, coordinate_of, Link, load3, State, store3, Tree)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.simd import (
    get, get_quad, joined, parts as parts_of, put, put_quad, QUAD, quad_of)
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.kinds import FREE, HELICAL, REVOLUTE, SPHERICAL

# Columns of the table of products, a row for each link after row 0, the ground, which stays zero.
# Before them are the perturbations of links by parameters. Of J x: the angular and linear parts of
# D V, then those of D V' + ad_V D V, side by side. So component c of all are the columns from
# D_MOTION + QUAD c on.
D_MOTION, D_LINK_WRENCH = PART_WIDTH, PART_WIDTH + 12
D_DISPLACEMENT = PART_WIDTH + 18  # displacement of the link by its joint and by parameters
# Of J^T y: the moment and force of al and the moment of be, whose force is zero, side by side. So
# component c of all are the columns from ADJOINT_SUMS + QUAD c on.
ADJOINT_SUMS = PART_WIDTH


@kernel
def inverse_product(
        model: MATRIX, data: MATRIX, table: MATRIX, q: VECTOR, v: VECTOR, a: VECTOR,
        external: MATRIX, xq: VECTOR, xv: VECTOR, xa: VECTOR, out: VECTOR) -> TRUTH:
    """
    Write out = dtau/dq xq + dtau/dv xv + M xa (nv,).

    Returns whether the input is acceptable and the result is finite.
    """
    if shares_memory(out, q, v, a, external) or not (
            len(xq) == len(xv) == len(xa) == Tree(model, 0).nv
            and move_links(model, data, q, v, a, external, None)):
        return False
    return multiply(model, data, table, None, True, q, v, a, xq, xv, xa, out) == 0.0


@inlined
def move_links(model, data, q, v, a, external, y):
    """
    Write poses, twists, accelerations and net wrenches of links, as rnea does.

    Also write their twists at the rates y into ORDER_CHANGE, unless y is None. Returns whether the
    motion is acceptable.
    """
    ground = State(data, 0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a) and fits_bodies(model, external)):
        return False
    joints.store_angles(model, State, data, q)
    if y is not None:
        ground.order_change = vec3.ZERO, vec3.ZERO
    for i in range(1, Tree(model, 0).links):
        store_pose(model, data, i, q)
        move_link(model, data, i, v, a)
        if y is not None:
            propagate_twist(model, data, i, y)
    subtract_external(model, data, external, False)
    return True


@inlined
def multiply(model, data, table, parts, net, q, v, a, xq, xv, xa, out):
    """
    Write the JVP of inverse_product at the motion in data; xa may be None, which is zero.

    parts is the table if it has perturbations of links (kernels.parameters), else None. Wrenches
    in data come from the parents; with net each is of a link alone, and they are summed. Returns
    zero, or NaN where the JVP is not finite.
    """
    tree = Tree(model, 0)
    count = tree.links
    if parts is not None:
        move_ground(table, vec3.neg(load3(parts, 0, GRAVITY_COLUMN)))
    for i in range(1, count):
        link = Link(model, i)
        if link.kind == REVOLUTE:  # without a look at the kind at each step
            vary_link(model, data, table, parts, i, REVOLUTE, q, v, a, xq, xv, xa)
        else:
            vary_link(model, data, table, parts, i, link.kind, q, v, a, xq, xv, xa)
    if parts is not None:
        move_ground(table, vec3.ZERO)
    for i in range(count - 1, 0, -1):
        gather_force_changes(model, data, table, parts, net, i, q, xq, out)
    if tree.loaded_joints:
        for k in range(len(out)):  # (3.19), (3.20)
            out[k] += spring_rate(model, k, q) * xq[k]
            if xa is not None:
                out[k] += coordinate_of(model, k).armature * xa[k]
    excess = 0.0
    for k in range(len(out)):
        out[k] += coordinate_of(model, k).damping * xv[k]
        excess += out[k] - out[k]
    return excess


@inlined
def with_rates(kind, pitch, x, vi, w, u):
    """Return the twist (w, u) and that of a joint at the rates x."""
    if kind == REVOLUTE:
        return (w[0], w[1], w[2] + x[vi]), u
    return sum_of((w, u), joints.relative_twist(kind, pitch, x, vi))


@inlined
def parent_motion(model, data, i, kind, v, a):
    """Return V0 and A0: twist and acceleration of the parent of link i, as the link sees them."""
    link = Link(model, i)
    pitch, vi = link.pitch, link.vi
    state = State(data, i)
    (w, u), (dw, du) = state.twist, state.acceleration
    if kind == REVOLUTE:
        rate = v[vi]
        return (((w[0], w[1], w[2] - rate), u), (
            (dw[0] - rate * w[1], dw[1] + rate * w[0], dw[2] - a[vi]),
            (du[0] - rate * u[1], du[1] + rate * u[0], du[2])))
    ew, eu = joints.joint_bracket(kind, pitch, w, u, v, vi)
    sw, su = joints.relative_twist(kind, pitch, v, vi)
    aw, au = joints.relative_twist(kind, pitch, a, vi)
    return ((vec3.sub(w, sw), vec3.sub(u, su)),
            (vec3.sub(dw, vec3.add(ew, aw)), vec3.sub(du, vec3.add(eu, au))))  # (3.1), (3.3)


@inlined
def vary_link(model, data, table, parts, i, kind, q, v, a, xq, xv, xa):
    """Write the change of the motion of link i (13.8), and of its wrench (13.9)."""
    link = Link(model, i)
    pitch, vi = link.pitch, link.vi
    state = State(data, i)
    parent, (r, p) = link.parent, state.pose
    w, u = state.twist
    (w0, u0), (dw, du) = parent_motion(model, data, i, kind, v, a)
    # P xq + S xv, and Q xq + R xv + S xa = [A0, h] + [V0, P xq + S xv] + [V, S xv] + S xa (13.6)
    if parts is None:
        (cw, cu), x = (joints.joint_bracket(kind, pitch, w0, u0, xq, vi),
                       joints.joint_bracket(kind, pitch, dw, du, xq, vi))
    else:
        hw, hu = with_rates(
            kind, pitch, xq, vi, *displacement(model, data, parts, i, kind, q))
        store_pair(table, i, D_DISPLACEMENT, hw, hu)
        (cw, cu), x = se3.ad(w0, u0, hw, hu), se3.ad(dw, du, hw, hu)
    cw, cu = with_rates(kind, pitch, xv, vi, cw, cu)
    if parts is not None and kind == HELICAL:
        rate = along_axis(parts, i, v[vi])
        cw, cu = sum_of((cw, cu), rate)
        x = sum_of(x, sum_of(se3.ad(w, u, *rate), along_axis(parts, i, a[vi])))
    x = sum_of(x, sum_of(se3.ad(w0, u0, cw, cu), joints.joint_bracket(kind, pitch, w, u, xv, vi)))
    if xa is not None:
        x = with_rates(kind, pitch, xa, vi, *x)
    x, y, z = carry_motion(table, parent, i, r, p, cw, cu, *x)
    body = link.inertia
    m, f = change.wrench(
        body, w, u, (x[2], y[2], z[2]), (x[3], y[3], z[3]), (x[0], y[0], z[0]))
    if parts is not None:
        m, f = sum_of((m, f), load_pair(parts, i, LINK_WRENCH))
    store_pair(table, i, D_LINK_WRENCH, m, f)  # (13.9)


@inlined
def move_ground(table, acceleration):
    """Write how the acceleration of the ground changes."""
    for c in range(3):
        put(table, 0, D_MOTION + QUAD * c + 3, acceleration[c])


@inlined
def carry_motion(table, parent, i, r, p, cw, cu, dw, du):
    """Write and return D_MOTION of link i at (r, p): that of its parent, and its joint's."""
    x = (get_quad(table, parent, D_MOTION), get_quad(table, parent, D_MOTION + QUAD),
         get_quad(table, parent, D_MOTION + 2 * QUAD))
    y = angular_parts(x[0]), angular_parts(x[1]), angular_parts(x[2])
    x = mat3.apply_t(r, vec3.sub(x, vec3.cross(p, y)))
    x = vec3.add(x, (joined(cw[0], cu[0], dw[0], du[0]), joined(cw[1], cu[1], dw[1], du[1]),
                     joined(cw[2], cu[2], dw[2], du[2])))  # (1.2)
    for c in range(3):
        put_quad(table, i, D_MOTION + QUAD * c, x[c])
    return parts_of(x[0]), parts_of(x[1]), parts_of(x[2])


@inlined
def angular_parts(x):
    """Return the angular parts of two twists in the place of their linear parts, and zeros."""
    p = parts_of(x)
    return joined(0.0, p[0], 0.0, p[2])


@inlined
def displacement(model, data, parts, i, kind, q):
    """Return the displacement of link i by its placement and pitch, in its frame."""
    moved = se3.adjoint_inverse(*State(data, i).pose, *load_pair(parts, i, LINK_DISPLACEMENT))
    if kind == HELICAL:
        moved = sum_of(moved, along_axis(parts, i, q[Link(model, i).qi]))
    return moved


@inlined
def along_axis(parts, i, x):
    """Return the change of the joint twist S x of link i by its pitch."""
    return vec3.ZERO, (0.0, 0.0, get(parts, i, LINK_PITCH) * x)


@inlined
def gather_force_changes(model, data, table, parts, net, i, q, xq, out):
    """Write the change of the joint forces of link i, and add its wrench to the parent's."""
    link = Link(model, i)
    kind, pitch, vi = link.kind, link.pitch, link.vi
    parent, (m, f) = link.parent, load_pair(table, i, D_LINK_WRENCH)
    write_along(kind, pitch, vi, m, f, out)
    state = State(data, i)
    if parts is not None:
        if kind == HELICAL:
            out[vi] += get(parts, i, LINK_PITCH) * state.wrench[1][2]
    if parent > 0:
        r, p = state.pose
        fm, ff = state.wrench
        if parts is None:
            xm, xf = joints.bracket_dual(kind, pitch, xq, vi, fm, ff)
        else:
            xm, xf = se3.ad_dual(*load_pair(table, i, D_DISPLACEMENT), fm, ff)
        if net:
            State(data, parent).plus.wrench = se3.adjoint_inverse_dual(r, p, fm, ff)  # (3.4)
        add_pair(table, parent, D_LINK_WRENCH, *se3.adjoint_inverse_dual(
            r, p, vec3.sub(m, xm), vec3.sub(f, xf)))


@inlined
def write_along(kind, pitch, vi, m, f, out):
    """Write the part S^T F of a wrench along the coordinates of a link."""
    if kind < SPHERICAL:
        out[vi] = joints.along(kind, pitch, 0, m, f)
    else:
        out[vi], out[vi + 1], out[vi + 2] = m
        if kind == FREE:
            out[vi + 3], out[vi + 4], out[vi + 5] = f


@kernel
def inverse_product_transposed(
        model: MATRIX, data: MATRIX, table: MATRIX, q: VECTOR, v: VECTOR, a: VECTOR,
        external: MATRIX, y: VECTOR, by_q: VECTOR, by_v: VECTOR, by_a: VECTOR) -> TRUTH:
    """
    Write y^T dtau/dq, y^T dtau/dv and y^T M = M y, each (nv,) (13.22).

    Returns whether the input is acceptable and the result is finite.
    """
    if shares_memory(by_a, q, v, a, external) or not (
            len(y) == Tree(model, 0).nv and move_links(model, data, q, v, a, external, y)):
        return False
    return multiply_transposed(
        model, data, table, None, True, q, v, a, y, by_q, by_v, by_a) == 0.0


@inlined
def propagate_twists(model, data, y):
    """Write the twist of each link at the rates y into ORDER_CHANGE of data."""
    State(data, 0).order_change = vec3.ZERO, vec3.ZERO
    for i in range(1, Tree(model, 0).links):
        propagate_twist(model, data, i, y)


@inlined
def propagate_twist(model, data, i, y):
    """Write the twist of link i at the rates y, its parent's being known."""
    state = State(data, i)
    link = Link(model, i)
    w, u = se3.adjoint_inverse(*state.pose, *State(data, Link(model, i).parent).order_change)
    state.order_change = with_rates(link.kind, link.pitch, y, link.vi, w, u)


@inlined
def multiply_transposed(model, data, table, parts, net, q, v, a, y, by_q, by_v, by_a):
    """
    Write the VJP of inverse_product_transposed at the motion in data; by_a may be None.

    ORDER_CHANGE of data is the twist of each link at the rates y. parts, or None, gets the
    derivatives by displacement and pitch of links, and by gravity; net is as in multiply. Returns
    zero, or NaN where the VJP is not finite.
    """
    tree = Tree(model, 0)
    count = tree.links
    for i in range(1, count):
        for c in range(3):
            put_quad(table, i, ADJOINT_SUMS + QUAD * c, quad_of(0.0))
    if parts is not None:
        store3(parts, 0, GRAVITY_COLUMN, vec3.ZERO)
    for i in range(count - 1, 0, -1):
        scatter(model, data, table, parts, net, i, q, v, a, y, by_q, by_v, by_a)
    if tree.loaded_joints:
        for k in range(len(v)):  # (3.19), (3.20)
            by_q[k] += spring_rate(model, k, q) * y[k]
            if by_a is not None:
                by_a[k] += coordinate_of(model, k).armature * y[k]
    excess = 0.0
    for k in range(len(v)):
        by_v[k] += coordinate_of(model, k).damping * y[k]
        excess += (by_q[k] - by_q[k]) + (by_v[k] - by_v[k])
        if by_a is not None:
            excess += by_a[k] - by_a[k]
    return excess


@inlined
def scatter(model, data, table, parts, net, i, q, v, a, y, by_q, by_v, by_a):
    """Write the products of the coordinates of link i, and add its sums to the parent's."""
    link = Link(model, i)
    kind, pitch, vi = link.kind, link.pitch, link.vi
    parent, body = link.parent, link.inertia
    state = State(data, i)
    (w, u), (yw, yu) = state.twist, state.order_change
    m, f = rigid.apply(body, yw, yu)
    moment = change.times_t(body, w, u, yw, yu, f)
    m, f, moment = (vec3.add(m, load_sum(table, i, 0)), vec3.add(f, load_sum(table, i, 1)),
                    vec3.add(moment, load_sum(table, i, 2)))
    (w0, u0), (dw, du) = parent_motion(model, data, i, kind, v, a)
    fm, ff = state.wrench
    # Q^T al + P^T be = S^T (ad_{A0}^T al + ad_{V0}^T c), R^T al + S^T be = S^T (c + ad_V^T al),
    # with c = ad_{V0}^T al + be (13.6).
    cm, cf = se3.ad_dual(w0, u0, m, f)
    cm = vec3.add(cm, moment)
    zm, zf = sum_of((cm, cf), se3.ad_dual(w, u, m, f))
    if kind == REVOLUTE:
        if parts is None:
            by_q[vi] = (revolute_moment(dw, du, m, f) + revolute_moment(w0, u0, cm, cf)
                        + revolute_moment(yw, yu, fm, ff))
        by_v[vi] = zm[2]
        if by_a is not None:
            by_a[vi] = m[2]
    else:
        write_along(kind, pitch, vi, zm, zf, by_v)
        if by_a is not None:
            write_along(kind, pitch, vi, m, f, by_a)
    if parts is not None or kind != REVOLUTE:
        sw, su = joints.relative_twist(kind, pitch, y, vi)
        x = se3.ad_dual(vec3.sub(yw, sw), vec3.sub(yu, su), fm, ff)
        x = sum_of(x, sum_of(se3.ad_dual(dw, du, m, f), se3.ad_dual(w0, u0, cm, cf)))
        write_along(kind, pitch, vi, x[0], x[1], by_q)
        if parts is not None:
            store_pair(parts, i, LINK_DISPLACEMENT,
                       *se3.adjoint_inverse_dual(*state.pose, x[0], x[1]))
            put(parts, i, LINK_PITCH, 0.0 if kind != HELICAL
                else (q[link.qi] * x[1][2] + v[vi] * zf[2] + a[vi] * f[2] + y[vi] * ff[2]))
    if parts is not None and parent == 0:
        add3(parts, 0, GRAVITY_COLUMN, vec3.neg(mat3.apply(state.pose[0], f)))
    if parent > 0:
        r, p = state.pose
        add_sums(table, parent, r, p, m, f, moment)
        if net:
            State(data, parent).plus.wrench = se3.adjoint_inverse_dual(r, p, fm, ff)  # (3.4)


@inlined
def load_sum(table, i, which):
    """Return one of the three vectors among the sums of link i."""
    return (get(table, i, ADJOINT_SUMS + which), get(table, i, ADJOINT_SUMS + QUAD + which),
            get(table, i, ADJOINT_SUMS + 2 * QUAD + which))


@inlined
def add_sums(table, parent, r, p, m, f, moment):
    """Add al = (m, f) and the moment of be of a link at (r, p) to the sums of its parent."""
    x = mat3.apply(r, (joined(m[0], f[0], moment[0], 0.0), joined(m[1], f[1], moment[1], 0.0),
                       joined(m[2], f[2], moment[2], 0.0)))
    y = vec3.cross(p, (joined(parts_of(x[0])[1], 0.0, 0.0, 0.0),
                       joined(parts_of(x[1])[1], 0.0, 0.0, 0.0),
                       joined(parts_of(x[2])[1], 0.0, 0.0, 0.0)))  # (1.2)
    for c in range(3):
        at = ADJOINT_SUMS + QUAD * c
        put_quad(table, parent, at, get_quad(table, parent, at) + (x[c] + y[c]))


@inlined
def revolute_moment(w, u, m, f):
    """Return the moment of ad_V^T F about z, which is that of ad_{V0}^T F of a revolute joint."""
    return w[1] * m[0] - w[0] * m[1] + u[1] * f[0] - u[0] * f[1]
