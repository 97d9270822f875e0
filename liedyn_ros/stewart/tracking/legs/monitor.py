# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The stage of the legs: noise, faults and motion of readings, sample after sample.

Six lengths for six unknowns always fit some pose, so a fault does not show in a residual. Here
each leg's reading is compared with the leg's own motion. A bias that grows slowly looks like
motion and is not detected here, but with one more sensor: tracking/sensor_monitor.py.
"""

from functools import partial
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.platform.kernels.leg_rows import MAX_LEGS
from liedyn_ros.stewart.tracking.legs.kernels import (
    fault_tables as tables, held_readings, leg_faults, leg_monitor, motion_bank,
    motion_bank as kernels, noise_tables as noises)
from liedyn_ros.stewart.tracking.legs.noise_estimator import NoiseEstimator, NoiseReport

MIN_REPEATS = 1.05  # mean number of equal readings, from which on a bus is slower than the topic
# Ratio of the longest to the mean time of a reading, above which it is no bus
MAX_HOLD_RATIO = 2.0
EQUAL_WEIGHTS = np.ones(1)


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
    shares: Array = EQUAL_WEIGHTS
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
        variances = mixture[:kernels.MIXED_WIDTH]
        lengths, rates = mixture[kernels.MIXED_WIDTH:].reshape(2, n)
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
    shares: Array = EQUAL_WEIGHTS


def legs_of(bits: int) -> tuple[int, ...]:
    """Return the indices of the lowest MAX_LEGS bits that are set."""
    return tuple(leg for leg in range(MAX_LEGS) if bits >> leg & 1) if bits else ()


class LegFaults(NamedTuple):
    """
    Faults in one sample of readings; legs as indices.

    outliers: legs whose reading no motion explains. stepped: legs whose reading jumped and stayed
    there, as by a bias. frozen: legs whose reading stays while the others move, or all where
    their noise should change them. jumped: whether three legs or more jumped, as no machine does.
    doubted: whether a given parameter is too small, so that no reading counts as an outlier.

    >>> LegFaults(frozen=(2,)).legs
    (2,)
    """

    outliers: tuple[int, ...] = ()
    stepped: tuple[int, ...] = ()
    frozen: tuple[int, ...] = ()
    jumped: bool = False
    doubted: bool = False

    @property
    def flags(self) -> int:
        """Return the sum of the flags of these faults."""
        return (Flag.LEG_OUTLIER.value * bool(self.outliers)
                + Flag.LEG_STEPPED.value * bool(self.stepped)
                + Flag.LEG_FROZEN.value * bool(self.frozen)
                + Flag.LEGS_JUMPED.value * self.jumped
                + Flag.PARAMETER_TOO_SMALL.value * self.doubted)

    @property
    def legs(self) -> tuple[int, ...]:
        """Return every suspected leg, in order."""
        return tuple(sorted({*self.outliers, *self.stepped, *self.frozen}))


NO_FAULTS = LegFaults()


def faults_of(findings: int) -> LegFaults:
    """Return the faults among the findings of a kernel, which are bits of a whole number."""
    if not findings & tables.FAULTY:
        return NO_FAULTS
    outlying, stepped, frozen = (legs_of(findings >> first & (1 << MAX_LEGS) - 1) for first in (
        tables.OUTLYING_LEGS, tables.STEPPED_LEGS, tables.FROZEN_LEGS))
    return LegFaults(outlying, stepped, frozen, bool(findings >> tables.JUMPED & 1),
                     bool(findings >> tables.DOUBTED & 1))


class LegFindings(NamedTuple):
    """
    The findings in one sample of readings.

    faults: of the legs. plausible: (n,), m or rad, the readings, with those of outliers replaced
    by their predictions. motion: of the legs; None for the first sample.
    """

    faults: LegFaults
    plausible: Array
    motion: LegMotion | None


class LegMonitor:
    """
    Predicts each leg from a line through its last readings, judges the next, filters the motion.

    A reading is an outlier if its error exceeds noise that occurs once an hour plus the effect of
    the leg's greatest acceleration. Stepped and frozen legs are remembered: a stepped one until it
    steps back or `reset`, a frozen one until its reading has moved. Many outliers show that the
    noise or the acceleration is not the given one. Then the parameter is named; no outlier is
    reported or replaced, and no leg counts as stepped.
    """

    def __init__(
            self, geometry: StewartGeometry, noise: ArrayLike = 0.0, acceleration: float = 0.0,
            frozen_time: float = 0.05, resolution: float = 0.0) -> None:
        """
        Take a geometry and the parameters of the readings, in the unit of geometry.reading_unit.

        noise: m, standard deviation of a length, or of each (n,). acceleration: m/s^2, the
        greatest of a leg. Where one is 0 it is estimated. frozen_time: s, after which a constant
        reading may count as frozen; 0 for never. resolution: m, of a reading; where it is 0, it
        is the smallest change of a leg's reading. Raises LimitError for a negative number.
        """
        n = len(geometry.leg_names)
        each = np.array(np.broadcast_to(np.asarray(noise, dtype=float), n))
        for name, value in (*(('noise', leg) for leg in each.tolist()),
                            ('acceleration', acceleration),
                            ('frozen_time', frozen_time), ('resolution', resolution)):
            if not 0.0 <= value < math.inf:
                raise LimitError(f'{name}: expected a number from 0 on, got {value}')
        self._motion_size = motion_bank.motion_size(n)
        self._unit, _ = geometry.reading_unit
        self._scales, self._resolution = geometry.drive_scales, resolution
        buffer = _empty_buffer(geometry)
        self.noise = NoiseEstimator(
            leg_monitor.LEG_MONITOR.array(buffer, 'noise'), each, acceleration, resolution,
            geometry.reading_unit)
        faults, motion = (
            leg_monitor.LEG_MONITOR.array(buffer, name) for name in ('faults', 'motion'))
        self._history, self._legs, self._numbers, self._tally, self._settings = (
            tables.FAULTS.array(faults, name)
            for name in ('history', 'legs', 'numbers', 'tally', 'settings'))
        self._now = motion_bank.FILTER.array(motion, 'now')
        self._mixture = motion_bank.FILTER.array(motion, 'mixture')
        # The amplitude of a strut's motion is below its reading. The reading of a rail or a crank
        # may be 0, so the size of the platform stands for its amplitude.
        self._legs[:, tables.AMPLITUDE] = (
            geometry.characteristic_length / self._unit if geometry.signed else 0.0)
        self._settings[tables.FROZEN_TIME] = frozen_time
        self._settings[tables.LEARNS_CHANGE] = not resolution
        self._examine = partial(leg_monitor.examine_readings, buffer)
        self.reset()

    def reset(self) -> None:
        """Forget the motion, the faults and the noise."""
        leg_faults.forget_leg_motion(self._history, self._legs, self._numbers, self._resolution)
        self._tally[:] = 0.0
        self._now[:] = 0
        self.noise.reset()
        self._update_thresholds()
        self._first_ns: int | None = None

    def examine(self, stamp_ns: int, readings: Array) -> LegFindings:
        """Return the faults and the motion in a sample of readings (n,), m or rad, of a time."""
        if self._first_ns is None:
            self._first_ns = stamp_ns
        noise, jitter = self._unit * self.noise.total, self.noise.jitter
        plausible, moved = np.empty(len(readings)), np.empty(self._motion_size)
        findings, period = self._examine(
            1e-9 * (stamp_ns - self._first_ns), stamp_ns, readings, noise, jitter, plausible,
            moved)
        if findings:
            self._learn(findings)
        motion = LegMotion(noise, jitter, period, int(self._now[motion_bank.FRESH_COUNT]),
                           self._scales, moved, self.noise.caution,
                           self._unit * self.noise.excess,
                           self.noise.shares) if period else None
        return LegFindings(faults_of(findings), plausible, motion)

    def uncertainty(self) -> tuple[float, float, float, float]:
        """
        Return the uncertainty of rates from lengths, for RateMonitor.

        Variance of the rates (m^2/s^2), noise of a length (m), spread of the stamps (s) and bound
        of the acceleration (m/s^2), at the drives' ends.
        """
        noise = self.noise
        return (float(self._mixture[motion_bank.MIXED_RATES + 1]), self._unit * noise.likely,
                noise.spread, self._unit * noise.acceleration)

    def restart_prediction(self) -> None:
        """Predict nothing from the readings so far, since the last ones had no pose."""
        leg_faults.restart_prediction(self._legs, self._numbers)

    def report(self) -> NoiseReport:
        """Return the estimates of noise, and advice on wrong parameters."""
        report = self.noise.report()._replace(repeats=self._repeats())
        if self._tally[tables.TOO_MANY_OUTLIERS] and not report.advice:
            share = 100.0 * self._tally[tables.SHARED_OUTLIERS]
            advice = (f'{share:.0f} % of the samples are outliers: leg_noise or '
                      'leg_acceleration is too small, or a sensor is faulty')
            return report._replace(advice=(advice,))
        return report

    def _repeats(self) -> tuple[float, ...]:
        """Return for how many samples each leg keeps its reading: 1 for a fresh one each."""
        period = self.noise.period
        if not period:
            return (1.0,) * len(self._legs)
        intervals, holds = self._legs[:, tables.CHANGE_INTERVAL], self._legs[:, tables.HOLD_TIME]
        regular = (self._legs[:, tables.HOLD_COUNT] > held_readings.MIN_HOLDS) & (holds > 0.0) & (
            holds < MAX_HOLD_RATIO * intervals + 1.5 * period) & (intervals > MIN_REPEATS * period)
        return tuple(float(interval / period) if repeats else 1.0
                     for interval, repeats in zip(intervals, regular))

    def _learn(self, findings: int) -> None:
        """Update estimates and thresholds where the findings of a sample require it."""
        if findings >> tables.LEARNT & 1:
            self.noise.learn(float(self._tally[tables.NEEDED_ACCELERATION]))
            self._update_thresholds()
        elif findings >> tables.DUE & 1:
            self.noise.settle()
            self._update_thresholds()

    def _update_thresholds(self) -> None:
        """Write the present estimates of noise and acceleration to the settings of the kernel."""
        noise, settings = self.noise, self._settings
        settings[tables.FACTOR] = noise.factor
        settings[tables.ACCELERATION_BOUND] = noise.acceleration
        settings[tables.REPETITIONS] = noise.repetitions
        settings[tables.LEAST_DEVIATION:tables.NOISE_UNDERSTATED] = noise.threshold
        settings[tables.NOISE_UNDERSTATED] = noise.understated
        settings[tables.NOISE_CONFIRMED] = noise.confirmed


def _empty_buffer(geometry: StewartGeometry) -> Array:
    """Return the buffer of the kernel: faults, noise and motion of the legs of a platform."""
    unit, _ = geometry.reading_unit
    scales, n = geometry.drive_scales, len(geometry.leg_names)
    return leg_monitor.LEG_MONITOR.pack(
        faults=tables.FAULTS.pack(
            history=np.zeros((n, tables.HISTORY_SAMPLES, 2)),
            legs=np.zeros((n, tables.FAULT_LEG_WIDTH)), since=np.zeros((2, n, n)),
            numbers=np.zeros(tables.PLATFORM_WIDTH), tally=np.zeros(tables.TALLY_WIDTH),
            settings=np.zeros(tables.SETTINGS_WIDTH)),
        noise=noises.NOISE.pack(
            stamps=np.zeros(noises.WINDOW_SAMPLES),
            window=np.zeros((n, noises.WINDOW_SAMPLES, 2)),
            squares=np.zeros((noises.DIFFERENCE_ORDERS, n)),
            medians=np.zeros((noises.DIFFERENCE_ORDERS, n)),
            legs=np.zeros((n, noises.NOISE_LEG_WIDTH)), numbers=np.zeros(noises.NOISE_WIDTH),
            weights=np.zeros((noises.DIFFERENCE_ORDERS, noises.WINDOW_SAMPLES)),
            work=np.zeros(noises.WINDOW_SAMPLES + n)),
        motion=motion_bank.empty_filter(scales),
        relative=scales / unit, readings=np.zeros(n))
