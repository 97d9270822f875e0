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
from scipy.linalg import qr

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ShapeError

HUBER = 1.345  # scales, from which on a residual counts less (16.21)
ROUNDS = 20
SETTLED = 1e-3  # of a standard deviation
UNSEEN = 1e-9  # of the largest singular value of normalised columns
_MAD = 1.4826
_LEAST_SCALE = 1e-12  # of the forces: residuals of clean data are rounding


@dataclass(frozen=True, eq=False)
class Fit:
    """
    The unknowns x (p,) of a least-squares problem and their covariance (p, p).

    weight (f,) are the square roots of the rows' weights: one over the standard deviation of an
    independent sample, N m or N. samples (f,) is the number of independent samples, n_eff.
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


def robust_fit(rows: Array, forces: Array) -> Fit:
    """
    Return the fit of rows (K, f, p) x = forces (K, f), with Huber's weights by reweighting.

    The weight of a joint comes from its residuals: their variance, and their correlation over
    time, by which n samples count as n_eff (16.18). Raises ShapeError for too few samples.
    """
    count, joints, unknowns = rows.shape
    if count * joints < 2 * unknowns:
        raise ShapeError(f'recording: expected at least {2 * unknowns} independent samples for '
                         f'{unknowns} unknowns, got {count * joints}')
    size = np.sqrt(np.mean(rows**2, axis=(0, 1)))
    size[size <= UNSEEN * size.max(initial=0.0)] = np.inf  # (16.30)
    scaled = rows / size
    weight, huber = np.ones(joints), np.ones((count, joints))
    least = _LEAST_SCALE * max(np.abs(forces).max(initial=0.0), 1e-300)
    x: Array = np.full(unknowns, np.inf)
    for _ in range(ROUNDS):
        before = x
        x, root, _ = _solve(scaled, forces, weight, np.sqrt(huber))
        residuals = forces - scaled @ x
        middle = np.maximum(_MAD * np.median(np.abs(residuals), axis=0), least)
        huber = np.minimum(1.0, HUBER * middle / np.maximum(np.abs(residuals), least))
        share = weight**2 * ((scaled @ root)**2).sum(axis=(0, 2))  # unknowns by joint
        psi = huber * residuals
        variance = np.maximum(
            (psi**2).sum(axis=0) / np.maximum(count - share, 1.0)
            / np.mean(huber == 1.0, axis=0)**2, least**2)
        samples = count / np.array([_repetition(each) for each in psi.T])
        weight = np.sqrt(samples / (count * variance))
        if np.abs((x - before) / np.maximum(np.linalg.norm(root, axis=1), 1e-300)).max(
                initial=0.0) < SETTLED:
            break
    _, root, unseen = _solve(scaled, forces, weight, np.ones_like(huber))
    inverse = root @ root.T
    return Fit(x / size, inverse / np.outer(size, size), weight, samples, huber, unseen)


def reduced(rows: Array, forces: Array, fit: Fit) -> tuple[Array, Array]:
    """Return R (p + 1, p) and z (p + 1,): |R x - z|^2 is the weighted sum of squares (16.22)."""
    by = (fit.weight * np.sqrt(fit.huber))[..., None]
    stacked = np.concatenate([by * rows, by * forces[..., None]], axis=2)
    triangle = _triangle(stacked.reshape(-1, stacked.shape[2]))
    return triangle[:, :-1], triangle[:, -1]


def _solve(rows: Array, forces: Array, weight: Array, huber: Array
           ) -> tuple[Array, Array, Array]:
    """Return x, V with V V^T = (Z^T W Z)^-1, and the unseen directions, by an SVD."""
    by = weight * huber
    matrix = (by[..., None] * rows).reshape(-1, rows.shape[2])
    triangle = _triangle(np.column_stack([matrix, (by * forces).ravel()]))
    u, values, vt = np.linalg.svd(triangle[:, :-1], full_matrices=False)
    seen = values > UNSEEN * values.max(initial=0.0)
    v = vt[seen].T / values[seen]
    return v @ (u[:, seen].T @ triangle[:, -1]), v, vt[~seen].T


def _triangle(matrix: Array) -> Array:
    return np.asarray(qr(matrix, mode='r', check_finite=False)[0])[:matrix.shape[1]]


def _repetition(residuals: Array) -> float:
    """Return 1 + 2 sum rho_k up to the first negative rho_k, at least 1 (16.18)."""
    count = len(residuals)
    spectrum = np.fft.rfft(residuals, 2 * count)
    correlation = np.fft.irfft(np.abs(spectrum)**2)[:count]
    if correlation[0] == 0.0:
        return 1.0
    rho = correlation / correlation[0]
    end = int(np.argmax(rho < 0.0)) if (rho < 0.0).any() else count
    return max(1.0, 1.0 + 2.0 * float(rho[1:end].sum()))
