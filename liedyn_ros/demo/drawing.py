# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pictures of one part of the demo, drawn in a process of its own while the next part begins."""

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, wait
import multiprocessing
import os
from types import TracebackType
from typing import Any

NICENESS = 10  # the nodes go first
DRAWING_TIMEOUT = 600.0  # s for what is left to draw when all parts are over


class Drawings:
    """A process that draws; a context manager that waits for all pictures."""

    def __init__(self) -> None:
        """Start no process before the first picture."""
        self._pool = ProcessPoolExecutor(
            1, multiprocessing.get_context('spawn'), os.nice, (NICENESS,))
        self._asked: list[Future[None]] = []

    def draw(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function of a module, beside."""
        self._asked.append(self._pool.submit(function, *arguments))

    def __enter__(self) -> 'Drawings':
        """Return the drawings."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Wait for all, at most for DRAWING_TIMEOUT, and raise what one of them raised."""
        if error is None:
            left = wait(self._asked, DRAWING_TIMEOUT).not_done
            if left:
                print(f'{len(left)} of {len(self._asked)} drawings are left out: this machine was '
                      'too busy for them')
                for process in multiprocessing.active_children():
                    process.terminate()
        self._pool.shutdown(cancel_futures=True)
        if error is None:
            for asked in self._asked:
                if asked not in left:
                    asked.result()
