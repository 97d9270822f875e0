# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Numba's forms of kernels and intrinsics, for which those of liedyn_ros.jit stand."""

from collections.abc import Callable
import functools
from typing import Any

import numba
from numba import types
from numba.core.registry import cpu_target

from liedyn_ros.build.inner_code import KernelCompiler
from liedyn_ros.jit.index_checks import CHECKED


def dispatcher_of(kernel: Any) -> Any:
    """Return numba's form of a kernel, which other kernels call."""
    made = numba.njit(
        kernel.py_func, nogil=kernel.unlocked, error_model='numpy', boundscheck=CHECKED,
        _nrt=False, no_cfunc_wrapper=True, no_cpython_wrapper=True,
        pipeline_class=KernelCompiler)
    if kernel.inline:
        made.targetoptions['forceinline'] = True
        _without_literals(made)
    return made


def call(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """Compile a kernel for Python and call it, as tests do with kernels of kernels."""
    return _called(kernel)(*arguments)


@functools.cache
def _called(kernel: Any) -> Any:
    return numba.njit(kernel.py_func, nogil=kernel.unlocked, error_model='numpy',
                      boundscheck=CHECKED, _nrt=False, no_cfunc_wrapper=True)


@functools.cache
def type_of_intrinsic(function: Callable[..., Any]) -> Any:
    """Return the type of an intrinsic."""
    made = numba.extending.intrinsic(function)
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(made)


def _without_literals(compiled: Any) -> None:
    """
    Let numba compile a kernel once for integers, not for each one that a caller writes out.

    The compiler puts the kernel into its callers, so their numbers come to it all the same.
    """
    template_of = compiled.get_call_template

    def get_call_template(given: Any, named: Any) -> Any:
        plain = tuple(map(_without_literal, given))
        return template_of(plain, {name: _without_literal(each) for name, each in named.items()})

    compiled.get_call_template = get_call_template


def _without_literal(given: Any) -> Any:
    return types.unliteral(given) if isinstance(given, types.IntegerLiteral) else given
