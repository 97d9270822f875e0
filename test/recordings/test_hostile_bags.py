# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bags that mean harm, or were harmed: bombs, pipes, code for names, flipped bytes, a log."""

from contextlib import closing
import os
import random
import shutil
import sqlite3
import time

import lz4.frame
from mcap.writer import CompressionType, Writer as McapWriter
import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from support.recordings.bag_files import (
    as_messages, JOINT_STATE, START_NS, states, STORE, write_bag)
import zstandard

from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.recordings.bags import Bag
from liedyn_ros.recordings.bags.joint_states import joint_samples

NAMES = ['a', 'b']
SECONDS = 10.0  # of the processor; a bomb of 33 kB was not over after 15
EVIL = 'a/msg/B:\n    pass\nimport pathlib; pathlib.Path("ran").write_text("")\nclass C'
DEFINITION = 'std_msgs/Header header\nstring[] name\n'


def packets(count=200):
    """Return pairs of a time and the bytes of a JointState."""
    return [(int(stamp), bytes(STORE.serialize_cdr(message, JOINT_STATE)))
            for stamp, message in as_messages(NAMES, *states(NAMES, count))]


def mcap(path, pairs, schemas=(JOINT_STATE,), compression=CompressionType.NONE, crc=False):
    """Write pairs to a topic, by turns as messages of each schema."""
    with path.open('wb') as stream:
        writer = McapWriter(stream, compression=compression, enable_crcs=crc, chunk_size=4000)
        writer.start('ros2', 'test')
        channels = [writer.register_channel('/joint_states', 'cdr', writer.register_schema(
            name, 'ros2msg', DEFINITION.encode())) for name in schemas]
        for k, (stamp, data) in enumerate(pairs):
            writer.add_message(channels[k % len(channels)], stamp, data, stamp)
        writer.finish()
    return path


def test_bytes_beyond_a_message_are_no_fault(tmp_path):
    """Empty arrays leave some at the end of what rclpy serializes for a writer of bags."""
    bag = Bag(mcap(tmp_path / 'long.mcap', [(t, data + bytes(8)) for t, data in packets(5)]))
    efforts = [each.message.effort for each in bag.messages(['/joint_states'])]
    assert np.array_equal(efforts, states(NAMES, 5)[3]) and not bag.losses


def bomb(path, compression):
    """Write a file of a few kB whose only chunk unfolds to 1 GiB of zeros."""
    size = 2**30
    if compression == 'zstd':
        packer = zstandard.ZstdCompressor(level=3).compressobj()
        data = b''.join([*(packer.compress(bytes(2**24)) for _ in range(size >> 24)),
                         packer.flush()])
    else:
        with lz4.frame.LZ4FrameCompressor() as packer:
            data = b''.join([packer.begin(), *(packer.compress(bytes(2**24)) for _ in range(
                size >> 24)), packer.flush()])
    whole = mcap(path, packets(3)).read_bytes()
    name = compression.encode()
    chunk = (np.array([0, 0, size], '<u8').tobytes() + bytes(4)
             + np.uint32(len(name)).tobytes() + name + np.uint64(len(data)).tobytes() + data)
    head = 8 + 9 + int.from_bytes(whole[9:17], 'little')  # the magic and the record of the header
    path.write_bytes(whole[:head] + b'\x06' + np.uint64(len(chunk)).tobytes() + chunk
                     + whole[head:])
    return path


@pytest.mark.parametrize('text', [
    '\n'.join(['a0: &a0 {k: 1}', *(f'a{k}: &a{k} {{<<: [{", ".join([f"*a{k - 1}"] * 9)}]}}'
                                   for k in range(1, 10))]), 300_000 * '\n'],
    ids=['merges', 'lines'])
def test_a_list_of_files_that_takes_time_is_left_out(tmp_path, text):
    """Of nine merges in each of eight lines PyYAML makes 400 million keys."""
    write_bag(tmp_path / 'bag', as_messages(NAMES, *states(NAMES, 9)))
    (tmp_path / 'bag' / 'metadata.yaml').write_text(text)
    begin = time.process_time()
    assert Bag(tmp_path / 'bag').counts.total() == 9
    assert time.process_time() - begin < SECONDS


@pytest.mark.parametrize('compression', ['zstd', pytest.param('lz4', marks=pytest.mark.full)])
def test_a_chunk_that_unfolds_without_bound_is_left_out(tmp_path, compression):
    path = bomb(tmp_path / 'bomb.mcap', compression)
    begin = time.process_time()
    bag = Bag(path)
    samples = joint_samples(bag, NAMES)
    assert time.process_time() - begin < SECONDS
    assert len(samples.time) == 3
    assert any('bytes' in str(loss) for loss in bag.losses)


