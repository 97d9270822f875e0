# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The Jacobians of inverse dynamics along a motion, as Taylor series in time (13.36).

All is (13.6) to (13.11) with a series for each quantity, in one frame that all links share. There
the rates of screws and inertias are brackets with the twist of their link, so that no transport
is differentiated. Row m count + i of links is coefficient m of link i, count being the number of
links with the ground. Row m nv + k of columns is coefficient m of coordinate k.
"""

from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import change
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.motion import (
    place_ground, place_link, screw_seen)
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    LINK_WIDTH, load_pair, SharedLink, store_pair)
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_rates import (
    add_rate_sum, add_turned_sum, chart_series, is_noncommuting)
from liedyn_ros.dynamics.tree.kernels import joints, rigid, stops, symmetric
from liedyn_ros.dynamics.tree.kernels.motion import on_link
from liedyn_ros.dynamics.tree.kernels.tables import (
    body_at, Coordinate, coordinate_row, Link, load3, Tree)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, VECTOR
from liedyn_ros.jit.rows import TWO_VECTORS
from liedyn_ros.lie.kernels import se3, vec3

SeriesLink = SharedLink.extended(
    'SeriesLink',
    momentum=TWO_VECTORS,
    external=TWO_VECTORS)  # a scratch buffer of the wrench on a body
SERIES_WIDTH = SeriesLink.width
CHANGES_AT, FORCES_AT = SeriesLink.column('change'), SeriesLink.column('force')
TWISTS_AT, ACCELERATIONS_AT = SeriesLink.column('twist'), SeriesLink.column('acceleration')
# Columns of coordinates: S, P, Q and R of (13.6), then I Q + B P, U, Z, G and the moment K of
# (13.11).
S, P, Q, R, OWN, CARRIED, Z, G, K, COLUMN_SERIES_WIDTH = 0, 6, 12, 18, 24, 30, 36, 42, 48, 51


@kernel
def inverse_rate_jacobians(
        model: MATRIX, links: MATRIX, columns: MATRIX, raw: ARRAY4, gamma: ARRAY4, stop: MATRIX,
        factorial: VECTOR, q: VECTOR, motion: MATRIX, external: CUBE, by_q: CUBE, by_v: CUBE,
        by_a: ARRAY4):
    """
    Write the partial derivatives of tau, tau', ..., of as many rows as by_q has.

    motion (rows + 1, nv) is v and its derivatives, external (rows, B, 6) those of wrenches, or
    empty. raw (3, rows, nv, nv), gamma (rows, rows, 6, 6) and stop (rows, 5), or larger, are
    scratch buffers.
    """
    rows, count = len(by_q), Tree(model, 0).links
    write_poses(model, links, columns, q)
    write_motion_columns(model, links, columns, factorial, motion, rows)
    for i in range(1, count):
        write_link(links, i, count, rows)
    for b in range(external.shape[1]):
        i = body_at(model, b).carrier
        if i > 0:
            subtract_external_series(model, links, factorial, b, i, count, external, rows)
    raw[:] = 0.0
    for i in range(count - 1, 0, -1):
        link = Link(model, i)
        first = link.vi
        for k in range(first, first + joints.degrees(link.kind)):
            load_column(links, columns, i, count, k, motion.shape[1], rows)
            fill_rate_jacobians(model, columns, i, k, factorial, motion.shape[1], rows, raw)
        parent = link.parent
        if parent > 0:  # (13.10)
            for m in range(rows):
                for c in range(FORCES_AT, LINK_WIDTH):
                    links[m * count + parent, c] += links[m * count + i, c]
    for k in range(motion.shape[1]):  # (13.13), (3.19), (3.20)
        row = coordinate_row(model, k)
        coordinate = Coordinate(model, row)
        raw[0, 0, k, k] += coordinate.stiffness
        if coordinate.stop[0] > 0.0:
            add_stops(model, row, k, stop, factorial, q, motion, rows, raw)
        raw[1, 0, k, k] += coordinate.damping
        raw[2, 0, k, k] += coordinate.armature
    combine(model, raw, gamma, factorial, motion, by_q, by_v, by_a)


@kernel
def add_stops(model, row, k, stop, factorial, q, motion, rows, raw):
    """Add the derivatives of the rate of the stops of coordinate k (3.21)."""
    coordinate = Coordinate(model, row)
    stiffness, width = coordinate.stop[0], coordinate.stop[1]
    at = q[coordinate.position_at]
    stop[0, 0], stop[0, 1] = stops.soft_depth((at - coordinate.stop[3]) / width)
    stop[0, 2], stop[0, 3] = stops.soft_depth((coordinate.stop[2] - at) / width)
    for m in range(rows):
        stop[m, 4] = motion[m, k] / factorial[m]
        if m > 0:
            stops.advance(stop, 0, 0, stop, 0, 4, m, 1.0 / width)
            stops.advance(stop, 0, 2, stop, 0, 4, m, -1.0 / width)
        raw[0, m, k, k] += factorial[m] * stops.rate_coefficient(stop, 0, 0, m, stiffness)


@kernel
def write_poses(model, links, columns, q):
    """Write poses, screws and inertias."""
    place_ground(model, SeriesLink, links)
    for i in range(1, Tree(model, 0).links):
        r, p = joints.joint_pose(model, i, q)
        r, p = place_link(model, SeriesLink, links, i, r, p)
        link = Link(model, i)
        kind, pitch = link.kind, link.pitch
        for k in range(joints.degrees(kind)):
            w, v = screw_seen(kind, pitch, k, r, p)
            store_pair(columns, link.vi + k, S, w, v)
        SeriesLink(links, i).inertia = rigid.transport(r, p, link.inertia)


@kernel
def write_motion_columns(model, links, columns, factorial, motion, rows):
    """Write screws, twists and accelerations, and the columns P, Q and R (13.6)."""
    tree = Tree(model, 0)
    count, nv = tree.links, motion.shape[1]
    for m in range(rows + 1):
        SeriesLink(links, m * count).twist = vec3.ZERO, vec3.ZERO
        for i in range(1, count):
            link = Link(model, i)
            w, v = SeriesLink(links, m * count + link.parent).twist
            first = link.vi
            for k in range(first, first + joints.degrees(link.kind)):
                for n in range(m + 1):
                    sw, sv = load_pair(columns, (m - n) * nv + k, S)
                    rate = motion[n, k] / factorial[n]
                    w, v = vec3.axpy(rate, sw, w), vec3.axpy(rate, sv, v)
            SeriesLink(links, m * count + i).twist = w, v
            for k in range(first, first + joints.degrees(link.kind)):
                if m < rows:  # s' = ad_V s (7.2)
                    w, v = bracket_coefficient(links, i, count, TWISTS_AT, columns, k, nv, S, m)
                    scale = 1.0 / (m + 1)
                    store_pair(columns, (m + 1) * nv + k, S, vec3.scale(scale, w),
                               vec3.scale(scale, v))
    for m in range(rows):
        for i in range(count):
            w, v = SeriesLink(links, (m + 1) * count + i).twist
            w, v = vec3.scale(m + 1.0, w), vec3.scale(m + 1.0, v)
            if m == 0:
                v = vec3.sub(v, tree.gravity)  # (3.0)
            SeriesLink(links, m * count + i).acceleration = w, v
        for i in range(1, count):
            link = Link(model, i)
            first, parent = link.vi, link.parent
            for k in range(first, first + joints.degrees(link.kind)):
                p = bracket_coefficient(links, parent, count, TWISTS_AT, columns, k, nv, S, m)
                store_pair(columns, m * nv + k, P, p[0], p[1])
                x = bracket_coefficient(links, parent, count, TWISTS_AT, columns, k, nv, P, m)
                y = bracket_coefficient(links, parent, count, ACCELERATIONS_AT, columns, k, nv,
                                        S, m)
                store_pair(columns, m * nv + k, Q, vec3.add(x[0], y[0]), vec3.add(x[1], y[1]))
                x = bracket_coefficient(links, i, count, TWISTS_AT, columns, k, nv, S, m)
                store_pair(columns, m * nv + k, R, vec3.add(x[0], p[0]), vec3.add(x[1], p[1]))


@kernel
def bracket_coefficient(links, i, count, at, columns, k, nv, column, m):
    """Return coefficient m of the bracket of a twist of link i and a column of coordinate k."""
    w, v = vec3.ZERO, vec3.ZERO
    for n in range(m + 1):
        x, y = load_pair(links, n * count + i, at), load_pair(columns, (m - n) * nv + k, column)
        dw, dv = se3.ad(x[0], x[1], y[0], y[1])
        w, v = vec3.add(w, dw), vec3.add(v, dv)
    return w, v


@kernel
def write_link(links, i, count, rows):
    """Write inertia, momentum, wrench and B of a link (13.9)."""
    for m in range(rows):
        row = m * count + i
        pm, pf, fm, ff = vec3.ZERO, vec3.ZERO, vec3.ZERO, vec3.ZERO
        for c in range(CHANGES_AT, LINK_WIDTH):
            links[row, c] = 0.0
        shared = SeriesLink(links, row)
        for n in range(m + 1):
            body, there = SeriesLink(links, (m - n) * count + i).inertia, SeriesLink(
                links, n * count + i)
            x = rigid.apply(body, *there.twist)
            pm, pf = vec3.add(pm, x[0]), vec3.add(pf, x[1])
            x = rigid.apply(body, *there.acceleration)
            fm, ff = vec3.add(fm, x[0]), vec3.add(ff, x[1])
            shared.plus.change = change.of_rigid(body, *there.twist)
        shared.momentum = pm, pf
        for n in range(m + 1):
            x = se3.ad_dual(*SeriesLink(links, n * count + i).twist,
                            *SeriesLink(links, (m - n) * count + i).momentum)
            fm, ff = vec3.sub(fm, x[0]), vec3.sub(ff, x[1])
        shared.force = fm, ff
        if m + 1 < rows:
            advance_inertia(links, i, count, m)


@kernel
def advance_inertia(links, i, count, m):
    """Write coefficient m + 1 of the inertia of a link: -(I ad_V + ad_V^T I) (Ali 61)."""
    h, j, scale = vec3.ZERO, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 1.0 / (m + 1)
    for n in range(m + 1):
        mass, x, y = SeriesLink(links, (m - n) * count + i).inertia
        w, v = SeriesLink(links, n * count + i).twist
        h = vec3.add(h, vec3.axpy(mass, v, vec3.cross(w, x)))
        # [w] J - J [w], and -[h] [v] - [v] [h] = 2 h.v 1 - h v^T - v h^T
        a, b, c = (vec3.cross(w, (y[0], y[1], y[2])), vec3.cross(w, (y[1], y[3], y[4])),
                   vec3.cross(w, (y[2], y[4], y[5])))
        d = 2.0 * vec3.dot(x, v)
        j = symmetric.add(j, (
            2.0 * a[0] + d - 2.0 * x[0] * v[0], a[1] + b[0] - x[0] * v[1] - x[1] * v[0],
            a[2] + c[0] - x[0] * v[2] - x[2] * v[0], 2.0 * b[1] + d - 2.0 * x[1] * v[1],
            b[2] + c[1] - x[1] * v[2] - x[2] * v[1], 2.0 * c[2] + d - 2.0 * x[2] * v[2]))
    SeriesLink(links, (m + 1) * count + i).inertia = (
        0.0, vec3.scale(scale, h), (scale * j[0], scale * j[1], scale * j[2], scale * j[3],
                                    scale * j[4], scale * j[5]))


@kernel
def subtract_external_series(model, links, factorial, b, i, count, external, rows):
    """Subtract the wrench on a body, whose series is in the frame of the body, from a link's."""
    for first in range(rows):  # fixed to the body: y' = -ad_V^T y
        y = on_link(model, b, external[first])
        y = se3.adjoint_inverse_dual(*SeriesLink(links, i).pose, y[0], y[1])
        scale = -1.0 / factorial[first]
        SeriesLink(links, i).external = vec3.scale(scale, y[0]), vec3.scale(scale, y[1])
        for m in range(rows - first):
            SeriesLink(links, (first + m) * count + i).plus.force = SeriesLink(
                links, m * count + i).external
            scale = -1.0 / (m + 1)
            f, g = vec3.ZERO, vec3.ZERO
            for n in range(m + 1):
                x = se3.ad_dual(*SeriesLink(links, n * count + i).twist,
                                *SeriesLink(links, (m - n) * count + i).external)
                f, g = vec3.axpy(scale, x[0], f), vec3.axpy(scale, x[1], g)
            if m + 1 < rows:
                SeriesLink(links, (m + 1) * count + i).external = f, g


