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
from threading import Condition, Thread
import traceback

from liedyn_ros.ros.node.lifecycle import INTERNAL_FAULT, ManagedNode
from liedyn_ros.ros.process.run import until_shutdown

LOOK_PERIOD = 0.5  # s, of checks whether rclpy has ended
Work = Callable[[], object]


class Workers:
    """
    Runs functions in threads of a node, at most so many at a time, until it closes them.

    What waits is begun by its size, in the order it came where that is equal.
    """

    def __init__(self, node: ManagedNode, name: str, most: int = 1) -> None:
        """Take the node, and how many functions run side by side."""
        self._node, self._name, self._most = node, name, most
        self._heap: list[tuple[float, int, Work]] = []
        self._order, self._idle, self._closed = count(), 0, False  # idle: threads without work
        self._changed, self._threads = Condition(), list[Thread]()

    @property
    def waiting(self) -> int:
        """Return how many functions have not begun."""
        with self._changed:
            return max(len(self._heap) - self._idle - (self._most - len(self._threads)), 0)

    def submit(self, work: Work, size: float = 0.0) -> None:
        """Run a function; it handles its own errors."""
        with self._changed:
            heappush(self._heap, (size, next(self._order), work))
            if self._idle < len(self._heap) and len(self._threads) < self._most:
                self._idle += 1
                self._threads.append(Thread(
                    target=self._run, name=f'{self._node.get_name()}_{self._name}', daemon=True))
                self._threads[-1].start()
            self._changed.notify()

    def close(self) -> None:
        """Begin no further function, and wait for those that run."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        with until_shutdown(self._node.context):
            while (work := self._next()) is not None:
                try:
                    work()
                except Exception:  # a fault of this package, which must not end the thread
                    if self._node.context.handle.ok():
                        self._node.complain(traceback.format_exc(), INTERNAL_FAULT)
                with self._changed:
                    self._idle += 1

    def _next(self) -> Work | None:
        """Return the smallest that waits; None once it is closed or rclpy has ended."""
        with self._changed:
            while not self._closed and self._node.context.handle.ok():
                if self._heap:
                    self._idle -= 1
                    return heappop(self._heap)[2]
                self._changed.wait(LOOK_PERIOD)
        return None
