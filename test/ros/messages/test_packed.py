# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Messages as bytes: equal to the middleware's bytes of the filled message, and read back."""

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.stewart.pose.outputs import POSE_PATHS
from liedyn_ros.ros.messages import packed as packing
from liedyn_ros.ros.messages.packed import (
    EncodingError, JointStateReader, PackedJointState, PackedMessage, PackedPublisher,
    STAMP_FIELDS)
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart.reports.kernels.messages import STATUS

pytestmark = pytest.mark.ros
NAMES = ['a', 'bcd', 'leg_3', '']


def joint_state(names=NAMES, frame='base', velocities=True, efforts=0, stamp=(12, 345), seed=0):
    rng = np.random.default_rng(seed)
    message = JointState(name=names, position=rng.normal(size=len(names)).tolist())
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    message.header.frame_id = frame
    if velocities:
        message.velocity = rng.normal(size=len(names)).tolist()
    message.effort = rng.normal(size=efforts).tolist()
    return message


@pytest.mark.parametrize('frame', ['', 'a', 'base_link', 'stewart_base'])
def test_a_packed_pose_is_the_filled_one(frame):
    message, numbers = PoseStamped(), [0.1, -2.0, 3e300, 0.5, -0.5, 0.5, 0.5]
    message.header.frame_id = frame
    packed = PackedMessage(message, (*STAMP_FIELDS, *POSE_PATHS))
    message.header.stamp.sec, message.header.stamp.nanosec = 1_700_000_000, 999_999_999
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = numbers
    for _ in range(2):
        raw = packed.pack((1_700_000_000, 999_999_999, *numbers))
        assert deserialize_message(raw, PoseStamped) == message


def test_integers_and_arrays_of_fixed_size_stand_where_they_belong():
    packed = PackedMessage(StewartStatus(), (*STAMP_FIELDS, *STATUS))
    lengths, bound = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6]
    raw = packed.pack((3, 4, StewartStatus.START_HOME, 65535, 1e-9, 0.25, 2e-6, *lengths, 73729,
                       -1, 1, 0.01, float('inf'), 1e-5, 0.1, *bound, -0.002, 4_000_000_000, 2))
    message = StewartStatus(
        start=1, iterations=65535, residual=1e-9, smallest_singular_value=0.25, solve_time=2e-6,
        length=lengths, flags=73729, determinant_sign=-1, expected_determinant_sign=1,
        prediction_gap=0.01, time_to_singularity=float('inf'), error_radius=1e-5,
        uniqueness_radius=0.1, error_bound=bound, age=-0.002, passed_over=4_000_000_000,
        branch_source=StewartStatus.BRANCH_SOURCE_MOTION)
    message.header.stamp.sec, message.header.stamp.nanosec = 3, 4
    assert deserialize_message(raw, StewartStatus) == message


def test_a_covariance_is_one_field():
    packed = PackedMessage(PoseWithCovarianceStamped(), ('pose.covariance',))
    covariance = np.arange(36.0)
    message = deserialize_message(packed.pack(covariance.tolist()), PoseWithCovarianceStamped)
    np.testing.assert_array_equal(message.pose.covariance, covariance)


@pytest.mark.parametrize('parts', [('position',), ('position', 'velocity', 'effort')])
def test_arrays_keep_their_size(parts):
    message = joint_state(velocities='velocity' in parts, efforts=4 * ('effort' in parts))
    packed, numbers = PackedMessage(message, (*STAMP_FIELDS, *parts)), np.arange(4.0 * len(parts))
    read = deserialize_message(packed.pack((5, 6, *numbers)), JointState)
    assert (read.header.stamp.sec, read.header.stamp.nanosec, read.name) == (5, 6, NAMES)
    np.testing.assert_array_equal([*read.position, *read.velocity, *read.effort], numbers)


def test_a_reader_reads_the_same_from_known_and_other_messages():
    reader = JointStateReader('/joints', NAMES)
    for seed in range(3):
        for kind in ({}, {'velocities': False}, {'names': NAMES[:3]}, {'efforts': 4}):
            message = joint_state(seed=seed, stamp=(seed, 8), **kind)
            readings = reader.read(serialize_message(message))
            assert readings.stamp_ns == seed * 1_000_000_000 + 8
            assert list(readings.names) == message.name
            for got, wanted in zip(readings[2:], (
                    message.position, message.velocity, message.effort)):
                np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize('known', [False, True])
