# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Singular values of a matrix stored by columns, as rows of a table (Golub and Van Loan, 8.6.3).

One-sided Jacobi: pairs of columns are rotated until all are orthogonal. Their lengths are the
singular values; the rotations, gathered in `mix`, are the right singular vectors. Starting from
the vectors of a matrix nearby takes a sweep or two.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.linear_algebra.kernels.orthogonal import inner_product

MAX_SWEEPS = 40
ORTHOGONAL = 1e-15  # cosine of the angle between columns that count as orthogonal


@kernel
def orthogonalize_columns(columns, mix, size):
    """Rotate the rows (k, m) of columns until they are orthogonal, and mix (k, k) alike."""
    for _ in range(MAX_SWEEPS):
        rotated = False
        for p in range(len(columns)):
            for s in range(p + 1, len(columns)):
                x, y = inner_product(columns[p], columns[p]), inner_product(columns[s], columns[s])
                z = inner_product(columns[p], columns[s])
                if abs(z) > ORTHOGONAL * math.sqrt(x * y):
                    zeta = 0.5 * (y - x) / z
                    t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                    rotate_rows(columns, mix, p, s, t)
                    rotated = True
        if not rotated:
            break
    for p in range(len(columns)):
        size[p] = math.sqrt(inner_product(columns[p], columns[p]))


@kernel
def rotate_rows(columns, mix, p, s, t):
    """Rotate rows p and s of both tables by the angle whose tangent is t."""
    cos = 1.0 / math.sqrt(1.0 + t * t)
    sin = t * cos
    for table in (columns, mix):
        for j in range(table.shape[1]):
            a, b = table[p, j], table[s, j]
            table[p, j], table[s, j] = cos * a - sin * b, sin * a + cos * b


@kernel
def write_identity(mix):
    """Write the identity."""
    for p in range(len(mix)):
        for j in range(len(mix)):
            mix[p, j] = 1.0 if p == j else 0.0


@kernel
def orthonormalize_rows(mix):
    """Remove the rounding errors of many rotations from nearly orthonormal rows."""
    for p in range(len(mix)):
        for s in range(p):
            z = inner_product(mix[p], mix[s])
            for j in range(len(mix)):
                mix[p, j] -= z * mix[s, j]
        scale = 1.0 / math.sqrt(inner_product(mix[p], mix[p]))
        for j in range(len(mix)):
            mix[p, j] *= scale
