# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A process beside a run that writes down what it sees, the newest rows of it."""

from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.nodes.streams import START_TIMEOUT
from benchmarks.processes import Beside


class Watcher:
    """Starts the process; the run takes its rows when it likes."""

    def __init__(self, stack: ExitStack, watch: Callable[..., None], about: Any, columns: int,
                 rows: int) -> None:
        """
        Start watch(about, ready, stop, written, count), and wait until it has set ready.

        written holds rows of columns integers, one after the other; count those ever written.
        """
        context = get_context('spawn')
        ready, stop, self._taken = context.Event(), context.Event(), 0
        self._rows, self._columns = rows, columns
        self._written = context.Array('q', columns * rows, lock=False)
        self._count = context.Value('q', 0)
        process = Beside(target=watch, args=(
            about, ready, stop, self._written, self._count))
        process.start()
        stack.callback(process.join)
        stack.callback(stop.set)
        if not ready.wait(START_TIMEOUT):
            raise SystemExit(f'expected a watcher within {START_TIMEOUT:g} s, got none')

    def take(self) -> np.ndarray:
        """Return the rows since the last call, at most the newest that were kept."""
        count = self._count.value
        numbers = np.arange(max(self._taken, count - self._rows), count) % self._rows
        self._taken = count
        return np.frombuffer(self._written, np.int64).reshape(-1, self._columns)[numbers]
