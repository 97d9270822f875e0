# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Machine code of kernels that only tests call from Python, kept from one run to the next.

To compile it took a tenth of the time of all tests. It stands in the folder of the objects that
the build keeps, by the same digest of all that a kernel depends on.
"""

from collections.abc import Callable
import functools
from pathlib import Path
from typing import Any, ClassVar

from numba.core import caching

from liedyn_ros.build import compiler, parts
from liedyn_ros.build.sources import digest, PACKAGE
from liedyn_ros.jit.decorators import CHECKED


class Locator(caching._CacheLocator):
    """Where the code of a kernel is, and when it is that of its sources."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        """Take a kernel and its file."""
        self._digest, self._line = digest(Path(file)), function.__code__.co_firstlineno

    from_function = classmethod(lambda cls, function, file: cls(function, file))

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(parts.objects_folder() / ('checked' if CHECKED else 'tested') / self._digest)

    def get_source_stamp(self) -> str:
        """Return the digest of the sources of the kernel."""
        return self._digest

    def get_disambiguator(self) -> str:
        """Return the line of the kernel, as two may have one name."""
        return str(self._line)


class Implementation(caching.CompileResultCacheImpl):
    """Numba's cache of functions with this locator."""

    _locator_classes: ClassVar = [Locator]


class KernelCache(caching.FunctionCache):
    """Numba's cache of functions, of kernels."""

    _impl_class = Implementation


class KeptLibrary(compiler.OuterLibrary):
    """Machine code of a kernel for Python that can be written."""

    def __init__(self, *arguments: Any) -> None:
        """Keep the object of the machine code."""
        super().__init__(*arguments)
        self.enable_object_caching()


def keep() -> None:
    """From now on keep the code of kernels of the package that Python calls in tests."""
    compile_kernel = compiler._called

    @functools.cache
    def called(kernel: Any) -> Any:
        made = compile_kernel(kernel)
        if Path(kernel.py_func.__code__.co_filename).is_relative_to(PACKAGE):
            made._cache = KernelCache(kernel.py_func)
        return made

    vars(compiler).update(_called=called, OuterLibrary=KeptLibrary)
