# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Whether the arrays of a file lie where `Bundle.pack` lays them, and what they hold.

Kernels trust headers and indices. Here nothing is trusted: a header is read as whole numbers, and
each array has to begin where the one before ends.
"""

from liedyn_ros.dynamics.constrained.configurations.kernels.closing import CLOSING
from liedyn_ros.dynamics.constrained.kernels.tables import (
    FREE_MOTIONS, MACHINE, MOTION, SCRATCH, TASK, WORKSPACE)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.products import PRODUCT
from liedyn_ros.dynamics.constrained.tracking.kernels.tracking import TRACKER, TRACKING_STATE
from liedyn_ros.dynamics.tree.kernels.tables import Body, Coordinate, Link, Tree
from liedyn_ros.export.kernels.loops import LOOPS
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.pointers import after, as_wholes, LINE, vector
from liedyn_ros.jit.simd import LANES
from liedyn_ros.linear_algebra.kernels.orthogonal import QR
from liedyn_ros.model.kernels.kinds import NQ_OF_KIND, NV_OF_KIND

AXES_OF_LOOPS, AXES_OF_WORKSPACE, AXES_OF_MACHINE = (
    each.axes for each in (LOOPS, WORKSPACE, MACHINE))
AXES_OF_MOTION, AXES_OF_SCRATCH, AXES_OF_SPACE = (each.axes
                                                  for each in (MOTION, SCRATCH, FREE_MOTIONS))
AXES_OF_QR, AXES_OF_TASK, AXES_OF_PRODUCT = (each.axes for each in (QR, TASK, PRODUCT))
AXES_OF_TRACKER, AXES_OF_POINT, AXES_OF_CLOSING = (each.axes
                                                   for each in (TRACKER, TRACKING_STATE, CLOSING))
AT_WORKSPACE, AT_HYBRID, AT_INVERSE, AT_PRODUCT, AT_CLOSING = (
    LOOPS.place(name) for name in ('workspace', 'hybrid', 'inverse', 'product', 'closing'))
AT_TRACKER, AT_GOOD, AT_NEAR, AT_TRIAL = (
    LOOPS.place(name) for name in ('tracker', 'good', 'near', 'trial'))
AT_MACHINE, AT_MOTION, AT_BY_ROW, AT_BY_COLUMN, AT_SPACE = (
    WORKSPACE.place(name) for name in ('machine', 'motion', 'by_row', 'by_column', 'space'))
AT_QR, AT_BASIS, AT_QR_OF_SPACE = (
    SCRATCH.place('qr'), SCRATCH.place('basis'), FREE_MOTIONS.place('qr'))


@kernel
def are_arrays(numbers, count, axes):
    """Return whether so many numbers are the arrays of a bundle, one after the other."""
    size = 4 * len(axes)
    if count < size:
        return False
    header, end = vector(as_wholes(numbers), size), size
    for i in range(len(axes)):
        at = (end + LINE - 1) // LINE * LINE
        if header[4 * i] != at or at > count:
            return False
        left, numbers = count - at, 1
        for k in range(3):
            length = header[4 * i + 1 + k]
            if length < 0 or (k >= axes[i] and length != 1):
                return False
            if numbers > 0 and length > left // numbers:
                return False
            numbers *= length
        end = at + numbers
    return True


@kernel
def are_inner(numbers, place, axes):
    """Return whether the array at a place of a header that is right is a bundle itself."""
    header = vector(as_wholes(numbers), 4 * place + 4)
    return are_arrays(after(numbers, header[4 * place]), header[4 * place + 1], axes)


@kernel
def part_at(numbers, place):
    """Return the pointer to an array by its place in a header."""
    return after(numbers, vector(as_wholes(numbers), 4 * place + 1)[4 * place])


@kernel
def are_scratch(numbers, place):
    """Return whether the arrays of a SCRATCH lie where they should."""
    return (are_inner(numbers, place, AXES_OF_SCRATCH)
            and are_inner(part_at(numbers, place), AT_QR, AXES_OF_QR)
            and are_inner(part_at(numbers, place), AT_BASIS, AXES_OF_QR))


@kernel
def is_work_area(numbers, count):
    """Return whether all arrays of a work area of closed loops lie where they should."""
    if not (are_arrays(numbers, count, AXES_OF_LOOPS)
            and are_inner(numbers, AT_WORKSPACE, AXES_OF_WORKSPACE)
            and are_inner(numbers, AT_HYBRID, AXES_OF_TASK)
            and are_inner(numbers, AT_INVERSE, AXES_OF_TASK)
            and are_inner(numbers, AT_PRODUCT, AXES_OF_PRODUCT)
            and are_inner(numbers, AT_CLOSING, AXES_OF_CLOSING)):
        return False
    tables = part_at(numbers, AT_WORKSPACE)
    if not (are_inner(tables, AT_MACHINE, AXES_OF_MACHINE)
            and are_inner(tables, AT_MOTION, AXES_OF_MOTION)
            and are_scratch(tables, AT_BY_ROW) and are_scratch(tables, AT_BY_COLUMN)
            and are_inner(tables, AT_SPACE, AXES_OF_SPACE)
            and are_inner(part_at(tables, AT_SPACE), AT_QR_OF_SPACE, AXES_OF_QR)):
        return False
    if vector(as_wholes(numbers), 4 * AT_TRACKER + 2)[4 * AT_TRACKER + 1] == 0:
        return True
    return (are_inner(numbers, AT_TRACKER, AXES_OF_TRACKER)
            and are_inner(numbers, AT_GOOD, AXES_OF_POINT)
            and are_inner(numbers, AT_NEAR, AXES_OF_POINT)
            and are_inner(numbers, AT_TRIAL, AXES_OF_POINT))


@kernel
def lie_in(values, low, end):
    """Return whether whole numbers are at least low, and below the end."""
    for value in values:
        if not low <= value < end:
            return False
    return True


@kernel
def are_starts(starts, count, end):
    """Return whether starts (count + 1,) rise from 0 to an end."""
    if len(starts) != count + 1 or starts[0] != 0 or starts[count] != end:
        return False
    for k in range(count):
        if starts[k] > starts[k + 1]:
            return False
    return True


@kernel
def are_apart(values, end):
    """Return whether whole numbers below an end rise."""
    for k in range(len(values)):
        if not 0 <= values[k] < end or (k > 0 and values[k] <= values[k - 1]):
            return False
    return True


@kernel
def has_shape(table, rows, width):
    """Return whether a matrix has a shape."""
    return table.shape[0] == rows and table.shape[1] == width


@kernel
def is_cube(table, count, rows, things):
    """Return whether a cube has a shape, with an odd number of registers as in ConstrainedData."""
    width = padded(things)
    if width % (2 * LANES) == 0:
        width += LANES
    return table.shape[0] == count and table.shape[1] == rows and table.shape[2] == width


@kernel
def padded(size):
    """Return the next multiple of LANES."""
    return (size + LANES - 1) // LANES * LANES


@kernel
def is_tree(model, rows, nv, frames):
    """Return whether a table of constants is that of a tree of these sizes."""
    tree = Tree(model, 0)
    links, bodies = tree.links, tree.bodies
    if not (1 <= links <= rows and tree.nv == nv and 0 <= bodies <= frames
            and 0 <= nv <= rows and frames <= rows and rows == links + nv + frames):
        return False
    qi, vi = 0, 0
    for i in range(1, links):
        link = Link(model, i)
        kind, parent = link.kind, link.parent
        if not (0 <= kind < len(NV_OF_KIND) and 0 <= parent < i and link.qi == qi
                and link.vi == vi):
            return False
        for k in range(NV_OF_KIND[kind]):
            at = qi if NV_OF_KIND[kind] == 1 else 0
            if vi + k >= nv or Coordinate(model, links + vi + k).position_at != at:
                return False
        qi, vi = qi + NQ_OF_KIND[kind], vi + NV_OF_KIND[kind]
    if qi != tree.nq or vi != nv:
        return False
    for row in range(links + nv, rows):
        if not 0 <= Body(model, row).carrier < links:
            return False
    return True
