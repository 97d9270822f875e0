# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Second derivatives of inverse dynamics as products with two vectors, O(n) (13.24).

The gradient of y . tau (kernels.products) is varied along a direction xq, xv, xa. A quantity of a
link is varied as seen in its own frame, so screws do not vary. From a parent to its child a
variation loses the bracket with the displacement h of the joint between them.
"""

from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import change
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.motion import compute_motion
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    load_derivative, load_pair, P, Q, R, S, SharedLink, store_pair, twist_axpy)
from liedyn_ros.dynamics.tree.kernels import joints, rigid, stops
from liedyn_ros.dynamics.tree.kernels.tables import add3, Link, load3, store3, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, TRUTH, VECTOR
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.configuration import finite

# Columns of the table of variations, a row for each link after row 0, the ground. A name with D
# is a variation; VARIED_TWIST0 and VARIED_ACCELERATION0 are those of the parent's motion, seen by
# the link.
Y, D_Y, VARIED_DISPLACEMENT = 0, 6, 12
VARIED_TWIST, VARIED_TWIST0, VARIED_ACCELERATION, VARIED_ACCELERATION0 = 18, 24, 30, 36
AL, D_AL, D_FORCE, BE, D_BE = 42, 48, 54, 60, 63
SECOND_WIDTH = 66


@kernel
def inverse_second(
        model: MATRIX, links: MATRIX, columns: MATRIX, table: MATRIX, q: VECTOR, v: VECTOR,
        a: VECTOR, external: MATRIX, y: VECTOR, xq: VECTOR, xv: VECTOR, xa: VECTOR, by_q: VECTOR,
        by_v: VECTOR, by_a: VECTOR) -> TRUTH:
    """
    Write the derivative of the gradient of y . tau along xq, xv, xa, each (nv,).

    Returns whether the input is acceptable and the result is finite.
    """
    if not (compute_motion(model, None, links, columns, q, v, a, external)
            and joints.is_velocity(model, y) and joints.is_velocity(model, xq)
            and joints.is_velocity(model, xv) and joints.is_velocity(model, xa)):
        return False
    vary(model, links, columns, table, v, y, xq, xv, xa, by_q, by_v, by_a)
    for k in range(len(v)):
        by_q[k] += y[k] * xq[k] * stops.of_coordinate(model, k, stops.curvature, q)  # (3.21)
    return finite(by_q) and finite(by_v) and finite(by_a)


@kernel
def inverse_second_all(
        model: MATRIX, links: MATRIX, columns: MATRIX, table: MATRIX, units: MATRIX, q: VECTOR,
        v: VECTOR, a: VECTOR, external: MATRIX, by_qq: CUBE, by_qv: CUBE, by_vv: CUBE,
        by_qa: CUBE):
    """
    Write all second derivatives of tau that are not zero, each (nv, nv, nv).

    They are those of the gradient of each tau along each direction. units (7, nv) is a scratch
    buffer. Returns whether the input is acceptable and the result is finite.
    """
    if not compute_motion(model, None, links, columns, q, v, a, external):
        return False
    units[:] = 0.0
    y, xq, xv, xa = units[0], units[1], units[2], units[3]
    by_q, by_v, by_a = units[4], units[5], units[6]
    for i in range(len(v)):
        y[i] = 1.0
        for j in range(len(v)):
            xq[j] = 1.0
            vary(model, links, columns, table, v, y, xq, xv, xa, by_q, by_v, by_a)
            xq[j] = 0.0
            for k in range(len(v)):
                by_qq[i, k, j], by_qa[i, j, k] = by_q[k], by_a[k]
            xv[j] = 1.0
            vary(model, links, columns, table, v, y, xq, xv, xa, by_q, by_v, by_a)
            xv[j] = 0.0
            for k in range(len(v)):
                by_qv[i, k, j], by_vv[i, k, j] = by_q[k], by_v[k]
        y[i] = 0.0
        by_qq[i, i, i] += stops.of_coordinate(model, i, stops.curvature, q)  # (3.21)
    return (finite(by_qq) and finite(by_qv)
            and finite(by_vv) and finite(by_qa))


@kernel
def vary(model, links, columns, table, v, y, xq, xv, xa, by_q, by_v, by_a):
    """Write the derivative of the gradient; links and columns are those of the motion."""
    for at in (Y, D_Y, VARIED_TWIST, VARIED_ACCELERATION):
        store_pair(table, 0, at, vec3.ZERO, vec3.ZERO)
    count = Tree(model, 0).links
    for i in range(1, count):
        vary_link_motion(model, links, columns, table, i, v, y, xq, xv, xa)
        vary_sums(links, table, i)
    for i in range(count - 1, 0, -1):
        vary_gradient(model, links, columns, table, i, by_q, by_v, by_a)


@inlined
def child_variation(hw, hv, x, y):
    """Return the variation in the child of y, whose variation in the parent is x: x - ad_h y."""
    w, u = se3.ad(hw, hv, y[0], y[1])
    return vec3.sub(x[0], w), vec3.sub(x[1], u)


@inlined
def vary_link_motion(model, links, columns, table, i, v, y, xq, xv, xa):
    """Write the variation of the motion of link i, its parent's being known."""
    link = Link(model, i)
    parent, vi = link.parent, link.vi
    zero = (vec3.ZERO, vec3.ZERO)
    h, yy, sv, rate, push = zero, load_pair(table, parent, Y), zero, zero, zero
    for k in range(vi, vi + joints.degrees(link.kind)):
        s = load_derivative(columns, k, S)
        h, yy, sv = twist_axpy(xq[k], s, h), twist_axpy(y[k], s, yy), twist_axpy(v[k], s, sv)
        rate, push = twist_axpy(xv[k], s, rate), twist_axpy(xa[k], s, push)
    y0 = load_pair(table, parent, Y)
    dy = child_variation(h[0], h[1], load_pair(table, parent, D_Y), y0)
    parent_shared = SharedLink(links, parent)
    dv0 = child_variation(h[0], h[1], load_pair(table, parent, VARIED_TWIST), parent_shared.twist)
    da0 = child_variation(h[0], h[1], load_pair(table, parent, VARIED_ACCELERATION),
                          parent_shared.acceleration)
    dv = twist_axpy(1.0, dv0, rate)
    w, u = SharedLink(links, i).twist
    first, second = se3.ad(dv[0], dv[1], sv[0], sv[1]), se3.ad(w, u, rate[0], rate[1])
    da = twist_axpy(1.0, da0, twist_axpy(1.0, push, twist_axpy(1.0, first, second)))
    store_pair(table, i, VARIED_DISPLACEMENT, h[0], h[1])
    store_pair(table, i, Y, yy[0], yy[1])
    store_pair(table, i, D_Y, dy[0], dy[1])
    store_pair(table, i, VARIED_TWIST0, dv0[0], dv0[1])
    store_pair(table, i, VARIED_TWIST, dv[0], dv[1])
    store_pair(table, i, VARIED_ACCELERATION0, da0[0], da0[1])
    store_pair(table, i, VARIED_ACCELERATION, da[0], da[1])


