# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Faults of single legs, found by what each leg did before: an outlier, a step, a frozen reading.

Six lengths for six unknowns always fit some pose, so a fault does not show in the residual. Here
each leg's reading is held against its own motion. A bias that comes slowly looks like motion and
cannot be seen this way; liedyn_ros.stewart.tracking.sensor_monitor can, with one more sensor.
"""

import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.flags import Flag
from liedyn_ros.stewart.tracking.legs.kernels import leg_faults as kernels
from liedyn_ros.stewart.tracking.legs.noise_estimator import METRE, NoiseEstimator, NoiseReport

LEGS = tuple(tuple(leg for leg in range(6) if bits >> leg & 1) for bits in range(64))


class LegFaults(NamedTuple):
    """
    What one sample showed; legs as indices.

    residuals: (6,), m, reading less prediction, NaN where nothing was predicted. plausible: (6,),
    m, the readings, those of outliers replaced by their predictions. noise_known: whether these
    are safe to solve for, as the gate is right. outliers: legs whose reading no motion explains.
    stepped: legs whose reading jumped and stayed there, which a bias does. frozen: legs whose
    reading stands while the others move, or all six where noise should move them. jumped: whether
    three legs or more jumped, as no machine moves. doubted: whether a given parameter is too
    small, so that outliers are none.
    """

    residuals: Array
    plausible: Array
    noise_known: bool
    outliers: tuple[int, ...] = ()
    stepped: tuple[int, ...] = ()
    frozen: tuple[int, ...] = ()
    jumped: bool = False
    doubted: bool = False

    @property
    def flags(self) -> int:
        """Return the sum of the flags of what was found."""
        if not (self.outliers or self.stepped or self.frozen or self.jumped or self.doubted):
            return 0
        return (Flag.LEG_OUTLIER.value * bool(self.outliers)
                + Flag.LEG_STEPPED.value * bool(self.stepped)
                + Flag.LEG_FROZEN.value * bool(self.frozen)
                + Flag.LEGS_JUMPED.value * self.jumped
                + Flag.PARAMETER_TOO_SMALL.value * self.doubted)

    @property
    def legs(self) -> tuple[int, ...]:
        """Return every leg that is suspected, in order."""
        if not (self.outliers or self.stepped or self.frozen):
            return ()
        return tuple(sorted({*self.outliers, *self.stepped, *self.frozen}))


class LegMonitor:
    """
    Predicts each leg from a line through its last readings and judges the next.

    A reading is an outlier if its error exceeds noise that occurs once an hour plus the effect of
    the leg's greatest acceleration. Stepped and frozen legs are remembered: a stepped one until it
    steps back or `reset`, a frozen one until its reading changes. Many outliers show that the
    noise or the acceleration is not what was given. Then the parameter is named; no outlier is
    reported or replaced, and no leg counts as stepped.
    """

    def __init__(self, noise: float, acceleration: float, frozen_time: float,
                 resolution: float = 0.0, unit: tuple[float, str] = METRE,
                 amplitude: float = 0.0) -> None:
        """
        Take the standard deviation of a length (m), the greatest acceleration of a leg (m/s^2).

        Where one is 0 it is estimated. frozen_time: s after which a reading that stands may count
        as frozen; 0 for never. resolution: m, of a reading; where it is 0, the smallest step that
        a leg's reading has made. unit: of the readings; see NoiseEstimator. amplitude: of the
        motion of a leg whose reading may be 0, as that of rails and cranks; else that is the
        reading. Raises LimitError for a negative number.
        """
        for name, value in (('noise', noise), ('acceleration', acceleration),
                            ('frozen_time', frozen_time), ('resolution', resolution)):
            if not 0.0 <= value < math.inf:
                raise LimitError(f'{name}: expected a number from 0 on, got {value}')
        self.noise = NoiseEstimator(noise, acceleration, resolution, unit)
        self._resolution = resolution
        self.words = kernels.FAULTS.pack(
            history=np.zeros((kernels.POINTS, 7)), legs=np.zeros((6, kernels.LEG)),
            since=np.zeros((2, 6, 6)), numbers=np.zeros(kernels.NUMBERS),
            tally=np.zeros(kernels.TALLY), settings=np.zeros(kernels.SETTINGS))
        self._history, self._legs, self._numbers, self._tally, self._settings = (
            kernels.FAULTS.array(self.words, name)
            for name in ('history', 'legs', 'numbers', 'tally', 'settings'))
        self._legs[:, kernels.AMPLITUDE] = amplitude
        self._settings[kernels.FROZEN_TIME] = frozen_time
        self._settings[kernels.LEARNS] = not resolution
        self.reset()

    def reset(self) -> None:
        """Forget the motion, the faults and the noise."""
        kernels.reset(self._history, self._legs, self._numbers, self._resolution)
        self._tally[:] = 0.0
        self.noise.reset()
        self._take_over_noise()
        self._origin_ns: int | None = None

    def judge(self, stamp_ns: int, lengths: Array) -> LegFaults:
        """Return the faults of a reading (6,), m, at a time (ns)."""
        residuals: Array = np.empty(6)
        plausible: Array = np.empty(6)
        found = kernels.examine(
            self.words, self.noise.words, self.seconds(stamp_ns), lengths, residuals, plausible)
        self.learn_from(found)
        return self.faults_of(found, residuals, plausible)

    def seconds(self, stamp_ns: int) -> float:
        """Return a time (ns) in s from the first reading on."""
        if self._origin_ns is None:
            self._origin_ns = stamp_ns
        return 1e-9 * (stamp_ns - self._origin_ns)

    def learn_from(self, found: int) -> None:
        """Bring the gates up to date after a kernel has taken a reading."""
        if found >> kernels.LEARNT & 1:
            self.noise.learn(float(self._tally[kernels.GROWN]))
            self._take_over_noise()
        elif found >> kernels.DUE & 1:
            self.noise.settle()
            self._take_over_noise()

    def faults_of(self, found: int, residuals: Array, plausible: Array) -> LegFaults:
        """Return the faults that a kernel found in a reading."""
        if not found & kernels.FAULTY:
            return LegFaults(residuals, plausible, self.noise.known)
        return LegFaults(
            residuals, plausible, self.noise.known, LEGS[found >> kernels.OUTLYING_LEGS & 63],
            LEGS[found >> kernels.STEPPED_LEGS & 63], LEGS[found >> kernels.FROZEN_LEGS & 63],
            bool(found >> kernels.JUMPED & 1), bool(found >> kernels.DOUBTED & 1))

    def restart(self) -> None:
        """Predict nothing from the readings so far, of which the last had no pose."""
        kernels.restart(self._legs, self._numbers)

    def report(self) -> NoiseReport:
        """Return what the readings show of their noise, and what is wrong with the parameters."""
        report = self.noise.report()
        if self._tally[kernels.WRONG] and not report.advice:
            share = 100.0 * self._tally[kernels.OUTLIERS]
            advice = (f'{share:.0f} % of the samples are outliers: leg_noise or '
                      'leg_acceleration is too small, or a sensor is faulty')
            return report._replace(advice=(advice,))
        return report

    def _take_over_noise(self) -> None:
        """Let the gates reckon with the estimates of noise and acceleration as they are now."""
        noise, settings = self.noise, self._settings
        settings[kernels.FACTOR], settings[kernels.BOUND] = noise.factor, noise.acceleration
        settings[kernels.REPETITIONS] = noise.repetitions
        settings[kernels.LEAST:kernels.UNDERSTATED] = noise.gate
        settings[kernels.UNDERSTATED] = noise.understated
