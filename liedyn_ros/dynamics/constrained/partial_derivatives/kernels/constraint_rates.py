# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The rows of closures along a motion, and how they vary with q, as Taylor series in time (13.36).

A row is a wrench between two frames. In the inertial frame of tables.py a coordinate displaces
what its side of the loop carries by its screw, so that no transport is differentiated. A
coordinate below both frames, or below none, changes nothing.
"""

from liedyn_ros.dynamics.constrained.kernels import closures, series
from liedyn_ros.dynamics.constrained.kernels.closures import frames_of, links_of
from liedyn_ros.dynamics.constrained.kernels.tables import (
    AXES, axpy6, dot6, get3, get6, ORIGIN, START, workspace_of)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.variation import (
    add_scaled_columns, dual, relative_columns, twist_bracket, ZERO_MOTION)
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    load_pair, store_pair)
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_rates import (
    add_rate_sum, add_turned_sum, chart_series, is_noncommuting)
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import load3, store3
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.model.kernels.kinds import ACROSS_X, ALONG_ROD, MOMENT_CROSS, SCREW

# Columns of the scratch buffer, a row for each coefficient. First come the changes of a row, of a
# point or axis, and of a field. Then come the wrench of a closure, its change, and that in the
# moving frame.
D_ROW, D_POINT, D_ROW_FIELD = 0, 6, 9
CLOSURE_WRENCH, D_CLOSURE_WRENCH, D_MOVING_WRENCH, SCRATCH_WIDTH = 15, 21, 27, 33


@kernel
def constraint_series(workspace: VECTOR, q: VECTOR, rate: MATRIX, out: CUBE):
    """
    Write A (K, m, nv) along a motion with velocities rate (K, nv), all being coefficients.

    The tables then hold the series of screws and frames. Rows of functions are not written.
    """
    tables = workspace_of(workspace)
    machine, motion = tables.machine, tables.motion
    frames = 2 * len(machine.closure_kind)
    series.write_configuration(machine, motion, q, frames)
    for k in range(len(rate)):
        for j in range(rate.shape[1]):
            motion.rate[k, j] = rate[k, j]
    closures.write_rows(machine, motion, START)
    closures.write_jacobian(machine, motion, START)
    series.write_twists(machine, motion, START, False)
    for k in range(len(rate) - 1):
        series.extend(machine, motion, k, frames)
        closures.write_rows(machine, motion, k + 1)
        closures.write_jacobian(machine, motion, k + 1)
        series.write_twists(machine, motion, k + 1, False)
    for k in range(len(rate)):
        for r in range(len(machine.row_kind) if k > 0 else out.shape[1]):
            for j in range(out.shape[2]):
                out[k, r, j] = motion.jacobian[k, r, j]


@kernel
def add_rate_partials(
        workspace: VECTOR, part: CUBE, m: WHOLE, factorial: VECTOR, motion: MATRIX, gamma: ARRAY4,
        first: WHOLE, factor: NUMBER, to: WHOLE, out: ARRAY4):
    """
    Add factor times what f_m gives to the derivatives of f^(first), f^(first+1), ... (13.34).

    part (K, p, nv) is f_m with its time derivatives, motion v, v', ... They are added to rows from
    `to` on of out (orders, blocks, rows, nv), blocks being by q, v, v', ... gamma is a scratch
    buffer (K, K, 6, 6).
    """
    machine, end = workspace_of(workspace).machine, to + part.shape[1]
    for k in range(len(out)):
        for j in range(out.shape[1]):
            add_rate_sum(part, m, factorial, first + k, j, factor, out[k, j, to:end])
    if m > 0:
        return
    for i in range(len(machine.kind)):
        kind = machine.kind[i]
        if not is_noncommuting(kind):
            continue
        chart_series(kind, gamma, factorial, motion, machine.vi[i], first + len(out))
        for k in range(len(out)):
            for j in range(first + k):
                add_turned_sum(part, gamma, factorial, first + k, j, machine.vi[i],
                               joints.degrees(kind), factor, out[k, j, to:end])


@kernel
def vary_row_series(workspace: VECTOR, field: CUBE, scratch: MATRIX, rates: MATRIX, out: CUBE):
    """
    Add the series of D_q(A y) (K, m, nv), y being rates (K, nv), after constraint_series.

    field (K, N + 1, 6) and scratch (K, SCRATCH_WIDTH) are buffers.
    """
    tables = workspace_of(workspace)
    machine, motion = tables.machine, tables.motion
    for k in range(len(rates)):
        write_field(machine, motion, field, rates, k)
    for c in range(len(machine.closure_kind)):
        for at in range(machine.path_start[c], machine.path_start[c + 1]):
            j = machine.path[at]
            vary_field(machine, motion, field, scratch, c, j)
            for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
                vary_row(machine, motion, scratch, c, r, j)
                for k in range(len(rates)):
                    for h in range(k + 1):
                        out[k, r, j] += dot6(load_pair(scratch, h, D_ROW), relative_columns(
                            field[k - h], *links_of(machine, c), 0))
                        out[k, r, j] += dot6(closures.row_wrench(machine, motion, c, r, h),
                                             load_pair(scratch, k - h, D_ROW_FIELD))


@kernel
def vary_constraint_forces(workspace: VECTOR, scratch: MATRIX, multipliers: MATRIX, out: CUBE):
    """
    Add the series of D_q(A^T lam) (K, nv, nv), lam being multipliers (K, m).

    It comes after constraint_series. scratch is as for vary_rows.
    """
    tables = workspace_of(workspace)
    machine, motion = tables.machine, tables.motion
    for c in range(len(machine.closure_kind)):
        write_closure_wrench(machine, motion, scratch, multipliers, c)
        for at in range(machine.path_start[c], machine.path_start[c + 1]):
            j = machine.path[at]
            vary_closure_wrench(machine, motion, scratch, multipliers, c, j)
            for other in range(machine.path_start[c], machine.path_start[c + 1]):
                i = machine.path[other]
                sign = machine.path_sign[c, i]
                along = sign == machine.path_sign[c, j] and machine.link[j] <= machine.link[i]
                for k in range(len(multipliers)):
                    for h in range(k + 1):
                        out[k, i, j] += sign * dot6(get6(motion.screw, i, h), load_pair(
                            scratch, k - h, D_MOVING_WRENCH if along else D_CLOSURE_WRENCH))


@kernel
def write_field(machine, motion, field, rates, k):
    """Write coefficient k of the twists of all links at rates, instead of v."""
    part, count = field[k], len(machine.kind)
    store_pair(part, count, 0, vec3.ZERO, vec3.ZERO)
    for i in range(count):
        total = load_pair(part, machine.parent[i], 0)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            for h in range(k + 1):
                total = axpy6(rates[k - h, j], get6(motion.screw, j, h), total)
        store_pair(part, i, 0, total[0], total[1])


@kernel
def vary_field(machine, motion, field, scratch, c, j):
    """Write how the field of link b against link a varies with coordinate j (13.8)."""
    (a, b), sign, before = links_of(machine, c), machine.path_sign[c, j], machine.parent[
        machine.link[j]]
    for k in range(len(scratch)):
        varied = ZERO_MOTION  # what joints add from this one on turns with it
        for h in range(k + 1):
            varied = axpy6(sign, twist_bracket(get6(motion.screw, j, h), relative_columns(
                field[k - h], before, b if sign > 0.0 else a, 0)), varied)
        store_pair(scratch, k, D_ROW_FIELD, varied[0], varied[1])


@kernel
def vary_row(machine, motion, scratch, c, r, j):
    """Write how row r of closure c varies with coordinate j, which moves one of its frames."""
    kind, ahead = machine.row_kind[r], machine.path_sign[c, j] > 0.0
    if kind > SCREW:
        displace_row(machine, motion, scratch, c, kind, ahead, j)
    for k in range(len(scratch)):
        change = ZERO_MOTION
        if kind > SCREW:
            change = vary_moving_row(machine, motion, scratch, c, kind, ahead, k)
        elif ahead:
            for h in range(k + 1):
                change = axpy6(-1.0, dual(get6(motion.screw, j, h), closures.row_wrench(
                    machine, motion, c, r, k - h)), change)
        store_pair(scratch, k, D_ROW, change[0], change[1])


@kernel
def displace_row(machine, motion, scratch, c, kind, ahead, j):
    """Write how coordinate j moves the point or axis of its frame that a row takes."""
    (a, b), (in_a, in_b) = frames_of(machine, c), columns(kind)
    f, column = (b, in_b) if ahead else (a, in_a)
    for k in range(len(scratch)):
        change = vec3.ZERO
        for h in range(k + 1):
            w, _ = get6(motion.screw, j, h)
            change = vec3.add(change, vec3.cross(w, get3(motion.frame, f, k - h, column)))
        if column == ORIGIN:
            _, v = get6(motion.screw, j, k)
            change = vec3.add(change, v)
        store3(scratch, k, D_POINT, change)


@kernel
def vary_moving_row(machine, motion, scratch, c, kind, ahead, k):
    """Return coefficient k of the change of a row that moves in frame b, from displace."""
    (a, b), (in_a, in_b) = frames_of(machine, c), columns(kind)
    turn, of_a, of_b = factors(machine, c, kind)
    m, moved = vec3.ZERO, load3(scratch, k, D_POINT)
    for h in range(k + 1):
        change = load3(scratch, h, D_POINT)
        if ahead:
            m = vec3.axpy(turn, vec3.cross(get3(motion.frame, a, k - h, in_a), change), m)
        else:
            m = vec3.axpy(turn, vec3.cross(change, get3(motion.frame, b, k - h, in_b)), m)
    return m, vec3.scale(of_b if ahead else of_a, moved)


@kernel
def columns(kind):
    """Return the columns x of frame a and y of frame b of which a row that moves in b consists."""
    if kind == MOMENT_CROSS:
        return AXES, AXES + 3
    return (ORIGIN if kind == ALONG_ROD else AXES + 3 * (kind - ACROSS_X)), ORIGIN


@kernel
def factors(machine, c, kind):
    """Return the factors of the moment x cross y, and of the force by x and by y (12.9)."""
    if kind == MOMENT_CROSS:
        return 1.0, 0.0, 0.0
    if kind == ALONG_ROD:
        scale = 1.0 / machine.closure_size[c, 1]
        return scale, -scale, scale
    return -1.0, 1.0, 0.0


@kernel
def write_closure_wrench(machine, motion, scratch, multipliers, c):
    """Write the wrench of closure c on body b."""
    for k in range(len(scratch)):
        total = ZERO_MOTION
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            for h in range(k + 1):
                row = closures.row_wrench(machine, motion, c, r, h)
                total = axpy6(multipliers[k - h, r], row, total)
        store_pair(scratch, k, CLOSURE_WRENCH, total[0], total[1])


@kernel
def vary_closure_wrench(machine, motion, scratch, multipliers, c, j):
    """Write the change of the wrench of closure c by j, and that in the frame moving with j."""
    for k in range(len(scratch)):
        store_pair(scratch, k, D_CLOSURE_WRENCH, vec3.ZERO, vec3.ZERO)
    for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
        vary_row(machine, motion, scratch, c, r, j)
        for k in range(len(scratch)):
            for h in range(k + 1):
                add_scaled_columns(
                    scratch, k, D_CLOSURE_WRENCH, multipliers[k - h, r],
                    load_pair(scratch, h, D_ROW))
    for k in range(len(scratch)):
        seen = load_pair(scratch, k, D_CLOSURE_WRENCH)
        for h in range(k + 1):
            seen = axpy6(1.0, dual(get6(motion.screw, j, h), load_pair(
                scratch, k - h, CLOSURE_WRENCH)), seen)
        store_pair(scratch, k, D_MOVING_WRENCH, seen[0], seen[1])
