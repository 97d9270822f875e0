# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Checks of a platform's legs, whatever their number: sizes, types, limits and cones."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError, NameSetError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.leg_types import Crank, LegType, Stage, Wire
from liedyn_ros.stewart.platform.kernels.leg_rows import MAX_LEGS, MIN_LEGS

MAX_LATENCY = 1.0  # s
COINCIDENT = 1e-9  # of the platform's size, below which joints are at one point


def checked_names(value: Sequence[str]) -> tuple[str, ...]:
    """Return the names of legs, which must be different and MIN_LEGS to MAX_LEGS."""
    names = tuple(value)
    if not MIN_LEGS <= len(names) <= MAX_LEGS or len(set(names)) != len(names) or not all(
            isinstance(name, str) and name for name in names):
        raise NameSetError(f'leg_names: expected {MIN_LEGS} to {MAX_LEGS} different names, '
                           f'got {list(names)}', names=names, expected=MIN_LEGS, got=len(names))
    return names


def radius_of_gyration(points: Array) -> float:
    """Return the root mean square distance of points (n, 3) from their centroid."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


def coincide(points: Array, size: float) -> bool:
    """Return whether points (n, 3) are one point, to rounding of a size (m)."""
    return radius_of_gyration(points) <= COINCIDENT * size


def require_size(base: Array, platform: Array, leg_types: Sequence[LegType]) -> None:
    """Refuse joints that all coincide; cranks about one axis are carriages on a circular rail."""
    radii = [leg.radius for leg in leg_types if isinstance(leg, Crank)]
    sizes = max([radius_of_gyration(base), *radii]), radius_of_gyration(platform)
    for place, size in zip(('base', 'platform'), sizes):
        if size <= COINCIDENT * sum(sizes):
            raise GeometryError(f'{place}_joints: expected distinct joints, got all '
                                f'{len(base)} at one point')


def require_legs_apart(
        names: Sequence[str], base: Array, platform: Array, leg_types: Sequence[LegType]) -> None:
    """Refuse two legs between the same joints, unless they are the axes of a stage."""
    near = COINCIDENT * (radius_of_gyration(base) + radius_of_gyration(platform))
    squares = np.maximum(*(((joints[:, None] - joints) ** 2).sum(axis=2)
                           for joints in (base, platform)))
    same = squares <= near ** 2
    if np.count_nonzero(same) == len(names):  # each leg and itself
        return
    for i, j in np.argwhere(np.triu(same, 1)).tolist():
        if not _across(leg_types[i], leg_types[j]):
            raise GeometryError(
                f'joints: expected legs that differ at one end at least, {names[i]} and '
                f'{names[j]} go from {base[i].tolist()} to {platform[i].tolist()} both')


def _across(first: LegType, second: LegType) -> bool:
    """Return whether two legs are the two axes of one stage."""
    return isinstance(first, Stage) and isinstance(second, Stage) and (
        first.direction, first.guide) == (second.other, second.guide)


def checked_leg_types(names: Sequence[str], value: Sequence[LegType]) -> tuple[LegType, ...]:
    """Return the leg types of legs of these names, one each."""
    leg_types = tuple(value)
    if len(leg_types) != len(names) or not all(
            isinstance(leg_type, LegType) for leg_type in leg_types):
        raise GeometryError(
            f'leg_types: expected the leg type of each of {list(names)}, got {leg_types}')
    return leg_types


def checked_limits(names: Sequence[str], leg_types: Sequence[LegType], value: ArrayLike) -> Array:
    """Return the limits of drive coordinates, (n, 2), m or rad."""
    limits = checks.as_numbers('length_limits', value)
    if limits.shape != (len(names), 2):
        raise GeometryError(f'length_limits: expected shape ({len(names)}, 2), got {limits.shape}')
    for name, leg_type, (least, most) in zip(names, leg_types, limits):
        if not _least(leg_type) <= least < most:
            raise GeometryError(f'length limits of {name}: expected {_least(leg_type):g} <= '
                                f'shortest < longest, got {least}, {most}')
    return limits


def _least(leg_type: LegType) -> float:
    """Return the lower bound of a drive coordinate."""
    return 0.0 if leg_type.positive else -math.inf


def unlimited_cones(z: float, count: int = 6) -> Array:
    """Return cones about the z axis, upwards or downwards, that are no limit."""
    return np.tile([0.0, 0.0, z, math.pi], (count, 1))


def checked_cones(where: str, names: Sequence[str], value: ArrayLike, z: float) -> Array:
    """Return cones (n, 4), their axes as unit vectors; nothing for those that are no limit."""
    if np.size(value) == 0:
        return unlimited_cones(z, len(names))
    cones = checks.as_array(where, value, (len(names), 4)).copy()
    for name, cone in zip(names, cones):
        size = math.sqrt(cone[:3] @ cone[:3])
        if not (size > 0.0 and 0.0 < cone[3] <= math.pi):
            raise GeometryError(f'{where} of {name}: expected an axis that is not zero and an '
                                f'angle in (0, pi], got {cone[:3].tolist()}, {cone[3]}')
        cone[:3] /= size
    return cones


def checked_noise(names: Sequence[str], value: ArrayLike) -> Array:
    """Return the noise of each leg (n,): of all of them, or 0; nothing stands for 0."""
    noise = _of_each('leg_noise', names, value)
    if 0 < np.count_nonzero(noise) < len(noise):
        raise LimitError('leg_noise: expected numbers above 0, or 0 for all legs, got '
                         f'{dict(zip(names, noise.tolist()))}')
    return noise


def checked_latency(names: Sequence[str], value: ArrayLike) -> Array:
    """Return the latency of each leg's readings (n,), s; nothing stands for 0."""
    latency = _of_each('leg_latency', names, value)
    if (latency > MAX_LATENCY).any():
        raise LimitError(f'leg_latency: expected {MAX_LATENCY} s at most, got '
                         f'{dict(zip(names, latency.tolist()))}')
    return latency


