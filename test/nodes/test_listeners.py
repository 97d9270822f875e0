# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Messages without a listener are not filled; messages published once wait for late listeners."""

from diagnostic_msgs.msg import DiagnosticArray
from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery
import numpy as np
import pytest
from rclpy.lifecycle import LifecyclePublisher
from std_msgs.msg import String
from support.bench.pose_bench import GEOMETRY, NEAR
from support.bench.ros_bench import Broadcaster

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.nodes.loops.state_publisher import LoopStatePublisherNode
from liedyn_ros.nodes.stewart.dynamics_simulator import StewartDynamicsSimulatorNode
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.ros.messages.packed import JointReadings, PackedPublisher
from liedyn_ros.ros.qos import LATCHED
from liedyn_ros.stewart import leg_lengths

pytestmark = pytest.mark.ros
ALWAYS = {'diagnostics', 'clock', 'robot_description'}
STAMP = 2_000_000_000
NOTHING = np.empty(0)


@pytest.fixture
def filled(monkeypatch):
    """Return the set of names of topics for which a message was made."""
    names = set()

    def note(owner, publisher_of):
        publish = owner.publish

        def noting(self, message):
            names.add(publisher_of(self).topic_name.rpartition('/')[2])
            publish(self, message)

        monkeypatch.setattr(owner, 'publish', noting)

    note(LifecyclePublisher, lambda publisher: publisher)
    note(PackedPublisher, lambda packed: packed._publisher)
    return names


def publish_legs(node):
    """Let a simulator publish a sample."""
    sample = node._simulation.take()
    node._outputs.publish_truth(STAMP, sample.pose)
    node._outputs.publish_legs(STAMP, sample)


def track(node):
    """Track a good sample, refuse one, and draw a picture."""
    for stamp, lengths in ((STAMP, leg_lengths(GEOMETRY, NEAR)), (STAMP + 1, np.full(6, np.nan))):
        node._take(stamp, lengths, np.zeros(6))
        node._publish_newest()
    assert node._last.converged and node._outputs.publish_markers(node._last) is None


def complete(node):
    """Complete a good sample, and refuse one."""
    for stamp, position in ((STAMP, 0.6), (STAMP + 1, np.nan)):
        node._read(JointReadings(stamp, ['crank_joint'], np.array([position]), NOTHING, NOTHING))
        node._publish_newest()
    assert node._last.stamp_ns == STAMP and node._refused


@pytest.mark.parametrize(('node_class', 'parameters', 'publish'), [
    *((StewartSimulatorNode, {'actuators': form}, publish_legs)
      for form in ('joint_state', 'joint_state_topics', 'float64_topics')),
    (StewartDynamicsSimulatorNode, {}, lambda node: node.publish_state(STAMP)),
    (AerialManipulatorSimulatorNode, {}, lambda node: node.publish_state(STAMP)),
    (StewartPoseNode, {'max_age': 0.0, 'leg_noise': 1e-5}, track),
    (LoopStatePublisherNode, {
        'model_file': str(config_file('four_bar.yaml')), 'measured_joints': ['crank_joint'],
        'max_age': 0.0}, complete)])
def test_what_nobody_listens_to_is_not_filled(bench, filled, node_class, parameters, publish):
    node = bench.start(node_class, **parameters)
    with node.lock:
        publish(node)
    assert filled <= ALWAYS


def test_a_query_is_answered_only_where_someone_listens(bench, filled):
    node = bench.start(DynamicsServerNode, model_file=str(config_file('four_bar.yaml')))
    name = 'dynamics_server/inverse_dynamics'
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    queries = bench.publisher(DynamicsQuery, f'{name}/query')
    bench.until(lambda: any(
        status.name == node.status_name('queries') and status.values[0].value != '0'
        for report in reports for status in report.status), 'a report of queries that were taken',
        act=lambda: queries.publish(DynamicsQuery()))
    assert filled <= ALWAYS
    answers = bench.collect(DynamicsAnswer, f'{name}/answer')
    bench.until(lambda: answers, 'an answer', act=lambda: queries.publish(DynamicsQuery()))


def test_transforms_are_computed_only_where_someone_listens(bench, monkeypatch):
    broadcaster = Broadcaster(monkeypatch, listeners=0)
    node = bench.start(AerialManipulatorSimulatorNode)
    with node.lock:
        node.publish_state(node.now_ns())
    assert broadcaster.sent == []
    broadcaster.listeners = 1
    bench.until(lambda: broadcaster.sent, 'transforms')


def test_a_robot_model_is_there_for_those_who_come_late(bench):
    bench.start(AerialManipulatorSimulatorNode)
    models = bench.collect(String, 'robot_description', LATCHED)
    bench.until(lambda: models, 'the model')
    assert '<robot' in models[0].data
