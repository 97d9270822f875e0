# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Asynchronous calls of the dynamics server from a control loop, one at a time."""

from collections import deque
from collections.abc import Callable
from functools import partial
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery
from liedyn_interfaces.srv import Dynamics
import numpy as np

from liedyn_ros.dynamics import JointOrder
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream

SERVICE = 'dynamics_server/inverse_dynamics'
MAX_ROUND_TRIPS = 10_000  # round trips


class InverseDynamicsCalls:
    """
    A client of SERVICE, in the node's namespace, with one request in flight: more would queue.

    asked and given_up count requests. refused and failed count replies without success, before
    and in flight. passed_over counts states that were not sent, since a newer one came, or whose
    answer came after the command of a newer one.
    """

    def __init__(
            self, node: ManagedNode, stream: Stream,
            answered: Callable[[DynamicsAnswer, JointOrder], None]) -> None:
        """Open the client on a stream; `answered` gets every awaited answer, and its order."""
        self._node, self._answered = node, answered
        self._client = stream.open_client(Dynamics, SERVICE)
        self._future: Any = None
        self.awaited_ns: int | None = None  # the stamp of the request in flight
        self.asked = self.given_up = self.refused = self.failed = self.passed_over = 0
        self._round_trips: deque[float] = deque(maxlen=MAX_ROUND_TRIPS)
        self._reported = (time.monotonic(), 0, 0)

    @property
    def ready(self) -> bool:
        """Return whether the server is available."""
        return self._client.service_is_ready()

    def ask(self, query: DynamicsQuery, order: JointOrder) -> None:
        """Send a request with joints in an order; no other may be in flight."""
        self.awaited_ns = conversions.nanoseconds(query.header.stamp)
        self._future = self._client.call_async(Dynamics.Request(query=query))
        self.asked += 1
        self._future.add_done_callback(partial(self._done, order, time.perf_counter()))

    def give_up(self) -> None:
        """Give up the request in flight."""
        self._end()
        self.given_up += 1

    def forget(self) -> None:
        """Drop the request in flight and do not count it."""
        if self._future is not None:
            self._end()
            self.asked -= 1

    def report(self) -> DiagnosticStatus:
        """Return the counts, the last round trips, and the rate since the last report."""
        now, (last, answers, faults) = time.monotonic(), self._reported
        self._reported = now, self._answers, self.given_up + self.refused + self.failed
        wrong = (
            '' if self.ready else 'no server',
            '' if self._reported[2] == faults else 'requests were given up, refused or failed')
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if any(wrong) else DiagnosticStatus.OK,
            name=self._node.status_name(f'calls of {SERVICE}'),
            message=', '.join(filter(None, wrong)) or 'every reply in time')
        values = {'asked': self.asked, 'given up': self.given_up, 'refused': self.refused,
                  'failed': self.failed, 'states passed over': self.passed_over,
                  'rate, Hz': (self._answers - answers) / (now - last)}
        if self._round_trips:
            trips = 1e3 * np.percentile(self._round_trips, (50, 99, 100))
            values |= zip(('round trip median, ms', 'round trip 99th percentile, ms',
                           'round trip longest, ms'), trips)
        status.values = [KeyValue(key=key, value=f'{value:.6g}') for key, value in values.items()]
        return status

    @property
    def _answers(self) -> int:
        return self.asked - self.given_up - (self._future is not None)

    def _end(self) -> None:
        self._client.remove_pending_request(self._future)
        self._future = self.awaited_ns = None

    def _done(self, order: JointOrder, started: float, future: Any) -> None:
        if future is not self._future:  # a reply after it was given up
            return
        self._round_trips.append(time.perf_counter() - started)
        self._future = self.awaited_ns = None
        self._answered(future.result().answer, order)
