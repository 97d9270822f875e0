# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rows of closures and couplings, their rates and Jacobians, and their wrenches (12.1)."""

from liedyn_ros.dynamics.constrained.kernels.tables import (
    add3_lanes, add6, add_row, AXES, axpy6, dot6, gather_rows, get3, get6, get_row, load3_lanes,
    ORIGIN, put3_lanes, put6, put_row, put_rows, START, zeros)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, put, put_lanes
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.model.kernels.kinds import (
    ACROSS_X, ALONG_ROD, FORCE_X, FORCE_Z, MOMENT_CROSS, MOMENT_X, MOMENT_Z, SCREW)


@inlined
def frames_of(machine, c):
    """Return the frames on bodies a and b of closure c."""
    return len(machine.closure_kind) + c, c


@inlined
def links_of(machine, c):
    """Return the links that carry the frames on bodies a and b of closure c."""
    a, b = frames_of(machine, c)
    return machine.frame_link[a], machine.frame_link[b]


@inlined
def holds_moments(machine):
    """Return whether any row is a moment about an axis of frame b, or has one."""
    return machine.row_parts[0] != 0


@inlined
def has_moving_rows(machine):
    """Return whether any row moves in frame b: those of kinds above SCREW."""
    return machine.row_parts[1] != 0


@kernel
def write_rows(machine, motion, k):
    """Write coefficient k of what rows consist of, frames being known to order k."""
    for c in range(0, len(machine.closure_kind), LANES):
        write_arms(motion, c, k)
    if has_moving_rows(machine):
        for c in range(len(machine.closure_kind)):
            for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
                if machine.row_kind[r] > SCREW:
                    m, f = moving_row(machine, motion, c, machine.row_kind[r], k)
                    put6(motion.row, r, k, m, f)


@kernel
def write_arms(motion, c, k):
    """Write coefficient k of the moments of forces along the axes of eight frames b from c on."""
    x, y, z = zeros(), zeros(), zeros()
    for h in range(k + 1):
        p, frame = load3_lanes(motion.frame[h], c, ORIGIN), motion.frame[k - h]
        x = vec3.add(x, vec3.cross(p, load3_lanes(frame, c, AXES)))
        y = vec3.add(y, vec3.cross(p, load3_lanes(frame, c, AXES + 3)))
        z = vec3.add(z, vec3.cross(p, load3_lanes(frame, c, AXES + 6)))
    put3_lanes(motion.arm[k], c, START, x)
    put3_lanes(motion.arm[k], c, START + 3, y)
    put3_lanes(motion.arm[k], c, START + 6, z)


@kernel
def row_wrench(machine, motion, c, r, k):
    """Return coefficient k of row r, of closure c, as a wrench on body b (12.9)."""
    kind = machine.row_kind[r]
    if kind > SCREW:
        return get6(motion.row, r, k)
    if kind <= MOMENT_Z:
        return get3(motion.frame, c, k, AXES + 3 * (kind - MOMENT_X)), vec3.ZERO
    axis = 6 if kind == SCREW else 3 * (kind - FORCE_X)
    m, f = get3(motion.arm, c, k, axis), get3(motion.frame, c, k, AXES + axis)
    return (vec3.axpy(-machine.closure_size[c, 0], f, m) if kind == SCREW else m), f


@kernel
def moving_row(machine, motion, c, kind, k):
    """Return coefficient k of a row that moves in frame b (12.9)."""
    a, b = frames_of(machine, c)
    if kind == MOMENT_CROSS:
        m = vec3.ZERO
        for h in range(k + 1):
            m = vec3.add(m, vec3.cross(get3(motion.frame, a, h, AXES),
                                       get3(motion.frame, b, k - h, AXES + 3)))
        return m, vec3.ZERO
    if kind != ALONG_ROD:
        return wrench_of_line_force(motion, b, a, AXES + 3 * (kind - ACROSS_X), k)
    scale, m = 1.0 / machine.closure_size[c, 1], vec3.ZERO
    f = vec3.scale(scale, vec3.sub(get3(motion.frame, b, k, ORIGIN),
                                   get3(motion.frame, a, k, ORIGIN)))
    for h in range(k + 1):
        m = vec3.axpy(-scale, vec3.cross(get3(motion.frame, b, h, ORIGIN),
                                         get3(motion.frame, a, k - h, ORIGIN)), m)
    return m, f


