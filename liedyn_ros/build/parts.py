# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Objects of modules with entries, each compiled once for a kind of processor.

A module's bitcode and its objects are kept in the user's folder of caches by the digest of the
sources that it reaches: so an edit compiles what it reaches alone. Both the rooms of Python and
the C library are linked from these objects. A process for each room lowers and emits.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import gc
from importlib import import_module
from itertools import product
import os
from pathlib import Path
import re
import subprocess
import sys
import tempfile
import time
from typing import Any
import zlib

from liedyn_ros.build.sources import digest, FUNCTIONS_FOLDER, PACKAGE
from liedyn_ros.common.checks import require_known
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import own_folder, write_whole
from liedyn_ros.jit.kinds import choices_of, text_of
from liedyn_ros.jit.rooms import room_of

OBJECTS = 'LIEDYN_OBJECTS'  # a variable of the environment: where objects are kept
MAX_UNUSED_TIME = 30 * 86400.0  # s, after which an object is removed
MOST_WORDS = 256  # of arguments and results, as calls.c has room for
# New objects between collections; by Python's 700 these take a fifth of a build
COLLECTION_THRESHOLD = 100_000
_ENTRY = re.compile(r'^@(?:long_)?kernel\ndef \w+\([^)]*: [A-Za-z]', re.MULTILINE)
_NAME = 'liedyn_ros.build.parts'
_CALLS = 'calls '  # begins the line of a module in the rows of one that calls its entries


@dataclass(frozen=True)
class CompiledPart:
    """A module with entries: its file, its room, and the digest of what it reaches."""

    path: Path
    room: str
    digest: str

    @property
    def module(self) -> str:
        """Return the name of the module."""
        return _module(self.path)

    def kept(self, suffix: str) -> Path:
        """Return where its bitcode is kept, or the rows of its entries."""
        return own_folder(objects_folder() / 'bitcode') / f'{self.module}-{self.digest}{suffix}'

    def object_file(self, processor: str) -> Path:
        """Return where its object for a kind of processor is kept."""
        return own_folder(objects_folder() / processor) / f'{self.module}-{self.digest}.o'

    def rows(self) -> list[list[str]]:
        """
        Return name, arguments, results, whether it is unlocked, and symbol of each entry.

        Of a function of the C library: its name, and each argument as name:kind.
        """
        return [line.split() for line in self._lines() if not line.startswith(_CALLS)]

    def called(self) -> list[str]:
        """Return the modules whose entries its kernels call."""
        return [line.removeprefix(_CALLS) for line in self._lines() if line.startswith(_CALLS)]

    def _lines(self) -> list[str]:
        return self.kept('.rows').read_text().splitlines()


def objects_folder() -> Path:
    """Return the folder of objects: LIEDYN_OBJECTS, else one of the user's caches."""
    named = os.environ.get(OBJECTS)
    if named:
        return Path(named).absolute()
    caches = os.environ.get('XDG_CACHE_HOME', '')
    root = Path(caches) if os.path.isabs(caches) else Path.home() / '.cache'
    return root / 'liedyn_ros' / 'objects'


def parts() -> list[CompiledPart]:
    """Return the modules with entries for Python."""
    return [_part(path) for path in sorted(PACKAGE.glob('**/kernels/*.py'))
            if _ENTRY.search(path.read_text())]


def function_parts() -> list[CompiledPart]:
    """Return the modules with functions of the C library."""
    return [_part(path) for path in sorted((PACKAGE / FUNCTIONS_FOLDER).glob('[a-z]*.py'))]


def _part(path: Path) -> CompiledPart:
    return CompiledPart(path, room_of(_module(path)), digest(path))


def _module(path: Path) -> str:
    return '.'.join(path.relative_to(PACKAGE.parent).with_suffix('').parts)


def linked(first: Iterable[CompiledPart]) -> list[CompiledPart]:
    """Return parts, which are compiled, and those whose entries they call, directly or not."""
    found = {part.module: part for part in first}
    left = list(found.values())
    while left:
        for module in left.pop().called():
            if module not in found:
                found[module] = _part(PACKAGE.parent / f'{module.replace(".", "/")}.py')
                left.append(found[module])
    return list(found.values())


def compile_parts(wanted: Iterable[CompiledPart], processors: Sequence[str], jobs: int = 0,
                  tell: Callable[[str], None] = lambda line: None) -> list[CompiledPart]:
    """
    Compile parts that lack an object for one of the processors, and what they call; return these.

    jobs: processes at a time, by default one a processor. Raises LiedynError where a kernel does
    not compile, and for an unknown processor or fewer jobs.
    """
    from liedyn_ros.build.objects import PROCESSORS
    require_known(LiedynError, 'processors', sorted(PROCESSORS), processors, 'some')
    if jobs < 0:
        raise LiedynError(f'jobs: expected 0, for one a processor, or more, got {jobs}',
                          names=('jobs',), got=jobs)
    every: list[CompiledPart] = []
    found, done = list(wanted), 0

    def compile_room(those: list[CompiledPart]) -> None:
        nonlocal done
        names = [part.path.relative_to(PACKAGE).as_posix() for part in those]
        for line in _lines_of_process([*processors, '--', *names]):
            done += 1
            tell(f'{done} of {total} modules of kernels: {line}')

    with ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0))) as pool:
        while len(found) > len(every):  # those that these call are found when they are compiled
            every = found
            rooms: dict[str, list[CompiledPart]] = {}
            lacking = [part for part in every if _lacks(part, processors)]
            for part in lacking:
                rooms.setdefault(part.room, []).append(part)
            total = done + len(lacking)
            list(pool.map(compile_room, sorted(rooms.values(), key=len, reverse=True)))
            if any(_lacks(part, processors) for part in lacking):
                raise LiedynError('kernels: a source changed while they compiled; build again')
            found = linked(every)
    for processor in processors:
        _remove_unused([part.object_file(processor) for part in every])
    _remove_unused([part.kept(suffix) for part in every for suffix in ('.bc', '.rows')])
    return every


