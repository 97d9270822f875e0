# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How solutions of constrained dynamics vary, all columns side by side (13.19c), (13.37b).

Columns of a table of changes are blocks of nv: by q, by v, and by what is given at each order. Its
rows are those of accelerations, of multipliers, and what follows below. The matrix of an order is
that of order zero, whose factors the dynamics has left. Only the sides differ.

How the solutions of inverse dynamics vary, all columns side by side, at every order (13.19c). It
is as in changes.py. After those by q and v, columns are by a, and by the forces that the tree
needs, of each order. Rows of coordinates are sides first, joint forces at the end.
"""

from liedyn_ros.dynamics.constrained.kernels.groups import coordinates_of, count_groups
from liedyn_ros.dynamics.constrained.kernels.tables import RANK, task_of, workspace_of
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels import sides
from liedyn_ros.dynamics.constrained.solver.kernels.solver import all_set, LEAST_FORCE_TASK
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.simd import LANES, put
from liedyn_ros.linear_algebra.kernels.rows import (
    add_scaled_row, clear_row, copy_scaled, scale_row)
from liedyn_ros.model.kernels.configuration import finite


@inlined
def offset_rows(n, m):
    """Return the first of the rows (m,) of what a constraint keeps of A mu; a scratch buffer."""
    return n + m


@inlined
def force_rows(n, m):
    """Return the first of the rows (nv,) of joint forces, or of their multiples by weights."""
    return n + 2 * m


@inlined
def potential_rows(n, m):
    """Return the first of the rows (nv,) of mu, with lam = A mu."""
    return 2 * n + 2 * m


@inlined
def whole_lanes(columns):
    """Return a number of columns filled up to a multiple of LANES."""
    return (columns + LANES - 1) // LANES * LANES


@kernel
def hybrid_changes(
        workspace: VECTOR, task: VECTOR, partials: ARRAY4, rows: CUBE, reactions: ARRAY4,
        lanes: MATRIX, changes: CUBE, found: VECTOR) -> TRUTH:
    """
    Write the blocks of accelerations, joint forces and multipliers into `found`, in this order.

    partials (r + 1, r + 3, nv + m, nv) are those of the equations (13.34), rows (r + 1, m, nv)
    A, A', ... reactions (r + 1, r + 3, m, nv) are those of A mu, read where rows are redundant.
    lanes (nv + m, LANES) and changes (r + 1, 3 nv + 2 m, ...) are scratch buffers. Returns whether
    all that is found is finite.
    """
    tables, free = workspace_of(workspace), task_of(task).free
    machine, scratch = tables.machine, tables.by_row
    n, m, prescribed = len(free), len(scratch.gamma), not all_set(free)
    redundant = int(scratch.report[RANK]) < m
    for k in range(len(partials)):
        side, end = changes[k], whole_lanes((k + 3) * n)
        write_hybrid_sides(free, partials[k], rows, changes, k, m)
        if prescribed:
            for i in range(n):
                clear_row(side, force_rows(n, m) + i, 0, end)
                add_scaled_row(side, force_rows(n, m) + i, side, i, -1.0, 0, end)
        if redundant:  # what no motion can give is left open
            sides.project_rows(scratch, side, n, lanes, 0, end)
        sides.solve_saddle_point_for_rows(machine, scratch, free, side, lanes, 0, end)
        if redundant:
            write_offsets(reactions[k], rows, changes, k, n, m)
            project_multiplier_rows(machine, scratch, free, side, lanes, n, m, end)
        if prescribed:
            complete_known_rows(free, partials[0, 2], side, k, m)
    at = write_blocks(changes, 0, n, n, 1, found, 0)
    if prescribed:
        at = write_blocks(changes, force_rows(n, m), n, n, 1, found, at)
    write_blocks(changes, n, m, n, 1, found, at)
    return finite(found)


@kernel
def write_hybrid_sides(free, partials, rows, changes, k, m):
    """Write f and g of order k: the given forces less what the equations have of all else."""
    n, side = len(free), changes[k]
    for i in range(n + m):
        clear_row(side, i, 0, whole_lanes((k + 3) * n))
        copy_scaled(partials[0], i, 0, side, i, 0, n, -1.0)
        copy_scaled(partials[1], i, 0, side, i, n, n, -1.0)
        for j in range(n):
            if not free[j]:
                put(side, i, (k + 2) * n + j, -partials[2 + k, i, j])
    for j in range(n):
        if free[j]:
            put(side, j, (k + 2) * n + j, 1.0)
    for j in range(k):  # a^(j) does not depend on later blocks
        add_products(partials[2 + j], False, n + m, n, -1.0, changes[j], 0, side, 0,
                     whole_lanes((j + 3) * n))
    choose = 1.0
    for i in range(k):
        add_products(rows[k - i], True, m, n, choose, changes[i], n, side, 0,
                     whole_lanes((i + 3) * n))
        choose = choose * (k - i) / (i + 1.0)


@kernel
def add_products(matrix, transposed, count, n, factor, source, first, target, to, end):
    """Add factor times a matrix (count, n) or its transpose, times rows of a table, to another."""
    for i in range(count):
        for j in range(n):
            entry = matrix[i, j]
            if entry != 0.0:
                row, column = (j, i) if transposed else (i, j)
                add_scaled_row(target, to + row, source, first + column, factor * entry, 0, end)


@kernel
def write_offsets(reactions, rows, changes, k, n, m):
    """Write how (A mu)^(k) varies, mu^(k) staying as it is."""
    side, at = changes[k], offset_rows(n, m)
    for r in range(m):
        clear_row(side, at + r, 0, whole_lanes((k + 3) * n))
        for b in range(2):
            copy_scaled(reactions[b], r, 0, side, at + r, b * n, n, 1.0)
    for j in range(k):
        add_products(reactions[2 + j], False, m, n, 1.0, changes[j], 0, side, at,
                     whole_lanes((j + 3) * n))
    choose = 1.0
    for i in range(k):
        add_products(rows[k - i], False, m, n, choose, changes[i], potential_rows(n, m), side, at,
                     whole_lanes((i + 3) * n))
        choose = choose * (k - i) / (i + 1.0)


@kernel
def project_multiplier_rows(machine, scratch, free, side, lanes, n, m, end):
    """Make multipliers those of least norm, lam = A mu, and write mu (12.26)."""
    at = offset_rows(n, m)
    for r in range(m):
        add_scaled_row(side, n + r, side, at + r, -1.0, 0, end)
    sides.project_rows(scratch, side, n, lanes, 0, end)
    sides.write_least_rate_rows(
        machine, scratch, free, side, n, potential_rows(n, m), lanes, 0, end)
    for r in range(m):
        add_scaled_row(side, n + r, side, at + r, 1.0, 0, end)


@kernel
def complete_known_rows(free, equations, side, k, m):
    """Write given accelerations at order k, and the forces of prescribed ones."""
    n, end = len(free), whole_lanes((k + 3) * len(free))
    first = force_rows(n, m)
    for i in range(n):
        if free[i]:
            clear_row(side, first + i, 0, end)
            put(side, first + i, (k + 2) * n + i, 1.0)
            continue
        for j in range(n):
            if free[j]:
                add_scaled_row(side, first + i, side, j, equations[i, j], 0, end)
        for r in range(m):
            add_scaled_row(side, first + i, side, n + r, -equations[n + r, i], 0, end)
    for i in range(n):
        if not free[i]:
            put(side, i, (k + 2) * n + i, 1.0)


@kernel
def write_blocks(changes, first, count, n, series, found, at):
    """
    Write how `count` rows vary by q, by v, and by series of what is given; return the end.

    Blocks (count, n) of each follow each other in `found` from `at` on, by orders. Those of a
    series are by the order of the row, then by its own.
    """
    orders = len(changes)
    for b in range(2):
        for k in range(orders):
            at = copy_block(changes[k], first, count, b * n, n, found, at)
    for s in range(series):
        for k in range(orders):
            for j in range(orders):
                if j > k:
                    for t in range(at, at + count * n):
                        found[t] = 0.0
                    at += count * n
                else:
                    at = copy_block(
                        changes[k], first, count, (2 + series * j + s) * n, n, found, at)
    return at


@kernel
def copy_block(table, first, count, column, n, found, at):
    """Write rows from `first` on, n columns from `column` on, into found; return the end."""
    end = at + count * n
    block = found[at:end].reshape((count, n))
    for i in range(count):
        copy_scaled(table, first + i, column, block, i, 0, n, 1.0)
    return end


@kernel
def inverse_changes(
        workspace: VECTOR, task: VECTOR, partials: ARRAY4, rows: CUBE, slopes: ARRAY4,
        reactions: ARRAY4, lanes: MATRIX, changes: CUBE, found: VECTOR) -> TRUTH:
    """
    Write the blocks of joint forces and multipliers into `found`, in this order.

    partials and rows are as for hybrid_changes; of the former the first nv rows count. slopes and
    reactions (r + 1, r + 3, m, nv) are those of A nu, of least torque, and of A mu. lanes and
    changes are scratch buffers. Returns whether all that is found is finite.
    """
    tables, table = workspace_of(workspace), task_of(task)
    machine, free, weight = tables.machine, table.free, table.weight
    n, m, least_force = len(free), rows.shape[1], table.kind[0] == LEAST_FORCE_TASK
    scratch = tables.by_column if least_force else tables.by_row
    redundant = not least_force and int(scratch.report[RANK]) < m
    for k in range(len(partials)):
        side, end = changes[k], end_of_order(k, n)
        write_inverse_sides(partials[k], rows, changes, k, n, m)
        if least_force:
            write_given_offsets(reactions[k], rows, changes, potential_rows(n, m), k, n, m)
            for j in range(n):
                clear_row(side, potential_rows(n, m) + j, 0, end)
            sides.solve_least_force_sides(
                machine, scratch, side, weight, offset_rows(n, m), potential_rows(n, m), lanes,
                end)
            add_products(rows[0], True, m, n, -1.0, side, n, side, 0, end)
            for j in table.chosen:
                clear_row(side, j, 0, end)
            continue
        write_given_offsets(slopes[k], rows, changes, force_rows(n, m), k, n, m)
        for r in range(m):
            scale_row(side, offset_rows(n, m) + r, -1.0, 0, end)
        if redundant:
            sides.project_rows(scratch, side, offset_rows(n, m), lanes, 0, end)
        sides.write_least_rate_rows(machine, scratch, free, side, offset_rows(n, m),
                                    force_rows(n, m), lanes, 0, end)
        sides.complete_rate_rows(
            machine, tables.space, side, weight, force_rows(n, m), lanes, end)
        for j in table.chosen:
            add_scaled_row(side, j, side, force_rows(n, m) + j, -weight[j], 0, end)
        sides.write_independent_multiplier_rows(machine, scratch, free, side, lanes, end)
        for j in range(n):
            clear_row(side, j, 0, end)
        for j in table.chosen:
            add_scaled_row(side, j, side, force_rows(n, m) + j, weight[j], 0, end)
        if redundant:
            write_given_offsets(reactions[k], rows, changes, potential_rows(n, m), k, n, m)
            project_multiplier_rows(machine, scratch, free, side, lanes, n, m, end)
    write_blocks(changes, n, m, n, 2, found, write_blocks(changes, 0, n, n, 2, found, 0))
    return finite(found)


@inlined
def end_of_order(k, n):
    """Return the end of the columns of an order."""
    return whole_lanes((2 * k + 4) * n)


@inlined
def given_column(b, n):
    """Return the first column of a block of partials: by q, v, a, a', ..."""
    return (b if b < 3 else 2 * b - 2) * n


