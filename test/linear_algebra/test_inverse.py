# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The inverse of six by six matrices against numpy's, whatever its pivots are."""

from hypothesis import assume, given, settings, strategies as st
import numpy as np
import pytest

from liedyn_ros.linear_algebra.kernels.inverse import invert_6x6


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
