# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Robust weighted least squares, whose covariance knows that residuals are coloured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len
from scipy.linalg import qr, solve_triangular

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ShapeError

HUBER = 1.345  # scales, from which on a residual counts less (16.21)
MAX_FIT_ROUNDS = 60
FIT_STEP_DEVIATIONS = 1e-2  # length of a step in standard deviations
COLUMN_RANK_TOLERANCE = 1e-9  # of the largest singular value of normalised columns
_MAD = 1.4826
# Length of a step, from which on independent samples are counted no more
_LONG_STEP = 0.3
OWN_SAMPLES = 3.0  # for each unknown of a joint, as for all (16.33)
_SPREAD = float(np.sqrt(np.finfo(float).eps))  # of variances, whose sums keep half their digits
_LEAST_SCALE = 1e-12  # of the forces: residuals of clean data are rounding


@dataclass(frozen=True, eq=False)
class RobustFit:
    """
    The unknowns x (p,) of a least-squares problem and their covariance (p, p).

    weight (f,) are the square roots of the rows' weights: one over the standard deviation of a
    row, N m or N, and all in one proportion such that as many rows count as are independent.
    samples (f,) is the number of independent samples, n_eff. huber (K, f) is the weight of each
    sample by its residual. unseen (p, u) are directions of x that the data do not determine; x has
    no part along them, and the covariance is that of the rest.

    >>> fit = identify(rod.model, recording).estimate.plain
    >>> fit.covariance.shape == (len(fit.x), len(fit.x))
    True
    """

    x: Array
    covariance: Array
    weight: Array
    samples: Array
    huber: Array
    unseen: Array

    @property
    def deviations(self) -> Array:
        """Return the standard deviation of each unknown, infinite for undetermined ones."""
        blind = np.abs(self.unseen).max(axis=1, initial=0.0) > 1e-6
        return np.where(blind, np.inf, np.sqrt(np.diag(self.covariance)))

    @property
    def freedom(self) -> float:
        """Return the degrees of freedom of Student's t (16.18)."""
        return max(1.0, float(self.samples.sum()) - len(self.x))


def robust_fit(rows: Array, forces: Array) -> RobustFit:
    """
    Return the fit of rows (K, f, p) x = forces (K, f), with Huber's weights by reweighting.

    The weight of a joint comes from what a fit of that joint alone leaves (16.17), where each has
    samples enough: what all joints together leave of it has errors of the model too, and such a
    weight would give it up. So would one by the correlation of residuals over time, by which n
    samples count as n_eff (16.18): that is in the covariance alone. Raises ShapeError for too few
    samples.
    """
    count, joints, unknowns = rows.shape
    if count * joints < 2 * unknowns:
        raise ShapeError(f'recording: expected at least {2 * unknowns} independent samples for '
                         f'{unknowns} unknowns, got {count * joints}')
    size = np.sqrt(np.mean(rows**2, axis=(0, 1)))
    size[size <= COLUMN_RANK_TOLERANCE * size.max(initial=0.0)] = np.inf  # (16.30)
    scaled, problem = rows / size, _Problem(rows / size, forces)
    moved = scaled.any(axis=(0, 2)) | (not scaled.any())
    least = _LEAST_SCALE * max(np.abs(forces).max(initial=0.0), 1e-300)
    own = _own_variances(scaled, forces, problem.triangles, least)
    weight = np.ones(joints)
    y, factor = problem.start, problem.factor(weight)
    known = weight  # by which the factor was made
    x, length = problem.basis @ y, np.inf
    samples: Array = np.full(joints, float(count))
    for _ in range(MAX_FIT_ROUNDS):
        residuals = forces - scaled @ x
        huber, psi, variance = _bounded(residuals, problem.shares(known, factor), least)
        square = (psi**2).sum(axis=0)
        if length > _LONG_STEP:  # their number jumps, and would keep an iteration from settling
            samples = count / np.where(square > count * least**2, repetition(psi), 1.0)
        noise = variance if own is None else own
        noise = np.maximum(noise, _SPREAD * noise[moved].max())
        excess = np.mean((variance / noise)[moved])  # as the model's errors are no noise
        weight = np.sqrt(samples[moved].mean() / (count * excess * noise))
        known, factor = weight, problem.factor(weight)  # no step is too long by it (Huber 1981)
        down = problem.basis.T @ np.tensordot(weight**2 * psi, scaled, 2)
        step = solve_triangular(factor, solve_triangular(factor, down, trans='T'))
        length = float(np.linalg.norm(factor @ step))
        if length < FIT_STEP_DEVIATIONS:
            break
        y = y + step
        x = problem.basis @ y
    root = solve_triangular(factor, np.eye(len(factor)))
    # The sandwich (16.19): joints whose errors last longer say less than their weight says. The
    # fit took its unknowns out of the slow part of the errors, which has n_eff numbers.
    left = np.maximum(samples - problem.shares(weight, factor), 1.0)
    noise = problem.factor(weight**2 * np.sqrt(count * variance / left)) @ root @ root.T
    spread = noise @ problem.basis.T
    return RobustFit(x / size, spread.T @ spread / np.outer(size, size), weight, samples, huber,
                     problem.unseen)


