# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The law s(p) that a path follows at unit rate, at rest at both ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from liedyn_ros.common.checks import Array
from liedyn_ros.retiming.paths import Path, PathSamples

_QUINTIC = Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])


@dataclass(frozen=True)
class Law:
    """
    A path run through s(p), p from 0 to 1, at rest at both ends (15.1).

    Since s has no slope there, z stays finite and above zero. smooth is for limited rates of
    torque, where s ~ p^3; without them s ~ p^2.
    """

    path: Path
    smooth: bool

    def __call__(self, p: Array) -> PathSamples:
        """Return q and its derivatives by p (K,), by the chain rule."""
        s, ds, dds, ddds = self.derivatives(p)[..., None]
        q, v, a, jerk = self.path(np.clip(s[:, 0], 0.0, self.path.length))
        return PathSamples(q, v * ds, a * ds**2 + v * dds,
                           jerk * ds**3 + 3.0 * a * ds * dds + v * ddds)

    def derivatives(self, p: Array) -> Array:
        """Return s and the first three by p (4, K) at p (K,)."""
        if self.smooth:
            unit = [_QUINTIC.deriv(order)(p) if order else _QUINTIC(p) for order in range(4)]
        else:
            half, sine, cosine = np.pi / 2.0, np.sin(np.pi * p), np.cos(np.pi * p)
            unit = [(1.0 - cosine) / 2.0, half * sine, half * np.pi * cosine,
                    -half * np.pi**2 * sine]
        return np.array(unit, dtype=float) * self.path.length
