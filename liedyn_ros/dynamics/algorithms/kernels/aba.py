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

from liedyn_ros.dynamics.algorithms.kernels import articulated, pivots
from liedyn_ros.dynamics.tree.kernels import joints, motion, rigid, symmetric
from liedyn_ros.dynamics.tree.kernels.tables import (
    ACCELERATION, ACCELERATIONS, add3, ARMATURE, ARTICULATED_INERTIAS, BIAS_WRENCH, COMPUTED,
    coordinate_row, GAIN, INERTIA, INVERSE_PIVOT, KIND, LINKS, load3, load9, NV, of_known_width,
    PARENT, PITCH, POSES, POSITION, RESIDUAL, ROTATION, store3, TWISTS, VI, WRENCHES)
from liedyn_ros.dynamics.tree.kernels.wrenches import fits_bodies, subtract_external
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.acceptance import finite
from liedyn_ros.model.kernels.kinds import REVOLUTE

DONE = 0
REFUSED = -1


@kernel
def forward(model, data, q, v, tau, external, a):
    """Write the accelerations under joint forces; return the code of hybrid."""
    if overlap(a, q) or overlap(a, v) or overlap(a, tau) or overlap(a, external):
        return REFUSED
    return articulated_body(model, data, q, v, None, a, tau, external)


@kernel
def hybrid(model, data, q, v, prescribed, a, tau, external):
    """
    Write the accelerations that are not prescribed and the forces that are not given.

    Returns DONE, or REFUSED for unacceptable input or input so large that the result is not
    finite. Returns k + 1 when coordinate k moves no inertia.
    """
    return articulated_body(model, data, q, v, prescribed, a, tau, external)


@inlined
def articulated_body(model, data, q, v, prescribed, a, tau, external):
    """Do what hybrid does; prescribed may be None."""
    model, data = of_known_width(model, data)
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and given(model, prescribed, a, tau) and fits_bodies(model, external)):
        return REFUSED
    links = get_int(model, 0, LINKS)
    joints.store_angles(model, data, q)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        free_motion(model, data, i, v)
    subtract_external(model, data, external, BIAS_WRENCH)
    for i in range(links - 1, 0, -1):
        singular = reduce(model, data, i, q, v, prescribed, a, tau)
        if singular > 0:
            return singular
    for i in range(1, links):
        accelerate(model, data, i, q, v, prescribed, a, tau)
    put(data, 0, COMPUTED,
        float(POSES + TWISTS + ACCELERATIONS + WRENCHES + ARTICULATED_INERTIAS))
    return DONE if finite(a) and finite(tau) else REFUSED


@inlined
def is_prescribed(prescribed, k):
    """Return whether the acceleration of coordinate k is given; None prescribes none."""
    if prescribed is None:
        return False
    return prescribed[k]


@inlined
def given(model, prescribed, a, tau):
    """Return whether all prescribed accelerations and given forces are there and finite."""
    nv = get_int(model, 0, NV)
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
    body = rigid.load(model, i, INERTIA)
    articulated.store(data, i, articulated.of_rigid(body))
    m, f = rigid.bias(body, w, u)
    store3(data, i, BIAS_WRENCH, m)
    store3(data, i, BIAS_WRENCH + 3, f)


@inlined
def reduce(model, data, i, q, v, prescribed, a, tau):
    """Eliminate the coordinates of link i and add inertia and bias to those of its parent."""
    kind, parent, pitch = get_int(model, i, KIND), get_int(model, i, PARENT), get(model, i, PITCH)
    body = articulated.load(data, i)  # (3.7)
    m, f = load3(data, i, BIAS_WRENCH), load3(data, i, BIAS_WRENCH + 3)  # (3.8)
    smallest = pivots.MIN_PIVOT * pivot_scale(kind, pitch, body)
    for k in range(joints.degrees(kind) - 1, -1, -1):
        j = get_int(model, i, VI) + k
        row = coordinate_row(model, j)
        gm, gf = gain(kind, pitch, k, body)
        along = joints.along(kind, pitch, k, m, f)
        if is_prescribed(prescribed, j):
            residual, step = along, a[j]  # (3.9)
        else:
            # S^T Ihat S and the armature (3.20)
            pivot = joints.along(kind, pitch, k, gm, gf) + get(model, row, ARMATURE)
            if pivot <= smallest and not (
                    pivots.is_principal(gm, gf)
                    and pivots.exceeds_rounding(model, data, i, k, pivot)):
                return j + 1
            residual = tau[j] - motion.dissipation(model, j, v[j]) - motion.spring(
                model, j, q) - along
            inverse_pivot = 1.0 / pivot
            put(data, row, INVERSE_PIVOT, inverse_pivot)
            step = inverse_pivot * residual
            body = articulated.eliminate(body, inverse_pivot, gm, gf)  # (3.10)
        put(data, row, RESIDUAL, residual)
        store3(data, row, GAIN, gm)
        store3(data, row, GAIN + 3, gf)
        m, f = vec3.axpy(step, gm, m), vec3.axpy(step, gf, f)
    if parent > 0:
        ew, eu = motion.velocity_bias(model, data, i, v)
        em, ef = articulated.apply(body, ew, eu)
        add_articulated_to_parent(
            data, i, parent, body, vec3.add(m, em), vec3.add(f, ef))  # (3.11)
    return 0


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
def add_articulated_to_parent(data, i, parent, body, m, f):
    """Add inertia and bias of link i to those of its parent."""
    r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
    m, f = se3.adjoint_inverse_dual(r, p, m, f)
    add3(data, parent, BIAS_WRENCH, m)
    add3(data, parent, BIAS_WRENCH + 3, f)
    articulated.store(data, parent, articulated.add(
        articulated.load(data, parent), articulated.transport(r, p, body)))


@inlined
def accelerate(model, data, i, q, v, prescribed, a, tau):
    """Solve for the coordinates of link i, the acceleration of its parent being known."""
    kind, parent, pitch = get_int(model, i, KIND), get_int(model, i, PARENT), get(model, i, PITCH)
    r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
    dw, du = se3.adjoint_inverse(
        r, p, load3(data, parent, ACCELERATION), load3(data, parent, ACCELERATION + 3))
    ew, eu = motion.velocity_bias(model, data, i, v)
    dw, du = vec3.add(dw, ew), vec3.add(du, eu)
    for k in range(joints.degrees(kind)):
        j = get_int(model, i, VI) + k
        row = coordinate_row(model, j)
        gm, gf = load3(data, row, GAIN), load3(data, row, GAIN + 3)
        residual = get(data, row, RESIDUAL)
        if not is_prescribed(prescribed, j):
            a[j] = (residual - vec3.dot(gm, dw) - vec3.dot(gf, du)) * get(
                data, row, INVERSE_PIVOT)  # (3.12)
        w, u = joints.screw(kind, pitch, k)
        dw, du = vec3.axpy(a[j], w, dw), vec3.axpy(a[j], u, du)  # (3.13)
        if is_prescribed(prescribed, j):
            tau[j] = (vec3.dot(gm, dw) + vec3.dot(gf, du) + residual + motion.dissipation(
                model, j, v[j]) + motion.spring(model, j, q)
                + get(model, row, ARMATURE) * a[j])  # (3.14)
    store3(data, i, ACCELERATION, dw)
    store3(data, i, ACCELERATION + 3, du)
