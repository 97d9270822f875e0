# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Sums over all moving bodies: centre of mass, energy, momentum, its rate, its map (12.67).

Sums go from the links to the ground, each link adding that of all after it to its parent. Momentum
is a wrench to these kernels: m angular, f linear.
"""

from liedyn_ros.dynamics.algorithms.kernels import coriolis, crba, rnea
from liedyn_ros.dynamics.tree.kernels import joints, motion, rigid, stops
from liedyn_ros.dynamics.tree.kernels.tables import (
    coordinate_of, Link, State, Tree)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, TRUTH, VECTOR
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.jit.simd import joined, of_width, parts, put
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL


@kernel
def center_of_mass(model: MATRIX, data: MATRIX, q: VECTOR, out: VECTOR) -> TRUTH:
    """Write the centre of mass (3,) in the ground; return whether all is good."""
    if not joints.acceptable(model, q) or len(out) != 3 or overlap(out, q):
        return False
    mass, moment = moment_of_all(model, data, q)
    vec3.store(out, 0, vec3.scale(1.0 / mass, moment))
    return finite(out)


@kernel
def potential_energy(model: MATRIX, data: MATRIX, q: VECTOR, out: VECTOR):
    """Write the energy (1,) of gravity, springs and stops; return whether all is good."""
    ground = State(data, 0)
    if not joints.acceptable(model, q):
        return False
    _, moment = moment_of_all(model, data, q)
    energy = vec3.dot(moment, ground.acceleration[1])  # -a_g . m c (3.0)
    for k in range(Tree(model, 0).nv):  # (3.19)
        coordinate = coordinate_of(model, k)
        stretch = q[coordinate.position_at] - coordinate.rest
        energy += 0.5 * coordinate.stiffness * stretch * stretch + stops.of_coordinate(
            model, k, stops.energy, q)  # (3.21)
    out[0] = energy
    return finite(out)


@inlined
def moment_of_all(model, data, q):
    """Return the mass of all that moves, and its moment m c in the ground."""
    links = Tree(model, 0).links
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        place_mass(model, data, i, q)
    mass, moment = 0.0, vec3.ZERO
    for i in range(links - 1, 0, -1):
        m, h = carry_mass(model, data, i)
        if Link(model, i).parent == 0:
            mass, moment = mass + m, vec3.add(moment, h)
    return mass, moment


@inlined
def place_mass(model, data, i, q):
    """Write the pose of link i in its parent, its own mass and its moment."""
    motion.store_pose(model, data, i, q)
    m, h, _ = Link(model, i).inertia
    State(data, i).carried = m, h


@inlined
def carry_mass(model, data, i):
    """Return the mass of link i and all after it, and its moment in the parent; add them there."""
    state = State(data, i)
    m, h = state.carried
    h = vec3.axpy(m, state.pose[1], mat3.apply(state.pose[0], h))
    parent = Link(model, i).parent
    if parent > 0:
        State(data, parent).plus.carried = m, h
    return m, h


@kernel
def gravity_forces(model: MATRIX, data: MATRIX, q: VECTOR, out: VECTOR) -> TRUTH:
    """
    Write the joint forces (nv,) that hold the machine at rest; return whether all is good.

    The weight of a link and all after it is a force through their centre of mass. Inverse
    dynamics at rest has no other wrench.
    """
    tree = Tree(model, 0)
    if not joints.acceptable(model, q) or len(out) != tree.nv or overlap(out, q):
        return False
    links = tree.links
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        place_mass(model, data, i, q)
        lift = State(data, Link(model, i).parent).acceleration[1]  # -a_g (3.0)
        state = State(data, i)
        state.acceleration = state.acceleration[0], mat3.apply_t(state.pose[0], lift)
    for i in range(links - 1, 0, -1):
        link = Link(model, i)
        kind, pitch = link.kind, link.pitch
        state = State(data, i)
        (m, h), (_, lift) = state.carried, state.acceleration
        moment, force = vec3.cross(h, lift), vec3.scale(m, lift)  # (1.17)
        for k in range(joints.degrees(kind)):
            out[link.vi + k] = joints.along(kind, pitch, k, moment, force)
        carry_mass(model, data, i)
    return finite(out)


@kernel
def kinetic_energy(model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, out: VECTOR):
    """Write the kinetic energy (1,); return whether all is good."""
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)):
        return False
    energy = 0.0
    joints.store_angles(model, State, data, q)
    for i in range(1, Tree(model, 0).links):
        motion.store_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        m, f = rigid.apply(Link(model, i).inertia, w, u)  # (1.18)
        energy += 0.5 * (vec3.dot(w, m) + vec3.dot(u, f))
    for k in range(len(v)):  # (3.20)
        energy += 0.5 * coordinate_of(model, k).armature * v[k] * v[k]
    out[0] = energy
    return finite(out)


@kernel
def momentum(model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, out: VECTOR) -> TRUTH:
    """Write angular momentum about the ground's origin, then linear (6,); return if good."""
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and len(out) == 6) or overlap(out, q) or overlap(out, v):
        return False
    links = Tree(model, 0).links
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        m, f = rigid.apply(Link(model, i).inertia, w, u)  # (1.18)
        State(data, i).wrench = m, f
    angular, linear = vec3.ZERO, vec3.ZERO
    for i in range(links - 1, 0, -1):
        state = State(data, i)
        m, f = se3.adjoint_inverse_dual(*state.pose, *state.wrench)
        parent = Link(model, i).parent
        if parent > 0:
            State(data, parent).plus.wrench = m, f
        else:
            angular, linear = vec3.add(angular, m), vec3.add(linear, f)
    vec3.store(out, 0, angular)
    vec3.store(out, 3, linear)
    return finite(out)


