# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Accelerations of all coordinates from those of some, by the constraints alone (12.33)."""

from liedyn_ros.dynamics.constrained.kernels import order
from liedyn_ros.dynamics.constrained.kernels.groups import count_groups, rows_of
from liedyn_ros.dynamics.constrained.kernels.position import is_open
from liedyn_ros.dynamics.constrained.kernels.series import is_configuration
from liedyn_ros.dynamics.constrained.kernels.tables import DEFECT, workspace_of
from liedyn_ros.dynamics.constrained.kernels.tolerances import CONSISTENT
from liedyn_ros.dynamics.constrained.solver.kernels import inverse
from liedyn_ros.dynamics.constrained.solver.kernels.solver import (
    DONE, MOTION_UNDETERMINED, OFF_CONSTRAINTS, REFUSED)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.linear_algebra.kernels import orthogonal
from liedyn_ros.model.kernels.configuration import finite

UNSATISFIABLE = -4  # no accelerations of passive coordinates satisfy the constraints


@kernel
def complete_accelerations(
        workspace: VECTOR, passive: INTEGERS, ones: VECTOR, closed: NUMBER, q: VECTOR, v: VECTOR,
        a: MATRIX) -> WHOLE:
    """
    Replace the passive coordinates of a (order + 1, nv) by those that the constraints ask for.

    passive lists them; ones (m,) weights the constraints. closed is the largest residual accepted.
    Returns DONE; REFUSED for numbers that are not finite; OFF_CONSTRAINTS for a state off the
    constraints. MOTION_UNDETERMINED: the other coordinates do not decide these. UNSATISFIABLE:
    they break a loop.
    """
    tables = workspace_of(workspace)
    machine, motion, scratch = tables.machine, tables.motion, tables.by_column
    if not (is_configuration(machine, q) and finite(v) and finite(a)):
        return REFUSED
    frames = 2 * len(machine.closure_kind)
    order.begin_motion(machine, motion, frames, q, v, False)
    if is_open(machine, motion, scratch.gamma, q, v, closed):
        return OFF_CONSTRAINTS
    if not inverse.factor_passive_columns(machine, motion, scratch, passive, ones):
        return MOTION_UNDETERMINED
    scratch.report[DEFECT], scale = 0.0, 1.0
    for k in range(len(a)):
        scale /= k + 1.0
        for j in range(len(v)):
            motion.rate[k + 1, j] = scale * a[k, j]
        follow_rates(machine, motion, scratch, frames, passive, k)
        for j in passive:
            a[k, j] = motion.rate[k + 1, j] / scale
    if not finite(a):
        return REFUSED
    return DONE if scratch.report[DEFECT] <= CONSISTENT else UNSATISFIABLE


@kernel
def follow_rates(machine, motion, scratch, frames, passive, k):
    """Write coefficient k + 1 of the rates of passive coordinates, and note the defect."""
    for j in passive:
        motion.rate[k + 1, j] = 0.0
    order.advance_motion(machine, motion, frames, k, scratch.gamma, False)
    qr = scratch.qr
    for g in range(count_groups(machine)):
        first, end = rows_of(machine, g)
        x = scratch.local[first:end]
        for i in range(len(x)):
            x[i] = -scratch.gamma[machine.row_at[first + i]] / (k + 1.0)
        orthogonal.apply_q_transposed(qr, g, x)
        orthogonal.solve_r(qr, g, x)
        for s in range(qr.count[g]):
            j = qr.order[qr.slot[g] + s]
            motion.rate[k + 1, j] = scratch.scale[j] * x[s]
    order.write_motion(machine, motion, k, scratch.gamma, False)
    order.note_defect(machine, motion, scratch, k + 1)
