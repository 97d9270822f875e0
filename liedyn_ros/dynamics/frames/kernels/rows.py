# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses as their three rows [r p], each in four Lanes."""

from liedyn_ros.dynamics.tree.kernels.tables import PLACEMENT
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import filled, get, get_quad, joined, parts, put_quad, quad_of


@inlined
def as_rows(r, p):
    """Return the rows of a pose."""
    return (joined(r[0], r[1], r[2], p[0]), joined(r[3], r[4], r[5], p[1]),
            joined(r[6], r[7], r[8], p[2]))


@inlined
def as_pose(rows):
    """Return the pose (r, p) of rows."""
    x, y, z = parts(rows[0]), parts(rows[1]), parts(rows[2])
    return x[0:3] + y[0:3] + z[0:3], (x[3], y[3], z[3])


@inlined
def placement_rows(model, row):
    """Return the placement of a link or frame in what carries it."""
    return (filled(get_quad(model, row, PLACEMENT), 3, get(model, row, PLACEMENT + 9)),
            filled(get_quad(model, row, PLACEMENT + 3), 3, get(model, row, PLACEMENT + 10)),
            filled(get_quad(model, row, PLACEMENT + 6), 3, get(model, row, PLACEMENT + 11)))


@inlined
def seen_from_parent(r, p, rows):
    """Return the product of a pose (r, p) and a pose in rows."""
    return (row_times_pose(r[0], r[1], r[2], p[0], rows),
            row_times_pose(r[3], r[4], r[5], p[1], rows),
            row_times_pose(r[6], r[7], r[8], p[2], rows))


@inlined
def row_times_pose(a, b, c, d, rows):
    """Return the row a, b, c, d of a pose times another pose."""
    return (a * rows[0] + b * rows[1]) + (c * rows[2] + filled(quad_of(0.0), 3, d))


@inlined
def put_pose(table, i, rows):
    """Write the rows of a pose into the first columns of row i."""
    put_quad(table, i, 0, rows[0])
    put_quad(table, i, 4, rows[1])
    put_quad(table, i, 8, rows[2])


@inlined
def put_whole_pose(table, i, rows):
    """Write the 4 by 4 matrix of a pose into row i; return zeros, or NaN if it is not finite."""
    put_pose(table, i, rows)
    put_quad(table, i, 12, joined(0.0, 0.0, 0.0, 1.0))
    return (rows[0] - rows[0]) + (rows[1] - rows[1]) + (rows[2] - rows[2])


@inlined
def are_zeros(quad):
    """Return whether four Lanes are zeros, and not NaN."""
    x = parts(quad)
    return x[0] + x[1] + x[2] + x[3] == 0.0
