# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Changes of parameters of machines with closed loops, and the derivatives by them (13.26 to 13.29).

Links are perturbed as in the trees' kernels.parameters. A frame of a closure is displaced with its
body, and by parameters of its own (13.20). All is spatial, as in variation.
"""

from typing import NamedTuple

from liedyn_ros.dynamics.constrained.kernels.tables import (
    AXES, axpy6, columns3, columns9, dot6, get3, get6, ORIGIN, START)
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    add_pair, load_pair, store_pair, sum_of)
from liedyn_ros.dynamics.partial_derivatives.kernels import parameters
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    BODY_SHIFT, CLOSURE_WIDTH, FRAME_A, FRAME_B, GRAVITY_COLUMN, LINK_DISPLACEMENT, LINK_PITCH,
    LINK_WRENCH)
from liedyn_ros.dynamics.tree.kernels import rigid
from liedyn_ros.dynamics.tree.kernels.tables import State
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, NUMBER, VECTOR
from liedyn_ros.jit.pointers import rows_of
from liedyn_ros.jit.simd import LANES
from liedyn_ros.lie.kernels import se3, vec3


class ParameterArrays(NamedTuple):
    """
    The changes by parameters, or the derivatives by these; kernels take None for no parameters.

    parts and bodies are as in kernels.parameters; frames (2 C, 6) are displacements of the frames
    of closures against their links, those on bodies b first. frame_body (2 C,) has their bodies,
    -1 for the ground. ground, of_coordinates, of_bodies and closures are parts of Parameters, all
    of them vector. q is the configuration, external (B, 6) the wrenches or none, dissipation 1 or
    0. local is a scratch buffer for the motion of links in their frames, as in kernels.parameters.
    """

    parts: MATRIX
    bodies: MATRIX
    frames: MATRIX
    frame_body: INTEGERS
    local: MATRIX
    ground: MATRIX
    of_coordinates: MATRIX
    of_bodies: MATRIX
    closures: MATRIX
    vector: VECTOR
    q: VECTOR
    external: MATRIX
    dissipation: NUMBER


@kernel
def link_pose(motion, i):
    """Return rotation and position of link i in the inertial frame."""
    return columns9(motion.pose, i), columns3(motion.pose, i, 9)


@kernel
def frame_pose(motion, f):
    """Return rotation and position of a frame of a closure in the inertial frame."""
    x, y = get3(motion.frame, f, START, AXES), get3(motion.frame, f, START, AXES + 3)
    z = get3(motion.frame, f, START, AXES + 6)
    return ((x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]),
            get3(motion.frame, f, START, ORIGIN))


@kernel
def link_translation(motion, i):
    """Return the unit translation along the axis of link i."""
    r, p = link_pose(motion, i)
    return se3.adjoint(r, p, vec3.ZERO, (0.0, 0.0, 1.0))


@kernel
def pitch_change(motion, params, i):
    """Return how the screw of link i changes with its pitch."""
    return axpy6(
        params.parts[i + 1, LINK_PITCH], link_translation(motion, i), (vec3.ZERO, vec3.ZERO))


@kernel
def displace_link(machine, motion, params, i, moved, rate, push):
    """Add the changes of displacement, rate and acceleration of link i by parameters."""
    r, p = link_pose(motion, machine.parent[i])
    x, j = pitch_change(motion, params, i), machine.vi[i]
    moved = axpy6(params.q[machine.qi[i]], x, sum_of(moved, se3.adjoint(
        r, p, *load_pair(params.parts, i + 1, LINK_DISPLACEMENT))))
    return moved, axpy6(motion.rate[0, j], x, rate), axpy6(motion.rate[1, j], x, push)


@kernel
def wrench_change(motion, params, i, body):
    """Return the change of the wrench of link i by gravity, its inertia and its applied wrench."""
    (r, p), x = link_pose(motion, i), load_pair(params.parts, i + 1, LINK_WRENCH)
    pulled = rigid.apply(body, vec3.ZERO, vec3.neg(columns3(params.parts, 0, GRAVITY_COLUMN)))
    return sum_of(pulled, se3.adjoint_inverse_dual(r, p, x[0], x[1]))


@kernel
def vjp_link(machine, motion, params, i, by_moved, by_twist, by_acceleration, weights):
    """Write the derivatives by displacement and pitch of link i."""
    r, p = link_pose(motion, machine.parent[i])
    store_pair(params.parts, i + 1, LINK_DISPLACEMENT, *se3.adjoint_dual(r, p, *by_moved))
    j = machine.vi[i]
    total = axpy6(motion.rate[0, j], by_twist, axpy6(
        motion.rate[1, j], by_acceleration, axpy6(
            weights[j], get6(motion.wrench, i, START), (vec3.ZERO, vec3.ZERO))))
    params.parts[i + 1, LINK_PITCH] += dot6(link_translation(motion, i), axpy6(
        params.q[machine.qi[i]], by_moved, total))


@kernel
def write_parameter_changes(machine, motion, params):
    """Map changes of parameters to perturbations of links and frames; the motion is complete."""
    store_link_motion(machine, motion, params.local)
    parameters.to_links(params.local, params.bodies, params.external, params.ground,
                        params.of_bodies, params.parts)
    params.frames[:] = 0.0
    count, width = len(machine.closure_kind), params.bodies.shape[1]
    shifts = rows_of(params.bodies, BODY_SHIFT * width, width + 1, LANES)
    for f in range(machine.moving_frames[0]):
        r, p = frame_pose(motion, f)
        at = FRAME_B if f < count else FRAME_A
        x = se3.adjoint(r, p, *load_pair(params.closures, f % count, at))
        if params.frame_body[f] >= 0:
            r, p = link_pose(motion, machine.frame_link[f])
            x = sum_of(x, se3.adjoint(r, p, *load_pair(shifts, params.frame_body[f], 0)))
        store_pair(params.frames, f, 0, x[0], x[1])


@kernel
def store_link_motion(machine, motion, data):
    """Write twists and accelerations, less gravity, of links in their own frames."""
    gravity = vec3.ZERO, (machine.gravity[0], machine.gravity[1], machine.gravity[2])
    ground = State(data, 0)
    ground.twist = vec3.ZERO, vec3.ZERO
    ground.acceleration = vec3.ZERO, vec3.neg(gravity[1])
    for i in range(len(machine.kind)):
        r, p = link_pose(motion, i)
        w, u = get6(motion.twist, i, START)
        dw, du = axpy6(-1.0, gravity, get6(motion.twist, i, START + 1))
        state = State(data, i + 1)
        state.twist = se3.adjoint_inverse(r, p, w, u)
        state.acceleration = se3.adjoint_inverse(r, p, dw, du)


@kernel
def write_parameter_gradient(machine, motion, table, field, params, sign, weights, frames):
    """
    Write sign times the derivatives by all parameters, after those by links and frames.

    Column field of table has the twists of links at the weights of forces (nv,). frames is how
    many frames of closures have derivatives, those on bodies b first.
    """
    data, count = params.local, len(machine.closure_kind)
    store_link_motion(machine, motion, data)
    State(data, 0).order_change = vec3.ZERO, vec3.ZERO
    for i in range(len(machine.kind)):
        r, p = link_pose(motion, i)
        yw, yu = load_pair(table, i, field)
        State(data, i + 1).order_change = se3.adjoint_inverse(r, p, yw, yu)
    parameters.vjp_shifts(data, params.bodies, params.external, sign, params.of_bodies)
    width = params.bodies.shape[1]
    shifts = rows_of(params.bodies, BODY_SHIFT * width, width + 1, LANES)
    for f in range(frames):
        (m, g), b = load_pair(params.frames, f, 0), params.frame_body[f]
        if b >= 0:
            r, p = link_pose(motion, machine.frame_link[f])
            add_pair(shifts, b, 0, *se3.adjoint_dual(r, p, m, g))
        r, p = frame_pose(motion, f)
        store_pair(params.closures, f % count, FRAME_B if f < count else FRAME_A,
                   *se3.adjoint_dual(r, p, m, g))
    for c in range(count):
        for k in range(CLOSURE_WIDTH):
            params.closures[c, k] *= sign
    parameters.from_links(params.bodies, sign, params.parts, params.ground, params.of_bodies)
    n = len(weights)
    parameters.vjp_coordinates(motion.rate[0, :n], motion.rate[1, :n], weights, sign,
                               params.dissipation, params.of_coordinates)
