# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of all links, coefficient by coefficient, in the inertial frame of tables.py."""

import math

from liedyn_ros.dynamics.constrained.kernels.tables import (
    add_row, AXES, columns3, columns9, FIRST_MOMENT, gather_poses, gather_rows, get3, get_row,
    get_rows, load3_lanes, ORIGIN, put3, put3_lanes, put_row, put_rows, ROTATIONAL_INERTIA,
    scatter_rows, START, zeros)
from liedyn_ros.dynamics.tree.kernels import joints, rigid, stops
from liedyn_ros.dynamics.tree.kernels.joints import LARGEST_ANGLE, sine_cosine_within
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, lanes_at, put, put_lanes
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.configuration import are_unit, finite


@kernel
def is_configuration(machine, q):
    """Return whether a configuration is finite and its quaternions are of unit length."""
    return finite(q) and are_unit(machine.kind, machine.qi, q)


@kernel
def write_configuration(machine, motion, q, frames):
    """Write the terms of the configuration: poses, screws, inertias, the first `frames` frames."""
    count = len(machine.kind)
    center = vec3.ZERO
    for j in range(len(machine.link)):
        motion.position[j] = q[machine.position_at[j]]
    for j in range(0, len(machine.link), LANES):
        s, c = sine_cosine_within(lanes_at(motion.position, j))
        put_lanes(motion.angle, 0, j, s)
        put_lanes(motion.angle, 1, j, c)
    for i in range(count):
        s, c = angle_of_link(machine, motion, i)
        r, p = joints.turned(machine.kind[i], machine.pitch[i], columns9(machine.placement, i),
                             columns3(machine.placement, i, 9), q, machine.qi[i], s, c)
        parent = machine.parent[i]
        if parent < count:
            r, p = se3.compose(columns9(motion.pose, parent), columns3(motion.pose, parent, 9), r,
                               p)
        store_row_pose(motion.pose, i, r, p)
        center = vec3.axpy(1.0 / count, p, center)
    store_row_pose(motion.pose, count, mat3.UNIT_ENTRIES, vec3.ZERO)
    vec3.store(motion.reference, 0, center)
    for i in range(count + 1):
        for c in range(3):
            motion.pose[i, 9 + c] -= center[c]
    for c in range(6):
        put(motion.twist[0], c, count, 0.0)
    for b in range(0, machine.heavy_links[0], LANES):
        write_moments(machine, motion, b)
    for i in range(count):
        r, p = columns9(motion.pose, i), columns3(motion.pose, i, 9)
        for k in range(joints.degrees(machine.kind[i])):
            w, v = joints.screw(machine.kind[i], machine.pitch[i], k)
            w, v = se3.adjoint(r, p, w, v)  # (0.5)
            put_row(motion.screw_row, machine.vi[i] + k, w, v)
    for j in range(0, len(machine.link), LANES):
        w, v = get_rows(motion.screw_row, j)
        put3_lanes(motion.screw[0], j, START, w)
        put3_lanes(motion.screw[0], j, START + 3, v)
    for f in range(frames):
        link = machine.frame_link[f]
        r, p = se3.compose(
            columns9(motion.pose, link), columns3(motion.pose, link, 9),
            columns9(machine.frame_placement, f), columns3(machine.frame_placement, f, 9))
        put3(motion.frame, f, START, ORIGIN, p)
        for c in range(3):
            put3(motion.frame, f, START, AXES + 3 * c, (r[c], r[3 + c], r[6 + c]))


@inlined
def angle_of_link(machine, motion, i):
    """Return sine and cosine of the angle of a link; 0 and 1 for one without."""
    if not joints.is_angle(machine.kind[i]):
        return 0.0, 1.0
    j = machine.vi[i]
    if not abs(motion.position[j]) < LARGEST_ANGLE:
        return math.sin(motion.position[j]), math.cos(motion.position[j])
    return get(motion.angle, 0, j), get(motion.angle, 1, j)


@kernel
def write_moments(machine, motion, b):
    """Write m c and J of eight links with inertia from b on."""
    (r, p), table = gather_poses(motion.pose, machine.heavy_link, b), machine.heavy_inertia
    body = (get_lanes(table, START, b), load3_lanes(table, b, START + 1),
            load3_lanes(table, b, START + 4) + load3_lanes(table, b, START + 7))
    _, h, j = rigid.transport(r, p, body)
    put3_lanes(motion.moments[0], b, FIRST_MOMENT, h)
    put3_lanes(motion.moments[0], b, ROTATIONAL_INERTIA, j[0:3])
    put3_lanes(motion.moments[0], b, ROTATIONAL_INERTIA + 3, j[3:6])


