# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Noise, steps, acceleration and stamp jitter of the legs' readings (section 14.3)."""

from collections.abc import Sequence
from importlib import import_module
import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.tracking.legs.kernels import noise as kernels, noise_tables as tables

ASSUMED_NOISE = 1e-5  # m, where none is given and none is measured yet
ASSUMED_ACCELERATION = 25.0  # m/s^2, least bound of a leg where none is given
EARLY_NOISE_FACTOR = 3.0  # times the measured noise, in the threshold of the first samples
EARLY_SAMPLES = 900.0  # samples, over which that falls to the noise
EARLY_NOISE = 2e-4  # m, least noise of a threshold until then
LEAST_SAMPLES = 200.0  # samples
QUANTIZATION_DEVIATION = 12.0 ** -0.5  # deviation of a rounding error, in steps
NOISE_RATIO = 1.1  # ratio of measured to given noise, besides the error of the former
SAME_BUS = 1.2  # ratio of the greatest to the least number of repetitions on one bus
MAX_NOISE_RATIO = 1.7  # ratio of given to measured noise: 2 is surely too large
EARLY_FACTOR = 7.0  # deviations of a threshold, until the period is known
ALARM_RATE = 1.0 / 3600.0  # 1/s, false alarms of each leg
LEGS_ARRAY = 3  # of the arrays of noise_tables.NOISE that are read here
GIVEN_SOURCE, MEASURED_SOURCE = 'leg_noise', 'measured noise'
BOUND_SOURCE, FEW_SAMPLES_SOURCE = 'an upper bound of the noise', 'noise of few samples'
ASSUMED_NOISE_SOURCE = f'assumed noise, {EARLY_NOISE:g} m'
ROUNDING_NOISE = 1e-9  # m, least noise that is not rounding
# Max. consecutive identical readings by noise-to-resolution ratio (14.22)
REPETITION_TABLE = ((1.0, 3.0), (0.5, 6.0), (0.3, 25.0), (0.2, 201.0))


class NoiseReport(NamedTuple):
    """
    Estimates from the readings; NaN where an estimate is not known yet.

    noise: m, standard deviation of a length. identified: whether it is more than an upper bound.
    resolution: m, the smallest step of a reading, 0 where it has none. acceleration: m/s^2, the
    greatest that two legs have had at once lately. jitter: s, standard deviation of the stamps
    from the times of the readings, as the motion shows it. period: s between samples. advice: the
    parameters that are wrong, with the values to set; empty where none is. source: of the noise
    in covariances.
    repeats: (n,), samples for which a leg keeps its reading, as a bus slower than the topic makes
    it; 1 where each is a fresh one. noises: (n,), m, of each leg, the jitter in it.

    >>> tracker = MonitoredTracker(geometry, home)
    >>> _ = tracker.track(0, leg_lengths(geometry, home))
    >>> tracker.noise.identified
    False
    """

    noise: float
    identified: bool
    resolution: float
    acceleration: float
    jitter: float
    period: float
    advice: tuple[str, ...]
    source: str
    repeats: tuple[float, ...] = ()
    noises: tuple[float, ...] = ()

    def repetition(self, names: Sequence[str]) -> str:
        """
        Return a sentence on legs whose readings repeat, and the rate of their bus.

        Args:
            names: of the legs.

        Returns:
            the sentence, or ''.

        >>> tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, home)
        >>> _ = tracker.track(0, lengths)
        >>> tracker.noise.repetition(geometry.leg_names)
        ''
        """
        slow = {leg: repeats for leg, repeats in zip(names, self.repeats) if repeats > 1.0}
        least, most = min(slow.values(), default=0.0), max(slow.values(), default=0.0)
        if not slow:
            return ''
        if most > SAME_BUS * least:
            each = ', '.join(f'{leg} {repeats:.3g} times ({1.0 / (self.period * repeats):.3g} Hz)'
                             for leg, repeats in slow.items())
            return f'readings repeat, {each}: the buses are slower than the topic'
        which = 'readings' if len(slow) == len(names) else f'readings of {", ".join(slow)}'
        mean = sum(slow.values()) / len(slow)
        return (f'{which} repeat {mean:.3g} times ({1.0 / (self.period * mean):.3g} Hz): '
                'the bus is slower than the topic')