def checked_home(value: ArrayLike | None) -> Array | None:
    """Return a home pose (4, 4), m, or None. Raises the errors of `require_pose`."""
    return None if value is None else se3.require_pose('home', value, (4, 4))


def checked_forces(
        names: Sequence[str], leg_types: Sequence[LegType], value: ArrayLike) -> Array:
    """Return the limits of the drives' forces (n, 2), N, N m of cranks; nothing for the usual."""
    if np.size(value) == 0:
        return np.array([usual_forces(leg_type) for leg_type in leg_types])
    limits = checks.as_numbers('force_limits', value)
    if limits.shape != (len(names), 2):
        raise GeometryError(f'force_limits: expected shape ({len(names)}, 2), got {limits.shape}')
    for name, leg_type, (least, most) in zip(names, leg_types, limits):
        if not least < most or (isinstance(leg_type, Wire) and most > 0.0):
            raise GeometryError(f'force limits of {name}: expected least < most, of a wire at '
                                f'most 0, got {least}, {most}')
    return limits


def usual_forces(leg_type: LegType) -> tuple[float, float]:
    """Return the limits of a drive's force where none are given: a wire pulls."""
    return -math.inf, 0.0 if isinstance(leg_type, Wire) else math.inf


def _of_each(where: str, names: Sequence[str], value: ArrayLike) -> Array:
    """Return a number of each leg (n,), from zero on."""
    numbers = np.zeros(len(names)) if np.size(value) == 0 else checks.as_array(
        where, value, (len(names),))
    if (numbers < 0.0).any():
        raise LimitError(f'{where}: expected numbers from 0 on, got '
                         f'{dict(zip(names, numbers.tolist()))}')
    return numbers


def checked_diameter(value: ArrayLike) -> float:
    """Return the diameter of the legs, m."""
    diameter = checks.as_number('leg_diameter', value)
    if diameter < 0.0:
        raise GeometryError(f'leg_diameter: expected 0 m or more, got {diameter}')
    return diameter
