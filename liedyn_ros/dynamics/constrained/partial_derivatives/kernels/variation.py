# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How motion and forces of a tree with closures vary, and in reverse, O(n) (13.8), (13.20).

All is spatial, in the inertial frame of the constrained kernels, on what they have left in motion.
A variation in the frame of a link is the spatial one less the bracket with the displacement.

The reverse of variation: gradients of weighted sums of forces and constraints by q, v, a, O(n).
Each pass of variation is transposed, from the leaves to the ground, on the weights of its results
(13.22), (13.20).
"""

from liedyn_ros.dynamics.constrained.kernels.closures import links_of, row_wrench
from liedyn_ros.dynamics.constrained.kernels.series import elastic_rate
from liedyn_ros.dynamics.constrained.kernels.tables import (
    axpy6, dot6, FIRST_MOMENT, get3, get6, ROTATIONAL_INERTIA, START)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    BY_ACCELERATION, BY_FIELD, BY_POSE, BY_TWIST, D_ACCELERATION, D_FIELD, D_POSE, D_TWIST,
    D_WRENCH, FIELD, row_jet, vjp_row)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.parameters import (
    displace_link, link_translation, pitch_change, vjp_link, wrench_change)
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import change
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    load_pair, store_pair)
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    add_dissipation_changes, GRAVITY_COLUMN, LINK_PITCH)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.tables import add3
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import se3, vec3

ZERO_MOTION = (vec3.ZERO, vec3.ZERO)


@kernel
def vary_equations(machine, motion, table, params, xq, xv, xa, gamma, tau):
    """
    Write D(ID - A^T lam) (nv,) and D(A a + A' v) (m,), the multipliers as they are.

    xa is the whole change of the accelerations, params the changes of parameters, or None.
    """
    vary_all_motion(machine, motion, table, params, xq, xv, xa)
    vary_closures(machine, motion, table, params, gamma)
    first = len(machine.row_kind)
    for r in range(len(machine.coupling)):
        gamma[first + r] = 0.0
        for j in range(len(xa)):
            gamma[first + r] += machine.coupling[r, j] * xa[j]
    for i in range(len(machine.kind) - 1, -1, -1):
        wrench, eta = load_pair(table, i, D_WRENCH), relative_columns(table, machine.parent[i], i,
                                                                      D_POSE)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            screw = get6(motion.screw, j, START)
            tau[j] = dot6(screw, wrench) + machine.damping[j] * xv[j]
            tau[j] += elastic_rate(machine, motion, j) * xq[j] + machine.armature[j] * xa[j]
        if params is not None:
            tau[machine.vi[i]] += dot6(pitch_change(motion, params, i), get6(
                motion.wrench, i, START))
        turned = dual(eta, get6(motion.wrench, i, START))
        add_scaled_columns(table, machine.parent[i], D_WRENCH, 1.0, axpy6(-1.0, turned, wrench))
    if params is not None:
        n = len(xa)
        add_dissipation_changes(motion.rate[0, :n], motion.rate[1, :n], params.dissipation,
                                params.of_coordinates,
                                tau)


@kernel
def vary_all_motion(machine, motion, table, params, xq, xv, xa):
    """Write displacement and changes of twist, acceleration and own wrench of all links."""
    count, gravity = len(machine.kind), get_gravity(machine)
    for at in (D_POSE, D_TWIST, D_ACCELERATION, D_WRENCH):
        store_pair(table, count, at, vec3.ZERO, vec3.ZERO)
    for i in range(count):
        parent = machine.parent[i]
        moved, rate, push = load_pair(table, parent, D_POSE), ZERO_MOTION, ZERO_MOTION
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            screw = get6(motion.screw, j, START)
            moved, rate, push = (axpy6(xq[j], screw, moved), axpy6(xv[j], screw, rate),
                                 axpy6(xa[j], screw, push))
        if params is not None:
            moved, rate, push = displace_link(machine, motion, params, i, moved, rate, push)
        V, A = get6(motion.twist, i, START), get6(motion.twist, i, START + 1)
        before = get6(motion.twist, parent, START)
        rates, pushes = joint_motion(motion, i, parent)
        dV0 = load_pair(table, parent, D_TWIST)
        dV = axpy6(1.0, twist_bracket(moved, rates), axpy6(1.0, dV0, rate))
        dA = axpy6(1.0, twist_bracket(moved, pushes), axpy6(
            1.0, load_pair(table, parent, D_ACCELERATION), push))
        dA = axpy6(-1.0, twist_bracket(dV, before), axpy6(-1.0, twist_bracket(V, dV0), dA))
        store_pair(table, i, D_POSE, moved[0], moved[1])
        store_pair(table, i, D_TWIST, dV[0], dV[1])
        store_pair(table, i, D_ACCELERATION, dA[0], dA[1])
        dV = axpy6(-1.0, twist_bracket(moved, V), dV)  # as seen by the link
        dA = axpy6(-1.0, twist_bracket(moved, axpy6(-1.0, gravity, A)), dA)
        dA = axpy6(1.0, twist_bracket(V, dV), dA)
        body = body_of(machine, motion, i)
        wrench = change.wrench(body, V[0], V[1], dA[0], dA[1], dV[0])  # (13.9)
        if params is not None:
            wrench = axpy6(1.0, wrench_change(motion, params, i, body), wrench)
        store_pair(table, i, D_WRENCH, wrench[0], wrench[1])


@kernel
def vary_closures(machine, motion, table, params, gamma):
    """Write D(A a + A' v) of closures, and add to links how the closures' wrenches vary."""
    for c in range(len(machine.closure_kind)):
        a, b = links_of(machine, c)
        V = relative_motion(motion.twist, a, b, START)
        A = relative_motion(motion.twist, a, b, START + 1)
        dV, dA = relative_columns(table, a, b, D_TWIST), relative_columns(table, a, b,
                                                                          D_ACCELERATION)
        wrench, varied = ZERO_MOTION, ZERO_MOTION
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            m, f = row_jet(machine, motion, table, params, c, machine.row_kind[r])
            gamma[r] = (dot6((m[2], f[2]), A) + dot6((m[0], f[0]), dA)
                        + dot6((m[3], f[3]), V) + dot6((m[1], f[1]), dV))
            wrench = axpy6(motion.multiplier[START, r], (m[0], f[0]), wrench)
            varied = axpy6(motion.multiplier[START, r], (m[2], f[2]), varied)
        for i, sign in ((a, 1.0), (b, -1.0)):
            turned = dual(load_pair(table, i, D_POSE), wrench)
            add_scaled_columns(table, i, D_WRENCH, sign, axpy6(1.0, turned, varied))


@kernel
def vary_rows(machine, motion, table, params, rates, out):
    """Write D(A rates) (m,), the rates being constant, after vary_motion."""
    count = len(machine.kind)
    store_field(machine, motion, table, rates)
    store_pair(table, count, D_FIELD, vec3.ZERO, vec3.ZERO)
    for i in range(count):
        parent = machine.parent[i]
        own = relative_columns(table, parent, i, FIELD)
        varied = axpy6(1.0, twist_bracket(load_pair(table, i, D_POSE), own),
                       load_pair(table, parent, D_FIELD))
        if params is not None:
            varied = axpy6(rates[machine.vi[i]], pitch_change(motion, params, i), varied)
        store_pair(table, i, D_FIELD, varied[0], varied[1])
    for c in range(len(machine.closure_kind)):
        a, b = links_of(machine, c)
        field = relative_columns(table, a, b, FIELD)
        varied = relative_columns(table, a, b, D_FIELD)
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            m, f = row_jet(machine, motion, table, params, c, machine.row_kind[r])
            out[r] = dot6((m[2], f[2]), field) + dot6((m[0], f[0]), varied)
    for r in range(len(machine.row_kind), len(out)):  # those of couplings are constant
        out[r] = 0.0


@kernel
def add_force_response(machine, motion, table, a, multipliers, tau):
    """Add M a - A^T lam to tau (nv,)."""
    count = len(machine.kind)
    store_field(machine, motion, table, a)
    store_pair(table, count, D_WRENCH, vec3.ZERO, vec3.ZERO)
    for i in range(count):
        body, (w, u) = body_of(machine, motion, i), load_pair(table, i, FIELD)
        store_pair(table, i, D_WRENCH, *rigid.apply(body, w, u))
    for c in range(len(machine.closure_kind)):
        wrench = ZERO_MOTION
        for r in range(machine.closure_row[c], machine.closure_row[c + 1]):
            wrench = axpy6(multipliers[r], row_wrench(machine, motion, c, r, START), wrench)
        before, after = links_of(machine, c)
        add_scaled_columns(table, before, D_WRENCH, 1.0, wrench)
        add_scaled_columns(table, after, D_WRENCH, -1.0, wrench)
    for i in range(count - 1, -1, -1):
        wrench = load_pair(table, i, D_WRENCH)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            tau[j] += dot6(get6(motion.screw, j, START), wrench) + machine.armature[j] * a[j]
        add_scaled_columns(table, machine.parent[i], D_WRENCH, 1.0, wrench)
    first = len(machine.row_kind)
    for r in range(len(machine.coupling)):
        for j in range(len(tau)):
            tau[j] -= machine.coupling[r, j] * multipliers[first + r]


@kernel
def store_field(machine, motion, table, rates):
    """Write the twist of each link at some rates (nv,)."""
    store_pair(table, len(machine.kind), FIELD, vec3.ZERO, vec3.ZERO)
    for i in range(len(machine.kind)):
        twist = load_pair(table, machine.parent[i], FIELD)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            twist = axpy6(rates[j], get6(motion.screw, j, START), twist)
        store_pair(table, i, FIELD, twist[0], twist[1])


@kernel
def joint_motion(motion, i, parent):
    """Return S v and S a of the joint of link i."""
    V, V0 = get6(motion.twist, i, START), get6(motion.twist, parent, START)
    A, A0 = get6(motion.twist, i, START + 1), get6(motion.twist, parent, START + 1)
    return axpy6(-1.0, V0, V), axpy6(1.0, twist_bracket(V, V0), axpy6(-1.0, A0, A))


@kernel
def body_of(machine, motion, i):
    """Return the inertia of link i in the inertial frame."""
    at = machine.heavy[i]
    h = get3(motion.moments, at, START, FIRST_MOMENT)
    a = get3(motion.moments, at, START, ROTATIONAL_INERTIA)
    b = get3(motion.moments, at, START, ROTATIONAL_INERTIA + 3)
    return machine.inertia[i, 0], h, (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def get_gravity(machine):
    """Return the acceleration of gravity as a twist."""
    return vec3.ZERO, (machine.gravity[0], machine.gravity[1], machine.gravity[2])


@kernel
def relative_motion(table, a, b, k):
    """Return coefficient k of the motion of link b against link a."""
    return axpy6(-1.0, get6(table, a, k), get6(table, b, k))


@kernel
def relative_columns(table, a, b, at):
    """Return the columns of link b less the columns of link a."""
    return axpy6(-1.0, load_pair(table, a, at), load_pair(table, b, at))


@kernel
def twist_bracket(x, y):
    """Return [x, y] of twists."""
    return se3.ad(x[0], x[1], y[0], y[1])


@kernel
def dual(x, y):
    """Return ad_x^T y of a twist and a wrench."""
    return se3.ad_dual(x[0], x[1], y[0], y[1])


@kernel
def add_scaled_columns(table, i, at, s, x):
    """Add s x to six columns of row i."""
    add3(table, i, at, vec3.scale(s, x[0]))
    add3(table, i, at + 3, vec3.scale(s, x[1]))


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
