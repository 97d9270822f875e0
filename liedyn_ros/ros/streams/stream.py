# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A node's stream: what matters most, served in its own thread beside the executor."""

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from threading import Thread
import time
import traceback
from typing import Any, NamedTuple

from rclpy.callback_groups import CallbackGroup
from rclpy.client import Client
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from liedyn_ros.ros.node.lifecycle import INTERNAL_FAULT, ManagedNode
from liedyn_ros.ros.node.services import refuse
from liedyn_ros.ros.node.workers import Workers
from liedyn_ros.ros.process.run import RCLError, until_shutdown
from liedyn_ros.ros.streams.age_statistics import AgeStatistics

MAX_PUBLISHERS = 1000  # whose counts are kept
ANONYMOUS_PUBLISHER = 'alone'  # the only publisher of a topic, where the middleware names none
MAX_WAITING_REQUESTS = 64  # requests that wait for others of their service
STREAM_LOOK_PERIOD = 0.5  # s, of checks whether rclpy has ended and for events of the middleware


class UnservedCallbackGroup(CallbackGroup):
    """A callback group that no executor serves: who made it takes the messages."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


class _Taken(NamedTuple):
    """A message, what is called with it, who published it, and when, ns (0: not known)."""

    callback: Callable[..., None]
    arguments: tuple[Any, ...]
    publisher: Any
    sent_ns: int


class _Source:
    """One subscription: its take function and its callback."""

    def __init__(self, subscription: Subscription, callback: Callable[..., None], *,
                 newest_only: bool, timed: bool) -> None:
        self.subscription, self.handle = subscription, subscription.handle
        self._message_type, self._raw = subscription.msg_type, subscription.raw
        self._take, self._callback, self._timed = self.handle.take_message, callback, timed
        self.newest_only = newest_only
        self.depth = subscription.qos_profile.depth
        self.remaining = 0  # messages more that the batch may take
        self.lost = 0  # by gaps in the publishers' counts
        self._counts: dict[Any, int] = {}  # of the last message of each publisher

    def take_one(self) -> _Taken | None:
        """Return the next message, None where none waits or the batch has enough of them."""
        if not self.remaining or (taken := self._take(self._message_type, self._raw)) is None:
            return None
        self.remaining -= 1
        message, info = taken
        sent_ns, publisher = info.get('source_timestamp', 0), self._publisher_of(info)
        self._count_lost(publisher, info.get('publication_sequence_number'))
        return _Taken(self._callback, (message, sent_ns) if self._timed else (message,),
                      publisher, sent_ns)

    def _publisher_of(self, info: Any) -> Any:
        """Return a mark of a message's publisher, None where nothing tells it from others."""
        gid = info.get('publisher_gid')
        if gid is not None:
            return gid['data']
        return ANONYMOUS_PUBLISHER if self.handle.get_publisher_count() <= 1 else None  # Jazzy

    def _count_lost(self, publisher: Any, count: int | None) -> None:
        """Count the messages of one publisher that are missing, where it counts them."""
        counts = self._counts
        if publisher is None:
            counts.clear()
        elif count is not None:
            last = counts.pop(publisher, count)
            if count > last + 1:
                self.lost += count - last - 1
            if len(counts) >= MAX_PUBLISHERS:
                del counts[next(iter(counts))]  # the one not heard for longest
            counts[publisher] = count


