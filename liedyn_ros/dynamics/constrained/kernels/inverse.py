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
from liedyn_ros.dynamics.constrained.kernels.tables import INVERSE_CONDITION, RANK
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get_lanes, LANES, put_lanes, spread
from liedyn_ros.linear_algebra.kernels import orthogonal


@kernel
def factor_passive_columns(motion, scratch, passive, weight):
    """
    Factor W^-1/2 A_p, columns of length one; return whether their rank is full.

    passive lists the coordinates whose forces are given; weight (m,) is 1 / sqrt(W).
    """
    size, count = len(weight), len(passive)
    for s in range(count):
        total = 0.0
        for r in range(size):
            entry = weight[r] * motion.jacobian[0, r, passive[s]]
            scratch.rows[s, r] = entry
            total += entry * entry
        scratch.scale[s] = 1.0 / math.sqrt(total) if total > 0.0 else 0.0
        for r in range(size):
            scratch.rows[s, r] *= scratch.scale[s]
    rank, condition = orthogonal.factor_qr(
        scratch.rows, scratch.order, scratch.head, scratch.beta, scratch.norm, count, size,
        count, RANK_TOLERANCE)
    scratch.report[RANK], scratch.report[INVERSE_CONDITION] = rank, condition
    return rank == count


@kernel
def force_actuation(machine, motion, scratch, passive, weight):
    """
    Return the inverse condition number of the actuation, as least_torque.py defines it.

    The passive coordinates follow an actuator by -A_p^+ A_a. scratch has M and A_p as factored.
    """
    size, count, condition, begin = len(weight), len(passive), 1.0, 0
    x, step = scratch.lanes, scratch.steps
    while begin < len(scratch.y):
        actuators, begin = begin_steps(motion, scratch, passive, weight, begin)
        orthogonal.apply_q_transposed_to_lanes(
            scratch.rows, scratch.head, scratch.beta, count, size, x)
        orthogonal.solve_r_for_lanes(scratch.rows, count, x)
        for s in range(count):
            j = scratch.order[s]
            put_lanes(step, passive[j], 0, scratch.scale[j] * get_lanes(x, s, 0))
        moved = inertia.quadratic_forms(machine, scratch, step)
        put_lanes(x, 0, 0, moved)
        for n in range(actuators):
            if x[0, n] > scratch.z[n]**2:
                condition = min(condition, scratch.z[n] / math.sqrt(x[0, n]))
    return condition


@kernel
def begin_steps(motion, scratch, passive, weight, begin):
    """
    Write unit steps of LANES actuators from coordinate begin on, and W^-1/2 A times minus each.

    scratch.z is given the roots of M_jj. Returns the number of actuators and where to go on.
    """
    x, step, count = scratch.lanes, scratch.steps, 0
    for i in range(len(step)):
        put_lanes(step, i, 0, spread(0.0))
    for r in range(len(x)):
        put_lanes(x, r, 0, spread(0.0))
    following = 0
    while following < len(passive) and passive[following] < begin:
        following += 1
    for j in range(begin, len(scratch.y)):
        if following < len(passive) and passive[following] == j:
            following += 1
            continue
        if count == LANES:
            return count, j
        for r in range(len(weight)):
            x[r, count] = -weight[r] * motion.jacobian[0, r, j]
        step[j, count], scratch.z[count] = 1.0, scratch.y[j]
        count += 1
    return count, len(scratch.y)


@kernel
def solve_least_force(machine, motion, scratch, none_free, passive, weight, k):
    """
    Write coefficient k of forces and multipliers; no coordinate is free: none_free (nv,) is False.

    scratch.y holds the forces that the motion needs without them.
    """
    size, count = len(weight), len(passive)
    need, x, z = scratch.y, scratch.x, scratch.z
    for s in range(count):
        j = passive[scratch.order[s]]
        z[s] = scratch.scale[scratch.order[s]] * (need[j] - motion.effort[j, k])
    orthogonal.solve_r_transposed(scratch.rows, count, z)
    for r in range(size):
        x[r] = 0.0
    if k > 0 and size > count:
        closures.write_jacobian(machine, motion, k)
        for r in range(size):
            for h in range(1, k + 1):
                for s in range(count):
                    j = passive[s]
                    x[r] += weight[r] * motion.jacobian[h, r, j] * motion.potential[j, k - h]
        orthogonal.apply_q_transposed(scratch.rows, scratch.head, scratch.beta, count, size, x)
    for s in range(count):
        x[s], z[s] = z[s], z[s] - x[s]
    orthogonal.apply_q(scratch.rows, scratch.head, scratch.beta, count, size, x)
    orthogonal.solve_r(scratch.rows, count, z)
    for s in range(count):
        motion.potential[passive[scratch.order[s]], k] = scratch.scale[scratch.order[s]] * z[s]
    for r in range(size):
        motion.multiplier[r, k] = weight[r] * x[r]
    for j in range(len(need)):
        motion.effort[j, k] = need[j]
    order.complete_order(machine, motion, none_free, k)
