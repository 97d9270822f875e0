# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Constrained inverse dynamics with least constraint force, which is any that is unique (12.18).

The passive coordinates decide: A_p^T lam = what the tree needs there less what is given. Where
that leaves a choice, lam^T W lam is least at all times: lam = W^-1 A_p y, not the pseudo-inverse
order by order, which is wrong from order one on.
"""

import math

from liedyn_ros.dynamics.constrained.kernels import closures, forward, orthogonal, series
from liedyn_ros.dynamics.constrained.kernels.solution import RANK_TOLERANCE
from liedyn_ros.dynamics.constrained.kernels.tables import DEFECT, QUALITY, RANK
from liedyn_ros.jit.decorators import kernel

UNMOVED = -2  # the actuators do not determine the motion


@kernel
def least_force(machine, motion, room, none, passive, weight, external, q, v, a, tau,
                multipliers, wrenches):
    """
    Write the joint forces (order + 1, nv) of a motion, and the multipliers.

    passive lists the coordinates whose forces tau holds; weight (m,) is 1 / sqrt(W); none (nv,)
    is False. Returns DONE or UNMOVED.
    """
    begin(machine, motion, room, q, v, a, tau)
    if not prepare(motion, room, passive, weight):
        return UNMOVED
    scale = 1.0
    for k in range(len(tau)):
        solve(machine, motion, room, none, passive, weight, external, k)
        scale *= max(k, 1)
        forward.write(machine, motion, k, scale, tau, multipliers, wrenches)
    return 0


@kernel
def begin(machine, motion, room, q, v, a, tau):
    """Write a known motion and forces into series."""
    forward.begin(machine, motion, q, v)
    scale = 1.0
    for k in range(len(a)):
        for j in range(len(machine.link)):
            motion.rate[j, k + 1] = scale / (k + 1.0) * a[k, j]
            motion.effort[j, k] = scale * tau[k, j]
        scale /= k + 1.0
    closures.write_rates(machine, motion, 0, 1.0, room.gamma)
    room.report[DEFECT] = 0.0
    note_defect(machine, motion, room, 0)


@kernel
def note_defect(machine, motion, room, k):
    """Note how much of coefficient k of the velocity residual the motion leaves open."""
    for r in range(len(room.gamma)):
        size = 0.0  # of the terms that cancel
        for j in range(len(machine.link)):
            size += abs(motion.jacobian[0, r, j] * motion.rate[j, k])
        if k > 0:
            for j in range(len(machine.link)):
                size += abs(motion.jacobian[0, r, j]) * motion.rate[j, 0]**2
        open_part = abs(room.gamma[r]) / max(k, 1)
        room.report[DEFECT] = max(room.report[DEFECT], open_part / (1.0 + size))


@kernel
def prepare(motion, room, passive, weight):
    """Factor W^-1/2 A_p, columns of length one; return whether their rank is full."""
    size, count = len(weight), len(passive)
    for s in range(count):
        total = 0.0
        for r in range(size):
            entry = weight[r] * motion.jacobian[0, r, passive[s]]
            room.rows[s, r] = entry
            total += entry * entry
        room.scale[s] = 1.0 / math.sqrt(total) if total > 0.0 else 0.0
        for r in range(size):
            room.rows[s, r] *= room.scale[s]
    rank, quality = orthogonal.triangularise(
        room.rows, room.order, room.head, room.beta, room.norm, count, size, RANK_TOLERANCE)
    room.report[RANK], room.report[QUALITY] = rank, quality
    return rank == count


@kernel
def solve(machine, motion, room, none, passive, weight, external, k):
    """Write coefficient k of forces and multipliers."""
    frames = len(machine.frame_link) if len(external) else 2 * len(machine.closure_kind)
    size, count = len(weight), len(passive)
    forward.extend(machine, motion, k, frames)
    closures.write_rates(machine, motion, k + 1, k + 1.0, room.gamma)
    note_defect(machine, motion, room, k + 1)
    series.press(machine, motion, k)
    if len(external) > 0:
        series.press_bodies(machine, motion, external, k)
    closures.press_closures(machine, motion, k, 1)
    series.gather(machine, motion, k)
    need, x, z = room.y, room.x, room.z
    series.feel(machine, motion, k, need)
    for s in range(count):
        j = passive[room.order[s]]
        z[s] = room.scale[room.order[s]] * (need[j] - motion.effort[j, k])
    orthogonal.solve_transposed(room.rows, count, z)
    for r in range(size):
        x[r] = 0.0
    if k > 0 and size > count:
        closures.write_jacobian(machine, motion, k)
        for r in range(size):
            for h in range(1, k + 1):
                for s in range(count):
                    j = passive[s]
                    x[r] += weight[r] * motion.jacobian[h, r, j] * motion.potential[j, k - h]
        orthogonal.apply_transposed(room.rows, room.head, room.beta, count, size, x)
    for s in range(count):
        x[s], z[s] = z[s], z[s] - x[s]
    orthogonal.apply(room.rows, room.head, room.beta, count, size, x)
    orthogonal.solve(room.rows, count, z)
    for s in range(count):
        motion.potential[passive[room.order[s]], k] = room.scale[room.order[s]] * z[s]
    for r in range(size):
        motion.multiplier[r, k] = weight[r] * x[r]
    for j in range(len(need)):
        motion.effort[j, k] = need[j]
    forward.complete(machine, motion, none, k)
