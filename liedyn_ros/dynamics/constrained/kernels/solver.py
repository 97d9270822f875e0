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

"""The one entry to constrained dynamics: all tasks share what takes long to compile."""

from liedyn_ros.dynamics.constrained.kernels import forward, inverse, least_torque, series
from liedyn_ros.dynamics.constrained.kernels.tables import (
    machine_of, motion_of, REPORT_WIDTH, room_of, space_of)
from liedyn_ros.dynamics.kernels import joints
from liedyn_ros.jit.decorators import kernel

HYBRID, LEAST_FORCE, LEAST_TORQUE = range(3)
DONE, REFUSED, UNMOVED = 0, -1, inverse.UNMOVED


@kernel
def solve(ints, floats, motions, by_row, by_column, orders, space, task, free, chosen, weight,
          external, q, v, a, tau, multipliers, wrenches, report):
    """
    Write what a task seeks of a and tau (order + 1, nv), multipliers and wrenches.

    chosen and weight are what inverse.py and least_torque.py say. Returns DONE, REFUSED for
    numbers that are not finite or too large, UNMOVED for actuators that do not decide the motion,
    or k + 1 for a coordinate k that moves no inertia of its own.
    """
    machine, motion = machine_of(ints, floats), motion_of(ints, motions)
    if not (series.acceptable(machine, q) and joints.finite(v)
            and joints.finite(a.reshape(-1)) and joints.finite(tau.reshape(-1))):
        return REFUSED
    if task == LEAST_FORCE:
        room = room_of(ints, by_column, orders, False)
        code = inverse.least_force(machine, motion, room, free, chosen, weight, external, q, v,
                                   a, tau, multipliers, wrenches)
    else:
        room = room_of(ints, by_row, orders, True)
        if task == LEAST_TORQUE:
            freedom = space_of(ints, space, orders[len(orders) // 2:])
            code = least_torque.least_torque(machine, motion, room, freedom, free, chosen, weight,
                                             external, q, v, a, tau, multipliers, wrenches)
        else:
            code = forward.hybrid(machine, motion, room, free, external, q, v, a, tau,
                                  multipliers, wrenches)
    for k in range(REPORT_WIDTH):
        report[k] = room.report[k]
    if code != DONE:
        return code
    good = joints.finite(a.reshape(-1)) and joints.finite(tau.reshape(-1))
    return DONE if good and joints.finite(multipliers.reshape(-1)) else REFUSED
