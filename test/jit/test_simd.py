# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Eight entries of a row side by side, beside numpy."""

import numba
import numpy as np

from liedyn_ros.jit.simd import (
    align_stack, broadcast, by_bit, filled, get, get_lanes, get_quad, joined, LANES, lanes_at,
    of_width, parts, put_lanes, put_quad, quad_of, rolled, swapped, total, transposed, with_lane)


@numba.njit(_nrt=False)
def combine(table, factor, out):
    for column in range(0, table.shape[1], LANES):
        put_lanes(out, 0, column, get_lanes(table, 0, column) + broadcast(factor) * get_lanes(
            table, 1, column))
    return total(get_lanes(table, 1, LANES))


@numba.njit(_nrt=False)
def turn(table, out):
    align_stack()
    rows = transposed(get_lanes(table, 0, 0), get_lanes(table, 1, 0), get_lanes(table, 2, 0),
                      get_lanes(table, 3, 0), get_lanes(table, 4, 0), get_lanes(table, 5, 0),
                      get_lanes(table, 6, 0), get_lanes(table, 7, 0))
    put_lanes(out, 0, 0, rows[0])
    put_lanes(out, 1, 0, rows[1])
    put_lanes(out, 2, 0, rows[6])


@numba.njit(_nrt=False)
def replace(vector, lane, out):
    put_lanes(out, 0, 0, with_lane(lanes_at(vector, 2), lane, 7.0))


@numba.njit(_nrt=False)
def fill(first, second, lane):
    return parts(-(filled(quad_of(first), lane, second) + 1.0) * filled(quad_of(2.0), 3, 0.5))


@numba.njit(_nrt=False)
def shift(table, column, a, b):
    quad = get_quad(table, 0, column)
    put_quad(table, 1, column + 1, rolled(quad) + a * joined(a, b, 1.0, 0.0))
    put_quad(table, 2, 0, swapped(quad))


@numba.njit(_nrt=False)
def entry(table, row, column):
    known = of_width(table, 3)
    return known.shape[1] * get(known, row, column)


def test_a_table_of_known_width_is_the_table() -> None:
    table = np.arange(12.0).reshape(4, 3)
    assert entry(table, 2, 1) == 3 * table[2, 1]


@numba.njit(_nrt=False)
def chosen(number, bit):
    return by_bit(number, bit, 2.0, 3.0)


def test_a_bit_of_a_number_chooses_between_two() -> None:
    numbers = 2.0**52 + np.arange(4.0)
    assert [chosen(x, 0) for x in numbers] == [2.0, 3.0, 2.0, 3.0]
    assert [chosen(x, 1) for x in numbers] == [2.0, 2.0, 3.0, 3.0]


def test_entries_of_a_row_are_read_summed_and_written() -> None:
    table, out = np.random.default_rng(1).normal(size=(2, 3 * LANES)), np.zeros((1, 3 * LANES))
    assert np.isclose(combine(table, 0.5, out), table[1, LANES:2 * LANES].sum(), rtol=1e-15)
    np.testing.assert_allclose(out[0], table[0] + 0.5 * table[1], rtol=1e-15)


def test_eight_rows_become_their_columns() -> None:
    table, out = np.random.default_rng(2).normal(size=(LANES, LANES)), np.zeros((3, LANES))
    turn(table, out)
    np.testing.assert_array_equal(out, table[:, [0, 1, 6]].T)


def test_one_of_eight_entries_of_a_vector_is_replaced() -> None:
    vector = np.random.default_rng(4).normal(size=10)
    for lane in (0, 5, LANES):  # there is no lane after the last
        wanted, out = vector[2:].copy(), np.zeros((1, LANES))
        wanted[lane:lane + 1] = 7.0
        replace(vector, lane, out)
        np.testing.assert_array_equal(out[0], wanted)


def test_the_stack_of_a_kernel_is_aligned_where_it_asks_for_it() -> None:
    turn(np.zeros((LANES, LANES)), np.zeros((3, LANES)))
    assert all('align 64' in text for text in turn.inspect_llvm().values())


def test_four_lanes_are_filled_from_one_on() -> None:
    wanted = [(-8.0, -8.0, -8.0, -2.0), (-6.0, -8.0, -8.0, -2.0), (-6.0, -6.0, -6.0, -1.5)]
    assert [fill(2.0, 3.0, lane) for lane in (0, 1, 4)] == wanted


def test_four_entries_of_a_row_are_read_turned_and_written() -> None:
    table = np.random.default_rng(3).normal(size=(3, 9))
    wanted = table.copy()
    wanted[1, 4:8] = table[0, [4, 5, 3, 6]] + 2.0 * np.array([2.0, 3.0, 1.0, 0.0])
    wanted[2, :4] = table[0, [4, 3, 6, 5]]
    shift(table, 3, 2.0, 3.0)
    np.testing.assert_array_equal(table, wanted)
