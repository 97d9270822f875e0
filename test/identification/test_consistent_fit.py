# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The conic program of consistent parameters beside other algorithms for the same minimum."""

import importlib

import numpy as np
import pytest
from scipy.optimize import minimize
from support.comparison import assert_same
from support.machines.random_models import random_inertia

from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.identification import pseudo_inertia
from liedyn_ros.identification.consistency import parameters_of
from liedyn_ros.identification.consistent_fit import consistent_fit, lifted_prior
from liedyn_ros.identification.lumps import Lump
from liedyn_ros.lie import se3

LOWER = np.tril_indices(4)


def problem(seed: int, rows: int, noise: float):
    """Return R, z, the priors of two bodies, and the true numbers with two frictions."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([*(random_inertia(rng).parameters() for _ in range(2)), [0.3, -0.2]])
    priors = [lifted_prior(random_inertia(rng).parameters()) for _ in range(2)]
    matrix = rng.normal(size=(rows, 22))
    return matrix, matrix @ truth + noise * rng.normal(size=rows), priors, truth


def objective(matrix, target, priors, weight, x) -> float:
    """Return |R x - z|^2 / 2 and the entropic distances (16.25)."""
    value = 0.5 * np.sum((matrix @ x - target)**2)
    for b, prior in enumerate(priors):
        ratio = np.linalg.solve(prior, pseudo_inertia(x[10 * b:10 * b + 10]))
        value += weight * (np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 4.0)
    return value


def by_cholesky(matrix, target, priors, weight):
    """Return the minimum by a search over Cholesky factors with positive diagonals."""
    def unknowns(y):
        parts = []
        for b in range(2):
            lower = np.zeros((4, 4))
            lower[LOWER] = y[10 * b:10 * b + 10]
            lower[np.diag_indices(4)] = np.exp(np.diag(lower))
            parts.append(parameters_of(lower @ lower.T))
        return np.concatenate([*parts, [np.exp(y[20]), y[21]]])

    start = []
    for prior in priors:
        lower = np.linalg.cholesky(prior)
        lower[np.diag_indices(4)] = np.log(np.diag(lower))
        start.append(lower[LOWER])
    found = minimize(lambda y: objective(matrix, target, priors, weight, unknowns(y)),
                     np.concatenate([*start, [-1.0, 0.0]]), method='BFGS',
                     options={'gtol': 1e-7, 'maxiter': 5000})
    return unknowns(found.x)


@pytest.mark.full
@pytest.mark.parametrize(('rows', 'weight'), ((60, 1.0), (60, 1e-2), (12, 1.0)))
def test_the_minimum_is_that_of_a_search_over_cholesky_factors(rows, weight) -> None:
    """With fewer rows than unknowns too, where the prior decides."""
    matrix, target, priors, _ = problem(1, rows, 0.1)
    x = consistent_fit(matrix, target, priors, np.array([True, False]), weight)
    other = by_cholesky(matrix, target, priors, weight)
    best = objective(matrix, target, priors, weight, other)
    assert objective(matrix, target, priors, weight, x) <= best + 1e-6 * (1.0 + abs(best))
    assert_same(matrix @ x, matrix @ other, 1e-4)


@pytest.mark.parametrize('noise', (0.0, 1.0, 30.0))
def test_bodies_are_possible_and_frictions_not_negative(noise: float) -> None:
    matrix, target, priors, _ = problem(2, 60, noise)
    x = consistent_fit(matrix, target, priors, np.array([True, True]))
    assert all(np.linalg.eigvalsh(pseudo_inertia(each))[0] > 0.0 for each in (x[:10], x[10:20]))
    assert np.all(x[20:] >= -1e-9)


def test_exact_data_return_the_truth() -> None:
    matrix, target, priors, truth = problem(3, 60, 0.0)
    assert_same(consistent_fit(1e6 * matrix, 1e6 * target, priors, np.array([True, False])),
                truth, 1e-5, floor=1.0)


def test_the_prior_depends_on_no_frame() -> None:
    """Bodies described in other frames give the same bodies."""
    matrix, target, priors, _ = problem(4, 30, 1.0)
    x = consistent_fit(matrix, target, priors, np.array([True, False]), 1.0)
    moved = se3.exp(np.random.default_rng(0).normal(size=6))
    back = np.linalg.inv(moved)
    there = np.array([parameters_of(moved @ pseudo_inertia(unit) @ moved.T)
                      for unit in np.eye(10)]).T
    changed = matrix.copy()
    changed[:, :10] = matrix[:, :10] @ np.linalg.inv(there)
    y = consistent_fit(changed, target, [moved @ priors[0] @ moved.T, priors[1]],
                       np.array([True, False]), 1.0)
    assert_same(parameters_of(back @ pseudo_inertia(y[:10]) @ back.T), x[:10], 1e-4, floor=1e-1)


def test_a_flat_prior_becomes_round_enough() -> None:
    flat = np.array([2.0, 0.2, 0.0, 0.0, 0.02, 0.0, 0.0, 0.04, 0.0, 0.04])
    prior = lifted_prior(flat)
    assert np.linalg.eigvalsh(prior)[0] > 1e-4
    assert_same(prior[3], pseudo_inertia(flat)[3], 0.0)  # mass and centre stay


def test_the_prior_of_an_impossible_body_is_possible() -> None:
    """Files of robots on sale have principal moments above the sum of the others."""
    impossible = np.array([2.0, 0.2, 0.0, 0.0, 0.01, 0.0, 0.0, 0.04, 0.0, 0.09])
    assert np.linalg.eigvalsh(pseudo_inertia(impossible))[0] < 0.0
    assert np.linalg.eigvalsh(lifted_prior(impossible))[0] > 1e-4


@pytest.mark.parametrize('scale', (1e-6, 1.0, 1e6))
def test_what_fixed_bodies_share_is_exact_and_possible(scale: float) -> None:
    """The parts of a lump sum to it, are possible, and stay where it is the given one."""
    rng = np.random.default_rng(8)
    poses = np.array([np.eye(4), *(se3.exp(rng.normal(size=6)) for _ in range(3))])
    priors = np.array([scale * lifted_prior(random_inertia(rng).parameters()) for _ in poses])
    lump = Lump(tuple(range(4)), poses, priors)

    def total(parts):
        return sum(pose @ pseudo_inertia(part) @ pose.T for pose, part in zip(poses, parts))

    assert_same(pseudo_inertia(lump.shared(parameters_of(lump.prior))), priors, 1e-9)
    other = scale * lifted_prior(random_inertia(rng).parameters())
    parts = lump.shared(parameters_of(other))
    assert_same(total(parts), other, 1e-9)
    assert all(np.linalg.eigvalsh(pseudo_inertia(part))[0] > 0.0 for part in parts)


def test_what_is_shared_depends_on_no_frame() -> None:
    rng = np.random.default_rng(9)
    poses = np.array([np.eye(4), se3.exp(rng.normal(size=6))])
    priors = np.array([lifted_prior(random_inertia(rng).parameters()) for _ in poses])
    other = lifted_prior(random_inertia(rng).parameters())
    by_first = Lump((0, 1), poses, priors).shared(parameters_of(other))
    back = np.linalg.inv(poses[1])
    by_second = Lump((1, 0), np.array([np.eye(4), back]), priors[::-1]).shared(
        parameters_of(back @ other @ back.T))
    assert_same(by_first, by_second[::-1], 1e-9)


@pytest.mark.parametrize('weight', (1e-6, 1e-2, 1.0, 1e4))
@pytest.mark.parametrize('rows', (12, 60))
def test_where_the_conic_solver_stalls_barriers_find_the_same(
        monkeypatch: pytest.MonkeyPatch, rows: int, weight: float) -> None:
    """With fewer samples than unknowns, and a price of rotors, as the parts of recordings have."""
    matrix, target, priors, _ = problem(6, rows, 1.0)
    positive, price = np.array([True, False]), np.array([0.3, 0.0])

    def cost(x) -> float:
        return objective(matrix, target, priors, weight, x) + weight * price @ x[20:]

    conic = cost(consistent_fit(matrix, target, priors, positive, weight, price))
    module = importlib.import_module('liedyn_ros.identification.consistent_fit')
    monkeypatch.setattr(module, '_solution', lambda *arguments: None)
    x = consistent_fit(matrix, target, priors, positive, weight, price)
    assert_same(cost(x), conic, 1e-6, floor=1.0)
    assert all(np.linalg.eigvalsh(pseudo_inertia(each))[0] > 0.0 for each in (x[:10], x[10:20]))
    assert x[20] >= 0.0


def test_a_program_without_a_solution_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the option that helps."""
    matrix, target, priors, _ = problem(5, 30, 1.0)
    module = importlib.import_module('liedyn_ros.identification.consistent_fit')
    monkeypatch.setattr(module, '_ALMOST_SOLVED_TOLERANCE', -1.0)
    monkeypatch.setattr(module, '_MAX_BARRIER_STEPS', 2)
    with pytest.raises(ConvergenceError) as caught:
        consistent_fit(matrix, target, priors, np.array([True, False]))
    assert caught.value.names == ('identification',) and caught.value.got