@kernel
def load_column(links, columns, i, count, k, nv, rows):
    """Write the columns of coordinate k of link i, summed over all that it moves (13.11)."""
    for m in range(rows):
        row = m * nv + k
        om, of, zm, zf = vec3.ZERO, vec3.ZERO, vec3.ZERO, vec3.ZERO
        gm, gf, um, uf, km = vec3.ZERO, vec3.ZERO, vec3.ZERO, vec3.ZERO, vec3.ZERO
        for n in range(m + 1):
            there, here = SeriesLink(links, n * count + i), (m - n) * nv + k
            body, (t, b) = there.inertia, there.change
            (sw, sv), (pw, _) = load_pair(columns, here, S), load_pair(columns, here, P)
            (qw, qv), (rw, rv) = load_pair(columns, here, Q), load_pair(columns, here, R)
            x, y = rigid.apply(body, qw, qv), change.apply(t, b, pw)
            om, of = vec3.add(om, vec3.add(x[0], y[0])), vec3.add(of, vec3.add(x[1], y[1]))
            x, y = rigid.apply(body, rw, rv), change.apply(t, b, sw)
            zm, zf = vec3.add(zm, vec3.add(x[0], y[0])), vec3.add(zf, vec3.add(x[1], y[1]))
            x, (fm, ff) = rigid.apply(body, sw, sv), there.force
            gm, gf = vec3.add(gm, x[0]), vec3.add(gf, x[1])
            x = se3.ad_dual(sw, sv, fm, ff)  # N(F) S
            um, uf = vec3.sub(um, x[0]), vec3.sub(uf, x[1])
            km = vec3.add(km, change.apply_t(t, b, sw, sv))
        store_pair(columns, row, OWN, om, of)
        store_pair(columns, row, CARRIED, vec3.add(om, um), vec3.add(of, uf))
        store_pair(columns, row, Z, zm, zf)
        store_pair(columns, row, G, gm, gf)
        for c in range(3):
            columns[row, K + c] = km[c]


