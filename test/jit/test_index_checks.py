# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels that check their indices, in a process of their own each."""

import os
import subprocess
import sys

import pytest

KERNELS = """
import numpy as np
import numba
from liedyn_ros.jit.bundle import Bundle, VECTOR
from liedyn_ros.jit.index_checks import CHECKED
from liedyn_ros.jit.memory import rows_of
from liedyn_ros.jit.simd import get, get_int, get_lane, get_lanes, put

kernel = numba.njit(boundscheck=CHECKED, _nrt=False)
pair, table, states = Bundle('Pair', x=VECTOR, y=VECTOR), np.zeros((3, 9)), np.zeros((3, 9, 8))
flat = pair.pack(x=np.zeros(3), y=np.zeros(3))
view = pair.view
"""
ACCESSES = {  # with the first index that is wrong
    'get row': ('get(table, {}, 0)', 3), 'get column': ('get(table, 2, {})', 9),
    'get below': ('get(table, -{}, 0)', 1), 'get int': ('get_int(table, {}, 0)', 3),
    'put': ('put(table, {}, 0, 1.0)', 3), 'get lane': ('get_lane(states, 0, 0, {})', 8),
    'put states': ('put(states, 2, {}, 1.0)', 9), 'get lanes': ('get_lanes(table, 0, {})', 2),
    'array': ('table[{}, 0]', 3), 'bundle': ('view(flat).x[{}]', 3),
    'rows': ('rows_of(flat, 0, {}, 1)[0, 0]', 25)}
RUN = """
@kernel
def access(table, states, flat, i):
    {}

access(table, states, flat, {})
"""


def run(access, index, **variables):
    """Return the last line of standard error of a process that makes an access."""
    code = KERNELS + RUN.format(access.format('i'), index)
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          env={**os.environ, **variables})
    return (done.stderr.splitlines() or [''])[-1]


@pytest.mark.parametrize('name', ACCESSES)
def test_a_wrong_index_is_found_and_the_last_right_one_passes(name):
    access, wrong = ACCESSES[name]
    right = wrong - 1
    assert run(access, right, LIEDYN_CHECK='1') == ''
    assert run(access, wrong, LIEDYN_CHECK='1').startswith('IndexError')


def test_checks_are_part_of_the_digest_of_the_cache():
    code = ('from pathlib import Path; from liedyn_ros.jit import cache; '
            'print(cache.digest(Path(cache.PACKAGE, "lie", "kernels", "so3.py")))')
    digests = {subprocess.run([sys.executable, '-c', code], capture_output=True, check=True,
                              env={**os.environ, 'LIEDYN_CHECK': value}).stdout
               for value in ('0', '1')}
    assert len(digests) == 2
