# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The one way kernels are compiled: numba, cached on disk, no Python objects."""

from collections.abc import Callable
from typing import Any

import numba

from liedyn_ros.jit.cache import KernelCache
from liedyn_ros.jit.first_call import compile_apart, without_literals
from liedyn_ros.jit.index_checks import CHECKED
from liedyn_ros.jit.inner_code import KernelCompiler


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile a function on scalars, tuples and flat arrays; division by zero gives inf, as in C.

    Nothing of fast-math is used, fused multiply-adds neither: so each processor has the same bits.
    Numba's runtime, which counts references, is left out, as counting costs more than the
    arithmetic of a small function. So a kernel that would allocate does not compile. Python's lock
    is kept: to release it costs as much as a tenth of a small kernel.
    """
    return _compiled(function, nogil=False)


def long_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel that takes long, or that threads share: other threads run meanwhile."""
    return _compiled(function, nogil=True)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that becomes part of every kernel that calls it."""
    compiled: Any = kernel(function)
    compiled.targetoptions['forceinline'] = True
    without_literals(compiled)
    return compiled


def _compiled(function: Callable[..., Any], nogil: bool) -> Callable[..., Any]:
    compiled: Any = numba.njit(
        function, nogil=nogil, error_model='numpy', boundscheck=CHECKED, _nrt=False,
        no_cfunc_wrapper=True, pipeline_class=KernelCompiler)
    compile_apart(compiled)
    compiled._cache = KernelCache(function, compiled.targetoptions)
    return compiled
