# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Robust weighted least squares, whose covariance knows that residuals are coloured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len
from scipy.linalg import qr, solve_triangular

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ShapeError

HUBER = 1.345  # scales, from which on a residual counts less (16.21)
MAX_ROUNDS = 60
STEP_TOLERANCE = 1e-2  # length of a step in standard deviations
RANK_TOLERANCE = 1e-9  # of the largest singular value of normalised columns
_MAD = 1.4826
_NEAR = 0.3  # length of a step, from which on independent samples are counted no more
_DEPTH = 3  # steps from which the next is extrapolated
_LEAST_SCALE = 1e-12  # of the forces: residuals of clean data are rounding


@dataclass(frozen=True, eq=False)
class RobustFit:
    """
    The unknowns x (p,) of a least-squares problem and their covariance (p, p).

    weight (f,) are the square roots of the rows' weights: one over the standard deviation of a
    row, N m or N, and all in one proportion such that as many rows count as are independent.
    samples (f,) is the number of independent samples, n_eff.
    huber (K, f) is the weight of each sample by its residual. unseen (p, u) are directions of x
    that the data do not tell; x has no part along them, and the covariance is that of the rest.
    """

    x: Array
    covariance: Array
    weight: Array
    samples: Array
    huber: Array
    unseen: Array

    @property
    def deviations(self) -> Array:
        """Return the standard deviation of each unknown, infinite if the data do not tell it."""
        blind = np.abs(self.unseen).max(axis=1, initial=0.0) > 1e-6
        return np.where(blind, np.inf, np.sqrt(np.diag(self.covariance)))

    @property
    def freedom(self) -> float:
        """Return the degrees of freedom of Student's t (16.18)."""
        return max(1.0, float(self.samples.sum()) - len(self.x))


def robust_fit(rows: Array, forces: Array) -> RobustFit:
    """
    Return the fit of rows (K, f, p) x = forces (K, f), with Huber's weights by reweighting.

    The weight of a joint comes from the variance of its residuals. Their correlation over time,
    by which n samples count as n_eff (16.18), is in the covariance alone: as a weight it gives
    up a joint of which the model lacks something. Raises ShapeError for too few samples.
    """
    count, joints, unknowns = rows.shape
    if count * joints < 2 * unknowns:
        raise ShapeError(f'recording: expected at least {2 * unknowns} independent samples for '
                         f'{unknowns} unknowns, got {count * joints}')
    size = np.sqrt(np.mean(rows**2, axis=(0, 1)))
    size[size <= RANK_TOLERANCE * size.max(initial=0.0)] = np.inf  # (16.30)
    scaled, problem = rows / size, _Problem(rows / size, forces)
    moved = scaled.any(axis=(0, 2)) | (not scaled.any())
    weight, huber = np.ones(joints), np.ones((count, joints))
    least = _LEAST_SCALE * max(np.abs(forces).max(initial=0.0), 1e-300)
    y, newton, path = problem.start, problem.factor(weight), _Path()
    known = weight  # by which newton was made
    x, length = problem.basis @ y, np.inf
    samples: Array = np.full(joints, float(count))
    for _ in range(MAX_ROUNDS):
        residuals = forces - scaled @ x
        middle = np.maximum(_MAD * np.median(np.abs(residuals), axis=0), least)
        huber = np.minimum(1.0, HUBER * middle / np.maximum(np.abs(residuals), least))
        psi, inside = huber * residuals, np.mean(huber == 1.0, axis=0)
        square = (psi**2).sum(axis=0)
        variance = np.maximum(square / np.maximum(
            count - problem.shares(known, newton), 1.0) / inside**2, least**2)
        if length > _NEAR:  # their number jumps, and would keep an iteration from settling
            samples = count / np.where(square > count * least**2, repetition(psi), 1.0)
        weight = np.sqrt(samples[moved].mean() / (count * variance))
        # A step of Newton's, whose matrix has the mean share of samples that are no outliers.
        known = weight * np.sqrt(inside)
        newton = problem.factor(known)
        down = problem.basis.T @ np.tensordot(weight**2 * psi, scaled, 2)
        step = solve_triangular(newton, solve_triangular(newton, down, trans='T'))
        length = float(np.linalg.norm(newton @ step))
        if length < STEP_TOLERANCE:
            break
        y = y + path.extrapolated(y, step, newton)
        x = problem.basis @ y
    factor = problem.factor(weight)
    root = solve_triangular(factor, np.eye(len(factor)))
    # The sandwich (16.19): joints whose errors last longer say less than their weight says. The
    # fit took its unknowns out of the slow part of the errors, which has n_eff numbers.
    left = np.maximum(samples - problem.shares(weight, factor), 1.0)
    noise = problem.factor(weight**2 * np.sqrt(count * variance / left)) @ root @ root.T
    spread = noise @ problem.basis.T
    return RobustFit(x / size, spread.T @ spread / np.outer(size, size), weight, samples, huber,
                     problem.unseen)


