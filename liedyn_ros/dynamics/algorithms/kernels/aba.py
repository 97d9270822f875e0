# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Forward and hybrid dynamics: the articulated-body algorithm (Kim, Tables 3 and 4).

Forward dynamics is the case in which no acceleration is prescribed. The coordinates of a joint
with several degrees of freedom are eliminated one by one, as if massless links lay between them.
The pivots are those of the Cholesky factor of S^T Ihat S. Any coordinate may be prescribed.
"""

import math

from liedyn_ros.dynamics.algorithms.kernels import articulated, floating_base
from liedyn_ros.dynamics.tree.kernels import joints, motion, rigid, symmetric
from liedyn_ros.dynamics.tree.kernels.motion import fits_bodies, subtract_external
from liedyn_ros.dynamics.tree.kernels.tables import (
    Coordinate, coordinate_of, coordinate_row,
    Link, Pivot, State, Tree)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTHS, VECTOR, WHOLE
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import FREE, REVOLUTE

DONE = 0
REFUSED = -1


@kernel
def forward(
        model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, tau: VECTOR, external: MATRIX,
        a: VECTOR) -> WHOLE:
    """Write the accelerations under joint forces; return the code of hybrid."""
    if overlap(a, q) or overlap(a, v) or overlap(a, tau) or overlap(a, external):
        return REFUSED
    return articulated_body(model, data, q, v, None, a, tau, external)


@kernel
def hybrid(
        model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, prescribed: TRUTHS, a: VECTOR,
        tau: VECTOR, external: MATRIX) -> WHOLE:
    """
    Write the accelerations that are not prescribed and the forces that are not given.

    Returns DONE, or REFUSED for unacceptable input or input so large that the result is not
    finite. Returns k + 1 when coordinate k moves no inertia.
    """
    return articulated_body(model, data, q, v, prescribed, a, tau, external)


@inlined
def articulated_body(model, data, q, v, prescribed, a, tau, external):
    """Solve hybrid dynamics, as hybrid does; prescribed may be None."""
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and inputs_are_finite(model, prescribed, a, tau) and fits_bodies(model, external)):
        return REFUSED
    links = Tree(model, 0).links
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        free_motion(model, data, i, v)
    subtract_external(model, data, external, True)
    for i in range(links - 1, 0, -1):
        singular = reduce(model, data, i, q, v, prescribed, a, tau)
        if singular > 0:
            return singular
    for i in range(1, links):
        accelerate(model, data, i, q, v, prescribed, a, tau)
    return DONE if finite(a) and finite(tau) else REFUSED


@inlined
def is_prescribed(prescribed, k):
    """Return whether the acceleration of coordinate k is given; None prescribes none."""
    if prescribed is None:
        return False
    return prescribed[k]


@inlined
def is_floating_base(model, prescribed, i):
    """Return whether link i is free against the ground, all of its accelerations unknown."""
    link = Link(model, i)
    if link.kind != FREE or link.parent > 0:
        return False
    held, vi = False, link.vi
    for k in range(vi, vi + 6):
        held = held or is_prescribed(prescribed, k)
    return not held


@inlined
def inputs_are_finite(model, prescribed, a, tau):
    """Return whether all prescribed accelerations and given forces are there and finite."""
    nv = Tree(model, 0).nv
    if len(a) != nv or len(tau) != nv:
        return False
    count = 0
    for k in range(nv):
        count += abs(a[k] if is_prescribed(prescribed, k) else tau[k]) < math.inf
    return count == nv


@inlined
def free_motion(model, data, i, v):
    """Write twist, inertia and bias wrench of link i alone, its parent's twist being known."""
    w, u = motion.store_twist(model, data, i, v)  # (3.1)
    body = Link(model, i).inertia
    articulated.store(data, i, articulated.of_rigid(body))
    m, f = rigid.bias(body, w, u)
    State(data, i).bias_wrench = m, f


