# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Readings and rates of the legs at the stamp of a sample, or near it, with their covariance."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.tracking.kernels import motion_bank as kernels

GAP = 0.5  # s without a sample, after which the motion is unknown
MIN_NOISE = 1e-12  # m, of a drive's end: what rounding leaves


class LegMotion(NamedTuple):
    """
    The motion of the legs at the time of a sample, and what it takes to predict it.

    noise: m, standard deviation of the position of a drive's end; jitter: s, of the stamps;
    period: s before the sample; samples: so far; bank: the members of the filter, in m; scales:
    (6,), m at the end of each drive for one unit of its reading. rates: (6,), m/s, or rad/s of
    cranks, at the sample.
    """

    noise: float
    jitter: float
    period: float
    samples: int
    bank: Array
    scales: Array
    rates: Array

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
        self._scales, self._scaled = scales, bool((scales != 1.0).any())
        self._bank = np.empty((kernels.SPECTRA, kernels.ROW))
        self._work = np.empty(kernels.ROW + kernels.SPECTRA)
        self.reset()

    def reset(self) -> None:
        """Forget the motion."""
        self._stamp_ns, self._count = 0, 0

    def take(
            self, stamp_ns: int, lengths: Array, noise: float, jitter: float
    ) -> LegMotion | None:
        """
        Return the legs' motion with a sample of readings (6,), m or rad; None for the first.

        noise: m, standard deviation of the position of a drive's end. jitter: s, of the stamps.
        """
        variance = max(noise, MIN_NOISE) ** 2
        ends = lengths * self._scales if self._scaled else lengths
        dt, self._stamp_ns = 1e-9 * (stamp_ns - self._stamp_ns), stamp_ns
        if not self._count or not 0.0 < dt <= GAP:
            kernels.start(self._bank, ends, variance)
            self._count = 1
            return None
        mixture = np.empty(kernels.MIXTURE)
        self._count += 1
        kernels.step(self._bank, dt, ends, variance, jitter * jitter, self._count, self._work,
                     mixture)
        rates = mixture[kernels.RATE:kernels.LENGTHS]
        return LegMotion(noise, jitter, dt, self._count, self._bank.copy(), self._scales,
                         rates / self._scales if self._scaled else rates)
