# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A bag of 10 GB in, poses out: time over the bag's duration, and the most memory.

`python -m benchmarks.huge_bag FOLDER` writes two hours of leg states at 1 kHz beside a camera's
images into FOLDER, once, and runs process_bag on it. FOLDER needs 13 GB. `--camera 0` leaves the
images out.
"""

import argparse
from collections.abc import Iterator, Sequence
import os
from pathlib import Path
import resource
import subprocess
import sys
import time

from mcap.writer import CompressionType, Writer
import numpy as np
from rosbags.typesys import get_typestore, Stores

from benchmarks.record import keep
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, load_geometry, SmoothTrajectory

STORE = get_typestore(Stores.ROS2_JAZZY)
RATE, PERIOD = 1000, 10.0  # Hz of the legs; s after which the motion begins again
NOISE = 1e-5  # m
START_NS = 1_700_000_000_000_000_000
WIDTH, HEIGHT = 640, 480
CHUNK = 4_000_000  # bytes
JOINTS, IMAGE = 'sensor_msgs/msg/JointState', 'sensor_msgs/msg/Image'


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the bag, process it, and print and keep the figures."""
    parser = argparse.ArgumentParser(prog='benchmarks.huge_bag', description=__doc__)
    parser.add_argument('folder', type=Path, help='where there is room for the bag and the poses')
    parser.add_argument('--hours', type=float, default=2.0, help='duration of the bag')
    parser.add_argument('--camera', type=float, default=3.6, help='Hz of its images')
    options = parser.parse_args(arguments)
    bag = options.folder / 'huge.mcap'
    if not bag.exists():
        write(bag, options.hours, options.camera)
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, '-m', 'liedyn_ros.commands.bags.process_bag', str(bag),
                    '--params', str(config_file('stewart.yaml')), '--topic', '/leg_states',
                    '--csv', str(options.folder / 'poses.csv')], check=True)
    took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = 3600.0 * options.hours
    found = {
        'size, GB': bag.stat().st_size / 1e9, 'duration, s': seconds, 'took, s': took,
        'share of the duration': took / seconds,
        'processor time, s': after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        'most memory, MB': after.ru_maxrss / 1024.0,
        'load of the machine': os.getloadavg()[0]}
    for name, value in found.items():
        print(f'{name}: {value:.4g}')
    print(f'figures in {keep("huge_bag", found)}')
    return 0


def write(bag: Path, hours: float, camera: float) -> None:
    """Write the bag; a file that was not finished has another name."""
    bag.parent.mkdir(parents=True, exist_ok=True)
    unfinished = bag.with_suffix('.part')
    with unfinished.open('wb') as stream:
        writer = Writer(stream, chunk_size=CHUNK, compression=CompressionType.NONE)
        writer.start(profile='ros2', library='benchmarks.huge_bag')
        channels = {}
        for topic, kind in (('/leg_states', JOINTS), ('/camera/image', IMAGE)):
            text, _ = STORE.generate_msgdef(kind, ros_version=2)
            channels[topic] = writer.register_channel(
                topic, 'cdr', writer.register_schema(kind, 'ros2msg', text.encode()))
        step = RATE / camera if camera else np.inf
        picture, shown = _image(), 0
        for count, (stamp, data) in enumerate(_leg_states(round(3600.0 * hours * RATE))):
            writer.add_message(channels['/leg_states'], stamp, data, stamp, count)
            if count >= shown * step:
                shown += 1
                writer.add_message(channels['/camera/image'], stamp, picture, stamp, shown)
        writer.finish()
    unfinished.rename(bag)


def _leg_states(count: int) -> Iterator[tuple[int, bytes]]:
    """Yield stamps (ns) and serialized leg states of a smooth motion with noise."""
    geometry, rng = load_geometry(config_file('stewart_geometry.yaml')), np.random.default_rng(1)
    home = se3.from_rotation_translation(np.eye(3), np.array([0.0, 0.0, 0.5]))
    motion = SmoothTrajectory(
        home, amplitudes=np.array([0.1, 0.1, 0.2, 0.04, 0.04, 0.04]),
        frequencies=np.array([2, 3, 1, 4, 1, 3]) / PERIOD, phases=np.arange(6.0))
    lengths = leg_lengths(geometry, motion.pose(np.arange(0.0, PERIOD, 1.0 / RATE)))
    types = STORE.types
    header = types['std_msgs/msg/Header'](
        stamp=types['builtin_interfaces/msg/Time'](sec=0, nanosec=0), frame_id='')
    mark, empty = np.full(6, 1.25), np.zeros(0)
    data = bytes(STORE.serialize_cdr(types[JOINTS](
        header=header, name=list(geometry.leg_names), position=mark, velocity=empty,
        effort=empty), JOINTS))
    at = data.index(mark.tobytes())
    for first in range(0, count, len(lengths)):
        block = lengths[:count - first] + NOISE * rng.normal(
            size=lengths[:count - first].shape)
        for k, row in enumerate(block):
            stamp = START_NS + (first + k) * (10**9 // RATE)
            yield stamp, b''.join((
                data[:4], np.array(divmod(stamp, 10**9), dtype='<u4').tobytes(), data[12:at],
                row.tobytes(), data[at + mark.nbytes:]))


def _image() -> bytes:
    types = STORE.types
    header = types['std_msgs/msg/Header'](
        stamp=types['builtin_interfaces/msg/Time'](sec=0, nanosec=0), frame_id='camera')
    return bytes(STORE.serialize_cdr(types[IMAGE](
        header=header, height=HEIGHT, width=WIDTH, encoding='mono8', is_bigendian=0, step=WIDTH,
        data=np.zeros(WIDTH * HEIGHT, dtype=np.uint8)), IMAGE))


if __name__ == '__main__':
    sys.exit(main())
