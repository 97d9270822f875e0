# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The stage of the rates: whether measured velocities are those at which the lengths change.

A rate that contradicts its length is not used: neither for the twist, nor to start a solve.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.tracking.rates.kernels import rates as kernels

MILLIMETRES = 800.0, 1250.0  # times a rate, which make it one in mm/s


class RateMonitor:
    """
    Judges measured rates by the lengths, sample after sample, and names the leg and the fault.

    A lasting fault stays until the rate of a moving leg agrees again, or `reset`.
    """

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry."""
        n = len(geometry.leg_names)
        self.buffer = kernels.LEG_RATES.pack(
            legs=np.zeros((n, kernels.RATE_LEG_WIDTH)), cross=np.zeros((n, n)),
            numbers=np.zeros(kernels.RATE_NUMBERS), scales=geometry.drive_scales.copy())
        self._legs = kernels.LEG_RATES.array(self.buffer, 'legs')
        self._rates, self.last_ns = np.zeros(n), np.zeros(1, dtype=np.int64)
        self._judge = BoundKernel(kernels.judge_rates, self.buffer)
        zeros = np.zeros(n)  # compiled before the first sample
        self._judge(0.0, zeros, zeros, zeros, 0.0, 0.0, 0.0, 0.0, 0)
        self.reset()

    def reset(self) -> None:
        """Forget the motion and the faults."""
        kernels.forget_rates(self.buffer)
        self.last_ns[0] = 0

    def contradicting(
            self, stamp_ns: int, lengths: Array, rates: ArrayLike, filtered: Array,
            numbers: tuple[float, float, float, float], outliers: int) -> int:
        """
        Return the legs whose rates contradict their lengths in a sample of a time (ns), as bits.

        lengths: (n,), m or rad. rates: (n,), measured. filtered: (n,), by the lengths. numbers:
        variance of these (m^2/s^2), noise of a length (m), spread of the stamps (s), bound of the
        acceleration (m/s^2), at the drives' ends. outliers: legs as bits, whose lengths are none.
        """
        self._rates[:] = rates
        seconds, self.last_ns[0] = 1e-9 * (stamp_ns - int(self.last_ns[0])), stamp_ns
        found: int = self._judge.call(
            seconds, lengths, self._rates, filtered, *numbers, outliers)
        return found

    def describe(self, names: Sequence[str]) -> list[str]:
        """Return the lasting faults, to be read, of legs with these names."""
        return [f'{name} {_described(row, names)}' for name, row in zip(names, self._legs.tolist())
                if row[kernels.FAULT]]


def _described(row: Sequence[float], names: Sequence[str]) -> str:
    """Return a sentence on the fault of a rate."""
    fault, factor = int(row[kernels.FAULT]), row[kernels.RATE_FACTOR]
    if fault == kernels.RATE_SCALED:
        unit = ' (mm/s for m/s)' if MILLIMETRES[0] < abs(factor) < MILLIMETRES[1] else ''
        return f'reads {factor:.3g} times its rate{unit}'
    return {
        kernels.RATE_ZERO: 'reads zero', kernels.RATE_REPEATS: 'repeats one rate',
        kernels.RATE_REVERSED: 'is reversed',
        kernels.RATE_EXCHANGED: f'reads as {names[int(row[kernels.OTHER_LEG])]}',
        kernels.RATE_LATE: f'is {1e3 * factor:.0f} ms late',
        kernels.RATE_UNEXPLAINED: f'is off by {100.0 * factor:.0f} % of its rate'}[fault]
