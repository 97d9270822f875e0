# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Small dense factorizations against numpy and scipy, singular and ill-conditioned input too."""

import numpy as np
import pytest
import scipy.linalg

from liedyn_ros.linear_algebra.kernels import orthogonal
from liedyn_ros.linear_algebra.kernels.cholesky import factor_cholesky, solve_cholesky_negated
from liedyn_ros.linear_algebra.kernels.elimination import solve_by_elimination
from liedyn_ros.linear_algebra.kernels.singular_values import (
    orthogonalize_columns, orthonormalize_rows, write_identity)

CONDITIONS = (1.0, 1e3, 1e6)
EPSILON = np.finfo(float).eps


def random_matrix(rng, shape, condition, dtype=float):
    """Return a matrix with singular values from 1 to 1 / condition."""
    count = min(shape)
    parts = [rng.normal(size=(n, n)).astype(dtype) for n in shape]
    if dtype is complex:
        parts = [part + 1j * rng.normal(size=part.shape) for part in parts]
    left, right = (np.linalg.qr(part)[0] for part in parts)
    return left[:, :count] * np.geomspace(1.0, 1.0 / condition, count) @ right[:count]


def qr_of(matrix, tolerance=1e-12):
    """Return rows, order, head, beta, rank and the ratio of pivots of a factorization."""
    size, count = matrix.shape
    rows, order = matrix.T.copy(), np.zeros(count, dtype=np.int64)
    head, beta, norm = np.zeros((3, count))
    rank, ratio = orthogonal.factor_qr(
        rows, order, head, beta, norm, count, size, count, tolerance)
    return rows, order, head, beta, rank, ratio


@pytest.mark.parametrize('condition', CONDITIONS)
@pytest.mark.parametrize('order', [1, 3, 6, 7])
def test_cholesky(order, condition):
    rng = np.random.default_rng(order)
    matrix = random_matrix(rng, (order, order), condition**0.5)
    matrix = matrix @ matrix.T
    size, factor, b, x = (0,) * order, np.zeros(order**2), rng.normal(size=order), np.empty(order)
    assert factor_cholesky(size, matrix.ravel(), 0.0, 0.0, factor)
    lower = np.tril(factor.reshape(order, order))
    assert np.abs(lower @ lower.T - matrix).max() < 4 * order * EPSILON
    assert np.abs(lower - np.linalg.cholesky(matrix)).max() < 10 * order * EPSILON * condition
    solve_cholesky_negated(size, factor, b, x)
    assert np.abs(matrix @ x + b).max() < 10 * order * EPSILON * np.abs(x).max()
    solve_cholesky_negated(size, factor, b, b)
    np.testing.assert_array_equal(b, x)


def test_cholesky_of_a_shifted_matrix():
    factor = np.zeros(9)
    assert factor_cholesky((0, 0, 0), np.diag([-1.0, 0.0, 7.0]).ravel(), 2.0, 0.0, factor)
    np.testing.assert_allclose(np.tril(factor.reshape(3, 3)), np.diag([1.0, 2.0**0.5, 3.0]))


@pytest.mark.parametrize('matrix', [
    np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, -1.0, 1.0]), np.full((3, 3), np.nan)])
def test_matrices_without_a_cholesky_factor(matrix):
    assert not factor_cholesky((0, 0, 0), matrix.ravel(), 0.0, 1e-14, np.zeros(9))


@pytest.mark.parametrize('condition', CONDITIONS)
def test_elimination_of_complex_matrices(condition):
    rng = np.random.default_rng(2)
    for order in (1, 2, 9):
        matrix = random_matrix(rng, (order, order), condition, complex)
        b = rng.normal(size=order) + 1j * rng.normal(size=order)
        x = b.copy()
        solve_by_elimination(matrix.flatten(), x)
        expected = np.linalg.solve(matrix, b)
        assert np.abs(matrix @ x - b).max() < 100 * EPSILON * np.abs(x).max()
        assert np.abs(x - expected).max() < 100 * EPSILON * condition * np.abs(expected).max()


