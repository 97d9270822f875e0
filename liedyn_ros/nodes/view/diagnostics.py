# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the page does, on /diagnostics: the pictures it drew, of which messages, for how many."""

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from liedyn_ros.nodes.view.topics import ViewTopics
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.diagnostics import REPORT_RATE
from liedyn_ros.seen import Page

LEAST_DRAWN = 0.5  # share of the pictures of `rate`, below which a warning follows


class ViewDiagnostics:
    """Reports at REPORT_RATE what was drawn since the last report."""

    def __init__(self, node: ManagedNode, page: Page, topics: ViewTopics) -> None:
        """Open the publisher and the timer."""
        self._node, self._page, self._topics = node, page, topics
        self.drawn = 0  # pictures
        self._before, self._began = (0, 0), time.monotonic()
        self._publisher = node.open_publisher(DiagnosticArray, '/diagnostics')
        node.open_timer(REPORT_RATE, self._report)

    def _report(self) -> None:
        report = DiagnosticArray(status=[self._status()])
        if self._node.active:
            report.header.stamp = self._node.get_clock().now().to_msg()
            self._publisher.publish(report)

    def _status(self) -> DiagnosticStatus:
        before, began = self._before, self._began
        self._before, self._began = (self._topics.taken, self.drawn), time.monotonic()
        taken, drawn = (now - last for now, last in zip(self._before, before))
        expected = self._node.parameters['rate'] * (self._began - began)
        message = 'shows what comes' if taken else 'no messages'
        if slow := drawn < LEAST_DRAWN * expected:
            message = f'too slow: {drawn} of {expected:.0f} pictures were drawn'
        values = {'taken': taken, 'pictures': drawn, 'viewers': self._page.viewers,
                  'address': self._page.address}
        return DiagnosticStatus(
            level=DiagnosticStatus.WARN if slow else DiagnosticStatus.OK, message=message,
            name=self._node.status_name('page'),
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
