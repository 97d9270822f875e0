# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The smallest singular value against LAPACK, for every size it may have."""

import numpy as np
import pytest

from liedyn_ros.stewart.platform.kernels.singular6 import smallest_singular_value


@pytest.mark.parametrize('smallest', [0.0, *np.logspace(-12.0, 0.0, 25)])
def test_equals_lapack_down_to_zero(smallest):
    rng = np.random.default_rng(6)
    for _ in range(20):
        left, right = (np.linalg.qr(rng.normal(size=(6, 6)))[0] for _ in range(2))
        values = np.array([*rng.uniform(1.0, 3.0, 5), smallest])
        matrix = (left * values) @ right
        expected = np.linalg.svd(matrix, compute_uv=False)[-1]
        found = smallest_singular_value(
            matrix.ravel().copy(), np.empty(36), np.empty(36), np.empty(6))
        assert found == pytest.approx(expected, rel=1e-11, abs=3e-15)


@pytest.mark.parametrize('matrix', [
    np.eye(6), np.zeros((6, 6)), np.diag([3.0, 1.0, 2.0, 5.0, 1.0, 4.0]), np.ones((6, 6))])
def test_matrices_that_need_no_reflection_or_have_no_rank(matrix):
    found = smallest_singular_value(
        matrix.ravel().copy(), np.empty(36), np.empty(36), np.empty(6))
    assert found == pytest.approx(np.linalg.svd(matrix, compute_uv=False)[-1], abs=1e-15)
