# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Record topics into a bag of MCAP: `liedyn bag record FOLDER [TOPIC ...]`.

Foxglove, Lichtblick and `ros2 bag play` read the
bag, and `liedyn bag play` does. It ends by Ctrl-C, and what it has is then written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import signal
import sys
from threading import Event
import time
from typing import Any, NamedTuple

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rosbags.rosbag2 import StoragePlugin, Writer, WriterError

from liedyn_ros.bags.types import Definitions, message_class
from liedyn_ros.commands.bags.topic_options import recording_parser
from liedyn_ros.common.errors import LiedynError

# Messages of a topic that wait for a look at it; s between looks
RECORDED_DEPTH, LOOK_INTERVAL = 5000, 0.02
DISCOVERY = 0.5  # s between looks for new topics
EXCLUDED_TOPICS = ('/rosout', '/parameter_events')


class RecordedTopic(NamedTuple):
    """A topic that is recorded."""

    subscription: Any
    qos: QoSProfile
    message_type: Any
    connection: Any


class Recorder:
    """
    Topics and what came of them, in a bag.

    Messages are taken as bytes, by looks at queues, so a fast topic costs little. counts are the
    messages of each topic; faults say which topics are not recorded, and why.
    """

    def __init__(self, node: Node, folder: Path, topics: Sequence[str] = ()) -> None:
        """
        Open a new bag. topics are resolved by the node; without any all are recorded.

        Raises LiedynError.
        """
        self._node, self._wanted = node, {node.resolve_topic_name(each) for each in topics}
        try:
            self._writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
            self._writer.open()
        except (WriterError, OSError) as error:
            raise LiedynError(f'{folder}: expected a folder that can be made, got {error}'
                              ) from error
        self._definitions = Definitions()
        self._topics: dict[str, RecordedTopic] = {}
        self._connections: dict[str, Any] = {}
        self.counts: dict[str, int] = {}
        self.faults: dict[str, str] = {}

    def discover(self) -> None:
        """Open the topics that have come, and again at a publisher of lower QoS."""
        for topic, kinds in self._node.get_topic_names_and_types():
            wanted = topic in self._wanted if self._wanted else topic not in EXCLUDED_TOPICS
            if wanted and topic not in self.faults:
                offered = [each.qos_profile
                           for each in self._node.get_publishers_info_by_topic(topic)]
                try:
                    if topic in self._topics:
                        self._open_again(topic, offered)
                    elif offered:
                        self._open(topic, kinds, _qos(offered))
                except LiedynError as error:
                    self.faults[topic] = str(error)
                    print(f'not recorded: {topic}: {error}', file=sys.stderr, flush=True)

    def _open(self, topic: str, kinds: Sequence[str], qos: QoSProfile) -> None:
        if len(kinds) != 1:
            raise LiedynError(f'expected one type, got {list(kinds)}')
        message_type = message_class(kinds[0])
        connection = self._connected(topic, kinds[0])
        self._topics[topic] = RecordedTopic(
            self._subscribed(topic, message_type, qos), qos, message_type, connection)
        print(f'recording {topic} ({kinds[0]})', flush=True)

    def _open_again(self, topic: str, offered: Sequence[QoSProfile]) -> None:
        before = self._topics[topic]
        qos = _qos([before.qos, *offered])
        if qos == before.qos:
            return
        self._topics[topic] = before._replace(
            subscription=self._subscribed(topic, before.message_type, qos), qos=qos)
        self._take(before)
        self._node.destroy_subscription(before.subscription)
        print(f'recording {topic} again: a publisher of lower QoS came', flush=True)

    def _subscribed(self, topic: str, message_type: Any, qos: QoSProfile) -> Any:
        return self._node.create_subscription(message_type, topic, _nobody, qos, raw=True)

    def _connected(self, topic: str, kind: str) -> Any:
        if topic not in self._connections:
            text, identity = self._definitions.text(kind)
            self._connections[topic] = self._writer.add_connection(
                topic, kind, msgdef=text, rihs01=identity)
            self.counts[topic] = 0
        return self._connections[topic]

    def take(self) -> None:
        """Write the messages that wait."""
        for taken in self._topics.values():
            self._take(taken)

    def _take(self, taken: RecordedTopic) -> None:
        for _ in range(RECORDED_DEPTH):
            found = taken.subscription.handle.take_message(taken.message_type, True)
            if found is None:
                break
            data, information = found
            self._writer.write(
                taken.connection, information['received_timestamp'] or time.time_ns(), data)
            self.counts[taken.connection.topic] += 1

    def missing(self) -> dict[str, str]:
        """Return why topics that were named are not in the bag."""
        return {topic: self.faults.get(topic, 'no publisher came')
                for topic in sorted(self._wanted - self.counts.keys())}

    def close(self) -> None:
        """Write the index."""
        self._writer.close()


def _nobody(message: bytes) -> None:
    """Stand for a callback: messages are taken by looks."""


def _qos(offered: Sequence[QoSProfile]) -> QoSProfile:
    """Return the best quality of service that every publisher offers."""
    reliable = all(each.reliability == ReliabilityPolicy.RELIABLE for each in offered)
    latched = all(each.durability == DurabilityPolicy.TRANSIENT_LOCAL for each in offered)
    return QoSProfile(
        depth=RECORDED_DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record until a signal comes, or for a time; return 1 where a topic or all is missing."""
    options = recording_parser().parse_args(arguments)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    end = Event()
    before = {each: signal.signal(each, lambda *_: end.set())
              for each in (signal.SIGINT, signal.SIGTERM)}
    node = Node('record', namespace=options.namespace, start_parameter_services=False)
    try:
        recorder = Recorder(node, options.folder, options.topic)
        _record(recorder, end, options.duration)
    except LiedynError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f'{options.folder}: not written to its end: {error}', file=sys.stderr)
        return 2
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
        for each, handler in before.items():
            signal.signal(each, handler)
    for topic, count in sorted(recorder.counts.items()):
        print(f'{count:8d} {topic}')
    print(f'in {options.folder}')
    missing = recorder.missing()
    for topic, reason in missing.items():
        print(f'not recorded: {topic}: {reason}', file=sys.stderr)
    return 0 if any(recorder.counts.values()) and not missing else 1


def _record(recorder: Recorder, end: Event, duration: float) -> None:
    try:
        began = looked = time.monotonic() - DISCOVERY
        while not end.wait(LOOK_INTERVAL):
            now = time.monotonic()
            if now - looked >= DISCOVERY:
                looked = now
                recorder.discover()
            recorder.take()
            if duration and now - began >= duration:
                break
    finally:
        recorder.take()
        recorder.close()


if __name__ == '__main__':
    sys.exit(main())
