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

"""Constrained forward and hybrid dynamics, order after order (12.15), (12.16)."""

from liedyn_ros.dynamics.constrained.kernels import closures, series, solution
from liedyn_ros.dynamics.constrained.kernels.tables import add3, get3, RANK
from liedyn_ros.dynamics.kernels import joints
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import vec3


@kernel
def hybrid(machine, motion, room, free, external, q, v, a, tau, multipliers, wrenches):
    """
    Write accelerations and joint forces (order + 1, nv) that are not given, and multipliers.

    Wrenches (order + 1, C, 6) act on bodies b, in frames b. Returns DONE, or k + 1 for a
    coordinate k that moves no inertia of its own.
    """
    begin(machine, motion, q, v)
    scale = 1.0
    for k in range(len(a)):
        for j in range(len(v)):
            motion.rate[j, k + 1] = 0.0 if free[j] else scale / (k + 1.0) * a[k, j]
            motion.effort[j, k] = scale * tau[k, j] if free[j] else 0.0
        scale /= k + 1.0
    code = solution.prepare(machine, motion, room, free)
    if code != 0:
        return code
    rank, scale = int(room.report[RANK]), 1.0
    for k in range(len(a)):
        solve(machine, motion, room, free, external, rank, k)
        scale *= max(k, 1)
        for j in range(len(v)):
            a[k, j] = scale * (k + 1.0) * motion.rate[j, k + 1]
        write(machine, motion, k, scale, tau, multipliers, wrenches)
    return 0


@kernel
def begin(machine, motion, q, v):
    """Write what a state decides."""
    series.begin(machine, motion, q)
    for j in range(len(v)):
        motion.rate[j, 0] = v[j]
    closures.write_rows(machine, motion, 0)
    closures.write_jacobian(machine, motion, 0)
    series.move(machine, motion, 0)


@kernel
def write(machine, motion, k, scale, tau, multipliers, wrenches):
    """Write order k of forces, multipliers and wrenches."""
    for j in range(len(machine.link)):
        tau[k, j] = scale * motion.effort[j, k]
    for r in range(multipliers.shape[1]):
        multipliers[k, r] = scale * motion.multiplier[r, k]
    closures.write_wrenches(machine, motion, k, scale, wrenches[k])


@kernel
def solve(machine, motion, room, free, external, rank, k):
    """Write coefficient k of accelerations, forces and multipliers."""
    frames = len(machine.frame_link) if len(external) else 2 * len(machine.closure_kind)
    extend(machine, motion, k, frames)
    series.press(machine, motion, k)
    if len(external) > 0:
        series.press_bodies(machine, motion, external, k)
    closures.press_closures(machine, motion, k, 1)  # lam_k = 0 (12.14)
    series.gather(machine, motion, k)
    x = room.x
    series.feel(machine, motion, k, x)
    for j in range(len(x)):
        if free[j]:
            x[j] = motion.effort[j, k] - x[j]
        else:
            motion.effort[j, k] = x[j]
    closures.write_rates(machine, motion, k + 1, k + 1.0, room.gamma)
    solution.respond(machine, room, free, rank, x, room.gamma, motion.multiplier[:, k])
    for j in range(len(x)):
        if free[j]:
            motion.rate[j, k + 1] = x[j] / (k + 1.0)
    if rank < len(room.rows):
        if k > 0:
            closures.write_jacobian(machine, motion, k)
        solution.settle(machine, motion, room, free, rank, k)
    complete(machine, motion, free, k)


@kernel
def extend(machine, motion, k, frames):
    """Write coefficient k + 1 of motion and rows, from twists to order k."""
    series.grow(machine, motion, k, frames)
    closures.write_rows(machine, motion, k + 1)
    series.move(machine, motion, k + 1)


@kernel
def complete(machine, motion, free, k):
    """Add to twists, wrenches and forces what the solution of order k adds."""
    count, change, scale = len(machine.kind), motion.change, k + 1.0
    for c in range(12):
        change[count, c] = 0.0
    for i in range(count):
        parent = machine.parent[i]
        w = (change[parent, 0], change[parent, 1], change[parent, 2])
        v = (change[parent, 3], change[parent, 4], change[parent, 5])
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            if free[j]:
                rate = motion.rate[j, k + 1]
                w = vec3.axpy(rate, get3(motion.screw, j, 0, 0), w)
                v = vec3.axpy(rate, get3(motion.screw, j, 0, 3), v)
        add3(motion.twist, i, k + 1, 0, 1.0, w)
        add3(motion.twist, i, k + 1, 3, 1.0, v)
        m, f = series.inertia_times(motion, i, 0, w, v)
        f = vec3.axpy(machine.inertia[i, 0], v, f)
        for c in range(3):
            change[i, c], change[i, 3 + c] = w[c], v[c]
            change[i, 6 + c], change[i, 9 + c] = scale * m[c], scale * f[c]
    for c in range(len(machine.closure_kind)):
        m, f = vec3.ZERO, vec3.ZERO
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            m = vec3.axpy(motion.multiplier[r, k], get3(motion.row, r, 0, 0), m)
            f = vec3.axpy(motion.multiplier[r, k], get3(motion.row, r, 0, 3), f)
        a, b = machine.frame_link[2 * c], machine.frame_link[2 * c + 1]
        for n in range(3):
            change[b, 6 + n] -= m[n]
            change[b, 9 + n] -= f[n]
            change[a, 6 + n] += m[n]
            change[a, 9 + n] += f[n]
    for i in range(count - 1, -1, -1):
        parent = machine.parent[i]
        for c in range(6):
            motion.wrench[i, k, c] += change[i, 6 + c]
            change[parent, 6 + c] += change[i, 6 + c]
    first = len(machine.row_kind)
    for j in range(len(free)):
        if not free[j]:
            i = machine.link[j]
            m, f = (change[i, 6], change[i, 7], change[i, 8]), (
                change[i, 9], change[i, 10], change[i, 11])
            total = vec3.dot(get3(motion.screw, j, 0, 0), m) + vec3.dot(
                get3(motion.screw, j, 0, 3), f)
            for r in range(len(machine.coupling)):
                total -= machine.coupling[r, j] * motion.multiplier[first + r, k]
            motion.effort[j, k] += total
