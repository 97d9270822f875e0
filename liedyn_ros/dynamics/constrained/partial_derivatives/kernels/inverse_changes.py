# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
How the solutions of inverse dynamics vary, all columns side by side, at every order (13.19c).

It is as in changes.py. After those by q and v, columns are by a, and by the forces that the tree
needs, of each order. Rows of coordinates are sides first, joint forces at the end.
"""

from liedyn_ros.dynamics.constrained.kernels.groups import coordinates_of, count_groups
from liedyn_ros.dynamics.constrained.kernels.tables import RANK, task_of, workspace_of
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels import sides
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.changes import (
    add_products, force_rows, offset_rows, potential_rows,
    project_multiplier_rows, whole_lanes, write_blocks)
from liedyn_ros.dynamics.constrained.solver.kernels.solver import LEAST_FORCE_TASK
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.simd import put
from liedyn_ros.linear_algebra.kernels.rows import (
    add_scaled_row, clear_row, copy_scaled, scale_row)
from liedyn_ros.model.kernels.acceptance import finite


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
