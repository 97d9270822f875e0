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

    Their unknowns are N + 2 coefficients. fine (2 N + 1,) are the ends and middles of intervals.
    Limits hold at the three of each interval, so that each end has the second derivatives of both
    sides: places (3 N,) of fine.
    """

    def __init__(self, intervals: int) -> None:
        """Lay out the matrices from coefficients to values."""
        knots = np.concatenate([[0.0] * 2, np.linspace(0.0, 1.0, intervals + 1), [1.0] * 2])
        self.intervals, self.unknowns = intervals, intervals + 2
        self._basis = BSpline(knots, np.eye(self.unknowns), 2)
        self.fine: Array = np.arange(2 * intervals + 1) / (2 * intervals)
        self.places = (2 * np.arange(intervals)[:, None] + np.arange(3)).ravel()
        middles = np.repeat(self.fine[1::2], 3)
        self.value, self.slope = (sparse.csr_matrix(each) for each in self.matrices(self.fine)[:2])
        self.curvature = sparse.csr_matrix(self.matrices(middles)[2])  # by places

    def evaluate(self, unknowns: Array, p: Array) -> tuple[Array, Array, Array]:
        """Return z and its derivatives at any p (K,)."""
        at = np.clip((p * self.intervals).astype(int), 0, self.intervals - 1)
        s: Array = p - at / self.intervals
        z, dz = (self.value @ unknowns)[2 * at], (self.slope @ unknowns)[2 * at]
        ddz: Array = (self.curvature @ unknowns)[3 * at]
        return z + s * (dz + 0.5 * s * ddz), dz + s * ddz, ddz

    def refine(self, coarse: Grid, unknowns: Array) -> Array:
        """Return the unknowns of a spline of a coarser grid whose knots are here too."""
        knots = self._basis.t
        places = (knots[1:-2] + knots[2:-1]) / 2.0  # of Greville, one an unknown
        result: Array = np.linalg.solve(self._basis(places), coarse.evaluate(unknowns, places)[0])
        return result

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
        weights = np.full(self.intervals + 1, 1.0 / self.intervals)
        weights[[0, -1]] /= 2.0
        return weights
