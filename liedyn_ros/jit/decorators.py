# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The one way kernels are compiled: by numba, when the package is built.

A kernel that Python calls has its arguments annotated by `kinds`, and is an entry: here its name
becomes the compiled function of its room. Any other kernel is called by kernels alone, and becomes
part of their objects. An entry with the kind of its result is called by kernels by its own object:
so a large kernel is compiled once.

The compiler as kernels are written for it, and not loaded before one is compiled. Modules of
intrinsics name it where they generate code. A process that runs compiled kernels generates none,
and needs no numba.

Checks of indices in kernels: a mode for tests, by LIEDYN_CHECK=1 in the environment. Kernels check
no index, since each check costs as much as the access. In this mode a wrong index of an array, a
table or a bundle raises IndexError instead of reading or writing other memory.
"""

from collections.abc import Callable
import functools
from importlib import import_module
import os
from types import NoneType
from typing import Any

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.jit import rooms


class Module:
    """A module that is imported at the first use of one of its names."""

    def __init__(self, name: str) -> None:
        """Take the name."""
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module by its name."""
        return getattr(import_module(self._name), name)


ir, types, errors = Module('llvmlite.ir'), Module('numba.core.types'), Module('numba.core.errors')
cgutils, arrays = Module('numba.core.cgutils'), Module('numba.np.arrayobj')
build = Module('liedyn_ros.build.compiler')
lane_types, bundle_types = Module('liedyn_ros.build.lanes'), Module('liedyn_ros.build.bundles')
row_types = Module('liedyn_ros.build.rows')


class Intrinsic:
    """A function that writes the instructions of its calls, by numba's intrinsic."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take the function of the typing context and the types of the arguments."""
        self.function, self.__name__, self.__doc__ = function, function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__

    @property
    def _numba_type_(self) -> Any:
        return build.type_of_intrinsic(self.function)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Define an intrinsic; see Intrinsic."""
    return Intrinsic(function)


class Kernel:
    """The source of a kernel, and how it is compiled."""

    __qualname__: str

    def __init__(self, function: Callable[..., Any], *, unlocked: bool = False,
                 inline: bool = False) -> None:
        """Take the function; unlocked: runs without Python's lock; inline: part of its callers."""
        functools.update_wrapper(self, function)
        self.py_func, self.unlocked, self.inline = function, unlocked, inline
        code = function.__code__
        self.names = code.co_varnames[:code.co_argcount]
        self.kinds = tuple(function.__annotations__.get(name) for name in self.names)
        self.is_shared = 'return' in function.__annotations__
        self.result = function.__annotations__.get('return') or NoneType
        if function.__closure__ is not None:
            raise TypeError(f'{function.__qualname__}: expected a kernel without variables of an '
                            f'outer function, got {code.co_freevars}')
        if self.is_entry and None in self.kinds:
            raise TypeError(f'{function.__qualname__}: expected kinds of all arguments or none, '
                            f'got those of {sorted(function.__annotations__)}')

    @property
    def is_entry(self) -> bool:
        """Return whether Python calls it."""
        return any(kind is not None for kind in self.kinds)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Return numba's form of the kernel, for kernels that call it and for development."""
        return build.dispatcher_of(self)

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Compile and call it in development; raise LiedynError otherwise."""
        if not rooms.DEVELOPMENT:
            raise LiedynError(f'{self.__qualname__}: expected a call by kernels alone; Python '
                              'calls kernels whose arguments have kinds of liedyn_ros.jit.kinds')
        return build.call(self, arguments)


def kernel(function: Callable[..., Any]) -> Any:
    """
    Compile a function on scalars, tuples and flat arrays; division by zero gives inf, as in C.

    Nothing of fast-math is used, fused multiply-adds neither: so each processor has the same bits.
    Numba's runtime, which counts references, is left out, as counting costs more than the
    arithmetic of a small function. So a kernel that would allocate does not compile. Python's lock
    is kept: to release it costs as much as a tenth of a small kernel.
    """
    return rooms.compiled(Kernel(function))


def long_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel that takes long, or that threads share: other threads run meanwhile."""
    return rooms.compiled(Kernel(function, unlocked=True))


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function that becomes part of every kernel that calls it."""
    return Kernel(function, inline=True)


CHECKS = os.environ.get('LIEDYN_CHECK', '0')
if CHECKS not in ('0', '1'):
    raise ImportError(f'LIEDYN_CHECK: expected 0 or 1, got {CHECKS!r}')
CHECKED = CHECKS == '1'


def check_index(context: Any, builder: Any, index: Any, length: Any, axis: int) -> None:
    """Generate the check that an index of an axis is from 0 on and below a length."""
    if CHECKED:
        cgutils.do_boundscheck(context, builder, index, length, axis)
