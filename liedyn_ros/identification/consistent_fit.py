# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parameters that bodies can have, nearest to the recorded forces: one convex problem."""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.identification.consistency import parameters_of, pseudo_inertia

PRIOR = 1e-2  # weight of the CAD model; 1 expects errors of about 100 %
LIFT = 0.2  # of the mean second moment, added to those of a prior (16.27)
_TOLERANCES = 1e-11, 1e-9, 1e-7  # of the solver: the tightest that it reaches
_ALMOST_SOLVED_TOLERANCE = 1e-6  # of the objective, by which an almost solved problem may be off
_BODY = 10
_SCALED_TARGET = 1e4  # of the target, in standard deviations: the program is scaled to it
_MIN_PRIOR_WEIGHT = 1e-8  # weight of the prior in the scaled program
_MAX_BARRIER_STEPS = 1000
_BARRIER_TOLERANCE = 1e-9  # of the objective, by which a minimum by barriers may be off
_NEAR = 0.05  # of the barrier, from which decrement on Newton's whole steps converge
_UPPER_IDENTITY = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
_LOWER = [(i, j) for i in range(4) for j in range(i + 1)]
_UPPER8 = [(i, j) for j in range(8) for i in range(j + 1)]  # of clarabel: by columns


def lifted_prior(parameters: Array) -> Array:
    """Return Pi0 (..., 4, 4) of CAD bodies, whose second moments are made round enough (16.27)."""
    pseudo = pseudo_inertia(parameters)
    mass, first = pseudo[..., 3, 3, None], pseudo[..., :3, 3]
    shift = first[..., :, None] * first[..., None, :] / mass[..., None]
    values, vectors = np.linalg.eigh(pseudo[..., :3, :3] - shift)
    values = np.maximum(values, 0.0)  # files have bodies that break the triangle inequality
    values += LIFT * np.maximum(values.sum(axis=-1, keepdims=True), 1e-6 * mass) / 3.0
    pseudo[..., :3, :3] = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2) + shift
    return pseudo


def consistent_fit(triangle: Array, target: Array, priors: Sequence[Array],
                   positive: NDArray[np.bool_], weight: float = PRIOR,
                   price: Array | None = None) -> Array:
    """
    Return x = (ten parameters of each body, others) that minimises the torque objective.

    |R x - z|^2 / 2 + weight sum of D(Pi_b, Pi0_b), D entropic: tr(Pi0^-1 Pi) - ln det(Pi0^-1 Pi)
    - 4 (16.25), which depends on no frame. R is triangle (m, 10 B + e), z target (m,), priors are
    Pi0 (4, 4). positive (e,) says which of the others are not negative. price (e,) times weight is
    a penalty per unit of them, so that rotor inertia explains only what link inertia cannot. All
    Pi_b are then positive definite. Raises ConvergenceError where the solver finds no solution.
    """
    require_extra('identification', 'clarabel',
                  reason='consistent parameters are the solution of a conic program')
    import clarabel  # here, as only this module needs it
    bodies, unknowns = len(priors), triangle.shape[1]
    shrink = min(1.0, _SCALED_TARGET / max(float(np.abs(target).max(initial=0.0)), 1.0))
    weight, target = max(shrink**2 * weight, _MIN_PRIOR_WEIGHT), shrink * target
    # Pi of body b is L0 S L0^T: unknown are S instead, so that all bodies are of one size.
    maps = [_parameter_map(np.asarray(np.linalg.cholesky(each), dtype=np.float64))
            for each in priors]
    scaled = shrink * np.hstack([triangle[:, _BODY * b:_BODY * (b + 1)] @ each for b, each in
                                 enumerate(maps)] + [triangle[:, _BODY * bodies:]])
    size = np.sqrt((scaled[:, _BODY * bodies:]**2).sum(axis=0))
    size[size == 0.0] = 1.0
    scaled[:, _BODY * bodies:] /= size
    slope: Array = np.zeros(unknowns)
    slope[:_BODY * bodies] = weight * np.tile(_UPPER_IDENTITY, bodies)  # tr S
    if price is not None:
        slope[_BODY * bodies:] = weight * price / size
    x = _solution(clarabel, scaled, target, bodies, positive, weight, slope)
    if x is None:
        x = barrier_fit(scaled, target, bodies, positive, weight, slope)
    found = [each @ x[_BODY * b:_BODY * (b + 1)] for b, each in enumerate(maps)]
    others = x[_BODY * bodies:unknowns] / size
    return np.concatenate([*found, np.where(positive, np.maximum(others, 0.0), others)])


