# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The memory of a process that runs one node."""

import subprocess
import sys

import pytest

from liedyn_ros.ros.process import memory

pytestmark = pytest.mark.ros
GROWTH = """
import ctypes
from pathlib import Path
from liedyn_ros.ros.process import memory

libc = ctypes.CDLL(None)
for function in (libc.malloc, libc.calloc):
    function.restype = ctypes.c_void_p

def resident():
    for line in Path('/proc/self/status').read_text().splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024

{begin}
before = resident()
for _ in range(3):  # endpoints are opened, something else is kept, and they are closed
    blocks = [libc.calloc(1, 1 << 20) for _ in range(100)]
    libc.malloc(100000)
    found = resident() - before
    for block in blocks:
        libc.free(ctypes.c_void_p(block))
print(found)
"""


@pytest.mark.skipif(not hasattr(memory.ctypes.CDLL(None), 'mallopt'), reason='glibc is not here')
@pytest.mark.parametrize('begin, least, most', [
    ('memory.keep_large_blocks_apart()', 0.0, 8.0),
    ('libc.mallopt(-3, 32 << 20), libc.mallopt(-1, 512 << 20)', 80.0, 200.0)])
def test_what_is_set_aside_and_never_used_takes_no_memory(begin, least, most):
    """
    MB, of 100 MB that are set aside; the second case shows that the test can fail.

    It takes all blocks below 32 MB from the heap and keeps them, as the library comes to do.
    """
    found = subprocess.run(
        [sys.executable, '-c', GROWTH.format(begin=begin)], check=True, text=True,
        stdout=subprocess.PIPE)
    assert least <= float(found.stdout) <= most
