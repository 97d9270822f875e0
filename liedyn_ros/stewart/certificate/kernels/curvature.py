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
J^-1 and how J changes about a pose: the basis of all proofs.

The table's platform joints are about their centroid, in units of their radius of gyration. So rho
of (14.1) is 1 and a twist (w, v) has the norm of six numbers. The chart at a pose is R exp(w),
p + R v. Each leg's second derivative H_i (14.5) has ten different numbers. Six are of the
symmetric part of w with w, three of w with v, one of v with v.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.stewart.platform.kernels import legs
from liedyn_ros.stewart.platform.kernels.inverse_rates import invert

ROUNDING = 2.0 ** -53

# Parts of a workspace: Dg, its inverse A, a copy of Dg that is overwritten, T row by row. Then for
# each leg g, |l|, L, |a|, |b|, |c| and the norm of its column of A.
DG, A, COPY, T, LEG = 0, 36, 72, 108, 168
PART = 10  # numbers of a row of T
G, LENGTH, MEASURED, BASE, PLATFORM, CENTRE, COLUMN = 0, 6, 12, 18, 24, 30, 36
WORK = LEG + 42


@kernel
def examine(table, r, p, squared, work):
    """
    Write Dg, A, T and the legs' numbers at a pose, for squared lengths (6,).

    Returns False where Dg has no inverse.
    """
    part = work[LEG:WORK]
    for i in range(6):
        a, b = legs.base_joint(table, i), legs.platform_joint(table, i)
        c = mat3.apply_t(r, vec3.sub(p, a))
        # The leg in the platform frame.
        d = mat3.apply_t(r, legs.leg_vector(table, i, r, p))
        measured, square = squared[i] ** 0.5, vec3.dot(d, d)
        vec3.store(work, DG + 6 * i, vec3.scale(1.0 / measured, vec3.cross(b, d)))
        vec3.store(work, DG + 6 * i + 3, vec3.scale(1.0 / measured, d))
        part[G + i] = (square - squared[i]) / (2.0 * measured)
        part[LENGTH + i], part[MEASURED + i] = square ** 0.5, measured
        part[BASE + i] = vec3.dot(a, a) ** 0.5
        part[PLATFORM + i], part[CENTRE + i] = vec3.dot(b, b) ** 0.5, vec3.dot(c, c) ** 0.5
    for k in range(36):
        work[COPY + k] = work[DG + k]
    if not invert(work[COPY:COPY + 36], work[A:A + 36]):
        return False
    for i in range(6):
        total = 0.0
        for j in range(6):
            total += work[A + 6 * j + i] * work[A + 6 * j + i]
        part[COLUMN + i] = total ** 0.5
    write_curvature(table, r, p, work)
    return True


@kernel
def write_curvature(table, r, p, work):
    """Write T_j = sum of A_ji H_i, ten numbers each (14.5)."""
    for k in range(6 * PART):
        work[T + k] = 0.0
    for i in range(6):
        a, b = legs.base_joint(table, i), legs.platform_joint(table, i)
        c = mat3.apply_t(r, vec3.sub(p, a))
        inverse, bc = 1.0 / work[LEG + MEASURED + i], vec3.dot(b, c)
        xx, yy, zz = b[0] * c[0] - bc, b[1] * c[1] - bc, b[2] * c[2] - bc
        xy, xz, yz = (0.5 * (b[0] * c[1] + b[1] * c[0]), 0.5 * (b[0] * c[2] + b[2] * c[0]),
                      0.5 * (b[1] * c[2] + b[2] * c[1]))
        for j in range(6):
            share, at = inverse * work[A + 6 * j + i], T + PART * j
            work[at] += share * xx
            work[at + 1] += share * yy
            work[at + 2] += share * zz
            work[at + 3] += share * xy
            work[at + 4] += share * xz
            work[at + 5] += share * yz
            work[at + 6] += share * b[0]
            work[at + 7] += share * b[1]
            work[at + 8] += share * b[2]
            work[at + 9] += share


@kernel
def squares(work):
    """Return the square norms of the parts of T: w with w, w with v (once), v with v."""
    turning, mixed, moving = 0.0, 0.0, 0.0
    for j in range(6):
        at = T + PART * j
        for k in range(3):
            turning += work[at + k] * work[at + k] + 2.0 * work[at + 3 + k] * work[at + 3 + k]
            mixed += 2.0 * work[at + 6 + k] * work[at + 6 + k]
        moving += 3.0 * work[at + 9] * work[at + 9]
    return turning, mixed, moving


@kernel
def inverse_error(work):
    """Return a bound of |1 - A Dg|, rounding included."""
    error, size_a, size_dg = 0.0, 0.0, 0.0
    for i in range(6):
        for j in range(6):
            total = 1.0 if i == j else 0.0
            for k in range(6):
                total -= work[A + 6 * i + k] * work[DG + 6 * k + j]
            error += total * total
            size_a += work[A + 6 * i + j] * work[A + 6 * i + j]
            size_dg += work[DG + 6 * i + j] * work[DG + 6 * i + j]
    return error ** 0.5 + 8.0 * ROUNDING * (size_a * size_dg) ** 0.5


@kernel
def not_orthonormal(r):
    """Return a bound of |R^T R - 1|, rounding included."""
    total = 0.0
    for i in range(3):
        for j in range(3):
            entry = r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j]
            if i == j:
                entry -= 1.0
            total += entry * entry
    return total ** 0.5 + 4.0 * ROUNDING
