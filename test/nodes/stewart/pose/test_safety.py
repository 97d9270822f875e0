# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node knows when it may be wrong: flags, covariance, diagnostics, prediction."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseWithCovarianceStamped, TwistWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
from liedyn_interfaces.srv import PredictStewartPose
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from support.bench.pose_bench import (
    FAR, GEOMETRY, HOME, matrix, moved, NEAR, ns, PERIOD_NS, PoseBench, rates_at, stamp_of)
from support.platforms.stewart_motion import Crossing
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.stewart import Flag, leg_lengths, length_jacobian

pytestmark = pytest.mark.ros
TWIST = np.array([0.1, -0.2, 0.15, 0.02, 0.03, -0.01])
PERIOD = 1e-9 * PERIOD_NS
NOISE = 2e-5  # m


def test_a_good_pose_has_no_flag_but_a_jump_to_it(tracking):
    jumped = (node := tracking()).status_at(node.send_pose(FAR))
    assert (jumped.flags, jumped.suspected_legs) == (Flag.LEGS_JUMPED, [])
    status = node.status_at(node.send_pose(FAR))
    assert (status.flags, status.suspected_legs) == (0, [])
    sign = np.sign(np.linalg.det(length_jacobian(GEOMETRY, FAR)))
    assert status.determinant_sign == status.expected_determinant_sign == sign
    assert status.time_to_singularity > 0.0 and np.isfinite(status.prediction_gap)


def test_an_outlier_is_named_and_replaced(tracking):
    node = tracking(leg_noise=NOISE)
    for k in range(5):
        node.send_pose(moved(HOME, TWIST, k * PERIOD))
    lengths = leg_lengths(GEOMETRY, moved(HOME, TWIST, 5 * PERIOD))
    lengths[2] += 0.02
    stamp = node.send(lengths)
    status = node.status_at(stamp)
    assert status.flags == StewartStatus.FLAG_LEG_OUTLIER
    assert status.suspected_legs == ['leg_3']
    assert np.abs(node.pose_at(stamp) - moved(HOME, TWIST, 5 * PERIOD)).max() < 1e-4


def test_exceeded_limits_are_flagged_at_the_sample_and_reported_later(bench, tmp_path):
    content = yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))
    content['legs']['leg_2']['base_cone'] = {'axis': [0.0, 0.0, 1.0], 'angle': 0.45}
    path = tmp_path / 'geometry.yaml'
    path.write_text(yaml.safe_dump(content), encoding='utf-8')
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = PoseBench(bench, geometry_file=str(path), diagnostics_rate=20.0).settle()
    low = HOME.copy()
    low[2, 3] = 0.3
    statuses = [node.status_at(node.send_pose(pose)) for pose in (HOME, low, HOME)]
    assert [s.flags & ~Flag.LEGS_JUMPED for s in statuses] == [
        0, StewartStatus.FLAG_JOINT_ANGLE, 0]
    assert [s.exceeded_limits for s in statuses] == [[], ['base joint of leg_2'], []]
    bench.until(lambda: any(status.message == 'exceeded: base joint of leg_2'
                            for report in reports for status in report.status), 'a report of it')


@pytest.mark.parametrize(('hold', 'most'), [(False, np.inf), (True, 1e-4)])  # m, at the end
def test_a_crossing_is_told_where_it_happens(tracking, hold, most):
    crossing = Crossing(GEOMETRY, 'turn', 2.0, 1e-6, rate=100)
    node = tracking(leg_noise=1e-6, hold_hypotheses=hold)
    stamps = []
    for lengths in crossing.lengths:
        stamps.append(node.send(lengths))
        node.status_at(stamps[-1])
    samples = [status for status in node.statuses if status.status != StewartStatus.REJECTED]
    told = {flag: [stamps.index(ns(status)) for status in samples if status.flags & flag]
            for flag in (StewartStatus.FLAG_APPROACHING_SINGULARITY,
                         StewartStatus.FLAG_BRANCH_CROSSED)}
    warned, crossed = told.values()
    assert len(crossed) == 1 and warned[0] < crossed[0] - 20
    assert abs(crossed[0] - crossing.index) <= 1
    assert crossing.error(len(crossing) - 1, node.pose_at(stamps[-1])) < most


