# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Records topics as they arrive, undecoded, so that the recording costs as little as possible."""

from collections.abc import Mapping
from functools import partial
import time
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from liedyn_ros.ros.messages.conversions import nanoseconds

RECORDER_DEPTH = 5000


class DemoRecorder(Node):
    """Subscribes to topics and keeps (arrival time in ns, message) of each."""

    def __init__(self, topics: Mapping[str, type]) -> None:
        """Subscribe to topics of given message types."""
        super().__init__('recorder')
        self._types: dict[str, type] = {}
        self._raw: dict[str, list[tuple[int, bytes]]] = {}
        for topic, message_type in topics.items():
            self.record(topic, message_type)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self)

    def record(self, topic: str, message_type: type) -> None:
        """Subscribe to one more topic."""
        self._types[topic], self._raw[topic] = message_type, []
        self.create_subscription(
            message_type, topic, partial(self._keep, self._raw[topic]),
            QoSProfile(depth=RECORDER_DEPTH), raw=True)

    def count(self, topic: str) -> int:
        """Return how many messages of a topic have arrived."""
        return len(self._raw[topic])

    def newest_ns(self, topic: str) -> int:
        """Return the stamp of the newest message of a topic, ns; 0 before the first."""
        return nanoseconds(self.latest(topic).header.stamp) if self._raw[topic] else 0

    def spin_for(self, seconds: float) -> None:
        """Record for a time, s."""
        self.spin_until(time.monotonic() + seconds)

    def spin_until(self, end: float) -> None:
        """Record until a time of the monotonic clock, s."""
        while time.monotonic() < end:
            self.spin_some(end)

    def spin_some(self, end: float) -> None:
        """Wait for one message, at most until a time of the monotonic clock, s."""
        self._executor.spin_once(timeout_sec=max(0.0, end - time.monotonic()))

    def messages(self, topic: str) -> list[tuple[int, Any]]:
        """Return the messages of a topic, decoded, each with its arrival time in ns."""
        message_type = self._types[topic]
        return [(at, deserialize_message(raw, message_type)) for at, raw in self._raw[topic]]

    def latest(self, topic: str) -> Any:
        """Return the newest message of a topic, decoded."""
        return deserialize_message(self._raw[topic][-1][1], self._types[topic])

    @staticmethod
    def _keep(into: list[tuple[int, bytes]], raw: bytes) -> None:
        into.append((time.time_ns(), raw))


def deep(*topics: str) -> dict[str, Any]:
    """Return parameters with which a publisher waits for a recorder on a busy machine."""
    return {f'qos_overrides./{topic}.publisher.depth': 1000 for topic in topics}
