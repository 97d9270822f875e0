# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How a node keeps up with its input, on /diagnostics (REP 107)."""

from collections.abc import Callable, Sequence
import time
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream

REPORT_RATE = 1.0  # Hz
MAX_MISSED = 0.1  # share of the messages, passed over or lost, above which a warning follows
MAX_RESULT_AGE = 0.05  # s, from a message to its result, above which a warning follows


class Report(NamedTuple):
    """Report of a period: a sentence, its level, and values by name."""

    message: str
    level: bytes
    values: dict[str, object]


class PeriodicDiagnostics:
    """Reports a part of a node at REPORT_RATE, by what was counted since the last report."""

    def __init__(self, node: ManagedNode, part: str) -> None:
        """Open the publisher and the timer; part: its name in the status."""
        self._node, self._part = node, part
        self._before, self._began = self._counts(), time.monotonic()
        self._publisher = node.open_publisher(DiagnosticArray, '/diagnostics')
        node.open_timer(REPORT_RATE, self._publish)

    def _counts(self) -> Sequence[int]:
        """Return the counts, from the start on."""
        raise NotImplementedError

    def _report(self, counted: Sequence[int], seconds: float) -> Report:
        """Return the report of a period, for what was counted in it."""
        raise NotImplementedError

    def _publish(self) -> None:
        before, began = self._before, self._began
        self._before, self._began = self._counts(), time.monotonic()
        message, level, values = self._report(
            [now - last for now, last in zip(self._before, before)], self._began - began)
        status = DiagnosticStatus(
            level=level, message=message, name=self._node.status_name(self._part),
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
        if self._node.active:
            report = DiagnosticArray(status=[status])
            report.header.stamp = self._node.get_clock().now().to_msg()
            self._publisher.publish(report)


class StreamDiagnostics(PeriodicDiagnostics):
    """
    Reports how a stream kept up since the last report.

    The report has the rate of messages, how many were taken, passed over and lost, and the latency
    from the newest message to its result. Where messages are `expected`, because the machine moves
    by them, a report without any is an ERROR once there were some.
    """

    def __init__(self, node: ManagedNode, stream: Stream, part: str,
                 expected: Callable[[], bool] = lambda: False) -> None:
        """Open the publisher and the timer; part: the name of the input."""
        self._stream, self._expected = stream, expected
        self._heard: float | None = None  # when the last report with messages was, s
        super().__init__(node, part)

    def _counts(self) -> Sequence[int]:
        return self._stream.taken, self._stream.passed_over, self._stream.lost

    def _report(self, counted: Sequence[int], seconds: float) -> Report:
        taken, passed_over, lost = counted
        ages, rate = self._stream.take_ages(), (taken + lost) / max(seconds, 1e-9)
        message, level, now = 'keeps up', DiagnosticStatus.OK, time.monotonic()
        if taken:
            self._heard = now
        elif self._heard is None or not self._node.active:
            message = 'no messages'
        else:
            message = f'no messages for {now - self._heard:.0f} s'
            if self._expected():
                level = DiagnosticStatus.ERROR
        if slow := passed_over + lost > MAX_MISSED * (taken + lost):
            message = (f'too slow: of {taken + lost} messages {passed_over} were passed over and '
                       f'{lost} lost')
        elif slow := ages.greatest > MAX_RESULT_AGE:
            late = 1e3 * ages.greatest
            message = f'too slow: a message was handled {late:.0f} ms after it was sent'
        if slow:
            level = DiagnosticStatus.WARN
        return Report(message, level, {
            'taken': taken, 'passed over': passed_over, 'lost': lost, 'rate, Hz': f'{rate:.1f}',
            **ages.report()})