def test_elimination_needs_pivots():
    matrix, x = np.array([[0j, 1.0], [1j, 1e-20]]), np.array([2.0 + 0j, 3.0])
    solve_by_elimination(matrix.flatten(), x)
    np.testing.assert_allclose(x, [-3j, 2.0], atol=1e-15)


def test_elimination_of_a_singular_matrix_is_not_finite():
    x = np.array([1.0 + 0j, 2.0])
    solve_by_elimination(np.ones(4, dtype=complex), x)
    assert not np.isfinite(x).all()


@pytest.mark.parametrize('condition', CONDITIONS)
@pytest.mark.parametrize('shape', [(1, 1), (5, 5), (9, 4), (4, 9)])
def test_qr(shape, condition):
    rng = np.random.default_rng(3)
    matrix = random_matrix(rng, shape, condition)
    rows, order, head, beta, rank, ratio = qr_of(matrix)
    size, count = shape
    assert rank == min(shape)
    product = np.zeros((size, count))
    for s in range(count):
        column = np.zeros(size)
        column[:min(s, rank - 1) + 1] = rows[s, :min(s, rank - 1) + 1]
        orthogonal.apply_q(rows, head, beta, rank, size, column)
        product[:, s] = column
    assert np.abs(product - matrix[:, order]).max() < 100 * EPSILON
    diagonal = np.abs(np.diag(scipy.linalg.qr(matrix, pivoting=True, mode='r')[0]))
    assert ratio == pytest.approx(diagonal[-1] / diagonal[0], rel=1e-13 * condition)


def test_qr_applies_and_solves():
    rng = np.random.default_rng(4)
    matrix, b = rng.normal(size=(7, 4)), rng.normal(size=7)
    rows, order, head, beta, rank, _ = qr_of(matrix)
    x = b.copy()
    orthogonal.apply_q_transposed(rows, head, beta, rank, 7, x)
    assert np.linalg.norm(x) == pytest.approx(np.linalg.norm(b))
    orthogonal.solve_r(rows, rank, x)
    np.testing.assert_allclose(x[:4], np.linalg.lstsq(matrix[:, order], b)[0])
    y = b[:4].copy()
    orthogonal.solve_r_transposed(rows, rank, y)
    r = np.tril(rows[:4, :4]).T
    np.testing.assert_allclose(r.T @ y, b[:4])


@pytest.mark.parametrize('rank', [0, 1, 3])
def test_qr_finds_the_rank(rank):
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(6, rank)) @ rng.normal(size=(rank, 5))
    assert qr_of(matrix)[4] == rank


@pytest.mark.parametrize('condition', [*CONDITIONS, 1e12])
def test_singular_values(condition):
    rng = np.random.default_rng(6)
    matrix = random_matrix(rng, (6, 4), condition)
    columns, mix, size = matrix.T.copy(), np.empty((4, 4)), np.empty(4)
    write_identity(mix)
    orthogonalize_columns(columns, mix, size)
    expected = np.linalg.svd(matrix, compute_uv=False)
    assert np.abs(np.sort(size)[::-1] - expected).max() < 20 * EPSILON
    assert np.abs(mix @ mix.T - np.eye(4)).max() < 100 * EPSILON
    assert np.abs(mix @ matrix.T - columns).max() < 100 * EPSILON
    mix += 1e-9 * rng.normal(size=(4, 4))
    orthonormalize_rows(mix)
    assert np.abs(mix @ mix.T - np.eye(4)).max() < 1e-15 * 10


def test_singular_values_of_dependent_columns():
    columns, mix, size = np.array([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0]]), np.eye(3), np.empty(3)
    orthogonalize_columns(columns, mix, size)
    np.testing.assert_allclose(np.sort(size), [0.0, 0.0, 125.0**0.5], atol=1e-14)
