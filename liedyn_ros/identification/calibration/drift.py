# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Drift over the order of samples: how large it is, and a solution that counts it.

Errors of a kind, as of readings, are white noise and a part that is alike from sample to sample,
b_k = r b_(k-1) + noise; with r = 0 errors of the kind are white too, but larger than assumed. A
Kalman filter over the samples makes them white, where size and memory of b are given. A few
samples tell both badly, and a wrong size makes regions too small. So the solution is the mean over
a grid of both, by their restricted likelihoods (Harville 1974).
"""

from __future__ import annotations

from collections.abc import Mapping
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from liedyn_ros.common.checks import Array
from liedyn_ros.identification.calibration.fit import CalibrationFit, LinearizedErrors

# Deviations of an error; none is as likely as some
DRIFT_DEVIATIONS = 0.0, *(2.0**k for k in range(-2, 6))
WHITE_MEMORY = 1e-3  # samples, of which nothing is left at the next one
DRIFT_CHANCE = 1e-3  # chance of such a likelihood without a drift, below which one is said


class Drift(NamedTuple):
    """
    Part of the errors that is alike from sample to sample.

    kind: of which errors. size: its deviation over that of the white part. memory: samples over
    which it falls to 1/e, 0 where only the white part of the kind is larger than the others'.
    certain: whether chance hardly explains it.
    """

    kind: str
    size: float
    memory: float
    certain: bool


def with_drift(found: CalibrationFit, at: LinearizedErrors, prior: Array,
               effects: Mapping[str, Array], places: NDArray[np.int_]
               ) -> tuple[Drift, CalibrationFit]:
    """
    Return the most likely drift of the errors of a solution, and the solution that counts it.

    at are the equations of the samples used, at places (n,) of their order, prior (size,) the
    deviations before. effects (n, d, m) are the derivatives of errors by those of a kind, over
    their deviations.
    """
    columns = np.concatenate([at.errors[..., None], at.derivatives], axis=2)
    memories = WHITE_MEMORY, *2.0**np.arange(np.log2(len(places)))  # samples, from one to all
    grid = np.array(list(itertools.product(DRIFT_DEVIATIONS, memories)))
    count, size = len(grid), len(found.z)
    surprise, steps, inverses, factors = list[Array](), list[Array](), list[Array](), list[Array]()
    below = np.broadcast_to(np.column_stack([found.z / prior, np.diag(1.0 / prior)]), (
        count, size, size + 1))
    for each in effects.values():
        white, total = _whitened(columns, each, places, grid)
        rows = np.concatenate([white.reshape(count, -1, size + 1), below], axis=1)
        triangle: Array = np.asarray(np.linalg.qr(np.roll(rows, -1, axis=2), mode='r'))
        diagonal = np.abs(np.einsum('gii->gi', triangle))
        factor: Array = np.asarray(diagonal[:, size]**2 / found.degrees, dtype=np.float64)
        surprise.append(total + 2.0 * np.log(np.maximum(diagonal[:, :size], 1e-300)).sum(
            axis=1) + found.degrees * np.log(np.maximum(factor, 1e-300)))
        inverse: Array = np.asarray(np.linalg.inv(triangle[:, :size, :size]), np.float64)
        steps.append(-(inverse @ triangle[:, :size, size:])[..., 0])
        inverses.append(inverse)
        factors.append(factor)
    every = np.concatenate(surprise)
    best = int(every.argmin())
    share = np.exp(-0.5 * (every - every[best])) * np.where(
        np.tile(grid[:, 0], len(effects)) > 0.0, 1.0, len(DRIFT_DEVIATIONS) - 1.0)
    share /= share.sum()
    step, variance = np.concatenate(steps), float(share @ np.concatenate(factors))
    mean = share @ step
    off = (step - mean) * np.sqrt(share / variance)[:, None]
    wide = np.concatenate(inverses) * np.sqrt(share)[:, None, None]
    spread = np.concatenate([wide.transpose(1, 0, 2).reshape(size, -1), off.T], axis=1)
    most, whites = chdtri(2, DRIFT_CHANCE), np.flatnonzero(
        np.tile(grid[:, 1], len(effects)) == WHITE_MEMORY)
    scatter = int(whites[every[whites].argmin()])
    drifts = bool(every[scatter] - every[best] > most)
    named = best if drifts else scatter
    deviation, memory = grid[named % count].tolist()
    drift = Drift(list(effects)[named // count], deviation, memory * drifts, bool(
        every[0] - every[named] > most))
    return drift, found._replace(z=found.z + mean, factor=variance, root=_root(spread, prior))


def _root(spread: Array, prior: Array) -> Array:
    """Return the root (size, size) of information that makes a covariance, S S^T, with a prior."""
    scales = np.linalg.norm(spread, axis=1)
    inverse = np.linalg.pinv(spread / scales[:, None])
    values, vectors = np.linalg.eigh(inverse.T @ inverse - np.diag((scales / prior)**2))
    return np.asarray((np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T) / scales)


def _whitened(columns: Array, effects: Array, places: NDArray[np.int_], grid: Array
              ) -> tuple[Array, Array]:
    """
    Return columns (g, n, d, c) of (n, d, c) with white errors, and ln det of the covariances (g,).

    grid (g, 2) has sizes and memories of the drift.
    """
    wide, variance = effects.shape[2], grid[:, 0, None, None]**2
    result = np.empty((len(grid), *columns.shape))
    total: Array = np.zeros(len(grid))
    mean: Array = np.zeros((len(grid), wide, columns.shape[2]))
    covariance = variance * np.eye(wide)
    for k, (last, place) in enumerate(zip([places[0], *places[:-1]], places)):
        kept = np.exp((last - place) / grid[:, 1])[:, None, None]
        mean = kept * mean
        covariance = kept**2 * covariance + (1.0 - kept**2) * variance * np.eye(wide)
        seen = effects[k] @ covariance
        lower = np.linalg.cholesky(np.eye(len(effects[k])) + seen @ effects[k].T)
        both = np.linalg.solve(lower, np.concatenate([
            columns[k] - effects[k] @ mean, seen], axis=2))
        result[:, k], gain = both[..., :columns.shape[2]], both[..., columns.shape[2]:]
        total += 2.0 * np.log(np.einsum('gii->gi', lower)).sum(axis=1)
        back = np.swapaxes(gain, 1, 2)
        mean = mean + back @ result[:, k]
        covariance = covariance - back @ gain
    return result, total
