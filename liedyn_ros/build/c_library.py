# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The objects and the header of kernels for `libliedyn`, from the sources of this package."""

from collections.abc import Iterable
from functools import partial
import multiprocessing
import os
from pathlib import Path
import subprocess
import sys
import tempfile

from liedyn_ros.build.c_entries import declarations, entries
from liedyn_ros.build.lowering import ENVIRONMENT, lowered, Source
from liedyn_ros.build.objects import emitted, PROCESSORS
from liedyn_ros.common.checks import require_known
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.processes import results_of_processes
from liedyn_ros.common.whole_files import write_whole

HEADER = 'liedyn_kernels.h'


def build_objects(folder: Path, processors: Iterable[str] = tuple(PROCESSORS)) -> list[Path]:
    """
    Write HEADER and an object of all kernels for each processor into a folder; return the objects.

    It takes a minute or more, in a process of its own. Raises LiedynError for an unknown
    processor, and where an object would need more than libm, memcpy, memmove and memset.
    """
    chosen = tuple(processors)
    require_known(LiedynError, 'processors', sorted(PROCESSORS), chosen, 'some')
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:  # numba keeps no kernel without optimization
        command = [sys.executable, '-m', __name__, str(folder.resolve()), *chosen]
        root = Path(__file__).parents[2]
        path = os.pathsep.join(filter(None, (str(root), os.environ.get('PYTHONPATH'))))
        done = subprocess.run(
            command, env=os.environ | ENVIRONMENT | {
                'NUMBA_CACHE_DIR': cache, 'PYTHONPATH': path},
            capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LiedynError(f'objects: {done.stderr.strip().splitlines()[-1]}')
    return [folder / f'{name}.o' for name in chosen]


def write_objects(folder: Path, processors: Iterable[str]) -> None:
    """Write header and objects, in a process with ENVIRONMENT, and in one for each object."""
    rows, names = list(entries()), tuple(processors)
    bitcode, _ = lowered(Source(each.name, each.function, each.types, False) for each in rows)
    for name, code in results_of_processes(
            partial(emitted, bitcode), {name: PROCESSORS[name] for name in names},
            os.cpu_count() or 1, multiprocessing.get_context('spawn')):
        write_whole(folder / f'{name}.o', code)
    write_whole(folder / HEADER, declarations(rows, tuple(
        each.prefix for each in PROCESSORS.values())))


if __name__ == '__main__':
    write_objects(Path(sys.argv[1]), sys.argv[2:])
