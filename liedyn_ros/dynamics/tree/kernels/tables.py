# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The two tables that every kernel works on.

model holds the constants of a machine; no kernel writes it, so threads and several data may share
it. Its rows are the ground, the N links, the nv velocity coordinates, the B bodies with a name and
the further frames. data holds what a call has computed, with the rows of model except bodies and
frames.
"""

from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.kinds import NUMBER, TRIPLE, WHOLE
from liedyn_ros.jit.rows import (
    ARTICULATED_INERTIA, RIGID_INERTIA, RIGID_POSE, Row, SINE_COSINE, SYMMETRIC, TWO_VECTORS)
from liedyn_ros.jit.simd import get, put

# Rows of model. Row 0: the ground; links count the ground too.
Tree = Row(
    'Tree', 27, links=WHOLE, nq=WHOLE, nv=WHOLE, bodies=WHOLE, gravity=TRIPLE,
    loaded_joints=WHOLE)  # 1 if any coordinate has a spring, a stop or an armature
# Rows 1 to N: kind, row of the parent, first index in q and in v; pitch (m/rad) beside the columns
# that are read with it; the link at rest in its parent.
Link = Row('Link', kind=WHOLE, parent=WHOLE, qi=WHOLE, vi=WHOLE, pitch=NUMBER,
           placement=RIGID_POSE, inertia=RIGID_INERTIA)
# Rows N + 1 to N + nv. rest: where a spring holds no force; armature: inertia of the motor,
# reduced to the coordinate; position_at: index in q of a coordinate about or along one axis, else
# 0; stop: stiffness, width, lower and upper limit of end stops, 0 without.
Coordinate = Row(
    'Coordinate', Link.width, damping=NUMBER, friction=NUMBER, stiffness=NUMBER, rest=NUMBER,
    armature=NUMBER, position_at=WHOLE, stop=f'({4 * NUMBER})')
# Rows N + nv + 1 on: bodies, then frames: row of the link that carries one, 0 for the ground, and
# the pose in it.
Body = Row('Body', Link.width, carrier=WHOLE, placement=Link.entry('placement'))

# Rows of links in data, in the frame of the link. The ground's never change: it is at rest and
# accelerated against gravity. (3.0)
State = Row(
    'State', 99,  # odd, so that rows of LANES states do not fall on the same lines of a cache
    pose=RIGID_POSE,  # T_parent_link
    twist=TWO_VECTORS, acceleration=TWO_VECTORS,  # less gravity
    wrench=TWO_VECTORS,  # from the parent
    bias_wrench=TWO_VECTORS,  # Bhat of the articulated body (3.8)
    articulated=ARTICULATED_INERTIA,
    composite=RIGID_INERTIA,  # inertia of a link and of all links after it
    ground_pose=RIGID_POSE,  # T_ground_link
    order_wrench=TWO_VECTORS,  # of the order r that is solved for, without accelerations
    order_change=TWO_VECTORS,  # and what these add to w' and to the acceleration of the link
    seen_screw=TWO_VECTORS,  # a screw of another link in the axes of this one
    angle=(0, SINE_COSINE),  # of the joint, before its pose is there
    carried=(57, f'({NUMBER}{TRIPLE})'))  # m and h of the composite inertia
# Rows of coordinates in data: the elimination of a coordinate.
Pivot = Row('Pivot', State.width, residual=NUMBER, inverse=NUMBER, margin=NUMBER,
            gain=TWO_VECTORS,  # Ihat S
            gains=(3, SYMMETRIC))  # the same, as six numbers

FAR = 1e300  # stands for a limit at infinity
MODEL_WIDTH, DATA_WIDTH = Link.width, State.width


@inlined
def coordinate_row(model, k):
    """Return the row of velocity coordinate k in both tables."""
    return Tree(model, 0).links + k


@inlined
def body_row(model, b):
    """Return the row of body b in model, or of a frame by its place in model.frames."""
    tree = Tree(model, 0)
    return tree.links + tree.nv + b


@inlined
def coordinate_of(model, k):
    """Return the row of velocity coordinate k of model."""
    return Coordinate(model, coordinate_row(model, k))


@inlined
def body_at(model, b):
    """Return the row of body b in model, or of a frame by its place in model.frames."""
    return Body(model, body_row(model, b))


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
