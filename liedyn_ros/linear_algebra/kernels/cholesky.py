# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Cholesky factor C of a small dense matrix A = C C^T (Golub and Van Loan, 4.2.5).

Matrices are flat arrays, row by row. `size` is a tuple whose length is the order of the matrix:
the compiler then knows the order and unrolls, which the Stewart solver needs.
"""

from liedyn_ros.jit.decorators import kernel

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
