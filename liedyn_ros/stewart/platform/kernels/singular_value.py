# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The signed smallest singular value of a 6 by 6 matrix, with its two singular vectors.

The sign is the determinant's. The value is the inverse of the greatest singular value of B = A^-1.
B B^T is squared until only the direction of its greatest eigenvalue is left: the power method
(Golub and Van Loan, 8.2.1). The error is that of rounding the entries of A, as for any stable
decomposition.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.linear_algebra.kernels.elimination import invert_6x6

SQUARINGS = 20  # a gap of 1e-5 between the two smallest values is then resolved
RANK_ONE = 1e-15  # of |M|^2 / trace(M)^2 below 1 where only one direction is left
SINGULAR_VALUE_WORK = 78  # two symmetric matrices and a vector


@kernel
def signed_smallest(a, inverse, right, left, work):
    """
    Return the signed smallest singular value s; write A^-1 and unit vectors with A right = s left.

    a: (36,), row by row. right, left: (6,). The sign is in s alone: A right =
    s left holds with s below zero where the determinant is.
    """
    sign, _ = invert_6x6(a, inverse)
    m, square, vector = work[0:36], work[36:72], work[72:78]
    trace = gram(inverse, m)
    for _ in range(SQUARINGS):
        trace, spread = squared(m, 1.0 / trace, square)
        m, square = square, m
        if spread < RANK_ONE:
            break
    best = 0
    for i in range(1, 6):
        if m[7 * i] > m[7 * best]:
            best = i
    total = 0.0
    for i in range(6):
        total += m[6 * best + i] * m[6 * best + i]
    scale = 1.0 / total ** 0.5
    for i in range(6):
        right[i] = scale * m[6 * best + i]
    total = 0.0
    for j in range(6):
        vector[j] = 0.0
        for i in range(6):
            vector[j] += inverse[6 * i + j] * right[i]
        total += vector[j] * vector[j]
    norm = total ** 0.5  # B^T right = left / s
    for j in range(6):
        left[j] = sign * vector[j] / norm
    return sign / norm


@kernel
def gram(b, out):
    """Write B B^T over its trace, symmetric, both halves; return the trace of the result."""
    total = 0.0
    for i in range(36):
        total += b[i] * b[i]
    scale = 1.0 / total ** 0.5
    trace = 0.0
    for i in range(6):
        for j in range(i + 1):
            entry = 0.0
            for k in range(6):
                entry += (scale * b[6 * i + k]) * (scale * b[6 * j + k])
            out[6 * i + j] = out[6 * j + i] = entry
        trace += out[7 * i]
    return trace


@kernel
def squared(m, scale, out):
    """Write (scale M)^2; return its trace, and by how much |scale M|^2 falls short of trace^2."""
    trace = 0.0
    for i in range(6):
        for j in range(i + 1):
            entry = 0.0
            for k in range(6):
                entry += m[6 * i + k] * m[6 * j + k]
            out[6 * i + j] = out[6 * j + i] = scale * scale * entry
        trace += out[7 * i]
    return trace, 1.0 - trace  # the trace of a square is the square of the norm
