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
The two tables every kernel works on, and how to read and write them.

links is (N + 1, WIDTH) float64: a row of constants and of room for results for each link, after
row 0, the ground. topology is (N + 1, 4) int64: kind of link, row of the parent, first index in
q and in v; the ground has nq and nv there. Rows instead of flat arrays keep offsets constant, so
that they cost nothing.
"""

from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, put

# Columns of topology.
KIND, PARENT, QI, VI = range(4)

# Columns of links: constants.
PLACEMENT = 0  # rotation row by row, then translation, of the link at rest in its parent
INERTIA = 12  # m, h = m c, J
PITCH = 22
# Columns of links: results, in the frame of the link.
ROTATION = 23  # T_parent_link
POSITION = 32
TWIST = 35
ACCELERATION = 41
EXTERNAL = 47  # applied wrench, zero between calls
WRENCH = 53  # from the parent, or the bias of the articulated body
ARTICULATED = 59  # 21 numbers, see articulated.py; the first ten of rigid.py for a mass matrix
GROUND_POSE = 80  # T_ground_link, rotation row by row, then translation
WIDTH = 92

# Columns of coordinates (nv rows): constants, then results of the elimination of a coordinate.
DAMPING, FRICTION, PRESCRIBED, RESIDUAL, INVERSE_PIVOT, GAIN = range(6)
COORDINATE_WIDTH = GAIN + 6


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
