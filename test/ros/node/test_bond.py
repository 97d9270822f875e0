# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The bond with a lifecycle manager: heartbeats, both ways to end it, and nodes without one."""

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from rclpy.logging import LoggingSeverity
from std_msgs.msg import Header

from liedyn_ros.ros.node import bond
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.run import RCLError

pytestmark = pytest.mark.ros
CONFIGURE, ACTIVATE, DEACTIVATE = (
    Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE,
    Transition.TRANSITION_DEACTIVATE)


class Status:
    """The fields of bond/msg/Status."""

    def __init__(self, **fields):
        """Take the fields."""
        self.header = Header()
        vars(self).update(fields)


class Plain(ManagedNode):
    """A node that does nothing, and keeps what its bond sends."""

    def __init__(self, **options):
        """Start."""
        self.sent, self.heard = [], None
        super().__init__('plain', (), **options)

    def open_publisher(self, message_type, topic, *rest):
        """Keep the bond's messages, whose type no middleware knows."""
        if message_type is not Status:
            return super().open_publisher(message_type, topic, *rest)
        assert topic == 'bond'
        return self

    def open_subscription(self, message_type, topic, callback, *rest, **options):
        """Let the test be the manager."""
        if message_type is not Status:
            return super().open_subscription(message_type, topic, callback, *rest, **options)
        assert topic == 'bond'
        self.heard = callback
        return self

    def publish(self, message):
        """Keep a message."""
        self.sent.append(message)


@pytest.fixture
def messages(monkeypatch):
    """Install the package bond."""
    monkeypatch.setattr(bond, 'status_type', lambda: Status)


def managed(bench, **parameters):
    """Return a node that a manager has activated."""
    node = bench.add(Plain, autostart=False, **parameters)
    change(bench, CONFIGURE)
    change(bench, ACTIVATE)
    return node


def change(bench, transition):
    """Make a transition, as a manager does."""
    assert bench.call(
        ChangeState, 'plain/change_state', transition=Transition(id=transition)).success


def said(node):
    """Return whether the node was in each message that it sent."""
    return [message.active for message in node.sent]


@pytest.mark.usefixtures('messages')
def test_a_node_that_a_manager_starts_sends_heartbeats_until_it_ends(bench):
    node = managed(bench, bond_heartbeat_period=0.01)
    bench.until(lambda: len(node.sent) > 5, 'heartbeats')
    first = node.sent[0]
    assert (first.id, first.heartbeat_period) == ('plain', 0.01)
    assert {message.instance_id for message in node.sent} == {first.instance_id}
    assert first.header.stamp.sec > 0
    change(bench, DEACTIVATE)
    assert said(node) == [True] * (len(node.sent) - 1) + [False]


@pytest.mark.usefixtures('messages')
def test_a_bond_that_the_manager_ends_is_ended_once(bench):
    node = managed(bench, bond_heartbeat_period=0.01)
    own = node.sent[0].instance_id
    for others in (Status(id='plain', instance_id=own, active=False),  # its own, heard back
                   Status(id='plain', instance_id='manager', active=True),
                   Status(id='other', instance_id='manager', active=False)):
        node.heard(others)
    bench.until(lambda: len(node.sent) > 5, 'heartbeats')
    node.heard(Status(id='plain', instance_id='manager', active=False))
    assert said(node) == [True] * (len(node.sent) - 1) + [False]
    count = len(node.sent)
    node.heard(Status(id='plain', instance_id='manager', active=False))
    change(bench, DEACTIVATE)
    assert len(node.sent) == count, 'an ended bond is silent'


@pytest.mark.usefixtures('messages')
@pytest.mark.parametrize('parameters', [
    {'autostart': True}, {'autostart': False, 'bond_heartbeat_period': 0.0}])
def test_a_node_without_a_manager_or_a_period_has_none(bench, parameters):
    if parameters['autostart']:
        node = bench.start(Plain)
        bench.until(lambda: node.active, 'an active node')
    else:
        node = managed(bench, bond_heartbeat_period=0.0)
    assert node.active and node.heard is None and not node.sent


def test_a_missing_package_is_told_and_stops_nothing(bench, monkeypatch):
    monkeypatch.setattr(bond, 'status_type', lambda: None)
    node = managed(bench)
    bench.until_logged(node, bond.NO_MESSAGES, LoggingSeverity.INFO)
    assert node.active


@pytest.mark.usefixtures('messages')
@pytest.mark.parametrize('opens', ['open_publisher', 'open_subscription'])
def test_a_topic_that_a_policy_denies_is_told_and_stops_nothing(bench, monkeypatch, opens):
    allowed = getattr(Plain, opens)

    def open_unless_denied(node, message_type, *rest, **options):
        if message_type is Status:
            raise RCLError('could not create publisher: access denied')
        return allowed(node, message_type, *rest, **options)

    monkeypatch.setattr(Plain, opens, open_unless_denied)
    node = managed(bench)
    bench.until_logged(node, 'access denied; set bond_timeout', LoggingSeverity.ERROR)
    assert node.active and not node.sent


def test_the_messages_of_bond_have_these_fields(bench):
    """Where the package is installed; the wheels have none."""
    messages = pytest.importorskip('bond.msg', reason='the package bond is not installed')
    heard = bench.collect(messages.Status, 'bond')
    node = managed(bench)
    bench.until(lambda: len(heard) > 2, 'heartbeats')
    assert heard[0].active and heard[0].id == node.get_name()
