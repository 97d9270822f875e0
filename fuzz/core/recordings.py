# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recordings: MCAP files by their content, all else as tables of two joints."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
import tempfile
from typing import Any

from fuzz.target import guarded, require_finite, Run, Target
from mcap.writer import CompressionType, Writer
import numpy as np
from rosbags.typesys import get_typestore, Stores

from liedyn_ros.recordings import read_samples

NAMES = ('a', 'b')
MAGIC = b'\x89MCAP'
KIND, TIME, HEADER = (
    'sensor_msgs/msg/JointState', 'builtin_interfaces/msg/Time', 'std_msgs/msg/Header')


def make() -> Run:
    """Return what reads samples."""
    folder = Path(tempfile.mkdtemp(prefix='liedyn_fuzz_'))

    def run(data: bytes) -> bool:
        path = folder / ('input.mcap' if data.startswith(MAGIC) else 'input.csv')
        path.write_bytes(data)

        def read() -> None:
            samples = read_samples([path], NAMES)
            require_finite('position', samples.position)
        return guarded(read)
    return run


def seeds() -> Iterator[bytes]:
    """Return a table, and files of MCAP with and without compression."""
    yield b'time,a.position,b.position\n' + b''.join(
        b'%d.0,%d.5,0.25\n' % (k, k) for k in range(9))
    store = get_typestore(Stores.LATEST)
    types: Any = store.types
    for compression in (CompressionType.NONE, CompressionType.ZSTD, CompressionType.LZ4):
        stream = BytesIO()
        writer = Writer(stream, compression=compression, chunk_size=400)
        writer.start('ros2', 'fuzz')
        channel = writer.register_channel('/joint_states', 'cdr', writer.register_schema(
            KIND, 'ros2msg', b''))
        for k in range(9):
            message = types[KIND](
                header=types[HEADER](stamp=types[TIME](sec=k + 1, nanosec=0), frame_id=''),
                name=list(NAMES), position=np.array([0.1 * k, 1.0]), velocity=np.empty(0),
                effort=np.empty(0))
            writer.add_message(channel, k * 10**9, bytes(store.serialize_cdr(message, KIND)),
                               k * 10**9)
        writer.finish()
        yield stream.getvalue()


TARGET = Target(make, seeds)
