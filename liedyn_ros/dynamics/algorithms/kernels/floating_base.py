# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A free joint on the ground: the factors L D L^T of its articulated inertia, and their solution.

S is the identity, the joint has no armature (3.20), and no parent needs what is left of inertia
and wrench. So the entries of a coordinate are zero once it is eliminated, and are not computed.
Coordinates are the six rows of data from at on. All of them are unknown.
"""

from liedyn_ros.dynamics.algorithms.kernels import articulated
from liedyn_ros.dynamics.tree.kernels.tables import Pivot
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import zero_like


@inlined
def factor(data, at, body, smallest):
    """Write gains, inverse pivots and the margins of the pivots over the smallest allowed."""
    body = eliminate_base_coordinate(data, at + 5, 5, body, smallest)
    body = eliminate_base_coordinate(data, at + 4, 4, body, smallest)
    body = eliminate_base_coordinate(data, at + 3, 3, body, smallest)
    body = eliminate_base_coordinate(data, at + 2, 2, body, smallest)
    body = eliminate_base_coordinate(data, at + 1, 1, body, smallest)
    eliminate_base_coordinate(data, at, 0, body, smallest)


@inlined
def eliminate_base_coordinate(data, row, k, body, smallest):
    """Eliminate coordinate k, those after it being eliminated."""
    gm, gf, pivot = base_column(body, k, zero_like(data))
    inverse_pivot = articulated.store_factor(data, row, pivot, smallest, gm, gf)
    return articulated.eliminate(body, inverse_pivot, gm, gf)  # (3.10)


@inlined
def base_column(body, k, zero):
    """Return column k of Ihat without what is eliminated, and the entry on the diagonal."""
    a, b, c = body
    if k == 0:
        return (a[0], zero, zero), (zero, zero, zero), a[0]
    if k == 1:
        return (a[1], a[3], zero), (zero, zero, zero), a[3]
    if k == 2:
        return (a[2], a[4], a[5]), (zero, zero, zero), a[5]
    if k == 3:
        return (b[0], b[3], b[6]), (c[0], zero, zero), c[0]
    if k == 4:
        return (b[1], b[4], b[7]), (c[1], c[3], zero), c[3]
    return (b[2], b[5], b[8]), (c[2], c[4], c[5]), c[5]


@inlined
def reduce_residuals(data, at, m, f):
    """Make residuals of the forces in their column, the wrench (m, f) being that of the joint."""
    g1, g2, g3 = Pivot(data, at + 1).gains, Pivot(data, at + 2).gains, Pivot(data, at + 3).gains
    g4, g5 = Pivot(data, at + 4).gains, Pivot(data, at + 5).gains
    x5 = subtract(data, at + 5, f[2])
    x4 = subtract(data, at + 4, f[1] + x5 * g5[4])
    x3 = subtract(data, at + 3, f[0] + x5 * g5[3] + x4 * g4[3])
    x2 = subtract(data, at + 2, m[2] + x5 * g5[2] + x4 * g4[2] + x3 * g3[2])
    x1 = subtract(data, at + 1, m[1] + x5 * g5[1] + x4 * g4[1] + x3 * g3[1] + x2 * g2[1])
    subtract(data, at, m[0] + x5 * g5[0] + x4 * g4[0] + x3 * g3[0] + x2 * g2[0] + x1 * g1[0])


@inlined
def subtract(data, row, force):
    """Subtract a force from the residual of a coordinate; return it times the inverse pivot."""
    pivot = Pivot(data, row)
    residual = pivot.residual - force
    pivot.residual = residual
    return pivot.inverse * residual


@inlined
def solve(data, at, w, u):
    """Return the rates of all coordinates by which a motion (w, u) of the link grows (3.12)."""
    g1, g2, g3 = Pivot(data, at + 1).gains, Pivot(data, at + 2).gains, Pivot(data, at + 3).gains
    g4, g5 = Pivot(data, at + 4).gains, Pivot(data, at + 5).gains
    y0 = base_rate(data, at, Pivot(data, at).gain[0][0] * w[0])
    x0 = w[0] + y0
    y1 = base_rate(data, at + 1, g1[1] * w[1] + g1[0] * x0)
    x1 = w[1] + y1
    y2 = base_rate(data, at + 2, g2[2] * w[2] + g2[0] * x0 + g2[1] * x1)
    x2 = w[2] + y2
    y3 = base_rate(data, at + 3, g3[3] * u[0] + g3[0] * x0 + g3[1] * x1 + g3[2] * x2)
    x3 = u[0] + y3
    y4 = base_rate(data, at + 4, g4[4] * u[1] + g4[0] * x0 + g4[1] * x1 + g4[2] * x2 + g4[3] * x3)
    x4 = u[1] + y4
    y5 = base_rate(data, at + 5, g5[5] * u[2] + g5[0] * x0 + g5[1] * x1 + g5[2] * x2 + g5[3] * x3
                   + g5[4] * x4)
    return (y0, y1, y2), (y3, y4, y5)


@inlined
def base_rate(data, row, along):
    """Return the rate of a coordinate, its gain along the motion so far being known."""
    pivot = Pivot(data, row)
    return pivot.inverse * (pivot.residual - along)
