# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bad input: each is named in log and status, nothing false comes out, the next is tracked."""

import re
import time

from diagnostic_msgs.msg import DiagnosticArray, KeyValue
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
from support.bench.pose_bench import (
    FAR, GEOMETRY, HOME, LEGS, matrix, moved, NEAR, ns, PERIOD_NS, PoseBench, stamp_of)
from support.platforms.stewart_motion import Crossing

from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.ros.node import lifecycle
from liedyn_ros.ros.node.lifecycle import LOG_PERIOD
from liedyn_ros.stewart import leg_lengths

pytestmark = pytest.mark.ros
LENGTHS = leg_lengths(GEOMETRY, NEAR)


def with_third(value):
    """Return good lengths but for one."""
    return [*LENGTHS[:2], value, *LENGTHS[3:]]


BAD = {
    'unknown name': (LENGTHS, [*LEGS[:5], 'wheel'], (), "unknown ['wheel']"),
    'one name too many': ([*LENGTHS, 1.0], [*LEGS, 'wheel'], (), "unknown ['wheel']"),
    'missing name': (LENGTHS[:5], LEGS[:5], (), "missing ['leg_6']"),
    'repeated name': (LENGTHS, [*LEGS[:5], 'leg_1'], (), "repeated ['leg_1']"),
    'no names': (LENGTHS, [], (), 'expected shape (0,), got (6,)'),
    'nothing': ([], [], (), 'missing'),
    'too few positions': (LENGTHS[:4], LEGS, (), 'expected shape (6,), got (4,)'),
    'too many positions': ([*LENGTHS, 1.0], LEGS, (), 'expected shape (6,), got (7,)'),
    'no positions': ([], LEGS, (), 'expected shape (6,), got (0,)'),
    'NaN': (with_third(np.nan), LEGS, (), 'expected a finite number, got nan'),
    'infinite': (with_third(np.inf), LEGS, (), 'expected a finite number, got inf'),
    'negative': (with_third(-0.5), LEGS, (), 'expected a positive length in m, got -0.5'),
    'zero': (with_third(0.0), LEGS, (), 'expected a positive length in m, got 0.0'),
    'too short': (with_third(0.2), LEGS, (), 'length of leg_3: expected 0.25 to 0.95 m, got 0.2'),
    'too long': (with_third(1.2), LEGS, (), 'length of leg_3: expected 0.25 to 0.95 m, got 1.2'),
    'NaN velocity': (LENGTHS, LEGS, with_third(np.nan), 'expected a finite number, got nan'),
    'too few velocities': (LENGTHS, LEGS, LENGTHS[:5], 'expected shape (6,), got (5,)'),
}


@pytest.mark.parametrize('case', BAD)
def test_bad_sample(tracking, case):
    node, (positions, names, velocities, reason) = tracking(), BAD[case]
    before = node.send_pose(NEAR)
    bad = node.send(positions, names, velocities)
    after = node.send_pose(FAR)
    assert_rejected_and_recovered(node, bad, reason, good=[before, after])
    np.testing.assert_allclose(node.pose_at(after), FAR, atol=1e-9)


@pytest.mark.smoke
def test_bytes_that_are_no_message_are_a_refused_sample(bench, tracking):
    node = tracking(diagnostics_rate=20.0)
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    topic, before = node.legs.topic_name, node.send_pose(NEAR)
    node.legs.publish(b'\0\1\0\0no message')
    status = node.reason_of(f'{topic}: expected a serialised sensor_msgs/msg/JointState, got 14 b')
    assert not np.any([status.residual, status.solve_time, *status.length])
    after = node.send_pose(FAR)
    np.testing.assert_allclose(node.pose_at(after), FAR, atol=1e-9)
    assert [ns(pose) for pose in node.poses] == [before, after]
    bench.until(lambda: any(
        entry.name.endswith(': input') and topic in entry.message and KeyValue(
            key='refused', value='1') in entry.values
        for report in reports for entry in report.status), 'a diagnostic of the refused sample')
    node.bench.until_logged(node.node, status.message)
    assert not any('Traceback' in line for line in bench.logged(node.node))


