# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Decimal numbers of any precision in numpy's arrays of objects, and series of them.

Python's decimals round as their context says. A float becomes the decimal of its exact value. A
series is an array whose first axis counts Taylor coefficients.
"""

from decimal import Context, Decimal, getcontext, localcontext, MAX_EMAX, MIN_EMIN
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array

Decimals = Any  # an array of decimals
SPARE = 10  # digits more for what loses some


def context(digits: int) -> Context:
    """Return the context of a number of digits, with exponents as large as may be."""
    return Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)


def decimals(x: Array) -> Decimals:
    """Return floats as decimals of the same value."""
    numbers = np.asarray(x, dtype=np.float64)
    result = np.empty(numbers.size, dtype=object)
    result[:] = [Decimal(number) for number in numbers.ravel().tolist()]
    return result.reshape(numbers.shape)


def zeros(*shape: int) -> Decimals:
    """Return zeros."""
    return np.full(shape, Decimal(0), dtype=object)


def eye(n: int) -> Decimals:
    """Return the identity matrix."""
    return decimals(np.eye(n))


def hat(w: Decimals) -> Decimals:
    """Return [w]."""
    x, y, z = w
    zero = Decimal(0)
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]], dtype=object)


def cross(a: Decimals, b: Decimals) -> Decimals:
    """Return a x b."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                     a[0] * b[1] - a[1] * b[0]], dtype=object)


def product(a: Decimals, b: Decimals, k: int) -> Decimals:
    """Return coefficient k of the product of a series of matrices and one of what they act on."""
    left = a[:k + 1].swapaxes(0, 1).reshape(a.shape[1], -1)
    return left @ b[k::-1].reshape(-1, *b.shape[2:])


def unit(x: Decimals) -> Decimals:
    """Return a vector scaled to length one."""
    return x / (x @ x).sqrt()


def nearest_rotation(r: Decimals) -> Decimals:
    """Return the rotation that rounding has made a matrix of, R <- R (3 - R^T R) / 2 (Newton)."""
    digits = 15
    while True:
        error = r.T @ r - eye(3)
        if digits > 2 * getcontext().prec or not error.any():
            return r
        r, digits = r - r @ error / 2, 2 * digits


def rotation_of_quaternion(u: Decimals) -> Decimals:
    """Return the rotation of a quaternion x, y, z, w, whatever its norm."""
    w = hat(u[:3])
    return eye(3) + 2 * (u[3] * w + w @ w) / (u @ u)


def rotation_about(axis: Decimals, angle: Decimal) -> Decimals:
    """Return the rotation by an angle about a unit axis."""
    w = hat(axis)
    sine, cosine = sine_cosine(angle)
    return eye(3) + sine * w + (1 - cosine) * (w @ w)


def sine_cosine(angle: Decimal) -> tuple[Decimal, Decimal]:
    """Return sine and cosine by their Taylor series, within a turn."""
    with localcontext() as now:
        digits = now.prec
        now.prec += SPARE + max(0, angle.adjusted())
        x = angle.remainder_near(2 * pi()) if abs(angle) > 3 else angle
        parts, term, n = [Decimal(0), Decimal(1)], Decimal(1), 0  # of the sine, of the cosine
        while term and (n < 2 or term.adjusted() > -digits - SPARE):
            n += 1
            term = abs(term * x) / n
            sign = (-1 if n & 2 else 1) * (-1 if n & 1 and x < 0 else 1)
            parts[(n + 1) % 2] += sign * term
    return +parts[0], +parts[1]


def pi() -> Decimal:
    """Return the half turn by Machin's formula, 16 arctan 1/5 - 4 arctan 1/239."""
    total = Decimal(0)
    for factor, x in ((16, 5), (-4, 239)):
        power, n = Decimal(factor) / x, 1
        while total + power / n != total or n == 1:
            total += power / n
            power, n = -power / (x * x), n + 2
    return total
