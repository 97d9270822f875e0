# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Least squares of a calibration, robust against wrong poses, with its covariance.

Levenberg-Marquardt (scipy, MINPACK) with analytic derivatives. A pose is weighted as a whole:
one wrong reading or measurement shows in all the equations of its pose.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import least_squares
from scipy.special import chdtri, gammaincinv

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LimitError

FOLDS = 5  # of poses, each held out once
GAIN_DEVIATIONS = 2.0  # deviations of the mean gain, by which the new geometry has to be better
MAX_VARIANCE_SHARE = 0.25  # of the variance before: above it a combination was hardly measured
ERROR_CHANCE = 1e-3  # chance that right deviations give such errors
CLEAN_VARIANCE = 1e-10  # of errors of clean samples, by the assumed deviations
MAX_WEIGHT_ROUNDS = 10  # of weights
TAIL_CHANCE = 0.05  # of right poses, beyond which an error counts linearly
REJECTION_CHANCE = 0.01  # that a pose is left out though all are right
# Of MINPACK, relative: of the result, and of what is far from it in deviations anyway, as
# rounds of weights and fits without some poses.
FIT_TOLERANCE, ROUGH_TOLERANCE = 1e-10, 1e-6
DEVIATION_TOLERANCE = 1e-4  # of a deviation before the calibration: change of a round


class LinearizedErrors(NamedTuple):
    """Errors (n, d) of n poses in deviations, and their derivatives (n, d, size) by z."""

    errors: Array
    derivatives: Array


class FitProblem(Protocol):
    """
    The equations of a calibration.

    prior (size,): deviations of the numbers z before it. settled (n,): whether the last call
    found the pose of a sample; a wrong one may have none.
    """

    settled: NDArray[np.bool_]

    @property
    def prior(self) -> Array:
        """Return the deviations (size,) before."""

    def at(self, z: Array) -> LinearizedErrors:
        """Return the equations at z (size,)."""


class CalibrationFit(NamedTuple):
    """
    A solution.

    z: (size,), the numbers. used: (n,), whether a pose was used. errors: (n, d), in deviations, of
    all poses. factor: the variance of the errors of used poses, 1 where the deviations are right.
    degrees: equations less numbers found. root: (size, size), upper triangle R of the QR
    factorization of the used equations' derivatives: R^T R is the information, without the prior.
    """

    z: Array
    used: NDArray[np.bool_]
    errors: Array
    factor: float
    degrees: float
    root: Array

    def scaled_covariance(self, factor: float, prior: Array) -> Array:
        """Return the covariance where the errors have the variance given, the prior its own."""
        inverse = _inverse_root(self.root / factor ** 0.5, prior)
        return np.asarray(inverse @ inverse.T)


def fit(problem: FitProblem, start: Array, least: float,
        trusted: NDArray[np.bool_]) -> CalibrationFit:
    """
    Return the numbers that explain the samples best, wrong poses left out.

    start: (size,), where the search begins. least: variance of an error that is none: 1 where the
    deviations are given. trusted: (n,), the poses with which it begins. A pose that meets no
    readings and measurements is a wrong one. Raises ConvergenceError where most are.
    """
    free = np.ones(len(start), dtype=bool)
    z, d = _bounded(problem, start, free, least, trusted), problem.at(start).errors.shape[1]
    used: NDArray[np.bool_] = np.ones(len(problem.settled), dtype=bool)
    for _ in range(MAX_WEIGHT_ROUNDS):
        squares = (problem.at(z).errors ** 2).sum(axis=1)
        now = problem.settled & (
            squares <= _variance(squares, d, least) * chdtri(d, REJECTION_CHANCE / len(squares)))
        z = _least_squares(problem, z, now.astype(float), free)
        if (now == used).all():
            break
        used = now
    at = problem.at(z)
    used = used & problem.settled
    if used.mean() < 0.5:
        worst = int(np.argmin(problem.settled))
        raise ConvergenceError(f'sample {worst + 1}: expected a pose that meets its readings and '
                               'measurements, got none: check its row, and the units')
    return _result(at, z, used, problem.prior)


def refit(problem: FitProblem, start: Array, free: NDArray[np.bool_]) -> Array:
    """Return the numbers (size,) that explain samples best of which none is wrong."""
    return _least_squares(problem, start, np.ones(len(problem.settled)), free, ROUGH_TOLERANCE)


