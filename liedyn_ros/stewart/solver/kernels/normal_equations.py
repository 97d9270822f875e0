# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Normal equations of as many residuals as unknowns: A = J^T J, its Cholesky factor, the step.

Matrices are flat arrays, row by row; the length of the tuple of unknowns is their order.
"""

from liedyn_ros.jit.decorators import kernel


@kernel
def assemble(unknowns, jacobian, residual, a, g):
    """Write the lower triangle of A = J^T J and g = J^T r; return the largest diagonal entry."""
    n = len(unknowns)
    for i in range(n):
        g[i] = 0.0
        for k in range(n):
            g[i] += jacobian[n * k + i] * residual[k]
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += jacobian[n * k + i] * jacobian[n * k + j]
            a[n * i + j] = total
    largest = 0.0
    for i in range(n):
        largest = max(largest, a[(n + 1) * i])
    return largest


@kernel
def factorize(unknowns, a, shift, smallest_pivot, factor):
    """Write the Cholesky factor of A + shift 1; return False where a pivot is too small."""
    n = len(unknowns)
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
def solve_negated(unknowns, factor, g, x):
    """Write the solution of C C^T x = -g, C the Cholesky factor."""
    n = len(unknowns)
    for i in range(n):
        total = -g[i]
        for k in range(i):
            total -= factor[n * i + k] * x[k]
        x[i] = total / factor[(n + 1) * i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= factor[n * k + i] * x[k]
        x[i] = total / factor[(n + 1) * i]