@pytest.mark.full
def test_covariance_of_pose_and_twist(bench):
    poses = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    twists = bench.collect(TwistWithCovarianceStamped, 'twist_with_covariance')
    node = PoseBench(bench, leg_noise=NOISE, leg_rate_noise=1e-3, covariance_rate=0.0).settle()
    for _ in range(200):  # until the rates by lengths are known better than 1 mm/s
        stamp = node.send_pose(FAR, velocities=np.zeros(6))
        node.status_at(stamp)
    bench.until(lambda: poses and ns(poses[-1]) == stamp and twists and ns(twists[-1]) == stamp,
                'covariances')
    inverse = np.linalg.inv(length_jacobian(GEOMETRY, FAR))
    turn = np.kron([[0, 1], [1, 0]], FAR[:3, :3])
    expected = NOISE ** 2 * turn @ inverse @ inverse.T @ turn.T
    np.testing.assert_allclose(
        np.reshape(poses[-1].pose.covariance, (6, 6)), expected, atol=1e-9 * expected.max())
    assert np.abs(matrix(poses[-1].pose.pose) - FAR).max() < 1e-9
    assert poses[-1].header.frame_id == 'stewart_base'
    swap = np.kron([[0, 1], [1, 0]], np.eye(3))
    expected = 1e-6 * swap @ inverse @ inverse.T @ swap.T
    np.testing.assert_allclose(  # what the pose's error adds is small beside it
        np.reshape(twists[-1].twist.covariance, (6, 6)), expected, atol=1e-3 * expected.max())


def test_each_leg_may_have_its_noise(bench):
    poses = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    noises = NOISE * np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    node = PoseBench(bench, leg_noises=noises.tolist(), covariance_rate=0.0).settle()
    stamp = node.send_pose(FAR)
    bench.until(lambda: poses and ns(poses[-1]) == stamp, 'a covariance')
    inverse = np.linalg.inv(length_jacobian(GEOMETRY, FAR)) * noises
    turn = np.kron([[0, 1], [1, 0]], FAR[:3, :3])
    expected = turn @ inverse @ inverse.T @ turn.T
    np.testing.assert_allclose(
        np.reshape(poses[-1].pose.covariance, (6, 6)), expected, atol=1e-9 * expected.max())


@pytest.mark.parametrize(('parameters', 'reason'), [
    ({'leg_noise': 1e-5, 'leg_noises': [1e-5] * 6}, 'leg_noise and leg_noises: expected one'),
    ({'leg_noises': [1e-5] * 5}, 'leg_noises: expected 6 numbers above 0'),
    ({'leg_noises': [1e-5] * 5 + [0.0]}, 'leg_noises: expected 6 numbers above 0')])
def test_noise_of_legs_that_is_none_is_refused(bench, parameters, reason):
    node = bench.start(StewartPoseNode, **parameters)
    assert any(reason in line
               for line in (bench.until_logged(node, 'not configured'),
                            *bench.logged(node, LoggingSeverity.ERROR)) if line)


def test_odometry_is_pose_and_twist_with_both_covariances_in_one(bench):
    poses = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    twists = bench.collect(TwistWithCovarianceStamped, 'twist_with_covariance')
    odometry = bench.collect(Odometry, 'odometry')
    node = PoseBench(bench, leg_noise=NOISE, leg_rate_noise=1e-3, covariance_rate=0.0).settle()
    stamp = node.send_pose(FAR, velocities=rates_at(FAR, TWIST))
    newest = bench.until(
        lambda: [messages[-1] for messages in (poses, twists, odometry)
                 if messages and ns(messages[-1]) == stamp][2:], 'odometry')[0]
    assert (newest.header.frame_id, newest.child_frame_id) == ('stewart_base', 'stewart_platform')
    assert newest.pose == poses[-1].pose and newest.twist == twists[-1].twist
    assert np.abs(matrix(newest.pose.pose) - FAR).max() < 1e-9
    linear, angular = newest.twist.twist.linear, newest.twist.twist.angular
    np.testing.assert_allclose(
        [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z], TWIST, atol=1e-7)


def test_covariances_by_default_are_of_assumed_noise_at_first(bench):
    odometry = bench.collect(Odometry, 'odometry')
    poses = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    node = PoseBench(bench).settle()
    stamp = node.send_pose(NEAR)
    bench.until(lambda: odometry and ns(odometry[-1]) == stamp, 'odometry')
    assert np.abs(matrix(odometry[-1].pose.pose) - NEAR).max() < 1e-9
    inverse, turn = np.linalg.inv(length_jacobian(GEOMETRY, NEAR)), np.zeros((6, 6))
    turn[:3, 3:] = turn[3:, :3] = NEAR[:3, :3]
    covariance = np.reshape(odometry[-1].pose.covariance, (6, 6))
    np.testing.assert_allclose(covariance, 2e-4 ** 2 * turn @ inverse @ inverse.T @ turn.T,
                               atol=1e-9 * covariance.max())
    assert np.any(odometry[-1].twist.covariance)
    bench.until(lambda: poses and ns(poses[-1]) == stamp, 'pose with covariance')


