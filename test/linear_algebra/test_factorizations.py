# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Small factorizations against numpy and scipy, singular and ill-conditioned input too."""

from typing import Any, NamedTuple

from hypothesis import assume, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
import scipy.linalg

from liedyn_ros.jit.simd import LANES
from liedyn_ros.linear_algebra.kernels import orthogonal
from liedyn_ros.linear_algebra.kernels.elimination import (
    factor_cholesky, invert_6x6, solve_by_elimination, solve_cholesky_negated)
from liedyn_ros.linear_algebra.kernels.gram_cholesky import (
    factor_gram, solve_gram, WELL_CONDITIONED)
from liedyn_ros.linear_algebra.kernels.orthogonal import (
    orthogonalize_columns, orthonormalize_rows, write_identity)

CONDITIONS = (1.0, 1e3, 1e6)
EPSILON = np.finfo(float).eps
ANY_NUMBER = np.iinfo(np.int64).max


def random_matrix(rng, shape, condition, dtype=float):
    """Return a matrix with singular values from 1 to 1 / condition."""
    count = min(shape)
    parts = [rng.normal(size=(n, n)).astype(dtype) for n in shape]
    if dtype is complex:
        parts = [part + 1j * rng.normal(size=part.shape) for part in parts]
    left, right = (np.linalg.qr(part)[0] for part in parts)
    return left[:, :count] * np.geomspace(1.0, 1.0 / condition, count) @ right[:count]


class Factors(NamedTuple):
    """What kernels see of a QR."""

    slot: np.ndarray
    count: np.ndarray
    size: np.ndarray
    rank: np.ndarray
    rows: np.ndarray
    order: np.ndarray
    head: np.ndarray
    beta: np.ndarray
    norm: np.ndarray


def qr_of(*blocks, most=ANY_NUMBER, tolerance=1e-12):
    """Return the factors of a block diagonal matrix, rank and the ratio of pivots."""
    sizes, counts = np.array([block.shape for block in blocks]).T
    rows = np.zeros((counts.sum(), sizes.max() + LANES))
    slots = np.cumsum(counts) - counts
    for block, slot in zip(blocks, slots):
        rows[slot:slot + block.shape[1], :len(block)] = block.T
    head, beta, norm = np.zeros((3, len(rows)))
    factors = Factors(slots, counts, sizes, np.zeros_like(slots), rows, np.arange(len(rows)), head,
                      beta, norm)
    return factors, *orthogonal.factor_qr(factors, most, tolerance)


def product_of(factors, g):
    """Return Q R of a block, whose columns are in the order of the factors."""
    size, count = factors.size[g], factors.count[g]
    product = np.zeros((size, count))
    for s in range(count):
        column, known = np.zeros(size), min(s + 1, factors.rank[g])
        column[:known] = factors.rows[factors.slot[g] + s, :known]
        orthogonal.apply_q(factors, g, column)
        product[:, s] = column
    return product


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
    factors, rank, ratio = qr_of(matrix)
    assert rank == min(shape)
    assert np.abs(product_of(factors, 0) - matrix[:, factors.order]).max() < 100 * EPSILON
    diagonal = np.abs(np.diag(scipy.linalg.qr(matrix, pivoting=True, mode='r')[0]))
    assert ratio == pytest.approx(diagonal[-1] / diagonal[0], rel=1e-13 * condition)


@pytest.mark.full
def test_qr_applies_and_solves():
    rng = np.random.default_rng(4)
    other, matrix, b = rng.normal(size=(3, 5)), rng.normal(size=(7, 4)), rng.normal(size=7)
    factors, _, _ = qr_of(other, matrix)
    order = factors.order[5:] - 5
    x = b.copy()
    orthogonal.apply_q_transposed(factors, 1, x)
    assert np.linalg.norm(x) == pytest.approx(np.linalg.norm(b))
    orthogonal.solve_r(factors, 1, x)
    np.testing.assert_allclose(x[:4], np.linalg.lstsq(matrix[:, order], b)[0])
    y = b[:4].copy()
    orthogonal.solve_r_transposed(factors, 1, y)
    r = np.tril(factors.rows[5:, :4]).T
    np.testing.assert_allclose(r.T @ y, b[:4])


@pytest.mark.parametrize('rank', [0, 1, 3])
def test_qr_finds_the_rank(rank):
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(6, rank)) @ rng.normal(size=(rank, 5))
    assert qr_of(matrix)[1] == rank


@pytest.mark.parametrize('most', [ANY_NUMBER, 8, 3, 0])
def test_qr_of_blocks_is_that_of_the_whole_matrix(most):
    # One block is dependent beside the largest column of another only.
    rng = np.random.default_rng(7)
    blocks = [rng.normal(size=(4, 3)), 1e-14 * rng.normal(size=(2, 2)),
              1e3 * rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4)), np.zeros((3, 0)),
              rng.normal(size=(2, 5))]
    factors, rank, ratio = qr_of(*blocks, most=most)
    diagonal = np.abs(np.diag(scipy.linalg.qr(
        scipy.linalg.block_diag(*blocks), pivoting=True, mode='r')[0]))
    assert rank == min(most, 7) == factors.rank.sum()
    assert factors.rank.tolist() == {ANY_NUMBER: [3, 0, 2, 0, 2], 8: [3, 0, 2, 0, 2],
                                     3: [1, 0, 2, 0, 0], 0: [0] * 5}[most]
    assert ratio == pytest.approx(diagonal[rank - 1] / diagonal[0] if rank else 1.0, rel=1e-12)
    for g, rows in enumerate(factors.rank.tolist()):  # what is not factored is left as it was
        order = factors.order[factors.slot[g]:][:factors.count[g]] - factors.slot[g]
        off = np.abs(product_of(factors, g) - blocks[g][:, order]).max(initial=0.0)
        assert (off < 1e-11) == (rows == np.linalg.matrix_rank(blocks[g], tol=1e-12))


