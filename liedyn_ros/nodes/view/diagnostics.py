# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Diagnostics of the page: pictures drawn, their messages, and viewers."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from diagnostic_msgs.msg import DiagnosticStatus

from liedyn_ros.nodes.view.topics import ViewTopics
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.diagnostics import PeriodicDiagnostics, Report
from liedyn_ros.view_state import Page

LEAST_DRAWN = 0.5  # share of the pictures of `rate`, below which a warning follows


class ViewDiagnostics(PeriodicDiagnostics):
    """Reports of the pictures drawn since the last report."""

    def __init__(self, node: ManagedNode, page: Page, topics: ViewTopics) -> None:
        """Open the publisher and the timer."""
        self._page, self._topics = page, topics
        self.drawn = 0  # pictures
        super().__init__(node, 'page')

    def _counts(self) -> Sequence[int]:
        return self._topics.taken, self.drawn

    def _report(self, counted: Sequence[int], seconds: float) -> Report:
        taken, drawn = counted
        expected = self._node.parameters['rate'] * seconds
        message = 'shows what comes' if taken else 'no messages'
        if slow := drawn < LEAST_DRAWN * expected:
            message = f'too slow: {drawn} of {expected:.0f} pictures were drawn'
        return Report(message, DiagnosticStatus.WARN if slow else DiagnosticStatus.OK, {
            'taken': taken, 'pictures': drawn, 'viewers': self._page.viewers,
            # Without what lets a browser in: whoever hears this is not to share it.
            'address': '{0.scheme}://{0.netloc}'.format(urlsplit(self._page.address))})
