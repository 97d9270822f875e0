# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of seven legs or more, at the stamp of a sample and near it (14.24, 14.25)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.redundant.kernels import motions as kernels
from liedyn_ros.stewart.redundant.solver import RedundantSolver
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank
from liedyn_ros.stewart.tracking.legs.motion import LegMotion

SIX = 6  # legs in a filter; the first ones fill up the last filter
HELD = 1.5  # of the last interval between fresh sets: so long one that repeats is an old one


class LegEstimates(NamedTuple):
    """
    Readings (n,), m or rad, and rates (n,), of all legs, whose errors are independent.

    length_variances, shared, rate_variances: (n,), of a reading, with its rate, of the rate.
    """

    lengths: Array
    rates: Array
    length_variances: Array
    shared: Array
    rate_variances: Array


class LegMotions(NamedTuple):
    """
    The motion of n legs at a sample: that of six in each part, and how many count.

    latency: (n,), s, by how much each reading is older than the sample; None where none is.
    """

    parts: tuple[LegMotion, ...]
    legs: int
    latency: Array | None = None

    @property
    def noise(self) -> Array:
        """Return the deviation of each reading, (n,), m or rad."""
        return np.concatenate([part.noise / part.scales for part in self.parts])[:self.legs]

    @property
    def rates(self) -> Array:
        """Return the legs' rates at the sample, (n,), m/s, or rad/s of cranks."""
        if self.latency is not None:
            return self.at().rates
        return np.concatenate([part.rates for part in self.parts])[:self.legs]

    def at(self, seconds: float = 0.0) -> LegEstimates:
        """Return the estimate at a time (s) after the sample, which may be negative (14.25)."""
        if self.latency is None:
            return self.after(seconds)
        times = (seconds + self.latency).tolist()
        each = {time: k for k, time in enumerate(dict.fromkeys(times))}
        found = np.stack([self._rows(time) for time in each])
        return LegEstimates(*found[[each[time] for time in times], :, np.arange(self.legs)].T)

    def since(self) -> LegEstimates | None:
        """Return changes since late readings, with the variances; None where none is late."""
        if self.latency is None:
            return None
        return LegEstimates(*(
            np.asarray(now - then) for now, then in zip(self.at(), self.after(0.0))))

    def after(self, seconds: float) -> LegEstimates:
        """Return the estimate at a time (s) after the readings were taken."""
        return LegEstimates(*self._rows(seconds))

    def _rows(self, seconds: float) -> Array:
        """Return LegEstimates at a time (s) after the readings, a row each: (5, n)."""
        rows = np.empty((len(LegEstimates._fields), len(self.parts), SIX))
        for k, part in enumerate(self.parts):
            legs = part.at(seconds)
            squares = legs.scales ** -2.0
            rows[0, k], rows[1, k], rows[2, k] = (
                legs.lengths, legs.rates, legs.length_variance * squares)
            rows[3, k], rows[4, k] = legs.covariance * squares, legs.rate_variance * squares
        return rows.reshape(len(rows), -1)[:, :self.legs]


class LegMotionFilter:
    """
    Follows the motion of all legs, of any noise each; use one in each thread.

    A set that repeats comes from a bus slower than the topic. The motion is predicted meanwhile,
    for as long as the bus took for its last set.
    """

    def __init__(self, solver: RedundantSolver) -> None:
        """Take the solver, which has the legs' deviations."""
        geometry, deviations = solver.geometry, solver.deviations
        self._count = len(deviations)
        blocks = -(-self._count // SIX)
        self._rows = np.arange(SIX * blocks).reshape(blocks, SIX) % self._count
        # Every leg counts in units of its noise: then all have the same.
        self._unit = float(np.median(deviations * geometry.drive_scales))
        self._scales = (self._unit / deviations)[self._rows]
        self._filters = np.stack([motion_bank.empty_filter(scales) for scales in self._scales])
        self._now = [motion_bank.FILTER.array(row, 'now') for row in self._filters]
        self._latency = geometry.leg_latency if geometry.leg_latency.any() else None
        self.reset()

    def reset(self) -> None:
        """Forget the motion."""
        for now in self._now:
            now[:] = 0
        self._before = b''  # the last readings
        self._fresh_ns, self._interval_ns = 0, 0

    def follow(self, stamp_ns: int, readings: Array, noise: float) -> LegMotions | None:
        """
        Return the motion at a sample of readings (n,), m or rad; None for the first.

        noise: their deviations in those of the solver.
        """
        read = readings.tobytes()
        repeats, elapsed = read == self._before, stamp_ns - self._fresh_ns
        stale = repeats and elapsed < HELD * self._interval_ns
        if not repeats:
            self._before = read
            self._fresh_ns, self._interval_ns = stamp_ns, elapsed if self._fresh_ns else 0
        moved = np.empty((len(self._rows), motion_bank.MOTION_SIZE))
        deviation = noise * self._unit
        period = kernels.filter_all_legs(
            self._filters, stamp_ns, readings.take(self._rows), deviation, stale, moved)
        if not period:
            return None
        return LegMotions(tuple(
            LegMotion(deviation, 0.0, period, int(now[motion_bank.COUNT]), scales, row)
            for now, scales, row in zip(self._now, self._scales, moved)), self._count,
            self._latency)
