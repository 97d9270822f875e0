# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The pose node knows when it may be wrong: flags, covariance, diagnostics, prediction."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseWithCovarianceStamped, TwistWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
from liedyn_interfaces.srv import PredictStewartPose
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64
from support.crossings import Crossing
from support.pose_bench import (
    FAR, GEOMETRY, HOME, matrix, moved, ns, PERIOD_NS, PoseBench, rates_at, stamp_of)
from transforms3d.quaternions import mat2quat
import yaml

from liedyn_ros.nodes.stewart_pose import StewartPoseNode
from liedyn_ros.resources import config_file
from liedyn_ros.stewart import leg_lengths, length_jacobian

pytestmark = pytest.mark.ros
TWIST = np.array([0.1, -0.2, 0.15, 0.02, 0.03, -0.01])
PERIOD = 1e-9 * PERIOD_NS
NOISE = 2e-5  # m


def test_a_good_pose_has_no_flag(tracking):
    status = (node := tracking()).status_at(node.send_pose(FAR))
    assert (status.flags, status.suspected_legs) == (0, [])
    sign = np.sign(np.linalg.det(length_jacobian(GEOMETRY, FAR)))
    assert status.determinant_sign == status.expected_determinant_sign == sign
    assert status.time_to_singularity > 0.0 and np.isfinite(status.prediction_gap)


def test_an_outlier_is_named_and_replaced(tracking):
    node = tracking()
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
    assert [s.flags for s in statuses] == [0, StewartStatus.FLAG_JOINT_ANGLE, 0]
    assert [s.exceeded_limits for s in statuses] == [[], ['base joint of leg_2'], []]
    bench.until(lambda: any(status.message == 'exceeded: base joint of leg_2'
                            for report in reports for status in report.status), 'a report of it')


@pytest.mark.parametrize('hold', [False, True])
def test_a_crossing_is_told_where_it_happens(tracking, hold):
    crossing = Crossing(GEOMETRY, 'turn', 2.0, 1e-6, rate=100)
    node = tracking(leg_noise=1e-6, hold_hypotheses=hold)
    stamps = []
    for lengths in crossing.lengths:
        stamps.append(node.send(lengths))
        node.status_at(stamps[-1])
    told = {flag: [k for k, status in enumerate(node.statuses) if status.flags & flag]
            for flag in (StewartStatus.FLAG_APPROACHING_SINGULARITY,
                         StewartStatus.FLAG_BRANCH_CROSSED)}
    warned, crossed = told.values()
    assert len(crossed) == 1 and warned[0] < crossed[0] - 20
    assert abs(crossed[0] - crossing.index) <= 1
    if hold:
        assert crossing.error(len(crossing) - 1, node.pose_at(stamps[-1])) < 1e-4


def test_covariance_of_pose_and_twist(bench):
    poses = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    twists = bench.collect(TwistWithCovarianceStamped, 'twist_with_covariance')
    node = PoseBench(bench, leg_noise=NOISE, leg_rate_noise=1e-3, covariance_rate=0.0).settle()
    stamp = node.send_pose(FAR, velocities=rates_at(FAR, TWIST))
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


def test_covariances_come_at_their_rate_and_only_where_noise_is_known(bench):
    poses = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    node = PoseBench(bench, leg_noise=NOISE, covariance_rate=20.0).settle()
    poses.clear()
    stamps = [node.send_pose(HOME) for _ in range(51)]
    node.status_at(stamps[-1])
    bench.until(lambda: len(poses) >= 10, 'covariances')
    assert np.diff([ns(pose) for pose in poses]).min() == 5 * PERIOD_NS