def assert_rejected_and_recovered(node, bad, reason, good, start=StewartStatus.START_PREDICTED):
    """Require all that is promised of bad input between good samples."""
    node.pose_at(good[-1])
    status = node.status_at(bad)
    assert status.status == StewartStatus.REJECTED
    assert reason in status.message
    assert not np.any([status.residual, status.solve_time, *status.length])
    assert [ns(pose) for pose in node.poses] == good
    assert bad not in [ns(twist) for twist in node.twists]
    assert node.status_at(good[-1]).status == StewartStatus.CONVERGED
    assert node.status_at(good[-1]).start == start
    node.bench.until_logged(node.node, status.message)


@pytest.mark.smoke
def test_the_log_of_a_repeated_fault_is_throttled(tracking):
    """It is logged once in each period; silence, told apart, may name it as well."""
    node, fault = tracking(), 'actuator positions in leg order[2]'
    start = time.monotonic()
    stamps = [node.send(with_third(np.nan)) for _ in range(30)]
    node.status_at(stamps[-1])
    node.bench.until_logged(node.node, fault)
    periods = (time.monotonic() - start) // LOG_PERIOD + 1
    logged = [line for line in node.bench.logged(node.node) if line.startswith(fault)]
    assert sum(ns(status) in stamps for status in node.statuses) == 30
    assert 1 <= len(logged) <= periods


def test_the_motion_is_kept_over_bad_samples(tracking):
    """The prediction goes on from the last good state, so a moving platform stays tracked."""
    node, twist = tracking(), np.array([0.4, -0.3, 0.5, 0.1, 0.1, -0.1])
    for k in range(1, 41):
        node.send_pose(moved(HOME, twist, k * 1e-9 * PERIOD_NS))
    for _ in range(41, 46):
        node.send([np.nan] * 6)
    status = node.status_at(node.send_pose(moved(HOME, twist, 46e-9 * PERIOD_NS)))
    assert status.start == StewartStatus.START_PREDICTED
    assert status.iterations <= 5
    np.testing.assert_allclose(node.twist_at(ns(status)), twist, atol=1e-3)


def test_a_stamp_twice_is_refused(tracking):
    node = tracking()
    stamp = node.send_pose(NEAR)
    node.send_pose(FAR, stamp_ns=stamp)
    node.reason_of(f'expected a time after {stamp} ns, got {stamp}')
    after = node.send_pose(FAR)
    assert node.status_at(after).start == StewartStatus.START_PREDICTED
    node.pose_at(after)
    assert [ns(pose) for pose in node.poses] == [stamp, after]


def test_a_sample_that_comes_late_is_dropped(tracking):
    """Leg states are best effort: order is not guaranteed."""
    node = tracking()
    before = node.send_pose(NEAR)
    bad = node.send_pose(NEAR, stamp_ns=before - PERIOD_NS)
    after = node.send_pose(FAR, stamp_ns=before + PERIOD_NS)
    assert_rejected_and_recovered(node, bad, f'expected a time after {before} ns, got {bad}',
                                  [before, after])
    assert node.status_at(after).flags & StewartStatus.FLAG_RESTARTED == 0


def test_a_late_sample_past_a_crossing_leaves_the_branch(tracking):
    crossing = Crossing(GEOMETRY, 'turn', 1.0, 1e-6, rate=100)
    node = tracking(leg_noise=1e-6, hold_hypotheses=True)
    for lengths in crossing.lengths[:-1]:
        stamp = node.send(lengths)
        node.status_at(stamp)
    node.send(crossing.lengths[-3], stamp_ns=stamp - PERIOD_NS)
    stamp = node.send(crossing.lengths[-1], stamp_ns=stamp + PERIOD_NS)
    assert crossing.error(len(crossing) - 1, node.pose_at(stamp)) < 1e-4
    # On a busy machine the thread that looks at all modes may not have come to it yet.
    assert node.status_at(stamp).flags & ~StewartStatus.FLAG_BRANCH_UNSURE == 0


