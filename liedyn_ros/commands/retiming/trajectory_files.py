# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Retimed runs as CSV files, and as the YAML of trajectory messages."""

from __future__ import annotations

from collections.abc import Iterator
import csv
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import yaml

from liedyn_ros.common.checks import Array
from liedyn_ros.common.whole_files import whole_file, write_whole
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.retiming.paths.named_path import position_names

NANO = 1_000_000_000


class MotionSamples(Protocol):
    """A motion at K instants: t (K,), s; q (K, nq); v, a and torque (K, nv)."""

    @property
    def t(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def a(self) -> Array: ...
    @property
    def torque(self) -> Array: ...


def write_csv(path: Path, model: Model, at: MotionSamples) -> None:
    """Write a line for each instant: time (s), then all joints, whose effort ends the line."""
    names, coordinates = position_names(model), model.coordinate_names
    header = ['time', *(f'position.{name}' for name in names)] + [
        f'{kind}.{name}' for kind in ('velocity', 'acceleration', 'effort')
        for name in coordinates]
    rows = np.column_stack([at.t, at.q, at.v, at.a, at.torque])
    with whole_file(path) as part, part.open('w', encoding='utf-8', newline='') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(header)
        writer.writerows([repr(value) for value in row] for row in rows.tolist())


def write_yaml(path: Path, model: Model, at: MotionSamples) -> None:
    """
    Write the actuated joints as a trajectory_msgs/JointTrajectory.

    Where joints turn in space, such as a floating base, the file has joint_trajectory and
    multi_dof_joint_trajectory, as moveit_msgs/RobotTrajectory.
    """
    turning = [joint for joint in model.joint_list if joint.type_name in ('spherical', 'free')]
    joints = [joint for joint in model.joint_list if joint not in turning
              and JOINT_TYPES[joint.type_name].nv and model.actuated[joint.v_slice].any()]
    document: dict[str, Any] = _joint_trajectory(joints, at)
    if turning:
        document = {'joint_trajectory': document,
                    'multi_dof_joint_trajectory': _multi_dof(turning, at)}
    write_whole(path, ''.join(f'{line}\n' for line in _lines(document)))


def _joint_trajectory(joints: list[Joint], at: MotionSamples) -> dict[str, Any]:
    """Return the message of joints whose q is a vector."""
    q, v = (np.concatenate([np.arange(0), *(np.arange(*getattr(joint, name).indices(10**9))
                                            for joint in joints)]).astype(int)
            for name in ('q_slice', 'v_slice'))
    return {
        'joint_names': [name for joint in joints for name in joint.coordinate_names],
        'points': [{
            'positions': at.q[k, q].tolist(), 'velocities': at.v[k, v].tolist(),
            'accelerations': at.a[k, v].tolist(), 'effort': at.torque[k, v].tolist(),
            'time_from_start': _duration(t)} for k, t in enumerate(at.t)]}


def _multi_dof(joints: list[Joint], at: MotionSamples) -> dict[str, Any]:
    """Return the message of joints that turn in space; it has no efforts."""
    return {
        'joint_names': [joint.name for joint in joints],
        'points': [{
            'transforms': [_transform(at.q[k, joint.q_slice]) for joint in joints],
            'velocities': [_twist(at.v[k, joint.v_slice]) for joint in joints],
            'accelerations': [_twist(at.a[k, joint.v_slice]) for joint in joints],
            'time_from_start': _duration(t)} for k, t in enumerate(at.t)]}


def _transform(q: Array) -> dict[str, Any]:
    """Return the Transform of a free or spherical joint."""
    return {'translation': dict(zip('xyz', [0.0] * 3 if len(q) == 4 else q[:3].tolist())),
            'rotation': dict(zip('xyzw', q[-4:].tolist()))}


def _twist(v: Array) -> dict[str, Any]:
    """Return the Twist of a free or spherical joint, in the frame of its child body."""
    return {'linear': dict(zip('xyz', [0.0] * 3 if len(v) == 3 else v[3:].tolist())),
            'angular': dict(zip('xyz', v[:3].tolist()))}


def _duration(t: float) -> dict[str, int]:
    """Return seconds as a Duration."""
    seconds, rest = divmod(round(float(t) * NANO), NANO)
    return {'sec': seconds, 'nanosec': rest}


def _lines(value: dict[str, Any] | list[Any]) -> Iterator[str]:
    """
    Yield the lines of a mapping or a list as YAML, those of plain values alone on one line.

    PyYAML takes seconds for a long motion.
    """
    if isinstance(value, dict):
        for key, each in value.items():
            if _is_flat(each):
                yield f'{key}: {_flow(each)}'
            else:
                yield f'{key}:'
                yield from (f'  {line}' for line in _lines(each))
        return
    for each in value:
        first, *rest = [_flow(each)] if _is_flat(each) else _lines(each)
        yield f'- {first}'
        yield from (f'  {line}' for line in rest)


def _is_flat(value: Any) -> bool:
    """Return whether a value has neither lists nor mappings in it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not any(isinstance(each, (dict, list)) for each in inner)


def _flow(value: Any) -> str:
    """Return a flat value as YAML on one line."""
    if isinstance(value, dict):
        return '{' + ', '.join(f'{key}: {_flow(each)}' for key, each in value.items()) + '}'
    if isinstance(value, list):
        return '[' + ', '.join(map(_flow, value)) + ']'
    if isinstance(value, str):
        return yaml.safe_dump([value], default_flow_style=True, width=float('inf'))[1:-2]
    text = repr(value)
    if 'e' in text and '.' not in text:
        return text.replace('e', '.0e')  # YAML 1.1 takes 1e-05 for a text
    return _NOT_FINITE.get(text, text)


_NOT_FINITE = {'inf': '.inf', '-inf': '-.inf', 'nan': '.nan'}
