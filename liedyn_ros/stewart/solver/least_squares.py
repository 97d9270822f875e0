# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Weighted least squares of redundant lengths, with what the residual says."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank
from liedyn_ros.stewart.solver.kernels import biases, problem
from liedyn_ros.stewart.solver.kernels import least_squares as kernels

DEFAULT_ITERATIONS = 50
DEFAULT_STEP_TOLERANCE = 1e-11  # of a step, rad and characteristic lengths
AT_REST = np.zeros(6)  # a twist


class LengthFit(NamedTuple):
    """
    The residual of redundant lengths at the pose of least squares, and the biases it implies.

    residuals: (n,), readings less those of the pose, m or rad. chi_square: the sum of their
    squares over the variances, of n - 6 degrees of freedom. Where the noise is not known, it is in
    m^2, of cranks at their pins. deviations: (n,), of the readings, m or rad, by which they were
    weighted. redundancies: (n,), share of a leg's error that its own residual shows, of a sum of n
    - 6. covariance: (6, 6) of the pose in body coordinates, rad and m, by these deviations
    (14.70); None where the legs used leave the pose open.

    >>> wires = ld.load_geometry(config_file('stewart_cable_robot.yaml'))
    >>> found = ld.PoseSolver(wires).solve(leg_lengths(wires, wires.home), wires.home)
    >>> found.fit.residuals.shape
    (8,)
    """

    residuals: Array
    chi_square: float
    deviations: Array
    redundancies: Array
    covariance: Array | None


class LeastSquares:
    """Solves poses of redundant lengths, weighted by their noise; owns its workspace."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry; its noise weights the legs, else their drives' ends count alike."""
        self.geometry = geometry
        n = len(geometry.leg_names)
        self.weights = geometry.weights
        self.deviations = self.weights ** -0.5
        self._scale = geometry.characteristic_length
        self._table = geometry.table(self._scale)
        cranks = np.array([isinstance(leg, Crank) for leg in geometry.leg_types])
        self._units = np.where(cranks, 1.0, self._scale)
        self._turns = np.where(cranks, 2.0 * math.pi, 0.0)
        self.values, self.rows, self.errors = np.empty(n), np.empty(6 * n), np.empty(n)
        self.residuals, self.redundancies = np.empty(n), np.empty(n)
        self._poses, self._others = np.empty((n, 4, 4)), np.empty((n, biases.NUMBERS_OF_LEG))
        self._space = (np.empty(n), np.empty(6 * n), np.empty(n), np.empty(kernels.SYSTEM),
                       np.empty(n), np.empty((4, 4)))
        self._columns = np.array([1.0] * 3 + [self._scale] * 3)  # of J by rad and m
        self._system = np.empty(kernels.SYSTEM)

    def without(self, legs: ArrayLike) -> Array:
        """Return the weights (n,) where some legs are left out; raises LimitError for too many."""
        weights = self.weights.copy()
        left_out = np.unique(np.asarray(legs, dtype=int))
        if len(left_out) > len(weights) - 6 or not all(
                0 <= leg < len(weights) for leg in left_out):
            raise LimitError(f'without: expected at most {len(weights) - 6} of {len(weights)} '
                             f'legs, got {left_out.tolist()}')
        weights[left_out] = 0.0
        return weights

    def solve_checked(
            self, lengths: Array, guess: Array, weights: Array, twist: Array = AT_REST,
            seconds: float = 0.0) -> tuple[Array, int, int, float]:
        """
        Return pose, status, iterations and sum of weighted squares, for a hot loop.

        Nothing is checked. The guess is moved on for a time (s) at a body twist (6,). What the
        pose leaves is in `values`, `rows` (of J, in units of the scale) and `errors`.
        """
        pose = np.empty((4, 4))
        status, iterations, square = kernels.weighted_levenberg_marquardt(
            self._table, self._scale, self._units, self._turns, lengths, weights, guess, twist,
            seconds, DEFAULT_ITERATIONS, DEFAULT_STEP_TOLERANCE, pose, self.values, self.rows,
            self.errors, self._system)
        if status == problem.INVALID:
            status = problem.STALLED  # no rod reaches, or lengths that are no numbers
        return pose, status, iterations, square

    def project(self) -> float:
        """Write the residuals of all legs at the last pose; return their square (14.71)."""
        return float(biases.write_residuals(
            self.weights, self.rows, self.errors, self._system, self.residuals,
            self.redundancies))

    def leave_one_out(
            self, lengths: Array, pose: Array, twist: Array, seconds: float,
            started: bool, doubtful: bool) -> Array:
        """
        Return how the others agree without each leg (n, NUMBERS_OF_LEG), as in biases (14.72).

        pose: (4, 4), m, of all legs. If started, the poses of the others are searched near those
        of the sample before, moved on for a time (s) at a body twist (6,). If doubtful, also near
        the pose of all legs, and the better one counts.
        """
        biases.leave_one_out(
            self._table, self._scale, self._units, self._turns, lengths, self.weights, pose,
            twist, seconds, DEFAULT_ITERATIONS, DEFAULT_STEP_TOLERANCE, self._poses, started,
            doubtful, self._others, *self._space)
        return self._others

    def pose_without(self, leg: int) -> Array:
        """Return the pose (4, 4), m, of the others that `leave_one_out` found."""
        return np.array(self._poses[leg])

    def jacobian(self) -> Array:
        """Return d(reading)/d(body twist) at the last pose, (n, 6), by rad and m."""
        return np.asarray(self.rows.reshape(-1, 6) / self._columns)

    def covariance(self, weights: Array) -> Array | None:
        """Return the last pose's covariance, (6, 6), for weights (n,), None where singular."""
        covariance = np.empty((6, 6))
        if not kernels.write_covariance(
                self._scale, weights, self.rows, self.errors, self._system, covariance):
            return None
        return covariance
