# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recordings: MCAP, SQLite and Parquet by their content, all else as tables of two joints."""

from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
import tempfile
from typing import Any

from fuzz.target import guarded, require_finite, Run, Target
from mcap.writer import CompressionType, Writer
import numpy as np
import pyarrow
from pyarrow import parquet
from rosbags.rosbag2 import StoragePlugin, Writer as BagWriter
from rosbags.serde import cdr, ros1
from rosbags.typesys import get_typestore, Stores

from liedyn_ros.recordings import read_samples

NAMES = ('a', 'b')
SUFFIXES = {b'\x89MCA': '.mcap', b'SQLi': '.db3', b'PAR1': '.parquet'}  # by the first bytes
KIND, TIME, HEADER = (
    'sensor_msgs/msg/JointState', 'builtin_interfaces/msg/Time', 'std_msgs/msg/Header')


def make() -> Run:
    """Return what reads samples."""
    folder = Path(tempfile.mkdtemp(prefix='liedyn_fuzz_'))
    compiled = cache(cdr.compile_lines)
    for module in (cdr, ros1):  # rosbags compiles readers of the same types for each bag
        module.compile_lines = lambda lines: compiled(tuple(lines))

    def run(data: bytes) -> bool:
        path = folder / f'input{SUFFIXES.get(data[:4], ".csv")}'
        path.write_bytes(data)

        def read() -> None:
            samples = read_samples([path], NAMES)
            require_finite('position', samples.position)
        return guarded(read)
    return run


def seeds() -> Iterator[bytes]:
    """Return tables, and files of SQLite and of MCAP with and without compression."""
    yield b'time,a.position,b.position\n' + b''.join(
        b'%d.0,%d.5,0.25\n' % (k, k) for k in range(9))
    numbers, stream = [float(k) for k in range(9)], BytesIO()
    parquet.write_table(pyarrow.table(
        {'time': numbers, 'a.position': numbers, 'b.position': numbers}), stream)
    yield stream.getvalue()
    store = get_typestore(Stores.LATEST)
    messages = [bytes(store.serialize_cdr(each, KIND)) for each in _messages(store.types)]
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        with BagWriter(bag, version=9, storage_plugin=StoragePlugin.SQLITE3) as written:
            connection = written.add_connection('/joint_states', KIND, typestore=store)
            for k, raw in enumerate(messages):
                written.write(connection, k * 10**9, raw)
        yield next(bag.glob('*.db3')).read_bytes()
    for compression in (CompressionType.NONE, CompressionType.ZSTD, CompressionType.LZ4):
        stream = BytesIO()
        writer = Writer(stream, compression=compression, chunk_size=400)
        writer.start('ros2', 'fuzz')
        channel = writer.register_channel('/joint_states', 'cdr', writer.register_schema(
            KIND, 'ros2msg', b''))
        for k, raw in enumerate(messages):
            writer.add_message(channel, k * 10**9, raw, k * 10**9)
        writer.finish()
        yield stream.getvalue()


def _messages(types: Any) -> Iterator[Any]:
    for k in range(9):
        yield types[KIND](
            header=types[HEADER](stamp=types[TIME](sec=k + 1, nanosec=0), frame_id=''),
            name=list(NAMES), position=np.array([0.1 * k, 1.0]), velocity=np.empty(0),
            effort=np.empty(0))


TARGET = Target(make, seeds)
