# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Kernels compiled beside: a process of its own calls functions, and leaves kernels in the cache.

One process compiles one kernel at a time: numba holds a lock, and Python another. So a second
processor helps only a second process. `python -m liedyn_ros.jit.beside MODULE:FUNCTION ...` is
that process. It prints how many kernels it compiled, loaded, and could not keep.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
import os
from pathlib import Path
import subprocess
import sys
from threading import Thread
import time
from types import MappingProxyType

from liedyn_ros.jit.cache import COUNTS

NICENESS = 5  # what computes meanwhile goes first
WATCH = 1.0  # s between looks whether the process that asked is there


def name_of(call: Callable[[], None]) -> str:
    """Return the name by which another process finds a function of a module."""
    return f'{call.__module__}:{call.__qualname__}'


def compile_beside(names: Sequence[str], output: int = subprocess.DEVNULL,
                   variables: Mapping[str, str] = MappingProxyType({})
                   ) -> 'subprocess.Popen[str]':
    """
    Start a process that calls functions, each by its `name_of`, in this order.

    output: stdout and stderr of Popen. variables: of its environment, beside those of this
    process. Raises OSError where no process starts.
    """
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get('PYTHONPATH'))))
    return subprocess.Popen(
        [sys.executable, '-m', __name__, *names], text=True, stdin=subprocess.DEVNULL,
        stdout=output, stderr=output,
        env={**os.environ, 'PYTHONPATH': path, 'LIEDYN_QUIET': '1', **variables})


def main(names: Sequence[str]) -> int:
    """Call the functions; print the counts of kernels."""
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    os.nice(NICENESS)
    for name in names:
        module, _, function = name.partition(':')
        getattr(import_module(module), function)()
    print(COUNTS.compiled, COUNTS.loaded, COUNTS.not_kept)
    return 0


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(1)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
