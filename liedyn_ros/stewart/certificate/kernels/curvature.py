# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
J^-1 and how J changes about a pose: the basis of all proofs.

The table's platform joints are about their centroid, in units of their radius of gyration. So rho
of (14.1) is 1 and a twist (w, v) has the norm of six numbers. The chart at a pose is R exp(w),
p + R v. Each leg's second derivative H_i (14.5) has ten different numbers. Six are of the
symmetric part of w with w, three of w with v, one of v with v.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.linear_algebra.kernels.elimination import invert_6x6
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, legs

UNIT_ROUNDOFF = 2.0 ** -53

# Parts of a workspace: Dg, its inverse A, and the ten numbers of H_i over L of each leg. Then, of
# each leg: g, |l|, L, |a|, |b|, |c| and the norm of its column of A.
DG, A, H, LEG_PARTS = 0, 36, 72, 132
G, LENGTH_PART, MEASURED_PART, INVERSE_PART, BASE_PART, PLATFORM_PART, CENTRE_PART, COLUMN_PART = (
    0, 6, 12, 18, 24, 30, 36, 42)
CURVATURE_WORK = LEG_PARTS + 48


@kernel
def write_curvature(table, r, p, squared, work):
    """
    Write Dg, A, H and the legs' numbers at a pose, for squared lengths (6,).

    Returns False where Dg has no inverse.
    """
    part = work[LEG_PARTS:CURVATURE_WORK]
    for i in range(6):
        a, b = legs.base_joint(table, i), legs.platform_joint(table, i)
        measured, offset, other_offset = squared[i] ** 0.5, 0.0, 0.0
        if len(table) > leg_rows.ENDS and not is_wire(table, i):
            a = leg_types.leg_origin(table, i, r, p)
            measured -= table[leg_rows.ENDS + leg_rows.ROW * i + leg_rows.END_SHIFT]
        c = mat3.apply_t(r, vec3.sub(p, a))
        d = vec3.add(c, b)  # the leg in the platform frame
        square = vec3.dot(d, d)
        inverse = 1.0 / measured
        vec3.store(work, DG + 6 * i, vec3.scale(inverse, vec3.cross(b, d)))
        vec3.store(work, DG + 6 * i + 3, vec3.scale(inverse, d))
        part[G + i] = 0.5 * (square - measured * measured) * inverse
        part[LENGTH_PART + i] = square ** 0.5
        if len(table) > leg_rows.ENDS:  # the second derivatives are those of the joints (14.45)
            a, b, c, offset, other_offset = joints_of(table, i, r, p, a, b, c)
        part[MEASURED_PART + i], part[INVERSE_PART + i] = measured, inverse
        part[BASE_PART + i] = vec3.dot(a, a) ** 0.5 + offset
        part[PLATFORM_PART + i] = vec3.dot(b, b) ** 0.5 + other_offset
        part[CENTRE_PART + i] = vec3.dot(c, c) ** 0.5
        write_normal_curvature(b, c, inverse, work[H + i:LEG_PARTS])
    _, regular = invert_6x6(work[DG:A], work[A:H])
    for i in range(6):
        total = 0.0
        for j in range(6):
            total += work[A + 6 * j + i] * work[A + 6 * j + i]
        part[COLUMN_PART + i] = total ** 0.5
    return regular


@kernel
def is_wire(table, i):
    """Return whether a leg is a wire: its end lies on the free wire, as far back as it is long."""
    return table[leg_rows.ENDS + leg_rows.ROW * i + leg_rows.KIND] == leg_rows.WIRE


@kernel
def joints_of(table, i, r, p, a, b, c):
    """Return a leg's joints, b, c and offsets, where it has offset joints; else its ends and 0."""
    row = table[leg_rows.ENDS + leg_rows.ROW * i:leg_rows.ENDS + leg_rows.ROW * (i + 1)]
    if row[leg_rows.KIND] != leg_rows.OFFSET:
        return a, b, c, 0.0, 0.0
    a, b = vec3.load(row, leg_rows.BASE), vec3.load(row, leg_rows.PLATFORM)
    return (a, b, mat3.apply_t(r, vec3.sub(p, a)), row[leg_rows.LENGTH], row[leg_rows.OTHER])


@kernel
def write_normal_curvature(b, c, inverse, h):
    """Write the ten numbers of a leg's H over its length (14.5), six places apart."""
    bc = vec3.dot(b, c)
    for k in range(3):
        after, last = (k + 1) % 3, (k + 2) % 3
        h[6 * k] = inverse * (b[k] * c[k] - bc)
        h[6 * (3 + k)] = 0.5 * inverse * (b[after] * c[last] + b[last] * c[after])
        h[6 * (6 + k)] = inverse * b[k]
    h[6 * 9] = inverse


@kernel
def squares(work):
    """Return the square norms of T_j = sum of A_ji H_i: w with w, w with v (once), v with v."""
    turning, mixed = 0.0, 0.0
    for k in range(3):
        turning += column(work, k) + 2.0 * column(work, 3 + k)
        mixed += 2.0 * column(work, 6 + k)
    return turning, mixed, 3.0 * column(work, 9)


@kernel
def column(work, k):
    """Return the sum of the squares of number k of all T_j."""
    h = work[H + 6 * k:H + 6 * k + 6]
    h0, h1, h2, h3, h4, h5 = h[0], h[1], h[2], h[3], h[4], h[5]
    total = 0.0
    for j in range(A, A + 36, 6):
        t = (work[j] * h0 + work[j + 1] * h1 + work[j + 2] * h2 + work[j + 3] * h3
             + work[j + 4] * h4 + work[j + 5] * h5)
        total += t * t
    return total


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
    return error ** 0.5 + 8.0 * UNIT_ROUNDOFF * (size_a * size_dg) ** 0.5


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
    return total ** 0.5 + 4.0 * UNIT_ROUNDOFF
