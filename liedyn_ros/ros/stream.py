# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A stream of messages, read in a thread of its own: all that waits is taken at once."""

from collections.abc import Callable
from threading import Thread
import time
import traceback
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.ros.process import until_shutdown

MAX_BATCH = 100  # messages of a batch, where they come faster than they are taken
LOOK_PERIOD = 0.5  # s, of looking whether rclpy has ended and at events of the middleware


class _Aside(CallbackGroup):
    """A callback group that no executor serves."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


class StreamReader:
    """
    Reads the subscriptions that matter beside the executor, which serves everything else.

    An executor rebuilds its wait set from every timer, service and event of its node at each
    message, and takes one message at a time: behind a queue, always the oldest. Here the wait
    set holds the stream alone. All that waits is taken at once, then handed over in its order:
    what comes meanwhile is of the next batch. Then `end_of_batch` is called, once, with what is
    newest known: the place to publish.

    The callbacks run in the thread of the reader. What they share with callbacks of the executor
    is guarded by `node.lock`, which the reader holds for one message at a time, and for the end.
    """

    def __init__(self, node: ManagedNode, end_of_batch: Callable[[], None] = lambda: None) -> None:
        """Take the node that owns the reader; `start` follows the subscriptions."""
        self._node, self._end_of_batch = node, end_of_batch
        self._streams: list[tuple[Subscription, Callable[[Any], None]]] = []
        self._group, self._ended = _Aside(), False
        self.lost = 0  # messages of all subscriptions, by gaps in their publishers' counts
        self._counts: dict[Any, int] = {}  # of the last message of each publisher
        self._wake = rclpy_implementation.GuardCondition(node.context.handle)
        self._thread = Thread(target=self._run, name=f'{node.get_name()}_stream', daemon=True)

    def subscribe(self, message_type: Any, topic: str, callback: Callable[[Any], None],
                  qos: QoSProfile | int, *, raw: bool = False) -> Subscription:
        """Add a subscription; raw: the callback is given the bytes of a message."""
        subscription = self._node.open_subscription(
            message_type, topic, callback, qos, callback_group=self._group, raw=raw)
        self._streams.append((subscription, callback))
        return subscription

    def start(self) -> None:
        """Start the thread; it ends when the node closes what it opened."""
        self._node.on_close(self._close)
        self._thread.start()

    def _close(self) -> None:
        self._ended = True
        self._wake.trigger_guard_condition()
        self._thread.join()

    def _run(self) -> None:
        handle, look = self._node.context.handle, 0.0
        with until_shutdown(self._node.context), handle:
            waiting = rclpy_implementation.WaitSet(
                len(self._streams), 1, 0, 0, 0, 0, handle)
            while not self._ended and self._node.context.ok():
                waiting.clear_entities()
                for subscription, _ in self._streams:
                    waiting.add_subscription(subscription.handle)
                waiting.add_guard_condition(self._wake)
                waiting.wait(int(1e9 * LOOK_PERIOD))
                self._hand_over(self._take_all())
                if time.monotonic() >= look:
                    look = time.monotonic() + LOOK_PERIOD
                    self._look_at_events()

    def _take_all(self) -> list[tuple[Callable[[Any], None], Any]]:
        """Take what waits, message by message of each subscription in turn."""
        taken: list[tuple[Callable[[Any], None], Any]] = []
        left = self._streams
        while left and len(taken) < MAX_BATCH:
            still = []
            for stream in left:
                subscription, callback = stream
                message = subscription.handle.take_message(
                    subscription.msg_type, subscription.raw)
                if message is not None:
                    still.append(stream)
                    self._count_lost(subscription, message[1])
                    taken.append((callback, message[0]))
            left = still
        return taken

    def _hand_over(self, taken: list[tuple[Callable[[Any], None], Any]]) -> None:
        for callback, message in taken:
            if self._ended:
                return
            self._call(callback, message)
        if taken:
            self._call(self._end_of_batch)

    def _look_at_events(self) -> None:
        """
        Serve the events of the subscriptions, such as a publisher whose QoS does not fit.

        In the wait set of an executor they would wake it at each message: the middleware tells
        data and events of a subscription by one condition.
        """
        events = [event for subscription, _ in self._streams
                  for event in subscription.event_handlers]
        waiting = rclpy_implementation.WaitSet(
            0, 0, 0, 0, 0, len(events), self._node.context.handle)
        waiting.clear_entities()
        for event in events:
            event.add_to_wait_set(waiting)
        waiting.wait(0)
        for event in events:
            if event.is_ready(waiting):
                self._call(event.callback, event.take_data())

    def _count_lost(self, subscription: Subscription, info: Any) -> None:
        """Count what is missing between two messages of one publisher, where it counts them."""
        count = info.get('publication_sequence_number')
        if count is None:
            return
        publisher = info.get('publisher_gid')
        key = subscription, publisher and publisher['data']
        last = self._counts.get(key, count)
        self.lost += max(0, count - last - 1)
        self._counts[key] = count

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        try:
            with self._node.lock:
                function(*arguments)
        except rclpy_implementation.RCLError:
            if self._node.context.ok():  # else rclpy has ended meanwhile
                self._node.complain(traceback.format_exc())
        except Exception:  # a fault of this package, which must not end the stream
            self._node.complain(traceback.format_exc())
