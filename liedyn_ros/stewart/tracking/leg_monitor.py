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
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.flags import Flag
from liedyn_ros.stewart.tracking.tracker import PREDICTION_LIMIT

GATE = 6.0  # standard deviations
TIMEOUT = 0.02  # s; an outlier that lasts longer is a step: the leg jumped, or its sensor
SMOOTHING = 0.005  # s, of rates that are not measured
MAX_OUTLIERS = 2  # legs; more at once are a motion of the platform
# A leg that turns in a swing of amplitude A keeps within a quantum q of its reading while a leg
# that swings alike moves on by 2 sqrt(2 q A). A is less than the leg's length, but it may swing
# less than the others: DWELL sqrt(q length).
DWELL = 4.0


class LegFaults(NamedTuple):
    """
    What one sample showed; legs as indices.

    residuals: (6,), m, reading less prediction, NaN where nothing was predicted. outliers: legs
    whose reading no motion explains. stepped: legs whose reading jumped and stayed there, which
    a bias does. frozen: legs whose reading repeats exactly while the others move. plausible:
    (6,), m, the readings with the outliers replaced by their predictions.
    """

    residuals: Array
    outliers: tuple[int, ...]
    stepped: tuple[int, ...]
    frozen: tuple[int, ...]
    plausible: Array

    @property
    def flags(self) -> int:
        """Return the sum of the flags of what was found."""
        return (Flag.LEG_OUTLIER.value * bool(self.outliers)
                + Flag.LEG_STEPPED.value * bool(self.stepped)
                + Flag.LEG_FROZEN.value * bool(self.frozen))

    @property
    def legs(self) -> tuple[int, ...]:
        """Return every leg that is suspected, in order."""
        return tuple(sorted({*self.outliers, *self.stepped, *self.frozen}))


NOTHING_PREDICTED = np.full(6, math.nan)


