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

"""Calls of the dynamics server from a control loop: one at a time, never waited for, counted."""

from collections import deque
from collections.abc import Callable
from functools import partial
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery
from liedyn_interfaces.srv import Dynamics
import numpy as np
from rclpy.node import Node

from liedyn_ros.dynamics import JointOrder
from liedyn_ros.nodes import conversions

SERVICE = 'dynamics_server/inverse_dynamics'
REMEMBERED = 10_000  # round trips


class InverseDynamicsCalls:
    """
    A client of SERVICE, in the node's namespace.

    A request does not wait for the reply to the one before: a late reply costs its delay, not a
    cycle. asked, late, given_up and failed count requests, replies that came after the next
    request, requests that were given up, and replies without success.
    """

    def __init__(self, node: Node, answered: Callable[[DynamicsAnswer, JointOrder], None]) -> None:
        """Open the client; `answered` is given every answer that is waited for, and its order."""
        self._node, self._answered = node, answered
        self._client = node.create_client(Dynamics, SERVICE)
        self._pending: dict[int, Any] = {}  # futures by the stamps of their requests, ns
        self.asked = self.late = self.given_up = self.failed = 0
        self._round_trips: deque[float] = deque(maxlen=REMEMBERED)
        self._reported = (time.monotonic(), 0, 0)

    def destroy(self) -> None:
        """Close the client."""
        self.forget()
        self._node.destroy_client(self._client)

    @property
    def ready(self) -> bool:
        """Return whether the server is there."""
        return self._client.service_is_ready()

    def ask(self, query: DynamicsQuery, order: JointOrder) -> None:
        """Send a request, known by its stamp, whose joints are in an order."""
        stamp_ns = conversions.nanoseconds(query.header.stamp)
        future = self._client.call_async(Dynamics.Request(query=query))
        self._pending[stamp_ns] = future
        self.asked += 1
        future.add_done_callback(partial(
            self._done, stamp_ns, order, time.perf_counter()))

    def give_up_before(self, stamp_ns: int) -> int:
        """Wait no longer for requests of before a stamp, and return how many these were."""
        old = [stamp for stamp in self._pending if stamp < stamp_ns]
        for stamp in old:
            self._client.remove_pending_request(self._pending.pop(stamp))
        self.given_up += len(old)
        return len(old)

    def forget(self) -> None:
        """Wait for nothing any more, and count nothing."""
        for future in self._pending.values():
            self._client.remove_pending_request(future)
        self.asked -= len(self._pending)
        self._pending.clear()

    def report(self) -> DiagnosticStatus:
        """Return the counts, the round trips, and the rate of replies since the last report."""
        now, (last, answers, faults) = time.monotonic(), self._reported
        self._reported = now, self._answers, self.given_up + self.failed
        calm = self._reported[2] == faults
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK if calm else DiagnosticStatus.WARN,
            name=f'{self._node.get_fully_qualified_name()}: calls of {SERVICE}',
            message='every reply in time' if calm else 'replies were given up or failed')
        trips = 1e3 * np.array(self._round_trips)
        values = {'asked': self.asked, 'late': self.late, 'given up': self.given_up,
                  'failed': self.failed, 'rate, Hz': (self._answers - answers) / (now - last)}
        if len(trips):
            values |= {f'round trip {name}, ms': float(np.percentile(trips, q))
                       for name, q in (('median', 50), ('99th percentile', 99))}
        status.values = [KeyValue(key=key, value=f'{value:.6g}') for key, value in values.items()]
        return status

    @property
    def _answers(self) -> int:
        return self.asked - self.given_up - len(self._pending)

    def _done(self, stamp_ns: int, order: JointOrder, started: float, future: Any) -> None:
        if self._pending.pop(stamp_ns, None) is None:
            return
        self._round_trips.append(time.perf_counter() - started)
        self.late += any(stamp > stamp_ns for stamp in self._pending)
        self._answered(future.result().answer, order)
