# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The reference of Ali, Gabellieri and Franchi: a circle, sinusoidal yaw, moving arms."""

from dataclasses import dataclass, field

import numpy as np

from liedyn_ros.aerial.kernels.reference import reference_at
from liedyn_ros.common.checks import Array, as_array, as_number
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

    >>> Reference(radius=2.0).at(0.0).q[:3]  # on its circle, at its height
    array([2. , 0. , 1.5])
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
        """
        Return the motion at a time.

        Args:
            t: s.

        Returns:
            q (nq,), v, a and jerk (nv,).

        Raises:
            NotFiniteError: for a time that is not finite.

        >>> Reference().at(0.0).v.any().item()
        False
        """
        out = np.empty((4, 7 + len(self.joint_start)))
        reference_at(as_number('t', t), self.radius, self.height, self.period, self.yaw_amplitude,
                     self.yaw_frequency, self.rise_time, self.joint_start, self.joint_sweep, out)
        return ReferenceMotion(out[0], *out[1:, 1:])
