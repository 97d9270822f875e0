# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How late a machine is, by processes that nothing but the machine can make late.

One on each processor wants WORK of it each period, as a node does, at the priority of a node.
Where a beat is done more than a period after its time, the machine was late from then until it was
done: it stood still, or gave the processor to others. What a node missed meanwhile may be the
machine's.
"""

from contextlib import ExitStack
from multiprocessing import get_context
import os
import time
from typing import Any

import numpy as np

from benchmarks.nodes.streams import START_TIMEOUT
from benchmarks.processes import Beside

PERIOD, WORK = 10_000_000, 1_000_000  # ns
BEATS = 1 << 16  # late ones that are written down, more than ten minutes have


def beat(processor: int, period: int, ready: Any, stop: Any, late: Any, count: Any) -> None:
    """Beat each period, ns, until stop is set; write down between which times one was late."""
    os.sched_setaffinity(0, {processor})
    due = time.time_ns()
    ready.set()
    while not stop.is_set():
        due += period
        time.sleep(max(0.0, 1e-9 * (due - time.time_ns())))
        end = time.thread_time_ns() + WORK
        while time.thread_time_ns() < end:
            pass
        now = time.time_ns()
        if now > due + period:
            place = 2 * (count.value % BEATS)
            late[place:place + 2] = [due, now]
            count.value += 1
            due = now


class Heartbeat:
    """Beats on each processor that a run may use."""

    def __init__(self, stack: ExitStack, period: int = PERIOD) -> None:
        """Start the processes, and wait until they beat each period, ns."""
        context, stop = get_context('spawn'), get_context('spawn').Event()
        self._written, self._taken = list[tuple[Any, Any]](), list[int]()
        for processor in sorted(os.sched_getaffinity(0)):
            late, count = context.Array('q', 2 * BEATS, lock=False), context.Value('q', 0)
            ready = context.Event()
            process = Beside(target=beat, args=(
                processor, period, ready, stop, late, count))
            process.start()
            stack.callback(process.join)
            if not ready.wait(START_TIMEOUT):
                raise SystemExit(f'expected a heartbeat within {START_TIMEOUT:g} s, got none')
            self._written.append((late, count))
            self._taken.append(0)
        stack.callback(stop.set)

    def take(self) -> np.ndarray:
        """Return from when to when a processor was late since the last call, (n, 2), ns."""
        found = []
        for k, (late, count) in enumerate(self._written):
            last = count.value
            places = np.arange(max(self._taken[k], last - BEATS), last) % BEATS
            found.append(np.frombuffer(late, np.int64).reshape(-1, 2)[places])
            self._taken[k] = last
        return np.concatenate(found)


def merge(late: np.ndarray) -> np.ndarray:
    """Return times without overlaps, in their order, (n, 2), ns."""
    joined: list[list[int]] = []
    for begin, end in sorted(late.tolist()):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return np.array(joined, np.int64).reshape(-1, 2)


def lateness(late: np.ndarray, begin: float, end: float) -> float:
    """Return for how long, ns, a machine was late between two times, of times without overlaps."""
    return float(np.maximum(np.minimum(late[:, 1], end) - np.maximum(late[:, 0], begin), 0).sum())


def explains(late: np.ndarray, begin: float, end: float, needed: float) -> bool:
    """
    Return whether a machine may have kept a node from its work for some time, ns, in a window.

    Half of that time must have been late: what waits for a processor draws lots, and the beats
    drew others than the node.
    """
    return lateness(late, begin, end) >= needed / 2.0
