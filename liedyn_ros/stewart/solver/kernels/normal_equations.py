# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Normal equations A s = -g of as many residuals as unknowns: A = J^T J, g = J^T r (11.5), (11.6).

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
