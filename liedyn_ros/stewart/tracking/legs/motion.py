# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Readings and rates of the legs at the stamp of a sample or near it, with their covariance."""

import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank as kernels

ALIKE = np.ones(1)


class LegMotion(NamedTuple):
    """
    The motion of the legs at the time of a sample, from a bank of Kalman filters (14.24).

    noise: m, standard deviation of the position of a drive's end. jitter: s, of the stamps.
    period: s, before the sample. samples: so far. scales: (n,), m at the end of each drive for one
    unit of its reading. moved: rates and bank, as motion_bank.filter_motion writes them. caution:
    ratio of the noise in covariances to `noise`, 1 once that is known. excess: m, what jitter adds
    to that of a pose. shares: (n,), of each leg's noise in `noise`, 1 where they are alike.
    latency: (n,), s, by how much each reading is older than the sample; None where none is.
    """

    noise: float
    jitter: float
    period: float
    samples: int
    scales: Array
    moved: Array
    caution: float = 1.0
    excess: float = 0.0
    shares: Array = ALIKE
    latency: Array | None = None

    @property
    def rates(self) -> Array:
        """Return the legs' rates at the sample, (n,), m/s, or rad/s of cranks."""
        return self.moved[:len(self.scales)] if self.latency is None else self.at().rates

    @property
    def bank(self) -> Array:
        """Return the members of the filter, a row each, in m."""
        return self.moved[len(self.scales):].reshape(kernels.SPECTRA, -1)

    def at(self, seconds: float = 0.0) -> 'LegEstimate':
        """Return the estimate at a time (s) after the sample, which may be negative (14.25)."""
        if self.latency is None:
            return self._after(seconds)
        times = (seconds + self.latency).tolist()
        found = {time: self._after(time) for time in times}
        lengths, rates = (np.array([getattr(found[time], name)[k] for k, time in enumerate(times)])
                          for name in ('lengths', 'rates'))
        return found[max(times)]._replace(lengths=lengths, rates=rates)

    def compensated(self, latency: Array) -> 'LegMotion':
        """Return the motion of readings that are older (n,), s, than their sample (14.50)."""
        readings, late = self.at(), self._replace(latency=latency)
        growth = late.at().length_variance - readings.length_variance
        return late._replace(excess=math.sqrt(self.excess ** 2 + max(growth, 0.0)))

    def latency_correction(self) -> tuple[Array, Array]:
        """Return by how much readings and rates (n,) have changed since they were taken."""
        now, then = self.at(), self._after(0.0)
        return now.lengths - then.lengths, now.rates - then.rates

    def _after(self, seconds: float) -> 'LegEstimate':
        """Return the estimate at a time (s) after the readings were taken."""
        bank, n = self.bank, len(self.scales)
        mixture = np.empty(kernels.mixture_size(n))
        kernels.mix_members(bank, self.period, self.samples, seconds,
                            np.empty(bank.shape[1] + kernels.SPECTRA), mixture)
        variances, (lengths, rates) = mixture[:kernels.LEG], mixture[kernels.LEG:].reshape(2, n)
        variances *= max(self.caution, 1.0) ** 2  # they were filtered with `noise`
        of_length, shared, of_rate = variances.tolist()
        return LegEstimate(lengths / self.scales, rates / self.scales, self.scales,
                           of_length, shared, of_rate, np.maximum(self.shares, 1.0))


class LegEstimate(NamedTuple):
    """
    Readings (n,), m or rad, and rates (n,), m/s or rad/s, of the legs.

    scales: (n,), m at the end of each drive for one unit of its reading. length_variance: m^2, of
    the position of a drive's end. covariance: of that with the rate. rate_variance: of the rate.
    Divide by the square of a scale for those of a reading. The legs' errors are independent.
    shares: (n,), of each leg in the deviations, 1 at least: the filter's lag is common to all.
    """

    lengths: Array
    rates: Array
    scales: Array
    length_variance: float
    covariance: float
    rate_variance: float
    shares: Array = ALIKE
