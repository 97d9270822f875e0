# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The one way kernels are compiled: numba, cached on disk, no Python objects.

Numba's own cache looks only at the file of the function it compiles, so a kernel would go on
using an old version of a kernel it calls from another file. Ours lies in a folder named by a
digest of every source file the kernel can reach, so that an edit or an upgrade is never missed.
"""

from collections.abc import Callable
import functools
import hashlib
import os
from pathlib import Path
from threading import Lock
from typing import Any

import numba
from numba.core import config
from numba.core.errors import NumbaError

PACKAGE = Path(__file__).parent

# Files that kernels of any folder depend on: how they are compiled, and lie's for which numbers.
BELOW = ('compile.py', 'lanes.py')
# Folders whose kernels a folder's kernels may call (imports point one way).
LAYERS: dict[str, tuple[str, ...]] = {
    'lie': ('lie',),
    'stewart': ('lie', 'stewart'),
    'model': ('lie', 'model'),
    'dynamics': ('lie', 'model', 'dynamics'),
}
_FIRST_CALL = Lock()


def cache_root() -> Path:
    """Return the folder of compiled kernels: NUMBA_CACHE_DIR, else the user's cache folder."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    return Path(home) / 'liedyn_ros'


@functools.cache
def digest(layer: str) -> str:
    """Return the digest of all sources that kernels of a layer can reach."""
    sources = [PACKAGE / name for name in BELOW]
    for folder in LAYERS[layer]:
        sources += sorted((PACKAGE / folder).rglob('*.py'))
    state = hashlib.sha256(numba.__version__.encode())
    for source in sources:
        state.update(source.read_bytes())
    return state.hexdigest()[:16]


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile a function on scalars, tuples and flat arrays; division by zero gives inf, as in C.

    'contract' lets LLVM use fused multiply-adds and nothing else of fast-math: NaN and infinity
    keep their meaning. Numba's runtime, which counts references, is left out: counting costs more
    than the arithmetic of a small function, and a kernel that would allocate does not compile.
    Python's lock is kept: to let other threads run costs as much as a tenth of a small kernel.
    """
    return _compiled(function, nogil=False)


def long_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel that takes long, or that threads share: other threads run meanwhile."""
    return _compiled(function, nogil=True)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that becomes part of every kernel that calls it."""
    compiled: Any = kernel(function)
    compiled.targetoptions['forceinline'] = True
    return compiled


def _compiled(function: Callable[..., Any], nogil: bool) -> Callable[..., Any]:
    layer = Path(function.__code__.co_filename).relative_to(PACKAGE).parts[0]
    outer = config.CACHE_DIR
    config.CACHE_DIR = str(cache_root() / digest(layer))
    try:
        return numba.njit(
            function, cache=True, nogil=nogil, error_model='numpy', fastmath={'contract'},
            _nrt=False)
    finally:
        config.CACHE_DIR = outer


class Entry:
    """
    A kernel on the tables of one object, for arguments of the types of the first call alone.

    Numba looks at the types of all arguments at every call; to check them before takes as long as
    a small kernel runs. So `attempt` runs the kernel on arguments as they come, and returns None
    where one is of another type, or where no call has compiled the kernel yet.
    """

    __slots__ = ('_compiled', '_run', '_tables', 'attempt')

    def __init__(self, compiled: Any, *tables: Any) -> None:
        """Take a kernel and its first arguments."""
        self._compiled, self._tables = compiled, tables
        self._run = functools.partial(compiled, *tables)
        self.attempt: Callable[..., Any] = _not_compiled

    def __reduce__(self) -> Any:
        """Copy, or pickle, as an entry on the copied tables."""
        return Entry, (self._compiled, *self._tables)

    def __call__(self, *arguments: Any) -> Any:
        """Run on arguments of the right types; the first call compiles for them alone."""
        if self.attempt is not _not_compiled:
            return self._run(*arguments)
        with _FIRST_CALL:  # else one thread would end compilation while another waits for it
            result = self._run(*arguments)
            self._compiled.disable_compile()
        self.attempt = _attempt(self._run)
        return result


def _not_compiled(*arguments: Any) -> None:
    return None


def _attempt(run: Callable[..., Any]) -> Callable[..., Any]:
    def attempt(*arguments: Any) -> Any:
        try:
            return run(*arguments)
        except (TypeError, ValueError, NumbaError):  # of numba's look at the types
            return None

    return attempt