@pytest.mark.parametrize('spoil', [
    lambda raw: b'', lambda raw: raw[:5], lambda raw: raw[:40], lambda raw: b'\7\7' + raw[2:],
    lambda raw: raw[:24] + b'\xff\xff\xff\x7f' + raw[28:], lambda raw: b'\0\1\0\3',
    lambda raw: b'\0\0\1\1'],
    ids=['nothing', 'header', 'half', 'encoding', 'count', 'padding', 'other padding'])
def test_bytes_that_are_no_message_are_refused_by_the_name_of_their_topic(spoil, known):
    reader, raw = JointStateReader('/joints', NAMES), serialize_message(joint_state())
    if known:
        reader.read(raw)
    bad = spoil(raw)
    with refused(LiedynError, '/joints', got=len(bad)):
        reader.read(bad)
    assert list(reader.read(raw).names) == NAMES


@pytest.mark.parametrize('velocities', [False, True])
@pytest.mark.parametrize('efforts', [0, 4])
@pytest.mark.parametrize('frame', ['', 'a', 'stewart_base'])
def test_numbers_are_read_out_of_messages_of_a_known_kind(frame, velocities, efforts):
    kind = {'frame': frame, 'velocities': velocities, 'efforts': efforts}
    known = PackedJointState.of(serialize_message(joint_state(**kind)))
    assert known.names == NAMES
    for seed in (1, 2):
        message = joint_state(stamp=(seed, 7), seed=seed, **kind)
        readings = known.read(serialize_message(message))
        assert readings.stamp_ns == seed * 1_000_000_000 + 7
        np.testing.assert_array_equal(readings.positions, message.position)
        np.testing.assert_array_equal(readings.velocities, message.velocity)
        np.testing.assert_array_equal(readings.efforts, message.effort)


@pytest.mark.parametrize('other', [
    {'names': ['a', 'bcd', 'leg_4', '']}, {'names': NAMES[::-1]}, {'frame': 'bass'},
    {'names': NAMES[:3]}, {'velocities': False}, {'efforts': 1}])
def test_a_message_of_another_kind_is_not_read(other):
    known = PackedJointState.of(serialize_message(joint_state()))
    assert known.read(serialize_message(joint_state(**other))) is None


@pytest.mark.parametrize('change', [
    lambda raw: b'\0\0' + raw[2:], lambda raw: raw[:40], lambda raw: raw[:-16]])
def test_what_is_not_plain_or_not_whole_is_not_learnt(change):
    assert PackedJointState.of(change(serialize_message(joint_state()))) is None


def big_endian(message):
    """Return the bytes of a message with those of each 8 in reverse order, as elsewhere."""
    raw = serialize_message(message)
    return b'\0\0\0\0' + b''.join(raw[at:at + 8][::-1] for at in range(4, len(raw), 8))


def misplaced(find):
    """Return a function that finds each number 8 bytes later."""
    def find_next(message, fields):
        return [(begin + 8, code) for begin, code in find(message, fields)]
    return find_next


@pytest.mark.parametrize(('name', 'fake'), [
    ('serialize_message', big_endian), ('_find', misplaced(packing._find))],
    ids=['no place', 'another place'])
def test_another_encoding_is_published_as_objects_with_one_warning(bench, monkeypatch, name, fake):
    monkeypatch.setattr(packing, name, fake)
    warnings = []
    monkeypatch.setattr(packing, 'get_logger', lambda _: Logger(warnings))
    packing._warn_of_encoding.cache_clear()
    fields = (*STAMP_FIELDS, *POSE_PATHS)
    with pytest.raises(EncodingError):
        PackedMessage(PoseStamped(), fields)
    node, received = bench.start(Plain), bench.collect(PoseStamped, 'pose')
    publishers = [PackedPublisher(node.open_publisher(PoseStamped, 'pose'), PoseStamped(), fields)
                  for _ in range(2)]
    assert len(warnings) == 1 and 'PoseStamped' in warnings[0]
    bench.until(lambda: received, 'a message', act=lambda: publishers[0].publish(
        (3, 4, 0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5)))
    pose, stamp = received[0].pose, received[0].header.stamp
    assert (stamp.sec, stamp.nanosec) == (3, 4)
    assert (pose.position.x, pose.position.z, pose.orientation.y) == (0.1, 0.3, -0.5)


class Plain(ManagedNode):
    """A node without anything of its own."""

    def __init__(self, **options):
        """Start."""
        super().__init__('plain', (), **options)


class Logger:
    """A logger that keeps warnings."""

    def __init__(self, warnings):
        """Take the list."""
        self.warning = warnings.append
