# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Independent coordinates of a machine with loops: their motions (12.20), M and bias (12.22)."""

import math

from liedyn_ros.dynamics.algorithms.kernels import crba, rnea
from liedyn_ros.dynamics.constrained.kernels import order
from liedyn_ros.dynamics.constrained.kernels.groups import count_groups, rows_of
from liedyn_ros.dynamics.constrained.kernels.position import is_open
from liedyn_ros.dynamics.constrained.kernels.series import is_configuration
from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.dynamics.constrained.kernels.tolerances import OFF_LOOP
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.constraint_rates import (
    constraint_series)
from liedyn_ros.dynamics.constrained.solver.kernels import inverse
from liedyn_ros.dynamics.constrained.solver.kernels.solver import (
    DONE, MOTION_UNDETERMINED, OFF_CONSTRAINTS, REFUSED)
from liedyn_ros.dynamics.constrained.tracking.kernels.completion import UNSATISFIABLE
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, NUMBER, TRUTH, VECTOR, WHOLE
from liedyn_ros.linear_algebra.kernels import orthogonal
from liedyn_ros.model.kernels.configuration import finite

SMALLEST_ROW = 1e-9  # of what a coordinate moves a loop by: shorter ones are rounding errors


@kernel
def independent_motions(
        workspace: VECTOR, passive: INTEGERS, ones: VECTOR, closed: NUMBER, q: VECTOR, v: VECTOR,
        along: MATRIX, rows: CUBE, motions: MATRIX, rate: MATRIX) -> WHOLE:
    """
    Write N and N' (nv, nv): a column for each coordinate that is not passive, zero elsewhere.

    along (2, nv) and rows (2, m, nv) are scratch buffers: v with its rate zero, and A with A'.
    The other arguments and codes are those of complete_accelerations; UNSATISFIABLE: the others
    move only with each other.
    """
    tables = workspace_of(workspace)
    machine, motion, scratch = tables.machine, tables.motion, tables.by_column
    if not (is_configuration(machine, q) and finite(v)):
        return REFUSED
    order.begin_motion(machine, motion, 2 * len(machine.closure_kind), q, v, False)
    if is_open(machine, motion, scratch.gamma, q, v, closed):
        return OFF_CONSTRAINTS
    for j in range(len(v)):
        along[0, j], along[1, j] = v[j], 0.0
    rows[:] = 0.0  # A' of couplings, which the series leaves
    constraint_series(workspace, q, along, rows)
    if not inverse.factor_passive_columns(machine, motion, scratch, passive, ones):
        return MOTION_UNDETERMINED
    motions[:], rate[:] = 0.0, 0.0
    for j in range(len(v)):
        motions[j, j] = 1.0
    for i in passive:
        motions[i, i] = 0.0
    for k in range(2):
        for j in range(len(v)):
            if motions[j, j] == 0.0:  # a passive one
                continue
            out = motions if k == 0 else rate
            if write_column(machine, scratch, rows[k], motions, j, out) > OFF_LOOP and k == 0:
                return UNSATISFIABLE
    return DONE if finite(motions) and finite(rate) else REFUSED


@kernel
def write_column(machine, scratch, rows, motions, j, out):
    """Write the passive part x of column j: A x + rows N_j = 0; return the part that is left."""
    qr, n, most = scratch.qr, len(motions), 0.0
    for g in range(count_groups(machine)):
        first, end = rows_of(machine, g)
        x, whole, left = scratch.local[first:end], 0.0, 0.0
        for i in range(len(x)):
            x[i] = 0.0
            for c in range(n):
                x[i] -= rows[machine.row_at[first + i], c] * motions[c, j]
            whole += x[i] * x[i]
        orthogonal.apply_q_transposed(qr, g, x)
        for i in range(qr.count[g], len(x)):
            left += x[i] * x[i]
        if whole > SMALLEST_ROW * SMALLEST_ROW:
            most = max(most, math.sqrt(left / whole))
        orthogonal.solve_r(qr, g, x)
        for s in range(qr.count[g]):
            i = qr.order[qr.slot[g] + s]
            out[i, j] = scratch.scale[i] * x[s]
    return most


@kernel
def reduce_mass(model: MATRIX, data: MATRIX, q: VECTOR, motions: MATRIX, whole: MATRIX,
                product: MATRIX, mass: MATRIX) -> TRUTH:
    """Write M, M N and N^T M N, each (nv, nv), of motions N; return whether all is well."""
    if not crba.crba(model, data, q, whole):
        return False
    n = len(whole)
    for i in range(n):
        for j in range(n):
            product[i, j] = 0.0
            for k in range(n):
                product[i, j] += whole[i, k] * motions[k, j]
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += motions[k, i] * product[k, j]
            mass[i, j], mass[j, i] = total, total
    return finite(mass)


@kernel
def reduce_bias(model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, external: MATRIX,
                motions: MATRIX, rate: MATRIX, along: MATRIX, bias: VECTOR) -> TRUTH:
    """
    Write N^T (M N' v + h) (nv,), v being the rates of all coordinates; return whether all is well.

    along (2, nv) is a scratch buffer: N' v, and the forces of all coordinates.
    """
    n = len(v)
    for i in range(n):
        along[0, i] = 0.0
        for j in range(n):  # the rates of independent coordinates are their own v
            along[0, i] += rate[i, j] * v[j]
    if not rnea.rnea(model, data, q, v, along[0], external, along[1]):
        return False
    for i in range(n):
        bias[i] = 0.0
        for j in range(n):
            bias[i] += motions[j, i] * along[1, j]
    return finite(bias)
