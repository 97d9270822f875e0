# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
The varied systems of constrained dynamics, for many right sides at once.

They follow a call of the dynamics at a state and use its factors, as products.py does for one
side. A side is a column of a table (SIDE_ROWS of n and m): rows from 0 on are of coordinates, the
next of constraints. Columns go from begin to end, both multiples of LANES.
"""

from liedyn_ros.dynamics.constrained.kernels import inertia
from liedyn_ros.dynamics.constrained.kernels.groups import (
    coordinates_of, count_groups, rows_of)
from liedyn_ros.dynamics.constrained.kernels.tables import CHOLESKY
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, put_lanes
from liedyn_ros.linear_algebra.kernels import gram_cholesky, orthogonal
from liedyn_ros.linear_algebra.kernels.rows import add_scaled_row, clear_row, scale_row


@kernel
def solve_saddle_point_for_rows(machine, scratch, free, table, lanes, begin, end):
    """
    Replace f and g by y and lam with M y - A^T lam = f and A y = g, over the free coordinates.

    Rows y of other coordinates become zero. Multipliers are those of the independent rows. Rows
    after n + m, and lanes (n + m, LANES), are scratch buffers.
    """
    n, m = len(free), len(scratch.gamma)
    augmented = len(machine.typical_inertia) > 0
    for r in range(m):
        if augmented:  # (12.54)
            clear_row(table, n + m + r, begin, end)
            add_scaled_row(table, n + m + r, table, n + r, -scratch.stiffness[r], begin, end)
        scale_row(table, n + r, scratch.scale[r], begin, end)
    inertia.solve_factor_for_rows_transposed(machine, free, scratch, table, begin, end)
    if scratch.report[CHOLESKY] > 0.0:
        solve_gram_sides(machine, scratch, table, begin, end)
    else:
        for c in range(begin, end, LANES):
            solve_orthogonal_sides(machine, scratch, table, lanes, c)
    inertia.solve_factor_for_rows(machine, free, scratch, table, begin, end)
    for r in range(m):
        scale_row(table, n + r, scratch.scale[r], begin, end)
        if augmented:
            add_scaled_row(table, n + r, table, n + m + r, 1.0, begin, end)


@kernel
def solve_gram_sides(machine, scratch, table, begin, end):
    """Replace x and z by x + Y lam and lam with Y^T (x + Y lam) = z."""
    n, m = len(machine.link), len(scratch.gamma)
    for r in range(m):
        for at in range(machine.support_start[r], machine.support_start[r + 1]):
            j = machine.support[at]
            add_scaled_row(table, n + r, table, j, -get(scratch.response, j, r), begin, end)
    gram_cholesky.solve_gram_for_rows(machine, scratch, table, n, begin, end)
    for r in range(m):
        for at in range(machine.support_start[r], machine.support_start[r + 1]):
            j = machine.support[at]
            add_scaled_row(table, j, table, n + r, get(scratch.response, j, r), begin, end)


@kernel
def solve_orthogonal_sides(machine, scratch, table, lanes, c):
    """Do so for eight columns by the orthogonal factor, rows of Y^T being dependent or not."""
    qr, n = scratch.qr, len(machine.link)
    for g in range(count_groups(machine)):
        (begin, last), (first, end) = rows_of(machine, g), coordinates_of(machine, g)
        size = end - first
        for i in range(size):
            put_lanes(lanes, i, 0, get_lanes(table, machine.coordinate_at[first + i], c))
        for t in range(last - begin):
            put_lanes(lanes, size + t, 0, get_lanes(table, n + qr.order[begin + t], c))
        orthogonal.apply_q_transposed_to_lanes(qr, g, lanes, 0, 0)
        orthogonal.solve_r_transposed_for_lanes(qr, g, lanes, size, 0)
        for s in range(qr.rank[g]):
            x, z = get_lanes(lanes, s, 0), get_lanes(lanes, size + s, 0)
            put_lanes(lanes, s, 0, z)
            put_lanes(lanes, size + s, 0, z - x)
        orthogonal.solve_r_for_lanes(qr, g, lanes, size, 0)
        orthogonal.apply_q_to_lanes(qr, g, lanes, 0, 0)
        for i in range(size):
            put_lanes(table, machine.coordinate_at[first + i], c, get_lanes(lanes, i, 0))
        for t in range(last - begin):
            lam = get_lanes(lanes, size + t, 0) if t < qr.rank[g] else broadcast(0.0)
            put_lanes(table, n + qr.order[begin + t], c, lam)


@kernel
def project_rows(scratch, table, first, lanes, begin, end):
    """Replace m rows X from `first` on by their part in the range of A."""
    qr, basis = scratch.qr, scratch.basis
    for g in range(len(qr.slot)):
        slot, count = qr.slot[g], qr.count[g]
        if qr.rank[g] == count:
            continue
        for c in range(begin, end, LANES):
            for t in range(count):
                put_lanes(lanes, t, 0, get_lanes(table, first + qr.order[slot + t], c))
            orthogonal.apply_q_transposed_to_lanes(basis, g, lanes, 0, 0)
            for t in range(qr.rank[g], count):
                put_lanes(lanes, t, 0, broadcast(0.0))
            orthogonal.apply_q_to_lanes(basis, g, lanes, 0, 0)
            for t in range(count):
                put_lanes(table, first + qr.order[slot + t], c, get_lanes(lanes, t, 0))


@kernel
def write_least_rate_rows(machine, scratch, free, table, first, to, lanes, begin, end):
    """Write rates x of least energy, in n rows from `to` on, with A x in m rows from `first`."""
    qr = scratch.qr
    for g in range(count_groups(machine)):
        (one, last), (here, there) = rows_of(machine, g), coordinates_of(machine, g)
        for c in range(begin, end, LANES):
            for t in range(max(there - here, last - one)):
                put_lanes(lanes, t, 0, broadcast(0.0))
            for t in range(last - one):
                r = qr.order[one + t]
                put_lanes(lanes, t, 0, scratch.scale[r] * get_lanes(table, first + r, c))
            orthogonal.solve_r_transposed_for_lanes(qr, g, lanes, 0, 0)
            for t in range(qr.rank[g], last - one):
                put_lanes(lanes, t, 0, broadcast(0.0))
            orthogonal.apply_q_to_lanes(qr, g, lanes, 0, 0)
            for i in range(there - here):
                put_lanes(table, to + machine.coordinate_at[here + i], c, get_lanes(lanes, i, 0))
    inertia.solve_factor_for_rows(machine, free, scratch, table[to:], begin, end)


@kernel
def complete_rate_rows(machine, space, table, weight, first, lanes, end):
    """
    Add to rates x, in n rows from `first` on, the free motions N s with N^T (side - x / Q) = 0.

    Sides are in the first n rows of the table.
    """
    for g in range(count_groups(machine)):
        (begin, last), order = coordinates_of(machine, g), space.qr.order
        for c in range(0, end, LANES):
            for t in range(space.qr.count[g]):
                i, total = order[begin + t], broadcast(0.0)
                for at in range(begin, last):
                    j = machine.coordinate_at[at]
                    total = total + space.basis[0, i, j] * get_lanes(table, j, c)
                for j in space.active[begin:begin + space.qr.size[g]]:
                    total = total - space.basis[0, i, j] * weight[j] * get_lanes(
                        table, first + j, c)
                put_lanes(lanes, t, 0, total)
            orthogonal.solve_r_transposed_for_lanes(space.qr, g, lanes, 0, 0)
            orthogonal.solve_r_for_lanes(space.qr, g, lanes, 0, 0)
            for at in range(begin, last):
                j = machine.coordinate_at[at]
                total = get_lanes(table, first + j, c)
                for t in range(space.qr.count[g]):
                    total = total + space.basis[0, order[begin + t], j] * get_lanes(lanes, t, 0)
                put_lanes(table, first + j, c, total)


@kernel
def write_independent_multiplier_rows(machine, scratch, free, table, lanes, end):
    """Write multipliers of the independent rows with A^T lam = side; sides are overwritten."""
    qr, n = scratch.qr, len(free)
    inertia.solve_factor_for_rows_transposed(machine, free, scratch, table, 0, end)
    for g in range(count_groups(machine)):
        (begin, last), (first, there) = rows_of(machine, g), coordinates_of(machine, g)
        for c in range(0, end, LANES):
            for i in range(there - first):
                put_lanes(lanes, i, 0, get_lanes(table, machine.coordinate_at[first + i], c))
            orthogonal.apply_q_transposed_to_lanes(qr, g, lanes, 0, 0)
            orthogonal.solve_r_for_lanes(qr, g, lanes, 0, 0)
            for t in range(last - begin):
                r = qr.order[begin + t]
                lam = scratch.scale[r] * get_lanes(lanes, t,
                                                   0) if t < qr.rank[g] else broadcast(0.0)
                put_lanes(table, n + r, c, lam)


@kernel
def solve_least_force_sides(machine, scratch, table, weight, offset, potential, lanes, end):
    """
    Write lam and mu of passive coordinates with A_p^T lam = sides, W lam = A_p mu + offsets.

    Sides are in the first n rows, offsets in m rows from `offset` on, mu in n from `potential` on.
    """
    qr, n = scratch.qr, len(machine.link)
    for g in range(count_groups(machine)):
        (first, last), slot, count = rows_of(machine, g), qr.slot[g], qr.count[g]
        size = last - first
        for c in range(0, end, LANES):
            for i in range(size):
                r = machine.row_at[first + i]
                put_lanes(lanes, i, 0, weight[r] * get_lanes(table, offset + r, c))
            orthogonal.apply_q_transposed_to_lanes(qr, g, lanes, 0, 0)
            for s in range(count):
                j = qr.order[slot + s]
                put_lanes(lanes, size + s, 0, scratch.scale[j] * get_lanes(table, j, c))
            orthogonal.solve_r_transposed_for_lanes(qr, g, lanes, size, 0)
            for s in range(count):
                x, z = get_lanes(lanes, s, 0), get_lanes(lanes, size + s, 0)
                put_lanes(lanes, s, 0, z)
                put_lanes(lanes, size + s, 0, z - x)
            orthogonal.apply_q_to_lanes(qr, g, lanes, 0, 0)
            orthogonal.solve_r_for_lanes(qr, g, lanes, size, 0)
            for i in range(size):
                r = machine.row_at[first + i]
                put_lanes(table, n + r, c, weight[r] * get_lanes(lanes, i, 0))
            for s in range(count):
                j = qr.order[slot + s]
                put_lanes(table, potential + j, c, scratch.scale[j] * get_lanes(
                    lanes, size + s, 0))
