# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The table of the recursions at every order in time, and neighbours in its rows.

All that changes in time is a series of normalised Taylor coefficients x_k = x^(k) / k!: products
are Cauchy products, without binomials (7.26). Each link, and the ground, has a row for each of the
orders 0 to r + 1. Coefficient k of link i is row i * (r + 2) + k. The table holds one state, or
LANES of them, see jit/simd.py. Two vectors that a joint turns alike stand side by side.
docs/theory.md, section 7.6, derives the columns.

Two vectors of a row, and their x and y side by side: columns x, y of one, x, y of the other, z, z.
A rotation about z turns the first four alike (7.21). Of one state they are one register, of LANES
states a tuple of four.
"""

from liedyn_ros.dynamics.tree.kernels.tables import store6
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.rows import Row, SINE_COSINE
from liedyn_ros.jit.simd import get, get_quad, parts, quad_of, zero_like
from liedyn_ros.lie.kernels import vec3

MAX_ORDER = 30  # of time derivatives

# Columns. "Parent's" vectors are seen from the joint frame, before the joint has moved. First,
# side by side for the processor's cache, are the columns of revolute joints' products.
SERIES_WRENCH = 0  # two vectors: moment and force from the parent, about the origin of the link
SINE, COSINE = 6, 7  # of the angle of a joint about one axis
# Two vectors: the angular velocity of the parent, and its part of the specific acceleration of the
# link's origin. Coefficient k + 1 of the one has coefficient k of the other beside it.
PARENT_MOTION = 8
VELOCITY = 14  # angular velocity w of the link
RATE = 17  # of the coordinates of the joint, six at most
SPECIFIC_ACCELERATION = 23  # of the link's origin: less gravity, in the link's axes
VELOCITY_SQUARE = 26  # [w]^2: xx, xy, xz, yy, yz, zz
EFFORT = 32  # forces of the coordinates of the joint, six at most
SERIES_EXTERNAL = 38  # wrench of the environment; read only if there is one
TRANSLATION = 44  # along the axis of the joint, m
JOINT_FORCE = 45  # force from the parent, in the joint frame
AXIS_ACCELERATION = 48  # of the parent: its acceleration tensor times the axis
SERIES_ROTATION = 51  # of a spherical or free joint, row by row
SERIES_POSITION = 60  # of a free joint, in the joint frame
TENSOR = 63  # acceleration tensor [w'] + [w]^2 of the parent, row by row
STOP = 72  # depth and slope beyond the upper limit, then below the lower one (3.21)
SERIES_TABLE_WIDTH = 77  # odd: rows of LANES states then fall on different lines of a cache
Series = Row('Series', SERIES_TABLE_WIDTH, angle=(SINE, SINE_COSINE))


@inlined
def load_two(series, row, at):
    """Return the two vectors of a row from a column on."""
    return ((get(series, row, at), get(series, row, at + 1), get(series, row, at + 4)),
            (get(series, row, at + 2), get(series, row, at + 3), get(series, row, at + 5)))


@inlined
def store_two(series, row, at, a, b):
    """Write two vectors into a row from a column on."""
    store6(series, row, at, (a[0], a[1], b[0], b[1], a[2], b[2]))


@inlined
def add_two(series, row, at, a, b):
    """Add two vectors to those of a row from a column on."""
    x, y = load_two(series, row, at)
    store_two(series, row, at, vec3.add(x, a), vec3.add(y, b))


@inlined
def four_zeros(series):
    """Return four zeros."""
    if series.ndim == 3:
        zero = zero_like(series)
        return zero, zero, zero, zero
    return quad_of(0.0)


@inlined
def get_four(series, row, at):
    """Return four neighbours. If they were just written, one by one, the processor waits."""
    if series.ndim == 3:
        return (get(series, row, at), get(series, row, at + 1),
                get(series, row, at + 2), get(series, row, at + 3))
    return get_quad(series, row, at)


@inlined
def axpy_four(series, s, x, y):
    """Return s x + y."""
    if series.ndim == 3:
        return s * x[0] + y[0], s * x[1] + y[1], s * x[2] + y[2], s * x[3] + y[3]
    return s * x + y


@inlined
def unpack_four(series, x):
    """Return the four of them."""
    if series.ndim == 3:
        return x
    return parts(x)