class NoiseEstimator:
    """Interprets the kernel's estimates of noise; compares given parameters with them."""

    # All of these change slowly, and are updated when a kernel reports that it is due.
    # identified: whether the estimate is more than an upper bound. known: whether the noise is
    # given and not refuted, or well estimated. confirmed: whether the readings confirm it, so that
    # outliers may be replaced. deviation: m, of a length; total: m, with its rounding; likely: m,
    # most that is likely. jitter: s, standard deviation of the stamps, as far as the motion shows
    # it; spread: s, as the stamps themselves show it.
    # understated: whether the given noise is below the measured one (14.20), and the jitter of the
    # stamps does not explain it. caution: ratio of the noise in a covariance to `total`.
    # shares: (n,), of each leg's noise in `total`, whose mean square is 1: as given, or measured.
    # excess: m, added to it for a pose by jitter. source: of that noise. acceleration: m/s^2,
    # bound for a leg. factor: deviations of a threshold that noise exceeds at ALARM_RATE
    # (14.18). repetitions: how often all readings may repeat before they are stale.
    # threshold: least, share and step of kernels.noise.write_thresholds.
    identified: bool
    known: bool
    confirmed: bool
    deviation: float
    total: float
    likely: float
    jitter: float
    spread: float
    understated: bool
    caution: float
    excess: float
    source: str
    acceleration: float
    factor: float
    repetitions: float
    threshold: tuple[float, float, float]
    shares: Array

    def __init__(
            self, buffer: Array, noise: Array, acceleration: float, resolution: float,
            unit: tuple[float, str]) -> None:
        """
        Take the buffer of the kernel's estimates (NOISE) and the given parameters, 0 if unknown.

        noise: (n,), m, of each leg, acceleration: m/s^2, resolution: m, or in the unit of the
        readings. unit: the distance (m) that one unit of a reading moves the end of a drive, and
        its name.
        """
        import_module('scipy.special')  # of a fit in the stream, which is not to wait for it
        self._metres, self._unit = unit
        self._given, self._given_acceleration = float(np.sqrt(np.mean(noise ** 2))), acceleration
        self._greatest = float(noise.max())
        alike = bool((noise == noise[0]).all())
        self._alike = np.ones(len(noise))
        self._given_shares = self._alike if alike else noise / self._given
        self._wrong_leg: int | None = None  # whose own noise is given and too small
        self._resolution = resolution
        names = ('stamps', 'window', 'squares', 'legs', 'medians', 'numbers')
        self._estimates = [tables.NOISE.array(buffer, name) for name in names]
        self._numbers = self._estimates[-1]
        self.reset()

    def reset(self) -> None:
        """Forget all readings."""
        for estimates in self._estimates:
            estimates[:] = 0.0
        self._estimates[LEGS_ARRAY][:, tables.GIVEN] = (
            self._given_shares / self._given_shares.max())
        self._learnt = 0.0  # m/s^2, acceleration that explained an error
        self.factor, self._factor_at = EARLY_FACTOR, 0.0
        self.settle()

    def learn(self, acceleration: float) -> None:
        """Raise the bound of the acceleration to one, m/s^2, that explains the last readings."""
        self._learnt = max(self._learnt, 1.5 * acceleration)
        self.settle()
        self._numbers[tables.SINCE] = 1.0  # the present sample

    @property
    def period(self) -> float:
        """Return the time (s) between samples, 0 while it is not known."""
        return self._period

    def _allowed_repetitions(self) -> float:
        if not self.identified or self._metres * self._sigma < ROUNDING_NOISE:
            return math.inf
        ratio = self._sigma / step if (step := self._step()) else math.inf
        return next((count for least, count in REPETITION_TABLE if ratio >= least), math.inf)

    def report(self) -> NoiseReport:
        """Return the estimates, and advice on wrong parameters."""
        if not self._taken:
            nan = math.nan
            n = len(self._alike)
            return NoiseReport(nan, False, nan, nan, nan, nan, (), self.source, (1.0,) * n,
                               (nan,) * n)
        return NoiseReport(
            self._sigma, self.identified, self._step(), self._measured_acceleration,
            self.jitter, self._period, tuple(self._advice()), self.source,
            noises=tuple(self._estimates[LEGS_ARRAY][:, tables.SIGMA].tolist()))

    def _advice(self) -> list[str]:
        advice = []
        if self._wrong_leg is not None:
            leg = self._wrong_leg
            given = self._given * self._given_shares[leg]
            measured = self._estimates[LEGS_ARRAY][leg, tables.SIGMA]
            advice.append(f'leg_noises[{leg}] {given:.3g} {self._unit} is too small: '
                          f'{measured:.3g} {self._unit} measured')
        elif self.understated:
            advice.append(f'leg_noise {self._given:.3g} {self._unit} is too small: '
                          f'{self._sigma:.3g} {self._unit} measured')
        elif self._given and self.identified and self._given > MAX_NOISE_RATIO * math.hypot(
                self._sigma, 0.5 * self._step()):
            advice.append(f'leg_noise {self._given:.3g} {self._unit} is too large: '
                          f'{self._sigma:.3g} {self._unit} measured')
        greatest = max(self._learnt, self._measured_acceleration)
        if self._given_acceleration and greatest > self._given_acceleration:
            advice.append(f'leg_acceleration {self._given_acceleration:.3g} {self._unit}/s^2 is '
                          f'too small: {greatest:.3g} {self._unit}/s^2 measured')
        return advice

    def _step(self) -> float:
        """Return the coarsest step of a leg, m, 0 where none has one."""
        return self._resolution or self._coarsest

    def settle(self) -> None:
        """Update everything from the estimates of the kernel."""
        numbers = self._latest = self._numbers.tolist()
        self._taken, self._period = numbers[tables.TAKEN], numbers[tables.PERIOD]
        self._sigma, self._coarsest = numbers[tables.VARIANCE] ** 0.5, numbers[tables.COARSEST]
        self._measured_acceleration = numbers[tables.MEASURED_ACCELERATION]
        self._learnt *= 1.0 - min(kernels.SETTLE_EVERY * self._period / kernels.MEMORY_TIME, 1.0)
        self.acceleration = max(
            self._given_acceleration or
            max(ASSUMED_ACCELERATION / self._metres, 2.0 * self._measured_acceleration),
            self._learnt)
        self.spread = numbers[tables.SPREAD] ** 0.5
        self._numbers[tables.SINCE], enough = 0.0, self._taken >= LEAST_SAMPLES
        self.identified = enough and numbers[tables.IDENTIFIED] > 0.0
        self.repetitions = self._allowed_repetitions()
        self.jitter = numbers[tables.JITTER] if (
            self.identified and self._step() <= self._sigma) else 0.0
        self.understated = bool(self._period) and self._judge_period()
        self.shares = self._settle_shares()
        self._settle_noise(enough)

    def _settle_shares(self) -> Array:
        """Return each leg's share of the noise: as given, else as measured, else 1."""
        if self._given and not self.understated:
            return self._given_shares
        if not self.identified or self.jitter:
            return self._alike
        rounding = (QUANTIZATION_DEVIATION * self._step()) ** 2
        squares = [sigma * sigma + rounding
                   for sigma in self._estimates[LEGS_ARRAY][:, tables.SIGMA].tolist()]
        mean = sum(squares) / len(squares)
        return np.array([math.sqrt(each / mean) for each in squares]) if mean > 0.0 else (
            self._alike)

    @property
    def deviations(self) -> Array:
        """Return the deviation of each length, (n,), m."""
        return self.deviation * self.shares

    def _settle_noise(self, enough: bool) -> None:
        """Choose between the given and the measured noise."""
        if self._given:
            self.known = not self.understated
            self.deviation = max(self._given, self._sigma) if self.understated else self._given
            self.total = self.likely = self.deviation
            # The jitter across the rates exceeds the given noise: an upper bound.
            above = self.identified and self._sigma > NOISE_RATIO * self.total
            self.caution, self.excess = 1.0, self._sigma if above else 0.0
            self.source = (MEASURED_SOURCE if self.understated else BOUND_SOURCE if above
                           else GIVEN_SOURCE)
            self.confirmed = self.known and enough
            measured = self.understated or (
                self._taken >= kernels.LIMIT_SAMPLES and self._latest[tables.IDENTIFIED] > 0.0)
            caution = 1.0 if self._taken >= kernels.LIMIT_SAMPLES else EARLY_NOISE_FACTOR
            self.threshold = caution * self._greatest, float(measured), self._resolution
            return
        self.known = self.confirmed = self.identified
        self.deviation = self._sigma if enough else max(self._sigma, ASSUMED_NOISE / self._metres)
        self.total = math.hypot(self.deviation, self._step() * QUANTIZATION_DEVIATION)
        self._settle_caution(enough)
        self.excess = 0.0
        self.likely = self.total if enough else max(
            EARLY_NOISE_FACTOR * self.total, EARLY_NOISE / self._metres)
        share = min(max(EARLY_SAMPLES / max(self._taken, 1.0), 1.0), EARLY_NOISE_FACTOR)
        self.threshold = (
            0.0 if enough else EARLY_NOISE / self._metres, share, self._resolution)

    def _settle_caution(self, enough: bool) -> None:
        """Choose how much greater than the estimate the noise may be."""
        if enough:
            self.caution, self.source = 1.0, MEASURED_SOURCE if self.identified else BOUND_SOURCE
        elif self._taken:
            self.caution = (1.0 + 3.0 * (1.25 / self._taken) ** 0.5) * math.hypot(
                self._sigma, self._step() * QUANTIZATION_DEVIATION) / self.total
            self.source = FEW_SAMPLES_SOURCE
        else:
            self.caution = EARLY_NOISE / (self._metres * self.total)
            self.source = ASSUMED_NOISE_SOURCE

    def _judge_period(self) -> bool:
        """Fit the factor to the period (14.18); return whether the given noise is too small."""
        if not 0.8 < self._period / (self._factor_at or math.inf) < 1.25:
            self._factor_at = self._period
            from scipy.special import stdtrit
            degrees = kernels.averaged_samples(self._period) / 2.5
            self.factor = float(stdtrit(degrees, 1.0 - 0.5 * ALARM_RATE * self._period))
        self._wrong_leg = None
        if not (self._given and self.identified):
            return False
        error = 4.0 * (1.25 / min(self._taken, kernels.averaged_samples(self._period))) ** 0.5
        by_stamps = self.spread * self._latest[tables.SQUARED_SPEED] ** 0.5
        held = self._latest[tables.TIMED] ** 0.5
        least = math.hypot(by_stamps, held, 0.5 * self._step())
        self._wrong_leg = self._find_wrong_leg(error, least)
        limit = NOISE_RATIO * (1.0 + error) * math.hypot(self._given, least)  # (14.20)
        return self._wrong_leg is not None or self._sigma > limit

    def _find_wrong_leg(self, error: float, least: float) -> int | None:
        """
        Return the leg whose own noise is given and too small (14.20), the worst one, or None.

        error: relative, of the noise of all n legs; least: m, what else their readings show.
        """
        if self._given_shares is self._alike:
            return None
        of_all = len(self._alike) ** 0.5  # of one leg for that of six, at most
        given, lower = (self._given * self._given_shares).tolist(), of_all * least
        ratios = [sigma / math.hypot(noise, lower) for sigma, noise in zip(
            self._estimates[LEGS_ARRAY][:, tables.SIGMA].tolist(), given)]
        leg = ratios.index(max(ratios))
        return leg if ratios[leg] > NOISE_RATIO * (1.0 + of_all * error) else None