@inlined
def vary_sums(links, table, i):
    """Write the part of link i alone in al, be, and in the variations of al, be and F."""
    shared = SharedLink(links, i)
    body = shared.inertia
    t, b = shared.change
    (yw, yv), (dyw, dyv) = load_pair(table, i, Y), load_pair(table, i, D_Y)
    (w, u), (dw, du) = shared.twist, load_pair(table, i, VARIED_TWIST)
    store_pair(table, i, AL, *rigid.apply(body, yw, yv))
    store_pair(table, i, D_AL, *rigid.apply(body, dyw, dyv))
    store3(table, i, BE, change.apply_t(t, b, yw, yv))
    dt, db = change.of_rigid(body, dw, du)  # B is linear in V
    store3(table, i, D_BE, vec3.add(
        change.apply_t(dt, db, yw, yv), change.apply_t(t, b, dyw, dyv)))
    (aw, au) = load_pair(table, i, VARIED_ACCELERATION)
    m, f = rigid.apply(body, aw, au)
    hm, hf = rigid.apply(body, w, u)
    xm, xf = se3.ad_dual(dw, du, hm, hf)
    hm, hf = rigid.apply(body, dw, du)
    zm, zf = se3.ad_dual(w, u, hm, hf)
    store_pair(table, i, D_FORCE, vec3.sub(m, vec3.add(xm, zm)), vec3.sub(f, vec3.add(xf, zf)))


