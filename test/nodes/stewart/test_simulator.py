# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The simulator: rate, duration, noise, dropouts, delay, its truth, and both nodes together."""

import re

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from support.bench.pose_bench import GEOMETRY, HOME, LEGS, matrix, ns, stamp_of

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.stewart import leg_lengths, load_geometry

pytestmark = pytest.mark.ros
RATE, DURATION = 200.0, 0.5  # Hz, s
SAMPLES, KEPT = 100, 74  # the latter by the seed of the dropouts
SENSOR_DATA = QoSProfile(depth=2 * SAMPLES, reliability=ReliabilityPolicy.BEST_EFFORT)


class Record:
    """Messages of a simulator until its motion was over, and their ages at arrival."""

    def __init__(self, bench, legs=SAMPLES, **parameters):
        """Run one motion to its end, from which so many messages of legs come."""
        self.legs, self.truths, self.ages = [], {}, []
        clock = bench.partner.get_clock()

        def take(message):
            self.legs.append(message)
            self.ages.append(1e-9 * (clock.now().nanoseconds - ns(message)))

        bench.partner.create_subscription(JointState, 'leg_states', take, SENSOR_DATA)
        truths = bench.collect(PoseStamped, 'true_pose', 2 * SAMPLES)
        node = bench.start(StewartSimulatorNode, wait_for_nodes=[bench.partner.get_name()], **{
            'rate': RATE, 'duration': DURATION, 'rise_time': 0.2, **parameters})
        bench.until_logged(node, 'motion over', LoggingSeverity.INFO)
        bench.until(lambda: len(truths) == SAMPLES and len(self.legs) == legs, 'every sample')
        self.frames = {pose.header.frame_id for pose in truths}
        self.truths = {ns(pose): matrix(pose.pose) for pose in truths}

    @property
    def length_errors(self):
        """Return reported less true lengths, a row for a message."""
        return np.array([
            np.array(message.position) - leg_lengths(GEOMETRY, self.truths[ns(message)])
            for message in self.legs])


def set_clock(bench, node, clock, now_ns):
    """Publish a time on a node's clock until the node has it."""
    bench.until(lambda: node.get_clock().now().nanoseconds == now_ns, 'the clock',
                act=lambda: clock.publish(Clock(clock=stamp_of(now_ns))))


@pytest.mark.smoke
def test_lengths_are_those_of_the_true_pose_at_every_stamp(bench):
    record = Record(bench)
    assert [list(message.name) for message in record.legs] == [LEGS] * SAMPLES
    np.testing.assert_allclose(record.length_errors, 0.0, atol=1e-12)
    assert [ns(message) for message in record.legs] == list(record.truths)
    np.testing.assert_allclose(np.diff(list(record.truths)), 1e9 / RATE, atol=1.0)
    assert record.frames == {'stewart_base'}


def test_eight_wires_are_simulated_with_their_rates(bench):
    robot = load_geometry(config_file('stewart_cable_robot.yaml'))
    record = Record(bench, geometry_file=str(config_file('stewart_cable_robot.yaml')),
                    home_position=[0.0, 0.0, 1.2])
    assert [list(message.name) for message in record.legs] == [list(robot.leg_names)] * SAMPLES
    true = leg_lengths(robot, np.array([record.truths[ns(message)] for message in record.legs]))
    lengths, rates = (np.array([getattr(message, kind) for message in record.legs])
                      for kind in ('position', 'velocity'))
    np.testing.assert_allclose(lengths, true, atol=1e-12)
    np.testing.assert_allclose(
        rates[1:-1], 0.5 * RATE * (true[2:] - true[:-2]), atol=5e-3)
    assert np.abs(rates).max() > 0.1


def test_motion_starts_at_home_and_moves_smoothly(bench):
    record = Record(bench)
    lengths = np.array([message.position for message in record.legs])
    velocities = np.array([message.velocity for message in record.legs])
    np.testing.assert_allclose(next(iter(record.truths.values())), HOME, atol=1e-12)
    np.testing.assert_allclose(velocities[0], 0.0, atol=1e-12)
    assert np.ptp(lengths, axis=0).min() > 1e-3
    differences = (lengths[2:] - lengths[:-2]) * RATE / 2.0
    np.testing.assert_allclose(velocities[1:-1], differences, atol=5e-3)


def test_no_rates_where_none_are_wanted(bench):
    assert all(len(message.velocity) == 0
               for message in Record(bench, publish_leg_rates=False).legs)


