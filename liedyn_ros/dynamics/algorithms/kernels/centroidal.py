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
    ACCELERATION, add3, ARMATURE, COMPOSITE, COMPUTED, coordinate_row, INERTIA, KIND, LINKS, load3,
    load9, NV, of_known_width, PARENT, PITCH, POSES, POSITION, POSITION_AT, REST, ROTATION,
    STIFFNESS, store3, TWIST, TWISTS, VI, WRENCH)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, TRUTH, VECTOR
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.jit.simd import get, get_int, joined, of_width, parts, put
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL


@kernel
def center_of_mass(model: MATRIX, data: MATRIX, q: VECTOR, out: VECTOR) -> TRUTH:
    """Write the centre of mass (3,) in the ground; return whether all is good."""
    model, data = of_known_width(model, data)
    put(data, 0, COMPUTED, 0.0)
    if not joints.acceptable(model, q) or len(out) != 3 or overlap(out, q):
        return False
    mass, moment = moment_of_all(model, data, q)
    vec3.store(out, 0, vec3.scale(1.0 / mass, moment))
    put(data, 0, COMPUTED, float(POSES))
    return finite(out)


@kernel
def potential_energy(model: MATRIX, data: MATRIX, q: VECTOR, out: VECTOR):
    """Write the energy (1,) of gravity, springs and stops; return whether all is good."""
    model, data = of_known_width(model, data)
    put(data, 0, COMPUTED, 0.0)
    if not joints.acceptable(model, q):
        return False
    _, moment = moment_of_all(model, data, q)
    energy = vec3.dot(moment, load3(data, 0, ACCELERATION + 3))  # -a_g . m c (3.0)
    for k in range(get_int(model, 0, NV)):  # (3.19)
        row = coordinate_row(model, k)
        stretch = q[get_int(model, row, POSITION_AT)] - get(model, row, REST)
        energy += 0.5 * get(model, row, STIFFNESS) * stretch * stretch + stops.of_coordinate(
            model, k, stops.energy, q)  # (3.21)
    out[0] = energy
    put(data, 0, COMPUTED, float(POSES))
    return finite(out)


@inlined
def moment_of_all(model, data, q):
    """Return the mass of all that moves, and its moment m c in the ground."""
    links = get_int(model, 0, LINKS)
    joints.store_angles(model, data, q)
    for i in range(1, links):
        place_mass(model, data, i, q)
    mass, moment = 0.0, vec3.ZERO
    for i in range(links - 1, 0, -1):
        m, h = carry_mass(model, data, i)
        if get_int(model, i, PARENT) == 0:
            mass, moment = mass + m, vec3.add(moment, h)
    return mass, moment


@inlined
def place_mass(model, data, i, q):
    """Write the pose of link i in its parent, its own mass and its moment."""
    motion.store_pose(model, data, i, q)
    put(data, i, COMPOSITE, get(model, i, INERTIA))
    store3(data, i, COMPOSITE + 1, load3(model, i, INERTIA + 1))


@inlined
def carry_mass(model, data, i):
    """Return the mass of link i and all after it, and its moment in the parent; add them there."""
    m, h = get(data, i, COMPOSITE), load3(data, i, COMPOSITE + 1)
    h = vec3.axpy(m, load3(data, i, POSITION), mat3.apply(load9(data, i, ROTATION), h))
    parent = get_int(model, i, PARENT)
    if parent > 0:
        put(data, parent, COMPOSITE, get(data, parent, COMPOSITE) + m)
        add3(data, parent, COMPOSITE + 1, h)
    return m, h


