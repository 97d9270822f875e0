# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The signed smallest singular value against LAPACK, for every size it may have."""

import numpy as np
import pytest

from liedyn_ros.stewart.platform.kernels import singular_value


def decompose(matrix):
    """Return signed value, inverse, right and left vector."""
    inverse, right, left = np.empty(36), np.empty(6), np.empty(6)
    value = singular_value.signed_smallest(
        matrix.ravel(), inverse, right, left, np.empty(singular_value.SINGULAR_VALUE_WORK))
    return value, inverse.reshape(6, 6), right, left


def matrices_with(smallest):
    """Yield random matrices with a given smallest singular value."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        left, right = (np.linalg.qr(rng.normal(size=(6, 6)))[0] for _ in range(2))
        yield (left * np.array([*rng.uniform(1.0, 3.0, 5), smallest])) @ right


@pytest.mark.parametrize('smallest', [0.0, *np.logspace(-12.0, 0.0, 25)])
def test_equals_lapack_down_to_zero(smallest):
    for matrix in matrices_with(smallest):
        expected = np.linalg.svd(matrix, compute_uv=False)[-1]
        value, _, right_vector, left_vector = decompose(matrix)
        assert abs(value) == pytest.approx(expected, rel=1e-11, abs=3e-15)
        assert np.abs(matrix @ right_vector - value * left_vector).max() < 1e-14


@pytest.mark.parametrize('smallest', np.logspace(-11.5, 0.0, 24))
def test_sign_and_inverse_of_regular_matrices(smallest):
    for matrix in matrices_with(smallest):
        value, inverse, *_ = decompose(matrix)
        assert np.sign(value) == np.sign(np.linalg.det(matrix))
        assert np.abs(inverse @ matrix - np.eye(6)).max() < 1e-13 / smallest


@pytest.mark.parametrize('smallest', np.logspace(-11.5, -0.5, 23))
def test_vector_of_a_single_smallest_value(smallest):
    for matrix in matrices_with(smallest):
        vector = decompose(matrix)[2]
        assert abs(vector @ np.linalg.svd(matrix)[2][-1]) == pytest.approx(1.0, abs=1e-12)


def test_two_equal_smallest_values():
    rng = np.random.default_rng(7)
    for gap in (0.0, 1e-9, 1e-4, 1e-2):
        left, right = (np.linalg.qr(rng.normal(size=(6, 6)))[0] for _ in range(2))
        matrix = (left * [3.0, 2.0, 1.5, 1.0, 0.3 + gap, 0.3]) @ right
        value, _, vector, _ = decompose(matrix)
        assert abs(value) == pytest.approx(0.3, rel=1e-5 if gap else 1e-14)
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize('matrix', [
    np.eye(6), np.diag([3.0, 1.0, 2.0, 5.0, 1.0, 4.0]), np.ones((6, 6)),
    np.diag([1.0, 1.0, 0.0, 0.0, 1.0, 1.0])])
def test_matrices_with_zeros_and_without_rank(matrix):
    value, inverse, _, _ = decompose(matrix)
    assert abs(value) == pytest.approx(np.linalg.svd(matrix, compute_uv=False)[-1], abs=1e-15)
    assert np.isfinite(inverse).all()
