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
The tables of constrained dynamics, and how to read and write vectors in them.

All vectors are in one inertial frame: at rest, its axes those of the ground, its origin amid the
machine at this instant. There a vector fixed to a link with twist V = (w, v) changes by V alone,
and wrenches add up without transport. All that changes is a series of Taylor coefficients
x^(k) / k!, so that products are Cauchy products without binomials.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.jit.decorators import inlined, kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

ORIGIN, AXES = 0, 3  # columns of a frame: its origin, then its x, y and z axes
HEAVY, ROUND = 0, 3  # columns of moments: m c, then J about the origin


class Machine(NamedTuple):
    """
    Constants of a model with N links, nv coordinates, C closures and B bodies; link N is ground.

    previous is the coordinate before each on the way to the ground, -1 for none. Frames are those
    of the closures, a before b, then those of the bodies. Rows are the constraints of closures;
    after them come the couplings, dense rows of their own.
    """

    kind: Indices
    parent: Indices
    qi: Indices
    vi: Indices
    placement: Array  # (N, 12) rotation row by row, translation
    inertia: Array  # (N, 10)
    pitch: Array
    damping: Array  # (nv,)
    friction: Array
    gravity: Array
    link: Indices  # (nv,) that a coordinate moves
    previous: Indices
    frame_link: Indices  # (2 C + B,)
    frame_placement: Array  # (2 C + B, 12)
    closure_kind: Indices  # (C,)
    closure_size: Array  # (C, 2) pitch and length
    closure_row: Indices  # (C + 1,) first row
    row_kind: Indices
    path_start: Indices  # (C + 1,) into path
    path: Indices  # coordinates that move one frame of a closure against the other
    path_sign: Array
    coupling: Array  # (couplings, nv)
    coupling_offset: Array


class Motion(NamedTuple):
    """Series of one state: (rows, orders + 2, columns), coefficients along the second axis."""

    pose: Array  # (N + 1, 12), order zero
    reference: Array  # (3,) origin of the inertial frame in the ground
    rate: Array  # (nv, K) v
    effort: Array  # (nv, K) tau
    screw: Array  # (nv, K, 6)
    twist: Array  # (N + 1, K, 6)
    wrench: Array  # (N + 1, K, 6) from the parent
    moments: Array  # (N, K, 9)
    frame: Array  # (2 C + B, K, 12)
    row: Array  # (rows, K, 6) unit wrenches on body b
    multiplier: Array  # (m, K)
    potential: Array  # (nv, K) y with lam = A y, where rows are redundant (12.26)
    jacobian: Array  # (K, m, nv) A and its coefficients
    composite: Array  # (N, 10)
    change: Array  # (N + 1, 12) what the solution of an order adds to twists and wrenches


class Room(NamedTuple):
    """Room for one solution with m constraints; factors as in inertia.py and orthogonal.py."""

    mass: Array  # (nv, nv) M, then its factor
    rows: Array  # (m, nv) or what else is factored
    scale: Array  # (m,) of the rows
    order: Indices
    head: Array
    beta: Array
    norm: Array
    basis: Array  # (m, m) factor of the range of A, with its own order, head and beta
    basis_order: Indices
    basis_head: Array
    basis_beta: Array
    x: Array  # (nv,)
    y: Array  # (nv,)
    z: Array  # (m,)
    gamma: Array  # (m,)
    report: Array  # columns RANK, QUALITY, DEFECT


class Space(NamedTuple):
    """Room for the free motions of a state: at most nv of them, as rows."""

    basis: Array  # (K, nv, nv) N, transposed
    rows: Array  # (nv, nv) factor of Q^-1/2 N_a
    order: Indices
    head: Array
    beta: Array
    norm: Array
    s: Array  # (nv,)
    size: Array  # (nv, K) s
    need: Array  # (K, nv) what the tree alone needs


# Columns of a report: the rank of A, its smallest pivot over its largest, and the greatest
# part of the constraints that the independent rows leave open, over their size.
RANK, QUALITY, DEFECT, REPORT_WIDTH = range(4)


# What comes first in the integers of a model: its numbers of links, coordinates, frames, closures,
# rows, places on paths and couplings, and of coefficients for which there is room.
HEADER = 8
LINKS, COORDINATES, FRAMES, CLOSURES, ROWS, PATHS, COUPLINGS, COEFFICIENTS = range(HEADER)


@inlined
def cut1(x, at, a):
    """Return (a,) numbers of a flat array, and where they end."""
    return x[at:at + a], at + a


@inlined
def cut2(x, at, a, b):
    """Return (a, b) numbers of a flat array, and where they end."""
    return x[at:at + a * b].reshape(a, b), at + a * b


@inlined
def cut3(x, at, a, b, c):
    """Return (a, b, c) numbers of a flat array, and where they end."""
    return x[at:at + a * b * c].reshape(a, b, c), at + a * b * c