def test_covariances_come_at_their_rate(bench):
    poses = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    node = PoseBench(bench, leg_noise=NOISE, covariance_rate=20.0).settle()
    poses.clear()
    stamps = [node.send_pose(HOME) for _ in range(51)]
    node.status_at(stamps[-1])
    bench.until(lambda: len(poses) >= 10, 'covariances')
    assert np.diff([ns(pose) for pose in poses]).min() == 5 * PERIOD_NS


def test_prediction_to_another_time(tracking):
    node = tracking(leg_noise=NOISE)
    for k in range(40):
        stamp = node.send_pose(moved(HOME, TWIST, k * PERIOD))
    last = node.pose_at(stamp)
    answers = [node.bench.call(PredictStewartPose, 'stewart_pose/predict',
                               stamp=stamp_of(stamp + round(1e9 * seconds)))
               for seconds in (0.0, 0.05, -0.02)]
    for seconds, answer in zip((0.0, 0.05, -0.02), answers):
        assert answer.success and answer.message == ''
        np.testing.assert_allclose(
            matrix(answer.pose.pose.pose), moved(last, TWIST, seconds), atol=2e-4)
    now, ahead, _ = (np.reshape(a.pose.pose.covariance, (6, 6)) for a in answers)
    assert (np.diag(ahead) > np.diag(now)).all() and (np.diag(now) > 0.0).all()
    newest = node.bench.call(PredictStewartPose, 'stewart_pose/predict')  # a stamp of zero
    assert newest == answers[0] and ns(newest.pose) == stamp


def test_predictions_that_cannot_be_made_say_why(tracking):
    node = tracking()
    stamp = node.send_pose(HOME)
    node.pose_at(stamp)
    late = node.bench.call(PredictStewartPose, 'stewart_pose/predict',
                           stamp=stamp_of(stamp + 2 * 10**9))
    assert not late.success and 'within 1 s of the last pose, got +2.000 s' in late.message
    node.node.trigger_deactivate()
    node.node.trigger_activate()
    none = node.bench.call(PredictStewartPose, 'stewart_pose/predict', stamp=stamp_of(stamp))
    assert not none.success and 'expected a pose' in none.message


def test_diagnostics(bench, namespace):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = PoseBench(bench, diagnostics_rate=20.0).settle()

    def latest(part):
        return next((status for report in reversed(reports) for status in report.status
                     if status.name == f'{namespace[1:]}/stewart_pose: {part}'), None)

    def until(part, level, text, act):
        return bench.until(lambda: (s := latest(part)) and s.level == level and text in s.message
                           and s, f'{part}: {text}', act=act)

    def rest():
        node.send_pose(HOME)
    for part, text in (('input', 'tracking'), ('singularity', 'good'), ('legs', 'good'),
                       ('limits', 'within all limits')):
        status = until(part, DiagnosticStatus.OK, text, rest)
        assert status.hardware_id == 'table_1'
    values = {value.key: value.value for value in latest('limits').values}
    assert float(values['travel left, m']) == pytest.approx(
        (leg_lengths(GEOMETRY, HOME) - 0.25).min(), rel=1e-3)
    lengths = leg_lengths(GEOMETRY, HOME)
    lengths[4] += 0.03
    until('legs', DiagnosticStatus.ERROR, 'jumped', lambda: node.send(lengths))
    assert 'leg_5' in {value.key: value.value for value in latest('legs').values}['suspected']
    until('input', DiagnosticStatus.ERROR, 'lengths', lambda: node.send([-1.0] * 6))

    def one_late():
        stamp = node.send_pose(HOME)
        node.status_at(stamp), node.status_at(node.send_pose(HOME, stamp_ns=stamp - 1))
        node.stamp_ns = stamp
    until('input', DiagnosticStatus.WARN, 'expected a time after', one_late)
    until('input', DiagnosticStatus.STALE, 'no leg lengths', lambda: None)
    for part in ('singularity', 'legs', 'limits'):
        assert until(part, DiagnosticStatus.STALE, 'no pose', lambda: None).values == []

    def fail():
        node.send([0.3, 0.9, 0.3, 0.9, 0.3, 0.9])
    for part, text in (('input', 'every solve failed'), ('limits', 'no pose'),
                       ('singularity', 'no pose: every solve failed'),
                       ('legs', 'no pose: every solve failed')):
        until(part, DiagnosticStatus.ERROR, text, fail)


def test_a_bus_slower_than_the_topic_is_told_once(bench):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = PoseBench(bench, diagnostics_rate=20.0).settle()
    for k in range(60):
        node.status_at(node.send_pose(moved(HOME, TWIST, k // 4 * 4 * PERIOD)))
    bench.until(lambda: any('readings repeat 4 times' in status.message for report in reports
                            for status in report.status), 'a report of it')
