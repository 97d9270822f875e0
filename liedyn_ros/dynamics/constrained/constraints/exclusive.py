# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
One thread at a time on the tables of a machine with closed loops.

A call of Dynamics is one kernel, which holds Python's lock. A product or a gradient of loops
follows a call of the dynamics, and reads its tables. No other call may come between. A call within
a call of the same thread passes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
import os
from threading import RLock
from typing import Any, cast, TypeVar
from weakref import WeakSet

Method = TypeVar('Method', bound=Callable[..., Any])


_ALL: WeakSet[TableLock] = WeakSet()


class TableLock:
    """A lock of a thread; copies and pickles have their own."""

    __slots__ = ('__weakref__', 'inner')

    def __init__(self) -> None:
        """Make a lock that is free."""
        self.inner = RLock()
        _ALL.add(self)

    def __reduce__(self) -> Any:
        """Copy, or pickle, as a free one."""
        return TableLock, ()


def _free_all() -> None:
    """Free the locks of a child, which lacks the threads that hold them in its parent."""
    for lock in _ALL:
        lock.inner = RLock()


os.register_at_fork(after_in_child=_free_all)


def exclusive(method: Method) -> Method:
    """Return a method that holds the lock of its object while it runs."""
    @wraps(method)
    def alone(self: Any, *arguments: Any, **options: Any) -> Any:
        with self.lock.inner:
            return method(self, *arguments, **options)

    return cast(Method, alone)
