# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained forward and hybrid dynamics at one order (12.15), (12.16)."""

from liedyn_ros.dynamics.constrained.kernels import closures, order
from liedyn_ros.dynamics.constrained.solver.kernels import solution
from liedyn_ros.jit.decorators import kernel


@kernel
def solve_forward(machine, motion, scratch, free, rank, k, last):
    """
    Write coefficient k of accelerations, forces and multipliers.

    scratch.x holds the forces that the motion needs without them. last says that no order follows.
    """
    x, effort, rate, scale = scratch.x, motion.effort[k], motion.rate[k + 1], 1.0 / (k + 1.0)
    for j in range(len(x)):  # without branches
        need, given = x[j], effort[j]
        x[j], effort[j] = given - need if free[j] else need, given if free[j] else need
    solution.solve_constraints(machine, scratch, free, x, scratch.gamma, motion.multiplier[k])
    for j in range(len(x)):
        rate[j] = scale * x[j] if free[j] else rate[j]
    if rank < len(scratch.gamma):
        if k > 0:
            closures.write_jacobian(machine, motion, k)
        solution.take_least_norm(machine, motion, scratch, free, k)
    if not (last and all_set(free)):
        order.complete_order(machine, motion, free, k, last and k == 0)


@kernel
def all_set(free):
    """Return whether all coordinates are free: then the last order is not completed."""
    for j in range(len(free)):
        if not free[j]:
            return False
    return True
