# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The tables of constrained dynamics, and how to read and write vectors in them.

All vectors are in one inertial frame at rest, with the axes of the ground and its origin within
the machine at this instant. There a vector fixed to a link with twist V = (w, v) changes by V
alone, and wrenches add up without transport. All that changes is a series of Taylor coefficients
x^(k) / k!, so that products are Cauchy products without binomials.
"""

import numpy as np

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, VECTOR
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, put, put_lanes, transposed
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.linear_algebra.kernels.orthogonal import QR

ORIGIN, AXES = np.int64(0), np.int64(3)  # columns of a frame: its origin, then its x, y and z axes
FIRST_MOMENT, ROTATIONAL_INERTIA = ORIGIN, AXES  # columns of moments: m c, then J about the origin
START = np.int64(0)  # order zero; typed, as numba compiles a kernel apart for a literal 0
# Columns of a report; CHOLESKY is 1 where that has factored the constraints, 0 for QR. ACTUATION
# is the inverse condition number of the actuation, of inverse dynamics only.
RANK, INVERSE_CONDITION, DEFECT, CHOLESKY, ACTUATION, REPORT_WIDTH = range(6)

# Constants of a model with N links, nv coordinates, C closures and B bodies; link N is ground.
# Frames: on bodies b of the closures, on bodies a, then the frames of the bodies. Rows are the
# constraints of closures. The couplings follow as dense rows, then the functions of a user, whose
# rows and bias are written at each state. Their Taylor coefficients are in MOTION's jacobian.
MACHINE = Bundle(
    'Machine',
    kind=INTEGERS, parent=INTEGERS, qi=INTEGERS, vi=INTEGERS,  # (N,)
    nq=INTEGERS,  # (1,)
    placement=MATRIX,  # (N, 12) rotation row by row, translation
    inertia=MATRIX, heavy_inertia=MATRIX,  # (N, 10), and (10, H) of the links with inertia
    heavy=INTEGERS,  # (N,) which of the links with inertia a link is; H where it has none
    heavy_link=INTEGERS, mass=MATRIX,  # (H,) those links, filled up with N + 1, and (1, H + 1)
    heavy_links=INTEGERS,  # (1,) their number H
    pitch=VECTOR,  # (N,)
    friction=VECTOR,  # (nv,)
    # (nv,), filled up to LANES
    damping=VECTOR, stiffness=VECTOR, rest=VECTOR, armature=VECTOR,
    stops=MATRIX,  # (nv, 4) stiffness, width, lower and upper limit of end stops
    position_at=INTEGERS,  # (nv,) index in q of a coordinate about or along one axis, else 0
    gravity=VECTOR,
    # (nv,) inertia of the size of the machine's, where M alone is singular; else empty
    typical_inertia=VECTOR,
    link=INTEGERS,  # (nv,) that a coordinate moves
    ancestor_start=INTEGERS,  # (nv + 1,) into ancestor
    # Coordinates before one on the way to the ground, from there on. With a typical inertia all
    # coordinates before one, as the constraints then couple them in the factored matrix.
    ancestor=INTEGERS,
    chained_start=INTEGERS,  # (nv / LANES + 1,) into chained
    chained=INTEGERS,  # coordinates that are, or have before them, one of these LANES
    frame_link=INTEGERS, frame_placement=MATRIX,  # (2 C + B,), (2 C + B, 12)
    coordinate_row=INTEGERS, frame_row=INTEGERS,  # link and frame_link, filled up with N + 1
    moving_frames=INTEGERS,  # (1,) how many frames the rows need: C or 2 C
    closure_kind=INTEGERS,  # (C,)
    closure_size=MATRIX,  # (C, 2) pitch and length
    closure_row=INTEGERS,  # (C + 1,) first row
    row_kind=INTEGERS,
    row_size=VECTOR,  # (m,) 1, or the size of a machine below a metre where a row is a length
    row_parts=INTEGERS,  # (2,) flags: any moment row in frame b; any row that varies in frame b
    path_start=INTEGERS,  # (C + 1,) into path
    path=INTEGERS,  # coordinates that move frame b of a closure against a
    path_sign=MATRIX,  # (C, nv) 1 or -1 for those on the side of b or a, 0 for others
    path_hull=INTEGERS,  # (2 C,) first and last of them, in steps of LANES
    coupling=MATRIX, coupling_offset=VECTOR,  # (couplings, nv), (couplings,)
    coupling_bias=VECTOR,  # (couplings,) Jdot v, zero but for a user's functions
    functions=INTEGERS,  # (1,) how many of the last couplings are rows of a user's functions
    support_start=INTEGERS,  # (m + 1,) into support
    support=INTEGERS,  # coordinates that a constraint involves, and their ancestors
    reach=INTEGERS,  # (2 nv,) first and last constraints that involve a coordinate
    reached_start=INTEGERS,  # (m / LANES + 1,) into reached
    reached=INTEGERS,  # coordinates whose reach takes in these LANES constraints
    span=INTEGERS,  # (2 m,) first and last constraints of the group of a constraint
    met=INTEGERS,  # (m / LANES,) the last constraints of the groups of LANES constraints
    # Groups as in groups.py, in each of which coordinates and constraints have their order here.
    group_coordinates=INTEGERS, coordinate_at=INTEGERS,  # (G + 1,) into coordinate_at, (nv,)
    group_rows=INTEGERS, row_at=INTEGERS,  # (G + 1,) into row_at, (m,)
    group=INTEGERS)  # (nv,) of a coordinate

# Series of one state, with K = order + 2 coefficients. In a cube (K, columns, things) a column of
# eight things side by side is one vector register: the number of things is filled up to that.
# Where things follow from each other, a thing is a row instead, of six numbers and two zeros.
MOTION = Bundle(
    'Motion',
    pose=MATRIX,  # (N + 2, 12), order zero, rows filled up to LANES, the last one zero
    reference=VECTOR,  # (3,) origin of the inertial frame in the ground
    rate=MATRIX, effort=MATRIX,  # (K, nv) v and tau
    position=VECTOR,  # (nv,) of coordinates about or along one axis, filled up to LANES
    angle=MATRIX,  # (2, nv) sines and cosines of these
    stop=MATRIX,  # (K, 4 nv) depths and slopes beyond the stops of each coordinate
    screw=CUBE, screw_row=MATRIX,  # (K, 6, nv), and order zero as rows
    carrier=CUBE,  # (K, 6, nv) twists of the links that coordinates move
    step=MATRIX,  # (1, nv) numbers of one order
    step_row=MATRIX,  # (nv, LANES) twists of links against those before, of one order
    twist=CUBE,  # (2, 6, N + 1)
    heavy_twist=CUBE,  # (K, 6, H + 1) of the links with inertia
    wrench=CUBE,  # (1, 6, N + 1) from the parent, of order zero
    load=CUBE,  # (K, 6, nv) wrenches of the links that coordinates move
    moments=CUBE,  # (K, 9, H + 1) of the links with inertia, then zero
    frame=CUBE,  # (K, 12, 2 C + B)
    frame_twist=CUBE,  # (K, 6, 2 C + B) of the links that carry them
    arm=CUBE,  # (K, 9, C) moments of unit forces along the axes of frames b at their origins
    row=CUBE,  # (K, 6, rows) unit wrenches on body b, of rows that move in frame b
    relative=CUBE,  # (K, 6, C) twists of links b against links a
    residual=MATRIX,  # (6, C) the same of one order about and in frames b
    local_wrench=CUBE,  # (K, 6, C) what rows that stay in frames b hold there
    pull=CUBE,  # (K, 6, C) wrenches on body b of rows that move in frame b
    pull_row=MATRIX,  # (C, LANES) wrenches on bodies b, of one order
    closure_wrench=MATRIX,  # (6, C) those of rows that move, about and in frames b
    multiplier=MATRIX,  # (K, m)
    potential=MATRIX,  # (K, nv) y with lam = A y, where rows are redundant (12.26)
    jacobian=CUBE,  # (K, m, nv) A and its coefficients, rows filled up to LANES
    composite=MATRIX,  # (N, 10), rows filled up to LANES
    # Rows (N + 2, LANES), the last one zero: twists and wrenches of the links, of one order, and
    # what the solution of an order adds to them.
    twist_row=MATRIX, wrench_row=MATRIX, twist_change=MATRIX, wrench_change=MATRIX)

# Scratch buffers of one solution with m constraints; factors as in inertia.py, gram_cholesky.py
# and orthogonal.py. The matrix that qr factors by groups has `count` columns of `size` numbers.
# These are A^T (m of nv), whose order has constraints, or A_p (up to nv of m), whose order has
# coordinates. Rows of the tables up to line are filled up to multiples of LANES; so are reach and
# span.
SCRATCH = Bundle(
    'Scratch',
    mass=MATRIX, root=VECTOR,  # (nv, depth) M, then its factor; (nv,) 1 / pivots of that
    factor_inverse=MATRIX, sums=MATRIX,  # (nv, nv) L^-1, (1, nv)
    response=MATRIX,  # (nv, m) Y = L^-T A^T
    upper=MATRIX, unit=MATRIX, lower=MATRIX,  # (m, m) Cholesky factor of S, and its inverse
    inverse=VECTOR,  # (m,) 1 / pivots
    line=MATRIX,  # (2, m)
    qr=QR, scale=VECTOR,  # (max(count, m),) of constraints, or of coordinates
    stiffness=VECTOR,  # (m,) W of M + A^T W A (12.54), where M alone is singular
    basis=QR,  # range of A, whose numbers are in the order of qr
    local=VECTOR,  # (size,) by group
    x=VECTOR, y=VECTOR,  # (nv,)
    z=VECTOR,  # (count,) by group
    gamma=VECTOR,  # (m,)
    lanes=MATRIX, steps=MATRIX,  # (max(nv, m), LANES), (nv, LANES)
    report=VECTOR)

# Scratch buffers of the free motions of a state, as rows. The motions of a group are at most as
# many as its coordinates, and begin where these do in coordinate_at.
FREE_MOTIONS = Bundle(
    'Space',
    basis=CUBE,  # (K, nv, nv) N, transposed; entries are those of the group's coordinates only
    qr=QR,  # of Q^-1/2 N_a, whose order has free motions
    active=INTEGERS,  # (nv,) actuated coordinates by group, as many as numbers of a column of qr
    s=VECTOR, size=MATRIX,  # (nv,), (nv, K)
    need=MATRIX)  # (K, nv) what the tree alone needs

# All tables of one machine: by_row is scratch for the factors of A^T, by_column for A_p.
WORKSPACE = Bundle(
    'Workspace', machine=MACHINE, motion=MOTION, by_row=SCRATCH, by_column=SCRATCH,
    space=FREE_MOTIONS)

# A task of solver.solve_constrained. free: nowhere for LEAST_FORCE, everywhere for LEAST_TORQUE.
# chosen and weight: as in inverse.py and least_torque.py. limit: as in effort_limits.py.
TASK = Bundle(
    'Task',
    kind=INTEGERS,  # (1,)
    free=INTEGERS,  # (nv,) 1 where the acceleration is unknown
    most=INTEGERS,  # (1,) the largest rank of the constraints
    chosen=INTEGERS, weight=VECTOR,
    limit=VECTOR)  # (nv,) of the forces of LEAST_TORQUE; else empty

workspace_of, task_of = WORKSPACE.view, TASK.view


@inlined
def get3(table, i, k, c):
    """Return three columns of coefficient k of thing i."""
    part = table[k]
    return get(part, c, i), get(part, c + 1, i), get(part, c + 2, i)


@inlined
def put3(table, i, k, c, x):
    """Write three columns of coefficient k of thing i."""
    part = table[k]
    put(part, c, i, x[0])
    put(part, c + 1, i, x[1])
    put(part, c + 2, i, x[2])


@inlined
def get6(table, i, k):
    """Return coefficient k of the twist or wrench of thing i, as two vectors."""
    return get3(table, i, k, START), get3(table, i, k, START + 3)


@inlined
def put6(table, i, k, x, y):
    """Write coefficient k of the twist or wrench of thing i."""
    put3(table, i, k, START, x)
    put3(table, i, k, START + 3, y)


@inlined
def add6(table, i, k, s, x, y):
    """Add s (x, y) to coefficient k of the twist or wrench of thing i."""
    a, b = get6(table, i, k)
    put6(table, i, k, vec3.axpy(s, x, a), vec3.axpy(s, y, b))


@inlined
def get_row(table, i):
    """Return the twist or wrench of a row, as two vectors."""
    return ((get(table, i, START), get(table, i, START + 1), get(table, i, START + 2)),
            (get(table, i, START + 3), get(table, i, START + 4), get(table, i, START + 5)))


@inlined
def put_row(table, i, x, y):
    """Write a twist or wrench into a row."""
    for n in range(3):
        put(table, i, n, x[n])
        put(table, i, 3 + n, y[n])


@inlined
def add_row(table, i, row):
    """Add Lanes to a row."""
    put_lanes(table, i, START, get_lanes(table, i, START) + row)


@inlined
def get_rows(table, i):
    """Return eight rows from i on, as two vectors of eight things side by side."""
    x = transposed(
        get_lanes(table, i, START), get_lanes(table, i + 1, START),
        get_lanes(table, i + 2, START), get_lanes(table, i + 3, START),
        get_lanes(table, i + 4, START), get_lanes(table, i + 5, START),
        get_lanes(table, i + 6, START), get_lanes(table, i + 7, START))
    return (x[0], x[1], x[2]), (x[3], x[4], x[5])


@inlined
def gather_rows(table, index, at):
    """Return the eight rows that index lists from `at` on."""
    x = transposed(
        get_lanes(table, index[at], START), get_lanes(table, index[at + 1], START),
        get_lanes(table, index[at + 2], START), get_lanes(table, index[at + 3], START),
        get_lanes(table, index[at + 4], START), get_lanes(table, index[at + 5], START),
        get_lanes(table, index[at + 6], START), get_lanes(table, index[at + 7], START))
    return (x[0], x[1], x[2]), (x[3], x[4], x[5])


@inlined
def gather_poses(table, index, at):
    """Return the eight poses (r, p) whose rows index lists from `at` on, side by side."""
    first = transposed(
        get_lanes(table, index[at], START), get_lanes(table, index[at + 1], START),
        get_lanes(table, index[at + 2], START), get_lanes(table, index[at + 3], START),
        get_lanes(table, index[at + 4], START), get_lanes(table, index[at + 5], START),
        get_lanes(table, index[at + 6], START), get_lanes(table, index[at + 7], START))
    last = transposed(
        get_lanes(table, index[at], LANES), get_lanes(table, index[at + 1], LANES),
        get_lanes(table, index[at + 2], LANES), get_lanes(table, index[at + 3], LANES),
        get_lanes(table, index[at + 4], LANES), get_lanes(table, index[at + 5], LANES),
        get_lanes(table, index[at + 6], LANES), get_lanes(table, index[at + 7], LANES))
    return ((first[0], first[1], first[2], first[3], first[4], first[5], first[6], first[7],
             last[0]), (last[1], last[2], last[3]))


@inlined
def scatter_rows(table, index, at, x, y):
    """Write two vectors of eight things side by side into the rows that index lists from `at`."""
    rows = transposed(x[0], x[1], x[2], y[0], y[1], y[2], broadcast(0.0), broadcast(0.0))
    put_lanes(table, index[at], START, rows[0])
    put_lanes(table, index[at + 1], START, rows[1])
    put_lanes(table, index[at + 2], START, rows[2])
    put_lanes(table, index[at + 3], START, rows[3])
    put_lanes(table, index[at + 4], START, rows[4])
    put_lanes(table, index[at + 5], START, rows[5])
    put_lanes(table, index[at + 6], START, rows[6])
    put_lanes(table, index[at + 7], START, rows[7])


@inlined
def put_rows(table, i, x, y):
    """Write two vectors of eight things side by side into eight rows from i on."""
    rows = transposed(x[0], x[1], x[2], y[0], y[1], y[2], broadcast(0.0), broadcast(0.0))
    put_lanes(table, i, START, rows[0])
    put_lanes(table, i + 1, START, rows[1])
    put_lanes(table, i + 2, START, rows[2])
    put_lanes(table, i + 3, START, rows[3])
    put_lanes(table, i + 4, START, rows[4])
    put_lanes(table, i + 5, START, rows[5])
    put_lanes(table, i + 6, START, rows[6])
    put_lanes(table, i + 7, START, rows[7])


@inlined
def add3_lanes(part, i, c, x):
    """Add to three columns of eight things from i on, of one coefficient."""
    put3_lanes(part, i, c, vec3.add(load3_lanes(part, i, c), x))


@inlined
def load3_lanes(part, i, c):
    """Return three columns of eight things from i on, of one coefficient."""
    return get_lanes(part, c, i), get_lanes(part, c + 1, i), get_lanes(part, c + 2, i)


@inlined
def put3_lanes(part, i, c, x):
    """Write three columns of eight things from i on, of one coefficient."""
    put_lanes(part, c, i, x[0])
    put_lanes(part, c + 1, i, x[1])
    put_lanes(part, c + 2, i, x[2])


@inlined
def zeros():
    """Return a vector of eight zeros a component."""
    return broadcast(0.0), broadcast(0.0), broadcast(0.0)


@inlined
def dot6(a, b):
    """Return the power of a wrench along a twist."""
    return vec3.dot(a[0], b[0]) + vec3.dot(a[1], b[1])


@inlined
def axpy6(s, x, y):
    """Return s x + y of twists or wrenches."""
    return vec3.axpy(s, x[0], y[0]), vec3.axpy(s, x[1], y[1])


@inlined
def columns3(table, i, c):
    """Return three columns of row i."""
    return table[i, c], table[i, c + 1], table[i, c + 2]


@inlined
def columns9(table, i):
    """Return the first nine columns of row i."""
    return (table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4], table[i, 5],
            table[i, 6], table[i, 7], table[i, 8])