@kernel
def write_inverse_sides(partials, rows, changes, k, n, m):
    """Write forces of actuators and constraints at order k, but for its multipliers."""
    side = changes[k]
    for i in range(n):
        clear_row(side, i, 0, end_of_order(k, n))
        for b in range(k + 3):
            copy_scaled(partials[b], i, 0, side, i, given_column(b, n), n, 1.0)
        put(side, i, (2 * k + 3) * n + i, 1.0)
    choose = 1.0
    for i in range(k):
        add_products(rows[k - i], True, m, n, -choose, changes[i], n, side, 0,
                     end_of_order(i, n))
        choose = choose * (k - i) / (i + 1.0)


@kernel
def write_given_offsets(slopes, rows, changes, first, k, n, m):
    """Write how (A y)^(k) varies, y^(k) staying as it is; rows from `first` on are those of y."""
    side, at = changes[k], offset_rows(n, m)
    for r in range(m):
        clear_row(side, at + r, 0, end_of_order(k, n))
        for b in range(k + 3):
            copy_scaled(slopes[b], r, 0, side, at + r, given_column(b, n), n, 1.0)
    choose = 1.0
    for i in range(k):
        add_products(rows[k - i], False, m, n, choose, changes[i], first, side, at,
                     end_of_order(i, n))
        choose = choose * (k - i) / (i + 1.0)


@kernel
def write_rate_potentials(workspace: VECTOR, factorial: VECTOR, out: MATRIX):
    """Write nu, nu', ... (r + 1, nv) of the last solution of least torque: tau = nu / Q."""
    tables = workspace_of(workspace)
    machine, space = tables.machine, tables.space
    for k in range(len(out)):
        for j in range(out.shape[1]):
            out[k, j] = 0.0
        for g in range(count_groups(machine)):
            first, end = coordinates_of(machine, g)
            for i in range(first, first + space.qr.count[g]):
                for at in range(first, end):
                    j = machine.coordinate_at[at]
                    for h in range(k + 1):
                        out[k, j] += (
                            factorial[k] * space.basis[h, i, j] * space.size[i, k - h])
