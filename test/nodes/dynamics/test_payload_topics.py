# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The payload that the dynamics server estimates from joint states."""

from contextlib import closing

from liedyn_interfaces.msg import Payload
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.bench.dynamics_bench import SERVER, ServerBench
from support.bench.ros_bench import Bench, unused_namespace
from support.machines.model_variants import write_yaml
from support.recordings.bag_files import START_NS
from support.recordings.recorded_motion import arm_motion, JOINTS, true_arm

from liedyn_ros.identification import PayloadStream, with_payload
from liedyn_ros.model import SpatialInertia
from liedyn_ros.nodes.dynamics.payload import message_of
from liedyn_ros.ros.messages.conversions import nanoseconds, stamp_of

pytestmark = pytest.mark.ros
TRUE = SpatialInertia(1.5, [0.02, -0.03, 0.1], np.diag([0.01, 0.012, 0.005]))


@pytest.fixture(scope='module')
def motion():
    """Return stamps (ns), positions and efforts of an arm that carries the payload."""
    time, q, _, _, tau = arm_motion(
        with_payload(true_arm(), 'fore', TRUE.parameters()), 3, 12.0, 50.0)
    return (START_NS + np.round(1e9 * time)).astype(int).tolist(), q.tolist(), tau.tolist()


@pytest.fixture(scope='module')
def arm(context, tmp_path_factory):
    """Return a server that watches the arm's last body."""
    path = write_yaml(true_arm(), tmp_path_factory.mktemp('arm') / 'arm.yaml')
    with closing(Bench(context, unused_namespace())) as bench:
        yield ServerBench(bench, model_file=str(path), payload_body='fore')


def joint_states(motion):
    """Yield a motion as messages."""
    for stamp_ns, position, effort in zip(*motion):
        message = JointState(name=list(JOINTS), position=position, effort=effort)
        message.header.stamp = stamp_of(stamp_ns)
        yield message


def test_joint_states_in_and_the_payload_out(arm, motion):
    """Every sample counts; the messages agree with the estimator beside the node."""
    bench, stamps = arm.bench, motion[0]
    told, publisher = bench.collect(Payload, f'{SERVER}/payload'), bench.publisher(
        JointState, 'joint_states')
    bench.until(lambda: publisher.get_subscription_count() and told, 'both topics')
    assert not told[-1].success and 'expected samples over 4 s' in told[-1].message
    publisher.publish(JointState(name=['elbow'], position=[0.0]))
    bench.until(lambda: told[-1].refused, 'the refused sample')
    assert "'base_joint'" in told[-1].message and bench.logged(arm.node)
    beside = PayloadStream(true_arm(), 'fore')
    for message in joint_states(motion):
        publisher.publish(message)
        beside.take(nanoseconds(message.header.stamp), message.name, message.position,
                    message.effort)
        if message.header.stamp.nanosec == 0:  # each second, so that no queue overflows
            bench.until(lambda m=message: arm.node._payload().stamp_ns == nanoseconds(
                m.header.stamp), 'the samples so far')
    bench.until(lambda: nanoseconds(told[-1].header.stamp) == stamps[-1], 'the last sample')
    last = told[-1]
    assert last.success and last.message == '' and last.header.frame_id == 'fore'
    assert last.samples == len(stamps) - 20 and last.joint_names == list(JOINTS)
    assert abs(last.inertia.m - 1.5) < 0.02
    np.testing.assert_allclose([last.inertia.com.x, last.inertia.com.y, last.inertia.com.z],
                               TRUE.center_of_mass, atol=3e-3)
    expected = message_of(beside, 'fore')
    np.testing.assert_array_equal(last.parameters, expected.parameters)
    np.testing.assert_array_equal(last.covariance, expected.covariance)
    np.testing.assert_allclose(
        np.sqrt(np.reshape(last.covariance, (10, 10)).diagonal()), last.deviations)
    assert arm.call(Trigger, 'reset_payload').success
    bench.until(lambda: told[-1].samples == 0, 'a new estimate')


def test_a_body_that_is_not_there_is_refused(context, tmp_path):
    path = write_yaml(true_arm(), tmp_path / 'arm.yaml')
    with closing(Bench(context, unused_namespace())) as bench:
        server = ServerBench(bench, model_file=str(path), payload_body='hand')
        assert not server.node.configured
        bench.until_logged(server.node, "'hand'")


def test_a_server_without_a_payload_says_so(server):
    answer = server.call(Trigger, 'reset_payload')
    assert not answer.success and 'payload_body' in answer.message


def test_a_message_has_the_inertia_about_the_centre_of_mass(motion):
    stream = PayloadStream(true_arm(), 'fore')
    for stamp, q, tau in zip(*motion):
        stream.take(stamp, JOINTS, q, tau)
    found, told = stream.estimate, message_of(stream, 'fore').inertia
    about = np.array([[told.ixx, told.ixy, told.ixz], [told.ixy, told.iyy, told.iyz],
                      [told.ixz, told.iyz, told.izz]])
    body = SpatialInertia(told.m, [told.com.x, told.com.y, told.com.z], about, physical=False)
    np.testing.assert_allclose(body.parameters(), found.possible(), atol=1e-12)