def _bounded(
        problem: FitProblem, start: Array, free: NDArray[np.bool_], least: float,
        trusted: NDArray[np.bool_]) -> Array:
    """Return the numbers (size,) where great errors of a pose count linearly (Huber)."""
    z, weights = start, trusted.astype(float)
    for _ in range(MAX_WEIGHT_ROUNDS):
        last, z = z, _least_squares(problem, z, weights, free, ROUGH_TOLERANCE)
        errors = problem.at(z).errors
        squares, d = (errors ** 2).sum(axis=1), errors.shape[1]
        bound = _variance(squares, d, least) * chdtri(d, TAIL_CHANCE)
        weights = np.minimum(1.0, bound / np.maximum(squares, 1e-300)) ** 0.25
        if np.abs(z - last).max() <= DEVIATION_TOLERANCE:
            break
    return z


def _variance(squares: Array, d: int, least: float) -> float:
    """Return the variance of an error, by the middle of the sums (n,) of d squares each."""
    return max(float(np.median(squares)) / (2.0 * float(gammaincinv(d / 2, 0.5))), least)


def _least_squares(
        problem: FitProblem, start: Array, weights: Array, free: NDArray[np.bool_],
        tolerance: float = FIT_TOLERANCE) -> Array:
    """Return the numbers z of the least squares with weights (n,) of the poses' errors."""
    prior, z = problem.prior, start.copy()

    def at(x: Array) -> LinearizedErrors:
        z[free] = x
        return problem.at(z)

    def errors(x: Array) -> Array:
        return np.concatenate(((weights[:, None] * at(x).errors).ravel(), z / prior))

    def derivatives(x: Array) -> Array:
        slopes = weights[:, None, None] * at(x).derivatives
        rows = np.concatenate((slopes.reshape(-1, len(z)), np.diag(1.0 / prior)))
        return np.asarray(rows[:, free])
    found = least_squares(errors, start[free], derivatives, method='lm', x_scale='jac',
                          xtol=tolerance, ftol=tolerance, gtol=tolerance)
    if not found.success:
        raise ConvergenceError(
            'calibration: expected samples that errors of the geometry explain, got a search '
            'without an end: check units, the order of the readings, and wrong samples')
    z[free] = found.x
    return z


def _result(at: LinearizedErrors, z: Array, used: NDArray[np.bool_], prior: Array
            ) -> CalibrationFit:
    """Return the solution with its statistics."""
    rows = at.derivatives[used].reshape(-1, len(z))
    if not np.isfinite(rows).all():
        raise ConvergenceError('calibration: expected poses that one assembly explains, got a '
                               'search that ended far from all of them')
    root = np.zeros((len(z), len(z)))
    found = np.linalg.qr(rows, 'r')
    root[:len(found)] = found
    # Numbers that the prior alone holds take no degree of freedom.
    taken = float(((root @ _inverse_root(root, prior)) ** 2).sum())
    degrees = max(at.errors[used].size - taken, 1.0)
    factor = float((at.errors[used] ** 2).sum()) / degrees
    return CalibrationFit(z, used, at.errors, factor, degrees, root)


def _inverse_root(root: Array, prior: Array) -> Array:
    """
    Return X (size, size), where X X^T is the covariance of equations by their root and a prior.

    Numbers that the prior alone holds, as the turn of a cable's anchor, leave the information
    without half of its digits and more; the stacked rows keep them.
    """
    rows = np.concatenate((root, np.diag(1.0 / prior)))
    sizes = 1.0 / np.maximum(np.linalg.norm(rows, axis=0), 1e-150)
    return np.asarray(sizes[:, None] * solve_triangular(
        np.linalg.qr(rows * sizes, 'r'), np.eye(len(prior))))


def require_different(name: str, rows: Array) -> None:
    """Refuse a sample, a row, that is there twice: held out of a fit, it would still be in it."""
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    if (counts > 1).any():
        same = np.flatnonzero((rows == rows[first[counts > 1][0]]).all(axis=1)) + 1
        raise LimitError(f'{name}: expected each once, got the same numbers as {name} '
                         f'{", ".join(map(str, same.tolist()))}')
