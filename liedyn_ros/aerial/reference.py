# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The reference of Ali, Gabellieri and Franchi: a circle, sinusoidal yaw, moving arms."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control import ReferenceMotion
from liedyn_ros.lie import so3

JOINT_START = np.radians([10.0, 20.0, -35.0, -10.0, 15.0, -30.0])
JOINT_SWEEP = np.radians([25.0, 40.0, 50.0, -25.0, 35.0, 45.0])

_Z = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])  # z x


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
        offset, amplitude, omega, phase = self._waves
        s, rate, rate1, rate2 = self._path_time(t)
        sine, cosine = (amplitude * f(omega * s + phase) for f in (np.sin, np.cos))
        x = offset + sine  # x, y, z, yaw, joints (8.4)
        x1 = omega * cosine * rate
        x2 = omega * cosine * rate1 - omega**2 * sine * rate**2
        x3 = omega * cosine * (rate2 - omega**2 * rate**3) - 3.0 * omega**2 * sine * rate * rate1
        # In the base: d/dt (R^T p) = R^T dp/dt - w x R^T p, with w along z.
        to_base, half = so3.exp([0.0, 0.0, x[3]]).T, 0.5 * x[3]
        v = to_base @ x1[:3]
        v1 = to_base @ x2[:3] - x1[3] * _Z @ v
        v2 = to_base @ x3[:3] - x1[3] * _Z @ (2.0 * v1 + x1[3] * _Z @ v) - x2[3] * _Z @ v
        return ReferenceMotion(
            np.concatenate((x[:3], (0.0, 0.0, np.sin(half), np.cos(half)), x[4:])),
            *(np.concatenate(((0.0, 0.0, x_k[3]), v_k, x_k[4:]))
              for x_k, v_k in ((x1, v), (x2, v1), (x3, v2))))

    @cached_property
    def _waves(self) -> tuple[Array, Array, Array, Array]:
        """Return offset, amplitude, omega and phase of offset + amplitude sin(omega s + phase)."""
        circle, joint = 2.0 * np.pi / self.period, np.pi / self.period
        quarter, half = 0.5 * np.pi, 0.5 * self.joint_sweep
        one = np.ones_like(half)
        return (np.array([0.0, 0.0, self.height, 0.0, *(self.joint_start + half)]),
                np.array([self.radius, self.radius, 0.0, self.yaw_amplitude, *-half]),
                np.array([circle, circle, 0.0, 2.0 * np.pi * self.yaw_frequency, *(joint * one)]),
                np.array([quarter, 0.0, 0.0, 0.0, *(quarter * one)]))

    def _path_time(self, t: float) -> tuple[float, float, float, float]:
        """Return the time of the path, its rate, from 0 to 1, and two derivatives of that."""
        u = min(max(t / self.rise_time, 0.0), 1.0)
        late = max(t - self.rise_time, 0.0)
        return (self.rise_time * u**4 * (2.5 - 3.0 * u + u**2) + late,
                u**3 * (10.0 - 15.0 * u + 6.0 * u**2),
                30.0 * (u * (1.0 - u))**2 / self.rise_time,
                60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / self.rise_time**2)
