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

"""Constrained dynamics of many states, one after the other."""

import math

from liedyn_ros.dynamics.constrained.kernels.position import residual
from liedyn_ros.dynamics.constrained.kernels.solver import DONE, REFUSED, solve
from liedyn_ros.jit.decorators import kernel, long_kernel

OPEN = -3  # the state is not on the constraints


@long_kernel
def solve_batch(constants, series, by_row, by_column, space, turns, f, rows, closed, task, free,
                chosen, weight, external, q, v, a, tau, multipliers, wrenches, report):
    """
    Run solve on each state, external may have no bodies.

    closed is how far a constraint may be open; turns, f and rows are room for those of position.
    Returns the first state that is refused, their number if none, and the code: OPEN, or as solve.
    """
    for s in range(len(q)):
        for c in range(len(turns)):
            turns[c] = math.nan
        if not residual(constants, series, q[s], turns, f, rows):
            return s, REFUSED
        if is_open(f, rows, v[s], closed):
            return s, OPEN
        code = solve(constants, series, by_row, by_column, space, task, free, chosen, weight,
                     external[s], q[s], v[s], a[s], tau[s], multipliers[s], wrenches[s],
                     report[s])
        if code != DONE:
            return s, code
    return len(q), DONE


@kernel
def is_open(f, rows, v, closed):
    """Return whether a position or, beside its size, a velocity breaks the constraints."""
    for r in range(len(f)):
        speed, size = 0.0, 1.0
        for j in range(len(v)):
            speed += rows[r, j] * v[j]
            size += abs(rows[r, j] * v[j])
        if abs(f[r]) > closed or abs(speed) > closed * size:
            return True
    return False