@pytest.mark.full
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


class Pattern(NamedTuple):
    span: Any
    met: Any
    support_start: Any
    support: Any


class Buffers(NamedTuple):
    response: Any
    upper: Any
    unit: Any
    lower: Any
    inverse: Any
    line: Any


def padded(rows, columns):
    return np.zeros((rows, -(-columns // LANES) * LANES))


def laid_out(matrix):
    """Return the pattern and the buffers of the columns of a matrix."""
    size, count = matrix.shape
    support = [np.flatnonzero(column) for column in matrix.T]
    meet = matrix.T.astype(bool) @ matrix.astype(bool)
    span = [[np.flatnonzero(row)[0], np.flatnonzero(row)[-1] + 1] for row in meet]
    for _ in range(count):  # fill-in: columns of one span meet
        span = [[min(span[t][0] for t in range(a, b)), max(span[t][1] for t in range(a, b))]
                for a, b in span]
    response = padded(size, count)
    response[:, :count] = matrix
    met = [max(end for _, end in span[c:c + LANES]) for c in range(0, count, LANES)]
    pattern = Pattern(
        np.array(span).ravel(), np.array(met), np.cumsum([0, *map(len, support)]),
        np.concatenate(support))
    return pattern, Buffers(
        response, padded(count, count), padded(count, count), padded(count, count),
        np.zeros(count), padded(2, count))


def dense(rng):
    return rng.normal(size=(12, 5))


def two_blocks(rng):
    matrix = np.zeros((12, 10))
    matrix[:5, :4], matrix[5:, 4:] = rng.normal(size=(5, 4)), rng.normal(size=(7, 6))
    return matrix


@pytest.mark.full
@pytest.mark.parametrize('make', [dense, two_blocks])
def test_against_numpy(make):
    rng = np.random.default_rng(1)
    solved = 0
    for _ in range(20):
        matrix = make(rng)
        count = matrix.shape[1]
        pattern, buffers = laid_out(matrix)
        gram, b = matrix.T @ matrix, rng.normal(size=count)
        smallest = np.sort(np.diag(np.linalg.cholesky(gram)))
        quality = factor_gram(pattern, buffers)
        assert quality == pytest.approx(
            smallest[0] / smallest[-1] if smallest[0] > WELL_CONDITIONED * smallest[-1] else 0.0)
        if quality > 0.0:
            solved += 1
            buffers.line[0, :count] = b
            solve_gram(pattern, buffers)
            x = buffers.line[0, :count]
            assert np.abs(gram @ x - b).max() < 1e-14 * np.linalg.norm(gram) * np.abs(x).max()
    assert solved > 10


def test_dependent_columns_are_refused():
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(6, 3))
    matrix[:, 2] = matrix[:, 0] - matrix[:, 1]
    assert factor_gram(*laid_out(matrix)) == 0.0
    assert factor_gram(*laid_out(np.full((3, 1), np.nan))) == 0.0


def inverse_of(matrix):
    """Return the inverse, the determinant's sign, and whether there is an inverse."""
    inverse = np.empty(36)
    sign, regular = invert_6x6(matrix.ravel(), inverse)
    return inverse.reshape(6, 6), sign, regular


@pytest.mark.full
@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 20))
def test_random_matrices_with_zeros(seed, zeros):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-3.0, 3.0, 6)
    matrix.flat[rng.choice(36, zeros, replace=False)] = 0.0
    condition = np.linalg.cond(matrix)
    assume(condition < 1e12)
    inverse, sign, regular = inverse_of(matrix)
    expected = np.linalg.inv(matrix)
    assert regular and sign == np.sign(np.linalg.det(matrix))
    assert np.abs(inverse - expected).max() < 1e-13 * condition * np.abs(expected).max()


def test_permutations_and_their_signs():
    rng = np.random.default_rng(1)
    for _ in range(200):
        matrix = np.eye(6)[rng.permutation(6)] * rng.choice((-1.0, 1.0), 6)
        inverse, sign, regular = inverse_of(matrix)
        np.testing.assert_array_equal(inverse, matrix.T)
        assert regular and sign == round(np.linalg.det(matrix))


@pytest.mark.parametrize('matrix', [
    np.zeros((6, 6)), np.ones((6, 6)), np.diag([1.0, 1.0, 0.0, 1.0, 1.0, 1.0]),
    np.full((6, 6), np.nan)])
def test_matrices_without_an_inverse(matrix):
    assert not inverse_of(matrix)[2]
