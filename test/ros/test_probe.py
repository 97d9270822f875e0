# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The doctor's probe of the middleware, in a process of its own."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import pytest

from liedyn_ros.commands.operation import middleware
from liedyn_ros.commands.operation.finding import Finding, Level

pytestmark = pytest.mark.ros


def test_the_real_middleware(bench):
    """Two processes find each other; a node of the graph and its diagnostics are seen."""
    publisher = bench.publisher(DiagnosticArray, '/diagnostics')
    status = DiagnosticStatus(name='partner: arm', level=DiagnosticStatus.WARN, message='stiff')
    stiff = Finding(middleware.GRAPH, Level.WARN, 'partner: arm: warning, stiff',
                    'docs/operations.md')

    def probe():
        process = middleware.start_probe()
        bench.until(lambda: process.poll() is not None, 'the end of the probe',
                    act=lambda: publisher.publish(DiagnosticArray(status=[status])))
        return list(middleware.judge_probe(process))

    def complete(found):
        return stiff in found and all(any(part in each.text for each in found) for part in (
            'round trip', f'{bench.namespace}/partner'))
    found = probe()
    if not complete(found):  # nodes of the tests before may have held up the discovery
        found = probe()
    assert complete(found), found
