# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The path of a machine through waypoints of joints by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import as_array, listed, require_known
from liedyn_ros.common.errors import NameSetError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.retiming.limits import Machine
from liedyn_ros.retiming.paths.blended_path import BlendedPath
from liedyn_ros.retiming.paths.loop_path import LoopPath
from liedyn_ros.retiming.paths.path import Path, SplinePath

_QUATERNION = 'qx', 'qy', 'qz', 'qw'
_POSITIONS = {'spherical': _QUATERNION, 'free': ('x', 'y', 'z', *_QUATERNION)}


def position_names(model: Model) -> tuple[str, ...]:
    """
    Return one name for each number of q: those of its velocities but for turns in space.

    The numbers of a free joint are x, y, z (m) and qx, qy, qz, qw, e.g. 'base/x'.
    """
    return tuple(name for joint in model.joint_list for name in (
        [f'{joint.name}/{part}' for part in _POSITIONS[joint.type_name]]
        if joint.type_name in _POSITIONS else joint.coordinate_names))


def path_through(dynamics: Machine, names: Sequence[str], waypoints: ArrayLike,
                 blend: float | None = None) -> Path:
    """
    Return the path through waypoints of named numbers.

    All numbers of q are named, or of a machine with closed loops joints that decide the others:
    these follow from the neutral configuration.

    Args:
        dynamics: a Dynamics or a ConstrainedDynamics.
        names: of joints of one coordinate; others have several, see docs/conventions.md.
        waypoints: (K, n) in the order of the names; rad and m.
        blend: with it the path has straight lines whose corners are rounded there, rad or m;
            without it a spline.

    Returns:
        the path.

    Raises:
        NameSetError: for names that do not fit.
        LimitError: for fewer than two waypoints, and for one that repeats or turns too far.

    >>> path_through(robot, model.coordinate_names, [q, q + 0.5]).length > 1.0
    True
    """
    points = as_array('waypoints', waypoints, (-1, len(names)))
    if isinstance(dynamics, ConstrainedDynamics):
        single = [joint for joint in dynamics.model.joint_list
                  if JOINT_TYPES[joint.type_name].nv == 1]
        _require_known(names, [joint.name for joint in single])
        missing = [joint.name for joint in single if joint.actuated and joint.name not in names]
        if missing and len(names) < dynamics.mobility.degrees_of_freedom:
            raise NameSetError('waypoints: expected joints that determine all others, got none '
                               f'for {missing}', names=missing, got=tuple(names))
        return LoopPath(dynamics, points, list(names), blend=blend)
    wanted = list(position_names(dynamics.model))
    _require_known(names, wanted)
    missing = [name for name in wanted if name not in names]
    if missing:
        raise NameSetError(f'waypoints: expected every joint of the model, got none for {missing}',
                           names=missing, expected=tuple(wanted), got=tuple(names))
    ordered = points[:, [list(names).index(name) for name in wanted]]
    return SplinePath(dynamics.model, ordered) if blend is None else \
        BlendedPath(dynamics.model, ordered, blend)


def _require_known(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return names of joints; raises NameSetError for one that is unknown, or named twice."""
    if not names:
        raise NameSetError(f'waypoints: expected joints of {listed(known)}, got none',
                           expected=tuple(known), got=())
    require_known(NameSetError, 'waypoints', known, names, 'joints')
    values, counts = np.unique(list(names), return_counts=True)
    if (counts > 1).any():
        raise NameSetError(f'waypoints: expected each joint once, got '
                           f'{values[counts > 1].tolist()} more often')
    return list(names)
