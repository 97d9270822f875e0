# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The mass matrix in the inertial frame, and its factor along the tree (Featherstone, 6.5).

Row k of a table has the entries of coordinate k with its ancestors, from the ground on, then its
own. So the ancestors of an ancestor come first in a row too, and rows are added to each other
eight entries at a time. The inverse of the factor serves all orders of a series: products with it
do not wait for each other, as substitutions do.
"""

import math

import numpy as np

from liedyn_ros.dynamics.constrained.kernels.groups import coordinates_of, rows_of
from liedyn_ros.dynamics.constrained.kernels.tables import (
    add_row, dot6, get6, load3_lanes, START)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, put, put_lanes, total, with_lane
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.linear_algebra.kernels.rows import add_scaled_row, clear_row, scale_row

SMALLEST_PIVOT = 1e-12  # of the inertia that a coordinate moves


@inlined
def depth(machine, k):
    """Return how many coordinates are before k on the way to the ground."""
    return machine.ancestor_start[k + 1] - machine.ancestor_start[k]


@inlined
def ancestor(machine, at):
    """Return an entry of machine.ancestor; numba does not look whether it is below zero."""
    return np.uint64(machine.ancestor[np.uint64(at)])


@kernel
def write_mass(machine, motion, scratch):
    """Write M, by composite rigid bodies."""
    count, composite, mass, row = len(machine.kind), motion.composite, scratch.mass, motion.step
    for i in range(count):
        composite[i, 0] = machine.inertia[i, 0]
        for c in range(9):
            composite[i, 1 + c] = motion.moments[0, c, machine.heavy[i]]
    screws = motion.screw[0]
    for i in range(count - 1, -1, -1):
        body = rigid.load(composite, i, 0)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            screw = get6(motion.screw, j, START)
            m, f = rigid.apply(body, screw[0], screw[1])
            first, own = machine.ancestor_start[j], depth(machine, j)
            begin = machine.ancestor[first] // LANES * LANES if own > 0 else j
            for c in range(begin, j, LANES):  # of which the ancestors count
                put_lanes(row, 0, c, vec3.dot(m, load3_lanes(screws, c, START)) + vec3.dot(
                    f, load3_lanes(screws, c, START + 3)))
            put_lanes(mass, j, LANES * (own // LANES), broadcast(0.0))
            for t in range(own):
                put(mass, j, t, get(row, 0, ancestor(machine, first + t)))
            put(mass, j, own, dot6(screw, (m, f)) + machine.armature[j])  # (3.20)
        parent = machine.parent[i]
        if parent < count:
            add_row(composite, parent, get_lanes(composite, i, START))
            put_lanes(composite, parent, LANES, get_lanes(composite, parent, LANES) + get_lanes(
                composite, i, LANES))


@kernel
def is_moved(machine, i, j):
    """Return whether coordinate i, not after j, moves the link of j."""
    at = machine.link[j]
    while at != machine.link[i] and at < len(machine.kind):
        at = machine.parent[at]
    return at == machine.link[i]


@kernel
def add_constraint_inertia(machine, motion, scratch):
    """Replace M by M + A^T W A (12.54), W being scratch.stiffness; a group's part is dense."""
    for k in range(len(machine.link)):
        first, end = rows_of(machine, machine.group[k])
        for t in range(depth(machine, k) + 1):
            i = machine.coordinate_at[machine.group_coordinates[machine.group[k]] + t]
            entry = get(scratch.mass, k, t) if is_moved(machine, i, k) else 0.0
            for at in range(first, end):
                r = machine.row_at[at]
                entry += (scratch.stiffness[r] * motion.jacobian[0, r, k]
                          * motion.jacobian[0, r, i])
            put(scratch.mass, k, t, entry)


@kernel
def quadratic_forms(machine, scratch, g, table):
    """Return x^T M x of a group, M not factored yet, of each column x of a table (nv, LANES)."""
    form = broadcast(0.0)
    begin, end = coordinates_of(machine, g)
    for at in range(begin, end):
        k = machine.coordinate_at[at]
        first, own = machine.ancestor_start[k], depth(machine, k)
        x = get_lanes(table, k, 0)
        row = 0.5 * get(scratch.mass, k, own) * x
        for t in range(own):
            row = row + get(scratch.mass, k, t) * get_lanes(table, ancestor(machine, first + t), 0)
        form = form + 2.0 * x * row
    return form


@kernel
def factor_tree_inertia(machine, free, scratch):
    """
    Factor M = L^T L over the free coordinates, in place; L is as sparse as M.

    scratch.y holds the roots of the diagonal of M. Returns k + 1 for a coordinate k that moves no
    inertia by itself, 0 if there is none.
    """
    mass = scratch.mass
    for k in range(len(machine.link) - 1, -1, -1):
        if not free[k]:
            continue
        first, own = machine.ancestor_start[k], depth(machine, k)
        pivot = get(mass, k, own)
        if not pivot > SMALLEST_PIVOT * scratch.y[k]**2:
            return k + 1
        inverse = 1.0 / pivot
        for t in range(own - 1, -1, -1):
            i, entry = machine.ancestor[first + t], inverse * get(mass, k, t)
            if free[i]:
                for c in range(0, t + 1, LANES):
                    put_lanes(mass, i, c, get_lanes(mass, i, c) - entry * get_lanes(mass, k, c))
        scale = math.sqrt(inverse)
        scratch.root[k] = scale
        for c in range(0, own, LANES):
            put_lanes(mass, k, c, scale * get_lanes(mass, k, c))
    return 0


