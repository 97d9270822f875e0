# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Articulated-body inertia, a symmetric 6 by 6 matrix [A B; B^T C], and its pivots (3.10).

A and C are symmetric (symmetric.py), B is a general 3 by 3 matrix (mat3.py): 21 numbers.
"""

import math

from liedyn_ros.dynamics.tree.kernels import joints, symmetric
from liedyn_ros.dynamics.tree.kernels.tables import Link, Pivot, State, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import mat3, se3, vec3


@inlined
def of_rigid(body):
    """Return the inertia of a rigid body (m, h, J)."""
    m, h, j = body
    return j, mat3.hat(h), (m, 0.0, 0.0, m, 0.0, m)  # (1.17)


@inlined
def load(data, i):
    """Return the articulated inertia of link i."""
    return State(data, i).articulated


@inlined
def store(data, i, inertia):
    """Write the articulated inertia of link i."""
    State(data, i).articulated = inertia


@inlined
def add(x, y):
    """Return the sum of two inertias."""
    return symmetric.add(x[0], y[0]), mat3.add(x[1], y[1]), symmetric.add(x[2], y[2])


@inlined
def apply(inertia, w, v):
    """Return the wrench (m, f) = Ihat V."""
    a, b, c = inertia
    return (vec3.add(symmetric.apply(a, w), mat3.apply(b, v)),
            vec3.add(mat3.apply_t(b, w), symmetric.apply(c, v)))


@inlined
def eliminate(inertia, s, m, f):
    """Return Ihat - s U U^T with U = (m, f)."""
    a, b, c = inertia
    x, y, z = s * m[0], s * m[1], s * m[2]
    return (symmetric.minus_outer(a, s, m),
            (b[0] - x * f[0], b[1] - x * f[1], b[2] - x * f[2],
             b[3] - y * f[0], b[4] - y * f[1], b[5] - y * f[2],
             b[6] - z * f[0], b[7] - z * f[1], b[8] - z * f[2]),
            symmetric.minus_outer(c, s, f))  # (3.10)


@inlined
def transport(r, p, inertia):
    """Return Ad_{T^-1}^T Ihat Ad_{T^-1}, the inertia of link T = (r, p) seen by its parent."""
    a = symmetric.rotate(r, inertia[0])
    b = mat3.mul(r, mat3.mul(inertia[1], mat3.transpose(r)))
    return displace(p, a, b, symmetric.rotate(r, inertia[2]))


@inlined
def displace(p, a, b, c):
    """Return the inertia [A B; B^T C] of a frame at p with the axes of its parent, seen by it."""
    moved = mat3.add(b, hat_times(p, c))  # B + [p] C
    return shift(a, b, p, moved), moved, c


@inlined
def eliminate_turn(inertia, s):
    """
    Return the nonzero part of Ihat - U U^T / U_3, U being column 3 of Ihat and s = 1 / U_3.

    That is the case of a revolute joint without armature. The z axis has no moments then: of A
    xx, xy and yy are left, and of B two rows.
    """
    a, b, c = inertia
    x, y, f = s * a[2], s * a[4], (b[6], b[7], b[8])
    return ((a[0] - x * a[2], a[1] - x * a[4], a[3] - y * a[4]),
            (b[0] - x * f[0], b[1] - x * f[1], b[2] - x * f[2],
             b[3] - y * f[0], b[4] - y * f[1], b[5] - y * f[2]),
            symmetric.minus_outer(c, s, f))  # (3.10)


@inlined
def apply_without_turn(rest, w, v):
    """Return the wrench of a twist (w, v) with only x and y, rest being that of eliminate_turn."""
    a, b, c = rest
    return ((a[0] * w[0] + a[1] * w[1] + b[0] * v[0] + b[1] * v[1],
             a[1] * w[0] + a[2] * w[1] + b[3] * v[0] + b[4] * v[1], 0.0),
            (b[0] * w[0] + b[3] * w[1] + c[0] * v[0] + c[1] * v[1],
             b[1] * w[0] + b[4] * w[1] + c[1] * v[0] + c[3] * v[1],
             b[2] * w[0] + b[5] * w[1] + c[2] * v[0] + c[4] * v[1]))


@inlined
def transport_without_turn(r, p, rest):
    """Return the rest that eliminate_turn leaves, transported as by transport."""
    a, b, c = rest
    x, y, z = (r[0], r[1]), (r[3], r[4]), (r[6], r[7])
    ax, ay, az = apply_plane(a, x), apply_plane(a, y), apply_plane(a, z)
    b0, b1 = mat3.apply(r, b[0:3]), mat3.apply(r, b[3:6])  # rows of B R^T
    return displace(
        p, (dot_plane(x, ax), dot_plane(x, ay), dot_plane(x, az),
            dot_plane(y, ay), dot_plane(y, az), dot_plane(z, az)),
        (x[0] * b0[0] + x[1] * b1[0], x[0] * b0[1] + x[1] * b1[1], x[0] * b0[2] + x[1] * b1[2],
         y[0] * b0[0] + y[1] * b1[0], y[0] * b0[1] + y[1] * b1[1], y[0] * b0[2] + y[1] * b1[2],
         z[0] * b0[0] + z[1] * b1[0], z[0] * b0[1] + z[1] * b1[1], z[0] * b0[2] + z[1] * b1[2]),
        symmetric.rotate(r, c))


@inlined
def apply_plane(a, x):
    """Return A x for a symmetric 2 by 2 matrix xx, xy, yy."""
    return a[0] * x[0] + a[1] * x[1], a[1] * x[0] + a[2] * x[1]


@inlined
def dot_plane(x, y):
    """Return the inner product of two vectors of two numbers."""
    return x[0] * y[0] + x[1] * y[1]


@inlined
def hat_times(p, c):
    """Return [p] C for a symmetric C."""
    return (p[1] * c[2] - p[2] * c[1], p[1] * c[4] - p[2] * c[3], p[1] * c[5] - p[2] * c[4],
            p[2] * c[0] - p[0] * c[2], p[2] * c[1] - p[0] * c[4], p[2] * c[2] - p[0] * c[5],
            p[0] * c[1] - p[1] * c[0], p[0] * c[3] - p[1] * c[1], p[0] * c[4] - p[1] * c[2])


@inlined
def shift(a, b, p, moved):
    """Return the symmetric A - B [p] + [p] moved^T, moved = B + [p] C."""
    x, y, z = p
    return (a[0] + b[2] * y - b[1] * z + y * moved[2] - z * moved[1],
            a[1] + b[0] * z - b[2] * x + y * moved[5] - z * moved[4],
            a[2] + b[1] * x - b[0] * y + y * moved[8] - z * moved[7],
            a[3] + b[3] * z - b[5] * x + z * moved[3] - x * moved[5],
            a[4] + b[4] * x - b[3] * y + z * moved[6] - x * moved[8],
            a[5] + b[7] * x - b[6] * y + x * moved[7] - y * moved[6])


MIN_PIVOT = 1e-13  # relative to the inertia of the subtree: below is rounding


@inlined
def store_factor(data, row, pivot, smallest, gm, gf):
    """Write gain, inverse pivot and margin of a coordinate; return the inverse pivot."""
    inverse_pivot = 1.0 / pivot
    pivot_row = Pivot(data, row)
    pivot_row.margin = pivot - smallest
    pivot_row.inverse = inverse_pivot
    pivot_row.gain = gm, gf
    return inverse_pivot


@inlined
def is_principal(gm, gf):
    """
    Return whether the gain Ihat S of a coordinate has one entry alone, along S, or none.

    The axis is then principal through the centre of mass, without rounding: moments of other axes,
    however large, leave nothing in the pivot. Without an entry the pivot is the armature.
    """
    count = 0
    for x in (gm[0], gm[1], gm[2], gf[0], gf[1], gf[2]):
        count += x != 0.0
    return count <= 1


@inlined
def is_lost(model, data, i, k, pivot, smallest, gm, gf):
    """Return whether a pivot is too small beside the smallest allowed, and by its rounding."""
    return pivot <= smallest and not (
        is_principal(gm, gf) and exceeds_rounding(model, data, i, k, pivot))


@kernel
def exceeds_rounding(model, data, i, k, pivot):
    """
    Return whether a pivot of link i exceeds the rounding of the inertia about its axis.

    The inertia is the sum of |S|^T |Ihat| |S| over link i and all that it carries. S is the screw
    of coordinate k, seen from each link. This bounds the rounding of sums (Higham, 3.1).
    """
    link = Link(model, i)
    w, v = joints.screw(link.kind, link.pitch, k)
    total = magnitude(data, i, w, v)
    for j in range(i + 1, Tree(model, 0).links):
        parent = Link(model, j).parent
        if parent < i:
            w, v = vec3.ZERO, vec3.ZERO  # link i does not carry it
        else:
            w, v = se3.adjoint_inverse(*State(data, j).pose, *State(data, parent).seen_screw)
        total += magnitude(data, j, w, v)
    return pivot > MIN_PIVOT * total


@inlined
def magnitude(data, j, w, v):
    """Keep the screw (w, v) of link j; return a bound of |S|^T |Ihat| |S|."""
    State(data, j).seen_screw = w, v
    a, _, c = load(data, j)  # no entry exceeds the root of two diagonal ones
    size = (abs(w[0]) * root(a[0]) + abs(w[1]) * root(a[3]) + abs(w[2]) * root(a[5])
            + abs(v[0]) * root(c[0]) + abs(v[1]) * root(c[3]) + abs(v[2]) * root(c[5]))
    return size * size


@inlined
def root(x):
    """Return the root of an entry of a diagonal, zero for one that is negative by rounding."""
    return math.sqrt(max(x, 0.0))
