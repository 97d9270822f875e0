# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Numbers, axes and poses as a description gives them, checked."""

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.lie import se3


def pose(translation: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """
    Return the matrix (4, 4) of a translation (m) and fixed-axis roll, pitch and yaw (rad).

    R = Rz(yaw) Ry(pitch) Rx(roll), as URDF has it (REP 103).
    """
    result = np.eye(4)
    result[:3, 3] = as_array('translation', translation, (3,))
    roll, pitch, yaw = as_array('rpy', rpy, (3,))
    cr, sr, cp, sp = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch)
    cy, sy = np.cos(yaw), np.sin(yaw)
    result[:3, :3] = (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr))
    return result


def checked_pose(name: str, value: ArrayLike) -> Array:
    """Return a pose (4, 4), read-only and cleaned of rounding, or raise what require_pose does."""
    return _read_only(se3.normalize(se3.require_pose(name, as_array(name, value, (4, 4)))))


def unit_axis(name: str, value: ArrayLike) -> Array:
    """Return the unit vector (3,) along a direction, read-only, or raise ModelError for zero."""
    axis = as_array(name, value, (3,))
    length = np.linalg.norm(axis)
    if length == 0.0:
        raise ModelError(f'{name}: expected a direction, got {axis.tolist()}')
    return _read_only(axis / length)


def axis_frame(axis: Array, second_axis: Array) -> Array:
    """Return the rotation whose z axis is the one and whose x axis is the other, both unit."""
    return np.column_stack((second_axis, np.cross(axis, second_axis), axis))


def perpendicular(axis: Array) -> Array:
    """Return the x axis turned by the shortest turn that brings z onto a unit axis, read-only."""
    x, y, z = axis
    if z < -0.5:  # half a turn about x first, so that the division below is by at least 1.5
        return _read_only(np.array([1.0 - x * x / (1.0 - z), -x * y / (1.0 - z), x]))
    return _read_only(np.array([1.0 - x * x / (1.0 + z), -x * y / (1.0 + z), -x]))


def _read_only(array: Array) -> Array:
    array.setflags(write=False)
    return array
