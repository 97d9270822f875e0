# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The grid on which the speed along a path is a spline, and its values there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_banded

from liedyn_ros.common.checks import Array


class Speed(NamedTuple):
    """z = pdot^2 and its derivatives by p, at some places."""

    z: Array
    dz: Array
    ddz: Array

    @property
    def root(self) -> Array:
        """Return pdot."""
        return np.sqrt(self.z)


class Grid:
    """
    Quadratic splines z(p) in N intervals of p from 0 to 1, with one continuous derivative (15.7).

    intervals is N, of one length, or their ends (N + 1,). Unknowns are N + 2 coefficients. fine
    (2 N + 1,) are the ends and middles of intervals. Limits hold at the three of each, so that
    each end has the second derivatives of both sides: places (3 N,) of fine.
    """

    def __init__(self, intervals: int | Array) -> None:
        """Lay out the places."""
        self.ends: Array = np.asarray(np.linspace(0.0, 1.0, intervals + 1)
                                      if isinstance(intervals, int) else intervals)
        self.intervals, self.unknowns = len(self.ends) - 1, len(self.ends) + 1
        self._widths: Array = np.diff(self.ends)
        self._before = np.append(0.0, self._widths)  # of each end; none before the first
        self._around = self._before + np.append(self._widths, 0.0)
        self.fine = self.split(2)
        self.places = (2 * np.arange(self.intervals)[:, None] + np.arange(3)).ravel()

    def at_ends(self, unknowns: Array) -> Speed:
        """Return the speed at the ends of intervals (N + 1,), second derivatives (N,) of each."""
        dz = 2.0 * np.diff(unknowns) / self._around
        return Speed(unknowns[:-1] + 0.5 * self._before * dz, dz, np.diff(dz) / self._widths)

    def evaluate(self, unknowns: Array, p: Array) -> tuple[Array, Array, Array]:
        """Return z and its derivatives at any p (K,)."""
        at = np.clip(np.searchsorted(self.ends, p, side='right') - 1, 0, self.intervals - 1)
        s: Array = p - self.ends[at]
        z, dz, ddz = (each[at] for each in self.at_ends(unknowns))
        return z + s * (dz + 0.5 * s * ddz), dz + s * ddz, ddz

    def split(self, parts: int) -> Array:
        """Return the ends of so many equal parts of each interval."""
        count = parts * self.intervals
        return np.interp(np.arange(count + 1) / parts, np.arange(self.intervals + 1), self.ends)

    def refine(self, coarse: Grid, unknowns: Array, start: float = 0.0) -> Array:
        """
        Return the unknowns of a spline of a coarser grid whose knots are here too.

        Where this is a grid of its rest from a start on, p and z are by the rest (15.18).
        """
        places = np.concatenate([[0.0], self.fine[1::2], [1.0]])  # of Greville, one an unknown
        z, *_ = coarse.evaluate(unknowns, start + (1.0 - start) * places)
        matrix = np.zeros((3, self.unknowns))  # its diagonals, upper first
        matrix[1, [0, -1]] = 1.0
        for column, values in enumerate(self.bands()[0][1::3].T):
            matrix[2 - column, column:column + self.intervals] = values
        return np.asarray(solve_banded((1, 1), matrix, z)) / (1.0 - start)**2

    def bands(self) -> list[Array]:
        """Return the weights of an interval's unknowns in z, z' and z'' at places (3 N, 3)."""
        third = np.arange(3)
        every = np.equal.outer(third, np.arange(self.unknowns) % 3).astype(float)
        columns = (np.arange(len(self.places))[:, None] // 3 + third) % 3
        return [np.take_along_axis(np.stack(values, axis=1), columns, axis=1)
                for values in zip(*map(self.at_places, every))]  # each third unknown by itself

    def at_fine(self, unknowns: Array) -> Speed:
        """Return the speed at the fine grid, without second derivatives."""
        z, dz, ddz = self.at_ends(unknowns)
        half: Array = 0.5 * self._widths
        fine = Speed(*np.zeros((3, len(self.fine))))
        fine.z[::2], fine.dz[::2] = z, dz
        fine.z[1::2] = z[:-1] + half * (dz[:-1] + 0.5 * half * ddz)
        fine.dz[1::2] = (dz[:-1] + dz[1:]) / 2.0
        return fine

    def at_places(self, unknowns: Array) -> Speed:
        """Return the speed at the places of limits."""
        z, dz, _ = self.at_fine(unknowns)
        return Speed(z[self.places], dz[self.places], np.repeat(self.at_ends(unknowns).ddz, 3))

    @property
    def weights(self) -> Array:
        """Return the weights of the trapezoid rule at the ends of intervals, (N + 1,)."""
        steps = np.diff(self.ends, prepend=0.0, append=1.0)
        return np.asarray(steps[:-1] + steps[1:]) / 2.0
