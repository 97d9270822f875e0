# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node's redundant sensor: its findings on the pose, and the reports on it."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64
from support.bench.pose_bench import FAR, GEOMETRY, HOME, moved, PERIOD_NS, PoseBench, stamp_of
from transforms3d.quaternions import mat2quat

from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.stewart import leg_lengths

pytestmark = pytest.mark.ros
NOISE = 2e-5  # m


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
    # How many samples precede the first that names one leg depends on when the orientations come.
    found = bench.until(lambda: next(
        (s for s in node.statuses if s.flags & StewartStatus.FLAG_LEG_BIASED
         and len(s.suspected_legs) == 1), None), 'a biased leg', act=send)
    assert found.suspected_legs == ['leg_4']
    assert found.flags & StewartStatus.FLAG_SENSOR_DISAGREES


def test_a_seventh_length_disagrees(bench):
    node = PoseBench(bench, leg_noise=NOISE, extra_length_noise=1e-4, sensor_tolerance=10.0,
                     sensor_time=0.01, extra_length_platform=[0.1, 0.0, 0.0])
    sensor = bench.publisher(Float64, 'extra_length')
    bench.until(lambda: sensor.get_subscription_count(), 'the sensor to be heard')
    node.stamp_ns = node.node.get_clock().now().nanoseconds
    true = float(np.linalg.norm(HOME[:3, :3] @ [0.1, 0.0, 0.0] + HOME[:3, 3]))

    def send_until(flags, reading):
        """Send readings and samples; how many until they are compared depends on the machine."""
        def send():
            sensor.publish(Float64(data=reading))
            node.send_pose(HOME)
        bench.until(lambda: node.statuses and node.statuses[-1].flags == flags, flags, act=send)

    for _ in range(2):
        send_until(StewartStatus.FLAG_SENSOR_DISAGREES, true + 0.01)
        send_until(0, true)


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
    assert not any(s.flags & StewartStatus.FLAG_SENSOR_DISAGREES for s in node.statuses)


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
    until('silent, last used ', DiagnosticStatus.WARN)


def test_a_reading_is_used_where_it_was_compared_with_a_pose(bench):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = PoseBench(bench, orientation_noise=1e-3, sensor_tolerance=1.0,
                     diagnostics_rate=20.0).settle()
    sensor = bench.publisher(Imu, 'orientation')
    bench.until(lambda: sensor.get_subscription_count(), 'the sensor to be heard')
    heard = bench.collect(Imu, 'orientation')
    sensor.publish(imu(np.eye(3), node.stamp_ns + PERIOD_NS))
    bench.until(lambda: heard, 'the reading')
    beyond, impossible = [1.2] * 6, [0.3, 0.9, 0.3, 0.9, 0.3, 0.9]
    for lengths in (beyond, impossible):
        reports.clear()
        node.status_at(node.send(lengths))
        bench.until(lambda: sensor_status(reports, 'no pose to compare a reading with'),
                    'a report of it')
    reports.clear()
    node.status_at(node.send_pose(HOME))
    used = bench.until(lambda: sensor_status(reports, 'in use'), 'its use')
    assert {value.key: value.value for value in used.values}['used'] == '1'


def test_a_clock_that_is_set_back_forgets_the_readings(bench):
    """As when a bag is played again: how long ago a reading was used is not known any more."""
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = PoseBench(bench, use_sim_time=True, orientation_noise=1e-3, diagnostics_rate=5.0)
    clock, sensor = bench.publisher(Clock, '/clock'), bench.publisher(Imu, 'orientation')
    bench.until(lambda: sensor.get_subscription_count(), 'the sensor to be heard')

    def play(begin_ns, text, send):
        node.stamp_ns = begin_ns

        def step():
            now_ns = node.stamp_ns + PERIOD_NS
            bench.until(lambda: node.node.now_ns() == now_ns, 'the time',
                        act=lambda: clock.publish(Clock(clock=stamp_of(now_ns))))
            send()
            node.status_at(node.send_pose(HOME))  # so that none waits in a queue

        reports.clear()
        return bench.until(lambda: sensor_status(reports, text), text, act=step)

    play(100_000_000_000, 'in use',
         lambda: sensor.publish(imu(np.eye(3), node.stamp_ns + PERIOD_NS)))
    play(50_000_000_000, 'silent, never used', lambda: None)
    assert not sensor_status(reports, 'last used -')


def test_two_redundant_sensors_are_refused(bench):
    node = bench.start(StewartPoseNode, orientation_noise=0.1, extra_length_noise=0.1)
    assert any('one redundant sensor' in line
               for line in (bench.until_logged(node, 'not configured'),
                            *bench.logged(node, LoggingSeverity.ERROR)) if line)