def _solution(clarabel: ModuleType, scaled: Array, target: Array, bodies: int,
              positive: NDArray[np.bool_], weight: float, slope: Array) -> Array | None:
    """Return the unknowns of a conic program, or None where the solver reaches no tolerance."""
    rows, sides, cones = _cones(clarabel, scaled, target, bodies, positive)
    total, unknowns = rows.shape[1], scaled.shape[1]
    at = np.arange(unknowns, unknowns + len(target))
    cost = np.concatenate([slope, np.zeros(total - unknowns)])
    cost[total - 4 * bodies:] = -weight  # - sum t
    weights = sparse.csc_matrix((np.ones(len(at)), (at, at)), (total, total))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.max_iter = False, 1, 400
    for tolerance in _TOLERANCES:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        found = clarabel.DefaultSolver(weights, cost, rows, sides, cones, settings).solve()
        gap = abs(found.obj_val - found.obj_val_dual)
        if str(found.status) in ('Solved', 'AlmostSolved') and (
                gap <= _ALMOST_SOLVED_TOLERANCE * (abs(found.obj_val) + 1.0)):
            return np.array(found.x)
    return None


def barrier_fit(scaled: Array, target: Array, bodies: int, positive: NDArray[np.bool_],
                weight: float, slope: Array) -> Array:
    """
    Return u = (upper triangles of S, others) of least |A u - z|^2 / 2 + slope u - weight ln det S.

    A is scaled (m, n), z target (m,). By Newton's method, with a barrier of others that are
    positive (e,), and a stronger one of S, which both fall: it converges from anywhere, as each
    is self-concordant. It takes tenths of a second, where the conic solver stalls. Slopes of S
    are those of weight tr S, of what is not positive 0. Raises ConvergenceError.
    """
    last, free = _BODY * bodies, np.flatnonzero(positive) + _BODY * bodies
    u = np.concatenate([np.tile(_UPPER_IDENTITY, bodies), positive.astype(float)])

    def value(u: Array, barrier: float) -> float:
        full = np.array([_symmetric(each) for each in u[:last].reshape(-1, _BODY)])
        if (u[free] <= 0.0).any() or (np.linalg.eigvalsh(full.reshape(-1, 4, 4)) <= 0.0).any():
            return np.inf
        return float(0.5 * ((scaled @ u - target)**2).sum() + slope @ u - max(
            barrier, weight) * np.linalg.slogdet(full)[1].sum() - barrier * np.log(u[free]).sum())

    barrier = max(weight, value(u, 0.0))
    for _ in range(_MAX_BARRIER_STEPS):
        # Newton's step is a least-squares fit: with S = L L^T, d ln det S = tr(L^-1 dS L^-T), and
        # the second derivative is minus the square of that matrix.
        strength, root = max(barrier, weight), np.zeros((16 * bodies + len(free), len(u)))
        wanted = np.sqrt(barrier) - slope[free] * u[free] / np.sqrt(barrier)
        root[16 * bodies + np.arange(len(free)), free] = np.sqrt(barrier) / u[free]
        for b in range(bodies):
            lower = np.linalg.cholesky(_symmetric(u[_BODY * b:_BODY * (b + 1)]))
            inverse = np.linalg.inv(lower)
            root[16 * b:16 * (b + 1), _BODY * b:_BODY * (b + 1)] = np.sqrt(strength) * (
                inverse @ _UNITS @ inverse.T).reshape(-1, 16).T
            wanted = np.insert(wanted, 16 * b, (np.sqrt(strength) * np.eye(4) - (
                weight / np.sqrt(strength)) * lower.T @ lower).ravel())
        matrix, left = (np.concatenate(each) for each in (
            (scaled, root), (target - scaled @ u, wanted)))
        lengths = np.maximum(np.linalg.norm(matrix, axis=0), np.finfo(float).tiny)
        step = np.linalg.lstsq(matrix / lengths, left, rcond=None)[0] / lengths
        before, share = value(u, barrier), 1.0
        decrement = float(((matrix @ step)**2).sum())
        damped = 1.0 / (1.0 + np.sqrt(decrement / barrier))  # which needs no search
        near = decrement <= _NEAR * barrier
        while not near and share > damped and not (
                value(u + share * step, barrier) <= before - 0.25 * share * decrement):
            share = max(0.5 * share, damped)
        u = u + share * step
        if near and barrier <= weight and barrier * len(free) <= _BARRIER_TOLERANCE * (
                abs(before - 4.0 * weight * bodies) + 1.0):
            return u
        barrier *= 0.1 if near else 1.0
    raise ConvergenceError(
        'identification: expected possible parameters near the forces, got none. Forces in another'
        ' unit or of another sign make it hard. Check the scale of each joint, or raise the '
        'weight of the prior (--prior)')


