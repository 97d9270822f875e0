# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The stages before the solve of a sample: its gate, the faults and motion of its legs, their rates.

Of a usual sample they are one kernel (kernels/examination.py). What that finds unusual before it
changes anything is left to SampleGate.accept, LegMonitor.examine and RateMonitor.contradicting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.stamps import LARGEST_NS
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.tracking.kernels import examination as kernels
from liedyn_ros.stewart.tracking.legs.kernels.fault_tables import FAULTY
from liedyn_ros.stewart.tracking.legs.monitor import (
    faults_of, LegFaults, LegMonitor, LegMotion, legs_of, NO_FAULTS)
from liedyn_ros.stewart.tracking.monitor_config import MonitorConfig
from liedyn_ros.stewart.tracking.rates.monitor import RateMonitor
from liedyn_ros.stewart.tracking.tracker import Sample, SampleGate


# A sample to solve, the faults of its legs, whether readings jumped that were not replaced, legs
# whose rates contradict their lengths, as indices, and the motion of the legs; None for the first.
Examined = tuple[Sample, LegFaults, bool, tuple[int, ...], LegMotion | None]


class ExaminedLegs(LegMonitor):
    """A LegMonitor whose readings another kernel may examine, with all that it has to learn."""

    def noise_numbers(self) -> tuple[float, float, float, float, float]:
        """Return the numbers of the noise that the kernel needs."""
        noise, unit = self.noise, self._unit
        return (unit * noise.total, noise.jitter, unit * noise.likely, noise.spread,
                unit * noise.acceleration)

    @property
    def buffer(self) -> Array:
        """Return the buffer of the kernel."""
        buffer: Array = self._examine.args[0]
        return buffer

    @property
    def motion_size(self) -> int:
        """Return how many numbers of a motion the kernel writes."""
        return self._motion_size

    def learn(self, findings: int) -> None:
        """Learn from the findings of a sample."""
        self._learn(findings)

    def motion_numbers(self) -> tuple[Array, float, float, Array]:
        """Return scales, caution, excess and shares of a LegMotion."""
        noise = self.noise
        return self._scales, noise.caution, self._unit * noise.excess, noise.shares


