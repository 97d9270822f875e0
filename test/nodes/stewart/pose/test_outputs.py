# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Outputs of the pose node: pose, twist, status, markers, TF."""

from importlib.util import find_spec

from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.bench.pose_bench import (
    FAR, GEOMETRY, HOME, moved, NEAR, ns, PERIOD_NS, PoseBench, rates_at)
from support.bench.ros_bench import Broadcaster

from liedyn_ros.model import load_urdf
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.ros.qos import LATCHED
from liedyn_ros.stewart import leg_lengths, length_jacobian

pytestmark = pytest.mark.ros
TWIST = np.array([0.1, -0.2, 0.15, 0.02, 0.03, -0.01])
PERIOD = 1e-9 * PERIOD_NS
NO_POSE = np.array([0.3, 0.9, 0.3, 0.9, 0.3, 0.9])  # within the limits, but of no pose


@pytest.mark.smoke
def test_frames_and_stamps(tracking):
    node = tracking(base_frame='floor', platform_frame='plate')
    stamp = node.send_pose(FAR)
    node.pose_at(stamp), node.twist_at(stamp), node.status_at(stamp)
    assert node.poses[-1].header.frame_id == 'floor'
    assert node.statuses[-1].header.frame_id == 'floor'
    assert node.twists[-1].header.frame_id == 'plate'


def test_twist_from_measured_rates(tracking):
    node = tracking()
    stamp = node.send_pose(HOME, velocities=rates_at(HOME, TWIST))
    np.testing.assert_allclose(node.twist_at(stamp), TWIST, atol=1e-7)


def test_twist_estimated_from_lengths_without_rates(tracking):
    node = tracking()
    for k in range(1, 31):  # from rest to the twist in one sample: its estimate follows
        stamp = node.send_pose(moved(HOME, TWIST, k * PERIOD))
    np.testing.assert_allclose(node.twist_at(stamp), TWIST, atol=1e-6)


def test_twist_estimated_from_lengths_where_rates_are_not_wanted(bench):
    node = PoseBench(bench, use_leg_rates=False)
    bench.until(lambda: len(node.twists) > 2, 'twists',
                act=lambda: node.send_pose(HOME, velocities=[7.0] * 6))
    np.testing.assert_allclose(node.twist_at(node.stamp_ns), 0.0, atol=1e-9)


def test_no_twist_of_a_single_pose(tracking):
    node = tracking()
    node.node.trigger_deactivate()
    node.node.trigger_activate()
    first, second = node.send_pose(HOME), node.send_pose(moved(HOME, TWIST, PERIOD))
    node.twist_at(second)
    assert len(node.twists) == 1
    node.pose_at(first)


def test_status_of_a_solve(tracking):
    node = tracking()
    status = node.status_at(node.send_pose(FAR))
    assert (status.status, status.message) == (StewartStatus.CONVERGED, '')
    assert status.start == StewartStatus.START_PREDICTED
    assert 1 <= status.iterations <= 15
    assert status.residual < 1e-12
    assert 0.0 < status.solve_time < 1.0
    np.testing.assert_allclose(status.length, leg_lengths(GEOMETRY, FAR), atol=1e-15)
    scale = np.array([GEOMETRY.characteristic_length] * 3 + [1.0] * 3)
    singular_values = np.linalg.svd(length_jacobian(GEOMETRY, FAR) / scale, compute_uv=False)
    np.testing.assert_allclose(status.smallest_singular_value, singular_values[-1], rtol=1e-9)


def test_first_sample_starts_from_home_and_the_next_from_a_prediction(tracking):
    node = tracking()
    node.node.trigger_deactivate()
    node.node.trigger_activate()
    first = node.status_at(node.send_pose(NEAR))
    second = node.status_at(node.send_pose(moved(NEAR, TWIST, PERIOD)))
    third = node.status_at(node.send_pose(moved(NEAR, TWIST, 2 * PERIOD)))
    assert first.start == StewartStatus.START_HOME
    assert second.start == third.start == StewartStatus.START_PREDICTED
    assert third.iterations <= second.iterations


def test_lengths_of_no_pose_give_a_status_and_nothing_else(tracking):
    node = tracking()
    before, failed, after = node.send_pose(NEAR), node.send(NO_POSE), node.send_pose(NEAR)
    status = node.status_at(failed)
    assert status.status in (StewartStatus.STALLED, StewartStatus.MAX_ITERATIONS,
                             StewartStatus.SINGULAR)
    assert 'expected lengths of a regular pose' in status.message
    assert status.residual > 1e-3
    assert node.status_at(after).start == StewartStatus.START_PREDICTED
    node.pose_at(after)
    assert [p.header.stamp.nanosec for p in node.poses] == [before % 10**9, after % 10**9]
    node.bench.until_logged(node.node, 'expected lengths of a regular pose')


@pytest.mark.parametrize(('parameters', 'outcome'), [
    ({'max_iterations': 1}, StewartStatus.MAX_ITERATIONS),
    ({'max_iterations': 50}, StewartStatus.CONVERGED)])
def test_the_solver_has_the_iterations_that_are_set(tracking, parameters, outcome):
    node = tracking(**parameters)
    assert node.status_at(node.send_pose(FAR)).status == outcome


