# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The compiler as kernels are written for it, and not loaded before one is compiled.

Modules of intrinsics name it where they generate code. A process that runs compiled kernels
generates none, and needs no numba.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any


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
