# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node with a geometry file of seven legs or more."""

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
from liedyn_interfaces.srv import (
    PredictStewartPose, SolveStewartPose, StewartInverseKinematics)
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.bench.pose_bench import joint_state, matrix, ns, stamp_of
from visualization_msgs.msg import MarkerArray

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.ros.messages import conversions
from liedyn_ros.stewart import Flag, leg_lengths, load_geometry, MonitoredTracker
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.prediction import in_fixed_axes

pytestmark = pytest.mark.ros
FILE = config_file('stewart_cable_robot.yaml')
ROBOT = load_geometry(FILE)
LEGS = list(ROBOT.leg_names)
HOME = np.eye(4)
HOME[2, 3] = 1.2
PERIOD_NS = 20_000_000
PARAMETERS = {'geometry_file': str(FILE), 'home_position': [0.0, 0.0, 1.2], 'max_age': 0.0}


def pose_at(k):
    """Return the pose (4, 4), m, of a sample of a motion in all coordinates."""
    time = 1e-9 * PERIOD_NS * k
    return HOME @ se3.exp(np.array([0.2, 0.25, 0.3, 0.3, 0.25, 0.2]) * np.sin(
        2.0 * np.pi * np.array([0.31, 0.23, 0.37, 0.29, 0.19, 0.41]) * time))


class Robot:
    """A pose node of the cable robot, with what it publishes in lists."""

    def __init__(self, bench, **parameters):
        self.bench, self.count = bench, 0
        self.poses, self.statuses, self.covariances, self.odometry = (
            bench.collect(kind, topic) for kind, topic in (
                (PoseStamped, 'pose'), (StewartStatus, 'status'),
                (PoseWithCovarianceStamped, 'pose_with_covariance'), (Odometry, 'odometry')))
        self.node = bench.start(StewartPoseNode, **PARAMETERS, covariance_rate=0.0, **parameters)
        self.legs = bench.publisher(JointState, 'leg_states')
        bench.until(lambda: self.poses and self.statuses and self.covariances,
                    'the first pose', act=self.send)

    def send(self, bias=0.0, leg=2):
        """Publish the lengths of the next sample; return its stamp, ns, and the lengths."""
        self.count += 1
        lengths = leg_lengths(ROBOT, pose_at(self.count))
        lengths[leg] += bias
        stamp_ns = 10**9 + PERIOD_NS * self.count
        self.legs.publish(joint_state(LEGS[::-1], lengths[::-1], (), stamp_ns))
        return stamp_ns, lengths

    def follow(self, samples, **fault):
        """Send samples, each after the outputs of the last; return the last status and pose."""
        for _ in range(samples):
            stamp_ns, _ = self.send(**fault)
            found = self.bench.until(lambda: self.outputs_at(stamp_ns), 'status and pose')
        return found

    def outputs_at(self, stamp_ns):
        """Return the status and the pose (4, 4), m, of a stamp; None unless both are there."""
        status, pose = (next((m for m in reversed(messages) if ns(m) == stamp_ns), None)
                        for messages in (self.statuses, self.poses))
        return (status, matrix(pose.pose)) if status and pose else None