@pytest.mark.parametrize('topic', ['pose', 'twist', 'status', 'markers'])
def test_outputs_are_reliable(tracking, topic):
    node = tracking().node
    profile, = (info.qos_profile for info in node.get_publishers_info_by_topic(
        f'{node.get_namespace()}/{topic}'))
    assert profile.reliability is ReliabilityPolicy.RELIABLE


def test_markers_show_the_last_good_pose(tracking):
    node = tracking(marker_rate=50.0)
    stamp = node.send_pose(FAR)
    node.send(NO_POSE)
    node.bench.until(lambda: node.markers and node.markers[-1].markers[0].header.stamp.nanosec
                     == stamp % 10**9, 'markers of that stamp')
    parts = {marker.ns: marker for marker in node.markers[-1].markers}
    assert set(parts) == {'base', 'platform', 'joints', 'tubes', 'rods'}
    base, tips = np.reshape([[p.x, p.y, p.z] for p in parts['joints'].points], (2, 6, 3))
    np.testing.assert_allclose(base, GEOMETRY.base_joints, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(tips - base, axis=1),
                               leg_lengths(GEOMETRY, FAR), atol=1e-9)
    assert {marker.header.frame_id for marker in parts.values()} == {'stewart_base'}


def test_no_markers_where_their_rate_is_zero(tracking):
    node = tracking(marker_rate=0.0)
    for _ in range(20):
        node.status_at(node.send_pose(NEAR))
    assert node.markers == []


@pytest.mark.parametrize(('parameters', 'count'), [
    ({}, 10), ({'tf_rate': 25.0}, 5), ({'tf_rate': 1000.0}, 20), ({'tf_rate': 0.0}, 0)])
def test_transforms_come_at_their_own_rate(tracking, monkeypatch, parameters, count):
    """By their stamps: 20 samples at 100 Hz, however fast the clock goes."""
    broadcaster = Broadcaster(monkeypatch)
    node = tracking(**parameters)
    broadcaster.sent.clear()
    begin = node.stamp_ns + 10**9
    stamps = [node.send_pose(NEAR, stamp_ns=begin + k * PERIOD_NS) for k in range(20)]
    node.status_at(stamps[-1])
    sent = [ns(transform) for transform in broadcaster.sent]
    assert sent == stamps[::20 // count] if count else sent == []


@pytest.mark.skipif(find_spec('tf2_ros') is None, reason='tf2_ros is not installed here')
def test_tf(tracking):
    from tf2_msgs.msg import TFMessage

    node = tracking()
    heard = node.bench.collect(TFMessage, '/tf')
    node.bench.until(lambda: heard, 'a transform', act=lambda: node.send_pose(FAR))
    transform, = heard[0].transforms
    assert transform.header.frame_id == 'stewart_base'
    assert transform.child_frame_id == 'stewart_platform'
    t, q = transform.transform.translation, transform.transform.rotation
    pose = node.pose_at(transform.header.stamp.sec * 10**9 + transform.header.stamp.nanosec)
    np.testing.assert_allclose([t.x, t.y, t.z], FAR[:3, 3], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm([q.x, q.y, q.z, q.w]), 1.0, atol=1e-12)
    np.testing.assert_allclose(pose[:3, 3], [t.x, t.y, t.z], atol=1e-12)


@pytest.mark.skipif(find_spec('tf2_ros') is not None, reason='tf2_ros is installed here')
def test_missing_tf_is_said(tracking):
    from rclpy.logging import LoggingSeverity

    node = tracking()
    node.bench.until_logged(node.node, 'no TF is broadcast', LoggingSeverity.INFO)
    np.testing.assert_allclose(node.pose_at(node.send_pose(FAR)), FAR, atol=1e-9)


def test_a_robot_model_with_joint_states_of_the_pose(bench):
    """Joints and links of the two fit together, and the stamp is that of the pose."""
    joints = bench.collect(JointState, 'joint_states')
    models = bench.collect(String, 'robot_description', LATCHED)
    node = PoseBench(bench, joint_state_rate=1000.0, frame_prefix='left/').settle()
    stamp = node.send_pose(FAR)
    bench.until(lambda: models and joints and ns(joints[-1]) == stamp, 'model and joint states')
    model = load_urdf(models[0].data)
    assert {'left/stewart_base', 'left/stewart_platform', 'left/leg_1_rod'} < set(model.bodies)
    found = dict(zip(joints[-1].name, joints[-1].position))
    assert set(found) <= set(model.joints)
    np.testing.assert_allclose([found[leg] for leg in GEOMETRY.leg_names],
                               leg_lengths(GEOMETRY, FAR), atol=1e-9)


def test_by_default_there_is_no_robot_model(tracking):
    """A larger robot has its own on these topics."""
    names = {publisher.topic_name.rpartition('/')[2] for publisher in tracking().node.publishers}
    assert not names & {'robot_description', 'joint_states'}


def test_a_node_that_would_read_its_own_joint_states_is_not_configured(bench):
    node = bench.start(StewartPoseNode, joint_state_rate=50.0, cli_args=[
        '--ros-args', '-r', 'leg_states:=joint_states'])
    bench.until_logged(node, 'joint_states: expected another topic than that of leg_states')
