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

"""How the streams of a node keep up with their input, on /diagnostics (REP 107)."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.ros.stream import Stream

REPORT_RATE = 1.0  # Hz
MAX_MISSED = 0.1  # share of the messages, passed over or lost, above which that is a warning


class StreamDiagnostics:
    """Reports at REPORT_RATE what a stream took, passed over and lost since the last report."""

    def __init__(self, node: ManagedNode, stream: Stream, what: str) -> None:
        """Open the publisher and the timer; what: the name of the input."""
        self._node, self._stream, self._what = node, stream, what
        self._before = (0, 0, 0)
        self._publisher = node.open_publisher(DiagnosticArray, '/diagnostics')
        node.open_timer(REPORT_RATE, self._report)

    def _report(self) -> None:
        if self._node.active:
            report = DiagnosticArray(status=[self._status()])
            report.header.stamp = self._node.get_clock().now().to_msg()
            self._publisher.publish(report)

    def _status(self) -> DiagnosticStatus:
        stream, before = self._stream, self._before
        self._before = stream.taken, stream.passed_over, stream.lost
        taken, passed_over, lost = (
            now - last for now, last in zip(self._before, before))
        slow = passed_over + lost > MAX_MISSED * (taken + lost)
        message = (f'too slow: of {taken + lost} messages {passed_over} were passed over and '
                   f'{lost} lost' if slow else 'keeps up' if taken else 'no messages')
        values = {'taken': taken, 'passed over': passed_over, 'lost': lost}
        return DiagnosticStatus(
            level=DiagnosticStatus.WARN if slow else DiagnosticStatus.OK, message=message,
            name=self._node.status_name(self._what),
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
