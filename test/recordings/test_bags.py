# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bags are read as they were written, whole or damaged; others are refused by name."""

import re

import numpy as np
import pytest
from rosbags.rosbag2 import Reader
from support.comparison import assert_same
from support.recordings.bag_files import (
    as_messages, JOINT_STATE, joint_state, START_NS, states, STORE, TYPE_OF, write_bag, write_mcap)
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    DescriptionError, LiedynError, LimitError, NameSetError, NotFiniteError, ShapeError,
    StampError)
from liedyn_ros.recordings import read_samples
from liedyn_ros.recordings.bags import Bag
from liedyn_ros.recordings.bags.joint_state_layout import JointStateLayout
from liedyn_ros.recordings.bags.joint_states import joint_samples, joint_state_messages

NAMES = 'shoulder', 'elbow', 'wrist'
COUNT = 400


def written(count=COUNT):
    data = states(NAMES, count)
    return data, as_messages(NAMES, *data)


def by_rosbags(path, storage, compressed):
    data, messages = written()
    return data, write_bag(path / 'bag', messages, storage=storage, compressed=compressed)


def by_mcap(path, compression):
    data, messages = written()
    write_mcap(path / 'bag.mcap', messages, compression=compression)
    return data, path / 'bag.mcap'


FILES = {
    'mcap': lambda path: by_rosbags(path, 'mcap', False),
    'sqlite': lambda path: by_rosbags(path, 'sqlite3', False),
    'mcap, plain': lambda path: by_mcap(path, ''),
    'mcap, zstd': lambda path: by_mcap(path, 'zstd'),
    'mcap, lz4': lambda path: by_mcap(path, 'lz4')}


@pytest.mark.parametrize('write', FILES.values(), ids=FILES)
def test_samples_are_those_that_were_written(write, tmp_path):
    (stamps, *blocks), path = write(tmp_path)
    order = [2, 0, 1]
    found = read_samples([path], [NAMES[k] for k in order])
    assert found.remarks == () and found.start_ns == stamps[0]
    assert_same(found.time, (stamps - stamps[0]) / 1e9)
    for got, expected in zip((found.position, found.velocity, found.effort), blocks):
        assert np.array_equal(got, expected[:, order])
    assert Bag(path).counts['/joint_states'] == COUNT


