# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Numba's forms of kernels and intrinsics, for which those of liedyn_ros.jit stand.

Code of kernels that only kernels call is kept as LLVM's bitcode. Numba links the bitcode of each
kernel into its callers, and they have machine code of their own. To make it for the kernel itself
takes a sixth of the time of the compiler. A shared kernel has one object, which its callers call.
"""

from collections.abc import Callable, Sequence
import functools
from itertools import product
from typing import Any

import numba
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import cpu_target
from numba.core.typing.templates import make_concrete_template, signature

from liedyn_ros.build.kinds import type_of
from liedyn_ros.build.words import call_entry
from liedyn_ros.jit.decorators import CHECKED
from liedyn_ros.jit.kinds import choices_of

MODULES: dict[str, str] = {}  # of shared kernels that are called, by their names in objects
_shares = False


def share_kernels() -> None:
    """From now on, before any kernel is compiled, call shared kernels by their objects."""
    global _shares
    _shares = True


def name_of(kernel: Any, choice: int) -> str:
    """Return the name of an entry in objects, for one choice of kinds of its arguments."""
    return f'{kernel.__module__.replace(".", "_")}_{kernel.__qualname__}_{choice}'


def dispatcher_of(kernel: Any) -> Any:
    """Return numba's form of a kernel, which other kernels call."""
    made = numba.njit(
        kernel.py_func, nogil=kernel.unlocked, error_model='numpy', boundscheck=CHECKED,
        _nrt=False, no_cfunc_wrapper=True, no_cpython_wrapper=True,
        pipeline_class=KernelCompiler)
    if kernel.inline:
        made.targetoptions['forceinline'] = True
        _without_literals(made)
    elif kernel.is_shared and _shares:
        _by_object(made, kernel)
    return made


def _by_object(made: Any, kernel: Any) -> None:
    """Let numba call the object of a kernel where arguments have its kinds, not hold a copy."""
    result, names, signatures = type_of(kernel.result), {}, []
    for choice, kinds in enumerate(product(*map(choices_of, kernel.kinds))):
        sig, name = signature(result, *map(type_of, kinds)), name_of(kernel, choice)
        names[sig.args], MODULES[name] = name, kernel.__module__
        signatures.append(sig)
        cpu_target.target_context.insert_func_defn([(_call_of(name), name, sig.args)])
    template = make_concrete_template(kernel.__name__, kernel.__name__, signatures)
    template_of, overload_of = made.get_call_template, made.get_overload

    def get_call_template(given: Any, named: Any) -> Any:
        plain, arguments = made._compiler.fold_argument_types(given, named)
        fits = any(all(map(_fits, arguments, sig.args)) for sig in signatures)
        return (template, plain, arguments, {}) if fits else template_of(given, named)

    def get_overload(given: Any) -> Any:
        return names.get(tuple(given)) or overload_of(given)

    made.get_call_template, made.get_overload = get_call_template, get_overload


def _call_of(name: str) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return call_entry(context, builder, sig, args, name)

    return generate


def _fits(given: Any, wanted: Any) -> bool:
    """Return whether an argument is, or becomes without loss, of the type of an entry."""
    given = types.unliteral(given)
    return given == wanted or (isinstance(wanted, types.Number | types.Boolean)
                               and cpu_target.typing_context.can_convert(given, wanted) is not None
                               and isinstance(given, types.Number | types.Boolean))


def call(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """Compile a kernel for Python and call it, as tests do with kernels of kernels."""
    return _called(kernel)(*arguments)


@functools.cache
def _called(kernel: Any) -> Any:
    return numba.njit(kernel.py_func, nogil=kernel.unlocked, error_model='numpy',
                      boundscheck=CHECKED, _nrt=False, no_cfunc_wrapper=True,
                      pipeline_class=KernelCompiler)


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


class KernelCompiler(Compiler):
    """Numba's compiler, but for the code of kernels without a wrapper."""

    def _compile_core(self) -> Any:
        state = self.state
        if state.library is None:
            of = InnerLibrary if state.flags.no_cpython_wrapper else OuterLibrary
            state.library = of(state.targetctx.codegen(), state.func_id.func_qualname)
        return super()._compile_core()


class OuterLibrary(JITCodeLibrary):
    """Machine code of a kernel for Python, with all that it calls."""

    def finalize(self) -> None:
        """Link the kernels that it calls, and those that they call."""
        self._linking_libraries[:] = all_called(self._linking_libraries)
        super().finalize()


class InnerLibrary(JITCodeLibrary):
    """Code of one kernel that others link; it has no addresses, and not what it calls."""

    @property
    def codegen(self) -> '_WithoutAddresses':
        """Return the addresses for numba to fill in, of which there are none."""
        return _WithoutAddresses()

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as numba does for a function that is not here."""
        self._ensure_finalized()
        return 0

    def finalize(self) -> None:
        """Leave linking and optimizing to the library of the caller."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _WithoutAddresses:

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: callers have the address in their own code."""


def all_called(libraries: Sequence[Any]) -> list[Any]:
    """
    Return libraries, and those that they call, directly or not, each once, behind its callers.

    LLVM links a function only into a module that refers to it already.
    """
    found: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in found:
            for each in library._linking_libraries:
                visit(each)
            found[library] = None

    for each in libraries:
        visit(each)
    return list(found)[::-1]