@kernel
def fill_rate_jacobians(model, columns, i, k, factorial, nv, rows, raw):
    """Write rows and columns of coordinate k of link i, with those before it (13.11)."""
    own = i
    while i > 0:
        first = Link(model, i).vi
        for j in range(first, first + joints.degrees(Link(model, i).kind)):
            for m in range(rows):
                by_q, by_v, by_a, after_q, after_v = 0.0, 0.0, 0.0, 0.0, 0.0
                for n in range(m + 1):
                    x, y = n * nv + j, (m - n) * nv + k
                    by_q += dot_columns(columns, x, S, y, OWN if i == own else CARRIED)
                    by_v += dot_columns(columns, x, S, y, Z)
                    by_a += dot_columns(columns, x, S, y, G)
                    if i != own:
                        moment = load3(columns, y, K)
                        after_q += (dot_columns(columns, x, Q, y, G)
                                    + vec3.dot(moment, load3(columns, x, P)))
                        after_v += (dot_columns(columns, x, R, y, G)
                                    + vec3.dot(moment, load3(columns, x, S)))
                scale = factorial[m]
                raw[0, m, j, k], raw[1, m, j, k] = scale * by_q, scale * by_v
                raw[2, m, j, k] = scale * by_a
                if i != own:
                    raw[0, m, k, j], raw[1, m, k, j] = scale * after_q, scale * after_v
                    raw[2, m, k, j] = scale * by_a
        i = Link(model, i).parent


