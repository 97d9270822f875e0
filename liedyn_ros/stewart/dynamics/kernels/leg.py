# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The force at the platform joint that moves a leg without its drive (12.41), to any order.

A leg is a cylinder about its base joint and a rod about its platform joint. u is along the leg of
length L. V and A are the velocity and acceleration of its tip, U = (V - L' u) / L the velocity
of u. f = m2 c2, h = m1 c1 - f, and e is the inertia of both parts about their joints.

r = alpha A - beta g + 2 kappa L' V / L + z u, with

alpha = m2 - 2 f / L + e / L^2, beta = m2 + h / L, kappa = f / L - e / L^2,

z = (m2 - alpha) u.A + h u.g / L + f |U|^2 - 2 kappa L'^2 / L.

Let e1 be the first axis of the universal joint, n = u x e1, s = sin q2 = e1.u and q = q1' = -n.U /
cos^2 q2. The inertia J about the leg adds

-J / L (n (q' s^2 + 2 q s s') / cos^2 q2 + (e1 - s u) q^2 s).

Vectors are components in the platform frame; U and the prime of a scalar are the change that an
observer at rest sees. They are power series in the rows of a table: Taylor coefficients x^(k) / k!
(7.26).
"""

import numpy as np

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import vec3

# Constants of a leg: base joint, platform joint and first axis; m2, f, h, e and J.
BASE_POINT, TIP, AXIS, ROD, MOMENT, EXCESS, ABOUT_JOINTS, AXIAL, LEG_CONSTANTS = (
    0, 3, 6, 9, 10, 11, 12, 13, 14)

# Rows of the series that all legs share: twist and gravity.
W, V, GRAVITY_SERIES = np.int64(0), np.int64(3), np.int64(6)
# Rows of a leg. Vectors: from base to platform joint, u, V, A; then e1, n, U.
(D, U, TIP_V, TIP_A, E1, N, U_RATE) = (np.int64(3 * k) for k in range(7))
# Numbers: L^2, 1 / L, 1 / L^2, L' = u.V, L'^2, u.A, u.g, kappa / L, kappa L' / L, |V|^2 - L'^2, z.
(LENGTH_SQUARE, NEAR, NEAR2, LENGTH_SPEED, LENGTH_SPEED2, U_A, U_G, KAPPA, KAPPA_V, ACROSS2,
 ALONG) = (
    np.int64(k) for k in range(21, 32))
# s, cos^2, 1 / cos^2, s', s s', s s' / cos^2, n.U, n.A, 1 / (L cos^2), L' / L, q, q'. Then
# t = q' s^2 + 2 q s s', t / (L cos^2), q^2, q^2 s, q^2 s / L, q^2 s^2 / L.
(SIN, COS2, SEC2, SIN_RATE, SS, SSC, N_U, N_A, NEAR_SEC2, NEAR_V, Q, Q_RATE, T, T_NEAR, Q2, Q2S,
 Q2S_NEAR, Q2SS_NEAR) = (np.int64(k) for k in range(32, 50))
LEG_SERIES_WIDTH = 50


@inlined
def get(series, row, k):
    """Return coefficient k of a vector."""
    return series[row, k], series[row + 1, k], series[row + 2, k]


@inlined
def put(series, row, k, x):
    """Write coefficient k of a vector."""
    series[row, k], series[row + 1, k], series[row + 2, k] = x


@inlined
def product(series, x, y, k):
    """Return coefficient k of the product of two numbers."""
    total = 0.0
    for h in range(k + 1):
        total += series[x, h] * series[y, k - h]
    return total


@kernel
def inner(series, x, y, k):
    """Return coefficient k of x . y."""
    total = 0.0
    for h in range(k + 1):
        total += vec3.dot(get(series, x, h), get(series, y, k - h))
    return total


@kernel
def times(series, x, y, k):
    """Return coefficient k of a number times a vector."""
    total = vec3.ZERO
    for h in range(k + 1):
        total = vec3.axpy(series[x, h], get(series, y, k - h), total)
    return total


@kernel
def cross_coefficient(series, x, y, k):
    """Return coefficient k of x x y."""
    total = vec3.ZERO
    for h in range(k + 1):
        total = vec3.add(total, vec3.cross(get(series, x, h), get(series, y, k - h)))
    return total


@kernel
def power(series, x, y, exponent, k):
    """Write coefficient k of y = x^exponent (Knuth, 4.7)."""
    if k == 0:
        series[y, 0] = series[x, 0]**exponent
        return
    total = 0.0
    for h in range(1, k + 1):
        total += (exponent * h - (k - h)) * series[x, h] * series[y, k - h]
    series[y, k] = total / (k * series[x, 0])


@kernel
def advance_leg(leg, series, o, k):
    """Write coefficient k of a leg that does not turn about itself; its tip moves as written."""
    moment, about = leg[MOMENT], leg[ABOUT_JOINTS]
    series[o + LENGTH_SQUARE, k] = inner(series, o + D, o + D, k)
    power(series, o + LENGTH_SQUARE, o + NEAR, -0.5, k)
    series[o + NEAR2, k] = product(series, o + NEAR, o + NEAR, k)
    put(series, o + U, k, times(series, o + NEAR, o + D, k))
    series[o + LENGTH_SPEED, k] = inner(series, o + U, o + TIP_V, k)
    series[o + LENGTH_SPEED2, k] = product(series, o + LENGTH_SPEED, o + LENGTH_SPEED, k)
    series[o + U_A, k] = inner(series, o + U, o + TIP_A, k)
    series[o + U_G, k] = inner(series, o + U, GRAVITY_SERIES, k)
    series[o + KAPPA, k] = (moment * series[o + NEAR2, k]
                            - about * product(series, o + NEAR, o + NEAR2, k))
    series[o + KAPPA_V, k] = product(series, o + KAPPA, o + LENGTH_SPEED, k)
    series[o + ACROSS2, k] = inner(series, o + TIP_V, o + TIP_V, k) - series[o + LENGTH_SPEED2, k]
    z = moment * product(series, o + NEAR2, o + ACROSS2, k)
    for h in range(k + 1):
        near, near2 = series[o + NEAR, h], series[o + NEAR2, h]
        z += ((2.0 * moment * near - about * near2) * series[o + U_A, k - h]
              + leg[EXCESS] * near * series[o + U_G, k - h]
              - 2.0 * series[o + KAPPA_V, h] * series[o + LENGTH_SPEED, k - h])
    series[o + ALONG, k] = z


@kernel
def advance_spin(series, o, k):
    """Write coefficient k of how a leg turns about itself, which its universal joint makes."""
    if k > 0:
        put(series, o + E1, k, vec3.scale(-1.0 / k, cross_coefficient(series, W, o + E1, k - 1)))
    series[o + NEAR_V, k] = product(series, o + NEAR, o + LENGTH_SPEED, k)
    put(series, o + U_RATE, k, vec3.sub(times(series, o + NEAR, o + TIP_V, k),
                                        times(series, o + NEAR_V, o + U, k)))
    put(series, o + N, k, cross_coefficient(series, o + U, o + E1, k))
    series[o + SIN, k] = inner(series, o + E1, o + U, k)
    series[o + COS2, k] = inner(series, o + N, o + N, k)
    power(series, o + COS2, o + SEC2, -1.0, k)
    series[o + SIN_RATE, k] = inner(series, o + E1, o + U_RATE, k)
    series[o + SS, k] = product(series, o + SIN, o + SIN_RATE, k)
    series[o + SSC, k] = product(series, o + SS, o + SEC2, k)
    series[o + N_A, k] = inner(series, o + N, o + TIP_A, k)
    series[o + NEAR_SEC2, k] = product(series, o + NEAR, o + SEC2, k)
    series[o + N_U, k] = inner(series, o + N, o + U_RATE, k)
    series[o + Q, k] = -product(series, o + SEC2, o + N_U, k)
    # q' = 2 s s' q / cos^2 - n.A / (L cos^2) - 2 L' q / L
    series[o + Q_RATE, k] = (2.0 * product(series, o + SSC, o + Q, k)
                             - product(series, o + NEAR_SEC2, o + N_A, k)
                             - 2.0 * product(series, o + NEAR_V, o + Q, k))
    series[o + T, k] = (series[o + Q_RATE, k] - product(series, o + Q_RATE, o + COS2, k)
                        + 2.0 * product(series, o + Q, o + SS, k))
    series[o + T_NEAR, k] = product(series, o + NEAR_SEC2, o + T, k)
    series[o + Q2, k] = product(series, o + Q, o + Q, k)
    series[o + Q2S, k] = product(series, o + Q2, o + SIN, k)
    series[o + Q2S_NEAR, k] = product(series, o + Q2S, o + NEAR, k)
    series[o + Q2SS_NEAR, k] = product(series, o + Q2S_NEAR, o + SIN, k)


@kernel
def force(leg, series, o, k):
    """Return coefficient k of the force."""
    total = vec3.scale(leg[ROD], vec3.sub(get(series, o + TIP_A, k),
                                          get(series, GRAVITY_SERIES, k)))
    for h in range(k + 1):
        near, near2 = series[o + NEAR, h], series[o + NEAR2, h]
        total = vec3.axpy(leg[ABOUT_JOINTS] * near2 - 2.0 * leg[MOMENT] * near,
                          get(series, o + TIP_A, k - h), total)
        total = vec3.axpy(-leg[EXCESS] * near, get(series, GRAVITY_SERIES, k - h), total)
        total = vec3.axpy(2.0 * series[o + KAPPA_V, h], get(series, o + TIP_V, k - h), total)
        total = vec3.axpy(series[o + ALONG, h], get(series, o + U, k - h), total)
    if leg[AXIAL] > 0.0:
        turning = vec3.add(times(series, o + T_NEAR, o + N, k),
                           times(series, o + Q2S_NEAR, o + E1, k))
        turning = vec3.sub(turning, times(series, o + Q2SS_NEAR, o + U, k))
        total = vec3.axpy(-leg[AXIAL], turning, total)
    return total