@inlined
def vary_gradient(model, links, columns, table, i, by_q, by_v, by_a):
    """Write the variation of the gradient of link i, and add its sums to the parent."""
    link = Link(model, i)
    parent, vi = link.parent, link.vi
    v0, y0, dy0 = (SharedLink(links, parent).twist, load_pair(table, parent, Y),
                   load_pair(table, i, D_Y))
    dv0, da0, dv = (load_pair(table, i, VARIED_TWIST0), load_pair(table, i, VARIED_ACCELERATION0),
                    load_pair(table, i, VARIED_TWIST))
    al, dal = load_pair(table, i, AL), load_pair(table, i, D_AL)
    be, dbe = load3(table, i, BE), load3(table, i, D_BE)
    force, dforce = SharedLink(links, i).force, load_pair(table, i, D_FORCE)
    for k in range(vi, vi + joints.degrees(link.kind)):
        s, p = load_derivative(columns, k, S), load_derivative(columns, k, P)
        q, r = load_derivative(columns, k, Q), load_derivative(columns, k, R)
        dp = se3.ad(dv0[0], dv0[1], s[0], s[1])
        dq = twist_axpy(1.0, se3.ad(da0[0], da0[1], s[0], s[1]), twist_axpy(
            1.0, se3.ad(dv0[0], dv0[1], p[0], p[1]), se3.ad(v0[0], v0[1], dp[0], dp[1])))
        dr = twist_axpy(1.0, dp, se3.ad(dv[0], dv[1], s[0], s[1]))
        turned = se3.ad(y0[0], y0[1], s[0], s[1])
        dturned = se3.ad(dy0[0], dy0[1], s[0], s[1])
        by_q[k] = (twist_power(dq, al) + twist_power(q, dal)
                   + vec3.dot(dp[0], be) + vec3.dot(p[0], dbe)
                   + twist_power(dturned, force) + twist_power(turned, dforce))
        by_v[k] = twist_power(dr, al) + twist_power(r, dal) + vec3.dot(s[0], dbe)
        by_a[k] = twist_power(s, dal)
    if parent > 0:
        hw, hv = load_pair(table, i, VARIED_DISPLACEMENT)
        add_to_row(table, parent, AL, al)
        add3(table, parent, BE, be)
        x = se3.ad_dual(hw, hv, al[0], al[1])
        add_to_row(table, parent, D_AL, (vec3.sub(dal[0], x[0]), vec3.sub(dal[1], x[1])))
        x = se3.ad_dual(hw, hv, force[0], force[1])
        add_to_row(table, parent, D_FORCE, (vec3.sub(dforce[0], x[0]), vec3.sub(dforce[1], x[1])))
        add3(table, parent, D_BE, vec3.add(dbe, vec3.cross(hw, be)))


@inlined
def add_to_row(table, parent, at, x):
    """Add six numbers to a row."""
    add3(table, parent, at, x[0])
    add3(table, parent, at + 3, x[1])


@inlined
def twist_power(x, y):
    """Return the power of a twist and a wrench."""
    return vec3.dot(x[0], y[0]) + vec3.dot(x[1], y[1])
