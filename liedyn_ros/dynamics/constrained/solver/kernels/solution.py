# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
One order of the KKT system of a machine with loops: M a = x + A^T lam, A a = -gamma (12.15).

With M = L^T L and Y = L^-T A^T = Q R they are u = L^-T x + Y lam, Y^T u = -gamma for u = L a.
Where the constraints are well conditioned Y^T Y = R^T R is formed and factored. Else Y is, so no
digits are lost where A is nearly rank-deficient. The factors are those of the state and serve all
orders. Y is block diagonal: loops that share no branch of the tree are factored apart (12.29).
"""

import math

from liedyn_ros.dynamics.constrained.kernels import inertia
from liedyn_ros.dynamics.constrained.kernels.groups import (
    coordinates_of, count_groups, gather_coordinates, rows_of, scatter_coordinates)
from liedyn_ros.dynamics.constrained.kernels.tables import (
    CHOLESKY, DEFECT, get3, INVERSE_CONDITION, load3_lanes, ORIGIN, RANK, START)
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, put, put_lanes, total
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.linear_algebra.kernels import gram_cholesky, orthogonal
from liedyn_ros.model.kernels.kinds import FORCE_X, MOMENT_CROSS, SCREW

FLOOR = 1e-3  # acceleration, rad/s^2 or m/s^2, that counts as none in a defect


@kernel
def factor_constraints(machine, motion, scratch, free, most, orthogonally):
    """
    Factor M and the rows of order zero over the free coordinates; orthogonally forbids Cholesky.

    At most `most` rows count as independent.

    Returns k + 1 for a coordinate k that moves no inertia by itself, 0 if there is none.
    """
    write_inertia(machine, motion, scratch)
    write_scales(machine, motion, scratch)
    code = inertia.factor_tree_inertia(machine, free, scratch)
    if code != 0:
        return code
    inertia.write_factor_inverse(machine, free, scratch)
    count = len(scratch.gamma)
    write_response(machine, motion, scratch, free)
    scratch.report[CHOLESKY] = 0.0
    if most >= count and not orthogonally:
        condition = gram_cholesky.factor_gram(machine, scratch)
        if condition > 0.0:
            scratch.report[RANK], scratch.report[INVERSE_CONDITION] = count, condition
            scratch.report[CHOLESKY] = 1.0
            return 0
    write_columns(machine, scratch)
    rank, condition = orthogonal.factor_qr(scratch.qr, most, RANK_TOLERANCE)
    scratch.report[RANK], scratch.report[INVERSE_CONDITION] = rank, condition
    if rank < count:
        write_basis(scratch)
    return 0


@kernel
def write_inertia(machine, motion, scratch):
    """Write M, regular where constraints can make it so, and the roots y of its diagonal."""
    inertia.write_mass(machine, motion, scratch)
    if len(machine.typical_inertia) > 0:
        augment_mass(machine, motion, scratch)
    for j in range(len(scratch.y)):
        scratch.y[j] = math.sqrt(get(scratch.mass, j, inertia.depth(machine, j)))


@kernel
def augment_mass(machine, motion, scratch):
    """
    Add A^T W A to M, which alone is singular (12.54).

    W gives each row as much inertia as a typical part of the machine has. Rows of rounding errors
    add none.
    """
    for j in range(len(scratch.y)):
        scratch.y[j] = math.sqrt(machine.typical_inertia[j])
    write_scales(machine, motion, scratch)
    for r in range(len(scratch.stiffness)):
        scratch.stiffness[r] = scratch.scale[r]**2
    inertia.add_constraint_inertia(machine, motion, scratch)


@kernel
def write_response(machine, motion, scratch, free):
    """Write Y of the scaled rows."""
    for r in range(len(scratch.gamma)):
        for at in range(machine.support_start[r], machine.support_start[r + 1]):
            j = machine.support[at]
            put(scratch.response, j, r, scratch.scale[r] * motion.jacobian[0, r, j])
    inertia.apply_factor_inverse_transposed_to_rows(machine, free, scratch, scratch.response)


@kernel
def write_scales(machine, motion, scratch):
    """
    Write the scale of each row that makes it dimensionless and at most one.

    A row is measured against the motion that its coordinates give the closure, inertia for
    inertia. So a row of rounding errors stays one, whatever the units and masses (12.23).
    """
    weight, screws = motion.step, motion.screw[0]  # a row of it: inverses of the inertias
    for j in range(len(scratch.y)):
        put(weight, 0, j, 1.0 / scratch.y[j]**2 if scratch.y[j] > 0.0 else 0.0)
    for c in range(len(machine.closure_kind)):
        x, y, z = get3(motion.frame, c, START, ORIGIN)
        p, turned, moved = (broadcast(x), broadcast(y),
                            broadcast(z)), broadcast(0.0), broadcast(0.0)
        for j in range(machine.path_hull[2 * c], machine.path_hull[2 * c + 1], LANES):
            w, v = load3_lanes(screws, j, START), load3_lanes(screws, j, START + 3)
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
            scratch.scale[r] = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
    for r in range(len(machine.coupling)):
        size = 0.0
        for j in range(len(machine.link)):
            size += get(weight, 0, j) * machine.coupling[r, j]**2
        scratch.scale[len(machine.row_kind) + r] = 1.0 / math.sqrt(size) if size > 0.0 else 0.0


@kernel
def write_columns(machine, scratch):
    """Write Y for its orthogonal factor, by groups."""
    for g in range(count_groups(machine)):
        (begin, end), (first, last) = rows_of(machine, g), coordinates_of(machine, g)
        for t in range(begin, end):
            r = machine.row_at[t]
            scratch.qr.order[t] = r
            for at in range(first, last):
                scratch.qr.rows[t, at - first] = get(
                    scratch.response, machine.coordinate_at[at], r)


@kernel
def write_basis(scratch):
    """Factor the range of A, of which R^T, without the scales, is a basis."""
    qr, basis = scratch.qr, scratch.basis
    for g in range(len(qr.slot)):
        first, count = qr.slot[g], qr.count[g]
        basis.count[g] = qr.rank[g] if qr.rank[g] < count else 0
        for s in range(basis.count[g]):
            for t in range(count):
                scale = scratch.scale[qr.order[first + t]]
                known = s <= t and scale > 0.0
                basis.rows[first + s, t] = qr.rows[first + t, s] / scale if known else 0.0
    orthogonal.factor_qr(basis, len(scratch.gamma), 0.0)


@kernel
def solve_constraints(machine, scratch, free, x, gamma, multiplier):
    """Replace x by the accelerations and write the multipliers of the independent rows."""
    solve_saddle_point(machine, scratch, free, x, gamma, multiplier)
    if len(machine.typical_inertia) > 0:
        for r in range(len(gamma)):  # (12.54)
            multiplier[r] += scratch.stiffness[r] * gamma[r]


@kernel
def solve_saddle_point(machine, scratch, free, x, gamma, multiplier):
    """Do so with the factored matrix in place of M."""
    inertia.apply_factor_inverse_transposed(machine, scratch, x)
    if scratch.report[CHOLESKY] > 0.0:
        solve_well_conditioned(machine, scratch, x, gamma, multiplier)
    else:
        solve_orthogonally(machine, scratch, x, gamma, multiplier)
    inertia.apply_factor_inverse(machine, scratch, x)


@kernel
def solve_orthogonally(machine, scratch, x, gamma, multiplier):
    """Replace x by x + Y lam with Y^T (x + Y lam) = -gamma, rows of Y^T being dependent or not."""
    qr, z, local, largest = scratch.qr, scratch.z, scratch.local, 0.0
    for t in range(len(z)):
        z[t] = -scratch.scale[qr.order[t]] * gamma[qr.order[t]]
        largest = max(largest, abs(z[t]))
    for g in range(count_groups(machine)):
        first, end = coordinates_of(machine, g)
        gather_coordinates(machine, g, x, local[first:end])
        orthogonal.apply_q_transposed(qr, g, local[first:end])
    for j in range(len(x)):
        largest = max(largest, abs(local[j]), FLOOR * scratch.y[j])
    for g in range(count_groups(machine)):
        (begin, last), (first, end) = rows_of(machine, g), coordinates_of(machine, g)
        defect = solve_group(qr, g, local[first:end], z[begin:last])
        scratch.report[DEFECT] = max(scratch.report[DEFECT], defect / largest)
        for t in range(begin, last):
            multiplier[qr.order[t]] = (
                scratch.scale[qr.order[t]] * z[t] if t < begin + qr.rank[g] else 0.0)
        scatter_coordinates(machine, g, local[first:end], x)


@kernel
def solve_group(qr, g, x, z):
    """
    Replace Q^T x by x + Y lam, and z = -gamma by lam, for a group.

    Returns what of the dependent rows stays open at most (12.27).
    """
    first, rank, defect = qr.slot[g], qr.rank[g], 0.0
    orthogonal.solve_r_transposed(qr, g, z)
    for t in range(rank, len(z)):
        open_part = z[t]
        for s in range(rank):
            open_part -= qr.rows[first + t, s] * z[s]
        defect = max(defect, abs(open_part))
    for s in range(rank):
        z[s], x[s] = z[s] - x[s], z[s]
    orthogonal.solve_r(qr, g, z)
    orthogonal.apply_q(qr, g, x)
    return defect


@kernel
def solve_well_conditioned(machine, scratch, x, gamma, multiplier):
    """Replace x by x + Y lam with Y^T (x + Y lam) = -gamma."""
    line, table = scratch.line, scratch.response
    for r in range(len(gamma)):
        put(line, 0, r, -scratch.scale[r] * gamma[r])
    for c in range(0, line.shape[1], LANES):
        # Sums that do not wait for each other
        first, second = get_lanes(line, 0, c), broadcast(0.0)
        begin, end = machine.reached_start[c // LANES], machine.reached_start[c // LANES + 1]
        for at in range(begin, end - 1, 2):
            i, j = machine.reached[at], machine.reached[at + 1]
            first = first - x[i] * get_lanes(table, i, c)
            second = second - x[j] * get_lanes(table, j, c)
        if (end - begin) % 2 == 1:
            j = machine.reached[end - 1]
            first = first - x[j] * get_lanes(table, j, c)
        put_lanes(line, 0, c, first + second)
    gram_cholesky.solve_gram(machine, scratch)
    for r in range(len(gamma)):
        multiplier[r] = scratch.scale[r] * get(line, 0, r)
    for j in range(len(x)):
        row = broadcast(0.0)
        for c in range(machine.reach[2 * j], machine.reach[2 * j + 1], LANES):
            row = row + get_lanes(line, 0, c) * get_lanes(table, j, c)
        x[j] += total(row)


@kernel
def project_multipliers(scratch, x):
    """Replace x (m,) by its part in the range of A."""
    qr, basis, z = scratch.qr, scratch.basis, scratch.z
    for g in range(len(qr.slot)):
        if qr.rank[g] == qr.count[g]:
            continue
        first, end = qr.slot[g], qr.slot[g] + qr.count[g]
        for t in range(first, end):
            z[t] = x[qr.order[t]]
        orthogonal.apply_q_transposed(basis, g, z[first:end])
        for t in range(first + qr.rank[g], end):
            z[t] = 0.0
        orthogonal.apply_q(basis, g, z[first:end])
        for t in range(first, end):
            x[qr.order[t]] = z[t]


@kernel
def take_least_norm(machine, motion, scratch, free, k):
    """Make coefficient k of the multipliers that of those of least norm, at all times (12.26)."""
    z = scratch.gamma
    for r in range(len(z)):
        moved = 0.0  # p_k
        for h in range(1, k + 1):
            for at in range(machine.support_start[r], machine.support_start[r + 1]):
                j = machine.support[at]
                moved += motion.jacobian[h, r, j] * motion.potential[k - h, j]
        z[r] = motion.multiplier[k, r] - moved
        motion.multiplier[k, r] = moved
    project_multipliers(scratch, z)
    for r in range(len(z)):
        motion.multiplier[k, r] += z[r]
    write_least_rates(machine, scratch, free, z, scratch.x)
    for j in range(len(free)):
        motion.potential[k, j] = scratch.x[j] if free[j] else 0.0


@kernel
def write_least_rates(machine, scratch, free, rates, x):
    """Write the rates x (nv,) of least energy with A x = rates (m,), by the independent rows."""
    for g in range(count_groups(machine)):
        write_group_rates(machine, scratch, free, g, rates, x)


@kernel
def write_group_rates(machine, scratch, free, g, rates, x):
    """Write the rates of a group."""
    qr, (begin, last), (first, end) = scratch.qr, rows_of(machine, g), coordinates_of(machine, g)
    z, local = scratch.z[begin:last], scratch.local[first:end]
    for t in range(len(z)):
        r = qr.order[begin + t]
        z[t] = scratch.scale[r] * rates[r]
    orthogonal.solve_r_transposed(qr, g, z)
    for i in range(len(local)):
        local[i] = z[i] if i < qr.rank[g] else 0.0
    orthogonal.apply_q(qr, g, local)
    scatter_coordinates(machine, g, local, x)
    inertia.solve_factor(machine, free, scratch, g, x)


@kernel
def write_independent_multipliers(machine, scratch, free, x, multiplier):
    """Write multipliers of the independent rows with A^T lam = x; x is overwritten."""
    qr = scratch.qr
    for g in range(count_groups(machine)):
        (begin, last), (first, end) = rows_of(machine, g), coordinates_of(machine, g)
        local = scratch.local[first:end]
        inertia.solve_factor_transposed(machine, free, scratch, g, x)
        gather_coordinates(machine, g, x, local)
        orthogonal.apply_q_transposed(qr, g, local)
        orthogonal.solve_r(qr, g, local)
        for t in range(last - begin):
            r = qr.order[begin + t]
            multiplier[r] = scratch.scale[r] * local[t] if t < qr.rank[g] else 0.0
