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
from scipy.interpolate import BSpline
import scipy.sparse as sparse

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
        """Lay out the matrices from coefficients to values."""
        self.ends: Array = np.asarray(np.linspace(0.0, 1.0, intervals + 1)
                                      if isinstance(intervals, int) else intervals)
        knots = np.concatenate([[0.0] * 2, self.ends, [1.0] * 2])
        self.intervals, self.unknowns = len(self.ends) - 1, len(self.ends) + 1
        self._basis = BSpline(knots, np.eye(self.unknowns), 2)
        self.fine = self.split(2)
        self.places = (2 * np.arange(self.intervals)[:, None] + np.arange(3)).ravel()
        middles = np.repeat(self.fine[1::2], 3)
        self.value, self.slope = (sparse.csr_matrix(each) for each in self.matrices(self.fine)[:2])
        self.curvature = sparse.csr_matrix(self.matrices(middles)[2])  # by places

    def evaluate(self, unknowns: Array, p: Array) -> tuple[Array, Array, Array]:
        """Return z and its derivatives at any p (K,)."""
        at = np.clip(np.searchsorted(self.ends, p, side='right') - 1, 0, self.intervals - 1)
        s: Array = p - self.ends[at]
        z, dz = (self.value @ unknowns)[2 * at], (self.slope @ unknowns)[2 * at]
        ddz: Array = (self.curvature @ unknowns)[3 * at]
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
        knots = self._basis.t
        places = (knots[1:-2] + knots[2:-1]) / 2.0  # of Greville, one an unknown
        z, *_ = coarse.evaluate(unknowns, start + (1.0 - start) * places)
        return np.asarray(np.linalg.solve(self._basis(places), z)) / (1.0 - start)**2

    def matrices(self, p: Array) -> list[Array]:
        """Return those (3, K, N + 2) from the unknowns to z and its derivatives at p (K,)."""
        return [self._basis(p), self._basis.derivative(1)(p), self._basis.derivative(2)(p)]

    def at_fine(self, unknowns: Array) -> Speed:
        """Return the speed at the fine grid, without second derivatives."""
        return Speed(self.value @ unknowns, self.slope @ unknowns, np.zeros(len(self.fine)))

    def at_places(self, unknowns: Array) -> Speed:
        """Return the speed at the places of limits."""
        return Speed((self.value @ unknowns)[self.places], (self.slope @ unknowns)[self.places],
                     self.curvature @ unknowns)

    @property
    def weights(self) -> Array:
        """Return those (N + 1,) of the trapezoid rule at the ends of intervals."""
        steps = np.diff(self.ends, prepend=0.0, append=1.0)
        return np.asarray(steps[:-1] + steps[1:]) / 2.0
