# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of Reference at a time: its base and its joints, with three derivatives (8.4)."""

import math

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, VECTOR


@kernel
def reference_at(
        t: NUMBER, radius: NUMBER, height: NUMBER, period: NUMBER, yaw_amplitude: NUMBER,
        yaw_frequency: NUMBER, rise_time: NUMBER, start: VECTOR, sweep: VECTOR, out: MATRIX):
    """Write q, and behind a zero v, a and jerk (4, 7 + n): three rows with a number less."""
    path = path_time(t, rise_time)
    circle, joint = 2.0 * math.pi / period, math.pi / period
    x, x1, x2, x3 = sinusoid(radius, circle, 0.5 * math.pi, path)
    y, y1, y2, y3 = sinusoid(radius, circle, 0.0, path)
    yaw, w, w1, w2 = sinusoid(yaw_amplitude, 2.0 * math.pi * yaw_frequency, 0.0, path)
    wave = sinusoid(-0.5, joint, 0.5 * math.pi, path)
    # In the base: d/dt (R^T p) = R^T dp/dt - w x R^T p, with w along z.
    u, v = in_base(yaw, x1, y1)
    u1, v1 = in_base(yaw, x2, y2)
    u1, v1 = u1 + w * v, v1 - w * u
    u2, v2 = in_base(yaw, x3, y3)
    u2 += w * (2.0 * v1 + w * u) + w1 * v
    v2 -= w * (2.0 * u1 - w * v) + w1 * u
    store_base(out[0], (x, y, height, 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)))
    store_base(out[1], (0.0, 0.0, 0.0, w, u, v, 0.0))
    store_base(out[2], (0.0, 0.0, 0.0, w1, u1, v1, 0.0))
    store_base(out[3], (0.0, 0.0, 0.0, w2, u2, v2, 0.0))
    for k in range(len(sweep)):
        out[0, 7 + k] = start[k] + 0.5 * sweep[k] + wave[0] * sweep[k]
        out[1, 7 + k] = wave[1] * sweep[k]
        out[2, 7 + k] = wave[2] * sweep[k]
        out[3, 7 + k] = wave[3] * sweep[k]


@inlined
def path_time(t, rise_time):
    """Return the time of the path, its rate, from 0 to 1, and two derivatives of that."""
    u = min(max(t / rise_time, 0.0), 1.0)
    late = max(t - rise_time, 0.0)
    return (rise_time * u**4 * (2.5 - 3.0 * u + u**2) + late,
            u**3 * (10.0 - 15.0 * u + 6.0 * u**2),
            30.0 * (u * (1.0 - u))**2 / rise_time,
            60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / rise_time**2)


@inlined
def sinusoid(amplitude, omega, phase, path):
    """Return amplitude sin(omega s + phase) and three derivatives along a time s of the path."""
    s, rate, rate1, rate2 = path
    sine = amplitude * math.sin(omega * s + phase)
    cosine = amplitude * math.cos(omega * s + phase)
    return (sine, omega * cosine * rate, omega * cosine * rate1 - omega**2 * sine * rate**2,
            omega * cosine * (rate2 - omega**2 * rate**3) - 3.0 * omega**2 * sine * rate * rate1)


@inlined
def in_base(yaw, u, v):
    """Return a level vector of the world in a base that is turned by a yaw."""
    c, s = math.cos(yaw), math.sin(yaw)
    return c * u + s * v, c * v - s * u


@inlined
def store_base(row, numbers):
    """Write the seven numbers of the base at the begin of a row."""
    for k in range(7):
        row[k] = numbers[k]