class _Problem:
    """
    Rows (K, f, p) of normalised columns, and their triangles joint by joint.

    basis (p, r) spans what the rows see, so that rows times it are orthonormal; unseen (p, u) are
    the other directions. start (r,) is the fit of equal weights, in that basis.
    """

    def __init__(self, rows: Array, forces: Array) -> None:
        """Reduce each joint."""
        triangles = _triangles(rows, forces)
        whole = triangle_of(np.concatenate(triangles))
        u, values, vt = np.linalg.svd(whole[:, :-1], full_matrices=False)
        seen = values > RANK_TOLERANCE * values.max(initial=0.0)
        self.basis, self.unseen = vt[seen].T / values[seen], vt[~seen].T
        self.start: Array = u[:, seen].T @ whole[:, -1]
        self._parts = np.concatenate(triangles)[:, :-1] @ self.basis
        self._counts = np.array([len(each) for each in triangles])

    def factor(self, weight: Array) -> Array:
        """Return R (r, r), upper triangular: R^T R is the weighted sum of squares of joints."""
        return triangle_of(np.repeat(weight, self._counts)[:, None] * self._parts)

    def shares(self, weight: Array, factor: Array) -> Array:
        """Return how many unknowns each joint (f,) decides, by the factor of these weights."""
        rows = solve_triangular(factor, self._parts.T, trans='T', check_finite=False)
        starts = np.cumsum(self._counts) - self._counts
        return weight**2 * np.add.reduceat((rows**2).sum(axis=0), starts)


class _Path:
    """
    The steps of an iteration, as weights of joints depend on the residuals that they leave.

    That converges slowly, at a rate of 0.8 or so. Steps are extrapolated from the last ones
    (Anderson 1965), in the metric of deviations.
    """

    def __init__(self) -> None:
        """Begin."""
        self._places: list[Array] = []
        self._steps: list[Array] = []

    def extrapolated(self, place: Array, step: Array, factor: Array) -> Array:
        """Return the step (r,) to take from a place (r,) instead of the given one."""
        self._places, self._steps = [*self._places[-_DEPTH:], place], [
            *self._steps[-_DEPTH:], step]
        if len(self._steps) < 2:
            return step
        moved, changed = (np.diff(each, axis=0).T for each in (self._places, self._steps))
        by = np.linalg.lstsq(factor @ changed, factor @ step, rcond=None)[0]
        return step - (moved + changed) @ by


def reduced(rows: Array, forces: Array, fit: RobustFit) -> tuple[Array, Array]:
    """Return R (p + 1, p) and z (p + 1,): |R x - z|^2 is the weighted sum of squares (16.22)."""
    by = fit.weight * np.sqrt(fit.huber)
    triangle = triangle_of(np.concatenate(_triangles(by[..., None] * rows, by * forces)))
    return triangle[:, :-1], triangle[:, -1]


def _triangles(rows: Array, forces: Array) -> list[Array]:
    """Return R (n, p + 1) of the rows and forces of each joint, most of whose columns are 0."""
    found: list[Array] = []
    for j, target in enumerate(forces.T):
        matrix = np.column_stack([rows[:, j], target])
        felt = matrix.any(axis=0)
        triangle = triangle_of(matrix[:, felt]) if felt.any() else np.zeros((1, 0))
        whole = np.zeros((len(triangle), matrix.shape[1]))
        whole[:, felt] = triangle
        found.append(whole)
    return found


def triangle_of(matrix: Array) -> Array:
    return np.asarray(qr(matrix, mode='r', check_finite=False)[0])[:matrix.shape[1]]


def repetition(residuals: Array) -> Array:
    """Return 1 + 2 sum rho_k (f,) up to the first negative rho_k, at least 1 (16.18)."""
    count = len(residuals)
    length = next_fast_len(2 * count, real=True)
    spectrum = np.fft.rfft(residuals, length, axis=0)
    correlation = np.fft.irfft(np.abs(spectrum)**2, length, axis=0)[:count]
    rho = correlation / np.maximum(correlation[0], 1e-300)
    rho[0] = 0.0
    rho[np.maximum.accumulate(rho < 0.0, axis=0)] = 0.0
    return np.maximum(1.0, 1.0 + 2.0 * rho.sum(axis=0))
