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

"""Singular values of 6 by 6 matrices in flat arrays of 36 numbers, row by row, in place."""

from liedyn_ros.jit.decorators import kernel

SWEEPS = 30  # one-sided Jacobi needs about six; more would mean a NaN
ORTHOGONAL = 1e-9  # cosine c of two rows that count as orthogonal: c^2 of a value is the error


@kernel
def smallest_singular_value(rows, squares):
    """
    Return the smallest singular value; the rows are overwritten, `squares` is space for six.

    One-sided Jacobi: rotate pairs of rows until all are orthogonal; their norms are the
    singular values, the small ones with full relative accuracy (Demmel and Veselic 1992).
    """
    for _ in range(SWEEPS):
        for i in range(6):
            squares[i] = _dot(rows, 6 * i, 6 * i)
        rotated = False
        for i in range(5):
            for j in range(i + 1, 6):
                rotated |= _orthogonalize(rows, squares, i, j)
        if not rotated:
            break
    smallest = squares[0]
    for i in range(1, 6):
        smallest = min(smallest, squares[i])
    return smallest ** 0.5


@kernel
def _dot(rows, i, j):
    total = 0.0
    for k in range(6):
        total += rows[i + k] * rows[j + k]
    return total


@kernel
def _orthogonalize(rows, squares, i, j):
    aa, bb, ab = squares[i], squares[j], _dot(rows, 6 * i, 6 * j)
    if not ab * ab > ORTHOGONAL * ORTHOGONAL * aa * bb:
        return False
    zeta = (bb - aa) / (2.0 * ab)
    t = 1.0 / (abs(zeta) + (1.0 + zeta * zeta) ** 0.5)
    if zeta < 0.0:
        t = -t
    c = 1.0 / (1.0 + t * t) ** 0.5
    s = c * t
    squares[i], squares[j] = aa - t * ab, bb + t * ab
    for k in range(6):
        x, y = rows[6 * i + k], rows[6 * j + k]
        rows[6 * i + k] = c * x - s * y
        rows[6 * j + k] = s * x + c * y
    return True
