# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
When other programs had the processors: what was lost then has another cause than the nodes.

A process of its own looks each second at the processor time of all processes. Those that the run
has started are left out. On two cores a linter or a compiler takes what a node needs.
"""

from contextlib import ExitStack
import os
from pathlib import Path
import time
from typing import Any

import numpy as np

from benchmarks.nodes.watcher import Watcher

PERIOD = 1.0  # s, of a look
MUCH = 0.25  # of a processor, in a period, from which on others may be the cause of a loss
LOOKS = 1 << 14  # that are written down
PARENT, TIMES = 1, slice(11, 15)  # of /proc/<pid>/stat, from the state on; times with children's
PROC = Path('/proc')


def processor_time(run: int, proc: Path = PROC) -> float:
    """
    Return the processor time, s, of all processes but a run and what it has started itself.

    A process has the time of its children that have ended, so the sum never loses theirs.
    """
    ticks = 0
    for folder in proc.iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / 'stat').read_text().rpartition(')')[2].split()
            except (FileNotFoundError, ProcessLookupError):  # it has ended
                continue
            if run not in (int(folder.name), int(fields[PARENT])):
                ticks += sum(map(int, fields[TIMES]))
    return ticks / os.sysconf('SC_CLK_TCK')


def watch(run: int, ready: Any, stop: Any, looks: Any, count: Any) -> None:
    """Write down each PERIOD: begin and end, ns, and the share of a processor, per mille."""
    ready.set()
    before, used = time.time_ns(), processor_time(run)
    while not stop.wait(PERIOD):
        now, used_now = time.time_ns(), processor_time(run)
        place = 3 * (count.value % LOOKS)
        looks[place:place + 3] = [before, now, round(1e12 * (used_now - used) / (now - before))]
        count.value += 1
        before, used = now, used_now


class Neighbours:
    """Tells how much of a processor other programs took."""

    def __init__(self, stack: ExitStack) -> None:
        """Start its process, and wait until it watches."""
        self._watcher = Watcher(stack, watch, os.getpid(), 3, LOOKS)

    def take(self) -> np.ndarray:
        """Return the looks since the last call: begin and end, ns, share of a processor."""
        looks = self._watcher.take()
        if not len(looks):
            raise SystemExit(f'expected a look each {PERIOD:g} s, got none: the watcher has ended')
        return looks * np.array([1, 1, 1e-3])


def busy(looks: np.ndarray) -> np.ndarray:
    """Return the times, (n, 2), ns, in which others took MUCH, or may have begun to."""
    times = (looks[looks[:, 2] >= MUCH, :2] - [1e9 * PERIOD, 0.0]).astype(np.int64)
    first = np.append(True, times[1:, 0] > times[:-1, 1])[:len(times)]  # of those that overlap
    return np.column_stack([times[first, 0], times[np.roll(first, -1), 1]])
