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

from liedyn_ros.dynamics.constrained.kernels import closures, inertia, solution
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get_lanes, LANES, put_lanes, spread
from liedyn_ros.linear_algebra.kernels import orthogonal


@kernel
def write_null_space(machine, scratch, space, all_free, rank):
    """Write a basis N = L^-1 Q_2 of the motions that the constraints leave, as rows."""
    size = len(all_free)
    for i in range(size - rank):
        x = space.basis[0, i]
        for j in range(size):
            x[j] = 0.0
        x[rank + i] = 1.0
        orthogonal.apply_q(scratch.rows, scratch.head, scratch.beta, rank, size, x)
        inertia.solve_factor(machine, all_free, scratch, x)


@kernel
def factor_actuators(space, active, weight, mobility):
    """
    Factor Q^-1/2 N_a; return whether the actuators move all that can move.

    active lists the actuated coordinates; weight (nv,) is 1 / Q.
    """
    for i in range(mobility):
        for s in range(len(active)):
            space.rows[i, s] = math.sqrt(weight[active[s]]) * space.basis[0, i, active[s]]
    rank, _ = orthogonal.factor_qr(
        space.rows, space.order, space.head, space.beta, space.norm, mobility, len(active),
        mobility, RANK_TOLERANCE)
    return rank == mobility


@kernel
def torque_actuation(scratch, space, active, weight, mobility):
    """
    Return the inverse condition number of the actuation, between 0 and 1.

    Each actuator has two inertias: M_jj, which it moves where loops are open, and that of the
    machine if it moves and the others stand. The least ratio counts, and its root is returned.
    More actuators than needed follow by least squares, weighted by 1 / Q. scratch.y holds the
    roots of M_jj. As N^T M N = 1, the root of the second inertia is the length of N_a^+ e_j.
    """
    table, condition = scratch.lanes, 1.0
    for begin in range(0, len(active), LANES):
        end = min(begin + LANES, len(active))
        for t in range(len(active)):
            put_lanes(table, t, 0, spread(0.0))
        for t in range(begin, end):
            table[t, t - begin] = math.sqrt(weight[active[t]])
        orthogonal.apply_q_transposed_to_lanes(
            space.rows, space.head, space.beta, mobility, len(active), table)
        orthogonal.solve_r_for_lanes(space.rows, mobility, table)
        moved = spread(0.0)
        for i in range(mobility):
            moved = moved + get_lanes(table, i, 0) * get_lanes(table, i, 0)
        put_lanes(table, 0, 0, moved)
        for t in range(begin, end):
            if table[0, t - begin] > scratch.y[active[t]]**2:
                condition = min(
                    condition, scratch.y[active[t]] / math.sqrt(table[0, t - begin]))
    return condition


@kernel
def solve_least_torque(machine, motion, scratch, space, all_free, active, weight, rank, k):
    """
    Write coefficient k of forces and multipliers.

    space.need[k] holds the forces that the motion needs without closures.
    """
    size, need = len(all_free), space.need
    mobility = size - rank
    if k > 0:
        closures.write_jacobian(machine, motion, k)
        move_basis(machine, motion, scratch, space, all_free, rank, k)
    s = space.s
    for n in range(mobility):
        i, total = space.order[n], 0.0
        for h in range(k + 1):
            for j in range(size):  # known forces: passive ones, and active ones of lower order
                total += space.basis[h, i, j] * (need[k - h, j] - motion.effort[j, k - h])
        s[n] = total
    for j in active:  # what lower orders of s give
        for h in range(1, k + 1):
            for i in range(mobility):
                motion.effort[j, k] += weight[j] * space.basis[h, i, j] * space.size[i, k - h]
    for n in range(mobility):
        for j in active:
            s[n] -= space.basis[0, space.order[n], j] * motion.effort[j, k]
    orthogonal.solve_r_transposed(space.rows, mobility, s)
    orthogonal.solve_r(space.rows, mobility, s)
    for n in range(mobility):
        i = space.order[n]
        space.size[i, k] = s[n]
        for j in active:
            motion.effort[j, k] += weight[j] * space.basis[0, i, j] * s[n]
    write_torque_multipliers(machine, motion, scratch, space, all_free, rank, k)


@kernel
def move_basis(machine, motion, scratch, space, all_free, rank, k):
    """Write coefficient k of N: A N = 0 at all times, Q_2^T L N constant (12.20)."""
    size, z = len(all_free), scratch.z
    for i in range(size - rank):
        for t in range(len(z)):
            r, total = scratch.order[t], 0.0
            for h in range(1, k + 1):
                for j in range(size):
                    total -= motion.jacobian[h, r, j] * space.basis[k - h, i, j]
            z[t] = scratch.scale[r] * total
        orthogonal.solve_r_transposed(scratch.rows, rank, z)
        x = space.basis[k, i]
        for j in range(size):
            x[j] = z[j] if j < rank else 0.0
        orthogonal.apply_q(scratch.rows, scratch.head, scratch.beta, rank, size, x)
        inertia.solve_factor(machine, all_free, scratch, x)


@kernel
def write_torque_multipliers(machine, motion, scratch, space, all_free, rank, k):
    """Write coefficient k of the multipliers: A^T lam = tau_r - tau."""
    size, x = len(all_free), scratch.x
    for j in range(size):
        x[j] = space.need[k, j] - motion.effort[j, k]
        for h in range(1, k + 1):
            for r in range(len(scratch.rows)):
                x[j] -= motion.jacobian[h, r, j] * motion.multiplier[r, k - h]
    inertia.solve_factor_transposed(machine, all_free, scratch, x)
    orthogonal.apply_q_transposed(scratch.rows, scratch.head, scratch.beta, rank, size, x)
    orthogonal.solve_r(scratch.rows, rank, x)
    for t in range(len(scratch.rows)):
        r = scratch.order[t]
        motion.multiplier[r, k] = scratch.scale[r] * x[t] if t < rank else 0.0
    if rank < len(scratch.rows):
        solution.take_least_norm(machine, motion, scratch, all_free, rank, k)
