# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node's input as six topics, one an actuator, matched in time."""

import time

from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
from support.bench.pose_bench import (
    FAR, GEOMETRY, joint_state, LEGS, matrix, moved, NEAR, ns, PERIOD_NS, PoseBench, rates_at)
from support.platforms.stewart_motion import pose_of

from liedyn_ros.stewart import leg_lengths

pytestmark = pytest.mark.ros
TOLERANCE_NS = 2_000_000
TWIST = np.array([0.1, -0.2, 0.15, 0.02, 0.03, -0.01])


class JointStates:
    """A pose node and the six JointState publishers that feed it."""

    def __init__(self, bench):
        """Start, and see a first set come through."""
        self._legs = [bench.publisher(JointState, f'leg_states/{leg}') for leg in LEGS]
        self.node = PoseBench(
            bench, actuators='joint_state_topics', matching_tolerance=1e-9 * TOLERANCE_NS)
        bench.until(lambda: self.node.poses, 'a pose', act=lambda: self.send_pose(NEAR))
        self.node.pose_at(self.node.stamp_ns)
        self.node.poses.clear()

    def send(self, leg, stamp_ns, position, velocities=(), name=None):
        """Publish the reading of one leg."""
        self._legs[leg].publish(joint_state([name or LEGS[leg]], [position], velocities, stamp_ns))

    def send_pose(self, pose, order=range(6), spread_ns=0):
        """Publish the readings of a pose, spread evenly in time; return the last stamp."""
        self.node.stamp_ns += PERIOD_NS
        lengths = leg_lengths(GEOMETRY, pose)
        for k, leg in enumerate(order):
            self.send(leg, self.node.stamp_ns + k * spread_ns // 5, lengths[leg])
        return self.node.stamp_ns + spread_ns


@pytest.fixture
def six(bench):
    """Return a node that takes six JointState topics."""
    return JointStates(bench)


def test_readings_within_the_tolerance_are_a_set(six):
    stamp = six.send_pose(FAR, order=[3, 1, 5, 0, 2, 4], spread_ns=TOLERANCE_NS)
    np.testing.assert_allclose(six.node.pose_at(stamp), FAR, atol=1e-9)


def test_readings_further_apart_are_none(six):
    six.send_pose(FAR, spread_ns=TOLERANCE_NS + 10)
    stamp = six.send_pose(NEAR)
    six.node.pose_at(stamp)
    assert [ns(pose) for pose in six.node.poses] == [stamp]


def test_velocities_give_the_twist(six):
    stamp = six.node.stamp_ns + PERIOD_NS
    for leg, (length, rate) in enumerate(zip(leg_lengths(GEOMETRY, NEAR), rates_at(NEAR, TWIST))):
        six.send(leg, stamp, length, [rate])
    np.testing.assert_allclose(six.node.twist_at(stamp), TWIST, atol=1e-7)


def test_lengths_count_where_one_actuator_has_no_velocity(six):
    stamp = six.node.stamp_ns + PERIOD_NS
    for leg, (length, rate) in enumerate(zip(leg_lengths(GEOMETRY, FAR), rates_at(FAR, TWIST))):
        six.send(leg, stamp, length, [rate] if leg else [])
    np.testing.assert_allclose(six.node.pose_at(stamp), FAR, atol=1e-9)


def test_a_reading_of_another_actuator_is_refused(six):
    stamp = six.node.stamp_ns + PERIOD_NS
    six.send(2, stamp, 0.5, name='leg_1')
    status = six.node.status_at(stamp)
    assert status.status == StewartStatus.REJECTED
    assert "leg_states/leg_3: expected one position of leg_3, got 1 of ['leg_1']" in status.message
    six.node.pose_at(six.send_pose(NEAR))


def test_a_length_beyond_its_limits_is_refused(six):
    stamp = six.send_pose(pose_of((0.0, 0.0, 2.0), (0.0, 0.0, 0.0)))
    assert 'length of leg_1: expected 0.25 to 0.95 m' in six.node.status_at(stamp).message
    six.node.pose_at(six.send_pose(NEAR))


def test_time_going_backward_is_refused_and_then_followed(six):
    six.node.stamp_ns -= 60 * PERIOD_NS
    six.send_pose(NEAR)
    six.node.reason_of('stamp: expected a time after')  # of the newest of six that were refused

    def follow():
        """Send a sample 1 ms on: on a busy machine, too, the time stays below that of before."""
        six.send_pose(NEAR)
        six.node.stamp_ns -= 9 * PERIOD_NS // 10
    six.node.bench.until(lambda: six.node.poses, 'a pose', act=follow)
    status = six.node.status_at(ns(six.node.poses[0]))  # the newest of those that came meanwhile
    assert status.flags & StewartStatus.FLAG_RESTARTED


def test_a_reset_takes_any_time(six):
    assert six.node.bench.call(Trigger, 'stewart_pose/reset').success
    six.node.stamp_ns -= 10 * PERIOD_NS + PERIOD_NS // 2
    stamp = six.send_pose(FAR)
    assert six.node.status_at(stamp).start == StewartStatus.START_HOME
    np.testing.assert_allclose(six.node.pose_at(stamp), FAR, atol=1e-9)


def test_a_leg_that_is_a_period_ahead_waits_for_the_others(six):
    six.node.stamp_ns += PERIOD_NS
    lengths, stamps = leg_lengths(GEOMETRY, FAR), []
    for _ in range(10):
        six.send(0, six.node.stamp_ns + PERIOD_NS, lengths[0])
        stamps.append(six.node.stamp_ns)
        for leg in range(1, 6):
            six.send(leg, six.node.stamp_ns, lengths[leg])
        if len(stamps) > 1:
            six.node.status_at(stamps[-1])  # so that none is passed over
        six.node.stamp_ns += PERIOD_NS
    six.node.pose_at(stamps[-1])
    assert [ns(pose) for pose in six.node.poses] == stamps[1:]


def test_readings_that_never_agree_are_reported(six):
    assert six.node.bench.set_parameters(six.node.node, input_timeout=0.05)[0].successful
    for _ in range(3):
        six.send_pose(FAR, spread_ns=2 * TOLERANCE_NS)
    six.node.reason_of('readings further apart than the tolerance')


def test_a_silent_actuator_is_named(six):
    assert six.node.bench.set_parameters(six.node.node, input_timeout=0.05)[0].successful
    lengths = leg_lengths(GEOMETRY, NEAR)
    for leg in (0, 1, 2, 3, 5):
        six.send(leg, six.node.stamp_ns + PERIOD_NS, lengths[leg])
    six.node.reason_of('no new reading of leg_5')


@pytest.fixture
def floats(bench):
    """Return a node that takes six Float64 topics and has found them, and what sends a pose."""
    legs = [bench.publisher(Float64, f'leg_states/{leg}') for leg in LEGS]
    node = PoseBench(bench, actuators='float64_topics', matching_tolerance=0.05)

    def send(pose):
        for leg, length in zip(legs, leg_lengths(GEOMETRY, pose)):
            leg.publish(Float64(data=length))

    return node, send


def test_floats_have_the_time_at_which_they_were_sent(bench, floats):
    node, send = floats
    begin_ns = time.time_ns()
    bench.until(lambda: node.poses, 'a pose', act=lambda: send(FAR))
    assert begin_ns <= ns(node.poses[0]) <= time.time_ns()
    np.testing.assert_allclose(matrix(node.poses[0].pose), FAR, atol=1e-9)
    bench.until(lambda: node.twists, 'a twist from the difference of poses',
                act=lambda: send(FAR))
    np.testing.assert_allclose(node.twist_at(ns(node.twists[0])), 0.0, atol=1e-6)


def test_floats_that_waited_are_as_old_as_they_are(bench, floats):
    """Else a motion of seconds, seen by a node that stood still, would be one of microseconds."""
    node, send = floats
    bench.until(lambda: node.twists, 'a pose and a twist', act=lambda: send(NEAR))
    with node.node.lock:
        for step in range(1, 4):
            pose, sent_ns, end_ns = moved(NEAR, TWIST, 0.2 * step), 0, time.time_ns()
            while end_ns - sent_ns > 20_000_000:  # further apart they are no set
                sent_ns = time.time_ns()
                send(pose)
                end_ns = time.time_ns()
            bench.until(lambda: time.time_ns() > sent_ns + 200_000_000, 'the time of a step')
    newest = bench.until(lambda: next(
        (p for p in node.poses if np.allclose(matrix(p.pose), pose, atol=1e-9)), None), 'the last')
    assert sent_ns <= ns(newest) < end_ns
    assert node.status_at(ns(newest)).age > 0.15