@kernel
def center_of_mass_motion(
        model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, a: VECTOR, out: MATRIX):
    """Write the centre of mass, velocity and acceleration (3, 3); return whether all is good."""
    ground = State(data, 0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a)):
        return False
    mass, moment, linear, force = 0.0, vec3.ZERO, vec3.ZERO, vec3.ZERO
    joints.store_angles(model, State, data, q)
    for i in range(1, Tree(model, 0).links):
        motion.store_ground_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        dw, du = motion.store_acceleration(model, data, i, v, a)
        r, _ = motion.load_ground_pose(data, i)
        body = Link(model, i).inertia
        m, h = moment_of(model, data, i)
        mass, moment = mass + m, vec3.add(moment, h)
        linear = vec3.add(linear, mat3.apply(r, rigid.apply(body, w, u)[1]))
        net = vec3.add(rigid.apply(body, dw, du)[1], rigid.bias(body, w, u)[1])  # (1.19)
        force = vec3.add(force, mat3.apply(r, net))
    out[0, 0], out[0, 1], out[0, 2] = vec3.scale(1.0 / mass, moment)
    out[1, 0], out[1, 1], out[1, 2] = vec3.scale(1.0 / mass, linear)
    # Accelerations are less gravity, and so is the force (3.0).
    lift = ground.acceleration[1]
    out[2, 0], out[2, 1], out[2, 2] = vec3.sub(vec3.scale(1.0 / mass, force), lift)
    return finite(out)


@inlined
def place_body(model, data, i, q):
    """Write the pose of link i in its parent and in the ground, and its own inertia."""
    motion.store_ground_pose(model, data, i, q)
    State(data, i).composite = Link(model, i).inertia


@inlined
def moment_of(model, data, i):
    """Return the mass of link i, and its moment in the ground."""
    r, p = motion.load_ground_pose(data, i)
    link = Link(model, i)
    m = link.inertia[0]
    return m, vec3.axpy(m, p, mat3.apply(r, link.inertia[1]))


@inlined
def wrench_about_center_of_mass(center, r, p, m, f):
    """Return a wrench of the link at (r, p) in the ground, about the centre of mass."""
    return se3.adjoint_inverse_dual(r, vec3.sub(p, center), m, f)  # (1.2)


