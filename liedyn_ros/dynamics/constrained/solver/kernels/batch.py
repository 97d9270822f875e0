# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained dynamics (12.15, 12.16, 12.18, 12.21) of many states, one after the other."""

from liedyn_ros.dynamics.constrained.solver.kernels.solver import DONE, solve_state
from liedyn_ros.jit.decorators import long_kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, NUMBER, VECTOR


@long_kernel
def solve_states(
        workspace: VECTOR, task: VECTOR, closed: NUMBER, external: ARRAY4, q: MATRIX, v: MATRIX,
        a: CUBE, tau: CUBE, multipliers: CUBE, wrenches: ARRAY4, report: MATRIX):
    """
    Run solve_state on each state, in place; external may have no bodies.

    Returns the first state that was refused, their number if none, and the code.
    """
    for s in range(len(q)):
        code = solve_state(workspace, task, closed, external[s], q[s], v[s], a[s], tau[s], a[s],
                           tau[s], multipliers[s], wrenches[s], report[s])
        if code != DONE:
            return s, code
    return len(q), DONE