@kernel
def gravity_forces(model: MATRIX, data: MATRIX, q: VECTOR, out: VECTOR) -> TRUTH:
    """
    Write the joint forces (nv,) that hold the machine at rest; return whether all is good.

    The weight of a link and all after it is a force through their centre of mass. Inverse
    dynamics at rest has no other wrench.
    """
    model, data = of_known_width(model, data)
    put(data, 0, COMPUTED, 0.0)
    if not joints.acceptable(model, q) or len(out) != get_int(model, 0, NV) or overlap(out, q):
        return False
    links = get_int(model, 0, LINKS)
    joints.store_angles(model, data, q)
    for i in range(1, links):
        place_mass(model, data, i, q)
        lift = load3(data, get_int(model, i, PARENT), ACCELERATION + 3)  # -a_g (3.0)
        store3(data, i, ACCELERATION + 3, mat3.apply_t(load9(data, i, ROTATION), lift))
    for i in range(links - 1, 0, -1):
        kind, pitch = get_int(model, i, KIND), get(model, i, PITCH)
        m, h, lift = get(data, i, COMPOSITE), load3(data, i, COMPOSITE + 1), load3(
            data, i, ACCELERATION + 3)
        moment, force = vec3.cross(h, lift), vec3.scale(m, lift)  # (1.17)
        for k in range(joints.degrees(kind)):
            out[get_int(model, i, VI) + k] = joints.along(kind, pitch, k, moment, force)
        carry_mass(model, data, i)
    put(data, 0, COMPUTED, float(POSES))
    return finite(out)


@kernel
def kinetic_energy(model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, out: VECTOR):
    """Write the kinetic energy (1,); return whether all is good."""
    model, data = of_known_width(model, data)
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)):
        return False
    energy = 0.0
    joints.store_angles(model, data, q)
    for i in range(1, get_int(model, 0, LINKS)):
        motion.store_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        m, f = rigid.apply(rigid.load(model, i, INERTIA), w, u)  # (1.18)
        energy += 0.5 * (vec3.dot(w, m) + vec3.dot(u, f))
    for k in range(len(v)):  # (3.20)
        energy += 0.5 * get(model, coordinate_row(model, k), ARMATURE) * v[k] * v[k]
    out[0] = energy
    put(data, 0, COMPUTED, float(POSES + TWISTS))
    return finite(out)


@kernel
def momentum(model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, out: VECTOR) -> TRUTH:
    """Write angular momentum about the ground's origin, then linear (6,); return if good."""
    model, data = of_known_width(model, data)
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and len(out) == 6) or overlap(out, q) or overlap(out, v):
        return False
    links = get_int(model, 0, LINKS)
    joints.store_angles(model, data, q)
    for i in range(1, links):
        motion.store_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        m, f = rigid.apply(rigid.load(model, i, INERTIA), w, u)  # (1.18)
        store3(data, i, WRENCH, m)
        store3(data, i, WRENCH + 3, f)
    angular, linear = vec3.ZERO, vec3.ZERO
    for i in range(links - 1, 0, -1):
        m, f = se3.adjoint_inverse_dual(
            load9(data, i, ROTATION), load3(data, i, POSITION), load3(data, i, WRENCH),
            load3(data, i, WRENCH + 3))
        parent = get_int(model, i, PARENT)
        if parent > 0:
            add3(data, parent, WRENCH, m)
            add3(data, parent, WRENCH + 3, f)
        else:
            angular, linear = vec3.add(angular, m), vec3.add(linear, f)
    vec3.store(out, 0, angular)
    vec3.store(out, 3, linear)
    put(data, 0, COMPUTED, float(POSES + TWISTS))
    return finite(out)


@kernel
def center_of_mass_motion(
        model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, a: VECTOR, out: MATRIX):
    """Write the centre of mass, velocity and acceleration (3, 3); return whether all is good."""
    model, data = of_known_width(model, data)
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_velocity(model, a)):
        return False
    mass, moment, linear, force = 0.0, vec3.ZERO, vec3.ZERO, vec3.ZERO
    joints.store_angles(model, data, q)
    for i in range(1, get_int(model, 0, LINKS)):
        motion.store_ground_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        dw, du = motion.store_acceleration(model, data, i, v, a)
        r, _ = motion.load_ground_pose(data, i)
        body = rigid.load(model, i, INERTIA)
        m, h = moment_of(model, data, i)
        mass, moment = mass + m, vec3.add(moment, h)
        linear = vec3.add(linear, mat3.apply(r, rigid.apply(body, w, u)[1]))
        net = vec3.add(rigid.apply(body, dw, du)[1], rigid.bias(body, w, u)[1])  # (1.19)
        force = vec3.add(force, mat3.apply(r, net))
    out[0, 0], out[0, 1], out[0, 2] = vec3.scale(1.0 / mass, moment)
    out[1, 0], out[1, 1], out[1, 2] = vec3.scale(1.0 / mass, linear)
    # Accelerations are less gravity, and so is the force (3.0).
    lift = load3(data, 0, ACCELERATION + 3)
    out[2, 0], out[2, 1], out[2, 2] = vec3.sub(vec3.scale(1.0 / mass, force), lift)
    put(data, 0, COMPUTED, float(POSES + TWISTS))
    return finite(out)


