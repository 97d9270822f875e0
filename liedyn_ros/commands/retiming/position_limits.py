# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Waypoints and runs beside the limits of positions that a model has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from liedyn_ros.commands.retiming.input_files import Waypoints
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.recordings.units import require_units
from liedyn_ros.retiming import Retimed

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
