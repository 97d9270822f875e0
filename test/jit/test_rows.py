# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rows of tables: kernels and Python see the same entries under the same names."""

import numba
from numba.core.errors import TypingError
import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError, NameSetError
from liedyn_ros.jit.kinds import NUMBER, TRIPLE, WHOLE
from liedyn_ros.jit.rows import RIGID_INERTIA, RIGID_POSE, Row, TWO_VECTORS
from liedyn_ros.jit.simd import LANES

Part = Row('Part', 32, kind=WHOLE, pitch=NUMBER, placement=RIGID_POSE, inertia=RIGID_INERTIA)
Other = Row('Other', Part.width, carrier=WHOLE, placement=Part.entry('placement'), end=NUMBER)
Plain = Row('Plain', twist=TWO_VECTORS, mass=NUMBER)


@numba.njit(_nrt=False)
def change(table, i, out):
    part = Part(table, i)
    (r, p), (m, h, j) = part.placement, part.inertia
    out[0], out[1], out[2], out[3], out[4], out[5] = r[8], p[0], m, h[2], j[5], part.kind
    part.kind += 3
    part.placement = r, (p[0], 7, p[2])
    part.plus.inertia = m, h, j


@numba.njit(_nrt=False)
def exchange(table, i, x):
    plain = Plain(table, i)
    w, v = plain.twist
    plain.twist = v, (w[0], 1.5, w[2])
    plain.plus.mass = x
    plain.plus.twist = w, v


def test_a_kernel_reads_writes_and_adds_entries_by_their_names() -> None:
    table, out = Part.table(2), np.zeros(6)
    table[:] = np.arange(64.0).reshape(2, 32)
    Part.of(table, 'kind')[1] = 4
    before = table.copy()
    change(table, 1, out)
    np.testing.assert_array_equal(out, [32 + 10, 32 + 11, 32 + 14, 32 + 17, 32 + 23, 4])
    assert Part.of(table, 'kind')[1] == 7
    before[1, 0], before[1, 12] = table[1, 0], 7.0
    before[1, 14:24] *= 2.0
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize('states', [1, LANES])
def test_numbers_of_many_states_are_lanes(states) -> None:
    table = np.arange(14.0 * states).reshape((2, 7) if states == 1 else (2, 7, states))
    w, v, mass = table[1, :3].copy(), table[1, 3:6].copy(), table[1, 6].copy()
    first = table[0].copy()
    exchange(table, 1, 2.0)
    np.testing.assert_array_equal(table[1, :3], v + w)
    np.testing.assert_array_equal(table[1, 3:6], [w[0] + v[0], 1.5 + v[1], w[2] + v[2]])
    np.testing.assert_array_equal(table[1, 6], mass + 2.0)
    np.testing.assert_array_equal(table[0], first)


def test_python_sees_entries_in_the_memory_of_the_table() -> None:
    table = Part.table(3)
    Part.of(table, 'pitch')[:] = 1.0, 2.0, 3.0
    Part.of(table[1], 'placement')[9:] = 5.0
    assert Part.of(table, 'placement').shape == (3, 12)
    np.testing.assert_array_equal(Other.of(table, 'placement')[1, 9:], 5.0)
    assert table[2, Part.column('pitch')] == 3.0
    assert Other.column('end') == Part.column('inertia')


def test_an_entry_that_a_row_has_not_is_named() -> None:
    with refused(NameSetError, 'Part'):
        Part.column('mass')
    with refused(LiedynError, 'Narrow', got=2):
        Row('Narrow', 2, position=TRIPLE)
    wrong = numba.njit(lambda table: Part(table, 0).mass)
    with pytest.raises(TypingError, match="Unknown attribute 'mass' of type Part"):
        wrong(Part.table(1))


def test_whole_numbers_of_many_states_do_not_compile() -> None:
    wrong = numba.njit(lambda table: Part(table, 0).kind)
    with pytest.raises(TypingError, match='kind: expected a number'):
        wrong(np.zeros((1, Part.width, LANES)))


@pytest.mark.parametrize('table', [
    np.zeros((1, 32), dtype=np.int64), np.zeros(32), np.zeros((1, 64))[:, ::2], 3.0])
def test_a_row_of_another_array_does_not_compile(table) -> None:
    wrong = numba.njit(lambda table: Part(table, 0).pitch)
    with pytest.raises(TypingError, match='Part: expected a table, contiguous, of float64'):
        wrong(table)


def test_rows_with_other_entries_are_other_types() -> None:
    assert repr(Row('Same', a=NUMBER)) != repr(Row('Same', a=WHOLE))
    assert repr(Row('Same', a=NUMBER)) == repr(Row('Same', a=NUMBER))