@inlined
def reduce(model, data, i, q, v, prescribed, a, tau):
    """Eliminate the coordinates of link i and add inertia and bias to those of its parent."""
    link = Link(model, i)
    kind, parent, pitch = link.kind, link.parent, link.pitch
    body = articulated.load(data, i)  # (3.7)
    state = State(data, i)
    m, f = state.bias_wrench  # (3.8)
    smallest = articulated.MIN_PIVOT * pivot_scale(kind, pitch, body)
    if is_floating_base(model, prescribed, i) and reduce_base(
            model, data, i, v, tau, body, m, f, smallest):
        return 0
    if is_plain_turn(model, prescribed, i):
        return reduce_turn(model, data, i, q, v, tau, body, m, f, smallest)
    for k in range(joints.degrees(kind) - 1, -1, -1):
        j = link.vi + k
        gm, gf = gain(kind, pitch, k, body)
        along = joints.along(kind, pitch, k, m, f)
        if is_prescribed(prescribed, j):
            step = a[j]
            store_gain(data, coordinate_row(model, j), gm, gf, along)  # (3.9)
        else:
            # S^T Ihat S and the armature (3.20)
            pivot = joints.along(kind, pitch, k, gm, gf) + coordinate_of(model, j).armature
            if articulated.is_lost(model, data, i, k, pivot, smallest, gm, gf):
                return j + 1
            inverse_pivot = 1.0 / pivot
            step = eliminate_coordinate(
                model, data, j, q, v, tau, inverse_pivot, along, gm, gf)
            body = articulated.eliminate(body, inverse_pivot, gm, gf)  # (3.10)
        m, f = vec3.axpy(step, gm, m), vec3.axpy(step, gf, f)
    if parent > 0:
        r, p = state.pose
        ew, eu = motion.velocity_bias(model, data, i, v)
        em, ef = articulated.apply(body, ew, eu)
        add_articulated_to_parent(
            data, i, parent, articulated.transport(r, p, body),
            vec3.add(m, em), vec3.add(f, ef))  # (3.11)
    return 0


@inlined
def is_plain_turn(model, prescribed, i):
    """Return whether link i has a revolute joint of unknown acceleration, without armature."""
    link = Link(model, i)
    j = link.vi
    return (link.kind == REVOLUTE and not is_prescribed(prescribed, j)
            and coordinate_of(model, j).armature == 0.0)


@inlined
def reduce_turn(model, data, i, q, v, tau, body, m, f, smallest):
    """Reduce such a link, as reduce does: no moment about its axis is left to its parent."""
    link = Link(model, i)
    j, parent = link.vi, link.parent
    gm, gf = gain(REVOLUTE, 0.0, 0, body)
    if articulated.is_lost(model, data, i, 0, gm[2], smallest, gm, gf):
        return j + 1
    inverse_pivot = 1.0 / gm[2]
    step = eliminate_coordinate(model, data, j, q, v, tau, inverse_pivot, m[2], gm, gf)
    if parent > 0:
        r, p = State(data, i).pose
        rest = articulated.eliminate_turn(body, inverse_pivot)
        ew, eu = motion.velocity_bias(model, data, i, v)
        em, ef = articulated.apply_without_turn(rest, ew, eu)
        add_articulated_to_parent(
            data, i, parent, articulated.transport_without_turn(r, p, rest),
            vec3.add(vec3.axpy(step, gm, m), em), vec3.add(vec3.axpy(step, gf, f), ef))
    return 0


@inlined
def eliminate_coordinate(model, data, j, q, v, tau, inverse_pivot, along, gm, gf):
    """Write pivot, gain and residual of a coordinate; return the step along its gain."""
    residual = tau[j] - motion.dissipation(model, j, v[j]) - along
    if Tree(model, 0).loaded_joints:
        residual -= motion.spring(model, j, q)
    Pivot(data, coordinate_row(model, j)).inverse = inverse_pivot
    store_gain(data, coordinate_row(model, j), gm, gf, residual)
    return inverse_pivot * residual


