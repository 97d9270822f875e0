# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files of waypoints and of limits for retiming, checked, beside the limits of a model."""

from __future__ import annotations

from collections.abc import Mapping
import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.description import parse_number
from liedyn_ros.common.errors import DescriptionError, LiedynError, LimitError, NameSetError
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.common.yaml_reader import Node, read
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.recordings.units import require_units
from liedyn_ros.retiming import ClosureLimits, FrameLimits, MotionLimits, Retimed

JOINT_LIMIT_NAMES = ('velocity', 'acceleration', 'jerk', 'torque', 'torque_rate',
                     'torque_per_speed', 'power', 'least_torque')
FRAME_ENTRIES, NAMED_LIMITS, CURVES = 'frames', 'closures', 'torque_curves'
_FRAME = 'velocity', 'acceleration', 'angular_velocity', 'angular_acceleration'
_CLOSURE = 'least', 'most', 'rate'
YAML = '.yaml', '.yml'


class Waypoints(NamedTuple):
    """Names (n,) of numbers, and their values (K, n)."""

    names: tuple[str, ...]
    values: Array


def read_waypoints(path: Path) -> Waypoints:
    """
    Return the waypoints of a file, which is CSV or YAML by its suffix.

    The first line of a CSV file has the names. A YAML file has joint_names, and waypoints, which
    are lists, or points with positions as a JointTrajectory has. Raises DescriptionError.
    """
    names, rows = _from_yaml(path) if path.suffix in YAML else _from_csv(path)
    try:
        return Waypoints(names, as_array('waypoints', rows, (-1, len(names))))
    except LiedynError as error:
        raise DescriptionError(f'{path}: {error}') from error


def read_limits(path: Path) -> MotionLimits:
    """
    Return the limits of a YAML file whose keys are those of MotionLimits.

    Each value is a number, a list or a mapping by joint; .inf stands for no limit. frames is a
    mapping by frame of what FrameLimits has, closures one by closure of what ClosureLimits has,
    torque_curves one by joint of points. Raises DescriptionError and LimitError.
    """
    root = _read(path)
    found = root.options({**dict.fromkeys(JOINT_LIMIT_NAMES, _limit), FRAME_ENTRIES: _frames,
                          NAMED_LIMITS: _closures, CURVES: _curves})
    return MotionLimits(**found)


def _frames(node: Node) -> list[FrameLimits]:
    """Return the limits of frames."""
    result = []
    for frame, each in node.items():
        found: dict[str, Any] = each.options({
            **dict.fromkeys(_FRAME, Node.number), 'point': lambda point: point.numbers(3)})
        result.append(FrameLimits(frame, **found))
    return result


def _closures(node: Node) -> list[ClosureLimits]:
    """Return the limits of forces of closures; along is the name of a row, or six numbers."""
    result = []
    for closure, each in node.items():
        found: dict[str, Any] = each.options({
            **dict.fromkeys(_CLOSURE, lambda end: end.number(infinite=True)),
            'along': lambda along: along.text() if isinstance(along.value, str)
            else along.numbers(6)})
        result.append(ClosureLimits(closure, **found))
    return result


def _curves(node: Node) -> dict[str, list[list[float]]]:
    """Return the torque curves by joint, lists of points."""
    return {joint: [point.numbers(2) for point in each.sequence()]
            for joint, each in node.items()}


def _limit(node: Node) -> float | list[float] | dict[str, float | list[float]]:
    """Return a limit in any of its forms."""
    if isinstance(node.value, dict):
        return {joint: value.number_or_numbers(infinite=True) for joint, value in node.items()}
    return node.number_or_numbers(infinite=True)


def _from_yaml(path: Path) -> tuple[tuple[str, ...], list[list[float]]]:
    """Return names and rows of a YAML file."""
    root = _read(path)
    names = tuple(each.text() for each in root.take('joint_names').sequence())
    points = root.optional('points')
    if points is not None:
        root.optional('header')
        rows = [each.take('positions').numbers(len(names)) for each in points.sequence()]
    else:
        rows = [each.numbers(len(names)) for each in root.take('waypoints').sequence()]
    root.finish()
    return names, rows


