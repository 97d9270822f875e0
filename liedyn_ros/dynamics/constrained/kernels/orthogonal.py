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
Column-pivoted QR of a matrix that is held by its columns, as rows of a table (Golub, 5.4.2).

rows (m, n) holds m columns of n numbers. After `triangularise`, row s is column order[s] of the
matrix: its first entries, to s, are column s of R. Those after s are the tail of a reflection
1 - beta v v^T whose first number, v_s, is head[s].
"""

import math

from liedyn_ros.jit.decorators import kernel


@kernel
def triangularise(rows, order, head, beta, norm, count, size, tolerance):
    """
    Factor in place, and return the numerical rank and its smallest pivot over its largest.

    count columns of size numbers; a column counts as dependent where what the columns before
    leave of it is below tolerance times the largest.
    """
    for t in range(count):
        order[t] = t
        total = 0.0
        for j in range(size):
            total += rows[t, j] * rows[t, j]
        norm[t] = total
    largest, smallest = 0.0, 1.0
    for s in range(min(count, size)):
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
            total = head[s] * rows[t, s]
            for j in range(s + 1, size):
                total += rows[s, j] * rows[t, j]
            total *= beta[s]
            rows[t, s] -= total * head[s]
            left = 0.0
            for j in range(s + 1, size):
                rows[t, j] -= total * rows[s, j]
                left += rows[t, j] * rows[t, j]
            norm[t] = left
    return min(count, size), smallest


@kernel
def reflect(rows, head, beta, s, size, x):
    """Apply reflection s to x."""
    total = head[s] * x[s]
    for j in range(s + 1, size):
        total += rows[s, j] * x[j]
    total *= beta[s]
    x[s] -= total * head[s]
    for j in range(s + 1, size):
        x[j] -= total * rows[s, j]


@kernel
def apply_transposed(rows, head, beta, rank, size, x):
    """Replace x by Q^T x."""
    for s in range(rank):
        reflect(rows, head, beta, s, size, x)


@kernel
def apply(rows, head, beta, rank, size, x):
    """Replace x by Q x."""
    for s in range(rank - 1, -1, -1):
        reflect(rows, head, beta, s, size, x)


@kernel
def solve_transposed(rows, rank, x):
    """Replace the first numbers of x by R^-T x."""
    for s in range(rank):
        total = x[s]
        for t in range(s):
            total -= rows[s, t] * x[t]
        x[s] = total / rows[s, s]


@kernel
def solve(rows, rank, x):
    """Replace the first numbers of x by R^-1 x."""
    for s in range(rank - 1, -1, -1):
        total = x[s]
        for t in range(s + 1, rank):
            total -= rows[t, s] * x[t]
        x[s] = total / rows[s, s]
