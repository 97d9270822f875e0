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

"""The smallest singular value of a 6 by 6 matrix: quickly where it is not small, else exactly."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.platform.kernels import linear6

SMALL = 1e-3  # of the trace of the Gram matrix: below it, squaring would cost over three digits
STEPS = 14  # Newton needs about ten; more would mean a multiple root, which it finds badly


@kernel
def smallest_singular_value(rows, gram, scratch, squares):
    """
    Return the smallest singular value; all arrays (36, 36, 36 and 6 numbers) are overwritten.

    The smallest eigenvalue of the Gram matrix, by Householder and Newton, costs a quarter of
    one-sided Jacobi, which answers where squaring would lose accuracy.
    """
    trace = 0.0
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(6):
                total += rows[6 * i + k] * rows[6 * j + k]
            gram[6 * i + j] = gram[6 * j + i] = total
        trace += gram[7 * i]
    tridiagonalize(gram, scratch)
    square = smallest_eigenvalue(gram, trace)
    if square > SMALL * trace:
        return square ** 0.5
    return linear6.smallest_singular_value(rows, squares)


@kernel
def tridiagonalize(a, scratch):
    """Make a symmetric matrix tridiagonal by Householder reflections; the rest is not cleared."""
    for k in range(4):
        v, p = scratch[0:6], scratch[6:12]
        square = 0.0
        for i in range(k + 1, 6):
            v[i] = a[6 * i + k]
            square += v[i] * v[i]
        alpha = -square ** 0.5 if v[k + 1] > 0.0 else square ** 0.5
        half = square - alpha * v[k + 1]  # |v - alpha e|^2 / 2
        a[6 * (k + 1) + k] = alpha
        if half == 0.0:
            continue
        v[k + 1] -= alpha
        inverse, projection = 1.0 / half, 0.0
        for i in range(k + 1, 6):
            p[i] = 0.0
            for j in range(k + 1, 6):
                p[i] += inverse * a[6 * i + j] * v[j]
            projection += p[i] * v[i]
        for i in range(k + 1, 6):
            p[i] -= 0.5 * inverse * projection * v[i]
        for i in range(k + 1, 6):
            for j in range(k + 1, 6):
                a[6 * i + j] -= v[i] * p[j] + p[i] * v[j]


@kernel
def smallest_eigenvalue(a, trace):
    """
    Return the smallest root of the characteristic polynomial of a tridiagonal matrix.

    All roots are real and none is negative, so Newton's method climbs to the smallest from 0.
    Returns -1 where it climbs slowly, as to a multiple root.
    """
    x = 0.0
    for _ in range(STEPS):
        before, value, slope_before, slope = 1.0, a[0] - x, 0.0, -1.0
        for k in range(1, 6):
            d, e = a[7 * k] - x, a[6 * k + k - 1]
            before, value, slope_before, slope = (
                value, d * value - e * e * before,
                slope, d * slope - value - e * e * slope_before)
        step = -value / slope
        x += step
        if not step > 1e-16 * trace:
            return x
    return -1.0