@kernel
def store_row_pose(pose, i, r, p):
    """Write a pose into a row."""
    for c in range(9):
        pose[i, c] = r[c]
    for c in range(3):
        pose[i, 9 + c] = p[c]


@kernel
def write_twists(machine, motion, k, kept):
    """
    Write coefficient k of all twists from rates and screws to that order.

    kept: derivatives of order zero follow, which read those of all links.
    """
    count, step, twists = len(machine.kind), motion.step_row, motion.twist_row
    for j in range(0, len(machine.link), LANES):
        w, v = zeros(), zeros()
        for h in range(k + 1):
            rate = get_lanes(motion.rate, k - h, j)
            w = vec3.axpy(rate, load3_lanes(motion.screw[h], j, START), w)
            v = vec3.axpy(rate, load3_lanes(motion.screw[h], j, START + 3), v)
        put_rows(step, j, w, v)
    put_lanes(twists, count, START, broadcast(0.0))
    for i in range(count):
        twist = get_lanes(twists, machine.parent[i], START)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            twist = twist + get_lanes(step, j, START)
        put_lanes(twists, i, START, twist)
    for b in range(0, machine.heavy_links[0], LANES):
        w, v = gather_rows(twists, machine.heavy_link, b)
        put3_lanes(motion.heavy_twist[k], b, START, w)
        put3_lanes(motion.heavy_twist[k], b, START + 3, v)
    if kept and k < 2:
        for i in range(0, count + 1, LANES):
            w, v = get_rows(twists, i)
            put3_lanes(motion.twist[k], i, START, w)
            put3_lanes(motion.twist[k], i, START + 3, v)


@kernel
def extend(machine, motion, k, frames):
    """Write coefficient k + 1 of all that is fixed to links, twists being known to order k."""
    for j in range(0, len(machine.link), LANES):
        w, v = gather_rows(motion.twist_row, machine.coordinate_row, j)
        put3_lanes(motion.carrier[k], j, START, w)
        put3_lanes(motion.carrier[k], j, START + 3, v)
        extend_screws(motion, j, k)
    for b in range(0, machine.heavy_links[0], LANES):
        extend_moments(machine, motion, b, k)
    for f in range(0, frames, LANES):
        w, v = gather_rows(motion.twist_row, machine.frame_row, f)
        put3_lanes(motion.frame_twist[k], f, START, w)
        put3_lanes(motion.frame_twist[k], f, START + 3, v)
        extend_frames(motion, f, k)


@kernel
def extend_screws(motion, j, k):
    """Write coefficient k + 1 of eight screws from j on: S' = ad_V S."""
    scale, w, v = 1.0 / (k + 1.0), zeros(), zeros()
    for h in range(k + 1):
        twist, screw = motion.carrier[h], motion.screw[k - h]
        dw, dv = se3.ad(load3_lanes(twist, j, START), load3_lanes(twist, j, START + 3),
                        load3_lanes(screw, j, START), load3_lanes(screw, j, START + 3))
        w, v = vec3.add(w, dw), vec3.add(v, dv)
    put3_lanes(motion.screw[k + 1], j, START, vec3.scale(scale, w))
    put3_lanes(motion.screw[k + 1], j, START + 3, vec3.scale(scale, v))


@kernel
def extend_frames(motion, f, k):
    """Write coefficient k + 1 of eight frames from f on: p' = v + w x p, x' = w x x."""
    scale, p = 1.0 / (k + 1.0), load3_lanes(motion.frame_twist[k], f, START + 3)
    x, y, z = zeros(), zeros(), zeros()
    for h in range(k + 1):
        w, frame = load3_lanes(motion.frame_twist[h], f, START), motion.frame[k - h]
        p = vec3.add(p, vec3.cross(w, load3_lanes(frame, f, ORIGIN)))
        x = vec3.add(x, vec3.cross(w, load3_lanes(frame, f, AXES)))
        y = vec3.add(y, vec3.cross(w, load3_lanes(frame, f, AXES + 3)))
        z = vec3.add(z, vec3.cross(w, load3_lanes(frame, f, AXES + 6)))
    frame = motion.frame[k + 1]
    put3_lanes(frame, f, ORIGIN, vec3.scale(scale, p))
    put3_lanes(frame, f, AXES, vec3.scale(scale, x))
    put3_lanes(frame, f, AXES + 3, vec3.scale(scale, y))
    put3_lanes(frame, f, AXES + 6, vec3.scale(scale, z))


