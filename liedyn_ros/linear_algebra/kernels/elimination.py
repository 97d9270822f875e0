# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Small dense systems: Gaussian elimination with row pivots (Golub and Van Loan, 3.4.1).

It solves real and complex ones, and inverts 6 by 6 matrices. Cholesky factors of A = C C^T are
those of Golub and Van Loan, 4.2.5.
"""

from liedyn_ros.jit.decorators import inlined, kernel


@kernel
def solve_by_elimination(a, b):
    """
    Write A^-1 b over b; A, a flat array of rows, is overwritten.

    A singular matrix leaves infinities or NaN in b, without an error.
    """
    n = len(b)
    for k in range(n):
        pivot, most = k, -1.0
        for i in range(k, n):
            entry = a[n * i + k]
            size = entry.real * entry.real + entry.imag * entry.imag
            if size > most:
                pivot, most = i, size
        if pivot != k:
            b[k], b[pivot] = b[pivot], b[k]
            for j in range(k, n):
                a[n * k + j], a[n * pivot + j] = a[n * pivot + j], a[n * k + j]
        inverse = a[n * k + k].conjugate() * (1.0 / most)
        a[n * k + k] = inverse
        for i in range(k + 1, n):
            factor = a[n * i + k] * inverse
            b[i] -= factor * b[k]
            for j in range(k + 1, n):
                a[n * i + j] -= factor * a[n * k + j]
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= a[n * i + j] * b[j]
        b[i] = total * a[n * i + i]


SIX = (0,) * 6  # a size


@kernel
def factor_cholesky(size, a, shift, smallest_pivot, factor):
    """
    Write the lower triangle C of A + shift 1; return False where a pivot is too small.

    Only the lower triangle of A is read. smallest_pivot is what the squared diagonal entries of C
    must exceed; the caller scales it by the entries of A.
    """
    n = len(size)
    for i in range(n):
        for j in range(i + 1):
            total = a[n * i + j]
            if i == j:
                total += shift
            for k in range(j):
                total -= factor[n * i + k] * factor[n * j + k]
            if i > j:
                factor[n * i + j] = total / factor[(n + 1) * j]
            elif total > smallest_pivot:
                factor[(n + 1) * i] = total ** 0.5
            else:
                return False
    return True


@kernel
def solve_cholesky_negated(size, factor, b, x):
    """Write the solution of C C^T x = -b; x may be b."""
    n = len(size)
    for i in range(n):
        total = -b[i]
        for k in range(i):
            total -= factor[n * i + k] * x[k]
        x[i] = total / factor[(n + 1) * i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= factor[n * k + i] * x[k]
        x[i] = total / factor[(n + 1) * i]


ZERO_PIVOT = 1e-18  # of the largest entry: stands for a pivot of zero


@kernel
def invert_6x6(a, inverse):
    """
    Write the inverse by Gauss-Jordan elimination with row pivots; return sign and regular.

    sign is that of the determinant, 1 or -1. regular is False where a pivot is zero to rounding.
    Such a pivot is replaced by ZERO_PIVOT, so the result is large, finite, and has the direction
    of the null space. a and inverse may not share memory.
    """
    most = 0.0
    for k in range(36):
        inverse[k] = a[k]
        most = max(most, abs(a[k]))
    sign, regular, swaps = 1.0, True, 0
    for k in range(6):
        pivot, largest = k, abs(inverse[7 * k])
        for i in range(k + 1, 6):
            size = abs(inverse[6 * i + k])
            if size > largest:
                pivot, largest = i, size
        swaps = 8 * swaps + pivot
        if pivot != k:
            sign = -sign
            for j in range(6):
                inverse[6 * k + j], inverse[6 * pivot + j] = (
                    inverse[6 * pivot + j], inverse[6 * k + j])
        value = inverse[7 * k]
        if not largest > ZERO_PIVOT * most:
            value, regular = ZERO_PIVOT * most, False
        if value < 0.0:
            sign = -sign
        eliminate_column(inverse, k, 1.0 / value)
    for k in range(5, -1, -1):  # undo the row swaps on the columns, last first
        pivot, swaps = swaps % 8, swaps // 8
        if pivot != k:
            for i in range(6):
                inverse[6 * i + k], inverse[6 * i + pivot] = (
                    inverse[6 * i + pivot], inverse[6 * i + k])
    return sign, regular


@inlined
def eliminate_column(x, k, scale):
    """Scale row k, subtract it from the other rows, and write the inverse's column in place."""
    x0, x1, x2 = scale * x[6 * k], scale * x[6 * k + 1], scale * x[6 * k + 2]
    x3, x4, x5 = scale * x[6 * k + 3], scale * x[6 * k + 4], scale * x[6 * k + 5]
    for at in range(0, 36, 6):
        factor = x[at + k]
        x[at] -= factor * x0
        x[at + 1] -= factor * x1
        x[at + 2] -= factor * x2
        x[at + 3] -= factor * x3
        x[at + 4] -= factor * x4
        x[at + 5] -= factor * x5
        x[at + k] = -factor * scale
    at = 6 * k
    x[at], x[at + 1], x[at + 2], x[at + 3], x[at + 4], x[at + 5] = x0, x1, x2, x3, x4, x5
    x[at + k] = scale
