# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Gaussian elimination with row pivots, real or complex (Golub and Van Loan, 3.4.1)."""

from liedyn_ros.jit.decorators import kernel


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