@pytest.mark.parametrize('mode', [CompressionMode.FILE, CompressionMode.MESSAGE])
def test_compressed_files_and_messages_are_read_and_bounded(tmp_path, mode, monkeypatch):
    writer = Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.SQLITE3)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection('/joint_states', JOINT_STATE, typestore=STORE)
        for stamp, data in packets():
            writer.write(connection, stamp, data)
    bag = Bag(tmp_path / 'bag')
    assert len(joint_samples(bag, NAMES).time) == 200
    assert bag.losses == []
    monkeypatch.setattr('liedyn_ros.recordings.bags.mcap_file.MAX_EXPANSION', 0)
    monkeypatch.setattr('liedyn_ros.recordings.bags.mcap_file.MAX_CHUNK_BYTES', 50)
    with pytest.raises(LiedynError) as caught:
        joint_samples(Bag(tmp_path / 'bag'), NAMES)
    assert 'bag' in str(caught.value)


@pytest.mark.parametrize('suffix', ['.mcap', '.db3'])
@pytest.mark.parametrize('inside', [False, True])
def test_a_pipe_is_not_waited_for(tmp_path, suffix, inside):
    path = tmp_path / f'pipe{suffix}'
    os.mkfifo(path)
    os.mkfifo(tmp_path / 'metadata.yaml')
    with pytest.raises(DescriptionError) as caught:
        Bag(tmp_path if inside else path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize('content', [b'\x89MCAP0\r\n', b'\x89MCAP0\r\n\x00', 2 * b'\x89MCAP0\r\n'])
def test_a_file_that_ends_at_its_beginning_is_named(tmp_path, content):
    path = tmp_path / 'short.mcap'
    path.write_bytes(content)
    with pytest.raises(DescriptionError) as caught:
        Bag(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize('seed', range(5))
def test_of_flipped_bytes_the_other_messages_are_read(tmp_path, seed):
    path = mcap(tmp_path / 'flipped.mcap', packets(2000))
    content, rng = bytearray(path.read_bytes()), random.Random(seed)
    middle = len(content) // 2
    for at in (rng.randrange(middle - 20_000, middle + 20_000) for _ in range(200)):
        content[at] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    bag = Bag(path)
    read = list(bag.messages(['/joint_states']))
    assert 1000 < len(read) <= 2000
    assert len(read) == 2000 or bag.losses


def test_messages_that_are_none_are_counted(tmp_path):
    pairs = packets()
    for k in (3, 50, 51):
        pairs[k] = pairs[k][0], pairs[k][1][:30] + b'\xff' * 40
    bag = Bag(mcap(tmp_path / 'bag.mcap', pairs))
    assert len(joint_samples(bag, NAMES).time) == 197
    loss, = bag.losses
    assert loss.what.startswith('3 messages')
    bag = Bag(mcap(tmp_path / 'none.mcap', [(stamp, b'\0\1\0\0x') for stamp, _ in pairs]))
    with pytest.raises(LiedynError) as caught:
        joint_samples(bag, NAMES)
    assert '200 messages' in str(caught.value)


def test_the_log_beside_a_file_of_sqlite_is_read(tmp_path):
    """As of a recorder with --storage-preset-profile resilient that was killed."""
    write_bag(tmp_path / 'bag', as_messages(NAMES, *states(NAMES, 2)), storage='sqlite')
    whole, = (tmp_path / 'bag').glob('*.db3')
    for folder in ('live', 'killed #1?%20'):
        (tmp_path / folder).mkdir()
    live = tmp_path / 'live' / 'a.db3'
    shutil.copy(whole, live)
    with sqlite3.connect(live) as database:
        database.execute('PRAGMA journal_mode=WAL')
        database.execute('PRAGMA wal_autocheckpoint=0')
        topic, = database.execute('SELECT id FROM topics').fetchone()
        database.executemany('INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)', [
            (topic, stamp + 10**9, data) for stamp, data in packets(100)])
        database.commit()
        for each in (tmp_path / 'live').iterdir():
            if not each.name.endswith('-shm'):
                shutil.copy(each, tmp_path / 'killed #1?%20')
    database.close()
    bag = Bag(tmp_path / 'killed #1?%20')
    assert len(list(bag.messages(['/joint_states']))) == 102
    assert {each.name for each in bag.path.iterdir()} == {'a.db3', 'a.db3-wal'}


def sqlite_bag(path, count=9):
    write_bag(path, as_messages(NAMES, *states(NAMES, count)), storage='sqlite')
    return next(path.glob('*.db3'))


ENDLESS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT'


@pytest.mark.parametrize('schema', [
    f'ALTER TABLE schema RENAME TO s; CREATE VIEW schema AS {ENDLESS} 4 AS schema_version, '
    '"" AS ros_distro FROM n WHERE x < 0',
    f'DROP TABLE message_definitions; CREATE VIEW message_definitions AS {ENDLESS} x AS id, '
    '"" AS topic_type, "" AS encoding, "" AS encoded_message_definition, '
    '"" AS type_description_hash FROM n',
    'CREATE TABLE m (id INTEGER PRIMARY KEY, topic_id, timestamp, '
    'data GENERATED ALWAYS AS (zeroblob(268000000))); '
    'INSERT INTO m (id, topic_id, timestamp) SELECT id, topic_id, timestamp FROM messages; '
    'DROP TABLE messages; ALTER TABLE m RENAME TO messages',
    'CREATE VIRTUAL TABLE m USING fts5(topic_id, timestamp, data); DROP TABLE messages; '
    'ALTER TABLE m RENAME TO messages'], ids=['no end', 'rows', 'blobs', 'module'])
def test_the_schema_of_a_file_of_sqlite_is_not_trusted(tmp_path, schema):
    file = sqlite_bag(tmp_path / 'bag', 5000)
    with closing(sqlite3.connect(file)) as database:
        database.executescript(schema + '; VACUUM')
    begin = time.process_time()
    with pytest.raises(DescriptionError) as caught:
        sum(1 for _ in Bag(file).raw_messages(['/joint_states']))
    assert str(file) in str(caught.value)
    assert time.process_time() - begin < SECONDS


def test_pages_of_sqlite_that_are_their_own_children_end(tmp_path):
    """Each inner page leads to itself on all its ways: rows without end in a small file."""
    file = sqlite_bag(tmp_path / 'bag', 5000)
    with closing(sqlite3.connect(file)) as database:
        size, = database.execute('PRAGMA page_size').fetchone()
        root, = database.execute('SELECT rootpage FROM sqlite_master WHERE name = "messages"'
                                 ).fetchone()
    content = bytearray(file.read_bytes())
    page = size * (root - 1)
    assert content[page] == 5  # an inner page of a table
    cells = int.from_bytes(content[page + 3:page + 5], 'big')
    leaf = content[page + 8:page + 12]
    inner = len(content) // size + 1
    for level in range(12):  # a chain of pages, each with all its children the next one
        copy = bytearray(content[page:page + size])
        below = leaf if level == 11 else (inner + level + 1).to_bytes(4, 'big')
        copy[8:12] = below
        for k in range(cells):
            at = int.from_bytes(copy[12 + 2 * k:14 + 2 * k], 'big')
            copy[at:at + 4] = below
        content += copy
    content[page + 8:page + 12] = inner.to_bytes(4, 'big')
    for k in range(cells):
        at = page + int.from_bytes(content[page + 12 + 2 * k:page + 14 + 2 * k], 'big')
        content[at:at + 4] = inner.to_bytes(4, 'big')
    content[28:32] = (len(content) // size).to_bytes(4, 'big')
    file.write_bytes(content)
    begin = time.process_time()
    with pytest.raises(DescriptionError) as caught:
        sum(1 for _ in Bag(file).raw_messages(['/joint_states']))
    assert str(file) in str(caught.value)
    assert time.process_time() - begin < SECONDS


@pytest.mark.parametrize('name', [
    EVIL, 'a/msg/' + 'x' * 10**6, 'a', '', 'a/b/c/d/e', 'None/msg/X'])
def test_the_name_of_a_type_is_no_code(tmp_path, monkeypatch, name):
    """Rosbags makes code of definitions: of a topic with a second type, too."""
    monkeypatch.chdir(tmp_path)
    path = mcap(tmp_path / 'bag.mcap', packets(), (name, JOINT_STATE))
    bag = Bag(path)
    read = list(bag.messages(['/joint_states']))
    assert not (tmp_path / 'ran').exists()
    assert len(read) >= 100
    assert sum('100 messages' in str(loss) for loss in bag.losses) == (len(read) == 100)


def test_nor_is_it_in_a_file_of_sqlite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = sqlite_bag(tmp_path / 'bag')
    with sqlite3.connect(file) as database:
        columns = [each[1] for each in database.execute('PRAGMA table_info(topics)')]
        row = dict(zip(columns, database.execute('SELECT * FROM topics').fetchone()))
        row |= {'id': 9, 'type': EVIL}
        marks = ', '.join('?' * len(columns))
        database.execute(f'INSERT INTO topics VALUES ({marks})', list(row.values()))
        for definition in database.execute('SELECT * FROM message_definitions').fetchmany(1):
            given = list(definition)
            given[0], given[1] = 99, EVIL
            database.execute(
                f'INSERT INTO message_definitions VALUES ({", ".join("?" * len(given))})', given)
        database.execute('INSERT INTO messages (topic_id, timestamp, data) VALUES (9, ?, ?)',
                         (START_NS, b'\0\1\0\0'))
    database.close()
    read = list(Bag(file).messages(['/joint_states']))
    assert not (tmp_path / 'ran').exists()
    assert len(read) == 9


def test_messages_of_a_file_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr('liedyn_ros.recordings.bags.mcap_file.RECORDS', (100, 0))
    with pytest.raises(DescriptionError) as caught:
        list(Bag(mcap(tmp_path / 'many.mcap', packets())).messages(['/joint_states']))
    assert 'many.mcap' in str(caught.value)
