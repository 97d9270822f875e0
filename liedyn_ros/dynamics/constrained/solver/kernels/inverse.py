# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Constrained inverse dynamics with least constraint force, which is any that is unique (12.18).

The passive coordinates determine A_p^T lam: the force that the tree needs there less the given
one. Where that leaves a choice, lam^T W lam is least at all times: lam = W^-1 A_p y. The
pseudo-inverse order by order is wrong from order one on.
"""

import math

from liedyn_ros.dynamics.constrained.kernels import closures, inertia, order
from liedyn_ros.dynamics.constrained.kernels.groups import (
    coordinates_of, count_groups, rows_of)
from liedyn_ros.dynamics.constrained.kernels.tables import INVERSE_CONDITION, RANK
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import broadcast, get_lanes, LANES, put_lanes
from liedyn_ros.linear_algebra.kernels import orthogonal


@kernel
def factor_passive_columns(machine, motion, scratch, passive, weight):
    """
    Factor W^-1/2 A_p, columns of length one; return whether their rank is full.

    passive lists the coordinates whose forces are given; weight (m,) is 1 / sqrt(W). The scale of
    other coordinates is zero.
    """
    qr = scratch.qr
    for g in range(count_groups(machine)):
        qr.count[g] = 0
    for j in range(len(machine.link)):
        scratch.scale[j] = 0.0
    for j in passive:
        g, total = machine.group[j], 0.0
        (first, end), t = rows_of(machine, g), qr.slot[g] + qr.count[g]
        qr.order[t], column = j, qr.rows[t]
        qr.count[g] += 1
        for at in range(first, end):
            r = machine.row_at[at]
            entry = weight[r] * motion.jacobian[0, r, j]
            column[at - first] = entry
            total += entry * entry
        scratch.scale[j] = 1.0 / math.sqrt(total) if total > 0.0 else 0.0
        for i in range(end - first):
            column[i] *= scratch.scale[j]
    rank, condition = orthogonal.factor_qr(qr, len(passive), RANK_TOLERANCE)
    scratch.report[RANK], scratch.report[INVERSE_CONDITION] = rank, condition
    return rank == len(passive)


@kernel
def force_actuation(machine, motion, scratch, weight):
    """
    Return the inverse condition number of the actuation, as least_torque.py defines it.

    The passive coordinates follow an actuator by -A_p^+ A_a. scratch has M and A_p as factored.
    """
    condition = 1.0
    for g in range(count_groups(machine)):
        begin, end = coordinates_of(machine, g)
        while begin < end:
            actuators, begin = begin_steps(machine, motion, scratch, g, weight, begin)
            follow_steps(scratch, g)
            moved = inertia.quadratic_forms(machine, scratch, g, scratch.steps)
            put_lanes(scratch.lanes, 0, 0, moved)
            for n in range(actuators):
                if scratch.lanes[0, n] > scratch.z[n]**2:
                    condition = min(condition, scratch.z[n] / math.sqrt(scratch.lanes[0, n]))
    return condition


@kernel
def begin_steps(machine, motion, scratch, g, weight, begin):
    """
    Write unit steps of LANES actuators of a group, and W^-1/2 A times minus each.

    They are those from `begin` on in coordinate_at. scratch.z is given the roots of M_jj. Returns
    the number of actuators and where to go on.
    """
    x, step, count = scratch.lanes, scratch.steps, 0
    (first, end), (begin_row, end_row) = coordinates_of(machine, g), rows_of(machine, g)
    for at in range(first, end):
        put_lanes(step, machine.coordinate_at[at], 0, broadcast(0.0))
    for i in range(end_row - begin_row):
        put_lanes(x, i, 0, broadcast(0.0))
    for at in range(begin, end):
        j = machine.coordinate_at[at]
        if scratch.scale[j] > 0.0:  # passive
            continue
        if count == LANES:
            return count, at
        for i in range(end_row - begin_row):
            r = machine.row_at[begin_row + i]
            x[i, count] = -weight[r] * motion.jacobian[0, r, j]
        step[j, count], scratch.z[count] = 1.0, scratch.y[j]
        count += 1
    return count, end


@kernel
def follow_steps(scratch, g):
    """Write the steps of the passive coordinates of a group."""
    qr, x = scratch.qr, scratch.lanes
    orthogonal.apply_q_transposed_to_lanes(qr, g, x, 0, 0)
    orthogonal.solve_r_for_lanes(qr, g, x, 0, 0)
    for s in range(qr.count[g]):
        j = qr.order[qr.slot[g] + s]
        put_lanes(scratch.steps, j, 0, scratch.scale[j] * get_lanes(x, s, 0))


@kernel
def solve_least_force(machine, motion, scratch, none_free, passive, weight, k, last):
    """
    Write coefficient k of forces and multipliers; no coordinate is free: none_free (nv,) is False.

    scratch.y holds the forces that the motion needs without them. last says that no order follows.
    """
    need = scratch.y
    if k > 0 and len(weight) > len(passive):
        closures.write_jacobian(machine, motion, k)
    for g in range(count_groups(machine)):
        solve_group_force(machine, motion, scratch, g, weight, k)
    for j in range(len(need)):
        motion.effort[k, j] = need[j]
    order.complete_order(machine, motion, none_free, k, last and k == 0)


@kernel
def solve_group_force(machine, motion, scratch, g, weight, k):
    """Write coefficient k of the multipliers of a group, and of y."""
    qr, first, (begin, end) = scratch.qr, scratch.qr.slot[g], rows_of(machine, g)
    count, size = qr.count[g], end - begin
    x, z = scratch.local[begin:end], scratch.z[first:first + count]
    write_scaled_needs(scratch, g, scratch.y, motion.effort[k], z)
    orthogonal.solve_r_transposed(qr, g, z)
    for i in range(size):
        x[i] = 0.0
    if k > 0 and size > count:
        for i in range(size):
            r = machine.row_at[begin + i]
            for h in range(1, k + 1):
                for s in range(count):
                    j = qr.order[first + s]
                    x[i] += weight[r] * motion.jacobian[h, r, j] * motion.potential[k - h, j]
        orthogonal.apply_q_transposed(qr, g, x)
    for s in range(count):
        x[s], z[s] = z[s], z[s] - x[s]
    orthogonal.apply_q(qr, g, x)
    orthogonal.solve_r(qr, g, z)
    for s in range(count):
        j = qr.order[first + s]
        motion.potential[k, j] = scratch.scale[j] * z[s]
    for i in range(size):
        r = machine.row_at[begin + i]
        motion.multiplier[k, r] = weight[r] * x[i]


@kernel
def write_scaled_needs(scratch, g, need, given, z):
    """Write needs of a group's passive coordinates beyond given forces, by their scales."""
    qr = scratch.qr
    for s in range(len(z)):
        j = qr.order[qr.slot[g] + s]
        z[s] = scratch.scale[j] * (need[j] - given[j])
