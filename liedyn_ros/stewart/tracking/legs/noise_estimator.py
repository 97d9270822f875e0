# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the legs' readings show of their own noise, steps, acceleration and stamps (14.3)."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from liedyn_ros.stewart.tracking.legs.kernels import noise as kernels

ASSUMED_NOISE = 1e-5  # m, where none is given and none is measured yet
ASSUMED_ACCELERATION = 25.0  # m/s^2, the least that a leg is granted where none is given
CAUTION = 3.0  # times what was measured, until enough was
EARLY_NOISE = 2e-4  # m, the least that is reckoned with until then
ENOUGH = 200.0  # samples
ROUNDING = 12.0 ** -0.5  # of a step, the deviation that rounding to it makes
WRONG_BY = 1.1  # share of a deviation, besides its own error, by which one is wrong
TOO_LARGE = 1.7  # times what is measured, at which a given noise is too large: 2 surely is
EARLY_FACTOR = 7.0  # deviations of a gate, until the period is known
ALARMS = 1.0 / 3600.0  # 1/s, false ones of each leg
MIN_SEEN = 1e-9  # m: less noise than that is rounding
# Equal readings of all six legs, one after the other, that noise of so many steps excludes (14.22)
REPETITIONS = ((1.0, 3.0), (0.5, 6.0), (0.3, 25.0), (0.2, 201.0))


METRE = 1.0, 'm'  # the unit of readings, where it is that


class NoiseReport(NamedTuple):
    """
    What the readings show; NaN where it is not known yet.

    noise: m, standard deviation of a length. identified: whether that is more than an upper
    bound. resolution: m, the smallest step of a reading, 0 where it has none. acceleration:
    m/s^2, the greatest of a leg lately. jitter: s, standard deviation of the stamps from the times
    of the readings, as the motion shows it. period: s between samples. advice: what is wrong with
    the parameters, with the values to write down; empty where nothing is.
    """

    noise: float
    identified: bool
    resolution: float
    acceleration: float
    jitter: float
    period: float
    advice: tuple[str, ...]


