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
The one entry to constrained dynamics.

All tasks are one kernel, and share what takes long to compile: they differ in what is factored
and in how an order is solved.
"""

import math

from liedyn_ros.dynamics.constrained.kernels import (
    closures, forward, inverse, least_torque, order, solution)
from liedyn_ros.dynamics.constrained.kernels.position import is_open
from liedyn_ros.dynamics.constrained.kernels.series import acceptable
from liedyn_ros.dynamics.constrained.kernels.tables import (
    DEFECT, machine_of, motion_of, RANK, REPORT_WIDTH, room_of, space_of, START)
from liedyn_ros.dynamics.kernels.joints import finite
from liedyn_ros.jit.decorators import kernel

HYBRID, LEAST_FORCE, LEAST_TORQUE = range(3)
DONE, REFUSED = 0, -1
UNMOVED = -2  # the actuators do not determine the motion
OPEN = -3  # the state is not on the constraints


@kernel
def solve(constants, series, by_row, by_column, space, closed, task, free, chosen, weight,
          external, q, v, a, tau, multipliers, wrenches, report):
    """
    Write what a task seeks of a and tau (order + 1, nv), multipliers and wrenches.

    closed is how far a constraint may be open; infinity does not look. free (nv,) is where
    accelerations are sought, for HYBRID; False for LEAST_FORCE, True for LEAST_TORQUE. chosen and
    weight are what inverse.py and least_torque.py say. Wrenches (order + 1, C, 6) act on bodies
    b, in frames b. Returns DONE, REFUSED for numbers that are not
    finite or too large, OPEN for a state off the constraints, or UNMOVED for actuators that do not
    determine the motion. Else returns k + 1 for a coordinate k that moves no inertia by itself.
    """
    machine, motion = machine_of(constants), motion_of(series)
    room, freedom = room_of(by_column if task == LEAST_FORCE else by_row), space_of(space)
    if not (acceptable(machine, q) and finite(v) and finite(a.reshape(-1))
            and finite(tau.reshape(-1)) and finite(external.reshape(-1))):
        return REFUSED
    frames = len(machine.frame_link) if len(external) else machine.moving_frames[0]
    examined = 2 * len(machine.closure_kind) if closed < math.inf else 0
    order.begin(machine, motion, task == HYBRID, free, max(frames, examined), q, v, a, tau)
    if closed < math.inf and is_open(machine, motion, room.gamma, q, v, closed):
        return OPEN
    code = prepare(machine, motion, room, freedom, task, free, chosen, weight)
    if code != DONE:
        return code
    rank, scale = int(room.report[RANK]), 1.0
    if task != HYBRID:
        closures.write_rates(machine, motion, START, 1.0, room.gamma)
        order.note_defect(machine, motion, room, START)
    if task == LEAST_TORQUE:
        for j in chosen:
            motion.effort[j] = 0.0
    for k in range(len(a)):
        need = room.x if task == HYBRID else room.y
        if task == LEAST_TORQUE:
            need = freedom.need[k]
        order.advance(machine, motion, room, external, frames, task != LEAST_TORQUE, k, need)
        if task != HYBRID:
            order.note_defect(machine, motion, room, k + 1)
        if task == HYBRID:
            forward.solve(machine, motion, room, free, rank, k, k + 1 == len(a))
        elif task == LEAST_FORCE:
            inverse.solve(machine, motion, room, free, chosen, weight, k)
        else:
            least_torque.solve(machine, motion, room, freedom, free, chosen, weight, rank, k)
        scale *= max(k, 1)
        if task == LEAST_TORQUE:
            closures.gather_wrenches(machine, motion, k)
        order.write(machine, motion, task == HYBRID, k, scale, a, tau, multipliers, wrenches)
    for k in range(REPORT_WIDTH):
        report[k] = room.report[k]
    good = finite(a.reshape(-1)) and finite(tau.reshape(-1)) and finite(multipliers.reshape(-1))
    return DONE if good else REFUSED


@kernel
def prepare(machine, motion, room, freedom, task, free, chosen, weight):
    """Factor what serves all orders, and return as solve does."""
    room.report[DEFECT] = 0.0
    if task == LEAST_FORCE:
        return DONE if inverse.prepare(motion, room, chosen, weight) else UNMOVED
    code = solution.prepare(machine, motion, room, free, task != HYBRID)
    if code != DONE or task == HYBRID:
        return code
    rank = int(room.report[RANK])
    least_torque.begin(machine, room, freedom, free, rank)
    moved = least_torque.prepare(freedom, chosen, weight, len(free) - rank)
    return DONE if moved else UNMOVED
