# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Readings and rates of the legs at the stamp of a sample, or near it, with their covariance."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank as kernels


class LegMotion(NamedTuple):
    """
    The motion of the legs at the time of a sample, and what it takes to predict it.

    noise: m, standard deviation of the position of a drive's end; jitter: s, of the stamps;
    period: s before the sample; samples: so far; scales: (6,), m at the end of each drive for one
    unit of its reading; moved: what motion_bank.follow wrote.
    """

    noise: float
    jitter: float
    period: float
    samples: int
    scales: Array
    moved: Array

    @property
    def rates(self) -> Array:
        """Return the legs' rates at the sample, (6,), m/s, or rad/s of cranks."""
        return self.moved[:6]

    @property
    def bank(self) -> Array:
        """Return the members of the filter, a row each, in m."""
        return self.moved[6:].reshape(kernels.SPECTRA, kernels.ROW)

    def at(self, seconds: float = 0.0) -> 'LegEstimate':
        """Return the estimate at a time (s) after the sample; the time may be negative."""
        mixture = np.empty(kernels.MIXTURE)
        kernels.mix(self.bank, self.period, self.samples, seconds,
                    np.empty(kernels.ROW + kernels.SPECTRA), mixture)
        return LegEstimate(mixture[:6] / self.scales, mixture[6:12] / self.scales, self.scales,
                           *mixture[12:].tolist())


class LegEstimate(NamedTuple):
    """
    Readings (6,), m or rad, and rates (6,), m/s or rad/s, of the legs.

    scales: (6,), m at the end of each drive for one unit of its reading. Of the end of each
    drive: the variance of its position, m^2, the covariance with its rate, the rate's variance;
    a reading's is that over the square of its scale. The legs' errors are independent.
    """

    lengths: Array
    rates: Array
    scales: Array
    length_variance: float
    covariance: float
    rate_variance: float


class MotionFilter:
    """
    A bank of Kalman filters, one for each of several sharpnesses of the motion.

    It follows the ends of the drives, in m. Readings of cranks (rad) become arcs at their radius,
    so one bank serves legs of all forms.
    """

    def __init__(self, scales: Array) -> None:
        """Take how far one unit of each leg's reading moves the end of its drive, (6,), m."""
        self._scales = scales
        self.words = kernels.FILTER.pack(
            bank=np.zeros((kernels.SPECTRA, kernels.ROW)), scales=scales, ends=np.zeros(6),
            mixture=np.zeros(kernels.MIXTURE), work=np.zeros(kernels.ROW + kernels.SPECTRA),
            now=np.zeros(kernels.NOW, dtype=np.int64))
        self._now = kernels.FILTER.array(self.words, 'now')

    def reset(self) -> None:
        """Forget the motion."""
        self._now[:] = 0

    def take(
            self, stamp_ns: int, lengths: Array, noise: float, jitter: float
    ) -> LegMotion | None:
        """
        Return the legs' motion with a sample of readings (6,), m or rad; None for the first.

        noise: m, standard deviation of the position of a drive's end. jitter: s, of the stamps.
        """
        moved = np.empty(kernels.MOVED)
        period = kernels.follow(self.words, stamp_ns, lengths, noise, jitter, moved)
        return self.motion_of(period, noise, jitter, moved)

    def motion_of(
            self, period: float, noise: float, jitter: float, moved: Array) -> LegMotion | None:
        """Return the motion that a kernel found, from what it returned and wrote."""
        if not period:
            return None
        return LegMotion(noise, jitter, period, int(self._now[kernels.COUNT]),
                         self._scales, moved)
