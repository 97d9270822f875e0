# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where a platform can go at one orientation: within its limits and clear of singularities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import so3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.limits import LimitMargins
from liedyn_ros.stewart.platform.state import PlatformMeter


@dataclass(frozen=True)
class WorkspaceMap:
    """
    The positions of a grid at one orientation.

    axes: x, y, z of the grid's planes, m. margins: to the nearest limit, m or rad,
    negative where one is exceeded. signed_values: the smallest singular value with the
    determinant's sign. usable: reachable, further than the threshold from singular, and connected
    with home through such positions; empty where home is none.
    """

    axes: tuple[Array, Array, Array]
    margins: Array
    signed_values: Array
    usable: NDArray[np.bool_]

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """Return whether all limits are kept at each position."""
        return np.asarray(self.margins >= 0.0)

    def volume(self, inside: NDArray[np.bool_]) -> float:
        """Return the volume of marked positions, m^3: each stands for a cell of the grid."""
        return float(inside.sum() * np.prod([axis[1] - axis[0] for axis in self.axes]))


def map_workspace(
        geometry: StewartGeometry, rotation: ArrayLike, home_position: ArrayLike,
        axes: tuple[Array, Array, Array], threshold: float,
        progress: Callable[[float], None] = lambda share: None) -> WorkspaceMap:
    """
    Return the map of positions at an orientation (3, 3), platform in base.

    home_position: (3,), m; the grid's nearest position is where the usable part begins.
    axes: x, y, z of the grid, m, each evenly spaced. threshold: smallest singular value.
    progress: called with the share that is done. Raises NotInGroupError, ShapeError,
    NotFiniteError, or LimitError for a threshold below zero.
    """
    rotation = so3.require_rotation('rotation', rotation)
    home_position = checks.as_array('home_position', home_position, (3,))
    if checks.as_number('threshold', threshold) < 0.0:
        raise LimitError(f'threshold: expected 0 or more, got {threshold}')
    meter = PlatformMeter(geometry)
    shape = tuple(len(axis) for axis in axes)
    margins, values = np.empty(shape), np.empty(shape)
    for i, x in enumerate(axes[0]):
        poses = np.tile(np.eye(4), (shape[1] * shape[2], 1, 1))
        poses[:, :3, :3] = rotation
        poses[:, :3, 3] = np.stack(
            np.broadcast_arrays(x, axes[1][:, None], axes[2]), axis=-1).reshape(-1, 3)
        margins[i] = _least(geometry, meter.margins(poses)).reshape(shape[1:])
        values[i] = meter.signed_values(poses).reshape(shape[1:])
        progress((i + 1) / shape[0])
    home = tuple(int(np.abs(axis - h).argmin()) for axis, h in zip(axes, home_position))
    regular = (margins >= 0.0) & (values * np.sign(values[home]) > threshold)
    parts, _ = ndimage.label(regular)
    usable = regular & (parts == parts[home]) if parts[home] else np.zeros(shape, dtype=bool)
    return WorkspaceMap(axes, margins, values, usable)


def _least(geometry: StewartGeometry, margins: LimitMargins) -> Array:
    """Return the least margin of each pose: lines without a diameter may come as near as 0."""
    least = np.minimum(margins.travel.min(axis=-1), margins.joint_angles.min(axis=-1))
    return np.minimum(least, margins.clearance.min(axis=-1)) if geometry.leg_diameter else least
