# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
When a machine stood still: losses of that time are not the node's.

A witness on each processor, at raised priority, sleeps a millisecond at a time. Where it wakes
late, the processor stood still for every process, as under a hypervisor that gives it to others.
A node's queue holds QUEUE. So stalls that lie within QUEUE of each other count together, and
matter where they add up to half of it. Losses then, until RECOVERY later, are the machine's, all
others the node's.
"""

from collections.abc import Sequence
from contextlib import ExitStack
import os
import time
from typing import Any

import numpy as np

from benchmarks.nodes.accounts import Loss
from benchmarks.nodes.priority import raise_priority
from benchmarks.nodes.watcher import Watcher

NAP = 0.001  # s, of a witness
LATE = 0.002  # s, from which on a stall is written down
QUEUE = 0.01  # s, that the node's queue holds at 1 kHz
LEAD = 0.02  # s, that the last answer lies before an outage
RECOVERY = 0.1  # s, in which a node is to be fresh again
STALLS = 1 << 16  # that are written down


def watch(processor: int | None, ready: Any, stop: Any, late: Any, count: Any) -> None:
    """Sleep a NAP at a time; write down from when to when it took too long, ns."""
    ready.set()
    if processor is not None:
        os.sched_setaffinity(0, {processor})
        if not raise_priority():
            return  # it would tell of other processes, which excuse nothing
    before = time.time_ns()
    while not stop.is_set():
        time.sleep(NAP)
        now = time.time_ns()
        if now - before > 1e9 * LATE:
            place = 2 * (count.value % STALLS)
            late[place], late[place + 1] = before, now
            count.value += 1
        before = now


class Witness:
    """Tells when processes had to wait: on a processor at raised priority, or as any process."""

    def __init__(self, stack: ExitStack, processor: int | None = None) -> None:
        """Start its process, which takes a processor for a while, and wait until it watches."""
        self._watcher = Watcher(stack, watch, processor, 2, STALLS)

    def take(self) -> np.ndarray:
        """Return from when to when it waited since the last call, (n, 2), ns."""
        return self._watcher.take()


def merge(stalls: np.ndarray) -> np.ndarray:
    """Return the outages: stalls that lie within QUEUE of each other and add up to half of it."""
    outages: list[list[float]] = []
    for begin, end in sorted(stalls.tolist()):
        if outages and begin - outages[-1][1] < 1e9 * QUEUE:
            last = outages[-1]
            last[2] += max(0, end - max(begin, last[1]))
            last[1] = max(last[1], end)
        else:
            outages.append([begin, end, end - begin])
    found = [outage[:2] for outage in outages if outage[2] >= 1e9 * QUEUE / 2]
    return np.array(found, np.int64).reshape(-1, 2)


def outside(outages: np.ndarray, losses: Sequence[Loss]) -> list[Loss]:
    """
    Return the losses that no outage explains.

    It explains those that begin at most LEAD before it and end at most RECOVERY after it.
    """
    begins, ends = outages.T + 1e9 * np.array([[-LEAD], [RECOVERY]])
    return [loss for loss in losses
            if not np.any((begins <= loss.after) & (outages[:, 0] <= loss.before)
                          & (loss.before <= ends))]


def near(stalls: np.ndarray, loss: Loss) -> list[list[float]]:
    """Return stalls near a loss: begin and end, ms from the last answer before it."""
    close = ((stalls[:, 0] <= loss.before + 1e9 * RECOVERY)
             & (loss.after - 1e9 * RECOVERY <= stalls[:, 1]))
    return (1e-6 * (stalls[close] - loss.after)).tolist()


def covered(outages: np.ndarray) -> float:
    """Return for how long there was an outage, LEAD before one or RECOVERY after, s."""
    total, reached = 0, 0
    for begin, end in (outages + (1e9 * np.array([-LEAD, RECOVERY])).astype(np.int64)).tolist():
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return 1e-9 * total


def longest(stalls: np.ndarray) -> float:
    """Return how long the longest was, ms."""
    return float(1e-6 * np.diff(stalls).max(initial=0))
