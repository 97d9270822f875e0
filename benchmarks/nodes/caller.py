# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Calls of services beside a benchmark, one at a time, and what /diagnostics says meanwhile."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from queue import Empty, SimpleQueue
from threading import Event, Thread
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.client import Client
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from benchmarks.nodes.streams import START_TIMEOUT
from liedyn_ros.ros.qos import SERVICES

ANSWER = 5.0  # s, in which an answer is due; it may come later, beside other questions
REPORTS = 1000  # messages of /diagnostics that wait while an answer is awaited


@dataclass(frozen=True)
class Question:
    """A service, its request, and whether a response is right."""

    kind: Any
    name: str
    request: Callable[[Any], Any]  # of the present stamp
    good: Callable[[Any], bool] = lambda response: True


@dataclass
class Calls:
    """
    Requests: round trips, s, of all; services and times, ns, of late and of wrong answers.

    A late one is asked and answered at two times.
    """

    trips: list[float] = field(default_factory=list)
    late: list[tuple[str, int, int]] = field(default_factory=list)
    wrong: list[tuple[str, int]] = field(default_factory=list)


class Caller:
    """Asks questions in turn, and hands over each message of /diagnostics."""

    def __init__(self, rate: float, questions: Sequence[Question],
                 heard: Callable[[DiagnosticArray], None],
                 by_request: Sequence[Question] = ()) -> None:
        """
        Open the clients, wait for the services and start the thread.

        by_request: questions that are asked only by `ask`.
        """
        self._node, self._period, self._ended = Node('caller'), 1.0 / rate, Event()
        self._calls, self._heard = Calls(), heard
        self._clients = [(self._open(each), each) for each in questions]
        self._by_request = {each.name: self._open(each) for each in by_request}
        self._requested: SimpleQueue[Question] = SimpleQueue()
        self._pending: dict[tuple[Client, int], tuple[Question, int]] = {}  # and when asked, ns
        for client in (*(each for each, _ in self._clients), *self._by_request.values()):
            if not client.wait_for_service(START_TIMEOUT):
                raise SystemExit(f'expected service {client.srv_name} within {START_TIMEOUT:g} s')
        self._reports = self._node.create_subscription(
            DiagnosticArray, '/diagnostics', lambda _: None, REPORTS)
        self._waiting = rclpy_implementation.WaitSet(0, 0, 0, 1, 0, 0, self._node.context.handle)
        self._thread = Thread(target=self._run)
        self._thread.start()

    def ask(self, questions: Sequence[Question]) -> None:
        """Ask questions of `by_request` in their order, soon."""
        for each in questions:
            self._requested.put(each)

    def take(self) -> Calls:
        """Return the calls since the last time."""
        taken, self._calls = self._calls, Calls()
        return taken

    def finish(self, seconds: float) -> list[tuple[str, int]]:
        """Ask no more; return the services, and when they were asked, that give no answer."""
        self._ended.set()
        self._thread.join()
        end = time.monotonic() + seconds
        while self._pending and time.monotonic() < end:
            self._take_pending()
            time.sleep(self._period)
        return [(question.name, asked) for question, asked in self._pending.values()]

    def end(self) -> None:
        """End the thread and close the clients."""
        self.finish(0.0)
        self._node.destroy_node()

    def _open(self, question: Question) -> Client:
        return self._node.create_client(question.kind, question.name, qos_profile=SERVICES)

    def _run(self) -> None:
        due = time.monotonic()
        for client, question in cycle(self._clients):
            if self._ended.is_set():
                return
            self._ask(client, question)
            with suppress(Empty):
                while True:
                    wanted = self._requested.get_nowait()
                    self._ask(self._by_request[wanted.name], wanted)
            self._take_pending()
            self._hear()
            due = max(due + self._period, time.monotonic() - 0.1)
            time.sleep(max(0.0, due - time.monotonic()))

    def _ask(self, client: Client, question: Question) -> None:
        """Send a request and wait; an executor would take as long as the node."""
        asked, end = time.time_ns(), time.monotonic() + ANSWER
        number = client.handle.send_request(
            question.request(self._node.get_clock().now().to_msg()))
        self._pending[client, number] = question, asked
        while (left := end - time.monotonic()) > 0.0 and not self._ended.is_set():
            self._waiting.clear_entities()
            self._waiting.add_client(client.handle)
            self._waiting.wait(int(1e9 * left))
            self._take(client)
            if (client, number) not in self._pending:
                return

    def _take_pending(self) -> None:
        for client in {client for client, _ in self._pending}:
            self._take(client)

    def _take(self, client: Client) -> None:
        """Take the answers that have come from a service."""
        while True:
            header, response = client.handle.take_response(client.srv_type.Response)
            if header is None:
                return
            question, asked = self._pending.pop((client, header.request_id.sequence_number))
            answered = time.time_ns()
            self._calls.trips.append(1e-9 * (answered - asked))
            if answered - asked > 1e9 * ANSWER:
                self._calls.late.append((question.name, asked, answered))
            if not question.good(response):
                self._calls.wrong.append((question.name, asked))

    def _hear(self) -> None:
        while (taken := self._reports.handle.take_message(DiagnosticArray, False)) is not None:
            self._heard(taken[0])