@inlined
def place_body(model, data, i, q):
    """Write the pose of link i in its parent and in the ground, and its own inertia."""
    motion.store_ground_pose(model, data, i, q)
    rigid.store(data, i, COMPOSITE, rigid.load(model, i, INERTIA))


@inlined
def moment_of(model, data, i):
    """Return the mass of link i, and its moment in the ground."""
    r, p = motion.load_ground_pose(data, i)
    m = get(model, i, INERTIA)
    return m, vec3.axpy(m, p, mat3.apply(r, load3(model, i, INERTIA + 1)))


@inlined
def wrench_about_center_of_mass(center, r, p, m, f):
    """Return a wrench of the link at (r, p) in the ground, about the centre of mass."""
    return se3.adjoint_inverse_dual(r, vec3.sub(p, center), m, f)  # (1.2)


@kernel
def centroidal_map(model: MATRIX, data: MATRIX, q: VECTOR, out: MATRIX):
    """Write A (6, nv), A v being the momentum about the centre of mass; return if all is good."""
    model, data = of_known_width(model, data)
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_matrix(model, out, 6)
            and not overlap(out, q)):
        return False
    links, mass, moment = get_int(model, 0, LINKS), 0.0, vec3.ZERO
    joints.store_angles(model, data, q)
    for i in range(1, links):
        place_body(model, data, i, q)
        m, h = moment_of(model, data, i)
        mass, moment = mass + m, vec3.add(moment, h)
    center = vec3.scale(1.0 / mass, moment)
    for i in range(links - 1, 0, -1):
        body = rigid.load(data, i, COMPOSITE)
        write_momenta(model, data, i, body, center, out)
        crba.add_composite_to_parent(model, data, i, body)
    put(data, 0, COMPUTED, float(POSES))
    return finite(out)


@inlined
def write_momenta(model, data, i, body, center, out):
    """Write the columns of link i, those of three axes side by side."""
    kind, column = get_int(model, i, KIND), get_int(model, i, VI)
    r, p = motion.load_ground_pose(data, i)
    if kind < SPHERICAL:
        m, f = wrench_about_center_of_mass(center, r, p,
                                           *rigid.of_screw(body, kind, get(model, i, PITCH), 0))
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
    (model, data), blocks = of_known_width(model, data), of_width(blocks, coriolis.BLOCK_WIDTH)
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)
            and joints.is_matrix(model, out, 6) and not overlap(out, q)
            and not overlap(out, v)):
        return False
    links, mass, moment, linear = get_int(model, 0, LINKS), 0.0, vec3.ZERO, vec3.ZERO
    joints.store_angles(model, data, q)
    for i in range(1, links):
        place_body(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        body = rigid.load(model, i, INERTIA)
        coriolis.store_rate(blocks, i, body, w, u)
        m, h = moment_of(model, data, i)
        mass, moment = mass + m, vec3.add(moment, h)
        r, _ = motion.load_ground_pose(data, i)
        linear = vec3.add(linear, mat3.apply(r, rigid.apply(body, w, u)[1]))
    center, speed = vec3.scale(1.0 / mass, moment), vec3.scale(1.0 / mass, linear)
    for i in range(links - 1, 0, -1):
        for k in range(joints.degrees(get_int(model, i, KIND))):
            m, f = rate_column(model, data, blocks, i, k, center, speed)
            store_column(out, get_int(model, i, VI) + k, m, f)
        coriolis.add_to_parent(model, data, blocks, i)
    put(data, 0, COMPUTED, float(POSES + TWISTS))
    return finite(out)


@inlined
def rate_column(model, data, blocks, i, k, center, speed):
    """Return the derivative of the column of coordinate k of link i."""
    w, u = joints.screw(get_int(model, i, KIND), get(model, i, PITCH), k)
    body = rigid.load(data, i, COMPOSITE)
    r, p = motion.load_ground_pose(data, i)
    own = rigid.of_screw(body, get_int(model, i, KIND), get(model, i, PITCH), k)
    ew, eu = se3.ad(load3(data, i, TWIST), load3(data, i, TWIST + 3), w, u)
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
