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

from liedyn_ros.jit.first_call import keep_types, names_no_type, OtherTypesError


class BoundKernel:
    """
    A kernel on the tables of one object, for arguments of the types of the first call alone.

    Numba checks the types of all arguments at every call; a check before takes as long as a small
    kernel. So `attempt` runs the kernel on arguments as they come. It returns None if one has
    another type, or if no call has compiled the kernel yet. Any other exception is the caller's,
    such as that of a signal handler.
    """

    __slots__ = ('_compiled', '_run', '_tables', 'attempt')

    def __init__(self, compiled: Any, *tables: Any) -> None:
        """Take a kernel and its first arguments."""
        self._compiled, self._tables = compiled, tables
        self._run = functools.partial(compiled, *tables)
        self.attempt: Callable[..., Any] = _not_compiled

    def __reduce__(self) -> Any:
        """Copy, or pickle, as a bound kernel on the copied tables."""
        return BoundKernel, (self._compiled, *self._tables)

    def __call__(self, *arguments: Any) -> Any:
        """Run on arguments of the right types; the first call compiles for them alone."""
        if self.attempt is not _not_compiled:
            return self._run(*arguments)
        result = self._run(*arguments)
        keep_types(self._compiled)
        self.attempt = _attempt(self._run)
        return result


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
    kernel is compiled. Then it runs on the prepared arguments. No exception but that of other
    types is caught: all others are the caller's, such as those of a signal handler.
    """

    __slots__ = ('_attempt', '_bound', '_check', '_done')

    def __init__(self, check: Check, compiled: Any, *tables: Any) -> None:
        """Take the check, a kernel and its first arguments."""
        self._check, self._done = check, check.done
        self._bound = BoundKernel(compiled, *tables)
        self._attempt: Callable[..., Any] = _not_compiled

    def __reduce__(self) -> Any:
        """Copy, or pickle, as a checked kernel on the copied tables."""
        return CheckedKernel, (self._check, *self._bound.__reduce__()[1])

    def call(self, *given: Any) -> tuple[Any, ...]:
        """Run the kernel, and return the arguments on which it ran; or raise what is wrong."""
        try:
            if self._attempt(*given) == self._done:
                return given
        except OtherTypesError:
            pass
        except ValueError as error:
            if not names_no_type(error, given):
                raise
        arguments = self._check.prepare(*given)
        code = self._bound(*arguments)
        if code != self._done:
            self._check.refuse(code, *arguments)
        self._attempt = self._bound._run
        return arguments


def _not_compiled(*arguments: Any) -> None:
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
