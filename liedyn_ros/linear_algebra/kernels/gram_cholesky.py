# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Sparse Cholesky factor of a Gram matrix: Y^T Y = U^T D^-1 U (Golub and Van Loan, 4.1.2).

The rows of U are multiples of those of R of a QR factorization (orthogonal.py). U takes a third
of the work but loses twice the digits, so it serves well-conditioned columns. Its inverse is
written along with it, as products with that do not wait for each other as substitutions do.

All functions read the sparsity and write the buffers through attributes. pattern.span (2 m,): the
first column and one past the last column that meet column s. pattern.met (m / LANES,): one past
the last column that meets any of LANES columns. pattern.support_start, support: the rows of Y
whose entry in column s can differ from zero. buffers.response: Y. buffers.upper: U.
buffers.inverse: D^-1, D being the diagonal of U. buffers.unit: D^-1 U. buffers.lower: the inverse
of U^T D^-1. buffers.line: two rows, the right side and scratch.
"""

import math

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, put, put_lanes, total, with_lane

WELL_CONDITIONED = 1e-2  # smallest pivot of R over the largest: S then costs four digits


@kernel
def factor_gram(pattern, buffers):
    """Write U; return the smallest pivot of R over the largest, 0 if below WELL_CONDITIONED."""
    upper, unit, response = buffers.upper, buffers.unit, buffers.response
    largest, smallest = 0.0, math.inf  # squares of pivots
    for s in range(len(upper)):
        begin, end = pattern.span[2 * s], pattern.span[2 * s + 1]
        for c in range(s // LANES * LANES, end, LANES):
            # Two sums, so that additions run in parallel
            row, less = broadcast(0.0), broadcast(0.0)
            for at in range(pattern.support_start[s], pattern.support_start[s + 1]):
                k = pattern.support[at]
                row = row + get(response, k, s) * get_lanes(response, k, c)
            for t in range(begin, s):
                less = less + get(upper, t, s) * get_lanes(unit, t, c)
            put_lanes(upper, s, c, row - less)
        pivot = get(upper, s, s)
        largest, smallest = max(largest, pivot), min(smallest, pivot)
        if not (pivot > 0.0 and smallest > WELL_CONDITIONED**2 * largest):
            return 0.0
        scale = 1.0 / pivot
        buffers.inverse[s] = scale
        for c in range(s // LANES * LANES, end, LANES):
            put_lanes(unit, s, c, scale * get_lanes(upper, s, c))
        write_inverse_row(pattern, buffers, s)
    return math.sqrt(smallest / largest) if largest > 0.0 else 1.0


@inlined
def write_inverse_row(pattern, buffers, s):
    """Write row s of buffers.lower, rows before it being known."""
    for c in range(pattern.span[2 * s], s + 1, LANES):
        row = broadcast(0.0)
        for t in range(c, s):
            row = row - get(buffers.unit, t, s) * get_lanes(buffers.lower, t, c)
        put_lanes(buffers.lower, s, c, with_lane(row, s - c, 1.0))


@kernel
def solve_gram(pattern, buffers):
    """Replace the first row of buffers.line by (Y^T Y)^-1 times it."""
    line, lower = buffers.line, buffers.lower
    for s in range(len(lower)):
        row = broadcast(0.0)
        for c in range(pattern.span[2 * s], s + 1, LANES):
            row = row + get_lanes(lower, s, c) * get_lanes(line, 0, c)
        put(line, 1, s, buffers.inverse[s] * total(row))
    for c in range(0, line.shape[1], LANES):
        row = broadcast(0.0)
        for s in range(c, min(pattern.met[c // LANES], len(lower))):
            row = row + get(line, 1, s) * get_lanes(lower, s, c)
        put_lanes(line, 0, c, row)


@kernel
def solve_gram_for_rows(pattern, buffers, table, first, begin, end):
    """Replace the rows X of a table from `first` on by (Y^T Y)^-1 X, columns begin to end."""
    lower, count = buffers.lower, len(buffers.lower)
    for c in range(begin, end, LANES):
        for s in range(count - 1, -1, -1):
            row = get_lanes(table, first + s, c)
            for t in range(pattern.span[2 * s], s):
                row = row + get(lower, s, t) * get_lanes(table, first + t, c)
            put_lanes(table, first + s, c, buffers.inverse[s] * row)
        for s in range(count):
            row = get_lanes(table, first + s, c)
            for t in range(s + 1, min(pattern.span[2 * s + 1], count)):
                row = row + get(lower, t, s) * get_lanes(table, first + t, c)
            put_lanes(table, first + s, c, row)