def _from_csv(path: Path) -> tuple[tuple[str, ...], list[list[float]]]:
    """Return names and rows of a CSV file; # begins a comment."""
    try:
        text = read_file(path).decode('utf-8-sig')
        lines = [(k, [cell.strip() for cell in row]) for k, row in enumerate(
            csv.reader(io.StringIO(text), strict=True), 1)
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith('#')]
    except (LiedynError, UnicodeDecodeError, csv.Error) as error:
        raise DescriptionError(f'{path}: expected a CSV file, got {error}') from error
    if not lines:
        raise DescriptionError(f'{path}: expected a line of names and lines of numbers, got none')
    names, rows = tuple(lines[0][1]), []
    for number, cells in lines[1:]:
        if len(cells) != len(names):
            raise DescriptionError(f'{path}:{number}: expected {len(names)} numbers for '
                                   f'{list(names)}, got {len(cells)}')
        values = [parse_number(cell) for cell in cells]
        if None in values:
            raise DescriptionError(f'{path}:{number}: expected numbers, got {cells}')
        rows.append([value for value in values if value is not None])
    return names, rows


def _read(path: Path) -> Node:
    """Return the root of a YAML file; its path begins every message."""
    try:
        return read(path, str(path))
    except DescriptionError as error:
        raise DescriptionError(f'{path}: {error}') from error


ROUNDING = 1e-5  # rad or m, of limits with six digits, as of 3.14159
WAYPOINT_PLACES = 10  # of a run's interval, at which its positions are looked at


def with_held(waypoints: Waypoints, held: Mapping[str, float]) -> Waypoints:
    """Return waypoints with joints that stand still; raises NameSetError for one that is there."""
    for name in held:
        if name in waypoints.names:
            raise NameSetError(f'--hold {name}: expected a joint that the waypoints do not have, '
                               f'got {list(waypoints.names)}', names=(name,))
    still = np.broadcast_to(list(held.values()), (len(waypoints.values), len(held)))
    return Waypoints((*waypoints.names, *held), np.hstack([waypoints.values, still]))


def require_within(model: Model, waypoints: Waypoints) -> None:
    """Raise LimitError for waypoints beyond limits; it says where they fit in another unit."""
    joints = [joint for joint in _single(model) if joint.name in waypoints.names]
    names = tuple(joint.name for joint in joints)
    q = waypoints.values[:, [waypoints.names.index(name) for name in names]]
    require_units(model, names, np.zeros(0), q, None, named=False)
    for joint, column in zip(joints, q.T):
        lower, upper, worst = *_limits(joint), _worst(joint, column)
        if worst is not None:
            raise LimitError(
                f'waypoints: expected {joint.name} within {lower:.6g} to {upper:.6g}, the limits '
                f'of the model, got {worst:.6g}; --beyond-limits takes it', names=(joint.name,),
                expected=(lower, upper), got=worst)


def excursions(run: Retimed) -> list[str]:
    """Return texts on the joints that leave limits of positions on the path of a run."""
    q = run.law(run.grid.split(WAYPOINT_PLACES)).q
    found = []
    for joint in _single(run.dynamics.model):
        lower, upper, worst = *_limits(joint), _worst(joint, q[:, joint.qi])
        if worst is not None:
            found.append(f'the path takes {joint.name} to {worst:.6g}, beyond its limits of '
                         f'{lower:.6g} to {upper:.6g}: more waypoints, or --blend, keep it within')
    return found


def _single(model: Model) -> list[Joint]:
    """Return the joints of one position."""
    return [joint for joint in model.joint_list if JOINT_TYPES[joint.type_name].nq == 1]


def _limits(joint: Joint) -> tuple[float, float]:
    """Return the lower and the upper limit of a joint of one position."""
    return float(joint.limits.lower[0]), float(joint.limits.upper[0])


def _worst(joint: Joint, q: Array) -> float | None:
    """Return the position that is farthest beyond the limits, None without one."""
    lower, upper = _limits(joint)
    beyond = np.maximum(lower - q, q - upper)
    return float(q.flat[np.argmax(beyond)]) if beyond.max() > ROUNDING else None