@kernel
def extend_moments(machine, motion, b, k):
    """Write coefficient k + 1 of m c and J of eight links from b on: I' = -I ad_V - ad_V^T I."""
    scale = 1.0 / (k + 1.0)
    x = vec3.scale(get_lanes(machine.mass, 0, b), load3_lanes(motion.heavy_twist[k], b, START + 3))
    first, last = zeros(), zeros()  # xx, xy, xz and yy, yz, zz
    for h in range(k + 1):
        twist, part = motion.heavy_twist[h], motion.moments[k - h]
        w, v = load3_lanes(twist, b, START), load3_lanes(twist, b, START + 3)
        g, a = load3_lanes(part, b, FIRST_MOMENT), load3_lanes(part, b, ROTATIONAL_INERTIA)
        d = load3_lanes(part, b, ROTATIONAL_INERTIA + 3)
        x = vec3.add(x, vec3.cross(w, g))
        p, q, r = vec3.cross(w, a), vec3.cross(w, (a[1], d[0], d[1])), vec3.cross(
            w, (a[2], d[1], d[2]))  # columns of [w] J
        s = 2.0 * vec3.dot(g, v)
        first = vec3.add(first, (2.0 * (p[0] - g[0] * v[0]) + s,
                                 p[1] + q[0] - g[0] * v[1] - g[1] * v[0],
                                 p[2] + r[0] - g[0] * v[2] - g[2] * v[0]))
        last = vec3.add(last, (2.0 * (q[1] - g[1] * v[1]) + s,
                               q[2] + r[1] - g[1] * v[2] - g[2] * v[1],
                               2.0 * (r[2] - g[2] * v[2]) + s))
    part = motion.moments[k + 1]
    put3_lanes(part, b, FIRST_MOMENT, vec3.scale(scale, x))
    put3_lanes(part, b, ROTATIONAL_INERTIA, vec3.scale(scale, first))
    put3_lanes(part, b, ROTATIONAL_INERTIA + 3, vec3.scale(scale, last))


@kernel
def write_link_wrenches(machine, motion, k):
    """Write coefficient k of the wrench that each link needs alone: momentum' less weight."""
    scale, weight = k + 1.0, (machine.gravity[0], machine.gravity[1], machine.gravity[2])
    clear_rows(motion.wrench_row, len(machine.kind) + 1)
    for i in range(0, machine.heavy_links[0], LANES):
        mass = get_lanes(machine.mass, 0, i)
        m, f = zeros(), vec3.scale(mass, load3_lanes(motion.heavy_twist[k + 1], i, START + 3))
        for h in range(k + 2):
            part, twist = motion.moments[h], motion.heavy_twist[k + 1 - h]
            body = (load3_lanes(part, i, FIRST_MOMENT), load3_lanes(part, i, ROTATIONAL_INERTIA),
                    load3_lanes(part, i, ROTATIONAL_INERTIA + 3))
            dm, df = inertia_times(body, load3_lanes(twist, i, START),
                                   load3_lanes(twist, i, START + 3))
            m, f = vec3.add(m, dm), vec3.add(f, df)
        m = vec3.sub(vec3.scale(scale, m),
                     vec3.cross(load3_lanes(motion.moments[k], i, FIRST_MOMENT), weight))
        f = vec3.scale(scale, f)
        if k == 0:
            f = vec3.sub(f, (mass * weight[0], mass * weight[1], mass * weight[2]))
        scatter_rows(motion.wrench_row, machine.heavy_link, i, m, f)


@inlined
def clear_rows(table, count):
    """Write zero into the first rows."""
    for i in range(count):
        put_lanes(table, i, START, broadcast(0.0))


@inlined
def inertia_times(body, w, v):
    """Return an inertia (m c, J) times a twist, but for the part of the mass alone."""
    g, a, b = body
    m = (a[0] * w[0] + a[1] * w[1] + a[2] * w[2],
         a[1] * w[0] + b[0] * w[1] + b[1] * w[2],
         a[2] * w[0] + b[1] * w[1] + b[2] * w[2])
    return vec3.add(m, vec3.cross(g, v)), vec3.cross(w, g)  # (1.17)


