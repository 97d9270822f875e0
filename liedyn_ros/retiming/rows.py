# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits along a path as rows of inequalities in z = pdot^2 and its derivatives by p."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.retiming.coefficients import Coefficients
from liedyn_ros.retiming.grid import Speed
from liedyn_ros.retiming.paths.path import PathSamples

STATES, RATES = 0, 1  # the two kinds of rows


class Rows(NamedTuple):
    """
    Inequalities at places of a path, each coefficient (K, R) for R rows a place (15.4).

    Rows of states: slope z' + value z + root sqrt(z) + constant <= bound. Rows of rates:
    sqrt(z) (curvature z'' + slope z' + value z + constant) + root_value z + root_slope z'
    <= bound. names (R,) tells the limit of each row, coordinates (R,) its coordinate.
    """

    kind: int
    names: tuple[str, ...]
    coordinates: Array
    curvature: Array
    slope: Array
    value: Array
    constant: Array
    root_value: Array
    root_slope: Array
    root: Array
    bound: Array

    def used(self, speed: Speed) -> Array:
        """Return the left side over the bound (K, R): 1 where a limit binds."""
        z, dz, ddz = (each[:, None] for each in speed)
        inner = self.slope * dz + self.value * z + self.constant
        if self.kind == STATES:
            return (inner + self.root * np.sqrt(z)) / self.bound
        outer = self.root_value * z + self.root_slope * dz
        return ((inner + self.curvature * ddz) * np.sqrt(z) + outer) / self.bound

    def scaled(self, z: float) -> Rows:
        """Return the rows for a path run at the speed sqrt(z): unknowns are near 1 (15.7)."""
        speed = np.sqrt(z)
        by = 1.0 if self.kind == STATES else 1.0 / speed
        return self._replace(
            curvature=self.curvature * z, slope=self.slope * z, value=self.value * z,
            root=self.root * speed, root_value=self.root_value * z * by,
            root_slope=self.root_slope * z * by, bound=self.bound * by)

    def at(self, places: Array | slice) -> Rows:
        """Return the rows of some places, which may repeat."""
        return self._replace(**{name: getattr(self, name)[places] for name in _BY_PLACE})


_BY_PLACE = ('curvature', 'slope', 'value', 'constant', 'root_value', 'root_slope', 'root',
             'bound')


def limit_rows(path: PathSamples, tau: Coefficients, limits: dict[str, Array]
               ) -> tuple[Rows, Rows]:
    """Return the rows of states and of rates of all limits that are finite (15.4)."""
    v, a, jerk = path.v, path.a, path.jerk
    states, rates = _Stack(STATES, v.shape), _Stack(RATES, v.shape)
    states.add('velocity', limits['velocity']**2, value=v**2)
    for sign in (1.0, -1.0):
        states.add('acceleration', limits['acceleration'], slope=sign * v / 2.0, value=sign * a)
        fall = np.maximum(sign * v * limits['torque_per_speed'], 0.0)
        states.add('torque', limits['torque'], slope=sign * tau.inertia / 2.0,
                   value=sign * tau.square, root=sign * tau.viscous + fall,
                   constant=sign * tau.static)
        rates.add('jerk', limits['jerk'], curvature=sign * v / 2.0, slope=sign * 1.5 * a,
                  value=sign * jerk)
        rates.add('torque_rate', limits['torque_rate'], curvature=sign * tau.inertia / 2.0,
                  slope=sign * tau.cross / 2.0, value=sign * tau.cube,
                  constant=sign * tau.static_rate, root_value=sign * tau.viscous_rate,
                  root_slope=sign * tau.viscous / 2.0)
        rates.add('power', limits['power'], slope=sign * v * tau.inertia / 2.0,
                  value=sign * v * tau.square, constant=sign * v * tau.static,
                  root_value=sign * v * tau.viscous)
    return states.rows(), rates.rows()


class _Stack:
    """Rows that are laid side by side, those of infinite limits left out."""

    def __init__(self, kind: int, shape: tuple[int, ...]) -> None:
        """Begin without rows."""
        self._kind, self._shape = kind, shape
        self._names: list[str] = []
        self._coordinates: list[int] = []
        self._parts: dict[str, list[Array]] = {name: [] for name in _BY_PLACE}

    def add(self, name: str, bound: Array, **given: Array) -> None:
        """Add a row for each coordinate whose bound (nv,) is finite."""
        finite = np.flatnonzero(np.isfinite(bound))
        self._names += [name] * len(finite)
        self._coordinates += finite.tolist()
        parts = {each: np.zeros(self._shape) for each in _BY_PLACE} | given
        parts['bound'] = np.broadcast_to(bound, self._shape)
        for each, values in parts.items():
            self._parts[each].append(values[:, finite])

    def rows(self) -> Rows:
        """Return the rows."""
        return Rows(self._kind, tuple(self._names), np.array(self._coordinates, dtype=int),
                    **{name: np.hstack(values) if values else np.zeros((self._shape[0], 0))
                       for name, values in self._parts.items()})
