# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The sparse Cholesky factor of a Gram matrix, and inverses of six by six, beside numpy's."""

from typing import Any, NamedTuple

from hypothesis import assume, given, settings, strategies as st
import numpy as np
import pytest

from liedyn_ros.jit.simd import LANES
from liedyn_ros.linear_algebra.kernels.elimination import invert_6x6
from liedyn_ros.linear_algebra.kernels.gram_cholesky import (
    factor_gram, solve_gram, WELL_CONDITIONED)


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
