# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bundles: what kernels see of them is what was packed."""

import numba
from numba.core.errors import TypingError
import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.build.bundles import BundleType
from liedyn_ros.common.errors import NameSetError, ShapeError
from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, VECTOR

PARTS = Bundle('Parts', order=INTEGERS, row=VECTOR, table=MATRIX, series=CUBE)
view = PARTS.view


@numba.njit(_nrt=False)
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
    np.testing.assert_array_equal(PARTS.array(words, 'series'), changed)
    np.testing.assert_array_equal(PARTS.array(words, 'table'), [[0, 0, 0], [0, 7, 0]])


PAIR = Bundle('Pair', first=PARTS, scale=VECTOR, second=PARTS)
view_pair = PAIR.view


@numba.njit(_nrt=False)
def exchange(words, choice, out):
    pair = view_pair(words)
    chosen = pair.second if choice else pair.first
    out[0], out[1], out[2] = len(chosen.order), chosen.row[1], pair.scale[0]
    chosen.table[0, 0] = pair.first.row[0] + pair.second.row[0]


def test_a_bundle_holds_others() -> None:
    first = PARTS.pack(**arrays(row=np.array([1.0, 2.0])))
    second = PARTS.pack(**arrays(row=np.array([10.0, 20.0, 30.0]), order=np.zeros(3)))
    words, out = PAIR.pack(first=first, scale=np.array([0.5]), second=second), np.zeros(3)
    exchange(words, False, out)
    np.testing.assert_array_equal(out, [1, 2.0, 0.5])
    exchange(words, True, out)
    np.testing.assert_array_equal(out, [3, 20.0, 0.5])
    for name in ('first', 'second'):
        part = PAIR.array(words, name)
        assert PARTS.array(part, 'row').ctypes.data % 64 == 0
        np.testing.assert_array_equal(PARTS.array(part, 'table'), [[11.0]])
    np.testing.assert_array_equal(PARTS.array(first, 'table'), [[0.0]])  # words were copied


def test_bundles_of_other_bundles_are_other_types() -> None:
    other = Bundle('Parts', order=VECTOR)
    assert Bundle('Pair', part=PARTS).seen != Bundle('Pair', part=other).seen
    assert Bundle('Pair', part=PARTS).seen == Bundle('Pair', part=PARTS).seen


def test_each_array_begins_a_cache_line() -> None:
    words = PARTS.pack(**arrays(row=np.arange(3.0)))
    for name in arrays():
        assert PARTS.array(words, name).ctypes.data % 64 == 0


def arrays(**others):
    return {'order': np.zeros(1), 'row': np.zeros(2), 'table': np.zeros((1, 1)),
            'series': np.zeros((1, 1, 1)), **others}


def test_arrays_that_are_missing_or_too_many_are_named() -> None:
    with refused(NameSetError, 'Parts'):
        PARTS.pack(order=np.zeros(1))
    with refused(NameSetError, 'Parts'):
        PARTS.pack(**arrays(surplus=np.zeros(1)))


@pytest.mark.parametrize('name, shape', [
    ('table', (5,)), ('row', ()), ('row', (2, 2)), ('series', (2, 2)), ('order', (1, 1))])
def test_an_array_of_other_dimensions_is_refused(name, shape) -> None:
    with refused(ShapeError, name, got=shape):
        PARTS.pack(**arrays(**{name: np.zeros(shape)}))


@pytest.mark.parametrize('words', [
    np.zeros(64, dtype=np.int64), np.zeros(64, dtype=np.float32), np.zeros((8, 8)),
    np.zeros(128)[::2], 3.0])
def test_a_view_of_another_array_does_not_compile(words) -> None:
    with pytest.raises(TypingError, match='Parts: expected the flat array of a bundle'):
        pick(words, 0, np.zeros(5))


def test_bundles_of_other_kinds_are_other_types() -> None:
    assert BundleType('Same', (('a', VECTOR),)) != BundleType('Same', (('a', MATRIX),))
    assert BundleType('Same', (('a', VECTOR),)) == BundleType('Same', (('a', VECTOR),))
