# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Numbers, axes and poses as a description gives them, checked."""

from __future__ import annotations

from functools import lru_cache
import math
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_triple
from liedyn_ros.common.errors import ModelError
from liedyn_ros.lie import se3, so3

_ROUNDING = 2e-15


def pose(translation: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """
    Return the matrix of a translation and fixed-axis roll, pitch and yaw.

    R = Rz(yaw) Ry(pitch) Rx(roll), as URDF has it (REP 103).

    Args:
        translation: (3,), m.
        rpy: (3,), rad.

    Returns:
        pose (4, 4).

    Raises:
        LiedynError: for other shapes, or numbers that are not finite.

    >>> float(ld.pose([0.0, 0.0, 0.1])[2, 3])
    0.1
    """
    x, y, z = as_triple('translation', translation)
    roll, pitch, yaw = as_triple('rpy', rpy)
    if roll == pitch == yaw == 0.0:
        matrix = IDENTITY.copy()
        matrix[:3, 3] = x, y, z
        return matrix
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array((
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, x),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr, y),
        (-sp, cp * sr, cp * cr, z), (0.0, 0.0, 0.0, 1.0)))


def quaternion_pose(translation: ArrayLike, quaternion: ArrayLike) -> Array:
    """Return the matrix (4, 4) of a translation (m) and of x, y, z, w, of any length but zero."""
    turn = np.array(quaternion, dtype=np.float64)
    return se3.from_rotation_translation(
        so3.from_quaternion(turn / np.linalg.norm(turn)), np.array(translation, np.float64))


def checked_pose(name: str, value: ArrayLike) -> Array:
    """Return a pose (4, 4), read-only and cleaned of rounding, with the errors of require_pose."""
    if type(value) is np.ndarray and value.shape == (4, 4) and _is_exact(value):
        return _read_only(np.array(value, dtype=np.float64))
    matrix = np.array(as_array(name, value, (4, 4)))
    if not _is_exact(matrix):
        matrix = se3.normalize(se3.require_pose(name, matrix))
    return _read_only(matrix)


def _is_exact(matrix: NDArray[Any]) -> bool:
    """Return whether a matrix (4, 4) is a pose but for rounding, which takes no array to tell."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), last = matrix.tolist()
    return bool(
        last == [0.0, 0.0, 0.0, 1.0] and isfinite(x) and isfinite(y) and isfinite(z)
        and abs(a * a + b * b + c * c - 1.0) <= _ROUNDING
        and abs(d * d + e * e + f * f - 1.0) <= _ROUNDING
        and abs(a * d + b * e + c * f) <= _ROUNDING
        and abs(b * f - c * e - g) <= _ROUNDING  # z is x cross y
        and abs(c * d - a * f - h) <= _ROUNDING
        and abs(a * e - b * d - i) <= _ROUNDING)


def unit_axis(name: str, value: ArrayLike) -> Array:
    """Return the unit vector (3,) along a direction, read-only, or raise ModelError for zero."""
    axis = as_triple(name, value)
    if not any(axis):
        raise ModelError(f'{name}: expected a direction, got {list(axis)}')
    return _unit(*axis)


@lru_cache(maxsize=1000)
def _unit(x: float, y: float, z: float) -> Array:
    """Return the unit vector along a direction; equal ones are shared."""
    largest = max(abs(x), abs(y), abs(z))
    x, y, z = x / largest, y / largest, z / largest  # whose square neither vanishes nor overflows
    length = math.sqrt(x * x + y * y + z * z)
    return _read_only(np.array((x / length, y / length, z / length)))


def axis_frame(axis: Array, second_axis: Array) -> Array:
    """Return the rotation whose z axis is the one and whose x axis is the other, both unit."""
    (a, b, c), (d, e, f) = axis.tolist(), second_axis.tolist()
    return np.array(((d, b * f - c * e, a), (e, c * d - a * f, b), (f, a * e - b * d, c)))


def perpendicular(axis: Array) -> Array:
    """Return the x axis turned by the shortest turn that brings z onto a unit axis, read-only."""
    return _perpendicular(*axis.tolist())


@lru_cache(maxsize=1000)
def _perpendicular(x: float, y: float, z: float) -> Array:
    if z < -0.5:  # half a turn about x first, so that the division below is by at least 1.5
        return _read_only(np.array([1.0 - x * x / (1.0 - z), -x * y / (1.0 - z), x]))
    return _read_only(np.array([1.0 - x * x / (1.0 + z), -x * y / (1.0 + z), -x]))


def _read_only(array: Array) -> Array:
    array.setflags(write=False)
    return array


IDENTITY = _read_only(np.eye(4))
