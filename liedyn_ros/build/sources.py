# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The digest of all that a compiled kernel depends on: compilers, and sources that it can reach.

Numba's own cache looks only at the file of the function it compiles. So a kernel would keep an old
version of a kernel that it calls from another file. This digest follows the imports of the
kernel's module, and misses no edit or upgrade. An edit of a file that the kernel cannot reach
compiles nothing again. So kernels import only kernels, which are modules of a folder `kernels`,
and jit. Neither comments nor docstrings count: only what is compiled does.
"""

import ast
from collections.abc import Iterator
import functools
import hashlib
from pathlib import Path
import re
import sys

import llvmlite
import numba

from liedyn_ros.layers import allowed

PACKAGE = Path(__file__).parents[1]
BUILD = (  # what else decides on the code of a kernel
    'build/bundles.py', 'build/compiler.py', 'build/kinds.py', 'build/lanes.py',
    'build/lowering.py', 'build/objects.py', 'build/rows.py', 'build/words.py',
    'jit/decorators.py')
C_BUILD = 'build/c_entries.py', 'build/pointer_calls.py'  # the same, of functions in C
FUNCTIONS_FOLDER = 'export/functions'  # modules whose functions are those of the C library
_COMMENT = re.compile(r'#[^\n]*')
_IMPORT = re.compile(  # of a name of the package, over several lines where in parentheses
    rf'^[ \t]*(?:from|import)[ \t]+({PACKAGE.name}\b[\w.]*)'
    r'(?:[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*))?', re.MULTILINE)


@functools.cache
def digest(source: Path) -> str:
    """Return the digest of compilers, the build, and sources that a module can reach."""
    state = hashlib.sha256(f'{numba.__version__} {llvmlite.__version__} '
                           f'{sys.implementation.cache_tag}'.encode())
    more = C_BUILD if _name(source).startswith(FUNCTIONS_FOLDER) else ()
    for name in (*_reachable(_name(source)), *BUILD, *more):
        state.update(name.encode())
        state.update(_code(name))
    return state.hexdigest()[:16]


def reachable(source: Path) -> list[Path]:
    """
    Return the modules of the package whose text a module's kernels depend on, itself first.

    They are its imports, directly or not, as far as jit. Modules that jit imports make kernels and
    are not called by them. Raises ImportError for a module that holds neither kernels nor jit, or
    whose part the part of this module may not import.
    """
    return [PACKAGE / name for name in _reachable(_name(source))]


def _reachable(source: str) -> list[str]:
    """Return names of reachable modules; a start asks for 15 000, which paths make slow."""
    parts, found = allowed(_part(source)), _behind(source)
    for name in found:
        if _part(name) not in parts or not (_is_jit(name) or _parts(name)[-2] == 'kernels'):
            raise ImportError(f'{PACKAGE / source}: expected imports of kernels of '
                              f'{sorted(parts)} alone, got {PACKAGE / name}')
    return [source, *sorted(found - {source}, key=_parts)]


@functools.cache
def _behind(name: str) -> frozenset[str]:
    """Return the imports of a module, direct or not, as far as jit."""
    found = set(_imports(name))
    for each in _imports(name):
        found |= frozenset() if _is_jit(each) else _behind(each)
    return frozenset(found)


def _is_jit(name: str) -> bool:
    return _part(name) == 'jit'


@functools.cache
def _part(name: str) -> str:
    return _parts(name)[0].removesuffix('.py')


@functools.cache
def _parts(name: str) -> tuple[str, ...]:
    return tuple(name.split('/'))


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@functools.cache
def _read(name: str) -> bytes:
    return (PACKAGE / name).read_bytes()


@functools.cache
def _code(name: str) -> bytes:
    """Return the code of a module, as its syntax tree without docstrings."""
    tree = ast.parse(_read(name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(
                node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree).encode()


@functools.cache
def _imports(name: str) -> tuple[str, ...]:
    """Return the modules of the package that a module names in its imports."""
    return tuple(place for each in imported_names(_read(name).decode())
                 if (place := _place(each)) is not None)


def imported_names(source: str) -> Iterator[str]:
    """
    Return every dotted name of the package that may be a module, in the imports of a module.

    Every start of a node reads all kernels; to parse them takes half a second, a pattern 10 ms.
    """
    for module, names in _IMPORT.findall(source):
        yield module
        listed = _COMMENT.sub('', names).strip('()').split(',')
        yield from (f'{module}.{name.split()[0]}' for name in listed if name.strip())


@functools.cache
def _place(name: str) -> str | None:
    """Return the file of a module in the package; a package's own file has no kernels."""
    first, *rest = name.split('.')
    if first != PACKAGE.name or not rest:
        return None
    place = f'{"/".join(rest)}.py'
    return place if (PACKAGE / place).is_file() else None