def _symmetric(places: Array) -> Array:
    """Return S (4, 4) of its upper triangle by rows (10,)."""
    result = np.zeros((4, 4))
    result[np.triu_indices(4)] = places
    return result + np.triu(result, 1).T


def _parameter_map(lower: Array) -> Array:
    """Return the matrix (10, 10) from the upper triangle of S to the parameters of L S L^T."""
    return parameters_of(lower @ _UNITS @ lower.T).T


def _cones(clarabel: ModuleType, matrix: Array, target: Array, bodies: int,
           positive: NDArray[np.bool_]) -> tuple[sparse.csc_matrix, Array, list[Any]]:
    """
    Return the constraints s = sides - rows u, s in cones, on u = (x, y, Z of bodies, t).

    y = R x - z (16.23); [S, Z; Z^T, diag Z] >= 0 with lower triangular Z, and exp(t_i) <= Z_ii.
    """
    unknowns, count = matrix.shape[1], len(target)
    at_z, at_t = unknowns + count, unknowns + count + 10 * bodies
    free = np.flatnonzero(positive) + 10 * bodies
    row, column = np.nonzero(matrix)
    entries = [(row, column, matrix[row, column]),
               (np.arange(count), unknowns + np.arange(count), -np.ones(count)),
               (count + np.arange(len(free)), free, -np.ones(len(free)))]
    sides, cones = [target, np.zeros(len(free))], [clarabel.ZeroConeT(count)]
    if len(free):
        cones.append(clarabel.NonnegativeConeT(len(free)))
    at_row = count + len(free)
    for b in range(bodies):
        places = np.where(_OF_S, 10 * b, at_z + 10 * b) + _PLACES
        entries.append((at_row + _ROWS, places, _FACTORS))
        at_row += 36
        cones.append(clarabel.PSDTriangleConeT(8))
        for i in range(4):  # (t, 1, Z_ii) in the exponential cone
            entries.append((np.array([at_row, at_row + 2]), np.array([
                at_t + 4 * b + i, at_z + 10 * b + _LOWER.index((i, i))]), -np.ones(2)))
            cones.append(clarabel.ExponentialConeT())
            at_row += 3
        sides += [np.zeros(36), np.tile([0.0, 1.0, 0.0], 4)]
    at, into, values = (np.concatenate(each) for each in zip(*entries))
    return (sparse.csc_matrix((values, (at, into)), shape=(at_row, at_t + 4 * bodies)),
            np.concatenate(sides), cones)


def _entries() -> list[tuple[int, bool, int, float]]:
    """Return row, whether of S, place in S or Z, and factor of minus [S, Z; Z^T, diag Z]."""
    pairs = itertools.combinations_with_replacement(range(4), 2)
    place = {pair: k for k, pair in enumerate(pairs)}
    entries = []
    for row, (i, j) in enumerate(_UPPER8):
        factor = -1.0 if i == j else -math.sqrt(2.0)
        if j < 4:
            entries.append((row, True, place[i, j], factor))
        elif i < 4 and i >= j - 4:  # Z is lower triangular
            entries.append((row, False, _LOWER.index((i, j - 4)), factor))
        elif i == j:
            entries.append((row, False, _LOWER.index((i - 4, i - 4)), factor))
    return entries


_ROWS, _OF_S, _PLACES, _FACTORS = (np.array(each) for each in zip(*_entries()))
_UNITS = np.array([_symmetric(unit) for unit in np.eye(10)])
