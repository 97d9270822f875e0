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

"""
Forward and hybrid dynamics: the articulated-body algorithm (Kim, Tables 3 and 4).

Forward dynamics is the case in which no acceleration is prescribed. The coordinates of a joint
with several degrees of freedom are eliminated one by one, as if massless links lay between them:
the pivots are those of the Cholesky factor of S^T Ihat S, and any of them may be prescribed.
"""

import math

from liedyn_ros.dynamics.kernels import articulated, joints, motion, rigid, symmetric
from liedyn_ros.dynamics.kernels.rows import (
    ACCELERATION, add3, EXTERNAL, GAIN, INERTIA, INVERSE_PIVOT, KIND, load3, load9, PARENT, PITCH,
    POSITION, PRESCRIBED, RESIDUAL, ROTATION, store3, VI, WRENCH)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.kinds import REVOLUTE

DONE = 0
REFUSED = -1
SMALLEST_PIVOT = 1e-13  # of the trace of the inertia it is a part of: below lies rounding


@kernel
def hybrid(topology, links, coordinates, q, v, a, tau):
    """
    Write the accelerations that are not prescribed and the forces that are not given.

    Returns DONE, REFUSED for unacceptable input, or for one so large that the result is not
    finite, or k + 1 when coordinate k moves no inertia.
    """
    if not (joints.acceptable(topology, q) and joints.complete(topology, v)
            and given(coordinates, a, tau)):
        return REFUSED
    for i in range(1, len(links)):
        motion.store_pose(topology, links, i, q)
        free_motion(topology, links, i, v)
    for i in range(len(links) - 1, 0, -1):
        singular = reduce(topology, links, coordinates, i, v, a, tau)
        if singular > 0:
            return singular
    for i in range(1, len(links)):
        accelerate(topology, links, coordinates, i, v, a, tau)
    return DONE if joints.finite(a) and joints.finite(tau) else REFUSED


@inlined
def given(coordinates, a, tau):
    """Return whether all prescribed accelerations and given forces are there and finite."""
    if len(a) != len(coordinates) or len(tau) != len(coordinates):
        return False
    count = 0
    for k in range(len(a)):
        count += abs(a[k] if coordinates[k, PRESCRIBED] > 0.0 else tau[k]) < math.inf
    return count == len(a)


@inlined
def free_motion(topology, links, i, v):
    """Write twist, inertia and bias wrench of link i alone, its parent's twist being known."""
    w, u = motion.store_twist(topology, links, i, v)  # (3.1)
    body = rigid.load(links, i, INERTIA)
    articulated.store(links, i, articulated.of_rigid(body))
    m, f = rigid.bias(body, w, u)
    store3(links, i, WRENCH, vec3.sub(m, load3(links, i, EXTERNAL)))
    store3(links, i, WRENCH + 3, vec3.sub(f, load3(links, i, EXTERNAL + 3)))


@inlined
def reduce(topology, links, coordinates, i, v, a, tau):
    """Eliminate the coordinates of link i and hand inertia and bias on to its parent."""
    kind, parent, pitch = topology[i, KIND], topology[i, PARENT], links[i, PITCH]
    body = articulated.load(links, i)  # (3.7)
    m, f = load3(links, i, WRENCH), load3(links, i, WRENCH + 3)  # (3.8)
    smallest = SMALLEST_PIVOT * scale(kind, pitch, body)
    for k in range(joints.degrees(kind) - 1, -1, -1):
        j = topology[i, VI] + k
        gm, gf = gain(kind, pitch, k, body)
        along = joints.along(kind, pitch, k, m, f)
        if coordinates[j, PRESCRIBED] > 0.0:
            residual, step = along, a[j]  # (3.9)
        else:
            pivot = joints.along(kind, pitch, k, gm, gf)  # S^T Ihat S
            if pivot <= smallest:
                return j + 1
            residual = tau[j] - motion.dissipation(coordinates, j, v[j]) - along
            inverse_pivot = 1.0 / pivot
            coordinates[j, INVERSE_PIVOT] = inverse_pivot
            step = inverse_pivot * residual
            body = articulated.eliminate(body, inverse_pivot, gm, gf)  # (3.10)
        coordinates[j, RESIDUAL] = residual
        store3(coordinates, j, GAIN, gm)
        store3(coordinates, j, GAIN + 3, gf)
        m, f = vec3.axpy(step, gm, m), vec3.axpy(step, gf, f)
    if parent > 0:
        ew, eu = motion.velocity_bias(topology, links, i, v)
        em, ef = articulated.apply(body, ew, eu)
        hand_on(links, i, parent, body, vec3.add(m, em), vec3.add(f, ef))  # (3.11)
    return 0


@inlined
def scale(kind, pitch, body):
    """Return a measure of the inertia that a pivot of the joint is compared with."""
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
def hand_on(links, i, parent, body, m, f):
    """Add inertia and bias of link i to those of its parent."""
    r, p = load9(links, i, ROTATION), load3(links, i, POSITION)
    m, f = se3.adjoint_inverse_dual(r, p, m, f)
    add3(links, parent, WRENCH, m)
    add3(links, parent, WRENCH + 3, f)
    articulated.store(links, parent, articulated.add(
        articulated.load(links, parent), articulated.transport(r, p, body)))


@inlined
def accelerate(topology, links, coordinates, i, v, a, tau):
    """Solve for the coordinates of link i, the acceleration of its parent being known."""
    kind, parent, pitch = topology[i, KIND], topology[i, PARENT], links[i, PITCH]
    r, p = load9(links, i, ROTATION), load3(links, i, POSITION)
    dw, du = se3.adjoint_inverse(
        r, p, load3(links, parent, ACCELERATION), load3(links, parent, ACCELERATION + 3))
    ew, eu = motion.velocity_bias(topology, links, i, v)
    dw, du = vec3.add(dw, ew), vec3.add(du, eu)
    for k in range(joints.degrees(kind)):
        j = topology[i, VI] + k
        gm, gf = load3(coordinates, j, GAIN), load3(coordinates, j, GAIN + 3)
        residual = coordinates[j, RESIDUAL]
        prescribed = coordinates[j, PRESCRIBED] > 0.0
        if not prescribed:
            a[j] = (residual - vec3.dot(gm, dw) - vec3.dot(gf, du)) * coordinates[
                j, INVERSE_PIVOT]  # (3.12)
        w, u = joints.screw(kind, pitch, k)
        dw, du = vec3.axpy(a[j], w, dw), vec3.axpy(a[j], u, du)  # (3.13)
        if prescribed:
            tau[j] = vec3.dot(gm, dw) + vec3.dot(gf, du) + residual + motion.dissipation(
                coordinates, j, v[j])  # (3.14)
    store3(links, i, ACCELERATION, dw)
    store3(links, i, ACCELERATION + 3, du)
