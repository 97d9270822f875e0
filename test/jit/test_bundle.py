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

"""Bundles: what kernels see of them is what was packed."""

import numba
import numpy as np
import pytest

from liedyn_ros.jit.bundle import Bundle, CUBE, INTEGERS, MATRIX, VECTOR

PARTS = Bundle('Parts', order=INTEGERS, row=VECTOR, table=MATRIX, series=CUBE)
view = PARTS.view


@numba.njit(_nrt=False)  # kernels of the package are cached by the modules that they reach
def pick(words, i, out):
    parts = view(words)
    out[0], out[1], out[2] = len(parts.order), parts.table.shape[0], parts.table.shape[1]
    out[3], out[4] = parts.row[parts.order[i]], parts.series[i, 1, 2]
    parts.table[i, 1] = 7.0
    row = parts.series[i]
    row[0, 0] = 9.0


def test_a_kernel_reads_and_writes_what_was_packed() -> None:
    series, out = np.arange(24.0).reshape(2, 3, 4), np.zeros(5)
    words = PARTS.pack(
        order=np.array([2, 0]), row=np.array([0.1, 0.2, 0.3]), table=np.zeros((2, 3)),
        series=series)
    pick(words, 1, out)
    np.testing.assert_array_equal(out, [2, 2, 3, 0.1, series[1, 1, 2]])
    changed = series.copy()
    changed[1, 0, 0] = 9.0
    np.testing.assert_array_equal(words[-24:], changed.ravel())
    np.testing.assert_array_equal(words[-30:-24], [0, 0, 0, 0, 7, 0])


def test_an_array_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match='row'):
        PARTS.pack(order=np.zeros(1))