class LegMonitor:
    """
    Predicts each leg from its last rate and judges its reading.

    A reading is an outlier where it is off by more than GATE deviations of noise and what the
    leg's greatest acceleration can do in the time. Stepped and frozen legs are remembered: a
    stepped one until it steps back or `reset`, a frozen one until its reading changes. A
    repeated reading is frozen where the others have moved by more than DWELL allows.
    """

    def __init__(self, noise: float, acceleration: float, frozen_time: float,
                 resolution: float = 0.0) -> None:
        """
        Take the standard deviation of a length (m), the greatest acceleration of a leg (m/s^2).

        frozen_time: s after which a repeated reading may count as frozen; 0 for never.
        resolution: m, of a reading; where it is 0, the smallest step that a leg's reading has
        made. Raises LimitError for a negative number.
        """
        for name, value in (('noise', noise), ('acceleration', acceleration),
                            ('frozen_time', frozen_time), ('resolution', resolution)):
            if not 0.0 <= value < math.inf:
                raise LimitError(f'{name}: expected a number from 0 on, got {value}')
        self._noise, self._acceleration, self._frozen_time = noise, acceleration, frozen_time
        self._learns = not resolution
        self._quanta: Array = np.full(6, resolution or math.inf)  # m
        self.reset()

    def reset(self) -> None:
        """Forget the motion and the faults."""
        self._stamp_ns: int | None = None
        self._lengths: Array = np.zeros(6)
        self._raw: Array = np.zeros(6)
        self._rates: Array | None = None
        self._rate_deviation = 0.0
        self._any_off = False
        self._off: Array = np.zeros(6)  # s for which a leg has been an outlier
        self._first: Array = np.zeros(6)  # m, its residual then
        self._repeats = False  # whether any reading was the same as the one before
        self._repeated: Array = np.zeros(6)  # s for which a leg's reading has been the same
        self._since: Array = np.zeros((6, 6))  # m, all lengths when it changed last
        self._frozen: NDArray[np.bool_] = np.zeros(6, dtype=np.bool_)
        self._steps: Array = np.zeros(6)  # m, of stepped legs
        self._stepped: tuple[int, ...] = ()

    def judge(self, stamp_ns: int, lengths: Array, rates: Array | None = None) -> LegFaults:
        """Return the faults of a reading (6,), m, at a time (ns), with its rates if measured."""
        if self._stamp_ns is None or not 0 < stamp_ns - self._stamp_ns <= 1e9 * PREDICTION_LIMIT:
            self.reset()
            self._remember(stamp_ns, lengths, lengths, rates, 0.0)
            return LegFaults(NOTHING_PREDICTED, (), (), (), lengths)
        dt = 1e-9 * (stamp_ns - self._stamp_ns)
        frozen = self._judge_frozen(lengths, dt)
        outliers: tuple[int, ...] = ()
        residuals: Array = NOTHING_PREDICTED
        plausible = lengths
        if self._rates is not None:
            residuals = lengths - self._lengths - dt * self._rates
            gate = self._gate(dt)
            if self._any_off or residuals.max() > gate or residuals.min() < -gate:
                off = (np.abs(residuals) > gate) | (self._off > 0.0)
                if off.sum() > MAX_OUTLIERS:  # the platform jumped: predict anew from here
                    self._rates, self._off, dt = None, np.zeros(6), 0.0
                else:
                    outliers, plausible = self._judge_off(lengths, residuals, off, dt)
                self._any_off = bool(self._off.any())
        self._remember(stamp_ns, lengths, plausible, rates, dt)
        return LegFaults(residuals, outliers, self._stepped, frozen, plausible)

    def _judge_off(
            self, lengths: Array, residuals: Array, off: NDArray[np.bool_], dt: float
    ) -> tuple[tuple[int, ...], Array]:
        """Return the outliers, and the readings with a prediction in place of these."""
        outliers, plausible = [], lengths.copy()
        for leg in np.flatnonzero(off).tolist():
            if not self._off[leg]:
                self._first[leg] = residuals[leg]
            self._off[leg] += dt
            if self._is_back(leg, residuals[leg]):
                self._off[leg] = 0.0
            elif self._off[leg] <= max(TIMEOUT, dt):
                outliers.append(leg)
                plausible[leg] -= residuals[leg]
            else:
                self._accept(leg, residuals[leg])
        return tuple(outliers), plausible

    def _is_back(self, leg: int, residual: float) -> bool:
        size = abs(residual)
        return bool(size < self._gate(self._off[leg]) and size < 0.5 * abs(self._first[leg]))

    def _accept(self, leg: int, residual: float) -> None:
        """Go on from where an outlier has stayed; it is a step if it kept to one place."""
        stayed = abs(residual - self._first[leg]) < 0.5 * abs(self._first[leg])
        self._off[leg] = 0.0
        self._lengths[leg] += residual
        if stayed:
            total = self._steps[leg] + residual
            self._steps[leg] = total if abs(total) > 0.5 * abs(residual) else 0.0
            self._stepped = tuple(np.flatnonzero(self._steps).tolist())

    def _gate(self, horizon: float) -> float:
        """Return by how much a leg may be off after a time (s) without an accepted reading."""
        deviation = math.hypot(math.sqrt(2.0) * self._noise, horizon * self._rate_deviation)
        return GATE * deviation + self._acceleration * horizon * (horizon + SMOOTHING)

    def _judge_frozen(self, lengths: Array, dt: float) -> tuple[int, ...]:
        if not self._frozen_time:
            return ()
        change = np.abs(lengths - self._raw)
        if change.min() > 0.0:
            if self._learns:
                np.minimum(self._quanta, change, out=self._quanta)
            if self._repeats:
                self._repeated[:], self._frozen[:], self._repeats = 0.0, False, False
            return ()
        same = change == 0.0
        if self._learns:
            np.minimum(self._quanta, change, out=self._quanta, where=~same)
        self._since[same & (self._repeated == 0.0)] = self._raw
        self._repeats = True
        self._repeated = np.where(same, self._repeated + dt, 0.0)
        self._frozen &= same
        long = self._repeated >= self._frozen_time
        if long.any():
            moved = np.sort(np.abs(lengths - self._since))[:, 3]  # the median of the others
            self._frozen |= long & (moved > self._unmoved(lengths))
        return tuple(np.flatnonzero(self._frozen).tolist())

    def _unmoved(self, lengths: Array) -> Array:
        """Return by how much the others may move while a leg's reading stays the same, m."""
        known = np.isfinite(self._quanta)
        quanta = np.where(known, self._quanta, self._quanta.max(initial=0.0, where=known))
        return np.asarray(GATE * self._noise + DWELL * np.sqrt(quanta * lengths))

    def _remember(
            self, stamp_ns: int, raw: Array, lengths: Array, rates: Array | None,
            dt: float) -> None:
        if rates is not None:
            self._rates, self._rate_deviation = rates, 0.0
        elif dt > 0.0:
            share = 1.0 if self._rates is None else dt / (dt + SMOOTHING)
            before = 0.0 if self._rates is None else self._rates
            self._rates = before + share * ((lengths - self._lengths) / dt - before)
            self._rate_deviation = math.sqrt(2.0 / (2.0 - share)) * share * self._noise / dt
        self._stamp_ns, self._raw, self._lengths = stamp_ns, raw, lengths.copy()
