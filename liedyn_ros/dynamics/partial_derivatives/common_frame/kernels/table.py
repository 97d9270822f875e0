# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The two tables of partial derivatives: links and columns, in one frame that all links share.

The frame has the axes of the ground and the origin of the first link. So no transports are needed,
and a machine far from the ground's origin loses no digits. links has a row for each link after row
0, the ground, which is at rest and accelerated against gravity (3.0). columns has a row for each
velocity coordinate. Names are those of the theory, section 13.2.
"""

from liedyn_ros.dynamics.tree.kernels.tables import add3, load3, store3
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.rows import RIGID_INERTIA, RIGID_POSE, Row, SINE_COSINE, TWO_VECTORS
from liedyn_ros.jit.simd import get, get_quad, put, QUAD
from liedyn_ros.lie.kernels import vec3

SharedLink = Row(  # of links
    'SharedLink',
    pose=RIGID_POSE,  # of the link in the ground; its position from the origin of the common frame
    twist=TWO_VECTORS,  # V
    acceleration=TWO_VECTORS,  # V' less gravity
    force=TWO_VECTORS,  # F from the parent
    inertia=RIGID_INERTIA,  # I of the link, then of all that it carries
    change=RIGID_POSE,  # B of the same: T (nine numbers, row by row) and b of [T 0; [b] 0]
    angle=(0, SINE_COSINE))  # of the joint, before the pose is there
LINK_WIDTH = SharedLink.width

# The derivatives of the twist and acceleration of a link by its coordinate k: four twists, side by
# side. So component c of Q, R, P and S are the columns from QUAD c on.
Q, R, P, S = range(QUAD)
COLUMN_WIDTH = 6 * QUAD


@inlined
def load_pair(table, i, at):
    """Return six entries of row i as two vectors."""
    return load3(table, i, at), load3(table, i, at + 3)


@inlined
def store_pair(table, i, at, x, y):
    """Write two vectors into row i."""
    store3(table, i, at, x)
    store3(table, i, at + 3, y)


@inlined
def add_pair(table, i, at, x, y):
    """Add two vectors to row i."""
    add3(table, i, at, x)
    add3(table, i, at + 3, y)


@inlined
def load_derivative(columns, k, which):
    """Return one of the twists of coordinate k."""
    return ((get(columns, k, which), get(columns, k, QUAD + which),
             get(columns, k, 2 * QUAD + which)),
            (get(columns, k, 3 * QUAD + which), get(columns, k, 4 * QUAD + which),
             get(columns, k, 5 * QUAD + which)))


@inlined
def store_derivative(columns, k, which, w, v):
    """Write one of the twists of coordinate k."""
    for c in range(3):
        put(columns, k, QUAD * c + which, w[c])
        put(columns, k, QUAD * (3 + c) + which, v[c])


@inlined
def load_derivatives(columns, k):
    """Return all four twists of coordinate k, side by side."""
    return ((get_quad(columns, k, 0), get_quad(columns, k, QUAD), get_quad(columns, k, 2 * QUAD)),
            (get_quad(columns, k, 3 * QUAD), get_quad(columns, k, 4 * QUAD),
             get_quad(columns, k, 5 * QUAD)))


@inlined
def sum_of(x, y):
    """Return the sum of two twists, or of two wrenches."""
    return vec3.add(x[0], y[0]), vec3.add(x[1], y[1])


@inlined
def twist_axpy(s, x, y):
    """Return s x + y of two twists."""
    return vec3.axpy(s, x[0], y[0]), vec3.axpy(s, x[1], y[1])
