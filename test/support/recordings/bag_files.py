# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bags that tests write: by rosbags, and by the library of MCAP itself."""

from mcap.writer import CompressionType, Writer as McapWriter
import numpy as np
from rosbags.rosbag2 import CompressionMode, StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

STORE = get_typestore(Stores.ROS2_JAZZY)
JOINT_STATE = 'sensor_msgs/msg/JointState'
START_NS = 1_700_000_000_000_000_000
TYPE_OF = STORE.types


def joint_state(stamp_ns, names, position, velocity=(), effort=()):
    """Return a JointState of rosbags."""
    header = TYPE_OF['std_msgs/msg/Header'](
        stamp=TYPE_OF['builtin_interfaces/msg/Time'](
            sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9), frame_id='')
    return TYPE_OF[JOINT_STATE](
        header=header, name=list(names), position=np.array(position, dtype=float),
        velocity=np.array(velocity, dtype=float), effort=np.array(effort, dtype=float))


def states(names, count, seed=0, rate=100.0, start_ns=START_NS):
    """Return stamps (count,) ns, and random position, velocity and effort (count, names)."""
    rng = np.random.default_rng(seed)
    stamps = start_ns + (np.arange(count) * 1e9 / rate).astype(np.int64)
    return stamps, *rng.normal(size=(3, count, len(names)))


def as_messages(names, stamps, position, velocity, effort):
    """Return pairs of stamp and JointState."""
    return [(int(stamp), joint_state(int(stamp), names, *rows))
            for stamp, *rows in zip(stamps, position, velocity, effort)]


def write_bag(path, messages, *, topic='/joint_states', storage='mcap', compressed=False,
              others=(), silent=()):
    """Write pairs of stamp and message; others: more topics with theirs, silent: with none."""
    plugin = StoragePlugin.MCAP if storage == 'mcap' else StoragePlugin.SQLITE3
    writer = Writer(path, version=9, storage_plugin=plugin)
    if compressed:
        writer.set_compression(CompressionMode.STORAGE, writer.CompressionFormat.ZSTD)
    with writer:
        for name in silent:
            writer.add_connection(name, JOINT_STATE, typestore=STORE)
        for name, pairs in ((topic, messages), *others):
            kind = pairs[0][1].__msgtype__
            connection = writer.add_connection(name, kind, typestore=STORE)
            for stamp, message in pairs:
                writer.write(connection, stamp, STORE.serialize_cdr(message, kind))
    return path


def write_mcap(path, messages, *, topic='/joint_states', compression='', chunk=20_000):
    """Write pairs of stamp and message by the library of MCAP; return the bytes of each."""
    kinds = {'': CompressionType.NONE, 'zstd': CompressionType.ZSTD, 'lz4': CompressionType.LZ4}
    written = []
    with path.open('wb') as stream:
        writer = McapWriter(stream, chunk_size=chunk, compression=kinds[compression])
        writer.start(profile='ros2', library='test')
        kind = messages[0][1].__msgtype__
        text, _ = STORE.generate_msgdef(kind, ros_version=2)
        schema = writer.register_schema(kind, 'ros2msg', text.encode())
        channel = writer.register_channel(topic, 'cdr', schema)
        for number, (stamp, message) in enumerate(messages):
            data = bytes(STORE.serialize_cdr(message, kind))
            writer.add_message(channel, stamp, data, stamp, number)
            written.append(data)
        writer.finish()
    return written