class Stream:
    """
    Serves subscriptions, services, clients and timers beside the executor.

    An executor rebuilds its wait set from every timer, service and event of its node at each
    message. It takes one message at a time, always the oldest of its queue. Here the wait set
    holds only what this object opened. All messages that wait are taken at once, as many of each
    subscription as its depth, then handed over in their order. What comes meanwhile is taken
    between two callbacks and joins the batch. So the queue of the middleware lasts for one
    callback, not for a batch of them. Of each subscription at most its depth joins: if a thread
    cannot keep up, messages are lost rather than late. `end_of_batch` is then called once, when
    all that was taken is handed over: the place to publish the newest.

    The callbacks run in the stream's thread. `node.lock` guards what they share with callbacks of
    the executor; the stream holds it for one callback at a time. A stream for services that take
    long is not `guarded`: it runs without the lock. beside: how many of its requests are worked on
    side by side, in threads of their own; size_of a request, 0 or above, tells which waits for
    which: see Workers. Where MAX_WAITING_REQUESTS wait that are not twice as large, it is refused.
    """

    def __init__(self, node: ManagedNode, end_of_batch: Callable[[], None] = lambda: None, *,
                 name: str = 'stream', guarded: bool = True, beside: int = 0,
                 size_of: Callable[[Any], float] = lambda _: 0.0) -> None:
        """Take the node that owns the stream; `start` follows what is opened."""
        self._node, self._end_of_batch = node, end_of_batch
        self._lock: AbstractContextManager[Any] = node.lock if guarded else nullcontext()
        self._guarded, self._size_of = guarded, size_of
        self._workers = Workers(node, name, beside) if beside else None
        self._sources: list[_Source] = []
        self._services: list[Service] = []
        self._clients: list[Client] = []
        self._timers: list[tuple[Timer, Callable[[], None]]] = []
        self._group, self._ended = UnservedCallbackGroup(), False
        self.taken = self.passed_over = 0  # messages of all subscriptions
        self._ages = AgeStatistics()
        self._context = node.context.handle
        self._wake = rclpy_implementation.GuardCondition(self._context)
        self._thread = Thread(target=self._run, name=f'{node.get_name()}_{name}', daemon=True)

    def subscribe(self, message_type: Any, topic: str, callback: Callable[..., None],
                  qos: QoSProfile | int, *, raw: bool = False, timed: bool = False,
                  newest_only: bool = False) -> Subscription:
        """
        Add a subscription.

        raw: the callback is given the bytes of a message. timed: it is also given when the
        message was sent, ns of the system's clock, 0 where the middleware does not tell.
        newest_only: of each batch it is given the newest message of each publisher; the others
        are counted as passed over. Jazzy does not tell publishers apart. While a topic has
        several, the callback is given every message there, and losses are not counted.
        """
        subscription = self._node.open_subscription(
            message_type, topic, callback, qos, callback_group=self._group, raw=raw)
        self._sources.append(
            _Source(subscription, callback, newest_only=newest_only, timed=timed))
        return subscription

    def open_service(
            self, service_type: Any, name: str, callback: Callable[[Any, Any], object]) -> Service:
        """
        Add a service, which always answers: see ManagedNode.open_service.

        While its node starts itself, requests wait.
        """
        service = self._node.open_service(
            service_type, name, callback, callback_group=self._group)
        self._services.append(service)
        return service

    def open_client(self, service_type: Any, name: str) -> Client:
        """Add a client; its replies are handled in this thread."""
        client = self._node.open_client(service_type, name, callback_group=self._group)
        self._clients.append(client)
        return client

    def open_timer(self, rate: float, callback: Callable[[], None]) -> Timer:
        """Add a timer, by the node's clock; at 0 Hz it waits until `set_rate` says so."""
        timer = self._node.open_timer(rate, callback, callback_group=self._group)
        self._timers.append((timer, callback))
        return timer

    @property
    def lost(self) -> int:
        """Return how many messages are missing by gaps in their publishers' counts."""
        return sum(source.lost for source in self._sources)

    def lost_of(self, subscription: Subscription) -> int:
        """Return how many of them are of one subscription."""
        return next(source.lost for source in self._sources if source.subscription is subscription)

    def take_ages(self) -> AgeStatistics:
        """
        Return the ages since the last call: from a batch's newest message to what followed of it.

        They begin when that was sent, by its computer's clock, and end with the batch.
        """
        ages, self._ages = self._ages, AgeStatistics()
        return ages

    def start(self) -> None:
        """Start the thread; it ends when the node closes what it opened."""
        if self._guarded:
            self._node.start_stream(self._thread)
        else:
            self._thread.start()
        self._node.on_close(self._close)

    def _close(self) -> None:
        self._ended = True
        if self._workers is not None:
            self._workers.close()
        self._wake.trigger_guard_condition()
        self._thread.join()

    def _run(self) -> None:
        look = 0.0
        with until_shutdown(self._node.context), self._context:
            waiting = rclpy_implementation.WaitSet(
                len(self._sources), 1, len(self._timers), len(self._clients),
                len(self._services), 0, self._context)
            while not self._ended and self._context.ok():
                try:
                    self._wait(waiting)
                    self._hand_over(self._take_all())
                    self._serve_others(waiting)
                    if time.monotonic() >= look:
                        look = time.monotonic() + STREAM_LOOK_PERIOD
                        self._look_at_events()
                except RCLError:
                    self._complain_of_middleware()
                    time.sleep(STREAM_LOOK_PERIOD)  # where it stays, at least not in a busy loop

    def _wait(self, waiting: Any) -> None:
        waiting.clear_entities()
        for source in self._sources:
            waiting.add_subscription(source.handle)
        for timer, _ in self._timers:
            waiting.add_timer(timer.handle)
        for client in self._clients:
            waiting.add_client(client.handle)
        if self._services and not self._node.awaited:
            for service in self._services:
                waiting.add_service(service.handle)
        waiting.add_guard_condition(self._wake)
        waiting.wait(int(1e9 * STREAM_LOOK_PERIOD))

    def _serve_others(self, waiting: Any) -> None:
        """Serve clients, services and timers that are ready, once each."""
        if self._clients:
            ready = waiting.get_ready_entities('client')
            for client in self._clients:
                if client.handle.pointer in ready:
                    self._call(_take_reply, client)
        if self._services and not self._node.awaited:
            ready = waiting.get_ready_entities('service')
            for service in self._services:
                if service.handle.pointer in ready:
                    self._call(self._serve, service)
        for timer, callback in self._timers:
            if not self._ended and timer.handle.is_timer_ready() and _rearm(timer):
                self._call(callback)

    def _take_all(self) -> deque[_Taken]:
        """Take the messages that wait, one by one of each subscription in turn."""
        batch: deque[_Taken] = deque()
        newest: dict[Any, _Taken] = {}  # by source and publisher
        self._begin_batch()
        left, count = self._sources, 0
        while left:
            still = []
            for source in left:
                taken = source.take_one()
                if taken is not None:
                    count += 1
                    still.append(source)
                    if source.newest_only and taken.publisher is not None:
                        newest.pop((source, taken.publisher), None)  # the newest comes last
                        newest[source, taken.publisher] = taken
                    else:
                        batch.append(taken)
            left = still
        batch.extend(newest.values())
        self.taken += count
        self.passed_over += count - len(batch)
        return batch

    def _begin_batch(self) -> None:
        for source in self._sources:
            source.remaining = max(source.depth, 1)

    def _take_ahead(self, batch: deque[_Taken]) -> None:
        """Add the messages that have come to a batch."""
        for source in self._sources:
            while not source.newest_only and (taken := source.take_one()) is not None:
                self.taken += 1
                batch.append(taken)

    def _hand_over(self, batch: deque[_Taken]) -> None:
        if not batch:
            return
        self._begin_batch()
        sent_ns = 0
        while batch:
            if self._ended:
                return
            taken = batch.popleft()
            sent_ns = max(sent_ns, taken.sent_ns)
            self._call(taken.callback, *taken.arguments)
            if batch:
                try:
                    self._take_ahead(batch)
                except RCLError:  # the rest is handed over all the same
                    self._complain_of_middleware()
        self._call(self._end_of_batch)
        if sent_ns:
            self._ages.note(1e-9 * (time.time_ns() - sent_ns))

    def _look_at_events(self) -> None:
        """
        Serve the events of the subscriptions, such as a publisher whose QoS does not fit.

        An executor that waited for them would wake at each message: the middleware has one
        condition for data and events of a subscription.
        """
        events = [event for source in self._sources
                  for event in source.subscription.event_handlers]
        if not events:
            return
        waiting = rclpy_implementation.WaitSet(
            0, 0, 0, 0, 0, len(events), self._context)
        waiting.clear_entities()
        for event in events:
            event.add_to_wait_set(waiting)
        waiting.wait(0)
        for event in events:
            if event.is_ready(waiting):
                self._call(event.callback, event.take_data())

    def _serve(self, service: Service) -> None:
        """Answer the next request of a service, or have it answered beside others."""
        request, header = service.handle.service_take_request(service.srv_type.Request)
        if header is None:
            return
        response = service.srv_type.Response()

        def answer() -> None:
            service.send_response(service.callback(request, response), header)
        if self._workers is None:
            answer()
        elif self._workers.waiting(size := self._size_of(request)) < MAX_WAITING_REQUESTS:
            self._workers.submit(answer, size)
        else:
            refuse(response, f'expected at most {MAX_WAITING_REQUESTS} requests that wait, got '
                             f'another: '
                             'ask again later')
            service.send_response(response, header)

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        try:
            with self._lock:
                function(*arguments)
        except RCLError:
            self._complain_of_middleware()
        except Exception:  # a fault of this package, which must not end the stream
            self._node.complain(traceback.format_exc(), INTERNAL_FAULT)

    def _complain_of_middleware(self) -> None:
        """Log an error of the middleware, unless it is that rclpy has ended meanwhile."""
        if self._context.ok():
            self._node.complain(traceback.format_exc(), INTERNAL_FAULT)


def _rearm(timer: Timer) -> bool:
    """Begin the timer's next period; return whether nobody has cancelled it meanwhile."""
    try:
        timer.handle.call_timer()
    except RCLError:
        if not timer.handle.is_timer_canceled():
            raise
        return False
    return True


def _take_reply(client: Client) -> None:
    """Hand a reply to the future of its request, unless that was given up."""
    header, response = client.handle.take_response(client.srv_type.Response)
    if header is not None:
        try:
            future = client.get_pending_request(header.request_id.sequence_number)
        except KeyError:
            return
        future.set_result(response)
