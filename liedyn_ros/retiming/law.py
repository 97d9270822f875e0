# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The law s(p) that a path follows at unit rate, at rest or moving at its ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.polynomial import polyval

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.retiming.paths.path import MovingEnd, Path, PathSamples

_QUINTIC = Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])
_CUBIC, _SQUARE = Polynomial([0.0, 0.0, 0.0, 1.0]), Polynomial([0.0, 0.0, 1.0])
_BACKWARD = Polynomial([1.0, -1.0])


@cache
def _polynomials(smooth: bool, starts: bool, ends: bool) -> tuple[Array, ...]:
    """Return s(p) and its derivatives, with a slope at an end that is passed (15.9)."""
    one_end = _CUBIC if smooth else _SQUARE
    if not starts:
        s = one_end if ends else _QUINTIC
    else:
        s = Polynomial([0.0, 1.0]) if ends else 1.0 - one_end(_BACKWARD)
    return tuple(np.asarray((s.deriv(order) if order else s).coef, dtype=float)
                 for order in range(4))


@dataclass(frozen=True)
class Law:
    """
    A path run through s(p), p from 0 to 1, at rest at its ends or passing them (15.1, 15.9).

    Since s has no slope at an end at rest, z stays finite and above zero there. smooth is for
    limited rates of torque, where s ~ p^3; without them s ~ p^2. At an end that is passed, s has a
    slope. rest_of is a law and its p where this one begins, along the rest of its path (15.18).
    """

    path: Path
    smooth: bool
    start: MovingEnd | None = None
    end: MovingEnd | None = None
    rest_of: tuple[Law, float] | None = None

    def __call__(self, p: Array) -> PathSamples:
        """Return q and its derivatives by p (K,), by the chain rule."""
        s, ds, dds, ddds = self.derivatives(p)[..., None]
        q, v, a, jerk = self.path(np.clip(s[:, 0], 0.0, self.path.length))
        return PathSamples(q, v * ds, a * ds**2 + v * dds,
                           jerk * ds**3 + 3.0 * a * ds * dds + v * ddds)

    def derivatives(self, p: Array) -> Array:
        """Return s and the first three by p (4, K) at p (K,)."""
        if self.rest_of is not None:
            whole, start = self.rest_of
            result = whole.derivatives(start + (1.0 - start) * p)
            result[0] -= whole.derivatives(np.array([start]))[0]
            return result * ((1.0 - start)**np.arange(4))[:, None]
        if self.start is None and self.end is None and not self.smooth:
            half, sine, cosine = np.pi / 2.0, np.sin(np.pi * p), np.cos(np.pi * p)
            unit = [(1.0 - cosine) / 2.0, half * sine, half * np.pi * cosine,
                    -half * np.pi**2 * sine]
        else:
            unit = [np.asarray(polyval(p, coefficients), dtype=float) for coefficients in
                    _polynomials(self.smooth, self.start is not None, self.end is not None)]
        return np.array(unit, dtype=float) * self.path.length

    def passing(self) -> list[tuple[int, float, float | None]]:
        """Return for each end that is passed: 0 or -1, z, and z' where it is given (15.9)."""
        result = []
        for at, name, end in ((0, 'start', self.start), (-1, 'end', self.end)):
            if end is None:
                continue
            speed, acceleration = _require_end(name, end)
            _, ds, dds, _ = self.derivatives(np.array([0.0 if at == 0 else 1.0]))[:, 0]
            z = (speed / ds)**2
            result.append((at, z, None if acceleration is None
                           else 2.0 * (acceleration - dds * z) / ds))
        return result


def _require_end(name: str, end: MovingEnd) -> MovingEnd:
    """Return an end; raises LimitError where its speed is not above zero, or not finite."""
    if not 0.0 < end.speed < np.inf:
        raise LimitError(f'{name}.speed: expected a finite speed above 0, or no {name} for a run '
                         f'that is at rest there, got {end.speed!r}')
    if end.acceleration is not None and not np.isfinite(end.acceleration):
        raise LimitError(f'{name}.acceleration: expected a finite number or None, '
                         f'got {end.acceleration!r}')
    return end
