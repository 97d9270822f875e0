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
from liedyn_ros.stewart.tracking.kernels import leg_faults as kernels
from liedyn_ros.stewart.tracking.noise_estimator import METRE, NoiseEstimator, NoiseReport

MEMORY = 300  # samples over which the share of outliers is taken
TOO_MANY, FEW = 0.05, 0.02  # of them: the premise is wrong from the one on, until the other
LEGS = tuple(tuple(leg for leg in range(6) if bits >> leg & 1) for bits in range(64))


class LegFaults(NamedTuple):
    """
    What one sample showed; legs as indices.

    residuals: (6,), m, reading less prediction, NaN where nothing was predicted. outliers: legs
    whose reading no motion explains. stepped: legs whose reading jumped and stayed there, which
    a bias does. frozen: legs whose reading stands while the others move, or all six where noise
    should move them. jumped: whether three legs or more jumped, as no machine moves. doubted:
    whether a given parameter is too small, so that outliers are none. plausible: (6,), m, the
    readings, those of outliers replaced by their predictions. noise_known: whether these are
    safe to solve for, as the gate is right.
    """

    residuals: Array
    outliers: tuple[int, ...]
    stepped: tuple[int, ...]
    frozen: tuple[int, ...]
    jumped: bool
    doubted: bool
    plausible: Array
    noise_known: bool

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
        self._frozen_time, self._resolution = frozen_time, resolution
        self._history = np.empty((kernels.POINTS, 7))
        self._legs, self._since = np.zeros((6, kernels.LEG)), np.zeros((2, 6, 6))
        self._legs[:, kernels.AMPLITUDE] = amplitude
        self._numbers = np.empty(kernels.NUMBERS)
        self.reset()

    def reset(self) -> None:
        """Forget the motion, the faults and the noise."""
        kernels.reset(self._history, self._legs, self._numbers, self._resolution)
        self.noise.reset()
        self._origin_ns: int | None = None
        self._before = 0  # outliers of the sample before, as bits
        self._share = 0.0  # of samples with a new outlier
        self._wrong = False

    def judge(self, stamp_ns: int, lengths: Array) -> LegFaults:
        """Return the faults of a reading (6,), m, at a time (ns)."""
        if self._origin_ns is None:
            self._origin_ns = stamp_ns
        seconds = 1e-9 * (stamp_ns - self._origin_ns)
        noise, residuals = self.noise, np.empty(6)
        plausible: Array = np.empty(6)
        outliers, stepped, frozen, jumped, grown, taken = kernels.examine(
            seconds, lengths, self._history, self._legs, self._since, self._numbers,
            (noise.factor, noise.acceleration, self._frozen_time, noise.repetitions,
             not self._resolution), residuals, plausible, noise.state, noise.gate)
        self._count(bool(outliers & ~self._before) or jumped or grown > 0.0)
        self._before = outliers
        if grown and (self._wrong or not jumped):
            noise.learn(grown)
        if taken:
            noise.taken()
        if self._wrong:
            self._legs[:, kernels.STEPPED] = 0.0
            outliers, stepped, jumped = 0, 0, False
            plausible = lengths
        return LegFaults(residuals, LEGS[outliers], LEGS[stepped], LEGS[frozen], jumped,
                         self._wrong or noise.understated, plausible, noise.known)

    def restart(self) -> None:
        """Predict nothing from the readings so far, of which the last had no pose."""
        kernels.restart(self._legs, self._numbers)

    def report(self) -> NoiseReport:
        """Return what the readings show of their noise, and what is wrong with the parameters."""
        report = self.noise.report()
        if self._wrong and not report.advice:
            advice = (f'{100.0 * self._share:.0f} % of the samples are outliers: leg_noise or '
                      'leg_acceleration is too small, or a sensor is faulty')
            return report._replace(advice=(advice,))
        return report

    def _count(self, new: bool) -> None:
        """Take note of a sample with or without a new outlier."""
        self._share += (new - self._share) / MEMORY
        self._wrong = self._share > (FEW if self._wrong else TOO_MANY)
