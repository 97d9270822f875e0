# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Threads for work that takes long: some side by side, the others wait, the smallest first."""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from threading import current_thread, Lock, Thread
import traceback

from liedyn_ros.ros.node.lifecycle import INTERNAL_FAULT, ManagedNode
from liedyn_ros.ros.process.run import until_shutdown

Work = Callable[[], object]


class Workers:
    """
    Runs functions in threads of a node, at most so many at a time, until it closes them.

    What waits is begun by its size, in the order it came where that is equal. What is less than
    half as large as each that runs waits for none of them: beyond the number side by side there
    is one thread at most for each halving from the largest size to the smallest.
    """

    def __init__(self, node: ManagedNode, name: str, most: int = 1) -> None:
        """Take the node, and how many functions run side by side."""
        self._node, self._name, self._most = node, name, most
        self._heap: list[tuple[float, int, Work]] = []
        self._order, self._closed, self._lock = count(), False, Lock()
        self._running: dict[Thread, float] = {}  # and the sizes

    def waiting(self, size: float = 0.0) -> int:
        """Return how many functions wait that are less than twice as large as a size, or equal."""
        with self._lock:
            return sum(not _much_smaller(size, each) for each, _, _ in self._heap)

    def submit(self, work: Work, size: float = 0.0) -> None:
        """Run a function, which handles its own errors; size: 0 or above."""
        with self._lock:
            heappush(self._heap, (size, next(self._order), work))
            self._begin()

    def close(self) -> None:
        """Begin no further function, and wait for those that run."""
        with self._lock:
            self._closed, running = True, list(self._running)
        for thread in running:
            thread.join()

    def _begin(self) -> None:
        """Begin the works that wait and may; the lock is held."""
        while self._heap and not self._closed and self._node.context.handle.ok() and (
                len(self._running) < self._most
                or _much_smaller(self._heap[0][0], min(self._running.values()))):
            size, _, work = heappop(self._heap)
            thread = Thread(target=self._run, args=(work,), daemon=True,
                            name=f'{self._node.get_name()}_{self._name}')
            self._running[thread] = size
            thread.start()

    def _run(self, work: Work) -> None:
        with until_shutdown(self._node.context):
            try:
                work()
            except Exception:  # a fault of this package, which must not end the thread
                if self._node.context.handle.ok():
                    self._node.complain(traceback.format_exc(), INTERNAL_FAULT)
            finally:
                with self._lock:
                    del self._running[current_thread()]
                    self._begin()


def _much_smaller(size: float, other: float) -> bool:
    return 2.0 * size < other
