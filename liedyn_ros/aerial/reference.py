# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The reference of Ali, Gabellieri and Franchi: a circle, sinusoidal yaw, moving arms."""

from dataclasses import dataclass, field
import math

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control import ReferenceMotion

JOINT_START = np.radians([10.0, 20.0, -35.0, -10.0, 15.0, -30.0])
JOINT_SWEEP = np.radians([25.0, 40.0, 50.0, -25.0, 35.0, 45.0])


@dataclass(frozen=True)
class Reference:
    """
    The motion (8.4) of a base and its joints, which starts at rest.

    The base flies a circle about the z axis: radius and height, m, period, s. Its yaw is a
    sinusoid: yaw_amplitude, rad, yaw_frequency, Hz. The joints, rad, sweep by half a cosine a
    period from joint_start to joint_start + joint_sweep and, if the flight goes on, back.

    The paper's motion starts at speed. Here its time accelerates from standstill to full rate
    within rise_time, s, with a continuous jerk. From then on the motion is the paper's, delayed by
    rise_time / 2.
    """

    joint_start: Array = field(default_factory=JOINT_START.copy)
    joint_sweep: Array = field(default_factory=JOINT_SWEEP.copy)
    radius: float = 1.0
    height: float = 1.5
    period: float = 10.0
    yaw_amplitude: float = np.pi / 6.0
    yaw_frequency: float = 0.1
    rise_time: float = 2.0

    def __post_init__(self) -> None:
        """Check the parts. Raises ShapeError, NotFiniteError or LimitError."""
        start = as_array('joint_start', self.joint_start, (-1,))
        object.__setattr__(self, 'joint_start', start)
        object.__setattr__(
            self, 'joint_sweep', as_array('joint_sweep', self.joint_sweep, start.shape))
        as_array('radius, height, yaw_amplitude, yaw_frequency', (
            self.radius, self.height, self.yaw_amplitude, self.yaw_frequency), (4,))
        for name in ('period', 'rise_time'):
            if not 0.0 < getattr(self, name) < np.inf:
                raise LimitError(
                    f'{name}: expected a positive number of s, got {getattr(self, name)}')

    def at(self, t: float) -> ReferenceMotion:
        """Return the motion at a time, s; before 0 it rests."""
        path = self._path_time(t)
        circle, joint = 2.0 * math.pi / self.period, math.pi / self.period
        (x, x1, x2, x3), (y, y1, y2, y3), (yaw, w, w1, w2), waves = (  # (8.4)
            _sinusoid(amplitude, omega, phase, path) for amplitude, omega, phase in (
                (self.radius, circle, 0.5 * math.pi), (self.radius, circle, 0.0),
                (self.yaw_amplitude, 2.0 * math.pi * self.yaw_frequency, 0.0),
                (-0.5, joint, 0.5 * math.pi)))
        c, s, half = math.cos(yaw), math.sin(yaw), 0.5 * yaw

        def in_base(u: float, v: float) -> tuple[float, float]:
            return c * u + s * v, c * v - s * u

        # In the base: d/dt (R^T p) = R^T dp/dt - w x R^T p, with w along z.
        u, v = in_base(x1, y1)
        u1, v1 = in_base(x2, y2)
        u1, v1 = u1 + w * v, v1 - w * u
        u2, v2 = in_base(x3, y3)
        u2 += w * (2.0 * v1 + w * u) + w1 * v
        v2 -= w * (2.0 * u1 - w * v) + w1 * u
        bases = ((x, y, self.height, 0.0, 0.0, math.sin(half), math.cos(half)),
                 (0.0, 0.0, w, u, v, 0.0), (0.0, 0.0, w1, u1, v1, 0.0),
                 (0.0, 0.0, w2, u2, v2, 0.0))
        q, *others = (np.concatenate((base, wave * self.joint_sweep))
                      for base, wave in zip(bases, waves))
        q[7:] += self.joint_start + 0.5 * self.joint_sweep
        return ReferenceMotion(q, *others)

    def _path_time(self, t: float) -> tuple[float, float, float, float]:
        """Return the time of the path, its rate, from 0 to 1, and two derivatives of that."""
        u = min(max(t / self.rise_time, 0.0), 1.0)
        late = max(t - self.rise_time, 0.0)
        return (self.rise_time * u**4 * (2.5 - 3.0 * u + u**2) + late,
                u**3 * (10.0 - 15.0 * u + 6.0 * u**2),
                30.0 * (u * (1.0 - u))**2 / self.rise_time,
                60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / self.rise_time**2)


def _sinusoid(amplitude: float, omega: float, phase: float,
              path: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """Return amplitude sin(omega s + phase) and three derivatives along a time s of the path."""
    s, rate, rate1, rate2 = path
    sine, cosine = (amplitude * f(omega * s + phase) for f in (math.sin, math.cos))
    return (sine, omega * cosine * rate, omega * cosine * rate1 - omega**2 * sine * rate**2,
            omega * cosine * (rate2 - omega**2 * rate**3) - 3.0 * omega**2 * sine * rate * rate1)
