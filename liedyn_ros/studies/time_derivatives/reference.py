# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The reference of Ali et al. with time derivatives of any order: the motion of the study."""

from functools import cached_property

import numpy as np

from liedyn_ros.aerial.reference import Reference
from liedyn_ros.common.checks import Array
from liedyn_ros.lie import so3
from liedyn_ros.lie.time_derivatives import BODY, SPATIAL, Twists


class SmoothReference:
    """
    The motion (8.4) at full rate: every coordinate is a sinusoid, so every derivative is known.

    Its circle, yaw and sweep are those of aerial.Reference.
    """

    def __init__(self, reference: Reference) -> None:
        """Take the numbers of a reference."""
        self.period = reference.period
        self._of = reference

    def configuration(self, t: float) -> Array:
        """Return q (nq,) at a time, s."""
        x = self._coordinates(t, 1)[0]
        return np.concatenate((x[:3], (0.0, 0.0, np.sin(0.5 * x[3]), np.cos(0.5 * x[3])), x[4:]))

    def motion(self, t: float, count: int) -> Array:
        """Return v and derivatives (count, nv), the base's a body twist, at a time, s."""
        x = self._coordinates(t, count + 1)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = so3.exp([0.0, 0.0, x[0, 3]]), x[0, :3]
        turn = np.zeros((count, 3))
        turn[:, 2] = x[1:, 3]
        moved = np.array([sum(self._binomial[k, i] * np.cross(x[i, :3], turn[k - i])
                              for i in range(k + 1)) for k in range(count)])
        spatial = np.hstack([turn, x[1:, :3] + moved])  # (8.5)
        return np.hstack([Twists(pose, spatial, SPATIAL).to(BODY).time_derivatives, x[1:, 4:]])

    def _coordinates(self, t: float, count: int) -> Array:
        """Return x, y, z, yaw and joints with derivatives (count, 4 + n)."""
        offset, amplitude, omega, phase = self._waves
        k = np.arange(count)[:, None]
        x = amplitude * omega**k * np.sin(omega * t + phase + 0.5 * np.pi * k)
        x[0] += offset
        return np.asarray(x)

    @cached_property
    def _waves(self) -> tuple[Array, Array, Array, Array]:
        """Return offset, amplitude, omega and phase of offset + amplitude sin(omega t + phase)."""
        of = self._of
        circle, half = 2.0 * np.pi / of.period, 0.5 * of.joint_sweep
        one = np.ones_like(half)
        return (np.array([0.0, 0.0, of.height, 0.0, *(of.joint_start + half)]),
                np.array([of.radius, of.radius, 0.0, of.yaw_amplitude, *-half]),
                np.array([circle, circle, 0.0, 2.0 * np.pi * of.yaw_frequency,
                          *(0.5 * circle * one)]),
                np.array([0.5 * np.pi, 0.0, 0.0, 0.0, *(0.5 * np.pi * one)]))

    @cached_property
    def _binomial(self) -> Array:
        table = np.eye(40)
        table[:, 0] = 1.0
        for n in range(1, len(table)):
            table[n, 1:] = table[n - 1, 1:] + table[n - 1, :-1]
        return table