def test_prediction_to_another_time(tracking):
    node = tracking(leg_noise=NOISE)
    for k in range(3):
        stamp = node.send_pose(moved(HOME, TWIST, k * PERIOD))
    last = node.pose_at(stamp)
    answers = [node.bench.call(PredictStewartPose, 'stewart_pose/predict',
                               stamp=stamp_of(stamp + round(1e9 * seconds)))
               for seconds in (0.0, 0.05, -0.02)]
    for seconds, answer in zip((0.0, 0.05, -0.02), answers):
        assert answer.success and answer.message == ''
        np.testing.assert_allclose(
            matrix(answer.pose.pose.pose), moved(last, TWIST, seconds), atol=1e-8)
    now, ahead, _ = (np.reshape(a.pose.pose.covariance, (6, 6)) for a in answers)
    assert (np.diag(ahead) > np.diag(now)).all() and (np.diag(now) > 0.0).all()


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


def imu(rotation, stamp_ns):
    """Return an orientation."""
    message = Imu()
    message.header.stamp = stamp_of(stamp_ns)
    q = message.orientation
    q.w, q.x, q.y, q.z = mat2quat(rotation)
    return message


def test_an_orientation_names_a_biased_leg(bench):
    mounting = moved(np.eye(4), [0.3, -0.2, 0.5, 0.0, 0.0, 0.0], 1.0)[:3, :3]
    w, x, y, z = mat2quat(mounting)
    node = PoseBench(bench, leg_noise=NOISE, orientation_noise=1e-3, sensor_time=0.01,
                     orientation_mounting=[float(v) for v in (x, y, z, w)]).settle()
    sensor = bench.publisher(Imu, 'orientation')
    bench.until(lambda: sensor.get_subscription_count(), 'the sensor to be heard')
    biased = leg_lengths(GEOMETRY, FAR) + np.array([0, 0, 0, 0.006, 0, 0])

    def send():
        sensor.publish(imu(FAR[:3, :3] @ mounting, node.stamp_ns + PERIOD_NS))
        bench.until(lambda: True, 'one turn')
        node.send(biased)
    found = bench.until(lambda: next(
        (s for s in node.statuses if s.flags & StewartStatus.FLAG_LEG_BIASED), None),
        'a biased leg', act=send)
    assert found.suspected_legs == ['leg_4']
    assert found.flags & StewartStatus.FLAG_SENSOR_DISAGREES


def test_a_seventh_length_disagrees(bench):
    node = PoseBench(bench, leg_noise=NOISE, extra_length_noise=1e-4, sensor_tolerance=10.0,
                     sensor_time=0.01, extra_length_platform=[0.1, 0.0, 0.0])
    sensor = bench.publisher(Float64, 'extra_length')
    bench.until(lambda: sensor.get_subscription_count(), 'the sensor to be heard')
    node.stamp_ns = node.node.get_clock().now().nanoseconds
    true = float(np.linalg.norm(HOME[:3, :3] @ [0.1, 0.0, 0.0] + HOME[:3, 3]))

    def flags_with(reading):
        node.statuses.clear()

        def send():
            sensor.publish(Float64(data=reading))
            node.send_pose(HOME)
        bench.until(lambda: len(node.statuses) > 20, 'statuses', act=send)
        return node.statuses[-1].flags
    assert flags_with(true) == 0
    assert flags_with(true + 0.01) == StewartStatus.FLAG_SENSOR_DISAGREES


@pytest.mark.parametrize('hold', [False, True])
def test_a_reading_of_another_time_is_compared_with_the_pose_of_then(bench, hold):
    """At 0.5 rad/s an orientation that is 8 ms old is 4 mrad off the pose of the lengths."""
    node = PoseBench(bench, leg_noise=1e-5, orientation_noise=5e-4, hold_hypotheses=hold).settle()
    sensor = bench.publisher(Imu, 'orientation')
    bench.until(lambda: sensor.get_subscription_count(), 'the sensor to be heard')
    heard = bench.collect(Imu, 'orientation')
    rng, begin_ns, late_ns = np.random.default_rng(0), node.stamp_ns, 8_000_000

    def pose_at(stamp_ns):
        return moved(HOME, np.array([0, 0, 0.5, 0, 0, 0]), 1e-9 * (stamp_ns - begin_ns))
    for k in range(1, 41):
        stamp_ns = begin_ns + k * PERIOD_NS
        sensor.publish(imu(pose_at(stamp_ns - late_ns)[:3, :3], stamp_ns - late_ns))
        bench.until(lambda count=k: len(heard) == count, 'the reading')
        node.send(leg_lengths(GEOMETRY, pose_at(stamp_ns)) + 1e-5 * rng.normal(size=6))
        assert node.status_at(stamp_ns).flags == 0


