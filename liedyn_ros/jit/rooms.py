# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The compiled kernels: a shared library for each room, which the build writes beside this module.

A room is a part of the package, and closed loops are one. Its library is loaded with the first
module that has kernels of it. In a tree of sources the kernels have to be as new as these.
"""

import functools
from hashlib import sha256
from importlib import import_module
import os
from pathlib import Path
from typing import Any

from liedyn_ros.common.errors import LiedynError

PACKAGE = Path(__file__).parents[1]
FOLDER = PACKAGE / 'jit' / 'libraries'
SOURCES = PACKAGE.parent / 'setup.py'  # is there in a tree of sources alone
VARIABLE = 'LIEDYN_JIT'  # of the environment; with 1 nothing that was built is used
LEAST = 'x86_64_v2'  # the kind of processor whose libraries run on each of its family
OWN_ROOMS = {'dynamics/constrained': 'loops', 'export': 'library'}  # rooms that no part is

# Whether kernels that Python calls may be compiled in this process, by numba: as tests do.
DEVELOPMENT = os.environ.get(VARIABLE) == '1' or os.environ.get('LIEDYN_CHECK') == '1'
_BUILT = not DEVELOPMENT


class NotBuiltError(ImportError, LiedynError):
    """The kernels of a room are not built, or older than their sources."""


def room_of(module: str) -> str:
    """Return the room of a module."""
    place = module.replace('.', '/').partition('/')[2]
    own = (room for folder, room in OWN_ROOMS.items() if place.startswith(f'{folder}/'))
    return next(own, place.partition('/')[0])


def compiled(kernel: Any) -> Any:
    """Return the compiled function of a kernel, or the kernel where Python does not call it."""
    if not (_BUILT and kernel.is_entry and kernel.__module__.startswith(f'{PACKAGE.name}.')):
        return kernel
    room = room_of(kernel.__module__)
    function = functions(room).get(f'{kernel.__module__}:{kernel.__qualname__}')
    if function is None:
        raise not_built(room, f'{kernel.__qualname__} is missing')
    _caller().stand_for(function, kernel)
    return function


def function_type() -> Any:
    """Return the type of compiled functions; without a caller, one that nothing has."""
    return _caller().Function if _BUILT else ()


def bind(function: Any, *how: Any) -> Any:
    """Return a call of a compiled function on tables; see bound_kernel.bind."""
    return _caller().bind(function, *how)


def direct_types() -> tuple[Any, Any]:
    """Return the base of classes with methods that are kernels, and what makes such a method."""
    if _BUILT:
        return _caller().Direct, _caller().Method
    return type('Direct', (), {}), lambda function: function


def processor_here() -> str:
    """Return the best kind of processor whose libraries run here."""
    name: str = _caller().processor()
    return name


@functools.cache
def _caller() -> Any:
    """Return the module that calls compiled kernels."""
    try:
        module = import_module('liedyn_ros.jit.calls')
    except ModuleNotFoundError as error:
        raise not_built('all rooms', 'what calls them is missing') from error
    built = FOLDER / f'{Path(module.__file__ or "").name}.digest'
    if SOURCES.exists() and built.exists():
        source = sha256((PACKAGE / 'jit' / 'calls.c').read_bytes()).hexdigest()
        if not built.read_text().startswith(source):
            raise not_built('all rooms', 'jit/calls.c has changed since')
    return module


@functools.cache
def functions(room: str) -> dict[str, Any]:
    """Return the functions of a room by module and name; raise NotBuiltError."""
    library = library_of(room)
    if SOURCES.exists():
        stale = changed(library)
        if stale:
            raise not_built(room, f'{stale[0]} has changed since')
    found: dict[str, Any] = _caller().load(str(library))
    return found


def library_of(room: str) -> Path:
    """Return the library of a room that runs on this processor; raise NotBuiltError."""
    for processor in (processor_here(), LEAST):
        library = FOLDER / processor / f'{room}.so'
        if library.exists():
            return library
    raise not_built(room, f'expected a library for {processor_here()}, got none')


def changed(library: Path) -> list[str]:
    """Return the sources of a library that are not as it was built from them."""
    lines = library.with_suffix('.sources').read_text().splitlines()
    return [name for digest, size, mtime, name in (line.split(' ', 3) for line in lines)
            if not _is_same(PACKAGE / name, digest, int(size), int(mtime))]


def _is_same(path: Path, digest: str, size: int, mtime: int) -> bool:
    try:
        found = path.stat()
        return found.st_size == size and (
            found.st_mtime_ns == mtime or sha256(path.read_bytes()).hexdigest() == digest)
    except FileNotFoundError:
        return False


def not_built(room: str, why: str) -> NotBuiltError:
    """Return the error of a room without its kernels, with the cure."""
    return NotBuiltError(
        f'kernels of {room}: {why}. Build them: `make build`, or `python -m liedyn_ros.build` '
        'in the environment of the package.')