def test_noise_has_the_standard_deviation_asked_for(bench):
    errors = Record(bench, length_noise=0.002, seed=7).length_errors
    assert errors.size == 6 * SAMPLES
    np.testing.assert_allclose(errors.std(), 0.002, rtol=0.1)
    np.testing.assert_allclose(errors.mean(), 0.0, atol=5 * 0.002 / np.sqrt(errors.size))


def test_dropouts_lose_leg_states_and_no_truth(bench):
    record = Record(bench, legs=KEPT, dropout_probability=0.3, seed=7)
    assert len(record.truths) == SAMPLES
    assert len(record.legs) == KEPT
    np.testing.assert_allclose(record.length_errors, 0.0, atol=1e-12)


def test_delay_is_the_least_age_of_what_comes(bench):
    record = Record(bench, delay=0.05)
    assert len(record.legs) == SAMPLES
    assert min(record.ages) >= 0.05
    np.testing.assert_allclose(record.length_errors, 0.0, atol=1e-12)


@pytest.mark.parametrize('actuators', [
    'joint_state', 'joint_state_topics', 'float64_topics', 'float64_array'])
def test_the_pose_node_tracks_the_simulator_in_every_form(bench, actuators):
    """By a clock that is the test's, as a Float64 is stamped with its time of arrival."""
    poses, truths = bench.collect(PoseStamped, 'pose'), bench.collect(PoseStamped, 'true_pose')
    form = {'actuators': actuators, 'actuator_scale': [0.5, -0.5, 2.0, 0.1, 1.0, -3.0],
            'actuator_offset': [0.1, 0.9, -0.4, 0.2, 0.0, 1.5], 'use_sim_time': True}
    clocks = {  # the pose node's is ahead
        bench.start(StewartPoseNode, **form): bench.publisher(Clock, '/clock'),
        bench.start(StewartSimulatorNode, ['--ros-args', '-r', '/clock:=clock'], rate=100.0,
                    **form): bench.publisher(Clock, 'clock')}
    outputs = [publisher for node in clocks for publisher in node.publishers
               if re.search('/(pose|true_pose|leg_states.*)$', publisher.topic_name)]
    bench.until(lambda: all(output.get_subscription_count() for output in outputs), 'listeners')

    def step(now_ns):
        for node, clock in clocks.items():
            set_clock(bench, node, clock, now_ns)
        bench.until(lambda: poses and truths and ns(poses[-1]) == ns(truths[-1]) == now_ns,
                    f'a pose and the truth of {now_ns} ns')

    for now_ns in range(1_000_000_000_000, 1_000_500_000_000, 10_000_000):
        step(now_ns)
        np.testing.assert_allclose(
            matrix(poses[-1].pose), matrix(truths[-1].pose), atol=1e-9)
    assert np.abs(matrix(poses[-1].pose) - HOME).max() > 0.01


@pytest.mark.parametrize('form', ['joint_state', 'float64_topics'])
def test_the_motion_waits_for_nodes_by_their_names(bench, form):
    """A recorder alone, which hears all topics, does not start it."""
    truths = bench.collect(PoseStamped, 'true_pose')
    topics = (['leg_states'] if form == 'joint_state' else [f'leg_states/{leg}' for leg in LEGS])
    kind = JointState if form == 'joint_state' else Float64
    for topic in topics:
        bench.collect(kind, topic, SENSOR_DATA)
    node = bench.start(StewartSimulatorNode, rate=RATE, actuators=form,
                       wait_for_nodes=['follower', bench.partner.get_name()])
    bench.until_logged(node, "the motion waits for ['follower']", LoggingSeverity.WARN)
    assert not truths
    follower = bench.adopt(Node('follower', context=bench.partner.context,
                                namespace=bench.namespace))
    for topic in topics:
        assert not truths
        follower.create_subscription(kind, topic, lambda _: None, SENSOR_DATA)
    bench.until(lambda: truths, 'the motion')


def test_the_motion_starts_again_where_the_clock_is_set(bench):
    truths = bench.collect(PoseStamped, 'true_pose')
    bench.collect(JointState, 'leg_states', SENSOR_DATA)
    node = bench.start(StewartSimulatorNode, rate=100.0, rise_time=0.01, use_sim_time=True,
                       wait_for_nodes=[bench.partner.get_name()])
    clock = bench.publisher(Clock, '/clock')
    outputs = [publisher for publisher in node.publishers
               if re.search('/(true_pose|leg_states)$', publisher.topic_name)]
    bench.until(lambda: all(output.get_subscription_count() for output in outputs), 'listeners')

    def play(begin_ns):
        """Run the clock for 0.3 s and return the true poses of that time."""
        end_ns = begin_ns + 300_000_000
        for now_ns in range(begin_ns, end_ns, 10_000_000):
            set_clock(bench, node, clock, now_ns)
            if now_ns > begin_ns + 20_000_000:  # a timer's first period begins with the clock
                bench.until(lambda: truths and now_ns - 20_000_000 < ns(truths[-1]) < end_ns,
                            'a true pose')
        return [matrix(truth.pose) for truth in truths if begin_ns <= ns(truth) < end_ns]

    for begin_ns in (1_000_000_000_000, 100_000_000_000, 200_000_000_000):
        poses = play(begin_ns)
        np.testing.assert_allclose(poses[0], HOME, atol=1e-12)
        assert len(poses) > 10
        assert poses[-1][0, 3] != 0.0
    assert len(truths) < 1000
    bench.until_logged(node, 'the clock was set', LoggingSeverity.WARN)


