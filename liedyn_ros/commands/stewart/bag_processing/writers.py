# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Processed poses as rows of a table, as a bag, and as a page that plays in any browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer

from liedyn_ros.commands import outputs
from liedyn_ros.commands.bags.tables import Cell
from liedyn_ros.commands.stewart.bag_processing.messages import made, MESSAGE_TYPES, packed, STORE
from liedyn_ros.commands.stewart.bag_processing.tracking import platform_of, ProcessedMessage
from liedyn_ros.lie.kernels.motion import position_quaternion
from liedyn_ros.stewart import Flag, leg_lengths
from liedyn_ros.view_state import SolvedPose, ViewInput

_UPPER = np.triu_indices(6)
POSE_COLUMNS = (
    'stamp [ns]', *(f'position.{axis} [m]' for axis in 'xyz'),
    *(f'orientation.{part}' for part in 'xyzw'), *(f'angular.{axis} [rad/s]' for axis in 'xyz'),
    *(f'linear.{axis} [m/s]' for axis in 'xyz'), 'status', 'flags', 'branch source',
    'iterations', 'residual [m]', 'smallest singular value',
    *(f'covariance {i} {j}' for i, j in zip(*_UPPER)), 'reason')
TEXTS = 'status', 'flags', 'branch source', 'reason'
INTEGER_COLUMNS = 'stamp [ns]', 'iterations'


def row_of(each: ProcessedMessage) -> list[Cell]:
    """Return the row of a message, in the order of POSE_COLUMNS."""
    pose = each.pose
    if pose is None:
        return [each.stamp_ns, *[None] * 13, 'REJECTED', *[None] * 26, each.reason]
    good = pose.converged
    return [
        each.stamp_ns, *(position_quaternion(pose.pose) if good else [None] * 7),
        *(pose.twist.tolist() if good and pose.twist is not None else [None] * 6),
        pose.status.name, ' '.join(flag.name or '' for flag in Flag if flag & pose.flags),
        pose.branch_source.name if good else None,
        pose.iterations, pose.residual,
        pose.smallest_singular_value,
        *([None] * 21 if each.covariance is None else each.covariance[_UPPER].tolist()),
        each.reason]


class BagWriter:
    """Writer of the node's topics, message by message, into a new bag of MCAP."""

    def __init__(self, path: Path, base_frame: str, platform_frame: str) -> None:
        """Open the bag; its folder must not be there."""
        self._writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()
        self._base, self._platform = base_frame, platform_frame
        self._connections = {name: self._writer.add_connection(f'/{name}', kind, typestore=STORE)
                             for name, kind in MESSAGE_TYPES.items()}

    def __call__(self, each: ProcessedMessage) -> None:
        """Write one pose, where there is one, and what is reported of it."""
        for name, data in each.reported:
            self._writer.write(self._connections[name], each.stamp_ns, data)
        pose = each.pose
        if pose is None or not pose.converged:
            return
        message = _pose(pose.pose)
        self._write('pose', each.stamp_ns, self._base, pose=message)
        if pose.twist is not None:
            w1, w2, w3, v1, v2, v3 = pose.twist.tolist()
            self._write('twist', each.stamp_ns, self._platform, twist=made(
                'geometry_msgs/msg/Twist', linear=_vector(v1, v2, v3),
                angular=_vector(w1, w2, w3)))
        if each.covariance is not None:
            self._write('pose_with_covariance', each.stamp_ns, self._base, pose=made(
                'geometry_msgs/msg/PoseWithCovariance', pose=message,
                covariance=np.ascontiguousarray(each.covariance).ravel()))

    def close(self) -> None:
        """Write the index."""
        self._writer.close()

    def _write(self, name: str, stamp_ns: int, frame: str, **fields: Any) -> None:
        self._writer.write(
            self._connections[name], stamp_ns, packed(name, stamp_ns, frame, **fields))


def _vector(x: float, y: float, z: float) -> Any:
    return made('geometry_msgs/msg/Vector3', x=x, y=y, z=z)


def _pose(pose: Any) -> Any:
    x, y, z, *quaternion = position_quaternion(pose)
    return made('geometry_msgs/msg/Pose', position=made(
        'geometry_msgs/msg/Point', x=x, y=y, z=z), orientation=made(
            'geometry_msgs/msg/Quaternion', **dict(zip('xyzw', quaternion))))


SHOWN_STEP_NS = 33_000_000  # between two pictures


class _Page(Protocol):
    """Page that is written when it is closed."""

    def close(self) -> None:
        """Write the page."""


Page = TypeVar('Page', bound=_Page)


@contextmanager
def written(page: Page) -> Iterator[Page]:
    """Yield a page, and write it; after an error it is not, so that an older one stays."""
    yield page
    page.close()


class Shown:
    """Keeps a picture each 33 ms, and writes them as one HTML file at the end."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Take the file and the settings of the platform."""
        self._path = path
        self._geometry, self._home = platform_of(settings)
        self._shown: list[tuple[float, ViewInput]] = []
        self._first_ns = self._due_ns = 0

    def __call__(self, each: ProcessedMessage) -> None:
        """Keep one message's pose, or why there is none, if a picture is due."""
        if each.stamp_ns < self._due_ns:
            return
        self._first_ns = self._first_ns or each.stamp_ns
        self._due_ns = each.stamp_ns + SHOWN_STEP_NS
        pose = each.pose
        if pose is None or not pose.converged:
            seen = ViewInput(fault=each.reason)
        else:
            seen = ViewInput(
                pose=pose.pose,
                covariance=None if each.covariance is None else each.covariance[:3, :3],
                solved=SolvedPose(leg_lengths(self._geometry, pose.pose),
                                  pose.smallest_singular_value, pose.residual, pose.iterations,
                                  0.0, 0.0, pose.branch_source))
        self._shown.append((1e-9 * (each.stamp_ns - self._first_ns), seen))

    def close(self) -> None:
        """Write the file, unless there was nothing."""
        if self._shown:
            outputs.recording(self._path, self._geometry, self._shown, self._home)
