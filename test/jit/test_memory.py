# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables within an array, beside numpy's views, and all of its entries."""

import numba
from numba.core.errors import TypingError
import numpy as np
import pytest

from liedyn_ros.jit.memory import rows_of
from liedyn_ros.model.kernels.acceptance import finite


@numba.njit(_nrt=False)
def change(array, first, rows, width):
    table = rows_of(array, first, rows, width)
    for i in range(table.shape[0]):
        for k in range(table.shape[1]):
            table[i, k] = -10.0 * i - k
    return table.size


@numba.njit(_nrt=False)
def accept(array):
    return finite(array)


@pytest.mark.parametrize('shape', [(6,), (2, 3), (1, 2, 3)], ids=str)
def test_each_entry_of_an_array_of_any_shape_must_be_finite(shape) -> None:
    array = np.ones(shape)
    assert accept(array)
    for k in range(6):
        array.ravel()[k] = np.nan if k % 2 else -np.inf
        assert not accept(array)
        array.ravel()[k] = 1.0


@pytest.mark.parametrize('shape', [(12,), (3, 4)], ids=str)
def test_rows_are_a_view_of_the_entries_from_one_on(shape) -> None:
    array = np.arange(12.0).reshape(shape)
    assert change(array, 2, 3, 3) == 9
    wanted = np.arange(12.0)
    wanted[2:11] = [0.0, -1.0, -2.0, -10.0, -11.0, -12.0, -20.0, -21.0, -22.0]
    np.testing.assert_array_equal(array.ravel(), wanted)


def test_an_array_with_gaps_is_refused() -> None:
    with pytest.raises(TypingError, match='expected a contiguous array'):
        change(np.zeros(24)[::2], 0, 3, 3)