def test_time_going_backward_is_refused_and_then_followed(tracking):
    """The clock was set back: the sample is refused, the next starts from home and says so."""
    node = tracking()
    before = node.send_pose(NEAR)
    bad = node.send_pose(NEAR, stamp_ns=before - 600_000_000)
    after = node.send_pose(FAR)
    assert_rejected_and_recovered(node, bad, f'expected a time after {before} ns, got {bad}',
                                  [before, after], StewartStatus.START_HOME)
    assert node.status_at(after).flags == (
        StewartStatus.FLAG_RESTARTED | StewartStatus.FLAG_BRANCH_UNSURE)
    assert node.bench.call(Trigger, 'stewart_pose/confirm').success
    status = node.status_at(node.send_pose(FAR))
    assert not status.flags and status.branch_source == StewartStatus.BRANCH_SOURCE_HOME


@pytest.mark.parametrize(('age', 'reason'), [
    (3.0, 's ago'), (-7.0, 's ahead'), (-5.1, 'stamp: expected within 5.05 s of now'),
    (1e9, 'stamp: expected within 1 s of now')])
def test_a_stale_or_future_stamp_is_refused(bench, age, reason):
    node = PoseBench(bench, use_sim_time=True, max_age=1.0)
    clock, now_ns = bench.publisher(Clock, '/clock'), 2_000_000_000_000_000_000

    def send(pose=NEAR, age=0.0):
        nonlocal now_ns
        now_ns += PERIOD_NS
        bench.until(lambda: node.node.get_clock().now().nanoseconds == now_ns, 'the time',
                    act=lambda: clock.publish(Clock(clock=stamp_of(now_ns))))
        return node.send_pose(pose, stamp_ns=now_ns - round(1e9 * age))

    bench.until(lambda: node.poses and node.statuses, 'a pose and a status', act=send)
    node.pose_at(send())
    node.status_at(node.stamp_ns)
    node.poses.clear()
    bad, after = send(age=age), send(FAR)
    assert_rejected_and_recovered(node, bad, reason, [after])


def test_a_message_of_another_type_is_named(bench, other_context, namespace):
    node = PoseBench(bench, input_timeout=0.05)
    node.reason_of(f'nothing publishes {namespace}/leg_states')
    stranger = Node('stranger', context=other_context, namespace=namespace)
    wrong = stranger.create_publisher(Float64, 'leg_states', 10)
    reason = (f'{namespace}/leg_states: expected sensor_msgs/msg/JointState, '
              'got std_msgs/msg/Float64')
    bench.until(lambda: any(reason in status.message for status in node.statuses), reason,
                act=lambda: wrong.publish(Float64(data=0.5)))
    bench.until_logged(node.node, reason, LoggingSeverity.WARN)
    assert node.poses == []
    stranger.destroy_node()
    bench.until(lambda: node.poses, 'a pose', act=lambda: node.send_pose(NEAR))


def test_input_that_is_refused_from_the_start_is_told_once_in_a_period(bench, monkeypatch):
    """Every refusal has another age in its text, and none of them is a fault of its own."""
    monkeypatch.setattr(lifecycle, 'WAIT_PERIOD', 1e6)
    node, refused = PoseBench(bench, max_age=1.0, input_timeout=0.05), 'all samples were refused'

    def send():
        now_ns = bench.partner.get_clock().now().nanoseconds
        node.send_pose(NEAR, stamp_ns=now_ns - 5_000_000_000)

    bench.until(lambda: len({status.message for status in node.statuses
                             if refused in status.message}) > 4, 'five such reports', act=send)
    node.node.get_logger().warning('the end')
    bench.until_logged(node.node, 'the end', LoggingSeverity.WARN)
    warnings = bench.logged(node.node, LoggingSeverity.WARN)
    assert sum(refused in warning for warning in warnings) == 1


def test_input_that_is_refused_later_is_told_by_one_line(bench):
    """The refusal is in the log; that it is silence besides is in the status."""
    node = PoseBench(bench, input_timeout=0.05).settle()
    bench.until(lambda: any('were refused' in status.message for status in node.statuses),
                'a report', act=lambda: node.send([0.5, 0.5], ['a', 'b'], wait=False))
    bench.until_logged(node.node, 'actuator names', LoggingSeverity.ERROR)
    errors = bench.logged(node.node, LoggingSeverity.ERROR)
    assert not any('were refused' in error for error in errors)


