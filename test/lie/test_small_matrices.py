# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels on vectors and matrices of three, beside numpy."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from liedyn_ros.lie.kernels import mat3, vec3

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(2, 3, 3))
X, Y = RNG.normal(size=(2, 3))
S = 0.7


def flat(array):
    """Return an array of three or nine numbers as the kernels take it."""
    return tuple(array.ravel().tolist())


@pytest.mark.parametrize(('kernel', 'arguments', 'expected'), [
    (mat3.add, (A, B), A + B), (mat3.scale, (S, A), S * A), (mat3.transpose, (A,), A.T),
    (mat3.apply, (A, X), A @ X), (mat3.apply_t, (A, X), A.T @ X), (mat3.mul, (A, B), A @ B),
    (mat3.trace, (A,), np.trace(A)), (mat3.hat, (X,), np.cross(X, np.eye(3), axisb=0, axisc=0)),
    (mat3.outer, (X, Y), np.outer(X, Y)), (vec3.add, (X, Y), X + Y), (vec3.sub, (X, Y), X - Y),
    (vec3.neg, (X,), -X), (vec3.scale, (S, X), S * X), (vec3.axpy, (S, X, Y), S * X + Y),
    (vec3.dot, (X, Y), X @ Y), (vec3.cross, (X, Y), np.cross(X, Y))],
    ids=lambda value: getattr(value, '__qualname__', ''))
def test_kernel_is_what_numpy_computes(kernel, arguments, expected):
    taken = [value if isinstance(value, float) else flat(value) for value in arguments]
    assert_allclose(np.ravel(kernel(*taken)), np.ravel(expected), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(('kernels', 'value'), [(mat3, A), (vec3, X)], ids=['mat3', 'vec3'])
def test_numbers_in_a_flat_array(kernels, value):
    array = np.arange(12.0)
    kernels.store(array, 2, flat(value))
    assert kernels.load(array, 2) == flat(value)
    end = 2 + value.size
    assert_array_equal(array, [0.0, 1.0, *flat(value), *range(end, 12)])