NO_ORIENTATION = imu(np.eye(3), 0)
NO_ORIENTATION.orientation_covariance[0] = -1.0
NO_NUMBER = imu(np.eye(3), 0)
NO_NUMBER.orientation.x = float('nan')
NO_ROTATION = imu(np.eye(3), 0)
NO_ROTATION.orientation.w = 0.5


@pytest.mark.parametrize(('message', 'reason'), [
    (NO_ORIENTATION, 'orientation: expected one, got the covariance that says there is none'),
    (NO_NUMBER, 'orientation[0]: expected a finite number, got nan'),
    (NO_ROTATION, 'quaternion: expected norm 1')])
def test_a_reading_that_is_none_is_refused(bench, message, reason):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = PoseBench(bench, orientation_noise=1e-3, diagnostics_rate=20.0).settle()
    sensor = bench.publisher(Imu, 'orientation')
    bench.until(lambda: sensor.get_subscription_count(), 'the sensor to be heard')

    def send():
        message.header.stamp = stamp_of(node.stamp_ns + PERIOD_NS)
        sensor.publish(message)
        node.send_pose(FAR)
    status = bench.until(lambda: sensor_status(reports, reason), 'a report of it', act=send)
    assert status.level == DiagnosticStatus.WARN
    counts = {value.key: value.value for value in status.values}
    assert int(counts['refused']) > 0 and counts['heard'] == counts['used'] == '0'
    bench.until_logged(node.node, reason)
    assert all(s.flags == 0 for s in node.statuses)


def sensor_status(reports, text):
    """Return the first status of a redundant sensor whose message holds a text."""
    return next((status for report in reports for status in report.status
                 if status.name.endswith(': redundant sensor') and text in status.message), None)


def test_a_sensor_that_is_silent_or_out_of_time_is_reported(bench, namespace):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = PoseBench(bench, orientation_noise=1e-3, sensor_tolerance=0.1,
                     diagnostics_rate=20.0).settle()
    sensor = bench.publisher(Imu, 'orientation')

    def until(text, level, reading_ns=None):
        def act():
            if reading_ns is not None:
                sensor.publish(imu(np.eye(3), node.stamp_ns + reading_ns))
            node.status_at(node.send_pose(HOME))  # so that none waits in a queue
        reports.clear()
        status = bench.until(lambda: sensor_status(reports, text), text, act=act)
        assert status.level == level
    until(f'silent, never used: nothing on {namespace}/orientation', DiagnosticStatus.WARN)
    until('never used: no stamp within sensor_tolerance', DiagnosticStatus.WARN, -900_000_000)
    until('in use', DiagnosticStatus.OK, PERIOD_NS)
    until('silent, last used 0.', DiagnosticStatus.WARN)


def test_two_redundant_sensors_are_refused(bench):
    node = bench.start(StewartPoseNode, orientation_noise=0.1, extra_length_noise=0.1)
    assert any('one redundant sensor' in line
               for line in (bench.until_logged(node, 'not configured'),
                            *bench.logged(node, LoggingSeverity.ERROR)) if line)


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
    until('input', DiagnosticStatus.STALE, 'no leg lengths', lambda: None)
    for part in ('singularity', 'legs', 'limits'):
        assert until(part, DiagnosticStatus.STALE, 'no pose', lambda: None).values == []

    def fail():
        node.send([0.3, 0.9, 0.3, 0.9, 0.3, 0.9])
    for part, text in (('input', 'every solve failed'), ('limits', 'no pose'),
                       ('singularity', 'no pose: every solve failed'),
                       ('legs', 'no pose: every solve failed')):
        until(part, DiagnosticStatus.ERROR, text, fail)
