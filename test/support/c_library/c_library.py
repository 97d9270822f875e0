# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The C library, its objects and its programs, built once; skipped where no compiler is."""

from collections.abc import Sequence
import fcntl
import functools
import hashlib
import os
from pathlib import Path
import platform
import shutil
import subprocess

import pytest
from support.tiers import bounded, LONGEST_OF_FULL

from liedyn_ros.build import c_interface, c_library
from liedyn_ros.build.objects import PROCESSORS
from liedyn_ros.build.parts import function_parts, objects_folder

ROOT = Path(__file__).parents[3] / 'libliedyn'
SOURCES = tuple(f'src/{name}.c' for name in (
    'calls', 'loop_assembly', 'loop_tracking', 'loops', 'model',
    'platform_tracking', 'platforms'))
WARNINGS = ('-std=gnu11', '-Wall', '-Wextra', '-Wpedantic', '-Werror')
HOST = pytest.mark.skipif(platform.machine() != 'x86_64', reason='needs an x86-64 processor')
# The kernels of the older processor. Valgrind knows all of their instructions; it does not know
# vmovq between registers as LLVM writes it for the newer one (opcode D6).
V2 = ('-DLIEDYN_V2_ALONE',)
SANITIZERS = ('-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all')


def require_tools(*names: str) -> None:
    """Skip the test where a program is missing."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        pytest.skip(f'needs {", ".join(missing)}')


@functools.cache
def object_folder(family: str = 'x86_64') -> Path:
    """Return the folder of objects for a family of processors, compiled if it is not there."""
    state = hashlib.sha256(family.encode())
    package = Path(c_library.__file__).parents[1]
    for path in sorted((*package.glob('build/c_*.py'), *package.glob('export/functions/*.py'),
                        *ROOT.glob('include/*.in'))):
        state.update(path.read_bytes())
    for part in function_parts():
        state.update(part.digest.encode())
    parent = objects_folder() / 'library'
    parent.mkdir(parents=True, exist_ok=True)
    folder = parent / state.hexdigest()[:16]
    if folder.is_dir():  # others may be made for minutes, behind the lock
        return folder
    with bounded(LONGEST_OF_FULL), (parent / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            made = folder.with_suffix('.made')
            c_library.build_objects(
                made, [each for each in PROCESSORS if each.startswith(family)])
            made.rename(folder)
    return folder


def built(sources: Sequence[str], *flags: str, processor: str = 'x86_64', compiler: str = 'gcc'
          ) -> Path:
    """
    Return a program or library of sources of ROOT and the objects of a processor.

    It is kept beside the objects: what is built of the same sources is built once.
    """
    require_tools(compiler)
    objects_of_all, command = object_folder(processor), [compiler, *WARNINGS, '-O2', *flags]
    files = [*(ROOT / source for source in (*sources, *SOURCES)),
             objects_of_all / c_interface.CALLS]
    state = hashlib.sha256(repr([command, processor, sources]).encode())
    for path in (*files, *sorted(ROOT.glob('src/*.h'))):
        state.update(path.read_bytes())
    target = objects_of_all / state.hexdigest()[:16]
    if not target.exists():
        made = target.with_suffix(f'.{os.getpid()}')
        subprocess.run(
            [*command, *(f'-I{folder}' for folder in (
                objects_of_all / 'include', objects_of_all, ROOT / 'src')), *map(str, files),
             *map(str, sorted(objects_of_all.glob(f'{processor}*.o'))), '-lm', '-lpthread',
             '-o', str(made)], check=True)
        made.replace(target)
    return target


def installed() -> Path:
    """Return the prefix into which CMake installs the library."""
    folder = project(ROOT, f'-DLIEDYN_OBJECTS={object_folder()}', '-DCMAKE_INSTALL_LIBDIR=lib')
    return folder / 'prefix'


def project(source: Path, *options: str) -> Path:
    """
    Return the folder in which CMake has built a project, and installed it if it can be.

    It is kept beside the objects, under a digest of the project's files and options.
    """
    require_tools('cmake', 'gcc', 'make')
    state = hashlib.sha256(repr([str(source), *options]).encode())
    for path in sorted(each for each in source.rglob('*') if each.is_file()):
        state.update(f'{path.relative_to(source)}\0'.encode() + path.read_bytes())
    parent = object_folder().with_name(f'{object_folder().name}_projects')
    parent.mkdir(exist_ok=True)
    folder = parent / state.hexdigest()[:16]
    with bounded(LONGEST_OF_FULL), (parent / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / 'made').is_file():
            run('cmake', '-S', source, '-B', folder, f'-DCMAKE_INSTALL_PREFIX={folder / "prefix"}',
                *options)
            run('cmake', '--build', folder)
            if source == ROOT:
                run('cmake', '--install', folder)
            (folder / 'made').touch()
    return folder


def run(*command: object, code: int = 0) -> str:
    """Run a program, and return what it printed; fail where it ends with another code."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    assert done.returncode == code, f'{command}: {done.returncode}\n{done.stdout}{done.stderr}'
    return done.stdout