@kernel
def machine_of(ints, floats):
    """Return the constants of a model: its fields, one after the other, in two flat arrays."""
    n, nv, f, c = ints[LINKS], ints[COORDINATES], ints[FRAMES], ints[CLOSURES]
    kind, i = cut1(ints, HEADER, n)
    parent, i = cut1(ints, i, n)
    qi, i = cut1(ints, i, n)
    vi, i = cut1(ints, i, n)
    link, i = cut1(ints, i, nv)
    previous, i = cut1(ints, i, nv)
    frame_link, i = cut1(ints, i, f)
    closure_kind, i = cut1(ints, i, c)
    closure_row, i = cut1(ints, i, c + 1)
    row_kind, i = cut1(ints, i, ints[ROWS])
    path_start, i = cut1(ints, i, c + 1)
    path, i = cut1(ints, i, ints[PATHS])
    placement, x = cut2(floats, 0, n, 12)
    inertia, x = cut2(floats, x, n, 10)
    pitch, x = cut1(floats, x, n)
    damping, x = cut1(floats, x, nv)
    friction, x = cut1(floats, x, nv)
    gravity, x = cut1(floats, x, 3)
    frame_placement, x = cut2(floats, x, f, 12)
    closure_size, x = cut2(floats, x, c, 2)
    path_sign, x = cut1(floats, x, ints[PATHS])
    coupling, x = cut2(floats, x, ints[COUPLINGS], nv)
    coupling_offset, x = cut1(floats, x, ints[COUPLINGS])
    return Machine(
        kind, parent, qi, vi, placement, inertia, pitch, damping, friction, gravity, link,
        previous, frame_link, frame_placement, closure_kind, closure_size, closure_row, row_kind,
        path_start, path, path_sign, coupling, coupling_offset)


@kernel
def motion_of(ints, floats):
    """Return room for series in a flat array."""
    n, nv, k, m = ints[LINKS], ints[COORDINATES], ints[COEFFICIENTS], ints[ROWS]
    pose, x = cut2(floats, 0, n + 1, 12)
    reference, x = cut1(floats, x, 3)
    rate, x = cut2(floats, x, nv, k)
    effort, x = cut2(floats, x, nv, k)
    screw, x = cut3(floats, x, nv, k, 6)
    twist, x = cut3(floats, x, n + 1, k, 6)
    wrench, x = cut3(floats, x, n + 1, k, 6)
    moments, x = cut3(floats, x, n, k, 9)
    frame, x = cut3(floats, x, ints[FRAMES], k, 12)
    row, x = cut3(floats, x, m, k, 6)
    multiplier, x = cut2(floats, x, m + ints[COUPLINGS], k)
    potential, x = cut2(floats, x, nv, k)
    jacobian, x = cut3(floats, x, k, m + ints[COUPLINGS], nv)
    composite, x = cut2(floats, x, n, 10)
    change, x = cut2(floats, x, n + 1, 12)
    return Motion(pose, reference, rate, effort, screw, twist, wrench, moments, frame, row,
                  multiplier, potential, jacobian, composite, change)


@kernel
def room_of(ints, floats, orders, by_row):
    """Return room for a factorisation of A^T (m columns) or of A_p (nv columns at most)."""
    nv, m = ints[COORDINATES], ints[ROWS] + ints[COUPLINGS]
    count, size = (m, nv) if by_row else (nv, m)
    mass, x = cut2(floats, 0, nv, nv)
    rows, x = cut2(floats, x, count, size)
    scale, x = cut1(floats, x, count)
    head, x = cut1(floats, x, count)
    beta, x = cut1(floats, x, count)
    norm, x = cut1(floats, x, max(count, m))
    basis, x = cut2(floats, x, m, m)
    basis_head, x = cut1(floats, x, m)
    basis_beta, x = cut1(floats, x, m)
    solution, x = cut1(floats, x, size)
    y, x = cut1(floats, x, nv)
    z, x = cut1(floats, x, count)
    gamma, x = cut1(floats, x, m)
    report, x = cut1(floats, x, REPORT_WIDTH)
    order, i = cut1(orders, 0, count)
    basis_order, i = cut1(orders, i, m)
    return Room(mass, rows, scale, order, head, beta, norm, basis, basis_order, basis_head,
                basis_beta, solution, y, z, gamma, report)


@kernel
def space_of(ints, floats, orders):
    """Return room for the free motions of a state."""
    nv, k = ints[COORDINATES], ints[COEFFICIENTS]
    basis, x = cut3(floats, 0, k, nv, nv)
    rows, x = cut2(floats, x, nv, nv)
    head, x = cut1(floats, x, nv)
    beta, x = cut1(floats, x, nv)
    norm, x = cut1(floats, x, nv)
    s, x = cut1(floats, x, nv)
    size, x = cut2(floats, x, nv, k)
    need, x = cut2(floats, x, k, nv)
    return Space(basis, rows, orders[:nv], head, beta, norm, s, size, need)


@inlined
def get3(table, i, k, c):
    """Return three columns of coefficient k of row i."""
    return table[i, k, c], table[i, k, c + 1], table[i, k, c + 2]


@inlined
def put3(table, i, k, c, x):
    """Write three columns of coefficient k of row i."""
    table[i, k, c], table[i, k, c + 1], table[i, k, c + 2] = x


@inlined
def add3(table, i, k, c, s, x):
    """Add s x to three columns of coefficient k of row i."""
    table[i, k, c] += s * x[0]
    table[i, k, c + 1] += s * x[1]
    table[i, k, c + 2] += s * x[2]


@inlined
def load3(table, i, c):
    """Return three columns of row i."""
    return table[i, c], table[i, c + 1], table[i, c + 2]


@inlined
def load9(table, i):
    """Return the first nine columns of row i."""
    return (table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4], table[i, 5],
            table[i, 6], table[i, 7], table[i, 8])
