# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Leg forces of a platform's motion and the motion under leg forces, to any order (12.42), (12.43).

Virtual work: J^T F is the wrench of the platform alone plus the wrenches of the forces that move
the legs, at their tips. One matrix serves all orders: J^-T, or the factor of the mass matrix M_x.
"""

import math

import numpy as np

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR, WHOLE
from liedyn_ros.lie.kernels import mat3, motion, vec3
from liedyn_ros.lie.kernels.so3 import TOLERANCE
from liedyn_ros.linear_algebra.kernels.elimination import (
    factor_cholesky, invert_6x6, SIX, solve_cholesky_negated)
from liedyn_ros.stewart.dynamics.kernels import leg as legs
from liedyn_ros.stewart.dynamics.kernels.leg import (
    cross_coefficient, get, GRAVITY_SERIES, product, put, V, W)

INVERSE_TASK, FORWARD_TASK, MASS_MATRIX_TASK = range(3)
DONE, SINGULAR_PLATFORM, REFUSED_NUMBERS = range(3)
# Least pivot of M_x over its largest entry, and least 1 / |J^-T|, without units
MIN_MASS_PIVOT = 1e-10

# Constants: mass, m c and inertia (9) about the origin of the platform, its size, gravity.
PLATFORM_MASS, PLATFORM_MOMENT, PLATFORM_INERTIA, PLATFORM_SIZE, PLATFORM_GRAVITY = 0, 1, 4, 13, 14
# Rows of the series: those that all legs share; acceleration of the origin; its gradient (3, 3)
# [w'] + [w]^2; angular momentum I w; leg forces; external wrench. Then those of each leg.
A, GRADIENT, ANGULAR_MOMENTUM, DRIVE_FORCES, PLATFORM_WRENCH, FIRST_LEG = (
    np.int64(k) for k in (9, 12, 21, 24, 30, 36))
SERIES_ROWS = int(FIRST_LEG) + 6 * legs.LEG_SERIES_WIDTH


@kernel
def solve_platform(
        constants: VECTOR, table: MATRIX, series: MATRIX, matrix: VECTOR, buffer: VECTOR,
        task: WHOLE, pose: MATRIX, twist: VECTOR, a: MATRIX, forces: MATRIX, external: MATRIX,
        length_rates: MATRIX) -> WHOLE:
    """
    Write forces (orders, 6) from a, the derivatives of the body twist: INVERSE_TASK.

    FORWARD_TASK writes a from forces.
    constants are the platform's, table (6, LEG) the legs'. external (orders, 6), in the platform
    frame, has no rows where there is none. length_rates (orders, 6) takes the derivatives of the
    leg lengths from the second on. MASS_MATRIX_TASK writes M_x into matrix (36,) and the kinetic
    and potential energy into forces. matrix and buffer (42,) are scratch otherwise. Returns DONE,
    SINGULAR_PLATFORM, or REFUSED_NUMBERS for numbers that are not finite.
    """
    if pose.shape != (4, 4) or twist.shape != (6,) or not is_pose(pose):
        return REFUSED_NUMBERS
    r, p = motion.split(pose)
    begin_platform(constants, table, series, r, p)
    store_platform_series(series, task, twist, a, forces, external)
    scale = 1.0
    for k in range(len(a)):
        advance_platform(constants, table, series, k)
        if k == 0 and not factor_platform(
                constants, table, series, matrix, buffer, task):
            return SINGULAR_PLATFORM
        if task == MASS_MATRIX_TASK:
            write_energy(constants, table, series, matrix, mat3.apply_t(r, p), forces)
            return DONE
        scale *= max(k, 1)
        moment, force = required_wrench(constants, table, series, k)
        if task == INVERSE_TASK:
            solve_forces(constants, series, buffer, moment, force, k)
            for c in range(6):
                forces[k, c] = scale * series[DRIVE_FORCES + c, k]
                if not math.isfinite(forces[k, c]):
                    return REFUSED_NUMBERS
        else:
            solve_acceleration(constants, series, buffer, moment, force, k)
            for c in range(6):
                a[k, c] = scale * (k + 1.0) * series[W + c, k + 1]
                if not math.isfinite(a[k, c]):
                    return REFUSED_NUMBERS
            if k + 1 < len(a):
                advance_platform(constants, table, series, k)
        write_length_rates(
            table, series, task == FORWARD_TASK and k + 1 == len(a), scale, k, length_rates)
    return DONE


@inlined
def store_platform_series(series, task, twist, a, forces, external):
    """Write the Taylor coefficients of the given twist, accelerations, forces and wrenches."""
    scale = 1.0
    for c in range(6):
        series[W + c, 0] = twist[c]
    for k in range(len(a)):
        scale /= max(k, 1)
        for c in range(6):
            series[W + c, k + 1] = scale / (k + 1.0) * a[k, c] if task == INVERSE_TASK else 0.0
            series[DRIVE_FORCES + c, k] = scale * forces[k, c] if task == FORWARD_TASK else 0.0
            series[PLATFORM_WRENCH + c, k] = scale * external[k, c] if len(external) > 0 else 0.0


@kernel
def write_length_rates(table, series, incomplete, scale, k, length_rates):
    """
    Write coefficient k of the second derivatives of the leg lengths.

    incomplete says that the series were computed without the acceleration of order k.
    """
    dw, dv = get(series, W, k + 1), get(series, V, k + 1)
    for i in range(6):
        o = FIRST_LEG + legs.LEG_SERIES_WIDTH * i
        along = series[o + legs.U_A, k] + product(series, o + legs.NEAR, o + legs.ACROSS2, k)
        if incomplete:
            tip = vec3.add(dv, vec3.cross(dw, vec3.load(table[i], legs.TIP)))
            along += (k + 1.0) * vec3.dot(get(series, o + legs.U, 0), tip)
        length_rates[k, i] = scale * along


@kernel
def is_pose(pose):
    """Return whether a matrix is a pose, within the tolerance of all input."""
    r, p = motion.split(pose)
    square = mat3.mul(mat3.transpose(r), r)
    worst = max(abs(pose[3, 0]), abs(pose[3, 1]), abs(pose[3, 2]), abs(pose[3, 3] - 1.0))
    for c in range(9):
        worst = max(worst, abs(square[c] - mat3.UNIT_ENTRIES[c]))
    right = vec3.dot(vec3.cross((r[0], r[3], r[6]), (r[1], r[4], r[7])), (r[2], r[5], r[8]))
    return worst <= TOLERANCE and right > 0.0 and math.isfinite(p[0] + p[1] + p[2])


@kernel
def begin_platform(constants, table, series, r, p):
    """Write coefficient 0 of gravity, leg vectors and first joint axes, in the platform frame."""
    put(series, GRAVITY_SERIES, 0, mat3.apply_t(r, vec3.load(constants, PLATFORM_GRAVITY)))
    for i in range(6):
        o, leg = FIRST_LEG + legs.LEG_SERIES_WIDTH * i, table[i]
        away = mat3.apply_t(r, vec3.sub(p, vec3.load(leg, legs.BASE_POINT)))
        put(series, o + legs.D, 0, vec3.add(away, vec3.load(leg, legs.TIP)))
        put(series, o + legs.E1, 0, mat3.apply_t(r, vec3.load(leg, legs.AXIS)))


@kernel
def advance_platform(constants, table, series, k):
    """Write coefficient k of accelerations, momentum and legs from the twist to order k + 1."""
    w, v, scale = get(series, W, k), get(series, V, k), k + 1.0
    dw, dv = vec3.scale(scale, get(series, W, k + 1)), vec3.scale(scale, get(series, V, k + 1))
    put(series, A, k, vec3.add(dv, cross_coefficient(series, W, V, k)))
    xx, yy, zz = (product(series, W, W, k), product(series, W + 1, W + 1, k),
                  product(series, W + 2, W + 2, k))
    xy, xz, yz = (product(series, W, W + 1, k), product(series, W, W + 2, k),
                  product(series, W + 1, W + 2, k))
    put(series, GRADIENT, k, (-yy - zz, xy - dw[2], xz + dw[1]))
    put(series, GRADIENT + 3, k, (xy + dw[2], -xx - zz, yz - dw[0]))
    put(series, GRADIENT + 6, k, (xz - dw[1], yz + dw[0], -xx - yy))
    put(series, ANGULAR_MOMENTUM, k, mat3.apply(mat3.load(constants, PLATFORM_INERTIA), w))
    if k > 0:
        put(series, GRAVITY_SERIES, k, vec3.scale(
            -1.0 / k, cross_coefficient(series, W, GRAVITY_SERIES, k - 1)))
    for i in range(6):
        o, leg = FIRST_LEG + legs.LEG_SERIES_WIDTH * i, table[i]
        tip = vec3.load(leg, legs.TIP)
        if k > 0:
            put(series, o + legs.D, k, vec3.scale(1.0 / k, vec3.sub(
                get(series, o + legs.TIP_V, k - 1),
                cross_coefficient(series, W, o + legs.D, k - 1))))
        put(series, o + legs.TIP_V, k, vec3.add(v, vec3.cross(w, tip)))
        put(series, o + legs.TIP_A, k, vec3.add(
            get(series, A, k), relative_acceleration(series, tip, k)))
        legs.advance_leg(leg, series, o, k)
        if leg[legs.AXIAL] > 0.0:
            legs.advance_spin(series, o, k)


@kernel
def relative_acceleration(series, x, k):
    """Return coefficient k of ([w'] + [w]^2) x."""
    return (vec3.dot(get(series, GRADIENT, k), x), vec3.dot(get(series, GRADIENT + 3, k), x),
            vec3.dot(get(series, GRADIENT + 6, k), x))


@kernel
def required_wrench(constants, table, series, k):
    """
    Return coefficient k of the wrench that J_0^T F_k must supply to platform and legs (12.42).

    Subtracts the wrench of the leg forces F_h that the series hold already, F_k included.
    """
    first_moment = vec3.load(constants, PLATFORM_MOMENT)
    a = vec3.sub(get(series, A, k), get(series, GRAVITY_SERIES, k))
    force = vec3.axpy(constants[PLATFORM_MASS], a, relative_acceleration(series, first_moment, k))
    dw = vec3.scale(k + 1.0, get(series, W, k + 1))
    moment = vec3.add(mat3.apply(mat3.load(constants, PLATFORM_INERTIA), dw), vec3.add(
        cross_coefficient(series, W, ANGULAR_MOMENTUM, k), vec3.cross(first_moment, a)))
    moment = vec3.sub(moment, get(series, PLATFORM_WRENCH, k))
    force = vec3.sub(force, get(series, PLATFORM_WRENCH + 3, k))
    for i in range(6):
        o, leg = FIRST_LEG + legs.LEG_SERIES_WIDTH * i, table[i]
        tip_force = legs.force(leg, series, o, k)
        for h in range(k + 1):
            tip_force = vec3.axpy(-series[DRIVE_FORCES + i, h], get(series, o + legs.U, k - h),
                                  tip_force)
        force = vec3.add(force, tip_force)
        moment = vec3.add(moment, vec3.cross(vec3.load(leg, legs.TIP), tip_force))
    return moment, force


@kernel
def factor_platform(constants, table, series, matrix, buffer, task):
    """Write J^-T or the factor of M_x to buffer, or M_x to matrix; return if it is regular."""
    if task == INVERSE_TASK:
        for i in range(6):
            u = get(series, FIRST_LEG + legs.LEG_SERIES_WIDTH * i + legs.U, 0)
            m = vec3.cross(vec3.load(table[i], legs.TIP), u)
            for c in range(3):
                matrix[6 * c + i], matrix[18 + 6 * c + i] = m[c] / constants[PLATFORM_SIZE], u[c]
        _, regular = invert_6x6(matrix, buffer[:36])
        largest = 0.0
        for i in range(36):
            largest = max(largest, abs(buffer[i]))
        return regular and MIN_MASS_PIVOT * largest < 1.0
    write_mass_matrix(constants, table, series, matrix)
    return task == MASS_MATRIX_TASK or factor_platform_mass(
        matrix, constants[PLATFORM_SIZE], buffer)


@kernel
def solve_forces(constants, series, inverse, moment, force, k):
    """Solve J^T F = (moment, force) for coefficient k of the leg forces (12.42)."""
    m = vec3.scale(1.0 / constants[PLATFORM_SIZE], moment)
    for i in range(6):
        series[DRIVE_FORCES + i, k] = vec3.dot(vec3.load(inverse, 6 * i), m) + vec3.dot(
            vec3.load(inverse, 6 * i + 3), force)


@kernel
def write_mass_matrix(constants, table, series, matrix):
    """Write M_x (6, 6): the platform's inertia and that of its legs (12.40)."""
    for i in range(36):
        matrix[i] = 0.0
    add_inertia(matrix, mat3.load(constants, PLATFORM_INERTIA),
                mat3.hat(vec3.load(constants, PLATFORM_MOMENT)),
                mat3.scale(constants[PLATFORM_MASS], mat3.UNIT_ENTRIES))
    for i in range(6):
        o, leg = FIRST_LEG + legs.LEG_SERIES_WIDTH * i, table[i]
        near, u = series[o + legs.NEAR, 0], get(series, o + legs.U, 0)
        less = 2.0 * leg[legs.MOMENT] * near - leg[legs.ABOUT_JOINTS] * near * near
        g = mat3.add(mat3.scale(leg[legs.ROD] - less, mat3.UNIT_ENTRIES),
                     mat3.scale(less, mat3.outer(u, u)))
        if leg[legs.AXIAL] > 0.0:
            n, s = get(series, o + legs.N, 0), series[o + legs.SIN, 0]
            across = (s * near * series[o + legs.SEC2, 0])**2
            g = mat3.add(g, mat3.scale(leg[legs.AXIAL] * across, mat3.outer(n, n)))
        b = mat3.hat(vec3.load(leg, legs.TIP))
        moment = mat3.mul(b, g)
        add_inertia(matrix, mat3.mul(moment, mat3.transpose(b)), moment, g)


@kernel
def add_inertia(matrix, first, second, third):
    """Add [[first, second], [second^T, third]]."""
    for i in range(3):
        for j in range(3):
            matrix[6 * i + j] += first[3 * i + j]
            matrix[6 * i + 3 + j] += second[3 * i + j]
            matrix[18 + 6 * j + i] += second[3 * i + j]
            matrix[21 + 6 * i + j] += third[3 * i + j]


@kernel
def factor_platform_mass(matrix, size, factor):
    """Factor M_x over lengths in units of size; return whether it is positive definite."""
    largest = 0.0
    for i in range(6):
        for j in range(6):
            matrix[6 * i + j] /= (size if i < 3 else 1.0) * (size if j < 3 else 1.0)
        largest = max(largest, matrix[7 * i])
    return factor_cholesky(SIX, matrix, 0.0, MIN_MASS_PIVOT * largest, factor)


@kernel
def solve_acceleration(constants, series, buffer, moment, force, k):
    """Solve M_x x = -(moment, force) and write coefficient k + 1 of the twist (12.43)."""
    size, x = constants[PLATFORM_SIZE], buffer[36:]
    for c in range(3):
        x[c], x[3 + c] = moment[c] / size, force[c]
    solve_cholesky_negated(SIX, buffer, x, x)
    for c in range(3):
        series[W + c, k + 1] = x[c] / (size * (k + 1.0))
        series[V + c, k + 1] = x[3 + c] / (k + 1.0)


@kernel
def write_energy(constants, table, series, matrix, place, out):
    """Write the kinetic and the potential energy, legs included; place is R^T p (12.44)."""
    kinetic, gravity = 0.0, get(series, GRAVITY_SERIES, 0)
    for i in range(6):
        for j in range(6):
            kinetic += 0.5 * series[W + i, 0] * matrix[6 * i + j] * series[W + j, 0]
    potential = -vec3.dot(gravity, vec3.axpy(
        constants[PLATFORM_MASS], place, vec3.load(constants, PLATFORM_MOMENT)))
    for i in range(6):
        o, leg = FIRST_LEG + legs.LEG_SERIES_WIDTH * i, table[i]
        along = leg[legs.ROD] / series[o + legs.NEAR, 0] + leg[legs.EXCESS]
        potential -= along * series[o + legs.U_G, 0]
    out[0, 0], out[0, 1] = kinetic, potential
