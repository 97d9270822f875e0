# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels that check their indices, in a process of their own; tables within an array."""

import json
import os

import numba
from numba.core.errors import TypingError
import numpy as np
import pytest
from support import forked

from liedyn_ros.jit.pointers import rows_of
from liedyn_ros.model.kernels.configuration import finite

ACCESSES = {  # with the first index that is wrong
    'get row': ('get(table, {}, 0)', 3), 'get column': ('get(table, 2, {})', 9),
    'get below': ('get(table, -{}, 0)', 1), 'get int': ('get_int(table, {}, 0)', 3),
    'put': ('put(table, {}, 0, 1.0)', 3), 'get lane': ('get_lane(states, 0, 0, {})', 8),
    'put states': ('put(states, 2, {}, 1.0)', 9), 'get lanes': ('get_lanes(table, 0, {})', 2),
    'get quad': ('get_quad(table, 2, {})', 6),
    'put quad': ('put_quad(table, {}, 0, quad_of(1.0))', 3),
    'array': ('table[{}, 0]', 3), 'bundle': ('view(flat).x[{}]', 3),
    'rows': ('rows_of(flat, 0, {}, 1)[0, 0]', 25),
    'row': ('ROW(table, {}).x', 3), 'row below': ('ROW(table, -{}).x', 1),
    'row of another width': ('ROW(rows_of(flat, 0, 1, 9 - {}), 0).x', 1),
    'too wide': ('get(of_width(table, {}), 0, 0)', 10),
    'too narrow': ('get(of_width(table, 17 - {}), 0, 0)', 9)}

RUN = f"""
import json
import liedyn_ros.build
import numba
import numpy as np
from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import CHECKED
from liedyn_ros.jit.kinds import NUMBER, VECTOR
from liedyn_ros.jit.pointers import rows_of
from liedyn_ros.jit.rows import Row
from liedyn_ros.jit.simd import (
    get, get_int, get_lane, get_lanes, get_quad, of_width, put, put_quad, quad_of)

kernel = numba.njit(boundscheck=CHECKED, _nrt=False)
pair, table, states = Bundle('Pair', x=VECTOR, y=VECTOR), np.zeros((3, 9)), np.zeros((3, 9, 8))
ROW = Row('Row', 9, x=NUMBER)
flat = pair.pack(x=np.zeros(3), y=np.zeros(3))
view, found = pair.view, {{}}
for name, (access, wrong) in {ACCESSES}.items():
    names = dict(globals())
    exec(f"def access(table, states, flat, i): {{access.format('i')}}", names)
    for index in (wrong - 1, wrong):
        try:
            kernel(names['access'])(table, states, flat, index)
        except Exception as error:
            found[name] = [*found.get(name, []), type(error).__name__]
        else:
            found[name] = [*found.get(name, []), 'passed']
print(json.dumps(found))
"""


def run(code, checks):
    """Return a process of Python that has run some code with a value of LIEDYN_CHECK."""
    return forked.run('-c', code, env={**os.environ, 'LIEDYN_CHECK': checks})


@pytest.fixture(scope='module')
def outcomes():
    """Return the outcomes of each access at the last right index, and at the first wrong one."""
    done = run(RUN, '1')
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize('name', ACCESSES)
def test_a_wrong_index_is_found_and_the_last_right_one_passes(outcomes, name):
    assert outcomes[name] == ['passed', 'IndexError']


def test_another_value_of_the_mode_is_refused():
    done = run('import liedyn_ros.jit.decorators', 'yes')
    assert done.stderr.endswith("ImportError: LIEDYN_CHECK: expected 0 or 1, got 'yes'\n")


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
