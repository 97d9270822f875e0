# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
One order of the constrained equations: M a = x + A^T lam, A a = -gamma (12.15).

With M = L^T L and Y = L^-T A^T = Q R they are u = L^-T x + Y lam, Y^T u = -gamma for u = L a.
Where the constraints are well conditioned Y^T Y = R^T R is formed and factored. Else Y is, so no
digits are lost where A is nearly rank-deficient. The factors are those of the state and serve all
orders.
"""

import math

from liedyn_ros.dynamics.constrained.kernels import inertia
from liedyn_ros.dynamics.constrained.kernels.tables import (
    CHOLESKY, DEFECT, get3, many3, ORIGIN, QUALITY, RANK, START)
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get, get_lanes, LANES, put, put_lanes, spread, total
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.linear_algebra.kernels import gram_cholesky, orthogonal
from liedyn_ros.model.kernels.closure_kinds import FORCE_X, MOMENT_CROSS, SCREW

FLOOR = 1e-3  # acceleration, rad/s^2 or m/s^2, that counts as none in a defect


@kernel
def factor_constraints(machine, motion, room, free, orthogonally):
    """
    Factor M and the rows of order zero over the free coordinates; orthogonally forbids Cholesky.

    Returns k + 1 for a coordinate k that moves no inertia by itself, 0 if there is none.
    """
    inertia.write_mass(machine, motion, room)
    for j in range(len(room.y)):
        room.y[j] = math.sqrt(get(room.mass, j, inertia.depth(machine, j)))
    write_scales(machine, motion, room)
    code = inertia.factor_tree_inertia(machine, free, room)
    if code != 0:
        return code
    count = len(room.rows)
    write_response(machine, motion, room, free)
    room.report[CHOLESKY] = 0.0
    if not orthogonally:
        quality = gram_cholesky.factor_gram(machine, room)
        if quality > 0.0:
            room.report[RANK], room.report[QUALITY] = count, quality
            room.report[CHOLESKY] = 1.0
            return 0
    for r in range(count):
        for j in range(len(free)):
            room.rows[r, j] = get(room.response, j, r)
    rank, quality = orthogonal.factor_qr(
        room.rows, room.order, room.head, room.beta, room.norm, count, len(free),
        RANK_TOLERANCE)
    room.report[RANK], room.report[QUALITY] = rank, quality
    if rank < count:
        write_basis(room, rank)
    return 0


@kernel
def write_response(machine, motion, room, free):
    """Write Y of the scaled rows."""
    for r in range(len(room.scale)):
        for at in range(machine.support_start[r], machine.support_start[r + 1]):
            j = machine.support[at]
            put(room.response, j, r, room.scale[r] * motion.jacobian[0, r, j])
    inertia.solve_factor_rows_transposed(machine, free, room, room.response)


@kernel
def write_scales(machine, motion, room):
    """
    Write for each row what makes it a number without unit of at most one.

    A row is measured against the motion that its coordinates give the closure, inertia for
    inertia: so a row of rounding errors stays one, whatever the units and masses (12.23).
    """
    weight, screws = motion.step, motion.screw[0]  # a row of it: inverses of the inertias
    for j in range(len(room.y)):
        put(weight, 0, j, 1.0 / room.y[j]**2 if room.y[j] > 0.0 else 0.0)
    for c in range(len(machine.closure_kind)):
        x, y, z = get3(motion.frame, c, START, ORIGIN)
        p, turned, moved = (spread(x), spread(y), spread(z)), spread(0.0), spread(0.0)
        for j in range(machine.path_hull[2 * c], machine.path_hull[2 * c + 1], LANES):
            w, v = many3(screws, j, START), many3(screws, j, START + 3)
            v, sign = vec3.add(v, vec3.cross(w, p)), get_lanes(machine.path_sign, c, j)
            part = sign * sign * get_lanes(weight, 0, j)
            turned = turned + part * vec3.dot(w, w)
            moved = moved + part * vec3.dot(v, v)
        turning, moving = total(turned), total(moved)
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            kind, size = machine.row_kind[r], moving
            if kind < FORCE_X or kind == MOMENT_CROSS:
                size = turning
            elif kind == SCREW:
                size += machine.closure_size[c, 0]**2 * turning
            room.scale[r] = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
    for r in range(len(machine.coupling)):
        size = 0.0
        for j in range(len(machine.link)):
            size += get(weight, 0, j) * machine.coupling[r, j]**2
        room.scale[len(machine.row_kind) + r] = 1.0 / math.sqrt(size) if size > 0.0 else 0.0


@kernel
def write_basis(room, rank):
    """Factor the range of A, of which R^T, without the scales, is a basis."""
    count = len(room.rows)
    for s in range(rank):
        for t in range(count):
            r = room.order[t]
            known = s <= t and room.scale[r] > 0.0
            room.basis[s, r] = room.rows[t, s] / room.scale[r] if known else 0.0
    orthogonal.factor_qr(room.basis, room.basis_order, room.basis_head, room.basis_beta,
                         room.norm, rank, count, 0.0)


@kernel
def solve_constraints(machine, room, free, rank, x, gamma, multiplier):
    """Replace x by the accelerations and write the multipliers of the independent rows."""
    count, size = len(room.rows), len(x)
    inertia.solve_factor_transposed(machine, free, room, x)
    if room.report[CHOLESKY] > 0.0:
        solve_well_conditioned(machine, room, x, gamma, multiplier)
        inertia.solve_factor(machine, free, room, x)
        return
    orthogonal.apply_q_transposed(room.rows, room.head, room.beta, rank, size, x)
    z, largest = room.z, 0.0
    for s in range(count):
        z[s] = -room.scale[room.order[s]] * gamma[room.order[s]]
        largest = max(largest, abs(z[s]))
    for j in range(size):
        largest = max(largest, abs(x[j]), FLOOR * room.y[j])
    orthogonal.solve_r_transposed(room.rows, rank, z)
    for t in range(rank, count):  # (12.27)
        open_part = z[t]
        for s in range(rank):
            open_part -= room.rows[t, s] * z[s]
        room.report[DEFECT] = max(room.report[DEFECT], abs(open_part) / largest)
    for s in range(rank):
        z[s], x[s] = z[s] - x[s], z[s]
    orthogonal.solve_r(room.rows, rank, z)
    for t in range(count):
        r = room.order[t]
        multiplier[r] = room.scale[r] * z[t] if t < rank else 0.0
    orthogonal.apply_q(room.rows, room.head, room.beta, rank, size, x)
    inertia.solve_factor(machine, free, room, x)


@kernel
def solve_well_conditioned(machine, room, x, gamma, multiplier):
    """Replace x by x + Y lam with Y^T (x + Y lam) = -gamma."""
    line, table = room.line, room.response
    for r in range(len(gamma)):
        put(line, 0, r, -room.scale[r] * gamma[r])
    for c in range(0, line.shape[1], LANES):
        first, second = get_lanes(line, 0, c), spread(0.0)  # sums that do not wait for each other
        begin, end = machine.reached_start[c // LANES], machine.reached_start[c // LANES + 1]
        for at in range(begin, end - 1, 2):
            i, j = machine.reached[at], machine.reached[at + 1]
            first = first - x[i] * get_lanes(table, i, c)
            second = second - x[j] * get_lanes(table, j, c)
        if (end - begin) % 2 == 1:
            j = machine.reached[end - 1]
            first = first - x[j] * get_lanes(table, j, c)
        put_lanes(line, 0, c, first + second)
    gram_cholesky.solve_gram(machine, room)
    for r in range(len(gamma)):
        multiplier[r] = room.scale[r] * get(line, 0, r)
    for j in range(len(x)):
        row = spread(0.0)
        for c in range(machine.reach[2 * j], machine.reach[2 * j + 1], LANES):
            row = row + get_lanes(line, 0, c) * get_lanes(table, j, c)
        x[j] += total(row)


@kernel
def project_multipliers(room, rank, x):
    """Replace x (m,) by its part in the range of A."""
    count = len(x)
    orthogonal.apply_q_transposed(room.basis, room.basis_head, room.basis_beta, rank, count, x)
    for t in range(rank, count):
        x[t] = 0.0
    orthogonal.apply_q(room.basis, room.basis_head, room.basis_beta, rank, count, x)


@kernel
def take_least_norm(machine, motion, room, free, rank, k):
    """Make coefficient k of the multipliers that of those of least norm, at all times (12.26)."""
    count, size, z = len(room.rows), len(free), room.gamma
    for r in range(count):
        moved = 0.0  # p_k
        for h in range(1, k + 1):
            for j in range(size):
                moved += motion.jacobian[h, r, j] * motion.potential[j, k - h]
        z[r] = motion.multiplier[r, k] - moved
        motion.multiplier[r, k] = moved
    project_multipliers(room, rank, z)
    for r in range(count):
        motion.multiplier[r, k] += z[r]
    for t in range(count):
        room.z[t] = room.scale[room.order[t]] * z[room.order[t]]
    orthogonal.solve_r_transposed(room.rows, rank, room.z)
    x = room.x
    for j in range(size):
        x[j] = room.z[j] if j < rank else 0.0
    orthogonal.apply_q(room.rows, room.head, room.beta, rank, size, x)
    inertia.solve_factor(machine, free, room, x)
    for j in range(size):
        motion.potential[j, k] = x[j] if free[j] else 0.0
