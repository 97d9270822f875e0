# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A recorder of the messages of a node under test, in a process of its own.

Beside threads that count, ask services or collect garbage, a recorder in Python would wait for
the interpreter's lock, up to 5 ms at a time. What waits so seems old, or lost.
"""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
import struct
import time
from typing import Any

import numpy as np
import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from benchmarks.nodes.priority import raise_priority
from benchmarks.processes import Beside

DEPTH = 5000
ALL = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
FRESH = 0.02  # s, an age that is fresh
WAIT = 100_000_000  # ns, between looks whether the record is asked for
HAND_OVER = 30.0  # s, for which a record is waited
STAMP_BYTES = struct.Struct('<iI')


@dataclass
class Record:
    """
    A record: stamps and arrivals of answers, ns; statuses as bytes.

    gaps: when, ns, and how many of these were missing, by the middleware's count.
    """

    stamps: list[int] = field(default_factory=list)
    arrivals: list[int] = field(default_factory=list)
    statuses: list[bytes] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)

    @property
    def out_of_order(self) -> int:
        """Return how many answers are not later than the one before."""
        return sum(later <= before for before, later in zip(self.stamps, self.stamps[1:]))

    def ages(self, begin: int, end: int) -> np.ndarray:
        """Return how old, in s, the answers were that arrived between two times, ns."""
        return np.array([1e-9 * (at - stamp) for stamp, at in zip(self.stamps, self.arrivals)
                         if begin <= at < end])

    def fresh_after(self, begin: int) -> float:
        """Return the time (s) from a time, ns, until an answer arrived that was fresh."""
        return next((1e-9 * (at - begin) for stamp, at in zip(self.stamps, self.arrivals)
                     if at >= begin and at - stamp < 1e9 * FRESH), np.inf)


def record_answers(answers: Sequence[tuple[Any, str]], newest: Any, asked: Any, stop: Any,
                   connection: Connection) -> None:
    """
    Record the answers to a node's input until stop is set; hand the record over when asked.

    answers: types and topics, of which the first is timed and the second is kept as bytes.
    newest: where the newest stamp is written.
    """
    raise_priority()
    rclpy.init()
    node, record = Node('recorder'), Record()
    sources = [_Source(node, each, topic, kind) for kind, (each, topic) in enumerate(answers)]
    waiting = rclpy_implementation.WaitSet(len(sources), 0, 0, 0, 0, 0, node.context.handle)
    while not stop.value:
        waiting.clear_entities()
        for source in sources:
            waiting.add_subscription(source.handle)
        waiting.wait(WAIT)
        for source in sources:
            while not stop.value and source.take(record):
                pass
            if source.kind == 0 and record.stamps:
                newest.value = record.stamps[-1]
        if asked.value:
            asked.value = 0
            with suppress(BrokenPipeError):  # nobody waits for it any more
                connection.send(record)
            record = Record()
    node.destroy_node()
    rclpy.try_shutdown()


class _Source:
    """A subscription of the recorder; kind: its place among the answers."""

    def __init__(self, node: Node, message_type: Any, topic: str, kind: int) -> None:
        """Subscribe."""
        self._subscription = node.create_subscription(
            message_type, topic, lambda _: None, ALL, raw=True)
        self.handle, self.kind, self._count = self._subscription.handle, kind, 0

    def take(self, record: Record) -> bool:
        """Take a message down; return whether there was one."""
        taken = self.handle.take_message(self._subscription.msg_type, True)
        if taken is None:
            return False
        if self.kind == 0:
            record.arrivals.append(time.time_ns())
            sec, nanosec = STAMP_BYTES.unpack_from(taken[0], 4)
            record.stamps.append(sec * 1_000_000_000 + nanosec)
        elif self.kind == 1:
            record.statuses.append(taken[0])
        if self.kind < 2 and (count := taken[1].get('publication_sequence_number')):
            if self._count and count > self._count + 1:
                record.gaps.append((time.time_ns(), count - self._count - 1))
            self._count = count
        return True


class Recorder:
    """The process that records, and what it has recorded."""

    def __init__(self, stack: ExitStack, answers: Sequence[tuple[Any, str]]) -> None:
        """Start the process; the stack ends it."""
        context = get_context('spawn')
        # Kept here: a value that is collected frees its memory in the process too.
        self._newest, self._asked, self._stop = (context.Value(kind, 0) for kind in 'qbb')
        self._connection, other = context.Pipe()
        self._process = Beside(target=record_answers, args=(
            answers, self._newest, self._asked, self._stop, other))
        self._process.start()
        other.close()  # so that the process's end is noticed here
        stack.callback(self._process.join)
        stack.callback(self._end)

    def _end(self) -> None:
        self._stop.value = 1
        self._connection.close()  # lest the process waits until its record is taken

    @property
    def newest(self) -> int:
        """Return the stamp of the newest answer, ns; zero before the first."""
        if not self._process.is_alive():
            raise SystemExit('expected a recorder that runs, it has ended')
        return self._newest.value

    def take(self) -> Record:
        """Return the record since the last time."""
        self._asked.value = 1
        try:
            if self._connection.poll(HAND_OVER):
                return self._connection.recv()
        except EOFError:
            raise SystemExit('expected a record, the recorder has ended') from None
        raise SystemExit(f'expected a record within {HAND_OVER:g} s, got none')
