# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
First calls of kernels: the thread that compiles, and the error of arguments of other types.

Python runs signal handlers between any two lines of the main thread, numba's lines too. There an
exception of a handler can be taken for one of numba's own. A kernel that a handler calls can meet
itself half compiled. So no kernel is compiled in the main thread, which waits meanwhile.
"""

from collections.abc import Callable
from concurrent.futures import Future, wait
import functools
import gc
import os
import sys
from threading import current_thread, main_thread, RLock, Thread
from time import monotonic
from typing import Any, NoReturn

from llvmlite.binding import ffi
from numba import types
import numpy as np

from liedyn_ros.common.description import no_garbage_collection
from liedyn_ros.jit.cache import NO_WRAPPER

# Numba's C code takes any subclass of numpy's array for a plain one, unless the class has this
# attribute. Its Python code, which is asked then, refuses masked arrays.
np.ma.MaskedArray.__numba_array_subtype_dispatch__ = True  # type: ignore[attr-defined]

TELL_AFTER = 1.0  # s, after which the main thread says that it waits for the compiler
YOUNGEST = 0  # generation of garbage
QUIET = 'LIEDYN_QUIET'  # a variable of the environment; if set, it says nothing

_COMPILING = RLock()


def _lock() -> None:
    """Wait for threads at the compiler, and for garbage of the compiler."""
    _COMPILING.acquire()
    ffi.lib._lock.__enter__()


def _unlock() -> None:
    ffi.lib._lock.__exit__(None, None, None)
    _COMPILING.release()


# A child has the locks of its parent, but not the thread that would release them.
os.register_at_fork(before=_lock, after_in_parent=_unlock, after_in_child=_unlock)


class OtherTypesError(TypeError):
    """An argument of another type than in the first call; nothing else raises it."""

    def __str__(self) -> str:
        """Return the types; few of these errors are read."""
        compiled, given = self.args
        wanted = ' or '.join(str(types) for types in compiled.overloads)
        return (f'{compiled.__name__}: expected arguments of types {wanted}, '
                f'got {", ".join(type(value).__name__ for value in given)}')


def is_compiling() -> bool:
    """Return whether another thread compiles or loads a kernel now."""
    free = _COMPILING.acquire(blocking=False)
    if free:
        _COMPILING.release()
    return not free


def compile_apart(compiled: Any) -> None:
    """
    Let a kernel find types and compile, or load, where no signal handler runs.

    Numba compiles a wrapper with each kernel, by which Python calls it. That takes longer than a
    small kernel itself. So kernels that others call are compiled without, and compiled again if
    Python ever calls one with arguments of the same types.
    """
    type_of, add = compiled.typeof_pyval, compiled.add_overload
    options, callable_types = compiled.targetoptions, set()
    options[NO_WRAPPER] = True

    def compile_for(*arguments: Any) -> Any:
        given = tuple(map(type_of, arguments))
        if given not in callable_types:
            compiled.overloads.pop(given, None)
        options[NO_WRAPPER] = False
        try:
            return compiled.compile(given)
        finally:
            options[NO_WRAPPER] = True
            gc.collect(YOUNGEST)  # once for all kernels that it calls

    def add_overload(result: Any) -> None:
        if options[NO_WRAPPER]:
            compiled.overloads[tuple(result.signature.args)] = result
        else:
            callable_types.add(tuple(result.signature.args))
            add(result)

    compiled.typeof_pyval, compiled.add_overload = apart(type_of), add_overload
    compiled._compile_for_args = apart(compile_for, compiled.__name__)


def without_literals(compiled: Any) -> None:
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


def keep_types(compiled: Any) -> None:
    """
    Let a compiled kernel raise OtherTypesError for arguments of other types, from now on.

    Numba asks these methods about values whose type it does not know, and types it has not
    compiled for. Its own way, `disable_compile`, raises TypeError, as a signal handler may.
    """
    compiled.typeof_pyval = compiled._compile_for_args = functools.partial(_refuse, compiled)


def names_no_type(error: ValueError, given: tuple[Any, ...]) -> bool:
    """
    Return whether an error just caught is that of numba's C code for an empty list or set.

    Numba asks no method about these. An error with a Python frame comes from elsewhere.
    """
    raised_here = error.__traceback__ is not None and error.__traceback__.tb_next is None
    return raised_here and any(map(_has_empty, given))


def _has_empty(value: Any) -> bool:
    return isinstance(value, list | tuple | set) and (
        not value or any(map(_has_empty, value)))


def _refuse(compiled: Any, *arguments: Any) -> NoReturn:
    raise OtherTypesError(compiled, arguments)


def apart(function: Callable[..., Any], name: str = '') -> Callable[..., Any]:
    """
    Return a function that runs in a thread of its own where the main thread calls it.

    With a name the main thread says on stderr that it waits, and for how long it did.
    """
    def run(future: 'Future[Any]', arguments: tuple[Any, ...]) -> None:
        try:
            with _COMPILING, no_garbage_collection():
                future.set_result(function(*arguments))
        except BaseException as error:
            future.set_exception(error)

    def call(*arguments: Any) -> Any:
        future: Future[Any] = Future()
        if current_thread() is main_thread():
            Thread(target=run, args=(future, arguments), name='liedyn_compile').start()
            if name and QUIET not in os.environ:
                _tell(future, name)
        else:
            run(future, arguments)
        return future.result()

    return call


def _tell(future: 'Future[Any]', name: str) -> None:
    """Wait, and say on stderr what is waited for where that takes longer than a moment."""
    began = monotonic()
    if not wait([future], TELL_AFTER).not_done:
        return
    print(f'liedyn_ros: compiling kernel {name} for this processor ...',
          file=sys.stderr, flush=True)
    wait([future])
    print(f'liedyn_ros: kernel {name} took {monotonic() - began:.0f} s',
          file=sys.stderr, flush=True)
