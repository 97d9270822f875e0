# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The doctor's probe of the middleware, in a process of its own."""

import os
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node

from liedyn_ros.commands.operation import middleware
from liedyn_ros.commands.operation.computer import DoctorLine, Severity

pytestmark = pytest.mark.ros


@pytest.fixture
def quiet(monkeypatch):
    """Return a context in a domain without the nodes of other tests, which processes inherit."""
    domain = 1 + (int(os.environ['ROS_DOMAIN_ID']) + 25) % 100
    monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
    context = Context()
    rclpy.init(context=context, domain_id=domain)
    yield context
    context.try_shutdown()


@pytest.mark.full
def test_the_real_middleware(quiet):
    """Two processes find each other; a node of the graph and its diagnostics are seen."""
    node = Node('partner', context=quiet, namespace='/seen')
    publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
    status = DiagnosticStatus(name='partner: arm', level=DiagnosticStatus.WARN, message='stiff')
    process = middleware.start_probe()
    while process.poll() is None:
        publisher.publish(DiagnosticArray(status=[status]))
        time.sleep(0.1)
    found = list(middleware.judge_probe(process))
    assert DoctorLine(middleware.GRAPH, Severity.WARN, 'partner: arm: warning, stiff',
                      'docs/operations.md') in found, found
    for part in ('round trip', '/seen/partner'):
        assert any(part in each.text for each in found), found
    node.destroy_node()