@kernel
def centroidal_map(model: MATRIX, data: MATRIX, q: VECTOR, out: MATRIX):
    """Write A (6, nv), A v being the momentum about the centre of mass; return if all is good."""
    if not (joints.acceptable(model, q) and joints.is_matrix(model, out, 6)
            and not overlap(out, q)):
        return False
    links, mass, moment = Tree(model, 0).links, 0.0, vec3.ZERO
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        place_body(model, data, i, q)
        m, h = moment_of(model, data, i)
        mass, moment = mass + m, vec3.add(moment, h)
    center = vec3.scale(1.0 / mass, moment)
    for i in range(links - 1, 0, -1):
        body = State(data, i).composite
        write_momenta(model, data, i, body, center, out)
        crba.add_composite_to_parent(model, data, i, body)
    return finite(out)


@inlined
def write_momenta(model, data, i, body, center, out):
    """Write the columns of link i, those of three axes side by side."""
    link = Link(model, i)
    kind, column = link.kind, link.vi
    r, p = motion.load_ground_pose(data, i)
    if kind < SPHERICAL:
        m, f = wrench_about_center_of_mass(center, r, p,
                                           *rigid.of_screw(body, kind, link.pitch, 0))
        store_column(out, column, m, f)
        return
    mass, (x, y, z), j = body
    h = joined(0.0, -z, y, 0.0), joined(z, 0.0, -x, 0.0), joined(-y, x, 0.0, 0.0)  # [h]
    j = (joined(j[0], j[1], j[2], 0.0), joined(j[1], j[3], j[4], 0.0),
         joined(j[2], j[4], j[5], 0.0))
    store_columns(out, column, *wrench_about_center_of_mass(center, r, p, j, vec3.neg(h)))
    if kind == FREE:
        unit = (joined(mass, 0.0, 0.0, 0.0), joined(0.0, mass, 0.0, 0.0),
                joined(0.0, 0.0, mass, 0.0))
        store_columns(out, column + 3, *wrench_about_center_of_mass(center, r, p, h, unit))


@inlined
def store_column(out, column, m, f):
    """Write the six entries of a column."""
    for k in range(3):
        put(out, k, column, m[k])
        put(out, k + 3, column, f[k])


@inlined
def store_columns(out, column, m, f):
    """Write three columns side by side."""
    for k in range(3):
        x, y = parts(m[k]), parts(f[k])
        for c in range(3):
            put(out, k, column + c, x[c])
            put(out, k + 3, column + c, y[c])


