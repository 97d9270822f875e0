# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Smooth motions of the platform about home, with their exact twists."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3
from liedyn_ros.lie.time_derivatives import twists_of_exponential
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter

# Of a motion whose leg lengths are checked; periods of its slowest
TRAJECTORY_SAMPLES, TRAJECTORY_PERIODS = 2000, 10.0
AMPLITUDE_PARTS = 64  # parts of the amplitudes, the resolution of a share


@dataclass(frozen=True)
class SmoothTrajectory:
    """
    Six sinusoids in the exponential coordinates about a home pose.

    T(t) = home exp(xi(t)), xi_k = envelope(t) amplitude_k sin(2 pi frequency_k t + phase_k). The
    envelope rises from 0 to 1 in rise_time, with zero speed and acceleration at both ends. So the
    motion starts at home and at rest.

    home: (4, 4), platform in base, m. amplitudes: (6,), rad then m. frequencies: (6,), Hz.
    phases: (6,), rad. rise_time: s.

    >>> motion = SmoothTrajectory(home, [0.1] * 6, [0.2] * 6, [0.0] * 6, rise_time=1.0)
    >>> np.array_equal(motion.pose(0.0), home)
    True
    """

    home: Array
    amplitudes: Array
    frequencies: Array
    phases: Array
    rise_time: float = 1.0

    def __post_init__(self) -> None:
        """Check the parts. Raises ShapeError, NotFiniteError, NotInGroupError, LimitError."""
        home = se3.require_pose('home', self.home, (4, 4))
        object.__setattr__(self, 'home', home)
        for name in ('amplitudes', 'frequencies', 'phases'):
            object.__setattr__(self, name, checks.as_array(name, getattr(self, name), (6,)))
        if not 0.0 < self.rise_time < np.inf:
            raise LimitError(f'rise_time: expected a positive number of s, got {self.rise_time}')

    def pose(self, t: ArrayLike) -> Array:
        """
        Return the poses of the platform in the base.

        Args:
            t: times (...); s.

        Returns:
            (..., 4, 4); m.

        >>> motion = SmoothTrajectory(home, [0.1] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> np.allclose(motion.pose(0.0), home)
        True
        """
        return np.matmul(self.home, se3.exp(self._series(t)[0]))

    def twist(self, t: ArrayLike) -> Array:
        """
        Return the body twists of the platform.

        Args:
            t: times (...); s.

        Returns:
            (..., 6), angular part first; rad/s and m/s.

        >>> motion = SmoothTrajectory(home, [0.1] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> motion.twist([0.0, 1.0]).shape
        (2, 6)
        """
        xi, rate = self._series(t)[:2]
        return np.einsum('...ij,...j->...i', se3.right_jacobian(xi), rate)  # (1.14)

    def derivatives(self, t: float) -> Array:
        """
        Return the body twist with its first and second time derivative.

        Args:
            t: s.

        Returns:
            (3, 6), angular part first; rad, m and s.

        >>> motion = SmoothTrajectory(home, [0.1] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> np.allclose(motion.derivatives(1.0)[0], motion.twist(1.0))
        True
        """
        return twists_of_exponential(self._series(t) * np.array([[1.0], [1.0], [2.0], [6.0]]))

    def _series(self, t: ArrayLike) -> Array:
        """Return the coefficients (4, ..., 6) of xi in powers of the time since t (...)."""
        t, omega = checks.as_numbers('t', t)[..., None], 2.0 * np.pi * self.frequencies
        angle = omega * t + self.phases
        sine, cosine = self.amplitudes * np.sin(angle), self.amplitudes * np.cos(angle)
        wave = (sine, omega * cosine, -omega**2 * sine / 2.0, -omega**3 * cosine / 6.0)
        s, scale = np.clip(t / self.rise_time, 0.0, 1.0), 1.0 / self.rise_time
        rises = (0.0 <= t) & (t < self.rise_time)
        envelope = (
            s**3 * (10.0 - 15.0 * s + 6.0 * s**2), 30.0 * (s * (1.0 - s))**2 * scale,
            30.0 * s * (1.0 - s) * (1.0 - 2.0 * s) * scale**2,
            10.0 * (1.0 - 6.0 * s + 6.0 * s**2) * scale**3 * rises)
        return np.array([sum(envelope[h] * wave[k - h] for h in range(k + 1)) for k in range(4)])


def check_times(motion: SmoothTrajectory, duration: float = 0.0) -> Array:
    """Return times (TRAJECTORY_SAMPLES,), s, of a motion's check; duration: its end, s, or 0."""
    moving = motion.frequencies[motion.frequencies > 0.0]
    end = motion.rise_time + (TRAJECTORY_PERIODS / float(moving.min()) if moving.size else 0.0)
    return np.linspace(0.0, min(end, duration or end), TRAJECTORY_SAMPLES, dtype=np.float64)


def travel_share(geometry: StewartGeometry, motion: SmoothTrajectory, times: Array,
                 least_value: float = 0.0) -> float:
    """
    Return the share of a motion's amplitudes, 0 to 1, that keeps every drive within its travel.

    times: (n,), s, at which drives are looked at. least_value: the smallest singular value that
    the motion keeps too, where home has it. Raises LimitError where no rod reaches home.
    """
    leg_lengths(geometry, motion.home)
    meter = PlatformMeter(geometry)
    home_value = meter.measure(motion.home).signed_value
    keeps_value = 0.0 < least_value <= abs(home_value)

    def fits(share: float) -> bool:
        scaled = replace(motion, amplitudes=share * motion.amplitudes)
        try:
            poses = scaled.pose(times)
            return bool(geometry.within_limits(leg_lengths(geometry, poses)).all() and not (
                keeps_value and (meter.signed_values(poses) / np.sign(home_value)
                                 < least_value).any()))
        except LimitError:  # a rod does not reach
            return False

    if fits(1.0):
        return 1.0
    least, most = 0, AMPLITUDE_PARTS
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(middle / AMPLITUDE_PARTS) else (least, middle)
    return least / AMPLITUDE_PARTS
