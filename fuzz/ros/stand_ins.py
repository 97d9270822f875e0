# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A node and a stream without a middleware, and messages from bytes."""

from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from fuzz.target import PropertyError
from rclpy.clock import Clock
from rclpy.serialization import deserialize_message

from liedyn_ros.ros.messages.packed import require_body
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.node.services import not_finite
from liedyn_ros.ros.streams.stream import Stream


class FakeNode:
    """What handlers use of a node; a fault of the package is an error of the target."""

    context = SimpleNamespace(handle=SimpleNamespace(ok=lambda: True))

    def get_clock(self) -> Clock:
        """Return the system's clock."""
        return Clock()

    def now_ns(self) -> int:
        """Return a time, ns."""
        return 1_000_000_000

    def time_is_simulated(self) -> bool:
        """Return False."""
        return False

    def time_of_sending(self, sent_ns: int) -> int:
        """Return the time itself."""
        return sent_ns

    def resolve_topic_name(self, topic: str) -> str:
        """Return the full name of a topic."""
        return f'/{topic}'

    def complain(self, reason: object, kind: str = '') -> None:
        """Raise PropertyError: nothing is complained of but internal faults."""
        raise PropertyError(f'{kind}: {reason}')


class FakeStream(Stream):
    """Keeps the callbacks of what is opened, by name."""

    def __init__(self) -> None:
        """Begin without any."""
        self.callbacks: dict[str, tuple[Any, Callable[..., Any]]] = {}

    def subscribe(self, message_type: Any, topic: str, callback: Callable[..., None],
                  *_: object, **__: object) -> Any:
        """Keep the callback of a topic."""
        self.callbacks[topic] = message_type, callback
        return SimpleNamespace(topic_name=f'/{topic}', msg_type=message_type)

    def open_service(self, service_type: Any, name: str, callback: Callable[[Any, Any], object],
                     ) -> Any:
        """Keep the callback of a service."""
        self.callbacks[name.removeprefix('~/')] = service_type, callback

    def open_timer(self, rate: float, callback: Callable[[], None]) -> Any:
        """Call nothing: what a timer does is no answer to anybody."""


def message(raw: bytes, message_type: Any) -> Any:
    """Return the message of bytes, None where they are none."""
    try:
        require_body(raw)
        return deserialize_message(raw, message_type)
    except RuntimeError:  # RMWError is one
        return None


def answered(services: Mapping[str, tuple[Any, Callable[..., Any]]], data: bytes) -> bool:
    """
    Answer a request as a node does; the first byte names the service, the rest is the request.

    Returns whether the request succeeded. Raises PropertyError where the answer has a number that
    is not finite, or fails without a reason.
    """
    if not data:
        return False
    kind, callback = services[sorted(services)[data[0] % len(services)]]
    request = message(data[1:], kind.Request)
    if request is None:
        return False
    response = ManagedNode.answer(FakeNode(), callback, request, kind.Response())  # type: ignore
    outcome = getattr(response, 'answer', response)
    if field := not_finite(response):
        raise PropertyError(f'{kind.__name__}: {field} is not finite in {response}')
    if not (outcome.success or outcome.message):
        raise PropertyError(f'{kind.__name__}: expected a reason of the refusal, got none')
    return bool(outcome.success)


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the records of an input: a byte, the size in two bytes, and as many bytes."""
    while len(data) >= 3:
        size = int.from_bytes(data[1:3], 'little')
        yield data[0], data[3:3 + size]
        data = data[3 + size:]


def record(kind: int, raw: bytes) -> bytes:
    """Return the bytes of one record."""
    return bytes((kind,)) + len(raw).to_bytes(2, 'little') + raw