@kernel
def dot_columns(columns, x, at_x, y, at_y):
    """Return the product of six columns of two rows."""
    a, b = load_pair(columns, x, at_x)
    c, d = load_pair(columns, y, at_y)
    return vec3.dot(a, c) + vec3.dot(b, d)


@kernel
def combine(model, raw, gamma, factorial, motion, by_q, by_v, by_a):
    """Write sums of derivatives of the Jacobians of order zero (13.34); by_a is zero above."""
    rows = len(by_q)
    for k in range(rows):
        write_sums(raw, factorial, k, 0, by_q[k])
        write_sums(raw, factorial, k, 1, by_v[k])
        for j in range(k + 1):
            write_sums(raw, factorial, k, 2 + j, by_a[k, j])
    for i in range(1, Tree(model, 0).links):
        link = Link(model, i)
        kind, first = link.kind, link.vi
        if is_noncommuting(kind):
            size = joints.degrees(kind)
            chart_series(kind, gamma, factorial, motion, first, rows)
            for k in range(rows):
                add_turned_sum(raw[0], gamma, factorial, k, 0, first, size, 1.0, by_q[k])
                add_turned_sum(raw[0], gamma, factorial, k, 1, first, size, 1.0, by_v[k])
                for j in range(2, k):
                    add_turned_sum(
                        raw[0], gamma, factorial, k, j, first, size, 1.0, by_a[k, j - 2])


@kernel
def write_sums(raw, factorial, k, j, out):
    """Write the sum of all parts in a block (nv, nv), but for turns of displacements."""
    for a in range(len(out)):
        for c in range(len(out)):
            out[a, c] = 0.0
    for m in range(3):
        add_rate_sum(raw[m], m, factorial, k, j, 1.0, out)