@pytest.mark.parametrize('counts', ([0, 0, 1, 0, 1], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]))
def test_a_joint_that_rests_between_two_counts_is_one_motion(tmp_path, counts):
    """Half of its steps or all are a count, where those of two samples are none."""
    stamps, q, v, tau = states(NAMES, COUNT)
    q[:, 1] = 1e-4 * np.tile(counts, COUNT // len(counts))
    path = write_bag(tmp_path / 'bag', as_messages(NAMES, stamps, q, v, tau))
    assert np.array_equal(read_samples([path], NAMES).position, q)


def test_a_single_file_of_sqlite_and_one_of_mcap_are_bags(tmp_path):
    _, messages = written()
    for storage, suffix in (('mcap', '.mcap'), ('sqlite3', '.db3')):
        folder = write_bag(tmp_path / storage, messages, storage=storage)
        (path,) = folder.glob(f'*{suffix}')
        assert len(read_samples([path], NAMES).time) == COUNT


def test_a_bag_whose_recorder_was_killed_is_read_in_the_order_of_its_files(tmp_path):
    _, messages = written(240)
    for k in range(12):
        write_mcap(tmp_path / f'bag_{k}.mcap', messages[20 * k:20 * k + 20])
    found = read_samples([tmp_path], NAMES)
    assert len(found.time) == 240 and found.remarks == ()


@pytest.mark.parametrize('share', [0.05, 0.3, 0.6, 0.95])
def test_all_messages_before_a_cut_are_saved(share, tmp_path):
    """The witness looks for the bytes of each message in what is left of the file."""
    _, messages = written()
    path = tmp_path / 'cut.mcap'
    each = write_mcap(path, messages)
    left = path.read_bytes()
    left = left[:int(share * len(left))]
    path.write_bytes(left)
    whole = [data in left for data in each]
    bag = Bag(path)
    found = joint_samples(bag, NAMES)
    assert len(found.time) == sum(whole) > 0
    assert re.match(r'cut.mcap: \d+ bytes lost from byte \d+: the file ends there',
                    found.remarks[0])


def test_messages_that_metadata_counts_and_files_lack_are_told_at_the_opening(tmp_path):
    write_mcap(tmp_path / 'bag.mcap', written(40)[1])
    (tmp_path / 'metadata.yaml').write_text(
        'rosbag2_bagfile_information:\n  message_count: 100\n'
        '  relative_file_paths: [bag.mcap]\n')
    loss, = Bag(tmp_path).losses
    assert loss.what == '60 of 100 messages lost'


@pytest.mark.parametrize('compression', ['zstd', 'lz4'])
def test_of_a_compressed_chunk_that_is_cut_off_the_beginning_is_read(compression, tmp_path):
    data, messages = written(2000)
    path = tmp_path / 'cut.mcap'
    write_mcap(path, messages, compression=compression, chunk=10**9)  # one chunk
    whole = path.read_bytes()
    path.write_bytes(whole[:len(whole) * 6 // 10])
    found = read_samples([path], NAMES)
    count = len(found.time)
    assert 600 < count < 2000
    assert np.array_equal(found.effort, data[3][:count])


def test_a_chunk_with_a_changed_byte_is_left_out_and_told(tmp_path):
    (stamps, position, *_), messages = written()
    path = tmp_path / 'changed.mcap'
    each = write_mcap(path, messages)
    content = bytearray(path.read_bytes())
    content[content.find(each[200]) + 50] ^= 0xff
    path.write_bytes(content)
    found = read_samples([path], NAMES)
    assert COUNT - 120 < len(found.time) < COUNT and 'wrong checksum' in found.remarks[0]
    kept = np.isin(stamps, found.start_ns + np.round(1e9 * found.time).astype(np.int64))
    assert not kept[200] and np.array_equal(found.position, position[kept])


def test_rosbags_reads_the_same_messages(tmp_path):
    _, messages = written()
    path = write_bag(tmp_path / 'bag', messages)
    with Reader(path) as reader:
        expected = [STORE.deserialize_cdr(data, JOINT_STATE).effort
                    for _, _, data in reader.messages(reader.connections)]
    got = [each.effort for each in joint_state_messages(Bag(path))]
    assert np.array_equal(got, expected)


def test_messages_of_other_joints_on_the_topic_are_passed_over(tmp_path):
    data, messages = written()
    gripper = [(stamp + 1, joint_state(stamp + 1, ['finger'], [0.1])) for stamp, _ in messages]
    mixed = sorted(messages + gripper, key=lambda pair: pair[0])
    found = read_samples([write_bag(tmp_path / 'bag', mixed)], NAMES)
    assert np.array_equal(found.position, data[1])
    assert found.remarks == (f'{COUNT} messages without all of these joints left out',)


def changed(change):
    """Return a writer of a bag whose columns are changed first."""
    def write(path):
        data, _ = written()
        return write_bag(path / 'bag', as_messages(NAMES, *change(*data)))
    return write


def at(index, value):
    def change(block):
        block = block.copy()
        block[index] = value
        return block
    return change


def foreign(path):
    text = TYPE_OF['std_msgs/msg/String']
    return write_bag(path / 'bag', [(START_NS, text(data='hello'))], topic='/chatter')


def empty_file(path):
    (path / 'bag.mcap').touch()
    return path / 'bag.mcap'


def no_mcap(path):
    (path / 'bag.mcap').write_bytes(b'\x89PNG\r\n and more')
    return path / 'bag.mcap'


def no_sqlite(path):
    (path / 'bag.db3').write_bytes(b'SQLite format 3\0' + bytes(5000))
    return path / 'bag.db3'


def ros_1(path):
    (path / 'old.bag').write_bytes(b'#ROSBAG V2.0\n')
    return path / 'old.bag'


def without_messages(path):
    _, messages = written()
    write_mcap(path / 'bag.mcap', messages)
    content = (path / 'bag.mcap').read_bytes()
    (path / 'bag.mcap').write_bytes(content[:40])
    return path / 'bag.mcap'


def alternating(stamps):
    """Return stamps that step back every second time."""
    return stamps + np.where(np.arange(len(stamps)) % 2, -25_000_000, 0)


BAD = {
    'nothing there': (lambda path: path / 'bag', DescriptionError, ANY),
    'empty folder': (lambda path: path, DescriptionError, ANY),
    'empty file': (empty_file, DescriptionError, ANY),
    'no MCAP': (no_mcap, DescriptionError, ANY),
    'no SQLite': (no_sqlite, DescriptionError, ANY),
    'ROS 1': (ros_1, DescriptionError, ANY),
    'no messages': (without_messages, DescriptionError, ANY),
    'other topics': (foreign, NameSetError, ANY),
    'two clocks': (changed(lambda stamps, *rest: (np.where(
        np.arange(COUNT) < 100, stamps, stamps - START_NS), *rest)),
        StampError, 'joint states'),
    'two publishers': (changed(lambda stamps, *rest: (alternating(stamps), *rest)), StampError,
                       'joint states'),
    'two motions': (changed(lambda stamps, q, v, tau: (
        stamps, q + 30.0 * np.outer(np.arange(COUNT) % 2, np.arange(q.shape[1]) == 1), v, tau)),
        LimitError, 'elbow'),
    'no stamps': (changed(lambda stamps, *rest: (0 * stamps, *rest)), StampError, 'joint states'),
    'one stamp': (changed(lambda stamps, *rest: (0 * stamps + START_NS, *rest)), StampError,
                  'joint states'),
    'NaN': (changed(lambda stamps, q, v, tau: (stamps, at((slice(None), 1), np.nan)(q), v, tau)),
            NotFiniteError, 'elbow'),
    'no positions': (changed(lambda stamps, q, v, tau: (stamps, q[:, :0], v, tau)), ShapeError,
                     'joint states'),
    'two positions': (changed(lambda stamps, q, v, tau: (stamps, q[:, :2], v, tau)), ShapeError,
                      'joint states')}


@pytest.mark.parametrize('write, error, named', BAD.values(), ids=BAD)
def test_bags_that_tell_nothing_are_refused(write, error, named, tmp_path):
    with refused(error, named):
        read_samples([write(tmp_path)], NAMES)


def test_joints_and_topics_that_are_missing_are_named(tmp_path):
    _, messages = written()
    path = write_bag(tmp_path / 'bag', messages)
    with refused(NameSetError, 'ankle'):
        read_samples([path], ['elbow', 'ankle'])
    with refused(NameSetError, '/joint_state', got='/joint_state'):
        read_samples([path], NAMES, topic='/joint_state')
    with refused(LiedynError, 'recording'):
        read_samples([path, path], NAMES)


def test_a_quantity_that_is_nan_and_not_asked_for_is_left_out(tmp_path):
    write = changed(lambda stamps, q, v, tau: (
        stamps, q, v, at((slice(None), 1), np.nan)(tau)))
    found = read_samples([write(tmp_path)], NAMES)
    assert found.effort is None and found.velocity is not None
    assert 'effort of elbow with 100 % NaN' in found.remarks[0]


def test_publishers_of_one_topic_are_merged_by_time(tmp_path):
    """The second sends half as often, 2 ms later, and begins and ends elsewhere."""
    stamps, q, v, tau = states(NAMES, COUNT)
    there = np.arange(20, COUNT - 20, 2)
    later = stamps[there] + 2_000_000
    messages = sorted([*as_messages(NAMES[:1], stamps, q[:, :1], v[:, :1], tau[:, :1]),
                       *as_messages(NAMES[1:], later, q[there, 1:], v[there, 1:], tau[there, 1:])],
                      key=lambda each: each[0])
    path = write_bag(tmp_path / 'bag', messages)
    found = read_samples([path], NAMES)
    assert len(found.time) == len(there)
    assert_same(found.position[:, 1:], q[there, 1:])
    assert_same(found.position[:, 0], np.interp(
        later - stamps[0], stamps - stamps[0], q[:, 0]))
    assert NAMES[0] in found.remarks[0] and 'interpolated' in found.remarks[0]


def test_publishers_with_less_are_told_and_angles_go_the_short_way(tmp_path):
    """One publisher has no efforts; the other's angle starts anew at half a turn."""
    stamps, q, v, tau = states(NAMES, COUNT)
    turned = np.linspace(0.0, 20.0, COUNT)
    q[:, 0] = (turned + np.pi) % (2.0 * np.pi) - np.pi
    later, none = stamps[:-2] + 2_000_000, np.empty((COUNT - 2, 0))
    messages = sorted([*as_messages(NAMES[:1], stamps, q[:, :1], v[:, :1], tau[:, :1]),
                       *as_messages(NAMES[1:], later, q[:-2, 1:], v[:-2, 1:], none)],
                      key=lambda each: each[0])
    found = read_samples([write_bag(tmp_path / 'bag', messages)], NAMES)
    assert found.velocity is not None and found.effort is None and found.silent == NAMES[1:]
    assert any(each.startswith('effort not read: ') and NAMES[1] in each for each in found.remarks)
    there = np.interp(found.time, (stamps - found.start_ns) / 1e9, turned)
    assert_same(np.cos(found.position[:, 0] - there), np.ones(len(there)))


def test_efforts_of_several_publishers_are_no_angles(tmp_path):
    """A friction of 1.8 N m changes its sign from one message to the next."""
    stamps, q, _, _ = states(NAMES, COUNT)
    there, later = np.arange(0, COUNT - 1, 2), stamps + 2_000_000
    tau = np.where(np.arange(COUNT) // 5 % 2, 1.8, -1.8)[:, None]
    messages = sorted([*as_messages(NAMES[:1], stamps, q[:, :1], tau, tau),
                       *as_messages(NAMES[1:], later[there], *3 * [q[there, 1:]])],
                      key=lambda each: each[0])
    found = read_samples([write_bag(tmp_path / 'bag', messages)], NAMES)
    expected = np.interp(later[there] - stamps[0], stamps - stamps[0], tau[:, 0])
    for values in (found.velocity, found.effort):
        assert_same(values[:, 0], expected)


@pytest.mark.parametrize('change, remark', [
    (lambda stamps, *rest: (at(50, stamps[48] + 10)(stamps), *rest),
     '1 samples came late and were put in their place'),
    (lambda stamps, *rest: (at(50, stamps[49])(stamps), *rest),
     '1 samples with the stamp of another left out'),
    (lambda stamps, q, v, tau: (stamps, at((7, 2), np.inf)(q), v, tau),
     '1 of 400 samples left out: NaN or infinite')], ids=['late', 'repeated', 'infinite'])
def test_few_faults_are_left_out_and_told(change, remark, tmp_path):
    found = read_samples([changed(change)(tmp_path)], NAMES)
    assert found.remarks == (remark,)
    assert (np.diff(found.time) > 0.0).all() and len(found.time) >= COUNT - 1


def test_arrival_takes_the_place_of_stamps_on_demand(tmp_path):
    stamps, *blocks = states(NAMES, COUNT)
    messages = [(stamp, joint_state(0, NAMES, *rows))
                for stamp, (_, *rows) in zip(stamps.tolist(), zip(stamps, *blocks))]
    found = read_samples([write_bag(tmp_path / 'bag', messages)], NAMES, arrival=True)
    assert_same(found.time, (stamps - stamps[0]) / 1e9)


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.full
def test_bytes_changed_at_random_raise_no_other_error(seed, tmp_path):
    _, messages = written(100)
    path = tmp_path / 'bag.mcap'
    write_mcap(path, messages, compression=('', 'zstd', 'lz4')[seed], chunk=3000)
    content, rng = path.read_bytes(), np.random.default_rng(seed)
    for _ in range(60):
        bad = bytearray(content)
        for place in rng.integers(len(bad), size=3):
            bad[place] = rng.integers(256)
        path.write_bytes(bad)
        try:
            found = read_samples([path], NAMES)
        except LiedynError:
            continue
        assert len(found.time) <= 100


FRAMES = '', 'a', 'base', 'base_link', 'ä'
LISTS_OF_NAMES = (), ('a',), ('', 'elbow'), ('leg_1', 'leg_2', 'leg_3'), ('größe', 'x' * 300)


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
@pytest.mark.parametrize('names', LISTS_OF_NAMES, ids=len)
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
