# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""3 by 3 matrices as tuples of nine floats, row by row."""

from liedyn_ros.jit.decorators import kernel

Mat3 = tuple[float, float, float, float, float, float, float, float, float]

UNIT_ENTRIES: Mat3 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def add(a, b):
    """Return A + B."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2],
            a[3] + b[3], a[4] + b[4], a[5] + b[5],
            a[6] + b[6], a[7] + b[7], a[8] + b[8])


@kernel
def scale(s, a):
    """Return the scalar s times A."""
    return (s * a[0], s * a[1], s * a[2],
            s * a[3], s * a[4], s * a[5],
            s * a[6], s * a[7], s * a[8])


@kernel
def transpose(a):
    """Return the transpose of A."""
    return (a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8])


@kernel
def apply(a, x):
    """Return A x."""
    return (a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
            a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
            a[6] * x[0] + a[7] * x[1] + a[8] * x[2])


@kernel
def apply_t(a, x):
    """Return A^T x."""
    return (a[0] * x[0] + a[3] * x[1] + a[6] * x[2],
            a[1] * x[0] + a[4] * x[1] + a[7] * x[2],
            a[2] * x[0] + a[5] * x[1] + a[8] * x[2])


@kernel
def mul(a, b):
    """Return A B."""
    return (a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
            a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
            a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
            a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
            a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
            a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
            a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
            a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
            a[6] * b[2] + a[7] * b[5] + a[8] * b[8])


@kernel
def trace(a):
    """Return the trace of A."""
    return a[0] + a[4] + a[8]


@kernel
def hat(w):
    """Return [w], the cross-product matrix: [w] x = w x x."""
    return (0.0, -w[2], w[1], w[2], 0.0, -w[0], -w[1], w[0], 0.0)


@kernel
def outer(a, b):
    """Return a b^T."""
    return (a[0] * b[0], a[0] * b[1], a[0] * b[2],
            a[1] * b[0], a[1] * b[1], a[1] * b[2],
            a[2] * b[0], a[2] * b[1], a[2] * b[2])


@kernel
def load(array, at):
    """Return the nine entries of a flat array that start at an index."""
    return (array[at], array[at + 1], array[at + 2],
            array[at + 3], array[at + 4], array[at + 5],
            array[at + 6], array[at + 7], array[at + 8])


@kernel
def store(array, at, a):
    """Write A into a flat array from an index on, row by row."""
    for i in range(9):
        array[at + i] = a[i]