def test_a_refusal_is_kept_in_every_report_of_silence(bench):
    """However seldom samples come, and after they have ended: until one is accepted."""
    node = PoseBench(bench, input_timeout=0.05).settle()
    refused = node.send([0.5, 0.5], ['a', 'b'])
    later = "the last sample was refused: actuator names: expected each of ['leg_1'"
    bench.until(lambda: any(later in status.message for status in node.statuses), later)
    begin = next(k for k, status in enumerate(node.statuses) if ns(status) == refused)
    told = [status.message for status in node.statuses[begin + 1:]]
    assert len(told) > 2 and all('expected leg lengths every' in message for message in told)
    assert all("expected each of ['leg_1'" in message for message in told)
    assert 'all samples were refused, the last one: ' in told[0]
    bench.until(lambda: node.poses, 'a pose', act=lambda: node.send_pose(NEAR, wait=False))
    node.status_at(ns(node.poses[0]))

    def later():
        """Return the statuses behind that of the pose: an earlier one may come before it."""
        return node.statuses[[ns(status) for status in node.statuses].index(ns(node.poses[0])):]
    bench.until(lambda: any('is silent' in status.message for status in later()), 'a silence')
    assert not any('refused' in status.message for status in later())


def test_a_refusal_is_filled_only_where_someone_listens(bench):
    node, filled = bench.start(StewartPoseNode, input_timeout=0.0), []
    outputs = node._outputs
    outputs._status_publisher.publish = filled.append
    outputs.reject(1, 'nobody listens', age=2.0, passed_over=3)
    assert filled == []
    bench.collect(StewartStatus, 'status')
    bench.until(lambda: outputs._usual_status[True].heard, 'a listener')
    for reason, passed_over in (('stale', 4), ('late', 5)):
        outputs.reject(7_000_000_001, reason, age=2.0, passed_over=passed_over)
        status = filled.pop()
        assert (status.status, status.message) == (StewartStatus.REJECTED, reason)
        assert (ns(status), status.age, status.passed_over) == (7_000_000_001, 2.0, passed_over)
        assert not np.any([status.residual, status.solve_time, *status.length])
        assert status.header.frame_id == 'stewart_base'


def test_silence_is_reported_with_its_reason(tracking):
    node = tracking(input_timeout=0.05)
    node.reason_of('expected leg lengths every 0.05 s')
    assert node.status_at(node.send_pose(NEAR)).start == StewartStatus.START_PREDICTED


def test_sim_time_going_backward(bench):
    """As when a bag is played again: the clock and the stamps start over."""
    node = PoseBench(bench, use_sim_time=True, max_age=1.0)
    clock = bench.publisher(Clock, '/clock')

    def play(pose, begin_ns, end_ns):
        node.stamp_ns = begin_ns

        def step():
            clock.publish(Clock(clock=stamp_of(node.stamp_ns + PERIOD_NS)))
            node.send_pose(pose)

        return bench.until(
            lambda: next((p for p in node.poses if begin_ns < ns(p) < end_ns), None),
            f'a pose after {begin_ns} ns', act=step)

    play(NEAR, 100_000_000_000, 150_000_000_000)
    pose = play(FAR, 50_000_000_000, 100_000_000_000)
    np.testing.assert_allclose(matrix(pose.pose), FAR, atol=1e-9)
    assert node.status_at(ns(pose)).flags & StewartStatus.FLAG_RESTARTED


def test_silence_is_measured_in_sim_time_from_its_first_tick_on(bench):
    node = PoseBench(bench, use_sim_time=True, input_timeout=0.5)
    clock, begin_ns = bench.publisher(Clock, '/clock'), 100_000_000_000
    now_ns = begin_ns

    def step():
        nonlocal now_ns
        now_ns += PERIOD_NS
        clock.publish(Clock(clock=stamp_of(now_ns)))

    bench.until(lambda: node.statuses, 'a rejection', act=step)
    silence = float(re.search(r'got none for (\S+) s', node.statuses[0].message)[1])
    assert 0.5 <= silence <= 1e-9 * (now_ns - begin_ns) + 0.05  # it is rounded
