# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Numba's interface to the cache: whatever fails, the kernel is compiled, and a warning tells why.

Numba's own cache stops at a damaged file. Where it cannot write, it takes folders that know
nothing of the digest, so kernels would be old. This one has a file for each kernel and types of
arguments, in a folder for each digest. Paths of sources are not part of the key: another copy of
the same sources finds the kernels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
import pickle
from typing import Any

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from liedyn_ros.jit.cache.files import key_of, read, SUFFIX, write
from liedyn_ros.jit.cache.folder import (
    LOG, mark_used, remove_unused, trusted_root, warn_of_folder)
from liedyn_ros.jit.cache.shipped import kind_here, shipped_root
from liedyn_ros.jit.cache.sources import digest
from liedyn_ros.jit.inner_code import load_inner


NO_WRAPPER = 'no_cpython_wrapper'  # numba's option: the kernel is compiled for kernels alone


@dataclass
class Counts:
    """How many kernels this process loaded, compiled, and could not keep."""

    loaded: int = 0
    compiled: int = 0
    not_kept: int = 0


COUNTS = Counts()


class KernelCache(_Cache):
    """The cache of one kernel; numba calls it under the lock of its compiler."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """
        Take the function, and numba's options for it, which may change.

        Raises ImportError where its module may not hold kernels.
        """
        code = function.__code__
        if function.__closure__ is not None:
            raise TypeError(f'{function.__qualname__}: expected a kernel without variables of an '
                            f'outer function, got {code.co_freevars}')
        self._digest = digest(Path(code.co_filename))
        self._name, self._line = function.__qualname__, code.co_firstlineno
        self._options = options

    @property
    def cache_path(self) -> str | None:
        """Return the folder of this kernel, if kernels are kept."""
        root = trusted_root()
        return None if root is None else str(root / self._digest)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """
        Return the compiled kernel for types of arguments, or None.

        Only a compiler needs the modules of numba that refresh imports: a third of a node's loads.
        """
        root, shipped, found = trusted_root(), shipped_root(), None
        if root is not None:  # compiled for this very processor
            found = self._load(target_context, *self._place(root, sig, target_context))
        if found is None and shipped is not None:
            found = self._load(target_context, *self._place(
                shipped, sig, target_context, (kind_here(), '')), of_user=False)
        COUNTS.loaded += found is not None
        if found is None:
            target_context.refresh()
        return found

    def _load(self, target_context: Any, path: Path, key: bytes, of_user: bool = True) -> Any:
        """Return the kernel of a file, or None where it is not there or cannot be used."""
        try:
            payload = read(path, key, of_user)
            if of_user:
                mark_used(path.parent)
            rebuild = load_inner if self._options[NO_WRAPPER] else CompileResult._rebuild
            return rebuild(target_context, *pickle.loads(payload))
        except FileNotFoundError:
            return None
        except Exception as error:  # whatever it is, the sources are there
            LOG.warning(f'{path}: the compiled kernel cannot be used: {error}. It is compiled '
                        f'again{", and the file replaced" * of_user}.')
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled kernel for types of arguments."""
        COUNTS.compiled += 1
        root = trusted_root()
        if root is None:
            COUNTS.not_kept += 1
            return
        path, key = self._place(root, sig, data.target_context)
        try:
            if data.library.has_dynamic_globals:
                raise TypeError(f'{self._name}: expected a kernel without addresses of this '
                                'process')
            write(path, key, dumps(data._reduce()))
            remove_unused(root)
        except Exception as error:  # whatever it is, the kernel runs
            COUNTS.not_kept += 1
            warn_of_folder(root, error)

    def enable(self) -> None:
        """Do nothing: the cache is always on."""

    def disable(self) -> None:
        """Do nothing: the cache is always on."""

    def flush(self) -> None:
        """Do nothing: a digest names all that a kernel depends on."""

    def _place(self, root: Path, sig: Any, target_context: Any,
               processor: tuple[str | None, str] | None = None) -> tuple[Path, bytes]:
        """Return the file and the key of the kernel, for this processor or another name of it."""
        triple, *here = target_context.codegen().magic_tuple()
        machine = (triple, *(processor or here))
        caller = 'kernels' if self._options[NO_WRAPPER] else 'Python'
        key = key_of(f'{self._digest} {self._name} {self._line} {sig} {machine} {caller}')
        return root / self._digest / f'{self._name}-{key.hex()[:16]}{SUFFIX}', key