@kernel
def wrench_of_line_force(motion, b, f, column, k):
    """Return coefficient k of a unit force through the origin of frame b along an axis of f."""
    m = vec3.ZERO
    for h in range(k + 1):
        m = vec3.add(m, vec3.cross(get3(motion.frame, b, h, ORIGIN),
                                   get3(motion.frame, f, k - h, column)))
    return m, get3(motion.frame, f, k, column)


@kernel
def write_relative_twists(machine, motion, k):
    """Write coefficient k of the twists of bodies b against a, that of the links being known."""
    for c in range(0, len(machine.closure_kind), LANES):
        w, v = relative_twists(machine, motion.twist_row, c)
        put3_lanes(motion.relative[k], c, START, w)
        put3_lanes(motion.relative[k], c, START + 3, v)


@kernel
def write_rates(machine, motion, k, factor, out):
    """Write factor times coefficient k of the velocity residual c = A v (12.10)."""
    for c in range(0, len(machine.closure_kind), LANES):
        write_relative_rates(machine, motion, c, k)
    for c in range(len(machine.closure_kind)):
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            kind, rate = machine.row_kind[r], 0.0
            if kind < SCREW:
                rate = get(motion.residual, kind, c)
            elif kind == SCREW:
                rate = get(motion.residual, FORCE_Z, c) - machine.closure_size[c, 0] * get(
                    motion.residual, MOMENT_Z, c)
            else:
                for h in range(k + 1):
                    rate += dot6(get6(motion.row, r, k - h), get6(motion.relative, c, h))
            out[r] = factor * rate
    first = len(machine.row_kind)
    for r in range(len(machine.coupling)):
        total = machine.coupling_bias[r] if k == 1 else 0.0
        for j in range(len(machine.link)):
            total += machine.coupling[r, j] * motion.rate[k, j]
        if k > 1 and r >= len(machine.coupling) - machine.functions[0]:
            for h in range(1, k + 1):
                for j in range(len(machine.link)):
                    total += motion.jacobian[h, first + r, j] * motion.rate[k - h, j]
        out[first + r] = factor * total


@inlined
def relative_twists(machine, rows, c):
    """Return the twists of bodies b against a of eight closures from c on."""
    a, b = frames_of(machine, c)
    aw, av = gather_rows(rows, machine.frame_row, a)
    bw, bv = gather_rows(rows, machine.frame_row, b)
    return vec3.sub(bw, aw), vec3.sub(bv, av)


@kernel
def add_twist_changes(machine, motion, k):
    """Add to coefficient k of these twists what the solution of an order changes."""
    for c in range(0, len(machine.closure_kind), LANES):
        w, v = relative_twists(machine, motion.twist_change, c)
        add3_lanes(motion.relative[k], c, START, w)
        add3_lanes(motion.relative[k], c, START + 3, v)


@kernel
def write_relative_rates(machine, motion, c, k):
    """Write coefficient k of the twists of bodies b against a, in eight frames b from c on."""
    turning, moment, force = holds_moments(machine), zeros(), zeros()
    for h in range(k + 1):
        twist, frame, arm = motion.relative[h], motion.frame[k - h], motion.arm[k - h]
        w, v = load3_lanes(twist, c, START), load3_lanes(twist, c, START + 3)
        x, y, z = load3_lanes(frame, c, AXES), load3_lanes(frame, c, AXES
                                                           + 3), load3_lanes(frame, c, AXES + 6)
        force = (force[0] + vec3.dot(x, v) + vec3.dot(load3_lanes(arm, c, START), w),
                 force[1] + vec3.dot(y, v) + vec3.dot(load3_lanes(arm, c, START + 3), w),
                 force[2] + vec3.dot(z, v) + vec3.dot(load3_lanes(arm, c, START + 6), w))
        if turning:
            moment = (moment[0] + vec3.dot(x, w), moment[1] + vec3.dot(y, w),
                      moment[2] + vec3.dot(z, w))
    put3_lanes(motion.residual, c, MOMENT_X, moment)
    put3_lanes(motion.residual, c, FORCE_X, force)


