# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Constrained inverse dynamics with least joint force, in the null space of A (12.20), (12.21).

v = N s with A N = 0, so N^T tau is what the tree needs along the free motions, whatever the
closures carry. tau_a = Q^-1 N_a s is least at all times. A may have any rank.
"""

import math

from liedyn_ros.dynamics.constrained.kernels import closures, inertia
from liedyn_ros.dynamics.constrained.kernels.groups import (
    coordinates_of, count_groups, rows_of)
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.dynamics.constrained.solver.kernels import solution
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import broadcast, get_lanes, LANES, put_lanes
from liedyn_ros.linear_algebra.kernels import orthogonal


@kernel
def write_null_space(machine, scratch, space, all_free):
    """Write a basis N = L^-1 Q_2 of the motions that the constraints leave, as rows."""
    qr, table = scratch.qr, scratch.lanes
    for g in range(count_groups(machine)):
        (first, end), rank = coordinates_of(machine, g), qr.rank[g]
        space.qr.count[g] = end - first - rank
        for begin in range(0, space.qr.count[g], LANES):
            last = min(begin + LANES, space.qr.count[g])
            for i in range(end - first):
                put_lanes(table, i, 0, broadcast(0.0))
            for n in range(begin, last):
                table[rank + n, n - begin] = 1.0
            orthogonal.apply_q_to_lanes(qr, g, table, 0, 0)
            for n in range(begin, last):
                row = space.basis[0, first + n]
                for i in range(end - first):
                    row[machine.coordinate_at[first + i]] = table[i, n - begin]
                inertia.solve_factor(machine, all_free, scratch, g, row)


@kernel
def factor_actuators(machine, space, active, weight, held):
    """
    Factor Q^-1/2 N_a; return whether the actuators move all that can move.

    active lists the actuated coordinates, but for those with held (nv,) not zero; weight (nv,) is
    1 / Q.
    """
    qr, mobility = space.qr, 0
    for g in range(count_groups(machine)):
        qr.size[g] = 0
        mobility += qr.count[g]
    for j in active:
        if held[j] != 0.0:
            continue
        g = machine.group[j]
        s = qr.size[g]
        space.active[machine.group_coordinates[g] + s], qr.size[g] = j, s + 1
        for i in range(qr.slot[g], qr.slot[g] + qr.count[g]):
            qr.order[i], qr.rows[i, s] = i, math.sqrt(weight[j]) * space.basis[0, i, j]
    for g in range(count_groups(machine)):
        for i in range(qr.slot[g], qr.slot[g] + qr.count[g]):
            put_lanes(qr.rows, i, qr.size[g], broadcast(0.0))  # what another task has left
    rank, _ = orthogonal.factor_qr(qr, mobility, RANK_TOLERANCE)
    return rank == mobility


@kernel
def torque_actuation(machine, scratch, space, weight):
    """
    Return the inverse condition number of the actuation, between 0 and 1.

    Each actuator has two inertias: M_jj, which it moves where loops are open, and that of the
    machine if it moves and the others stand. The least ratio counts, and its root is returned.
    More actuators than needed follow by least squares, weighted by 1 / Q. scratch.y holds the
    roots of M_jj. As N^T M N = 1, the root of the second inertia is the length of N_a^+ e_j.
    """
    table, condition = scratch.lanes, 1.0
    for g in range(count_groups(machine)):
        first = machine.group_coordinates[g]
        active = space.active[first:first + space.qr.size[g]]
        for begin in range(0, len(active), LANES):
            end = min(begin + LANES, len(active))
            for t in range(len(active)):
                put_lanes(table, t, 0, broadcast(0.0))
            for t in range(begin, end):
                table[t, t - begin] = math.sqrt(weight[active[t]])
            orthogonal.apply_q_transposed_to_lanes(space.qr, g, table, 0, 0)
            orthogonal.solve_r_for_lanes(space.qr, g, table, 0, 0)
            moved = broadcast(0.0)
            for i in range(space.qr.count[g]):
                moved = moved + get_lanes(table, i, 0) * get_lanes(table, i, 0)
            put_lanes(table, 0, 0, moved)
            for t in range(begin, end):
                if table[0, t - begin] > scratch.y[active[t]]**2:
                    condition = min(
                        condition, scratch.y[active[t]] / math.sqrt(table[0, t - begin]))
    return condition


@kernel
def solve_least_torque(machine, motion, scratch, space, all_free, weight, rank, k):
    """
    Write coefficient k of forces and multipliers.

    space.need[k] holds the forces that the motion needs without closures.
    """
    if k > 0:
        closures.write_jacobian(machine, motion, k)
        move_basis(machine, motion, scratch, space, all_free, k)
    for g in range(count_groups(machine)):
        solve_group_torque(machine, motion, space, g, weight, k)
    write_torque_multipliers(machine, motion, scratch, space, all_free, rank, k)


@kernel
def solve_group_torque(machine, motion, space, g, weight, k):
    """Write coefficient k of the forces of the actuators of a group."""
    (first, end), mobility = coordinates_of(machine, g), space.qr.count[g]
    active, s = space.active[first:first + space.qr.size[g]], space.s[first:end]
    need = space.need
    for n in range(mobility):
        i, total = space.qr.order[first + n], 0.0
        for h in range(k + 1):
            for at in range(first, end):  # known forces: passive ones, and active of lower order
                j = machine.coordinate_at[at]
                total += space.basis[h, i, j] * (need[k - h, j] - motion.effort[k - h, j])
        s[n] = total
    for j in active:  # what lower orders of s give
        for h in range(1, k + 1):
            for i in range(first, first + mobility):
                motion.effort[k, j] += weight[j] * space.basis[h, i, j] * space.size[i, k - h]
    for n in range(mobility):
        for j in active:
            s[n] -= space.basis[0, space.qr.order[first + n], j] * motion.effort[k, j]
    orthogonal.solve_r_transposed(space.qr, g, s)
    orthogonal.solve_r(space.qr, g, s)
    for n in range(mobility):
        i = space.qr.order[first + n]
        space.size[i, k] = s[n]
        for j in active:
            motion.effort[k, j] += weight[j] * space.basis[0, i, j] * s[n]


@kernel
def add_free_motions(machine, space, g, sizes, x):
    """Add to x (nv,) the free motions of a group, in their order, times their sizes."""
    first, end = coordinates_of(machine, g)
    for i in range(first, first + space.qr.count[g]):
        for at in range(first, end):
            j = machine.coordinate_at[at]
            x[j] += sizes[i] * space.basis[0, i, j]


@kernel
def move_basis(machine, motion, scratch, space, all_free, k):
    """Write coefficient k of N: A N = 0 at all times, Q_2^T L N constant (12.20)."""
    rates = scratch.gamma
    for g in range(count_groups(machine)):
        (begin, last), (first, end) = rows_of(machine, g), coordinates_of(machine, g)
        for i in range(first, first + space.qr.count[g]):
            for t in range(begin, last):
                r, total = machine.row_at[t], 0.0
                for h in range(1, k + 1):
                    for at in range(first, end):
                        j = machine.coordinate_at[at]
                        total -= motion.jacobian[h, r, j] * space.basis[k - h, i, j]
                rates[r] = total
            solution.write_group_rates(machine, scratch, all_free, g, rates, space.basis[k, i])


@kernel
def write_torque_multipliers(machine, motion, scratch, space, all_free, rank, k):
    """Write coefficient k of the multipliers: A^T lam = tau_r - tau."""
    x = scratch.x
    for j in range(len(x)):
        x[j] = space.need[k, j] - motion.effort[k, j]
    for h in range(1, k + 1):
        for r in range(len(scratch.gamma)):
            for at in range(machine.support_start[r], machine.support_start[r + 1]):
                j = machine.support[at]
                x[j] -= motion.jacobian[h, r, j] * motion.multiplier[k - h, r]
    solution.write_independent_multipliers(
        machine, scratch, all_free, x, motion.multiplier[k])
    if rank < len(scratch.gamma):
        solution.take_least_norm(machine, motion, scratch, all_free, k)
