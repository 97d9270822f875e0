# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Build the compiled kernels of the package: a library for each room and kind of processor.

Each module with entries becomes an object. Objects are kept in the user's folder of caches by the
digest of the sources that the module reaches, so an edit compiles what it reaches alone. A
process for each room lowers, optimizes and emits; the compiler of C links.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import fcntl
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import time
from typing import Any

import numpy as np

from liedyn_ros.build.sources import digest, PACKAGE, reachable
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import own_folder, write_whole
from liedyn_ros.jit.kinds import choices_of, text_of
from liedyn_ros.jit.rooms import changed, FOLDER, room_of

OBJECTS = 'LIEDYN_OBJECTS'  # a variable of the environment: where objects are kept
UNUSED = 30 * 86400.0  # s, after which an object is removed
MOST_WORDS = 256  # of arguments and results, as calls.c has room for
_ENTRY = re.compile(r'^@(?:long_)?kernel\ndef \w+\([^)]*: [A-Za-z]', re.MULTILINE)
_NAME = 'liedyn_ros.build.rooms'


@dataclass(frozen=True)
class Part:
    """A module with entries: its file, its room, and the digest of what it reaches."""

    path: Path
    room: str
    digest: str

    @property
    def module(self) -> str:
        """Return the name of the module."""
        return '.'.join(self.path.relative_to(PACKAGE.parent).with_suffix('').parts)

    def file(self, processor: str, suffix: str) -> Path:
        """Return where its object, or the rows of its entries, is kept."""
        return own_folder(objects_folder() / processor) / f'{self.module}-{self.digest}{suffix}'


def objects_folder() -> Path:
    """Return the folder of objects: LIEDYN_OBJECTS, else one of the user's caches."""
    named = os.environ.get(OBJECTS)
    if named:
        return Path(named).absolute()
    caches = os.environ.get('XDG_CACHE_HOME', '')
    root = Path(caches) if os.path.isabs(caches) else Path.home() / '.cache'
    return root / 'liedyn_ros' / 'objects'


def parts() -> list[Part]:
    """Return the modules with entries."""
    found = []
    for path in sorted(PACKAGE.glob('**/kernels/*.py')):
        text = path.read_text()
        if _ENTRY.search(text):
            name = '.'.join(path.relative_to(PACKAGE.parent).with_suffix('').parts)
            found.append(Part(path, room_of(name), digest(path)))
    return found


