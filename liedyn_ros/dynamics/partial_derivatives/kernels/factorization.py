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
The factors M = L^T D L of a mass matrix, with the zeros of its tree (Featherstone, 6.3).

before (nv,) is for each coordinate the one before it on its path, -1 for none. L is unit lower
triangular with entries at pairs on one path alone, so a solve of m columns is O(n depth m).
"""

from liedyn_ros.jit.decorators import inlined


@inlined
def factorize(before, matrix):
    """Replace M by L below the diagonal and D on it; return k + 1 for a pivot k not above 0."""
    for k in range(len(before) - 1, -1, -1):
        if not matrix[k, k] > 0.0:
            return k + 1
        inverse = 1.0 / matrix[k, k]
        i = before[k]
        while i >= 0:
            factor = matrix[k, i] * inverse
            j = i
            while j >= 0:
                matrix[i, j] -= factor * matrix[k, j]
                j = before[j]
            matrix[k, i] = factor
            i = before[i]
    return 0


@inlined
def solve(before, factors, sign, x):
    """Replace the rows of X (nv, m) by those of sign * M^-1 X."""
    for i in range(len(before) - 1, -1, -1):
        j = before[i]
        while j >= 0:
            subtract(factors[i, j], x[i], x[j])
            j = before[j]
    for i in range(len(before)):
        scale = sign / factors[i, i]
        row = x[i]
        for c in range(len(row)):
            row[c] *= scale
        j = before[i]
        while j >= 0:
            subtract(factors[i, j], x[j], row)
            j = before[j]


@inlined
def invert(before, factors, x):
    """Write M^-1 into X (nv, nv): as solve of the identity, right of the diagonal, mirrored."""
    x[:] = 0.0
    for i in range(len(before) - 1, -1, -1):
        x[i, i] += 1.0
        j = before[i]
        while j >= 0:
            subtract(factors[i, j], x[i, i:], x[j, i:])
            j = before[j]
    for i in range(len(before)):
        scale = 1.0 / factors[i, i]
        row = x[i, i:]
        for c in range(len(row)):
            row[c] *= scale
        j = before[i]
        while j >= 0:
            subtract(factors[i, j], x[j, i:], row)
            j = before[j]
    for i in range(len(before)):
        for c in range(i):
            x[i, c] = x[c, i]


@inlined
def subtract(factor, x, y):
    """Subtract a multiple of a row x from a row y."""
    for c in range(len(y)):
        y[c] -= factor * x[c]
