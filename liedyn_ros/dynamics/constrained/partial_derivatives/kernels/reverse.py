# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The reverse of variation: gradients of weighted sums of forces and constraints by q, v, a, O(n).

Each pass of variation is transposed, from the leaves to the ground, on the weights of its results
(13.22), (13.20).
"""

from liedyn_ros.dynamics.constrained.kernels.closures import links_of, row_wrench
from liedyn_ros.dynamics.constrained.kernels.series import elastic_rate
from liedyn_ros.dynamics.constrained.kernels.tables import axpy6, dot6, get6, START
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    BY_ACCELERATION, BY_FIELD, BY_POSE, BY_TWIST, FIELD, vjp_row)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.parameters import (
    link_translation, vjp_link)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.variation import (
    add_scaled_columns, body_of, dual, get_gravity, joint_motion, relative_columns,
    relative_motion, store_field, ZERO_MOTION)
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import change
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    load_pair, store_pair)
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import GRAVITY_COLUMN, LINK_PITCH
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.tables import add3
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import vec3


@kernel
def clear_weights(machine, table, params):
    """Set all weights to zero."""
    if params is not None:
        params.parts[:] = 0.0
        params.frames[:] = 0.0
        params.closures[:] = 0.0
    for i in range(len(machine.kind) + 1):
        for at in (BY_POSE, BY_TWIST, BY_ACCELERATION):
            store_pair(table, i, at, vec3.ZERO, vec3.ZERO)


@kernel
def vjp_rows(machine, motion, table, params, rates, weights):
    """Add the weights that weights . A rates has, the rates being constant: undoes vary_rows."""
    count = len(machine.kind)
    store_field(machine, motion, table, rates)
    for i in range(count + 1):
        store_pair(table, i, BY_FIELD, vec3.ZERO, vec3.ZERO)
    for c in range(len(machine.closure_kind)):
        a, b = links_of(machine, c)
        field, wrench = relative_columns(table, a, b, FIELD), ZERO_MOTION
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            wrench = axpy6(weights[r], row_wrench(machine, motion, c, r, START), wrench)
            vjp_row(machine, motion, table, params, c, r, axpy6(weights[r], field, ZERO_MOTION),
                    ZERO_MOTION)
        add_scaled_columns(table, b, BY_FIELD, 1.0, wrench)
        add_scaled_columns(table, a, BY_FIELD, -1.0, wrench)
    for i in range(count - 1, -1, -1):
        parent, weight = machine.parent[i], load_pair(table, i, BY_FIELD)
        add_scaled_columns(
            table, i, BY_POSE, -1.0, dual(relative_columns(table, parent, i, FIELD), weight))
        add_scaled_columns(table, parent, BY_FIELD, 1.0, weight)
        if params is not None:
            params.parts[i + 1, LINK_PITCH] += rates[machine.vi[i]] * dot6(
                link_translation(motion, i), weight)


@kernel
def vjp_equations(machine, motion, table, params, weights, by_rows):
    """
    Add the weights that weights . (ID - A^T lam) + by_rows . (A a + A' v) has: undoes vary.

    The multipliers lam are constant.
    """
    gravity = get_gravity(machine)
    store_field(machine, motion, table, weights)
    for i in range(len(machine.kind)):
        y, body = load_pair(table, i, FIELD), body_of(machine, motion, i)
        V, A = get6(motion.twist, i, START), get6(motion.twist, i, START + 1)
        by_acceleration = rigid.apply(body, y[0], y[1])
        by_twist = change.times_t(body, *V, *y, by_acceleration[1]), vec3.ZERO
        by_twist = axpy6(1.0, by_twist, dual(V, by_acceleration))
        add_scaled_columns(table, i, BY_ACCELERATION, 1.0, by_acceleration)
        add_scaled_columns(table, i, BY_TWIST, 1.0, by_twist)
        if params is not None:
            add3(params.parts, 0, GRAVITY_COLUMN, vec3.neg(by_acceleration[1]))
        add_scaled_columns(table, i, BY_POSE, 1.0, axpy6(1.0, dual(V, by_twist), dual(
            axpy6(-1.0, gravity, A), by_acceleration)))
    for c in range(len(machine.closure_kind)):
        a, b = links_of(machine, c)
        V = relative_motion(motion.twist, a, b, START)
        A = relative_motion(motion.twist, a, b, START + 1)
        field, force, wrench, rate = relative_columns(table, a, b,
                                                      FIELD), ZERO_MOTION, ZERO_MOTION, ZERO_MOTION
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            row = row_wrench(machine, motion, c, r, START)
            force = axpy6(motion.multiplier[START, r], row, force)
            wrench = axpy6(by_rows[r], row, wrench)
            rate = axpy6(by_rows[r], row_wrench(machine, motion, c, r, START + 1), rate)
            by_row = axpy6(by_rows[r], A, axpy6(-motion.multiplier[START, r], field, ZERO_MOTION))
            vjp_row(machine, motion, table, params, c, r, by_row,
                    axpy6(by_rows[r], V, ZERO_MOTION))
        for i, sign in ((a, -1.0), (b, 1.0)):
            add_scaled_columns(table, i, BY_POSE, sign, dual(load_pair(table, i, FIELD), force))
            add_scaled_columns(table, i, BY_TWIST, sign, rate)
            add_scaled_columns(table, i, BY_ACCELERATION, sign, wrench)


@kernel
def vjp_motion(machine, motion, table, params, weights, by_q, by_v, by_a):
    """
    Write the gradients of all weights by q, v and a (nv,) each: undoes vary_motion.

    weights are those of forces, as of vjp_equations, whose twists FIELD of the table still holds.
    """
    for i in range(len(machine.kind) - 1, -1, -1):
        parent, wrench = machine.parent[i], get6(motion.wrench, i, START)
        V, V0 = get6(motion.twist, i, START), get6(motion.twist, parent, START)
        rates, pushes = joint_motion(motion, i, parent)
        by_acceleration = load_pair(table, i, BY_ACCELERATION)
        by_twist = axpy6(1.0, dual(V0, by_acceleration), load_pair(table, i, BY_TWIST))
        by_moved = axpy6(-1.0, dual(rates, by_twist), load_pair(table, i, BY_POSE))
        by_moved = axpy6(-1.0, dual(pushes, by_acceleration), by_moved)
        turned = dual(load_pair(table, parent, FIELD), wrench)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            screw = get6(motion.screw, j, START)
            by_q[j] = dot6(screw, axpy6(1.0, by_moved, turned)) + elastic_rate(
                machine, motion, j) * weights[j]
            by_v[j] = dot6(screw, by_twist) + machine.damping[j] * weights[j]
            by_a[j] = dot6(screw, by_acceleration) + machine.armature[j] * weights[j]
        if params is not None:
            vjp_link(machine, motion, params, i, axpy6(1.0, by_moved, turned), by_twist,
                     by_acceleration, weights)
        add_scaled_columns(table, parent, BY_POSE, 1.0, by_moved)
        add_scaled_columns(
            table, parent, BY_TWIST, 1.0, axpy6(-1.0, dual(V, by_acceleration), by_twist))
        add_scaled_columns(table, parent, BY_ACCELERATION, 1.0, by_acceleration)
