# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A checked kernel: one call for arguments as they come, for others, and for wrong ones."""

import pickle
from typing import NamedTuple

from numba import njit
import numpy as np
import pytest

from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.jit.bound_kernel import CheckedKernel


@njit
def scale(factor, x, out):
    """Write factor x; return whether x has no negative entry."""
    for k in range(len(x)):
        out[k] = factor[0] * x[k]
        if x[k] < 0.0:
            return False
    return True


class Positive(NamedTuple):
    """Arrays (size,) of numbers that are not negative."""

    size: int
    done: bool = True

    def prepare(self, x, out):
        """Return an array of floats and the output."""
        array = np.array(x, dtype=float)
        if array.shape != (self.size,):
            raise ShapeError(f'x: expected {(self.size,)}, got {array.shape}')
        return array, out

    def refuse(self, code, x, out):
        """Name the smallest number."""
        raise LimitError(f'x: expected at least 0, got {x.min()} ({code})')


def doubled(size: int = 3) -> CheckedKernel:
    """Return a kernel that doubles."""
    return CheckedKernel(Positive(size), scale, np.array([2.0]))


def test_arguments_of_every_kind_have_one_result():
    double, x = doubled(), np.array([1.0, 2.0, 3.0])
    for given in (x, x.tolist(), x.astype(np.float32), np.repeat(x, 2)[::2], x):
        out = np.empty(3)
        double.call(given, out)
        np.testing.assert_array_equal(out, 2.0 * x)


def test_a_call_returns_the_prepared_arguments_if_the_kernel_ran_on_them():
    double, x, out = doubled(), np.ones(3), np.empty(3)
    assert double.call(x, out)[0] is not x  # the first call compiles, on prepared arguments
    assert double.call(x, out) is None
    assert double.call([1, 1, 1], out)[0].dtype == np.float64


def test_errors_are_those_of_the_check():
    double, out = doubled(), np.empty(3)
    for _ in range(2):  # before and after the first call that succeeds
        with pytest.raises(LimitError, match=r'^x: expected at least 0, got -1.0 \(False\)'):
            double.call(np.array([1.0, -1.0, 1.0]), out)
        with pytest.raises(ShapeError, match=r'^x: expected \(3,\), got \(2,\)'):
            double.call([1.0, 1.0], out)
        double.call(np.ones(3), out)


def test_a_type_that_the_check_takes_is_named():
    double = doubled()
    double.call(np.ones(3), np.empty(3))
    with pytest.raises(TypeError, match=r'^scale: expected arguments of types .*, got str$'):
        double.call(np.ones(3), 'no array')  # which the check takes as it comes


def test_a_pickle_has_tables_and_a_check_of_its_own():
    double, out = doubled(2), np.empty(2)
    double.call([1.0, 2.0], out)
    other = pickle.loads(pickle.dumps(double))
    other.call([2.0, 3.0], out)
    np.testing.assert_array_equal(out, [4.0, 6.0])
    with pytest.raises(ShapeError):
        other.call([1.0], out)
