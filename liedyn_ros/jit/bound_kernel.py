# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A kernel bound to the tables of one object, called without numba's look at the types."""

from collections.abc import Callable
import functools
from threading import Lock
from typing import Any

from numba.core.errors import NumbaError

_FIRST_CALL = Lock()


class BoundKernel:
    """
    A kernel on the tables of one object, for arguments of the types of the first call alone.

    Numba looks at the types of all arguments at every call; to check them before takes as long as
    a small kernel runs. So `attempt` runs the kernel on arguments as they come. It returns None
    where one is of another type, or where no call has compiled the kernel yet.
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
        with _FIRST_CALL:  # else one thread would end compilation while another waits for it
            result = self._run(*arguments)
            self._compiled.disable_compile()
        self.attempt = _attempt(self._run)
        return result


def _not_compiled(*arguments: Any) -> None:
    return None


def _attempt(run: Callable[..., Any]) -> Callable[..., Any]:
    def attempt(*arguments: Any) -> Any:
        try:
            return run(*arguments)
        except (TypeError, ValueError, NumbaError):  # of numba's look at the types
            return None

    return attempt
