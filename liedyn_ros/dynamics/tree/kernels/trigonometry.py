# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sine and cosine together, small enough to be inlined: a call to the C library is not."""

import math

from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.shuffles import by_bit

# pi/2 in three parts; the first two have 33 bits, so that k times them is exact for |k| < 2^20
# (Cody and Waite 1980).
HALF_PI_1 = 1.57079632673412561417e+00
HALF_PI_2 = 6.07710050630396597660e-11
HALF_PI_3 = 2.02226624879595063154e-21
LARGEST_ANGLE = 1.0e5
TO_INTEGER = 1.5 * 2.0**52  # adding and subtracting it rounds to the nearest integer


@inlined
def sine_cosine(x):
    """Return sin x and cos x to within 1e-16 of the true ones, or an ulp."""
    if not abs(x) < LARGEST_ANGLE:
        return math.sin(x), math.cos(x)
    return sine_cosine_within(x)


@inlined
def sine_cosine_within(x):
    """Return sine and cosine of numbers below LARGEST_ANGLE, which may be Lanes."""
    t = x * (2.0 / math.pi) + TO_INTEGER  # its last bits count quarters of a turn
    k = t - TO_INTEGER
    y = ((x - k * HALF_PI_1) - k * HALF_PI_2) - k * HALF_PI_3  # within pi/4 of zero
    s, c = sine_near_zero(y), cosine_near_zero(y)
    s, c = by_bit(t, 0, s, c), by_bit(t, 0, c, s)
    return by_bit(t, 1, s, -s), by_bit(t + 1.0, 1, c, -c)


@inlined
def sine_near_zero(x):
    """Return sin x for |x| <= pi/4 by the minimax polynomial of FDLIBM."""
    z = x * x
    return x + x * z * (-1.66666666666666324348e-01 + z * (
        8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (
            2.75573137070700676789e-06 + z * (
                -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))))


@inlined
def cosine_near_zero(x):
    """Return cos x for |x| <= pi/4 by the minimax polynomial of FDLIBM."""
    z = x * x
    return 1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * (
        -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (
            -2.75573143513906633035e-07 + z * (
                2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))))))