class SampleExamination:
    """The stages before the solve, of one tracker."""

    def __init__(self, geometry: StewartGeometry, config: MonitorConfig, home: Array) -> None:
        """Take a geometry of readings, the settings, and home (4, 4), m."""
        unit, n = geometry.reading_unit[0], len(geometry.leg_names)
        self._replaces, self._count = config.replace_outliers, n
        self._rods = {*np.flatnonzero(~np.isnan(geometry.fixed_lengths)).tolist()}
        self._latency = geometry.leg_latency if geometry.leg_latency.any() else None
        self.legs = ExaminedLegs(
            geometry, config.leg_noise or geometry.drive_scales / unit * geometry.leg_noise,
            config.leg_acceleration, config.frozen_time, config.leg_resolution)
        self.rates, self.gate = RateMonitor(geometry), SampleGate(geometry, home)
        self._noise, self._plausible = np.zeros(kernels.NOISE_NUMBERS), np.empty(n)
        self._timeline, self._moved = self.gate.timeline, self.legs.motion_size
        self._first_ns: int | None = None  # of the legs' first sample
        self._examine = BoundKernel(
            kernels.examine_sample, self.gate.limits, self.legs.buffer, self.rates.buffer,
            self.rates.last_ns, self._noise).attempt
        self._tell_noise()

    def reset(self) -> None:
        """Forget motion, faults and noise; the stamps are those of `gate`."""
        self.legs.reset()
        self.rates.reset()
        self._first_ns = None

    def examine_usual(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None
    ) -> Examined | None:
        """Examine a sample by one kernel; return None, and change nothing, for an unusual one."""
        first_ns, last_ns = self._first_ns, self._timeline.last_ns
        if first_ns is None or last_ns is None or stamp_ns >= LARGEST_NS:
            return None
        given, moved = np.empty(self._count), np.empty(self._moved)
        told = self._examine(
            stamp_ns, first_ns, last_ns, lengths, lengths if rates is None else rates,
            rates is not None, given, self._plausible, moved)
        if told is None or told[0] == kernels.NOT_USUAL:
            return None
        found, period, fresh, wrong = told
        self._timeline.note(stamp_ns)
        total, jitter = self._told[:2]
        if found & kernels.LEARNING:
            self.legs.learn(found)
            self._tell_noise()
        scales, caution, excess, shares = self._of_motion
        motion = LegMotion(total, jitter, period, fresh, scales, moved, caution, excess,
                           shares) if period else None
        measured: Any = rates  # an array, as the kernel has taken it
        sample = Sample(stamp_ns, given, measured, False)
        if wrong or self._latency is not None or found & FAULTY:
            return self._judge(sample, faults_of(found), self._plausible.copy(), motion, wrong)
        return sample, NO_FAULTS, False, (), motion

    def examine(self, sample: Sample) -> Examined:
        """Examine a sample that the gate has accepted."""
        if self._first_ns is None:
            self._first_ns = sample.stamp_ns
        found = self.legs.examine(sample.stamp_ns, sample.lengths)
        self._tell_noise()
        return self._judge(sample, *found, kernels.UNJUDGED)

    def _tell_noise(self) -> None:
        """Tell the kernel what is known of the noise now."""
        self._noise[:] = self._told = self.legs.noise_numbers()
        self._of_motion = self.legs.motion_numbers()

    def _judge(self, sample: Sample, faults: LegFaults, plausible: Array,
               motion: LegMotion | None, wrong: int) -> Examined:
        """Return a sample to solve; wrong: legs with wrong rates as bits, or UNJUDGED."""
        if self._rods and faults.legs and self._rods.issuperset(faults.legs):
            faults = NO_FAULTS  # a rod of fixed length stands while the others move
        doubtful = bool(faults.outliers) or faults.jumped
        if faults.outliers and self.legs.noise.known and self._replaces:
            # Some are kept: nothing predicts them.
            doubtful = any(plausible[leg] == sample.lengths[leg] for leg in faults.outliers)
            sample = sample._replace(lengths=plausible)
        if wrong == kernels.UNJUDGED:
            wrong = 0 if sample.rates is None or motion is None else self._wrong_rates(
                sample.stamp_ns, sample.rates, faults, plausible, motion)
        if wrong:
            sample = sample._replace(rates=None)
        if self._latency is not None:
            sample, motion = _at_its_stamp(sample, motion, self._latency)
        return (sample, faults, doubtful, legs_of(wrong), motion)

    def _wrong_rates(self, stamp_ns: int, rates: ArrayLike, faults: LegFaults, plausible: Array,
                     motion: LegMotion) -> int:
        """Return the legs whose measured rates contradict the lengths, as bits."""
        outliers = (1 << self._count) - 1 if faults.jumped else sum(
            1 << leg for leg in faults.outliers)
        return self.rates.contradicting(
            stamp_ns, plausible, rates, motion.rates, self.legs.uncertainty(), outliers)


def _at_its_stamp(sample: Sample, motion: LegMotion | None, latency: Array
                  ) -> tuple[Sample, LegMotion | None]:
    """Return a sample whose readings and rates have moved on by each leg's latency, s."""
    rates = sample.rates
    if motion is None:
        return sample if rates is None else sample._replace(
            lengths=sample.lengths + latency * rates), None
    late = motion.compensated(latency)
    moved, changed = late.latency_correction()
    return sample._replace(lengths=sample.lengths + moved,
                           rates=None if rates is None else rates + changed), late


def joined(legs: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """Return all of two sets of legs, in order."""
    return tuple(sorted({*legs, *others}))
