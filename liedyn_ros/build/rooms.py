# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Build the compiled kernels of the package: a library for each room and kind of processor."""

from collections.abc import Callable, Sequence
import fcntl
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
import os
from pathlib import Path
import shlex
import subprocess
import sysconfig
import tempfile
from typing import Any

import numpy as np

from liedyn_ros.build.parts import compile_parts, CompiledPart, linked, parts
from liedyn_ros.build.sources import PACKAGE, reachable
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.jit.rooms import changed, FOLDER


def build(processors: Sequence[str], *, folder: Path = FOLDER, jobs: int = 0,
          tell: Callable[[str], None] = print) -> list[Path]:
    """
    Bring the libraries of all rooms up to date, in a folder; return those that were linked.

    jobs: processes at a time, by default one a processor. Raises LiedynError where a kernel does
    not compile, or the compiler of C fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rooms: dict[str, list[CompiledPart]] = {}
    with open(folder / '.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for part in compile_parts(parts(), processors, jobs, tell):
            rooms.setdefault(part.room, []).append(part)
        for processor in processors:
            for old in (folder / processor).glob('*.so'):
                if old.stem not in rooms:
                    old.unlink()
        return [path for processor in processors for room, those in sorted(rooms.items())
                if (path := _link(folder / processor / f'{room}.so', processor, those))]


def _link(library: Path, processor: str, those: Sequence[CompiledPart]) -> Path | None:
    """Link the library of a room where it is not up to date; return it if so."""
    rows = [(part, row) for part in those for row in part.rows()]
    objects = [str(part.object_file(processor)) for part in linked(those)]
    stamp = sha256('\n'.join([*objects, *(' '.join(row) for _, row in rows)]).encode())
    made = library.with_suffix('.digest')
    listed = library.with_suffix('.sources')
    if (library.exists() and listed.exists() and made.exists()
            and made.read_text() == stamp.hexdigest() and not changed(library)):
        return None
    library.parent.mkdir(parents=True, exist_ok=True)
    lines = ['#include <stdint.h>', 'typedef int64_t run(const void *, void *);']
    lines += [f'run liedyn_{processor}_{row[4]};' for _, row in rows]
    lines += ['const struct { const char *module, *name, *arguments, *results; int64_t unlocked; '
              'run *call; } liedyn_room[] = {']
    lines += [f'  {{"{part.module}", "{name}", "{given}", "{found.strip("-")}", '
              f'{unlocked}, liedyn_{processor}_{symbol}}},'
              for part, (name, given, found, unlocked, symbol) in rows]
    lines += ['  {0}};', '']
    with tempfile.TemporaryDirectory() as place:
        table = Path(place, 'room.c')
        table.write_text('\n'.join(lines))
        try:
            run_compiler([*_linker_of(processor), str(table), *objects, '-lm', '-o',
                          str(Path(place, 'room.so'))])
        except LiedynError as error:
            raise LiedynError(f'{library}: expected a compiler of C for {processor}, which CC may '
                              f'name: {error}', names=(processor,)) from error
        write_whole(library, Path(place, 'room.so').read_bytes())
    sources = sorted({path for part in those for path in reachable(part.path)})
    write_whole(listed, ''.join(
        f'{sha256(path.read_bytes()).hexdigest()} {path.stat().st_size} '
        f'{path.stat().st_mtime_ns} {path.relative_to(PACKAGE).as_posix()}\n'
        for path in sources).encode())
    write_whole(made, stamp.hexdigest().encode())
    return library


def _linker_of(processor: str) -> list[str]:
    return [*compiler(), '-shared', '-fPIC', '-O1', '-Wl,-Bsymbolic', '-Wl,--gc-sections']


def compiler() -> list[str]:
    """Return the command of the compiler of C: CC, or cc; raise LiedynError."""
    given = os.environ.get('CC') or 'cc'
    try:
        return shlex.split(given)
    except ValueError as error:
        raise LiedynError(f'CC: expected a command, got {given!r}: {error}', names=('CC',),
                          got=given) from error


def run_compiler(command: Sequence[str]) -> None:
    """Run the compiler of C; raise LiedynError with what it says."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LiedynError(f'{command[0]}: expected a compiler of C, which CC may name; '
                          'on Debian and Ubuntu: apt install gcc') from error
    if done.returncode != 0:
        raise LiedynError(f'{command[0]}: {done.stderr.strip()[-4000:]}')


def build_caller(folder: Path) -> Any:
    """Compile calls.c for this Python and numpy, where it is not up to date; return its module."""
    source = PACKAGE / 'jit' / 'calls.c'
    made = folder / f'calls{sysconfig.get_config_var("EXT_SUFFIX")}'
    options = ['-std=c11', '-O2', '-fPIC', '-shared', '-fvisibility=hidden', '-Wall', '-Wextra',
               '-Wno-unused-parameter', '-Wno-missing-field-initializers',
               f'-I{sysconfig.get_path("include")}', f'-I{np.get_include()}']
    stamp = sha256(source.read_bytes() + ' '.join([*options, np.__version__]).encode()).hexdigest()
    known = folder / 'libraries' / f'{made.name}.digest'
    stamp = f'{sha256(source.read_bytes()).hexdigest()} {stamp}'
    if not (made.exists() and known.exists() and known.read_text() == stamp):
        known.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            run_compiler([*compiler(), *options, str(source), '-o', f'{place}/calls.so', '-ldl'])
            write_whole(made, Path(place, 'calls.so').read_bytes())
        write_whole(known, stamp.encode())
    found = spec_from_file_location('calls', made)
    module = module_from_spec(found)  # type: ignore[arg-type]
    return module