@inlined
def store_gain(data, row, gm, gf, residual):
    """Write the gain of a coordinate, and its residual."""
    pivot = Pivot(data, row)
    pivot.residual = residual
    pivot.gain = gm, gf


@inlined
def reduce_base(model, data, i, v, tau, body, m, f, smallest):
    """Eliminate the coordinates of a floating base; return whether no pivot is too small."""
    vi, good = Link(model, i).vi, True
    row = coordinate_row(model, vi)
    floating_base.factor(data, row, body, smallest)
    for k in range(6):
        pivot = Pivot(data, row + k)
        good = good and pivot.margin > 0.0
        pivot.residual = tau[vi + k] - motion.dissipation(model, vi + k, v[vi + k])
    floating_base.reduce_residuals(data, row, m, f)
    return good


@inlined
def pivot_scale(kind, pitch, body):
    """Return the inertia with which a pivot of the joint is compared."""
    turning, moving = symmetric.trace(body[0]), symmetric.trace(body[2])
    w, v = joints.screw(kind, pitch, 0)
    return turning * vec3.dot(w, w) + moving * vec3.dot(v, v)


@inlined
def gain(kind, pitch, k, body):
    """Return the wrench Ihat S of coordinate k."""
    if kind == REVOLUTE:
        a, b = body[0], body[1]
        return (a[2], a[4], a[5]), (b[6], b[7], b[8])
    w, v = joints.screw(kind, pitch, k)
    return articulated.apply(body, w, v)


@inlined
def add_articulated_to_parent(data, i, parent, inertia, m, f):
    """Add an inertia, seen by the parent, and the bias (m, f) of link i to those of its parent."""
    r, p = State(data, i).pose
    m, f = se3.adjoint_inverse_dual(r, p, m, f)
    State(data, parent).plus.bias_wrench = m, f
    articulated.store(data, parent, articulated.add(articulated.load(data, parent), inertia))


@inlined
def accelerate(model, data, i, q, v, prescribed, a, tau):
    """Solve for the coordinates of link i, the acceleration of its parent being known."""
    state = State(data, i)
    link = Link(model, i)
    parent, (r, p) = link.parent, state.pose
    dw, du = se3.adjoint_inverse(r, p, *State(data, parent).acceleration)
    ew, eu = motion.velocity_bias(model, data, i, v)
    dw, du = vec3.add(dw, ew), vec3.add(du, eu)
    if is_floating_base(model, prescribed, i):
        vi = link.vi
        yw, yu = floating_base.solve(data, coordinate_row(model, vi), dw, du)
        vec3.store(a, vi, yw)
        vec3.store(a, vi + 3, yu)
        dw, du = vec3.add(dw, yw), vec3.add(du, yu)
    else:
        dw, du = accelerate_joint(model, data, i, q, v, prescribed, a, tau, dw, du)
    state.acceleration = dw, du


@inlined
def accelerate_joint(model, data, i, q, v, prescribed, a, tau, dw, du):
    """Solve for the coordinates of link i, one after the other; return its acceleration."""
    link = Link(model, i)
    kind, pitch = link.kind, link.pitch
    for k in range(joints.degrees(kind)):
        j = link.vi + k
        row = coordinate_row(model, j)
        pivot = Pivot(data, row)
        gm, gf = pivot.gain
        residual = pivot.residual
        if not is_prescribed(prescribed, j):
            a[j] = (residual - vec3.dot(gm, dw) - vec3.dot(gf, du)) * pivot.inverse  # (3.12)
        dw, du = joints.add_along(kind, pitch, k, a[j], dw, du)  # (3.13)
        if is_prescribed(prescribed, j):
            tau[j] = (vec3.dot(gm, dw) + vec3.dot(gf, du) + residual + motion.dissipation(
                model, j, v[j]) + motion.spring(model, j, q)
                + Coordinate(model, row).armature * a[j])  # (3.14)
    return dw, du
