# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels that kernels call are compiled for them alone, and again where Python calls them."""

import os

import pytest
from support import forked

SHOW = """
from liedyn_ros.jit.cache import COUNTS
print(COUNTS.compiled, COUNTS.not_kept)
"""
FROM_A_KERNEL = """
from liedyn_ros.lie.kernels import so3
assert len(so3.exp((0.0, 0.0, 0.5))) == 9
""" + SHOW
FROM_PYTHON = """
from liedyn_ros.lie.kernels.vec3 import dot
for _ in range(2):
    assert dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)) == 32.0
""" + SHOW


def printed(root, program):
    """Return the numbers that a process prints, whose kernels are in a folder."""
    done = forked.run(
        '-c', program, env={**os.environ, 'NUMBA_CACHE_DIR': str(root), 'LIEDYN_QUIET': '1'})
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


@pytest.fixture(scope='module')
def kept(tmp_path_factory):
    """Return a folder of kernels, and what the process printed that compiled them."""
    root = tmp_path_factory.mktemp('kernels')
    return root, printed(root, FROM_A_KERNEL + FROM_PYTHON)


def test_a_kernel_that_kernels_call_is_compiled_again_for_python(kept):
    first, not_kept, both, also_not_kept = kept[1]
    assert first > 1 and both == first + 1 and not_kept == also_not_kept == 0


def test_both_are_kept_and_neither_is_taken_for_the_other(kept, tmp_path):
    root, (first, *_) = kept
    for program in (FROM_PYTHON + FROM_A_KERNEL, FROM_A_KERNEL + FROM_PYTHON):
        assert printed(root, program) == [0, 0, 0, 0]
    assert printed(tmp_path / 'other', FROM_PYTHON + FROM_A_KERNEL) == [1, 0, first, 0]
