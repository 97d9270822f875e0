# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Memory of a process that runs one node: none that the middleware never uses, and short pauses.

Fast DDS sets aside a hundred of the largest messages for each topic, 100 MB where a list may hold
10 000 entries. A block of the system has no memory before it is written to. The C library takes
blocks from there until the first large one is freed. Then it takes them from its heap and writes
zeros to them: a server of 330 MB had 840 MB after it was configured again.

A garbage collection looks at all objects, which takes a tenth of a second after the imports.
Frozen ones are left out. Only `process.run` changes this; elsewhere the process is the user's.
"""

import ctypes
import gc

_M_MMAP_THRESHOLD = -3  # of mallopt, malloc.h
LARGE_BLOCK = 128 * 1024  # bytes; the C library's own threshold at the start
_taken_over = False
_configured = False  # whether the objects of a configuration are frozen


def keep_large_blocks_apart() -> None:
    """Take blocks above LARGE_BLOCK from the system, and return them, as at the start."""
    mallopt = getattr(ctypes.CDLL(None), 'mallopt', None)
    if mallopt is not None:  # another C library than glibc does not change its threshold
        mallopt(_M_MMAP_THRESHOLD, LARGE_BLOCK)


def take_over() -> None:
    """
    Let `freeze` and `freeze_all` act: this process runs one node and nothing else.

    What is imported stays. To search it takes a tenth of a second, and a start did so four times
    or more.
    """
    global _taken_over
    _taken_over = True
    gc.disable()  # it would stop a stream at any time; a timer collects the garbage
    gc.freeze()


def freeze_all() -> None:
    """Collect the garbage of all objects, of an earlier configuration too; freeze the others."""
    if _taken_over:
        if _configured:
            gc.unfreeze()
        _freeze()


def freeze() -> None:
    """Collect the garbage of objects that are not frozen; freeze those of a configuration."""
    global _configured
    if _taken_over:
        _configured = True
        _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()