@kernel
def write_factor_inverse(machine, free, scratch):
    """Write L^-1, whose rows have the coordinates in their order; those prescribed have zeros."""
    inverse = scratch.factor_inverse
    for k in range(len(machine.link)):
        first, own, begin = machine.ancestor_start[k], depth(machine, k), 0
        scale = scratch.root[k] if free[k] else 0.0
        for c in range(first_lanes(machine, k), k + 1, LANES):
            while begin < own and machine.ancestor[first + begin] < c:
                begin += 1  # these have zeros from c on
            if (machine.ancestor[first + begin] if begin < own else k) >= c + LANES:
                continue  # no coordinate before k is one of these: they stay zeros
            row = broadcast(0.0)
            for t in range(begin, own):
                row = row - get(scratch.mass, k, t) * get_lanes(
                    inverse, ancestor(machine, first + t), c)
            put_lanes(inverse, k, c, scale * with_lane(row, k - c, 1.0))


@inlined
def first_lanes(machine, k):
    """Return where the LANES coordinates begin that have the first one before k, or k."""
    first = machine.ancestor_start[k]
    return (machine.ancestor[first] if depth(machine, k) > 0 else k) // LANES * LANES


@kernel
def apply_factor_inverse_transposed(machine, scratch, x):
    """Replace x by L^-T x on the free coordinates; those prescribed become zero."""
    sums, inverse = scratch.sums, scratch.factor_inverse
    for c in range(0, sums.shape[1], LANES):
        row = broadcast(0.0)
        for at in range(machine.chained_start[c // LANES], machine.chained_start[c // LANES + 1]):
            k = machine.chained[at]
            row = row + x[k] * get_lanes(inverse, k, c)
        put_lanes(sums, 0, c, row)
    for k in range(len(x)):
        x[k] = get(sums, 0, k)


@kernel
def apply_factor_inverse_transposed_to_rows(machine, free, scratch, table):
    """Replace a table Y (nv, m) by L^-T Y."""
    inverse = scratch.factor_inverse
    for k in range(len(machine.link)):
        first, own = machine.ancestor_start[k], depth(machine, k) if free[k] else 0
        for c in range(machine.reach[2 * k], machine.reach[2 * k + 1], LANES):
            row = get_lanes(table, k, c)
            put_lanes(table, k, c, get(inverse, k, k) * row)
            for t in range(own):
                i = ancestor(machine, first + t)
                put_lanes(table, i, c, get_lanes(table, i, c) + get(inverse, k, i) * row)


@kernel
def apply_factor_inverse(machine, scratch, x):
    """Replace x by L^-1 x on the free coordinates; those prescribed become zero."""
    sums, inverse = scratch.sums, scratch.factor_inverse
    for k in range(len(x)):
        put(sums, 0, k, x[k])
    for k in range(len(x)):
        row = broadcast(0.0)
        for c in range(first_lanes(machine, k), k + 1, LANES):
            row = row + get_lanes(inverse, k, c) * get_lanes(sums, 0, c)
        x[k] = total(row)


@kernel
def solve_factor_transposed(machine, free, scratch, g, x):
    """Replace x by L^-T x on the free coordinates of a group; those prescribed become zero."""
    begin, end = coordinates_of(machine, g)
    for at in range(end - 1, begin - 1, -1):
        k = machine.coordinate_at[at]
        if not free[k]:
            x[k] = 0.0
        else:
            first, own = machine.ancestor_start[k], x[k] * scratch.root[k]
            for t in range(depth(machine, k)):
                x[ancestor(machine, first + t)] -= get(scratch.mass, k, t) * own
            x[k] = own


@kernel
def solve_factor(machine, free, scratch, g, x):
    """Replace x by L^-1 x on the free coordinates of a group; those prescribed become zero."""
    begin, end = coordinates_of(machine, g)
    for at in range(begin, end):
        k = machine.coordinate_at[at]
        rest, first = 0.0, machine.ancestor_start[k]
        if free[k]:
            rest = x[k]
            for t in range(depth(machine, k)):
                rest -= get(scratch.mass, k, t) * x[ancestor(machine, first + t)]
        x[k] = rest * scratch.root[k]


@kernel
def solve_factor_for_rows_transposed(machine, free, scratch, table, begin, end):
    """Replace the first nv rows X of a table by L^-T X, columns begin to end."""
    for k in range(len(machine.link) - 1, -1, -1):
        if not free[k]:
            clear_row(table, k, begin, end)
            continue
        first = machine.ancestor_start[k]
        scale_row(table, k, scratch.root[k], begin, end)
        for t in range(depth(machine, k)):
            i = ancestor(machine, first + t)
            add_scaled_row(table, i, table, k, -get(scratch.mass, k, t), begin, end)


@kernel
def solve_factor_for_rows(machine, free, scratch, table, begin, end):
    """Replace rows X by L^-1 X."""
    for k in range(len(machine.link)):
        if not free[k]:
            clear_row(table, k, begin, end)
            continue
        first = machine.ancestor_start[k]
        for t in range(depth(machine, k)):
            i = ancestor(machine, first + t)
            add_scaled_row(table, k, table, i, -get(scratch.mass, k, t), begin, end)
        scale_row(table, k, scratch.root[k], begin, end)
