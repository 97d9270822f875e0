# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Rotations: exponential, logarithm, their Jacobians, quaternions.

A rotation is a tuple of nine floats row by row. A rotation vector w is three floats in radians; a
quaternion is four floats x, y, z, w.

Every coefficient here comes from the functions c_k(x) = sum_j (-x)^j / (k + 2j)! of x = w.w
(Stumpff functions), which obey c_k = 1/k! - x c_{k+2} and 2 dc_k/dx = k c_{k+2} - c_{k+1}.
Differences that cancel in the textbook formulas become a choice of k and lose nothing.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import ROTATION
from liedyn_ros.lie.kernels import mat3, vec3

INVERSE_FACTORIAL = tuple(1.0 / math.factorial(n) for n in range(21))


@kernel
def stumpff(x):
    """Return c_1 to c_6 at x = w.w; c_1 = sin t / t, c_2 = (1 - cos t) / t^2 with t = |w|."""
    # Below 1 eight terms: the first one left out of c_5 is 5! x^8 / 21! < 3e-18 of the sum.
    # From 1 on the closed form: each step up by two divides by x. So its rounding error stays
    # near 1e-16 absolute, at worst 1e-13 of c_6 = 1/720.
    if x < 1.0:
        k = INVERSE_FACTORIAL
        e = k[5] - x * (k[7] - x * (k[9] - x * (k[11] - x * (
            k[13] - x * (k[15] - x * (k[17] - x * k[19]))))))
        f = k[6] - x * (k[8] - x * (k[10] - x * (k[12] - x * (
            k[14] - x * (k[16] - x * (k[18] - x * k[20]))))))
        c = 1.0 / 6.0 - x * e
        d = 1.0 / 24.0 - x * f
        return 1.0 - x * c, 0.5 - x * d, c, d, e, f
    t = math.sqrt(x)
    s = math.sin(0.5 * t) / t
    a = 2.0 * s * math.cos(0.5 * t)
    b = 2.0 * s * s
    c = (1.0 - a) / x
    d = (0.5 - b) / x
    return a, b, c, d, (1.0 / 6.0 - c) / x, (1.0 / 24.0 - d) / x


@kernel
def coefficients(x):
    """Return a, b, c of exp = 1 + a [w] + b [w]^2 and dexp = 1 + b [w] + c [w]^2 at x = w.w."""
    a, b, c, _, _, _ = stumpff(x)
    return a, b, c  # (1.8)


@kernel
def inverse_coefficients(x):
    """
    Return g of dexp^-1 = 1 - [w]/2 + g [w]^2 at x = w.w, and 2 dg/dx.

    Both are infinite at |w| = 2 pi.
    """
    _, b, c, d, e, f = stumpff(x)
    # (1.11) with 1 - (t/2) cot(t/2) = 1 - a / (2 b) = x (c - 2 d) / (2 b)
    return (c - 2.0 * d) / (2.0 * b), (e - 4.0 * f) / (2.0 * b)


@kernel
def polynomial(w, alpha, beta):
    """Return 1 + alpha [w] + beta [w]^2, the form exp and its Jacobians share."""
    xx, yy, zz = beta * w[0] * w[0], beta * w[1] * w[1], beta * w[2] * w[2]
    xy, xz, yz = beta * w[0] * w[1], beta * w[0] * w[2], beta * w[1] * w[2]
    x, y, z = alpha * w[0], alpha * w[1], alpha * w[2]
    return (1.0 - (yy + zz), xy - z, xz + y,
            xy + z, 1.0 - (xx + zz), yz - x,
            xz - y, yz + x, 1.0 - (xx + yy))


@kernel
def apply_polynomial(w, alpha, beta, u):
    """Return (1 + alpha [w] + beta [w]^2) u."""
    wu = vec3.cross(w, u)
    return vec3.axpy(beta, vec3.cross(w, wu), vec3.axpy(alpha, wu, u))


@kernel
def exp(w):
    """Return the rotation about w by |w|."""
    a, b, _ = coefficients(vec3.dot(w, w))
    return polynomial(w, a, b)  # (1.9)


@kernel
def log(r):
    """Return w with exp(w) = R, 0 <= |w| <= pi; at pi one of the two that fit."""
    x, y, z, s = to_quaternion(r)
    n = math.sqrt(x * x + y * y + z * z)
    # No series: atan2(n, s) / n keeps full accuracy down to the smallest n above zero.
    factor = 2.0 * math.atan2(n, s) / n if n > 0.0 else 2.0
    return (factor * x, factor * y, factor * z)  # (1.12)


@kernel
def left_jacobian(w):
    """Return dexp(w): exp(w + dw) = exp(dexp(w) dw) exp(w) to first order."""
    _, b, c = coefficients(vec3.dot(w, w))
    return polynomial(w, b, c)  # (1.9)


@kernel
def left_jacobian_inverse(w):
    """Return dexp(w)^-1; singular at |w| = 2 pi."""
    g, _ = inverse_coefficients(vec3.dot(w, w))
    return polynomial(w, -0.5, g)  # (1.11)


@kernel
def to_quaternion(r: ROTATION):
    """Return the unit quaternion x, y, z, w of a rotation, with w >= 0."""
    # The largest of 4w^2, 4x^2, 4y^2, 4z^2 is at least one: nothing cancels. (1.12)
    tr = mat3.trace(r)
    if tr >= r[0] and tr >= r[4] and tr >= r[8]:
        x, y, z, w = r[7] - r[5], r[2] - r[6], r[3] - r[1], 1.0 + tr
    elif r[0] >= r[4] and r[0] >= r[8]:
        x, y, z, w = 1.0 + 2.0 * r[0] - tr, r[1] + r[3], r[2] + r[6], r[7] - r[5]
    elif r[4] >= r[8]:
        x, y, z, w = r[1] + r[3], 1.0 + 2.0 * r[4] - tr, r[5] + r[7], r[2] - r[6]
    else:
        x, y, z, w = r[2] + r[6], r[5] + r[7], 1.0 + 2.0 * r[8] - tr, r[3] - r[1]
    scale = math.copysign(1.0 / math.sqrt(x * x + y * y + z * z + w * w), w)
    return (scale * x, scale * y, scale * z, scale * w)


@kernel
def from_quaternion(q):
    """Return the rotation of a unit quaternion x, y, z, w."""
    return polynomial((q[0], q[1], q[2]), 2.0 * q[3], 2.0)


@kernel
def normalize(r):
    """Return a rotation next to R, which rounding has driven away from R^T R = 1."""
    return from_quaternion(to_quaternion(r))


# Accepts numbers in single precision, refuses numbers printed with five digits.
TOLERANCE = 1e-6