@kernel
def write_jacobian(machine, motion, k):
    """
    Write coefficient k of A (m, nv), rows and screws being known to order k (12.11).

    Entries off the paths of the closures are zero from the beginning. Rows of functions are
    written above order zero before the kernel runs.
    """
    out, first = motion.jacobian[k], len(machine.row_kind)
    for c in range(len(machine.closure_kind)):
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            for h in range(k + 1):
                (m, f), screws = row_wrench(machine, motion, c, r, h), motion.screw[k - h]
                for j in range(machine.path_hull[2 * c], machine.path_hull[2 * c + 1], LANES):
                    entries = get_lanes(machine.path_sign, c, j) * (
                        vec3.dot(m, load3_lanes(screws, j, START))
                        + vec3.dot(f, load3_lanes(screws, j, START + 3)))
                    put_lanes(out, r, j, entries if h == 0 else entries + get_lanes(out, r, j))
    if k == 0:
        for r in range(len(machine.coupling)):
            for j in range(len(machine.link)):
                out[first + r, j] = machine.coupling[r, j]


@kernel
def subtract_closure_wrenches(machine, motion, k):
    """
    Subtract coefficient k of the closures' wrenches from those that links need (12.13).

    Multipliers count below order k.
    """
    gather_wrenches(machine, motion, k)
    if k > 0:
        write_pulls(machine, motion, k, START + 1, k + 1)
        if has_moving_rows(machine):
            for c in range(len(machine.closure_kind)):
                m, f = axpy6(1.0, get6(motion.pull, c, k), get_row(motion.pull_row, c))
                put_row(motion.pull_row, c, m, f)
        subtract_pulls(machine, motion, motion.wrench_row)


@kernel
def subtract_wrench_changes(machine, motion, k):
    """Subtract wrenches of multipliers of order k from the closures' wrenches of that order."""
    write_local_wrenches(machine, motion, k)
    write_pulls(machine, motion, k, START, START + 1)
    if has_moving_rows(machine):
        for c in range(len(machine.closure_kind)):
            m, f = get_row(motion.pull_row, c)
            for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
                if machine.row_kind[r] > SCREW:
                    m, f = axpy6(motion.multiplier[k, r], get6(motion.row, r, START), (m, f))
            put_row(motion.pull_row, c, m, f)
    subtract_pulls(machine, motion, motion.wrench_change)


@kernel
def subtract_pulls(machine, motion, wrenches):
    """Subtract the closures' wrenches of one order from rows of those that links need."""
    for c in range(len(machine.closure_kind)):
        (a, b), row = links_of(machine, c), get_lanes(motion.pull_row, c, START)
        add_row(wrenches, b, -row)
        add_row(wrenches, a, row)


@kernel
def subtract_function_forces(machine, motion, k, out):
    """Subtract coefficient k of J^T lam of functions from forces (nv,), lam below order k."""
    first = len(machine.row_kind)
    for r in range(len(machine.coupling) - machine.functions[0], len(machine.coupling)):
        for h in range(1, k + 1):
            for j in range(len(machine.link)):
                out[j] -= motion.jacobian[h, first + r, j] * motion.multiplier[k - h, first + r]