@pytest.mark.parametrize(('shift', 'duration', 'fits'), [
    (0.06, 0.0, True), (0.9, 0.0, False), (0.9, 0.01, True)])
def test_a_motion_beyond_the_travel_is_refused(bench, shift, duration, fits):
    node = bench.start(StewartSimulatorNode, rate=100.0, duration=duration,
                       amplitudes=[0.0, 0.0, 0.0, shift, 0.0, 0.0])
    node.get_logger().error('the end')
    bench.until_logged(node, 'the end')
    assert any('not configured: amplitudes: ' in line for line in bench.logged(node)) != fits


def test_default_amplitudes_are_scaled_to_what_the_horns_of_servos_reach(bench):
    node = bench.start(
        StewartSimulatorNode, rate=100.0, geometry_file=str(config_file('stewart_servos.yaml')))
    bench.until_logged(node, 'of the default, as', LoggingSeverity.INFO)
    assert bench.logged(node) == []


def test_every_tick_has_its_sample_though_the_first_was_late(bench):
    truths = bench.collect(PoseStamped, 'true_pose')
    node = bench.start(StewartSimulatorNode, rate=100.0, use_sim_time=True)
    clock, begin_ns = bench.publisher(Clock, '/clock'), 1_000_000_000_000
    bench.until(lambda: all(
        publisher.get_subscription_count() for publisher in node.publishers
        if publisher.topic_name.endswith('/true_pose')), 'a listener')
    set_clock(bench, node, clock, begin_ns + 4_000_000)  # ticks are due every 10 ms from zero
    bench.until(lambda: truths, 'the first sample')
    for stamp_ns in range(begin_ns + 10_000_000, begin_ns + 200_000_000, 10_000_000):
        set_clock(bench, node, clock, stamp_ns)
        bench.until(lambda: ns(truths[-1]) == stamp_ns, f'the sample of {stamp_ns} ns')
    assert [ns(truth) for truth in truths] == list(range(begin_ns, stamp_ns + 1, 10_000_000))


@pytest.mark.parametrize(('rate', 'step', 'late'), [
    (5000.0, 0.034, True), (1000.0, 0.005, False), (100.0, 0.1, True), (10.0, 0.25, False)])
def test_it_says_when_it_does_not_keep_its_rate(bench, rate, step, late):
    """The clock stands still for a step, as for a process that is not woken for so long."""
    node, reports = bench.start(StewartSimulatorNode, rate=rate, use_sim_time=True), []
    node._publish_diagnostics = reports.append
    clock, now_ns = bench.publisher(Clock, '/clock'), 1_000_000_000_000
    set_clock(bench, node, clock, now_ns)
    bench.until(lambda: node._begin_ns is not None, 'the first sample')
    set_clock(bench, node, clock, now_ns := now_ns + round(1e9 * step))
    bench.until(lambda: node._begin_ns + 1e9 * node._next.time > now_ns, 'all that are due')
    node._report()
    found = [({value.key: float(value.value) for value in status.values}, status)
             for report in reports for status in report.status]
    assert sum(values['samples'] for values, _ in found) == round(rate * node._next.time)
    values, status = max(found, key=lambda each: each[0].get('age greatest, ms', 0.0))
    assert step - 1.0 / rate <= 1e-3 * values['age greatest, ms'] + 1e-5 <= step + 2e-5
    warning = f'too slow for {rate:g} Hz: a sample was published ' if late else 'at the required'
    assert status.message.startswith(warning)
    assert status.level == (DiagnosticStatus.WARN if late else DiagnosticStatus.OK)
    node.get_logger().warning('the end')
    bench.until_logged(node, 'the end', LoggingSeverity.WARN)
    logged = bench.logged(node, LoggingSeverity.WARN)
    assert any(f'too slow for {rate:g} Hz' in line for line in logged) == late
