# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node's input as one JointState: names, scale and offset, other joints, QoS."""

import numpy as np
import pytest
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from support.bench.pose_bench import FAR, GEOMETRY, LEGS, matrix, NEAR, PoseBench, rates_at

from liedyn_ros.ros.messages.packed import PackedJointState
from liedyn_ros.stewart import leg_lengths
from liedyn_ros.stewart.input.actuators import LegActuators

pytestmark = pytest.mark.ros
TWIST = np.array([0.1, -0.2, 0.15, 0.02, 0.03, -0.01])
SCALES = np.array([0.5, -0.25, 2.0, 0.001, 1.0, -3.0])
OFFSETS = np.array([0.1, 0.9, -0.4, 0.2, 0.0, 1.5])


@pytest.mark.smoke
def test_pose_of_lengths(tracking):
    node = tracking()
    stamp = node.send_pose(FAR)
    np.testing.assert_allclose(node.pose_at(stamp), FAR, atol=1e-9)


def test_names_are_matched_in_any_order(tracking):
    node, order = tracking(), [4, 2, 0, 5, 1, 3]
    lengths, rates = leg_lengths(GEOMETRY, NEAR), rates_at(NEAR, TWIST)
    stamp = node.send(lengths[order], [LEGS[k] for k in order], rates[order])
    np.testing.assert_allclose(node.pose_at(stamp), NEAR, atol=1e-9)
    np.testing.assert_allclose(node.twist_at(stamp), TWIST, atol=1e-7)


def test_scale_and_offset_turn_travel_into_length(bench):
    names = ['a', 'b', 'c', 'd', 'e', 'f']
    node = PoseBench(bench, actuator_names=names, actuator_scale=SCALES.tolist(),
                     actuator_offset=OFFSETS.tolist())
    lengths, rates = leg_lengths(GEOMETRY, NEAR), rates_at(NEAR, TWIST)
    bench.until(lambda: node.poses, 'a pose', act=lambda: node.send(
        (lengths - OFFSETS) / SCALES, names, rates / SCALES))
    np.testing.assert_allclose(matrix(node.poses[0].pose), NEAR, atol=1e-9)
    np.testing.assert_allclose(node.twist_at(node.stamp_ns), TWIST, atol=1e-7)
    np.testing.assert_allclose(node.statuses[0].length, lengths, atol=1e-14)


def test_sensors_beside_their_legs_give_their_lengths(bench):
    beside = np.array([0.05, 0.06, 0.0, 0.05, 0.04, 0.1])
    node = PoseBench(bench, actuator_beside=beside.tolist())
    lengths, rates = leg_lengths(GEOMETRY, NEAR), rates_at(NEAR, TWIST)
    readings = np.sqrt(lengths ** 2 - beside ** 2)
    bench.until(lambda: node.poses, 'a pose', act=lambda: node.send(
        readings, LEGS, rates * lengths / readings))
    np.testing.assert_allclose(matrix(node.poses[0].pose), NEAR, atol=1e-9)
    np.testing.assert_allclose(node.twist_at(node.stamp_ns), TWIST, atol=1e-7)


def test_other_joints_are_passed_over_where_they_are_expected(tracking):
    node = tracking(ignore_other_joints=True)
    stamp = node.send([7.0, *leg_lengths(GEOMETRY, FAR)], ['wheel', *LEGS])
    np.testing.assert_allclose(node.pose_at(stamp), FAR, atol=1e-9)


def test_the_subscription_takes_what_sensors_offer(tracking):
    node = tracking()
    topic = f'{node.node.get_namespace()}/leg_states'
    profile = node.node.get_subscriptions_info_by_topic(topic)[0].qos_profile
    assert profile.reliability is ReliabilityPolicy.BEST_EFFORT


def test_one_kernel_reads_what_names_and_numbers_say():
    names, order = ['x', *'fbdaec'], [4, 2, 6, 3, 5, 1]
    actuators = LegActuators(tuple('abcdef'), SCALES, OFFSETS, ignore_others=True)
    rng, position = np.random.default_rng(0), np.arange(7.0)

    def message(names=names, position=position):
        sent = JointState(name=names, position=position.tolist(), velocity=rng.normal(size=7))
        sent.header.stamp.sec, sent.header.stamp.nanosec = -3, 999_999_999
        return sent, serialize_message(sent)

    kind = PackedJointState.of(message()[1])
    kernel, lengths, rates = actuators.reader(kind.names, kind.tables, *kind.places[:2])
    for _ in range(3):
        sent, raw = message(position=rng.normal(size=7))
        assert kind.take(raw) and kernel() == (-3_000_000_000 + 999_999_999, True)
        np.testing.assert_array_equal(lengths, actuators.lengths(sent.name, sent.position))
        np.testing.assert_array_equal(rates, actuators.rates(sent.name, sent.velocity, lengths))
        np.testing.assert_array_equal(lengths, OFFSETS + SCALES * np.array(sent.position)[order])
    unread = np.where(np.arange(7) == 2, np.nan, position)
    for _, raw in (message(names=['x', *'fbdaeg']), message(position=unread)):
        assert kind.take(raw) and not kernel()[1]
    assert not kind.take(raw[:-1])
