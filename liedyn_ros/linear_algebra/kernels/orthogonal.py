# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Column-pivoted QR of a matrix stored by columns (Golub and Van Loan, 5.4.2).

rows (m, n) holds m columns of n numbers. After `factor_qr`, row s is column order[s] of the
matrix: its first entries, to s, are column s of R. Those after s are the tail of a reflection
1 - beta v v^T whose first number, v_s, is head[s].
"""

import math

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get_lanes, put_lanes


@inlined
def inner_product(x, y):
    """Return the product of two vectors, by four sums that run in parallel."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    quarters = len(x) // 4
    for i in range(quarters):
        j = 4 * i
        a += x[j] * y[j]
        b += x[j + 1] * y[j + 1]
        c += x[j + 2] * y[j + 2]
        d += x[j + 3] * y[j + 3]
    for j in range(4 * quarters, len(x)):
        a += x[j] * y[j]
    return (a + b) + (c + d)


@kernel
def factor_qr(rows, order, head, beta, norm, count, size, most, tolerance):
    """
    Factor in place, and return the numerical rank and its smallest pivot over its largest.

    There are count columns of size numbers, and at most `most` of them count as independent. A
    column counts as dependent where its part orthogonal to the columns before is below tolerance
    times the largest column.
    """
    for t in range(count):
        order[t] = t
        norm[t] = inner_product(rows[t, :size], rows[t, :size])
    largest, smallest = 0.0, 1.0
    steps = min(count, size, most)
    for s in range(steps):
        best = s
        for t in range(s + 1, count):
            if norm[t] > norm[best]:
                best = t
        pivot = math.sqrt(norm[best])
        if s == 0:
            largest = pivot
        if not pivot > tolerance * largest:
            return s, smallest if s > 0 else 0.0
        smallest = pivot / largest
        if best != s:
            order[s], order[best] = order[best], order[s]
            norm[best] = norm[s]
            for j in range(size):
                rows[s, j], rows[best, j] = rows[best, j], rows[s, j]
        x = rows[s, s]
        image = -pivot if x > 0.0 else pivot
        head[s] = x - image
        beta[s] = -1.0 / (image * head[s])
        rows[s, s] = image
        for t in range(s + 1, count):
            tail = rows[t, s + 1:size]
            total = beta[s] * (head[s] * rows[t, s] + inner_product(rows[s, s + 1:size], tail))
            rows[t, s] -= total * head[s]
            for j in range(s + 1, size):
                rows[t, j] -= total * rows[s, j]
            norm[t] = inner_product(tail, tail)
    return steps, smallest


@kernel
def reflect(rows, head, beta, s, size, x):
    """Apply reflection s to x."""
    total = beta[s] * (head[s] * x[s] + inner_product(rows[s, s + 1:size], x[s + 1:size]))
    x[s] -= total * head[s]
    for j in range(s + 1, size):
        x[j] -= total * rows[s, j]


@kernel
def apply_q_transposed(rows, head, beta, rank, size, x):
    """Replace x by Q^T x."""
    for s in range(rank):
        reflect(rows, head, beta, s, size, x)


@kernel
def apply_q(rows, head, beta, rank, size, x):
    """Replace x by Q x."""
    for s in range(rank - 1, -1, -1):
        reflect(rows, head, beta, s, size, x)


@kernel
def solve_r_transposed(rows, rank, x):
    """Replace the first numbers of x by R^-T x."""
    for s in range(rank):
        total = x[s]
        for t in range(s):
            total -= rows[s, t] * x[t]
        x[s] = total / rows[s, s]


@kernel
def solve_r(rows, rank, x):
    """Replace the first numbers of x by R^-1 x."""
    for s in range(rank - 1, -1, -1):
        total = x[s]
        for t in range(s + 1, rank):
            total -= rows[t, s] * x[t]
        x[s] = total / rows[s, s]


@kernel
def apply_q_transposed_to_lanes(rows, head, beta, rank, size, table):
    """Replace the columns of a table (size, LANES) X by Q^T X."""
    for s in range(rank):
        own = get_lanes(table, s, 0)
        total = head[s] * own
        for j in range(s + 1, size):
            total = total + rows[s, j] * get_lanes(table, j, 0)
        total = beta[s] * total
        put_lanes(table, s, 0, own - head[s] * total)
        for j in range(s + 1, size):
            put_lanes(table, j, 0, get_lanes(table, j, 0) - rows[s, j] * total)


@kernel
def solve_r_for_lanes(rows, rank, table):
    """Replace the first rows of a table (rank, LANES) X by R^-1 X."""
    for s in range(rank - 1, -1, -1):
        total = get_lanes(table, s, 0)
        for t in range(s + 1, rank):
            total = total - rows[t, s] * get_lanes(table, t, 0)
        put_lanes(table, s, 0, (1.0 / rows[s, s]) * total)
