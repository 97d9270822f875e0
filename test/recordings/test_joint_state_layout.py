# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Joint states read by the places of their numbers are those that rosbags reads."""

import numpy as np
import pytest
from support.recordings.bag_files import JOINT_STATE, joint_state, START_NS, STORE, TYPE_OF

from liedyn_ros.recordings.bags.joint_state_layout import JointStateLayout

FRAMES = '', 'a', 'base', 'base_link', 'ä'
NAMES = (), ('a',), ('', 'elbow'), ('leg_1', 'leg_2', 'leg_3'), ('größe', 'x' * 300)


def data_of(rng, names, frame, kinds):
    """Return bytes whose quantities are there where kinds (3,) says so."""
    message = joint_state(int(START_NS + rng.integers(10**12)), names, *(
        rng.normal(size=len(names)) if kind else () for kind in kinds))
    header = TYPE_OF['std_msgs/msg/Header'](stamp=message.header.stamp, frame_id=frame)
    message.header = header
    return bytes(STORE.serialize_cdr(message, JOINT_STATE))


def same(found, message):
    stamp = message.header.stamp
    assert found[0] == stamp.sec * 10**9 + stamp.nanosec
    for got, expected in zip(found[1:], (message.position, message.velocity, message.effort)):
        assert got.dtype == np.float64 and np.array_equal(got, expected)


@pytest.mark.parametrize('frame', FRAMES)
@pytest.mark.parametrize('names', NAMES, ids=len)
def test_numbers_are_those_of_rosbags(names, frame):
    rng = np.random.default_rng(1)
    layout, = JointStateLayout.of(data_of(rng, names, frame, (1, 0, 0)), list(names))
    for kinds in np.ndindex(2, 2, 2):
        data = data_of(rng, names, frame, kinds)
        same(layout.read(data), STORE.deserialize_cdr(data, JOINT_STATE))
        assert layout.read(data[:-1]) is None or names == ()
        assert layout.read(data + bytes(4)) is None


def test_other_bytes_are_left_to_rosbags():
    rng = np.random.default_rng(2)
    data = data_of(rng, ('a', 'b'), 'base', (1, 1, 1))
    layout, = JointStateLayout.of(data, ['a', 'b'])
    assert layout.read(data_of(rng, ('a', 'c'), 'base', (1, 1, 1))) is None
    assert layout.read(data_of(rng, ('a', 'b'), 'bass', (1, 1, 1))) is None
    big = bytes((0, 0, *data[2:]))
    assert layout.read(big) is None and JointStateLayout.of(big, ['a', 'b']) == []
    assert JointStateLayout.of(data, ['a', 'c']) == []
    for size in range(len(data)):
        assert JointStateLayout.of(data[:size], ['a', 'b']) == []
        assert layout.read(data[:size]) is None


def test_damaged_bytes_end_no_reader():
    rng = np.random.default_rng(3)
    data = data_of(rng, ('shoulder', 'elbow'), 'base', (1, 0, 1))
    layout, = JointStateLayout.of(data, ['shoulder', 'elbow'])
    for k in range(len(data)):
        changed = data[:k] + bytes([data[k] ^ int(rng.integers(1, 256))]) + data[k + 1:]
        layout.read(changed)
        JointStateLayout.of(changed, ['shoulder', 'elbow'])
