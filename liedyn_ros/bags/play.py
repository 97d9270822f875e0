# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Publish the messages of a bag as fast as they were recorded: `liedyn bag play BAG [TOPIC ...]`.

So a view shows it, or a node works on it again.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
import signal
import sys
import time

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock

from liedyn_ros.bags.types import message_class
from liedyn_ros.commands.bags.topic_options import playing_parser
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.stamps import MESSAGES_NS
from liedyn_ros.recordings.bags import Bag, Loss

PLAYED_DEPTH = 100
CLOCK_STEP = 10_000_000  # ns of the bag's time between two messages on /clock
LATCHED_TYPES, LATCHED_NAMES = ('std_msgs/msg/String',), ('/tf_static',)  # for those who join late


class Player:
    """
    The publishers of a bag's topics.

    skipped are topics whose types are not installed, or whose names are none. untimed counts the
    messages whose times a clock of ROS cannot show.
    """

    def __init__(self, node: Node, bag: Bag, topics: Sequence[str] = (),
                 clock: bool = False) -> None:
        """Open the publishers; without topics those of all that are installed."""
        chosen = [_named(bag, each) for each in topics] or list(bag.topics)
        self._bag, self.skipped, self.untimed = bag, dict[str, str](), 0
        self._publish: dict[str, Callable[[bytes], None]] = {}
        for topic in chosen:
            try:
                kind = message_class(bag.topics[topic])
                self._publish[topic] = node.create_publisher(
                    kind, topic, _qos(topic, bag.topics[topic])).publish
            except (LiedynError, NameValidationException) as error:
                self.skipped[topic] = str(error)
        self._clock = node.create_publisher(Clock, '/clock',
                                            PLAYED_DEPTH).publish if clock else None

    def play(self, rate: float = 1.0, start: float = 0.0) -> Iterator[str]:
        """Publish at a rate, from so many seconds after the first on; yield topics as they go."""
        if not rate > 0.0:
            raise LimitError(f'rate: expected more than 0, got {rate}')
        first, ticked, began = 0, 0, time.monotonic()
        for raw in self._bag.raw_messages(self._publish):
            if not 0 <= raw.received_ns < MESSAGES_NS:
                self.untimed += 1
                continue
            first = first or raw.received_ns
            passed = 1e-9 * (raw.received_ns - first) - start
            if passed < 0.0 and raw.type_name not in LATCHED_TYPES:
                continue
            pause = began + passed / rate - time.monotonic()
            if pause > 0.0:
                time.sleep(pause)
            if self._clock is not None and raw.received_ns - ticked >= CLOCK_STEP:
                ticked = raw.received_ns
                message = Clock()
                message.clock.sec, message.clock.nanosec = divmod(ticked, 10 ** 9)
                self._clock(message)
            self._publish[raw.topic](raw.data)
            yield raw.topic


def _named(bag: Bag, name: str) -> str:
    for each in (name, f'/{name}'):
        if each in bag.topics:
            return each
    return bag.topic(name, '')  # which names the topics that are there


def _qos(topic: str, type_name: str) -> QoSProfile:
    latched = type_name in LATCHED_TYPES or topic in LATCHED_NAMES
    return QoSProfile(
        depth=PLAYED_DEPTH, reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play once, or again and again; return 1 for a part or nothing, 2 where it cannot be."""
    options = playing_parser().parse_args(arguments)
    # At SIGTERM rclpy would end its context alone: a pause goes on, and what follows fails.
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = Node('play', start_parameter_services=False)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    count, losses, unplayed, untimed = 0, dict[Loss, None](), False, 0
    try:
        bag = Bag(options.bag)
        player = _player(node, bag, options)
        unplayed = bool(options.topic and player.skipped)
        time.sleep(options.delay)
        while True:
            try:
                for _ in player.play(options.rate, options.start):
                    count += 1
            finally:
                losses.update(dict.fromkeys(bag.losses))
                untimed = player.untimed
            if not options.loop or not count:
                break
    except LiedynError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
        signal.signal(signal.SIGTERM, before)
    print(f'{count} messages published')
    for loss in losses:
        print(loss, file=sys.stderr)
    if untimed:
        print(f'{untimed} messages not played: expected times from 1970 to 2038', file=sys.stderr)
    return 1 if losses or unplayed or untimed or not count else 0


def _player(node: Node, bag: Bag, options: Namespace) -> Player:
    result = Player(node, bag, options.topic, options.clock)
    for topic, reason in result.skipped.items():
        print(f'not played: {topic}: {reason}', file=sys.stderr)
    print(f'playing {options.bag}: {bag.counts.total()} messages', flush=True)
    return result


if __name__ == '__main__':
    sys.exit(main())
