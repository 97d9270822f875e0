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
of the work but loses twice the digits, so it serves well-conditioned columns.

All functions read the sparsity and write the buffers through attributes. pattern.span (2 m,): the
first column and one past the last column that meet column s. pattern.support_start, support: the
rows of Y whose entry in column s can differ from zero. buffers.response: Y. buffers.upper: U.
buffers.inverse: D^-1, D being the diagonal of U. buffers.lower: U^T D^-1. buffers.line: two rows,
the right side and scratch.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get, get_lanes, LANES, put, put_lanes, spread
from liedyn_ros.linear_algebra.kernels.rows import add_scaled_row, scale_row

WELL_CONDITIONED = 1e-2  # smallest pivot of R over the largest: S then costs four digits


@kernel
def factor_gram(pattern, buffers):
    """Write U; return the smallest pivot of R over the largest, 0 if below WELL_CONDITIONED."""
    upper, lower, response = buffers.upper, buffers.lower, buffers.response
    largest, smallest = 0.0, math.inf  # squares of pivots
    for s in range(len(upper)):
        begin, end = pattern.span[2 * s], pattern.span[2 * s + 1]
        for t in range(begin, s):
            put(lower, s, t, buffers.inverse[t] * get(upper, t, s))
        for c in range(s // LANES * LANES, end, LANES):
            row, less = spread(0.0), spread(0.0)  # two sums, so that additions run in parallel
            for at in range(pattern.support_start[s], pattern.support_start[s + 1]):
                k = pattern.support[at]
                row = row + get(response, k, s) * get_lanes(response, k, c)
            for t in range(begin, s):
                less = less + get(lower, s, t) * get_lanes(upper, t, c)
            put_lanes(upper, s, c, row - less)
        pivot = get(upper, s, s)
        largest, smallest = max(largest, pivot), min(smallest, pivot)
        if not (pivot > 0.0 and smallest > WELL_CONDITIONED**2 * largest):
            return 0.0
        buffers.inverse[s] = 1.0 / pivot
    return math.sqrt(smallest / largest) if largest > 0.0 else 1.0


@kernel
def solve_gram(pattern, buffers):
    """Replace the first row of buffers.line by (Y^T Y)^-1 times it."""
    line = buffers.line
    for s in range(len(buffers.upper)):
        z = get(line, 0, s) * buffers.inverse[s]
        put(line, 1, s, z)
        for c in range(s // LANES * LANES, pattern.span[2 * s + 1], LANES):
            put_lanes(line, 0, c, get_lanes(line, 0, c) - z * get_lanes(buffers.upper, s, c))
    for s in range(len(buffers.upper) - 1, -1, -1):
        x = get(line, 1, s)
        put(line, 0, s, x)
        for c in range(pattern.span[2 * s], s, LANES):
            put_lanes(line, 1, c, get_lanes(line, 1, c) - x * get_lanes(buffers.lower, s, c))


@kernel
def solve_gram_for_rows(pattern, buffers, table, first, begin, end):
    """Replace the rows X of a table from `first` on by (Y^T Y)^-1 X, columns begin to end."""
    lower, count = buffers.lower, len(buffers.upper)
    for s in range(count):
        for t in range(pattern.span[2 * s], s):
            add_scaled_row(table, first + s, table, first + t, -get(lower, s, t), begin, end)
    for s in range(count - 1, -1, -1):
        scale_row(table, first + s, buffers.inverse[s], begin, end)
        for t in range(s + 1, min(pattern.span[2 * s + 1], count)):
            add_scaled_row(table, first + s, table, first + t, -get(lower, t, s), begin, end)