def _remove_unused(used: Sequence[Path]) -> None:
    """Mark files as used now, and remove those beside them that nothing has used for long."""
    for path in used:
        os.utime(path)
    for path in used[0].parent.iterdir():
        if time.time() - path.stat().st_mtime > MAX_UNUSED_TIME:
            path.unlink(missing_ok=True)


def _lacks(part: CompiledPart, processors: Iterable[str]) -> bool:
    return not all(path.exists() for path in (
        part.kept('.bc'), part.kept('.rows'), *map(part.object_file, processors)))


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
    """Write bitcode, rows and objects of modules, in a process with the environment of numba."""
    from liedyn_ros.build.compiler import share_kernels
    from liedyn_ros.build.objects import emitted, PROCESSORS
    share_kernels()
    gc.set_threshold(COLLECTION_THRESHOLD)
    for name in names:
        part = _part(PACKAGE / name)
        if not (part.kept('.bc').exists() and part.kept('.rows').exists()):
            bitcode, lines = _lowered(part)
            write_whole(part.kept('.bc'), zlib.compress(bitcode, 1))
            write_whole(part.kept('.rows'), '\n'.join(lines).encode())
        bitcode = zlib.decompress(part.kept('.bc').read_bytes())
        for processor in processors:
            if not part.object_file(processor).exists():
                write_whole(part.object_file(processor), emitted(bitcode, PROCESSORS[processor]))
        print(part.module, flush=True)


def _lowered(part: CompiledPart) -> tuple[bytes, list[str]]:
    """Return the bitcode of a module, and the lines of its rows."""
    from liedyn_ros.build.c_entries import functions_of
    from liedyn_ros.build.compiler import MODULES, name_of
    from liedyn_ros.build.kinds import text_of_result, type_of
    from liedyn_ros.build.lowering import lowered, Source
    from liedyn_ros.build.pointer_calls import add_pointer_calls
    from liedyn_ros.build.words import called_entries
    if part.path.parent == PACKAGE / FUNCTIONS_FOLDER:
        functions = list(functions_of(import_module(part.module)))
        lines = [' '.join([each.name, *(f'{name}:{kind}' for name, kind in each.in_c())])
                 for each in functions]
        bitcode, _ = lowered(Source(each.name, each.function, tuple(map(type_of, each.kinds)),
                                    each.on_words) for each in functions)
        bitcode = add_pointer_calls(bitcode, [each for each in functions if each.by_pointers])
    else:
        rows = [(entry, kinds, name_of(entry, k)) for entry in entries_of(part.module)
                for k, kinds in enumerate(product(*map(choices_of, entry.kinds)))]
        bitcode, results = lowered(
            Source(name, entry.py_func, tuple(map(type_of, kinds)), True)
            for entry, kinds, name in rows)
        lines = [row_of(entry, ''.join(map(text_of, kinds)), text_of_result(results[name]), name)
                 for entry, kinds, name in rows]
    called = {MODULES[name] for name in called_entries(bitcode)} - {part.module}
    return bitcode, lines + [f'{_CALLS}{module}' for module in sorted(called)]


def row_of(entry: Any, given: str, found: str, name: str) -> str:
    """Return the row of an entry; raise LiedynError for a wrong kind of result, or many words."""
    if entry.is_shared and text_of(entry.result) != (found or 'n'):
        raise LiedynError(f'{name}: expected a result of the kind {text_of(entry.result)!r}, '
                          f'got {found!r}')
    if max(_words(given), _words(found)) > MOST_WORDS:
        raise LiedynError(f'{name}: expected at most {MOST_WORDS} words, got {given}, {found}')
    return f'{entry.__qualname__} {given} {found or "-"} {int(entry.unlocked)} {name}'


def entries_of(module: str) -> list[Any]:
    """Return the entries that a module defines."""
    return [value for value in vars(import_module(module)).values()
            if getattr(value, 'is_entry', False) and value.__module__ == module]


def _words(kinds: str) -> int:
    """Return how many words kinds have, arrays with their lengths."""
    return sum(2 if each == 'z' else 1 for each in kinds if each in 'dqbz') + sum(
        int(each) for each in kinds if each.isdigit())


if __name__ == '__main__':
    _split = sys.argv.index('--')
    compile_modules(sys.argv[1:_split], sys.argv[_split + 1:])
