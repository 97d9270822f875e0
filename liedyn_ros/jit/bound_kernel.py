# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels on the tables of one object: called on arguments as they come, checked if that fails."""

from collections.abc import Callable
import functools
import sys
from typing import Any, NoReturn, Protocol, TYPE_CHECKING, TypeVar

from liedyn_ros.common.checks import Array, output
from liedyn_ros.jit import rooms


if TYPE_CHECKING:
    class Direct:
        """
        The base of a class with methods that are kernels, each with the decorator `direct`.

        An object whose class has such a `__call__` is called as fast as a function of C.
        """

        def _direct_calls(self) -> dict[str, Any]:
            """Return the calls, by `CheckedKernel.direct`, of methods by their names."""

    Method = TypeVar('Method', bound=Callable[..., Any])

    def direct(method: Method) -> Method:
        """
        Run the kernel that `_direct_calls` has for a method, on arguments as they come.

        Where they do not fit, the function that it decorates is called, and says what is wrong.
        """
        return method
else:
    Direct, direct = rooms.direct_types()


def bind(compiled: Any, tables: tuple[Any, ...], wanted: int | None, otherwise: Any,
         shape: tuple[int, ...] = (), names: tuple[str, ...] = (), defaults: tuple[Any, ...] = (),
         named: int = -1, known: Any = None) -> Any:
    """
    Return a call of a kernel on tables, which takes the other arguments as they come.

    It returns None where the kernel returns the wanted code; where none is wanted, the code. With
    a shape the last argument is an array of it, or None for a new one, and is returned. What does
    not fit goes to otherwise, a function or None, which is then returned. No exception begins in
    it.
    """
    if isinstance(compiled, rooms.function_type()):
        return rooms.bind(
            compiled, tables, wanted, otherwise, shape, names, defaults, named, known)
    # Compiled in this process: the check first, as numba would compile for whatever is given.
    return functools.partial(compiled, *tables) if wanted is None else otherwise


class BoundKernel:
    """
    A kernel on the tables of one object.

    `attempt` runs the kernel on arguments as they come, and returns None if one has another type.
    `call` converts an array that holds the same numbers, and raises TypeError for anything else.
    """

    __slots__ = ('_compiled', '_tables', 'attempt', 'call')

    def __init__(self, compiled: Any, *tables: Any) -> None:
        """Take a kernel and its first arguments."""
        self._compiled, self._tables = compiled, tables
        self.attempt: Callable[..., Any] = bind(compiled, tables, None, None)
        self.call: Callable[..., Any] = bind(
            compiled, tables, None, functools.partial(compiled, *tables))

    def __call__(self, *arguments: Any) -> Any:
        """Run, as `call`."""
        return self.call(*arguments)

    def __reduce__(self) -> Any:
        """Copy, or pickle, as a bound kernel on the copied tables."""
        return BoundKernel, (self._compiled, *self._tables)


class Check(Protocol):
    """The conversion and the errors of a kernel's arguments."""

    @property
    def done(self) -> int:
        """Return the code of a kernel that has written its results."""

    def prepare(self, *given: Any) -> tuple[Any, ...]:
        """Return the arguments with the types of the kernel, or raise the error of a wrong one."""

    def refuse(self, code: int, *arguments: Any) -> NoReturn:
        """Raise the error of prepared arguments for which the kernel returned a code."""


class CheckedKernel:
    """
    A kernel on the tables of one object that checks its arguments only if it fails on them.

    It fails on arguments of another type, and on numbers that the kernel refuses. Then it runs on
    the prepared arguments. `call` returns the prepared arguments, or None if the kernel ran on the
    given ones; or it raises the error of a wrong one. With the shape of a result, `answer` does
    the same, and returns its last argument: an array of this shape, a new one for None.
    """

    __slots__ = ('_check', '_compiled', '_shape', '_tables', 'answer', 'call')

    def __init__(self, check: Check, compiled: Any, *tables: Any, shape: tuple[int, ...] = ()
                 ) -> None:
        """Take the check, a kernel and its first arguments."""
        self._check, self._compiled, self._tables, self._shape = check, compiled, tables, shape
        prepared = functools.partial(_prepared_call, check, functools.partial(compiled, *tables))
        self.call: Callable[..., tuple[Any, ...] | None] = bind(
            compiled, tables, check.done, prepared)
        self.answer: Callable[..., Array] = bind(
            compiled, tables, check.done, functools.partial(_prepared_answer, prepared, shape),
            shape)

    def direct(self, names: str, *defaults: Any, shape: tuple[int, ...] = (),
               known: dict[Any, Any] | None = None) -> Any:
        """
        Return the call for a method, whose parameters have these names, the last of them defaults.

        shape: of the result, by default that of the kernel's; one axis less than the kernel
        writes, for a single row. known: what stands for an integer or a string that is given as
        `frame`. Where the kernel is compiled in this process there is no such call.
        """
        if not isinstance(self._compiled, rooms.function_type()):
            return None
        places = tuple(map(sys.intern, names.split()))
        return bind(self._compiled, self._tables, self._check.done, None, shape or self._shape,
                    places, defaults, -1 if known is None else places.index('frame'), known)

    def __reduce__(self) -> Any:
        """Copy, or pickle, as a checked kernel on the copied tables."""
        return functools.partial(CheckedKernel, shape=self._shape), (
            self._check, self._compiled, *self._tables)


def _prepared_answer(call: Callable[..., Any], shape: tuple[int, ...], *given: Any) -> Array:
    out = output(given[-1], shape)
    call(*given[:-1], out)
    return out


def _prepared_call(check: Check, run: Callable[..., Any], *given: Any) -> tuple[Any, ...]:
    arguments = check.prepare(*given)
    code = run(*arguments)
    if code != check.done:
        check.refuse(code, *arguments)
    return arguments
