# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rows of joints as a bag of MCAP: JointMotion, the URDF, and the transforms of the bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_types_from_msg, get_typestore, Stores

from liedyn_ros.commands.bags.tables import Cell
from liedyn_ros.common.stamps import Pace, require_time_of_messages
from liedyn_ros.model import Model
from liedyn_ros.recordings.bags import transforms

# The file of this name in liedyn_interfaces, which this package can be without.
JOINT_MOTION = """
std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] acceleration
float64[] effort
"""
MOTION_TYPE = 'liedyn_interfaces/msg/JointMotion'
MOTION_TOPIC = '/joint_motion'
MOTION_FIELDS = {'position': 'position', 'velocity': 'velocity', 'acceleration': 'acceleration',
                 'torque': 'effort'}


class JointBagWriter:
    """Writes rows of columns such as 'elbow.torque [N m]' into a new bag."""

    def __init__(self, path: Path, columns: Sequence[str], model: Model,
                 urdf: str | None = None) -> None:
        """Take the columns; derivatives of torques have no field and are left out."""
        self._path, self._urdf = path, urdf
        self._robot, self._pace = transforms.RobotFrames(model), Pace(transforms.BAG_TF_RATE)
        self._names = list(dict.fromkeys(each.partition('.position')[0] for each in columns
                                         if '.position [' in each))
        at = {each.partition(' [')[0]: k for k, each in enumerate(columns, 1)}
        self._at = {into: [at[f'{name}.{kind}'] for name in self._names]
                    for kind, into in MOTION_FIELDS.items() if f'{self._names[0]}.{kind}' in at}
        self._store = get_typestore(Stores.LATEST)
        self._store.register(get_types_from_msg(JOINT_MOTION, MOTION_TYPE))

    def __enter__(self) -> JointBagWriter:
        """Open the bag; its folder must not be there."""
        self._writer = Writer(self._path, version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()
        self._connection, self._tf, self._description = (
            self._writer.add_connection(topic, kind, typestore=self._store) for topic, kind in (
                (MOTION_TOPIC, MOTION_TYPE),
                (transforms.TRANSFORM_TOPIC, transforms.TRANSFORM_TYPE),
                (transforms.BAG_DESCRIPTION, transforms.TEXT)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Write the index."""
        self._writer.close()

    def __call__(self, row: Sequence[Cell]) -> None:
        """Write a row, where it has numbers; raise StampError for a time that no message has."""
        stamp = row[0]
        if not isinstance(stamp, int) or row[1] is None:
            return
        require_time_of_messages(stamp)
        make: Any = self._store.types
        fields = {into: np.array([row[k] for k in self._at.get(into, [])], dtype=float)
                  for into in MOTION_FIELDS.values()}
        fields = {into: each if all(map(math.isfinite, each)) else np.empty(0)
                  for into, each in fields.items()}
        sec, nanosec = divmod(stamp, 10**9)
        header = make['std_msgs/msg/Header'](
            stamp=make['builtin_interfaces/msg/Time'](sec=sec, nanosec=nanosec), frame_id='')
        self._writer.write(self._connection, stamp, self._store.serialize_cdr(
            make[MOTION_TYPE](header=header, name=self._names, **fields), MOTION_TYPE))
        if self._pace.is_due(stamp):
            self._write_transforms(stamp, dict(zip(self._names, fields['position'].tolist())))

    def _write_transforms(self, stamp: int, positions: Mapping[str, float]) -> None:
        if self._urdf is not None:
            self._writer.write(self._description, stamp,
                               transforms.description_message(self._urdf))
            self._urdf = None
        placements = self._robot.at(positions)
        if placements:
            self._writer.write(self._tf, stamp, transforms.tf_message(stamp, placements))