@kernel
def centroidal_map_rate(
        model: MATRIX, data: MATRIX, blocks: MATRIX, q: VECTOR, v: VECTOR, out: MATRIX):
    """
    Write dA/dt (6, nv) of centroidal_map; return whether all is good.

    In the frame of a link, (I S)' = I ad_V S + I' S with I' = B + B^T, B = -ad_V^T I. The sums of
    I and B over all links after it are those of the Coriolis matrix, whose scratch buffer blocks
    (N + 1, BLOCKS) is.
    """
    blocks = of_width(blocks, coriolis.BLOCK_WIDTH)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_matrix(model, out, 6) and not overlap(out, q)
            and not overlap(out, v)):
        return False
    links, mass, moment, linear = Tree(model, 0).links, 0.0, vec3.ZERO, vec3.ZERO
    joints.store_angles(model, State, data, q)
    for i in range(1, links):
        place_body(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        body = Link(model, i).inertia
        coriolis.store_rate(blocks, i, body, w, u)
        m, h = moment_of(model, data, i)
        mass, moment = mass + m, vec3.add(moment, h)
        r, _ = motion.load_ground_pose(data, i)
        linear = vec3.add(linear, mat3.apply(r, rigid.apply(body, w, u)[1]))
    center, speed = vec3.scale(1.0 / mass, moment), vec3.scale(1.0 / mass, linear)
    for i in range(links - 1, 0, -1):
        link = Link(model, i)
        for k in range(joints.degrees(link.kind)):
            m, f = rate_column(model, data, blocks, i, k, center, speed)
            store_column(out, link.vi + k, m, f)
        coriolis.add_to_parent(model, data, blocks, i)
    return finite(out)


@inlined
def rate_column(model, data, blocks, i, k, center, speed):
    """Return the derivative of the column of coordinate k of link i."""
    link = Link(model, i)
    w, u = joints.screw(link.kind, link.pitch, k)
    state = State(data, i)
    body = state.composite
    r, p = motion.load_ground_pose(data, i)
    own = rigid.of_screw(body, link.kind, link.pitch, k)
    ew, eu = se3.ad(*state.twist, w, u)
    m, f = rigid.apply(body, ew, eu)
    bm, bf = coriolis.apply(blocks, i, w, u)
    tm, tf = coriolis.apply_t(blocks, i, w, u)
    m, f = wrench_about_center_of_mass(center, r, p, vec3.add(m, vec3.add(bm, tm)),
                                       vec3.add(f, vec3.add(bf, tf)))
    return vec3.sub(m, vec3.cross(speed, mat3.apply(r, own[1]))), f  # the centre moves


@kernel
def momentum_and_drift(
        model: MATRIX, data: MATRIX, blocks: MATRIX, q: VECTOR, v: VECTOR, still: VECTOR,
        external: MATRIX, mass: MATRIX, matrix: MATRIX, momentum: VECTOR, drift: VECTOR) -> TRUTH:
    """
    Write M, C, p = M v (nv,) and what p changes by beside joint forces, M' v - h (nv,).

    still (nv,) are zeros, external (B, 6) wrenches that are known, and blocks the scratch buffer
    of the Coriolis matrix. Returns whether all is good.
    """
    if not (crba.crba(model, data, q, mass)
            and coriolis.coriolis_matrix(model, data, blocks, q, v, matrix)
            and rnea.rnea(model, data, q, v, still, external, drift)):
        return False
    for i in range(len(v)):
        total, rate = 0.0, 0.0
        for j in range(len(v)):
            total += mass[i, j] * v[j]
            rate += (matrix[i, j] + matrix[j, i]) * v[j]
        momentum[i], drift[i] = total, rate - drift[i]
    return finite(momentum) and finite(drift)


@kernel
def observe_external(
        momentum: VECTOR, drift: VECTOR, push: VECTOR, gain: NUMBER, dt: NUMBER,
        state: MATRIX, estimate: VECTOR):
    """
    Write estimates (f,) of external forces, from a time dt (s) after the sample before.

    push (f,) is twice the mean of the joint forces since then, state (2, f) the integral and the
    drift of that sample; dt 0 begins it. The step is implicit: stable for any gain (1/s).
    """
    for i in range(len(momentum)):
        if dt > 0.0:
            state[0, i] += 0.5 * dt * (drift[i] + state[1, i] + push[i])
            estimate[i] = gain * (momentum[i] - state[0, i]) / (1.0 + gain * dt)
            state[0, i] += dt * estimate[i]
        else:
            state[0, i], estimate[i] = momentum[i], 0.0
        state[1, i] = drift[i]


@kernel
def observe_motions(
        momentum: VECTOR, drift: VECTOR, motions: MATRIX, rate: MATRIX, tau: VECTOR, gain: NUMBER,
        dt: NUMBER, before: MATRIX, reduced: MATRIX, state: MATRIX, estimate: VECTOR):
    """
    Write estimates (f,) as observe_external does, at coordinates with the free motions N (n, f).

    momentum, drift and tau are of all n coordinates, tau since the sample before; rate is N'.
    before (n, f) is N of that sample, and then of this one; reduced (3, f) is a scratch buffer.
    """
    for j in range(len(estimate)):
        total, slope, push = 0.0, 0.0, 0.0
        for i in range(len(momentum)):
            total += motions[i, j] * momentum[i]
            slope += motions[i, j] * drift[i] + rate[i, j] * momentum[i]
            push += (motions[i, j] + before[i, j]) * tau[i]
            before[i, j] = motions[i, j]
        reduced[0, j], reduced[1, j], reduced[2, j] = total, slope, push
    observe_external(reduced[0], reduced[1], reduced[2], gain, dt, state, estimate)