@kernel
def write_local_wrenches(machine, motion, k):
    """Write coefficient k of what rows that stay in frames b hold there."""
    local = motion.local_wrench[k]
    for c in range(len(machine.closure_kind)):
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            kind, force = machine.row_kind[r], motion.multiplier[k, r]
            if kind < SCREW:
                put(local, kind, c, force)
            elif kind == SCREW:
                put(local, FORCE_Z, c, force)
                put(local, MOMENT_Z, c, -machine.closure_size[c, 0] * force)


@kernel
def write_pulls(machine, motion, k, first, end):
    """Write the pulls of rows, from coefficient first to end, on bodies b at order k."""
    turning = holds_moments(machine)
    for c in range(0, len(machine.closure_kind), LANES):
        m, f = zeros(), zeros()
        for h in range(first, end):
            local = motion.local_wrench[k - h]
            for n in range(3):
                force = get_lanes(local, FORCE_X + n, c)
                axis = load3_lanes(motion.frame[h], c, AXES + 3 * n)
                f = vec3.axpy(force, axis, f)
                m = vec3.axpy(force, load3_lanes(motion.arm[h], c, START + 3 * n), m)
                if turning:
                    m = vec3.axpy(get_lanes(local, MOMENT_X + n, c), axis, m)
        put_rows(motion.pull_row, c, m, f)


@kernel
def gather_wrenches(machine, motion, k):
    """Write wrenches of lower multipliers in coefficient k, by rows that move in frame b."""
    if has_moving_rows(machine):
        for c in range(len(machine.closure_kind)):
            total = vec3.ZERO, vec3.ZERO
            for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
                if machine.row_kind[r] > SCREW:
                    for h in range(1, k + 1):
                        total = axpy6(motion.multiplier[k - h, r], get6(motion.row, r, h), total)
            put6(motion.pull, c, k, total[0], total[1])


@kernel
def closure_wrench(machine, motion, c, k, first):
    """
    Return coefficient k of the wrench of a closure on body b.

    Multipliers count from coefficient `first` of the rows on: 1 leaves out those of order k.
    """
    total = vec3.ZERO, vec3.ZERO
    for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
        for h in range(first, k + 1):
            total = axpy6(motion.multiplier[k - h, r], row_wrench(machine, motion, c, r, h), total)
    return total


@kernel
def write_closure_wrenches(machine, motion, k, factor, out):
    """
    Write factor times coefficient k of the wrenches (C, 6) on bodies b, in frames b.

    Rows that stay there hold their multipliers. What moving rows of lower orders add is known.
    """
    for c in range(len(machine.closure_kind)):
        for n in range(6):
            out[c, n] = 0.0
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            kind, force = machine.row_kind[r], factor * motion.multiplier[k, r]
            if kind < SCREW:
                out[c, kind] = force
            elif kind == SCREW:
                out[c, FORCE_Z], out[c, MOMENT_Z] = force, -machine.closure_size[c, 0] * force
    if has_moving_rows(machine):
        add_moving_wrenches(machine, motion, k, factor, out)


@kernel
def add_moving_wrenches(machine, motion, k, factor, out):
    """Add the wrenches of rows that move in frames b."""
    count, found = len(machine.closure_kind), motion.closure_wrench
    for c in range(count):
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            if machine.row_kind[r] > SCREW:
                m, f = get6(motion.row, r, START)
                add6(motion.pull, c, k, motion.multiplier[k, r], m, f)
    for c in range(0, count, LANES):
        for axis in range(0, 9, 3):
            force, moment = broadcast(0.0), broadcast(0.0)
            for h in range(k + 1):
                each, x = motion.pull[h], load3_lanes(motion.frame[k - h], c, AXES + axis)
                f = load3_lanes(each, c, START + 3)
                force = force + vec3.dot(f, x)
                moment = moment + vec3.dot(load3_lanes(each, c, START), x) + vec3.dot(
                    f, load3_lanes(motion.arm[k - h], c, START + axis))  # (m - p x f) . x
            put_lanes(found, axis // 3, c, moment)
            put_lanes(found, 3 + axis // 3, c, force)
    for c in range(count):
        for n in range(6):
            out[c, n] += factor * get(found, n, c)
