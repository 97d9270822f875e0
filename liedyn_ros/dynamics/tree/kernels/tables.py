# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The two tables that every kernel works on, and how to read and write them.

model holds the constants of a machine; no kernel writes it, so threads and several data may share
it. Its rows are the ground, the N links, the nv velocity coordinates, the B bodies with a name and
the further frames. Each kind of row has its own columns. data holds what a call has computed, with
the rows of model except bodies and frames. Whole numbers are read with get_int.
"""

from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, get_int, of_width, put

# Columns of model, row 0: the ground. Whole numbers; LINKS counts the ground too.
LINKS, NQ, NV, BODIES = range(4)
GRAVITY = 4
LOADED_JOINTS = 7  # whole number: 1 if any coordinate has a spring, a stop or an armature
# Columns of model, rows 1 to N: links. Whole numbers: kind, row of the parent, first index in q
# and in v.
KIND, PARENT, QI, VI = range(4)
PITCH = 4  # m/rad; beside the columns that are read with it
PLACEMENT = 5  # rotation row by row, then translation, of the link at rest in its parent
INERTIA = 17  # m, h = m c, J
# Columns of model, rows N + 1 to N + nv: coordinates.
DAMPING, FRICTION = range(2)
STIFFNESS, REST = range(2, 4)  # of a spring, and where it holds no force
ARMATURE = 4  # inertia of the motor, reduced to the coordinate
POSITION_AT = 5  # whole number: index in q of a coordinate about or along one axis, else 0
STOP_STIFFNESS, STOP_WIDTH, STOP_LOWER, STOP_UPPER = range(6, 10)  # of end stops, 0 without
FAR = 1e300  # stands for a limit at infinity
# Columns of model, rows N + nv + 1 on: bodies, then frames; PLACEMENT is the pose in the link.
CARRIER = 0  # whole number: row of the link that carries the body or frame, 0 for the ground
MODEL_WIDTH = 27

# Columns of data, rows of links, in the frame of the link. The ground's never change: it is at
# rest and accelerated against gravity. (3.0)
ROTATION = 0  # T_parent_link
POSITION = 9
TWIST = 12
ACCELERATION = 18  # less gravity
WRENCH = 24  # from the parent
BIAS_WRENCH = 30  # Bhat of the articulated body (3.8)
ARTICULATED = 36  # 21 numbers of the articulated inertia, see articulated.py
COMPOSITE = 57  # ten numbers of the inertia of a link and of all links after it
GROUND_POSE = 67  # T_ground_link, rotation row by row, then translation
ORDER_WRENCH = 79  # of the order r that is solved for: wrench without the unknown accelerations
ORDER_CHANGE = 85  # and what these add to w' and to the acceleration of the link
# Columns of data, rows of coordinates: the elimination of a coordinate.
RESIDUAL, INVERSE_PIVOT, PIVOT_MARGIN = range(3)
GAIN = 3  # Ihat S
# Column of data, row 0: the sum of what the last call has computed.
COMPUTED = 91
POSES, TWISTS, ACCELERATIONS, WRENCHES, ARTICULATED_INERTIAS, COMPOSITE_INERTIAS = (
    1, 2, 4, 8, 16, 32)
SEEN_SCREW = 92  # of links: a screw of another link in their axes, see pivots.py
DATA_WIDTH = 99  # odd, so that rows of LANES states do not fall on the same lines of a cache


@inlined
def of_known_width(model, data):
    """Return both tables, the width of their rows being known to the compiler."""
    return of_width(model, MODEL_WIDTH), of_width(data, DATA_WIDTH)


@inlined
def coordinate_row(model, k):
    """Return the row of velocity coordinate k in both tables."""
    return get_int(model, 0, LINKS) + k


@inlined
def body_row(model, b):
    """Return the row of body b in model, or of a frame by its place in model.frames."""
    return get_int(model, 0, LINKS) + get_int(model, 0, NV) + b


@inlined
def load3(table, i, at):
    """Return three entries of row i from a column on."""
    return get(table, i, at), get(table, i, at + 1), get(table, i, at + 2)


@inlined
def load6(table, i, at):
    """Return six entries of row i from a column on."""
    return (get(table, i, at), get(table, i, at + 1), get(table, i, at + 2),
            get(table, i, at + 3), get(table, i, at + 4), get(table, i, at + 5))


@inlined
def load9(table, i, at):
    """Return nine entries of row i from a column on."""
    return (get(table, i, at), get(table, i, at + 1), get(table, i, at + 2),
            get(table, i, at + 3), get(table, i, at + 4), get(table, i, at + 5),
            get(table, i, at + 6), get(table, i, at + 7), get(table, i, at + 8))


@inlined
def load12(table, i, at):
    """Return a matrix, row by row, and a vector from row i, e.g. a pose (r, p)."""
    return load9(table, i, at), load3(table, i, at + 9)


@inlined
def store3(table, i, at, x):
    """Write three numbers into row i from a column on."""
    put(table, i, at, x[0])
    put(table, i, at + 1, x[1])
    put(table, i, at + 2, x[2])


@inlined
def store6(table, i, at, x):
    """Write six numbers into row i from a column on."""
    store3(table, i, at, x[0:3])
    store3(table, i, at + 3, x[3:6])


@inlined
def store9(table, i, at, x):
    """Write nine numbers into row i from a column on."""
    store3(table, i, at, x[0:3])
    store3(table, i, at + 3, x[3:6])
    store3(table, i, at + 6, x[6:9])


@inlined
def store12(table, i, at, r, p):
    """Write a matrix and a vector into row i."""
    store9(table, i, at, r)
    store3(table, i, at + 9, p)


@inlined
def add3(table, i, at, x):
    """Add three numbers to row i from a column on."""
    put(table, i, at, get(table, i, at) + x[0])
    put(table, i, at + 1, get(table, i, at + 1) + x[1])
    put(table, i, at + 2, get(table, i, at + 2) + x[2])


@inlined
def add9(table, i, at, x):
    """Add nine numbers to row i from a column on."""
    add3(table, i, at, x[0:3])
    add3(table, i, at + 3, x[3:6])
    add3(table, i, at + 6, x[6:9])


@inlined
def add12(table, i, at, r, p):
    """Add a matrix and a vector to row i."""
    add9(table, i, at, r)
    add3(table, i, at + 9, p)
