# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""How far coordinates can move closures, whatever the direction in which these hold (12.59)."""

import math

from liedyn_ros.dynamics.constrained.kernels import series
from liedyn_ros.dynamics.constrained.kernels.tables import get3, get6, ORIGIN, START, workspace_of
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.model.kernels.closure_kinds import FORCE_X, MOMENT_CROSS, SCREW


@kernel
def write_constraint_sizes(workspace, q, sizes):
    """
    Write the most that each coordinate at unit rate can change each constraint, sizes (m, nv).

    Returns whether the configuration is acceptable.
    """
    tables = workspace_of(workspace)
    machine, motion = tables.machine, tables.motion
    if not series.is_configuration(machine, q):
        return False
    series.write_configuration(machine, motion, q, 2 * len(machine.closure_kind))
    sizes[:] = 0.0
    for c in range(len(machine.closure_kind)):
        origin = get3(motion.frame, c, START, ORIGIN)
        for at in range(machine.path_start[c], machine.path_start[c + 1]):
            j = machine.path[at]
            w, v = get6(motion.screw, j, START)
            v = vec3.add(v, vec3.cross(w, origin))
            turned, moved = math.sqrt(vec3.dot(w, w)), math.sqrt(vec3.dot(v, v))
            for row in range(machine.closure_row[c], machine.closure_row[c + 1]):
                kind, size = machine.row_kind[row], moved
                if kind < FORCE_X or kind == MOMENT_CROSS:
                    size = turned
                elif kind == SCREW:
                    size += abs(machine.closure_size[c, 0]) * turned
                sizes[row, j] = size
    first = len(machine.row_kind)
    for r in range(len(machine.coupling)):
        for j in range(len(machine.link)):
            sizes[first + r, j] = abs(machine.coupling[r, j])
    return True