@kernel
def subtract_applied_wrenches(machine, motion, external, k):
    """Subtract coefficient k of the applied wrenches from the wrenches that links need."""
    first = len(machine.frame_link) - len(external)
    for b in range(len(external)):
        f, i = first + b, machine.frame_link[first + b]
        moment, force = vec3.ZERO, vec3.ZERO
        for c in range(3):
            for h in range(k + 1):
                axis = get3(motion.frame, f, h, AXES + 3 * c)
                moment = vec3.axpy(external[b, k - h, c], axis, moment)
        for h in range(k + 1):
            part = vec3.ZERO
            for c in range(3):
                for g in range(k - h + 1):
                    part = vec3.axpy(external[b, k - h - g, 3 + c],
                                     get3(motion.frame, f, g, AXES + 3 * c), part)
            moment = vec3.add(moment, vec3.cross(get3(motion.frame, f, h, ORIGIN), part))
            if h == 0:
                force = part
        m, f = get_row(motion.wrench_row, i)
        put_row(motion.wrench_row, i, vec3.sub(m, moment), vec3.sub(f, force))


@kernel
def sum_wrenches(machine, motion, k, kept):
    """Add coefficient k of the wrench of each link to that of its parent; kept: as for twists."""
    for i in range(len(machine.kind) - 1, -1, -1):
        add_row(motion.wrench_row, machine.parent[i], get_lanes(motion.wrench_row, i, START))
    if kept:
        for i in range(0, len(machine.kind) + 1, LANES):
            m, f = get_rows(motion.wrench_row, i)
            put3_lanes(motion.wrench[k], i, START, m)
            put3_lanes(motion.wrench[k], i, START + 3, f)


@kernel
def write_joint_forces(machine, motion, k, out):
    """Write coefficient k of the joint forces (nv,) that the wrenches need."""
    for j in range(0, len(machine.link), LANES):
        m, f = gather_rows(motion.wrench_row, machine.coordinate_row, j)
        put3_lanes(motion.load[k], j, START, m)
        put3_lanes(motion.load[k], j, START + 3, f)
        total = broadcast(0.0)
        for h in range(k + 1):
            screw, load = motion.screw[h], motion.load[k - h]
            total = total + vec3.dot(load3_lanes(screw, j, START),
                                     load3_lanes(load, j, START)) + vec3.dot(
                load3_lanes(screw, j, START + 3), load3_lanes(load, j, START + 3))
        put_lanes(motion.step, 0, j, total + passive_forces(machine, motion, k, j))
    for j in range(len(machine.link)):
        out[j] = get(motion.step, 0, j)
        if machine.stops[j, 0] > 0.0:
            out[j] += stop_coefficient(machine, motion, k, j)  # (3.21)
    if k == 0:
        for j in range(len(machine.link)):
            rate = motion.rate[0, j]
            out[j] += machine.friction[j] * math.copysign(1.0, rate) if rate != 0.0 else 0.0


@inlined
def passive_forces(machine, motion, k, j):
    """Return coefficient k of damping, springs and armatures of eight coordinates from j on."""
    if k == 0:
        stretch = lanes_at(motion.position, j) - lanes_at(machine.rest, j)
    else:
        stretch = get_lanes(motion.rate, k - 1, j) / float(k)
    armature = (k + 1.0) * lanes_at(machine.armature, j)
    return (lanes_at(machine.damping, j) * get_lanes(motion.rate, k, j)
            + lanes_at(machine.stiffness, j) * stretch  # (3.19)
            + armature * get_lanes(motion.rate, k + 1, j))  # (3.20)


@kernel
def stop_coefficient(machine, motion, k, j):
    """Return coefficient k of the force of the stops of coordinate j."""
    stiffness, width = machine.stops[j, 0], machine.stops[j, 1]
    if k > 0:
        return stops.force_coefficient(
            motion.stop, 0, 4 * j, motion.rate, 0, j, k, stiffness, width)
    q = motion.position[j]
    above, up = stops.soft_depth((q - machine.stops[j, 3]) / width)
    below, down = stops.soft_depth((machine.stops[j, 2] - q) / width)
    motion.stop[0, 4 * j], motion.stop[0, 4 * j + 1] = above, up
    motion.stop[0, 4 * j + 2], motion.stop[0, 4 * j + 3] = below, down
    return stiffness * width * (above * up - below * down)


@inlined
def elastic_rate(machine, motion, j):
    """Return the derivative of the forces of spring and stops of coordinate j by it."""
    if machine.stops[j, 0] > 0.0:
        return machine.stiffness[j] + stops.stop_rate(
            machine.stops[j, 0], machine.stops[j, 1], machine.stops[j, 2], machine.stops[j, 3],
            motion.position[j])
    return machine.stiffness[j]
