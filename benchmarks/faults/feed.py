# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Feeds a node under test at a rate: python -m benchmarks.faults.feed NODE [--simulated].

Lines of the standard input command it, and the end of the input ends it.

- `link LOSS DELAY`: drop a share of the messages, and delay each by up to so many seconds.
- `shift SECONDS`: set the simulated clock forward, or back.
- `pause`, `run`: stop everything, the clock too; go on.

Messages that are delayed by more than a period arrive out of order.
"""

from argparse import ArgumentParser
import heapq
from itertools import count
import time

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock

from benchmarks.faults.commands import Commands
from benchmarks.faults.subjects import Subject, SUBJECTS
from benchmarks.recorder import STAMP_BYTES
from liedyn_ros.ros.messages.conversions import stamp_of

RATE = 100.0  # Hz


class Feed:
    """The input of a node, through a link that may lose, delay and reorder."""

    def __init__(self, subject: Subject, simulated: bool) -> None:
        """Open the publishers; with simulated time that of /clock too."""
        self._node = Node(f'feed_of_{subject.node}')
        self._outputs = [
            (self._node.create_publisher(type(message), topic, 10),
             bytearray(serialize_message(message))) for topic, message in subject.inputs()]
        self._clock = self._node.create_publisher(Clock, '/clock', 10) if simulated else None
        self._time_ns, self._paused = time.time_ns(), False  # of the simulated clock
        self._loss = self._delay = 0.0
        self._rng, self._numbers = np.random.default_rng(7), count()
        self._waiting: list[tuple[float, int, Publisher, bytes]] = []

    def command(self, word: str, *numbers: float) -> None:
        """Obey a command."""
        if word == 'link':
            self._loss, self._delay = numbers
        elif word == 'shift':
            self._time_ns += round(1e9 * numbers[0])
        elif word in ('pause', 'run'):
            self._paused = word == 'pause'
        else:
            raise SystemExit(f'expected link, shift, pause or run, got {word!r}')

    def send(self, elapsed: float) -> None:
        """Hand one set of messages to the link, some s after the last; send what is due."""
        if self._paused:
            return
        self._time_ns += round(1e9 * elapsed)
        stamp_ns = time.time_ns() if self._clock is None else self._time_ns
        if self._clock is not None:
            self._clock.publish(Clock(clock=stamp_of(stamp_ns)))
        for publisher, raw in self._outputs:
            STAMP_BYTES.pack_into(raw, 4, *divmod(stamp_ns, 1_000_000_000))
            if self._rng.random() >= self._loss:
                due = time.monotonic() + self._delay * self._rng.random()
                heapq.heappush(self._waiting, (due, next(self._numbers), publisher, bytes(raw)))
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            *_, publisher, message = heapq.heappop(self._waiting)
            publisher.publish(message)


def main() -> None:
    """Feed until the standard input ends."""
    parser = ArgumentParser(description='feed of a node under test')
    parser.add_argument('node', choices=list(SUBJECTS))
    parser.add_argument('--simulated', action='store_true', help='publish /clock')
    options = parser.parse_args()
    rclpy.init()
    feed, commands = Feed(SUBJECTS[options.node], options.simulated), Commands()
    last = time.monotonic()
    while not commands.ended:
        for word, *numbers in commands.take():
            feed.command(word, *map(float, numbers))
        now = time.monotonic()
        feed.send(now - last)
        last = now
        time.sleep(max(0.0, now + 1.0 / RATE - time.monotonic()))
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