def test_poses_statuses_and_covariances_of_eight_legs(bench):
    """The invariant: the pose of exact lengths; the witness: the tracker without ROS."""
    robot = Robot(bench)
    status, pose = robot.follow(5)
    assert np.abs(pose - pose_at(robot.count)).max() < 1e-9
    lengths = leg_lengths(ROBOT, pose_at(robot.count))
    np.testing.assert_allclose([*status.length, *status.further_lengths], lengths, atol=1e-12)
    assert (status.status, status.flags, list(status.suspected_legs)) == (
        StewartStatus.CONVERGED, 0, [])
    assert not status.certified and status.determinant_sign == 0 and status.solve_time > 0.0
    tracked = MonitoredTracker(ROBOT, HOME).track(0, lengths)
    assert status.smallest_singular_value == pytest.approx(tracked.smallest_singular_value)
    bench.until(lambda: ns(robot.covariances[-1]) == ns(status), 'its covariance')
    state = PlatformMeter(ROBOT).measure(tracked.pose)
    expected = in_fixed_axes(
        state.inverse * ROBOT.leg_noise ** 2 @ state.inverse.T, tracked.pose)
    np.testing.assert_allclose(
        np.reshape(robot.covariances[-1].pose.covariance, (6, 6)), expected,
        atol=1e-6 * expected.max())
    newest = bench.until(lambda: robot.odometry and robot.odometry[-1], 'odometry')
    assert np.linalg.eigvalsh(np.reshape(newest.twist.covariance, (6, 6))).min() > 0.0
    robot.follow(20)
    answer = bench.call(PredictStewartPose, 'stewart_pose/predict', stamp=stamp_of(
        ns(robot.statuses[-1]) + PERIOD_NS // 2))
    assert answer.success
    ahead = pose_at(robot.count + 0.5)
    deviations = np.sqrt(np.diagonal(answer.pose.pose.covariance.reshape(6, 6)))
    assert (np.abs(matrix(answer.pose.pose.pose) - ahead)[:3, 3] < 5.0 * deviations[:3]).all()


def test_a_biased_wire_is_named_by_lengths_alone(bench):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    robot = Robot(bench, diagnostics_rate=20.0)
    assert robot.follow(100)[0].flags == 0
    assert Flag.SENSOR_DISAGREES in Flag(robot.follow(1, bias=0.02)[0].flags), 'at once'
    status, pose = next(
        found for _ in range(500)
        if Flag.LEG_BIASED in Flag((found := robot.follow(1, bias=0.02))[0].flags))
    assert Flag(status.flags) & ~Flag.LEG_STEPPED == Flag.LEG_BIASED | Flag.SENSOR_DISAGREES
    assert list(status.suspected_legs) == ['wire_3']
    assert len(status.further_lengths) == 2
    assert np.abs(pose - pose_at(robot.count)).max() < 1e-6, 'it is left out'
    entry = bench.until(lambda: next((
        status for report in reversed(reports) for status in report.status
        if status.name.endswith('legs') and any(
            value.key == 'bias of wire_3' for value in status.values)), None), 'a report of it')
    values = {value.key: value.value for value in entry.values}
    assert float(values['bias of wire_3']) == pytest.approx(0.02, abs=1e-4)
    assert values['suspected'].startswith('wire_3 (') and values['degrees of freedom'] == '2'


@pytest.mark.parametrize(('parameters', 'reason'), [
    ({'hold_hypotheses': True}, 'hold_hypotheses: expected false for 8 legs'),
    ({'leg_noises': [1e-3] * 6}, 'leg_noises: expected 8 numbers above 0'),
    ({'actuator_names': [f'motor_{k}' for k in range(6)]}, 'actuator_names: expected one of each'),
    ({'actuator_scale': [0.5] * 6}, 'actuator_scale, one for each leg: expected'),
    ({'home_position': [0.0, 0.0, 30.0]}, 'home pose: length of wire_1: expected 0.4 to 5')])
def test_parameters_of_six_legs_are_refused(bench, parameters, reason):
    node = bench.start(StewartPoseNode, **{**PARAMETERS, **parameters})
    assert any(reason in line
               for line in (bench.until_logged(node, 'not configured'),
                            *bench.logged(node, LoggingSeverity.ERROR)) if line)


def test_eight_actuators_have_scales_and_noises_of_their_own(bench):
    """The readings are motor turns; the covariance is that of the given noise."""
    scales, offsets = np.linspace(0.01, 0.02, 8), np.linspace(0.1, 0.8, 8)
    noises = 1e-4 * np.arange(1.0, 9.0)
    covariances = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    bench.start(StewartPoseNode, **PARAMETERS, actuator_names=[f'motor_{k}' for k in range(8)],
                actuator_scale=scales.tolist(), actuator_offset=offsets.tolist(),
                leg_noises=noises.tolist(), covariance_rate=0.0)
    legs = bench.publisher(JointState, 'leg_states')
    turns, names = (leg_lengths(ROBOT, HOME) - offsets) / scales, [f'motor_{k}' for k in range(8)]
    stamps = iter(range(10**9, 10**12, PERIOD_NS))
    found = bench.until(lambda: covariances and covariances[-1], 'a covariance',
                        act=lambda: legs.publish(joint_state(names, turns, (), next(stamps))))
    assert np.abs(matrix(found.pose.pose) - HOME).max() < 1e-9
    tracked = MonitoredTracker(ROBOT, HOME).track(0, leg_lengths(ROBOT, HOME))
    weighted = tracked.state.jacobian / noises[:, None]
    expected = in_fixed_axes(np.linalg.inv(weighted.T @ weighted), HOME)
    np.testing.assert_allclose(
        np.reshape(found.pose.covariance, (6, 6)), expected, atol=1e-6 * expected.max())


def test_services_of_eight_legs(bench):
    robot = Robot(bench)
    answer = bench.call(SolveStewartPose, 'stewart_pose/solve', leg_names=LEGS[::-1],
                        lengths=leg_lengths(ROBOT, pose_at(3))[::-1].tolist())
    assert answer.success and np.abs(matrix(answer.pose.pose) - pose_at(3)).max() < 1e-9
    assert len(answer.status.further_lengths) == 2
    pose = PoseStamped()
    conversions.to_pose(pose_at(3), pose.pose)
    answer = bench.call(
        StewartInverseKinematics, 'stewart_pose/inverse_kinematics', pose=pose)
    np.testing.assert_allclose(answer.lengths, leg_lengths(ROBOT, pose_at(3)), atol=1e-9)
    assert answer.leg_names == LEGS and answer.success
    assert bench.call(Trigger, 'stewart_pose/reset').success
    robot.follow(1)


def test_markers_show_eight_legs(bench):
    markers = bench.collect(MarkerArray, 'markers')
    Robot(bench, marker_rate=100.0)
    newest = bench.until(lambda: markers and markers[-1], 'markers', act=lambda: None)
    assert sum(marker.ns == 'rods' for marker in newest.markers) == 8
    assert np.isfinite([marker.scale.z for marker in newest.markers]).all()


def test_bad_readings_are_refused_by_name(bench):
    robot = Robot(bench)
    for change, reason in ((lambda lengths: lengths.__setitem__(6, np.nan), 'positions'),
                           (lambda lengths: lengths.__setitem__(6, 9.0), 'length of wire_7')):
        stamp_ns, lengths = robot.send()
        change(lengths)
        robot.legs.publish(joint_state(LEGS, lengths, (), stamp_ns + 1))
        found = bench.until(lambda: next((
            s for s in robot.statuses if s.status == StewartStatus.REJECTED
            and reason in s.message), None), 'a refusal')
        assert len(found.further_lengths) == 0