def _bounded(residuals: Array, taken: Array | float, least: float) -> tuple[Array, Array, Array]:
    """
    Return Huber's weights of residuals (K, f), these times their weights, and variances (f,).

    taken (f,) is how many unknowns each joint decides, least the least scale, N m or N.
    """
    middle = np.maximum(_MAD * np.median(np.abs(residuals), axis=0), least)
    huber = np.minimum(1.0, HUBER * middle / np.maximum(np.abs(residuals), least))
    psi, inside = huber * residuals, np.mean(huber == 1.0, axis=0)
    return huber, psi, np.maximum((psi**2).sum(axis=0) / np.maximum(
        len(residuals) - taken, 1.0) / inside**2, least**2)


def _own_variances(rows: Array, forces: Array, triangles: Sequence[Array], least: float
                   ) -> Array | None:
    """
    Return the variances (f,) that fits of each joint alone leave, from its triangle.

    None where a joint has too few samples, of which it would fit the errors too, or no forces.
    """
    found = np.zeros(rows.shape[1])
    for j, triangle in enumerate(triangles):
        basis = rows[:, j] @ _directions(triangle[:, :-1])[0]
        rank, psi = basis.shape[1], forces[:, j:j + 1]
        if OWN_SAMPLES * rank > len(psi) or (rank and not psi.any()):
            return None
        left = psi
        for _ in range(MAX_FIT_ROUNDS):
            step = basis.T @ psi
            left = left - basis @ step
            _, psi, variance = _bounded(left, rank, least)
            if np.linalg.norm(step) < FIT_STEP_DEVIATIONS * np.sqrt(variance[0]):
                break
        found[j] = float(variance[0])
    return found


class _Problem:
    """
    Rows (K, f, p) of normalised columns, and their triangles joint by joint.

    basis (p, r) spans what the rows see, so that rows times it are orthonormal; unseen (p, u) are
    the other directions. start (r,) is the fit of equal weights, in that basis. triangles are
    those of the rows and forces of each joint, (n, p + 1).
    """

    def __init__(self, rows: Array, forces: Array) -> None:
        """Reduce each joint."""
        self.triangles = _triangles(rows, forces)
        whole = triangle_of(np.concatenate(self.triangles))
        self.basis, self.unseen = _directions(whole[:, :-1])
        self.start: Array = (whole[:, :-1] @ self.basis).T @ whole[:, -1]
        self._parts = np.concatenate(self.triangles)[:, :-1] @ self.basis
        self._counts = np.array([len(each) for each in self.triangles])

    def factor(self, weight: Array) -> Array:
        """Return R (r, r), upper triangular: R^T R is the weighted sum of squares of joints."""
        return triangle_of(np.repeat(weight, self._counts)[:, None] * self._parts)

    def shares(self, weight: Array, factor: Array) -> Array:
        """Return how many unknowns each joint (f,) decides, by the factor of these weights."""
        rows = solve_triangular(factor, self._parts.T, trans='T', check_finite=False)
        starts = np.cumsum(self._counts) - self._counts
        return weight**2 * np.add.reduceat((rows**2).sum(axis=0), starts)


def reduced(rows: Array, forces: Array, fit: RobustFit) -> tuple[Array, Array]:
    """Return R (p + 1, p) and z (p + 1,): |R x - z|^2 is the weighted sum of squares (16.22)."""
    by = fit.weight * np.sqrt(fit.huber)
    triangle = triangle_of(np.concatenate(_triangles(by[..., None] * rows, by * forces)))
    return triangle[:, :-1], triangle[:, -1]


def _directions(matrix: Array) -> tuple[Array, Array]:
    """Return a basis (p, r), by which a matrix (n, p) is orthonormal, and what it maps to 0."""
    _, values, vt = np.linalg.svd(matrix, full_matrices=len(matrix) < matrix.shape[1])
    seen = np.zeros(len(vt), dtype=bool)
    seen[:len(values)] = values > COLUMN_RANK_TOLERANCE * values.max(initial=0.0)
    return vt[seen].T / values[seen[:len(values)]], vt[~seen].T


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
