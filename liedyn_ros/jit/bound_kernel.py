# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A kernel bound to the tables of one object; its arguments are checked only if it fails."""

from collections.abc import Callable
import functools
from typing import Any, NoReturn, Protocol

from liedyn_ros.jit.entry import entry, has_entry
from liedyn_ros.jit.first_call import keep_types, names_no_type, OtherTypesError


class BoundKernel:
    """
    A kernel on the tables of one object, for arguments of the types of the first call alone.

    Numba checks the types of all arguments at every call; a check before takes as long as a small
    kernel. So `attempt` runs the kernel on arguments as they come. It returns None if one has
    another type, or if no call has compiled the kernel yet. Any other exception is the caller's,
    such as that of a signal handler. `call` is the first call until the kernel is compiled. From
    then on both are entries, unless the kernel runs without Python's lock.
    """

    __slots__ = ('_compiled', '_run', '_tables', 'attempt', 'call')
    call: Callable[..., Any]

    def __init__(self, compiled: Any, *tables: Any) -> None:
        """Take a kernel and its first arguments."""
        self._compiled, self._tables = compiled, tables
        self._run = functools.partial(compiled, *tables)
        self.attempt: Callable[..., Any] = _not_compiled

    def __getattr__(self, name: str) -> Any:
        """Return the first call, as long as `call` is not set."""
        if name == 'call':
            return self.__call__
        raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')

    def __reduce__(self) -> Any:
        """Copy, or pickle, as a bound kernel on the copied tables."""
        return BoundKernel, (self._compiled, *self._tables)

    def entry(self, arguments: tuple[Any, ...], wanted: int, otherwise: Callable[..., Any]
              ) -> Callable[..., Any]:
        """Return the entry of the kernel for arguments like these."""
        return entry(self._compiled, self._tables, arguments, wanted, otherwise)

    def __call__(self, *arguments: Any) -> Any:
        """Run on arguments of the right types; the first call compiles for them alone."""
        result = self._run(*arguments)
        if self.attempt is _not_compiled:
            keep_types(self._compiled)
            self._enter(arguments)
        return result

    def _enter(self, arguments: tuple[Any, ...]) -> None:
        compiled, tables = self._compiled, self._tables
        if has_entry(compiled, tables, arguments):
            self.call = entry(compiled, tables, arguments, None, self._run)
            self.attempt = entry(compiled, tables, arguments, None, _no_code)
        else:
            self.call, self.attempt = self._run, _attempt(self._run)


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
    A bound kernel that checks its arguments only if it fails on them as they come.

    It fails on arguments of another type, on numbers that the kernel refuses, and before the
    kernel is compiled. Then it runs on the prepared arguments. `call` is that run until one has
    succeeded, and an entry from then on. It returns the prepared arguments, or None if the kernel
    ran on the given ones; or it raises the error of a wrong one. No exception is caught.
    """

    __slots__ = ('_bound', '_check', 'call')
    call: Callable[..., tuple[Any, ...] | None]

    def __init__(self, check: Check, compiled: Any, *tables: Any) -> None:
        """Take the check, a kernel and its first arguments."""
        self._check, self._bound = check, BoundKernel(compiled, *tables)

    def __reduce__(self) -> Any:
        """Copy, or pickle, as a checked kernel on the copied tables."""
        return CheckedKernel, (self._check, *self._bound.__reduce__()[1])

    def __getattr__(self, name: str) -> Any:
        """Return the first call, as long as `call` is not set."""
        if name == 'call':
            return self._first_call
        raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')

    def _first_call(self, *given: Any) -> tuple[Any, ...]:
        # A part without this object, which would otherwise hold itself by its entry.
        prepared_call = functools.partial(_prepared_call, self._check, self._bound)
        arguments = prepared_call(*given)
        self.call = self._bound.entry(arguments, self._check.done, prepared_call)
        return arguments


def _prepared_call(check: Check, bound: BoundKernel, *given: Any) -> tuple[Any, ...]:
    arguments = check.prepare(*given)
    code = bound(*arguments)
    if code != check.done:
        check.refuse(code, *arguments)
    return arguments


def _not_compiled(*arguments: Any) -> None:
    return None


def _no_code(*arguments: Any) -> None:
    return None


def _attempt(run: Callable[..., Any]) -> Callable[..., Any]:
    def attempt(*arguments: Any) -> Any:
        try:
            return run(*arguments)
        except OtherTypesError:
            return None
        except ValueError as error:
            if names_no_type(error, arguments):
                return None
            raise

    return attempt
