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

from liedyn_ros.dynamics.constrained.kernels import closures, order
from liedyn_ros.dynamics.constrained.kernels.tables import INVERSE_CONDITION, RANK
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.jit.decorators import kernel
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
        RANK_TOLERANCE)
    scratch.report[RANK], scratch.report[INVERSE_CONDITION] = rank, condition
    return rank == count


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
