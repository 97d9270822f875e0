# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The exponential and its Jacobian summed as plain power series with 60 digits."""

import functools

from mpmath import mp
import numpy as np

DIGITS = 60


def number(value):
    """Return the exact value of a double with 60 digits."""
    with mp.workdps(DIGITS):
        return mp.mpf(float(value))


def stumpff(k, x):
    """Return the sum of (-x)^j / (k + 2j)! over all j."""
    with mp.workdps(DIGITS):
        return mp.fsum((-number(x)) ** j / mp.factorial(k + 2 * j) for j in range(40))


def cross_matrix(w):
    """Return [w] for three numbers."""
    zero = 0 * w[0]
    return np.array([[zero, -w[2], w[1]], [w[2], zero, -w[0]], [-w[1], w[0], zero]])


def series(matrix, offset):
    """Return the sum of matrix^k / (k + offset)! over all k, for an offset of 0 or 1."""
    with mp.workdps(DIGITS):
        power = np.array([[mp.mpf(int(i == j)) for j in range(len(matrix))]
                          for i in range(len(matrix))])
        total, k = power, 0
        while abs(power).max() > mp.mpf(10) ** -DIGITS:
            k += 1
            power = power @ matrix / (k + offset)
            total = total + power
        return total


@functools.cache
def exp(xi):
    """Return the matrix exponential of [[w] v; 0 0]."""
    xi = [number(x) for x in xi]
    matrix = np.array([[number(0.0)] * 4] * 4)
    matrix[:3, :3], matrix[:3, 3] = cross_matrix(xi[:3]), xi[3:]
    return series(matrix, 0)


@functools.cache
def left_jacobian(xi):
    """Return the sum of ad^k / (k + 1)! with ad = [[w] 0; [v] [w]]."""
    xi = [number(x) for x in xi]
    ad = np.array([[number(0.0)] * 6] * 6)
    ad[:3, :3] = ad[3:, 3:] = cross_matrix(xi[:3])
    ad[3:, :3] = cross_matrix(xi[3:])
    return series(ad, 1)


@functools.cache
def left_jacobian_inverse(xi):
    """Return the inverse of the left Jacobian."""
    with mp.workdps(DIGITS):
        return np.array(mp.inverse(mp.matrix(left_jacobian(xi).tolist())).tolist())


def relative_error(value, reference):
    """Return the largest error of any entry over the largest reference entry."""
    with mp.workdps(DIGITS):
        return float(abs(np.asarray(value) - reference).max() / abs(reference).max())