def build(processors: Sequence[str], *, folder: Path = FOLDER, jobs: int = 0,
          tell: Callable[[str], None] = print) -> list[Path]:
    """
    Bring the libraries of all rooms up to date, in a folder; return those that were linked.

    jobs: processes at a time, by default one a processor. Raises LiedynError where a kernel does
    not compile, or the compiler of C fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / '.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build(processors, folder, jobs or len(os.sched_getaffinity(0)), tell)


def _build(processors: Sequence[str], folder: Path, jobs: int, tell: Callable[[str], None]
           ) -> list[Path]:
    every = parts()
    rooms: dict[str, list[Part]] = {}
    for part in every:
        rooms.setdefault(part.room, []).append(part)
    lacking = {room: [part for part in those if _lacks(part, processors)]
               for room, those in rooms.items()}
    total, done = sum(map(len, lacking.values())), 0

    def compile_room(room: str) -> None:
        nonlocal done
        names = [part.path.relative_to(PACKAGE).as_posix() for part in lacking[room]]
        for line in _lines_of_process([*processors, '--', *names]):
            done += 1
            tell(f'{done} of {total} modules of kernels: {line}')

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile_room, sorted(
            filter(lacking.get, lacking), key=lambda room: -len(lacking[room]))))
    linked = [path for processor in processors for room, those in sorted(rooms.items())
              if (path := _link(folder / processor / f'{room}.so', processor, those))]
    for processor in processors:
        for path in (folder / processor).glob('*.so'):
            if path.stem not in rooms:
                path.unlink()
        _remove_unused([part.file(processor, suffix)
                        for part in every for suffix in ('.o', '.rows')])
    return linked


def _remove_unused(used: Sequence[Path]) -> None:
    """Mark objects as used now, and remove objects that nothing has used for long."""
    for path in used:
        os.utime(path)
    for path in used[0].parent.iterdir():
        if time.time() - path.stat().st_mtime > UNUSED:
            path.unlink(missing_ok=True)


def _lacks(part: Part, processors: Iterable[str]) -> bool:
    return not all(part.file(each, '.rows').exists() for each in processors)


def _lines_of_process(arguments: Sequence[str]) -> Iterable[str]:
    """Compile in a process of its own; yield a line for each module."""
    from liedyn_ros.build.lowering import ENVIRONMENT
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get('PYTHONPATH'))))
    with tempfile.TemporaryFile('w+') as errors, subprocess.Popen(
            [sys.executable, '-m', _NAME, *arguments], stdout=subprocess.PIPE, stderr=errors,
            text=True, env=os.environ | ENVIRONMENT | {'PYTHONPATH': path}) as process:
        yield from map(str.strip, process.stdout or ())
        if process.wait() != 0:
            errors.seek(0)
            raise LiedynError(f'kernels do not compile: {errors.read().strip()[-4000:]}')


def compile_modules(processors: Sequence[str], names: Iterable[str]) -> None:
    """Write objects and rows of modules, in a process with the environment of `lowering`."""
    from liedyn_ros.build.kinds import text_of_result, type_of
    from liedyn_ros.build.lowering import lowered, Source
    from liedyn_ros.build.objects import emitted, PROCESSORS
    for name in names:
        path = PACKAGE / name
        part = Part(path, '', digest(path))
        sources, rows = [], []
        for entry in entries_of(part.module):
            for k, kinds in enumerate(product(*map(choices_of, entry.kinds))):
                symbol = f'{part.module.replace(".", "_")}_{entry.__qualname__}_{k}'
                sources.append(Source(symbol, entry.py_func, tuple(map(type_of, kinds)), True))
                rows.append((entry, ''.join(map(text_of, kinds)), symbol))
        bitcode, results = lowered(sources)
        lines = [f'{entry.__qualname__} {given} {text_of_result(results[symbol]) or "-"} '
                 f'{int(entry.unlocked)} {symbol}' for entry, given, symbol in rows]
        for line in lines:
            if max(map(_words, line.split()[1:3])) > MOST_WORDS:
                raise LiedynError(f'{line}: expected at most {MOST_WORDS} words')
        for processor in processors:
            write_whole(part.file(processor, '.o'), emitted(bitcode, PROCESSORS[processor]))
            write_whole(part.file(processor, '.rows'), '\n'.join(lines).encode())
        print(part.module, flush=True)


def entries_of(module: str) -> list[Any]:
    """Return the entries that a module defines."""
    return [value for value in vars(import_module(module)).values()
            if getattr(value, 'is_entry', False) and value.__module__ == module]


def _words(kinds: str) -> int:
    """Return how many words kinds have, arrays with their lengths."""
    return sum(2 if each == 'z' else 1 for each in kinds if each in 'dqbz') + sum(
        int(each) for each in kinds if each.isdigit())


def _link(library: Path, processor: str, those: Sequence[Part]) -> Path | None:
    """Link the library of a room where it is not up to date; return it if so."""
    rows = [(part, line.split()) for part in those
            for line in part.file(processor, '.rows').read_text().splitlines()]
    objects = [str(part.file(processor, '.o')) for part in those]
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
        run_compiler([*_linker_of(processor), str(table), *objects, '-lm', '-o',
                      str(Path(place, 'room.so'))])
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
    """Return the compiler of C: CC, or that of Python, or cc."""
    return shlex.split(os.environ.get('CC') or 'cc')


def run_compiler(command: Sequence[str]) -> None:
    """Run the compiler of C; raise LiedynError with what it says."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
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


if __name__ == '__main__':
    _split = sys.argv.index('--')
    compile_modules(sys.argv[1:_split], sys.argv[_split + 1:])
