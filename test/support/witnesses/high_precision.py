# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The exponential and its Jacobian summed as plain power series with 60 digits.

They need no sines and roots, so they are in decimals, which take a tenth of the time of mpmath.
"""

from decimal import Context, Decimal, localcontext
import functools
from math import factorial

from mpmath import mp
import numpy as np

DIGITS = 60


def decimals(x):
    """Return doubles, mpf or decimals as an array of decimals of all digits."""
    def of(value):
        if isinstance(value, (Decimal, float)):
            return Decimal(value)
        sign, man, exponent, _ = mp.mpf(value)._mpf_
        return (-1) ** sign * Decimal(int(man)) * Decimal(2) ** int(exponent)
    return np.vectorize(of, otypes=[object])(x)


def inverse(matrix):
    """Return the inverse of a matrix of decimals, by Gauss and Jordan with the largest pivots."""
    n = len(matrix)
    both = np.concatenate([matrix, decimals(np.eye(n))], axis=1)
    for i in range(n):
        pivot = i + int(np.argmax(np.abs(both[i:, i])))
        both[[i, pivot]] = both[[pivot, i]]
        both[i] = both[i] / both[i, i]
        for j in np.flatnonzero(np.arange(n) != i):
            both[j] = both[j] - both[j, i] * both[i]
    return both[:, n:]


def stumpff(k, x):
    """Return the sum of (-x)^j / (k + 2j)! over all j."""
    with localcontext(Context(prec=DIGITS)):
        x, power, total = Decimal(float(x)), Decimal(1), Decimal(0)
        for j in range(40):
            total += power / factorial(k + 2 * j)
            power *= -x
        return total


def cross_matrix(w):
    """Return [w] for three numbers."""
    zero = 0 * w[0]
    return np.array([[zero, -w[2], w[1]], [w[2], zero, -w[0]], [-w[1], w[0], zero]])


def series(matrix, offset):
    """Return the sum of matrix^k / (k + offset)! over all k, for an offset of 0 or 1."""
    with localcontext(Context(prec=DIGITS)):
        power = decimals(np.eye(len(matrix)))
        total, k = power, 0
        while abs(power).max() > Decimal(10) ** -DIGITS:
            k += 1
            power = power @ matrix / (k + offset)
            total = total + power
        return total


@functools.cache
def exp(xi):
    """Return the matrix exponential of [[w] v; 0 0]."""
    xi, matrix = decimals(xi), decimals(np.zeros((4, 4)))
    matrix[:3, :3], matrix[:3, 3] = cross_matrix(xi[:3]), xi[3:]
    return series(matrix, 0)


@functools.cache
def left_jacobian(xi):
    """Return the sum of ad^k / (k + 1)! with ad = [[w] 0; [v] [w]]."""
    xi, ad = decimals(xi), decimals(np.zeros((6, 6)))
    ad[:3, :3] = ad[3:, 3:] = cross_matrix(xi[:3])
    ad[3:, :3] = cross_matrix(xi[3:])
    return series(ad, 1)


@functools.cache
def left_jacobian_inverse(xi):
    """Return the inverse of the left Jacobian."""
    with localcontext(Context(prec=DIGITS)):
        return inverse(left_jacobian(xi))


def relative_error(value, reference):
    """Return the largest error of any entry over the largest reference entry."""
    with localcontext(Context(prec=DIGITS)):
        reference = decimals(reference)
        return float(abs(decimals(value) - reference).max() / abs(reference).max())
