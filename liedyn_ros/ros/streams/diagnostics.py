# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How the streams of a node keep up with their input, on /diagnostics (REP 107)."""

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream

REPORT_RATE = 1.0  # Hz
MAX_MISSED = 0.1  # share of the messages, passed over or lost, above which a warning follows
MAX_AGE = 0.05  # s, from a message to its result, above which a warning follows


class StreamDiagnostics:
    """
    Reports at REPORT_RATE how a stream kept up since the last report.

    The report has the rate of messages, how many were taken, passed over and lost, and the latency
    from the newest message to its result.
    """

    def __init__(self, node: ManagedNode, stream: Stream, what: str) -> None:
        """Open the publisher and the timer; what: the name of the input."""
        self._node, self._stream, self._what = node, stream, what
        self._before, self._began = (0, 0, 0), time.monotonic()
        self._publisher = node.open_publisher(DiagnosticArray, '/diagnostics')
        node.open_timer(REPORT_RATE, self._report)

    def _report(self) -> None:
        report = DiagnosticArray(status=[self._status()])
        if self._node.active:
            report.header.stamp = self._node.get_clock().now().to_msg()
            self._publisher.publish(report)

    def _status(self) -> DiagnosticStatus:
        stream, before, began = self._stream, self._before, self._began
        self._before, self._began = (
            (stream.taken, stream.passed_over, stream.lost), time.monotonic())
        taken, passed_over, lost = (
            now - last for now, last in zip(self._before, before))
        ages, rate = stream.take_ages(), (taken + lost) / max(self._began - began, 1e-9)
        message = 'keeps up' if taken else 'no messages'
        if slow := passed_over + lost > MAX_MISSED * (taken + lost):
            message = (f'too slow: of {taken + lost} messages {passed_over} were passed over and '
                       f'{lost} lost')
        elif slow := ages.greatest > MAX_AGE:
            late = 1e3 * ages.greatest
            message = f'too slow: a message was handled {late:.0f} ms after it was sent'
        values = {'taken': taken, 'passed over': passed_over, 'lost': lost,
                  'rate, Hz': f'{rate:.1f}', **ages.report()}
        return DiagnosticStatus(
            level=DiagnosticStatus.WARN if slow else DiagnosticStatus.OK, message=message,
            name=self._node.status_name(self._what),
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