class NoiseEstimator:
    """Estimates noise from readings; holds what was given against it."""

    # All of these change slowly, and are brought up to date when a kernel says that it is due.
    # identified: whether the estimate is more than an upper bound. known: whether the noise is
    # given and not refuted, or well estimated. deviation: of a length, to reckon with, m; total:
    # with what its rounding adds. jitter: standard deviation of the stamps, s, as far as the
    # motion shows it. understated: whether the given noise is too small for what is measured
    # (14.20). acceleration: the greatest of a leg to reckon with, m/s^2. factor: the deviations
    # of a gate that noise passes once in 1 / ALARMS s (14.18). repetitions: how often all six
    # readings may repeat before they are stale. gate: see kernels.gates.
    identified: bool
    known: bool
    deviation: float
    total: float
    jitter: float
    understated: bool
    acceleration: float
    factor: float
    repetitions: float
    gate: tuple[float, float, float]

    def __init__(
            self, noise: float, acceleration: float, resolution: float,
            unit: tuple[float, str] = METRE) -> None:
        """
        Take what is given: m, m/s^2, m; 0 where it is not known.

        unit: of the readings, and of all these instead of m. It is how far one unit moves the end
        of a drive, m, and its name.
        """
        self._metres, self._unit = unit
        self._given, self._given_acceleration = noise, acceleration
        self._resolution = resolution
        self.words = kernels.NOISE.pack(
            window=np.zeros((kernels.POINTS, 7)), squares=np.zeros((kernels.ORDERS, 6)),
            legs=np.zeros((6, kernels.LEG)), numbers=np.zeros(kernels.NUMBERS),
            work=np.zeros(kernels.WORK))
        self._numbers = kernels.NOISE.array(self.words, 'numbers')
        self.reset()

    def reset(self) -> None:
        """Forget all readings."""
        kernels.reset(self.words)
        self._learnt = 0.0  # m/s^2, acceleration that explained an error
        self.factor, self._factor_at = EARLY_FACTOR, 0.0
        self.settle()

    def learn(self, acceleration: float) -> None:
        """Take an acceleration, m/s^2, that explains what no smaller one does."""
        self._learnt = max(self._learnt, 1.5 * acceleration)
        self.settle()
        self._numbers[kernels.SINCE] = 1.0  # the sample that taught it

    def _allowed_repetitions(self) -> float:
        if not self.identified or self._metres * self._sigma < MIN_SEEN:
            return math.inf
        ratio = self._sigma / step if (step := self._step()) else math.inf
        return next((count for least, count in REPETITIONS if ratio >= least), math.inf)

    def report(self) -> NoiseReport:
        """Return what the readings show, and what is wrong with what was given."""
        if not self._taken:
            nan = math.nan
            return NoiseReport(nan, False, nan, nan, nan, nan, ())
        return NoiseReport(
            self._sigma, self.identified, self._step(), self._measured_acceleration,
            self.jitter, self._period, tuple(self._advice()))

    def _advice(self) -> list[str]:
        advice = []
        if self.understated:
            advice.append(f'leg_noise {self._given:.3g} {self._unit} is too small: '
                          f'{self._sigma:.3g} {self._unit} measured')
        elif self._given and self.identified and self._given > TOO_LARGE * math.hypot(
                self._sigma, 0.5 * self._step()):
            advice.append(f'leg_noise {self._given:.3g} {self._unit} is too large: '
                          f'{self._sigma:.3g} {self._unit} measured')
        greatest = max(self._learnt, self._measured_acceleration)
        if self._given_acceleration and greatest > self._given_acceleration:
            advice.append(f'leg_acceleration {self._given_acceleration:.3g} {self._unit}/s^2 is '
                          f'too small: {greatest:.3g} {self._unit}/s^2 measured')
        return advice

    def _step(self) -> float:
        """Return the step of the leg that has the coarsest, m, 0 where none has one."""
        return self._resolution or self._coarsest

    def settle(self) -> None:
        """Take over what the kernel found."""
        numbers = self._numbers.tolist()
        self._taken, self._period = numbers[kernels.TAKEN], numbers[kernels.PERIOD]
        self._sigma, self._coarsest = numbers[kernels.VARIANCE] ** 0.5, numbers[kernels.COARSEST]
        self._measured_acceleration = numbers[kernels.ACCELERATION]
        self._learnt *= 1.0 - min(kernels.SETTLE_EVERY * self._period / kernels.FADE, 1.0)
        self.acceleration = max(
            self._given_acceleration or
            max(ASSUMED_ACCELERATION / self._metres, 2.0 * self._measured_acceleration),
            self._learnt)
        self._numbers[kernels.SINCE], enough = 0.0, self._taken >= ENOUGH
        self.identified = enough and numbers[kernels.IDENTIFIED] > 0.0
        self.repetitions = self._allowed_repetitions()
        self.jitter = numbers[kernels.JITTER] if (
            self.identified and self._step() <= self._sigma) else 0.0
        self.understated = bool(self._period) and self._look_at_period()
        self._settle_noise(enough)

    def _settle_noise(self, enough: bool) -> None:
        """Decide which noise is reckoned with: the given one or the measured one."""
        if self._given:
            self.known = not self.understated
            self.deviation = max(self._given, self._sigma) if self.understated else self._given
            self.total = self.deviation
            self.gate = self._given, float(self.understated), self._resolution
            return
        self.known = self.identified
        self.deviation = self._sigma if enough else max(self._sigma, ASSUMED_NOISE / self._metres)
        self.total = math.hypot(self.deviation, self._step() * ROUNDING)
        self.gate = (0.0, 1.0, self._resolution) if enough else (
            EARLY_NOISE / self._metres, CAUTION, self._resolution)

    def _look_at_period(self) -> bool:
        """Fit the gate to the period; return whether the given noise is too small (14.20)."""
        if not 0.8 < self._period / (self._factor_at or math.inf) < 1.25:
            self._factor_at = self._period
            freedom = kernels.memory(self._period) / 2.5
            self.factor = float(stdtrit(freedom, 1.0 - 0.5 * ALARMS * self._period))
        if not (self._given and self.identified):
            return False
        error = 4.0 * (1.25 / min(self._taken, kernels.memory(self._period))) ** 0.5
        wrong = WRONG_BY * (1.0 + error)
        return self._sigma > wrong * self._given and (
            self._sigma > wrong * math.hypot(self._given, 0.5 * self._step()))
