# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The gradient of weighted residuals of closures by kinematic parameters (13.20).

A residual of a closed loop varies by its row of A on the displacement of frame b against frame a.
That of a rod also varies by its length, that of a screw by its pitch. A v varies as in
reverse.vjp_rows.
"""

from liedyn_ros.dynamics.constrained.kernels import order
from liedyn_ros.dynamics.constrained.kernels.closures import frames_of, links_of, row_wrench
from liedyn_ros.dynamics.constrained.kernels.tables import (
    AXES, axpy6, get3, ORIGIN, START, workspace_of)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels import (
    parameters as loop_parameters, reverse)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    BY_POSE, FIELD)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.products import product_of
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.variation import (
    add_scaled_columns, store_field, ZERO_MOTION)
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    CLOSURE_LENGTH, CLOSURE_PITCH)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, TRUTHS, VECTOR
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.model.kernels.closure_kinds import ALONG_ROD, SCREW


@kernel
def gap_gradient(
        workspace: VECTOR, product: VECTOR, params: loop_parameters.ParameterArrays,
        free: TRUTHS, q: VECTOR, v: VECTOR, rest: MATRIX, no_wrenches: CUBE,
        by_position: VECTOR, by_rate: VECTOR, out: MATRIX):
    """
    Write the gradient of by_position . f + by_rate . A v by all parameters into params.

    The state is closed. free (nv,) is False, rest (1, nv) zero, no_wrenches (0, 1, 6). out (3, nv)
    is overwritten.
    """
    tables = workspace_of(workspace)
    machine, motion, scratch = tables.machine, tables.motion, tables.by_row
    table, frames = product_of(product).variations, 2 * len(machine.closure_kind)
    nothing = rest[0]
    order.begin_state(machine, motion, False, free, frames, q, v, rest, rest)
    order.advance_order(machine, motion, scratch, no_wrenches, frames, False, 0, scratch.x, True)
    reverse.clear_weights(machine, table, params)
    reverse.vjp_rows(machine, motion, table, params, v, by_rate)
    for c in range(len(machine.closure_kind)):
        vjp_residuals(machine, motion, table, params, c, by_position)
    store_field(machine, motion, table, nothing)
    reverse.vjp_motion(machine, motion, table, params, nothing, out[0], out[1], out[2])
    loop_parameters.write_parameter_gradient(machine, motion, table, FIELD, params, 1.0, nothing,
                                             frames)


@kernel
def vjp_residuals(machine, motion, table, params, c, weights):
    """Add the weights of displacements, pitch and length in the residuals of closure c."""
    (a, b), (frame_a, frame_b), wrench = links_of(machine, c), frames_of(machine, c), ZERO_MOTION
    for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
        wrench = axpy6(weights[r], row_wrench(machine, motion, c, r, START), wrench)
        if machine.row_kind[r] == SCREW:  # z - pitch angle = 0
            apart = vec3.sub(get3(motion.frame, frame_b, START, ORIGIN),
                             get3(motion.frame, frame_a, START, ORIGIN))
            z = vec3.dot(apart, get3(motion.frame, frame_b, START, AXES + 6))
            params.closures[c, CLOSURE_PITCH] -= weights[r] * z / machine.closure_size[c, 0]
        elif machine.row_kind[r] == ALONG_ROD:
            params.closures[c, CLOSURE_LENGTH] -= weights[r]
    for i, f, sign in ((a, frame_a, -1.0), (b, frame_b, 1.0)):
        add_scaled_columns(table, i, BY_POSE, sign, wrench)
        add_scaled_columns(params.frames, f, 0, sign, wrench)
