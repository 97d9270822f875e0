# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Kernels that only kernels call have no machine code, and are linked from their bitcode."""

from numba import float64, types
from numba.core.registry import cpu_target
import pytest

from liedyn_ros.jit.cache import KernelCache
from liedyn_ros.jit.cache.kernel_cache import COUNTS
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.inner_code import InnerLibrary, load_inner
from liedyn_ros.lie.kernels import vec3

TRIPLE = types.UniTuple(float64, 3)
ONE, OTHER = (1.0, 2.0, 3.0), (0.5, -1.0, 2.0)
CROSS = (7.0, -0.5, -2.0)


@pytest.fixture
def inner():
    """Return a kernel as kernels call it, compiled or loaded."""
    fresh = kernel(vec3.cross.py_func)
    fresh.compile((TRIPLE, TRIPLE))
    return fresh.overloads[TRIPLE, TRIPLE]


def test_it_has_no_address(inner) -> None:
    assert isinstance(inner.library, InnerLibrary)
    assert inner.library.get_pointer_to_function(inner.fndesc.llvm_func_name) == 0


def test_python_compiles_it_once_more(inner) -> None:
    assert vec3.cross(ONE, OTHER) == CROSS
    library = vec3.cross.overloads[TRIPLE, TRIPLE].library
    assert not isinstance(library, InnerLibrary)


def test_what_was_kept_can_be_linked(inner) -> None:
    context = cpu_target.target_context
    kept = inner._reduce()
    loaded = load_inner(context, *kept)
    assert loaded.signature == inner.signature
    names = {function.name for function in loaded.library.get_defined_functions()}
    assert inner.fndesc.llvm_func_name in names


def test_a_second_dispatcher_loads_it(inner) -> None:
    before = COUNTS.loaded
    again = kernel(vec3.cross.py_func)
    assert isinstance(again._cache, KernelCache)
    again.compile((TRIPLE, TRIPLE))
    assert COUNTS.loaded == before + 1
    assert isinstance(again.overloads[TRIPLE, TRIPLE].library, InnerLibrary)
