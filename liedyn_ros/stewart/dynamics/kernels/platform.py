# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Leg forces of a platform's motion and the motion under leg forces, to any order (12.42), (12.43).

Virtual work: J^T F is what the platform needs alone and the wrenches of the forces at the tips
that move the legs. At every order the same matrix is solved with: J^T, or the mass matrix M_x.
"""

import math

import numpy as np

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, motion, vec3
from liedyn_ros.lie.kernels.tolerance import TOLERANCE
from liedyn_ros.stewart.dynamics.kernels import leg as legs
from liedyn_ros.stewart.dynamics.kernels.leg import GRAVITY, V, W
from liedyn_ros.stewart.dynamics.kernels.series import cross, get, product, put

INVERSE, FORWARD, MASS_MATRIX = range(3)
DONE, SINGULAR, REFUSED = range(3)
MIN_PIVOT = 1e-10  # of a factor over the largest entry

# Constants: mass, m c and inertia (9) about the origin of the platform, its size, gravity.
MASS, HEAVY, ROUND, SIZE, WEIGHT, CONSTANTS = 0, 1, 4, 13, 14, 17
# Rows of the series: what legs share; acceleration of the origin, its change with the place
# (3, 3): [w'] + [w]^2; I w; leg forces; wrench from outside. Then those of each leg.
A, CHANGE, ROLL, FORCE, EXTERNAL, FIRST = (np.int64(k) for k in (9, 12, 21, 24, 30, 36))
ROWS = int(FIRST) + 6 * legs.WIDTH


@kernel
def solve(constants, table, series, matrix, order, task, pose, twist, a, forces, external,
          stretch):
    """
    Write forces (orders, 6) of accelerations of the body twist, or the other way; or M_x.

    constants are the platform's, table (6, LEG) the legs'. external (orders, 6), in the platform
    frame, has no rows where there is none. stretch (orders, 6) takes the second derivatives of the
    leg lengths and what follows. matrix (6, 6) and order (12,) are room for factors; MASS_MATRIX
    writes M_x there and the kinetic and potential energy into forces. Returns DONE, SINGULAR or
    REFUSED, for numbers that are not finite.
    """
    if pose.shape != (4, 4) or twist.shape != (6,) or not acceptable(pose):
        return REFUSED
    r, p = motion.split(pose)
    begin(constants, table, series, r, p)
    scale = 1.0
    for c in range(6):
        series[W + c, 0] = twist[c]
    for k in range(len(a)):
        scale /= max(k, 1)
        for c in range(6):
            series[W + c, k + 1] = scale / (k + 1.0) * a[k, c] if task == INVERSE else 0.0
            series[FORCE + c, k] = scale * forces[k, c] if task == FORWARD else 0.0
            series[EXTERNAL + c, k] = scale * external[k, c] if len(external) > 0 else 0.0
    scale = 1.0
    for k in range(len(a)):
        advance(constants, table, series, k)
        if k == 0 and not prepare(constants, table, series, matrix, order, task):
            return SINGULAR
        if task == MASS_MATRIX:
            write_energy(constants, table, series, matrix, mat3.apply_t(r, p), forces)
            return DONE
        scale *= max(k, 1)
        moment, force = need(constants, table, series, k)
        if task == INVERSE:
            pull(constants, series, matrix, order, moment, force, k)
            for c in range(6):
                forces[k, c] = scale * series[FORCE + c, k]
                if not math.isfinite(forces[k, c]):
                    return REFUSED
        else:
            accelerate(series, matrix, moment, force, k)
            for c in range(6):
                a[k, c] = scale * (k + 1.0) * series[W + c, k + 1]
                if not math.isfinite(a[k, c]):
                    return REFUSED
            if k + 1 < len(a):
                advance(constants, table, series, k)
        write_stretch(table, series, task == FORWARD and k + 1 == len(a), scale, k, stretch)
    return DONE


@kernel
def write_stretch(table, series, still, scale, k, stretch):
    """
    Write coefficient k of the second derivatives of the leg lengths.

    still says that the series were computed without the acceleration of order k.
    """
    dw, dv = get(series, W, k + 1), get(series, V, k + 1)
    for i in range(6):
        o = FIRST + legs.WIDTH * i
        along = series[o + legs.U_A, k] + product(series, o + legs.NEAR, o + legs.ACROSS2, k)
        if still:
            tip = vec3.add(dv, vec3.cross(dw, vec3.load(table[i], legs.TIP)))
            along += (k + 1.0) * vec3.dot(get(series, o + legs.U, 0), tip)
        stretch[k, i] = scale * along


@kernel
def acceptable(pose):
    """Return whether a matrix is a pose, within the tolerance of all input."""
    r, p = motion.split(pose)
    square = mat3.mul(mat3.transpose(r), r)
    worst = max(abs(pose[3, 0]), abs(pose[3, 1]), abs(pose[3, 2]), abs(pose[3, 3] - 1.0))
    for c in range(9):
        worst = max(worst, abs(square[c] - mat3.IDENTITY[c]))
    right = vec3.dot(vec3.cross((r[0], r[3], r[6]), (r[1], r[4], r[7])), (r[2], r[5], r[8]))
    return worst <= TOLERANCE and right > 0.0 and math.isfinite(p[0] + p[1] + p[2])


@kernel
def begin(constants, table, series, r, p):
    """Write what the pose alone decides."""
    put(series, GRAVITY, 0, mat3.apply_t(r, vec3.load(constants, WEIGHT)))
    for i in range(6):
        o, leg = FIRST + legs.WIDTH * i, table[i]
        away = mat3.apply_t(r, vec3.sub(p, vec3.load(leg, legs.BASE)))
        put(series, o + legs.D, 0, vec3.add(away, vec3.load(leg, legs.TIP)))
        put(series, o + legs.E1, 0, mat3.apply_t(r, vec3.load(leg, legs.AXIS)))


@kernel
def advance(constants, table, series, k):
    """Write coefficient k of all that the twist to order k + 1 decides."""
    w, v, scale = get(series, W, k), get(series, V, k), k + 1.0
    dw, dv = vec3.scale(scale, get(series, W, k + 1)), vec3.scale(scale, get(series, V, k + 1))
    put(series, A, k, vec3.add(dv, cross(series, W, V, k)))
    xx, yy, zz = (product(series, W, W, k), product(series, W + 1, W + 1, k),
                  product(series, W + 2, W + 2, k))
    xy, xz, yz = (product(series, W, W + 1, k), product(series, W, W + 2, k),
                  product(series, W + 1, W + 2, k))
    put(series, CHANGE, k, (-yy - zz, xy - dw[2], xz + dw[1]))
    put(series, CHANGE + 3, k, (xy + dw[2], -xx - zz, yz - dw[0]))
    put(series, CHANGE + 6, k, (xz - dw[1], yz + dw[0], -xx - yy))
    put(series, ROLL, k, mat3.apply(mat3.load(constants, ROUND), w))
    if k > 0:
        put(series, GRAVITY, k, vec3.scale(-1.0 / k, cross(series, W, GRAVITY, k - 1)))
    for i in range(6):
        o, leg = FIRST + legs.WIDTH * i, table[i]
        tip = vec3.load(leg, legs.TIP)
        if k > 0:
            put(series, o + legs.D, k, vec3.scale(1.0 / k, vec3.sub(
                get(series, o + legs.TIP_V, k - 1), cross(series, W, o + legs.D, k - 1))))
        put(series, o + legs.TIP_V, k, vec3.add(v, vec3.cross(w, tip)))
        put(series, o + legs.TIP_A, k, vec3.add(get(series, A, k), change_at(series, tip, k)))
        legs.follow(leg, series, o, k)
        if leg[legs.AXIAL] > 0.0:
            legs.turn(series, o, k)


@kernel
def change_at(series, x, k):
    """Return coefficient k of ([w'] + [w]^2) x."""
    return (vec3.dot(get(series, CHANGE, k), x), vec3.dot(get(series, CHANGE + 3, k), x),
            vec3.dot(get(series, CHANGE + 6, k), x))


@kernel
def need(constants, table, series, k):
    """
    Return coefficient k of the wrench that platform and legs need of J_0^T F_k alone.

    F_k counts as it stands: the wrench is what is left to add.
    """
    heavy = vec3.load(constants, HEAVY)
    pull_away = vec3.sub(get(series, A, k), get(series, GRAVITY, k))
    force = vec3.axpy(constants[MASS], pull_away, change_at(series, heavy, k))
    dw = vec3.scale(k + 1.0, get(series, W, k + 1))
    moment = vec3.add(mat3.apply(mat3.load(constants, ROUND), dw), vec3.add(
        cross(series, W, ROLL, k), vec3.cross(heavy, pull_away)))
    moment = vec3.sub(moment, get(series, EXTERNAL, k))
    force = vec3.sub(force, get(series, EXTERNAL + 3, k))
    for i in range(6):
        o, leg = FIRST + legs.WIDTH * i, table[i]
        tip_force = legs.force(leg, series, o, k)
        for h in range(k + 1):
            tip_force = vec3.axpy(-series[FORCE + i, h], get(series, o + legs.U, k - h), tip_force)
        force = vec3.add(force, tip_force)
        moment = vec3.add(moment, vec3.cross(vec3.load(leg, legs.TIP), tip_force))
    return moment, force


@kernel
def prepare(constants, table, series, matrix, order, task):
    """Factor J^T or M_x, or write M_x; return whether the factor is regular."""
    if task == INVERSE:
        for i in range(6):
            u = get(series, FIRST + legs.WIDTH * i + legs.U, 0)
            m = vec3.cross(vec3.load(table[i], legs.TIP), u)
            for c in range(3):
                matrix[c, i], matrix[3 + c, i] = m[c] / constants[SIZE], u[c]
        return factor(matrix, order)
    write_mass(constants, table, series, matrix)
    return task == MASS_MATRIX or cholesky(matrix, constants[SIZE])


@kernel
def pull(constants, series, matrix, order, moment, force, k):
    """Solve J^T F = (moment, force) for coefficient k of the leg forces."""
    x = order[6:]
    for c in range(3):
        x[c], x[3 + c] = moment[c] / constants[SIZE], force[c]
    for i in range(6):
        at = int(order[i])
        x[i], x[at] = x[at], x[i]
        for j in range(i):
            x[i] -= matrix[i, j] * x[j]
    for i in range(5, -1, -1):
        for j in range(i + 1, 6):
            x[i] -= matrix[i, j] * x[j]
        x[i] /= matrix[i, i]
        series[FORCE + i, k] = x[i]


@kernel
def factor(matrix, order):
    """Factor P M = L U in place; return whether the pivots are above the rounding."""
    for s in range(6):
        best = s
        for i in range(s + 1, 6):
            if abs(matrix[i, s]) > abs(matrix[best, s]):
                best = i
        order[s] = best
        if not abs(matrix[best, s]) > MIN_PIVOT:
            return False
        for j in range(6):
            matrix[s, j], matrix[best, j] = matrix[best, j], matrix[s, j]
        for i in range(s + 1, 6):
            matrix[i, s] /= matrix[s, s]
            for j in range(s + 1, 6):
                matrix[i, j] -= matrix[i, s] * matrix[s, j]
    return True


@kernel
def write_mass(constants, table, series, matrix):
    """Write M_x (6, 6): the platform's inertia and that of its legs (12.40)."""
    for i in range(6):
        for j in range(6):
            matrix[i, j] = 0.0
    add_inertia(matrix, mat3.load(constants, ROUND), mat3.hat(vec3.load(constants, HEAVY)),
                mat3.scale(constants[MASS], mat3.IDENTITY))
    for i in range(6):
        o, leg = FIRST + legs.WIDTH * i, table[i]
        near, u = series[o + legs.NEAR, 0], get(series, o + legs.U, 0)
        less = 2.0 * leg[legs.MOMENT] * near - leg[legs.ABOUT_JOINTS] * near * near
        g = mat3.add(mat3.scale(leg[legs.ROD] - less, mat3.IDENTITY),
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
            matrix[i, j] += first[3 * i + j]
            matrix[i, 3 + j] += second[3 * i + j]
            matrix[3 + j, i] += second[3 * i + j]
            matrix[3 + i, 3 + j] += third[3 * i + j]


@kernel
def cholesky(matrix, size):
    """Factor M = L L^T in place; return whether the pivots are above the rounding."""
    largest = 0.0
    for i in range(6):
        largest = max(largest, matrix[i, i] / (size * size if i < 3 else 1.0))
    for s in range(6):
        for j in range(s):
            matrix[s, s] -= matrix[s, j] * matrix[s, j]
        if not matrix[s, s] > MIN_PIVOT * largest * (size * size if s < 3 else 1.0):
            return False
        matrix[s, s] = math.sqrt(matrix[s, s])
        for i in range(s + 1, 6):
            for j in range(s):
                matrix[i, s] -= matrix[i, j] * matrix[s, j]
            matrix[i, s] /= matrix[s, s]
    return True


@kernel
def accelerate(series, matrix, moment, force, k):
    """Solve M_x x = -(moment, force) and write coefficient k + 1 of the twist."""
    for i in range(6):
        x = -moment[i] if i < 3 else -force[i - 3]
        for j in range(i):
            x -= matrix[i, j] * series[W + j, k + 1]
        series[W + i, k + 1] = x / matrix[i, i]
    for i in range(5, -1, -1):
        x = series[W + i, k + 1]
        for j in range(i + 1, 6):
            x -= matrix[j, i] * series[W + j, k + 1]
        series[W + i, k + 1] = x / matrix[i, i]
    for i in range(6):
        series[W + i, k + 1] /= k + 1.0


@kernel
def write_energy(constants, table, series, matrix, place, out):
    """Write the kinetic and the potential energy, legs included; place is R^T p (12.44)."""
    kinetic, gravity = 0.0, get(series, GRAVITY, 0)
    for i in range(6):
        for j in range(6):
            kinetic += 0.5 * series[W + i, 0] * matrix[i, j] * series[W + j, 0]
    potential = -vec3.dot(gravity, vec3.axpy(
        constants[MASS], place, vec3.load(constants, HEAVY)))
    for i in range(6):
        o, leg = FIRST + legs.WIDTH * i, table[i]
        along = leg[legs.ROD] / series[o + legs.NEAR, 0] + leg[legs.EXCESS]
        potential -= along * series[o + legs.U_G, 0]
    out[0, 0], out[0, 1] = kinetic, potential
