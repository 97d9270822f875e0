# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The geometry of a Stewart platform: joints, limits, types and names of its legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError, NameSetError
from liedyn_ros.stewart.platform.leg_types import (
    Crank, LegType, OffsetStrut, Rail, row, Stage, Strut, Wire)
from liedyn_ros.stewart.platform.masses import PlatformMasses

COINCIDENT = 1e-9  # of the platform's size, below which joints are at one point


@dataclass(frozen=True, eq=False)
class StewartGeometry:
    """
    Six legs, each from a base joint to a platform joint; immutable.

    Joints of several legs may coincide, at one end or at both ends of different legs (6-3, 3-3).
    Cranks of one axis may share their base joint: they are the carriages of a circular rail.

    leg_names: six different names; their order is the order of every array of drive coordinates.
    base_joints: (6, 3) m, in the base frame. platform_joints: (6, 3) m, in the platform frame.
    length_limits: (6, 2), bounds of each drive coordinate: m, or rad of a crank. Without a limit
    they are 0, or -infinity where a coordinate may be negative, and infinity.
    base_cones, platform_cones: (6, 4), how far each joint may turn. Three entries point from the
    joint along its leg in the middle of the range, in the frame that holds the joint. The
    fourth is the largest angle (rad) of the leg from it; pi where there is no limit.
    leg_diameter: m, of the legs as cylinders; 0 where it is not known.
    leg_types: the type of each leg, in leg order. masses: None where they are not known;
    only dynamics needs them. characteristic_length: m, the platform joints' radius of gyration,
    which turns radians into metres.

    Raises GeometryError, ShapeError, NotFiniteError or NameSetError.
    """

    leg_names: tuple[str, ...]
    base_joints: Array
    platform_joints: Array
    length_limits: Array
    name: str = 'stewart_platform'
    base_cones: Array = field(default_factory=lambda: unlimited_cones(1.0))
    platform_cones: Array = field(default_factory=lambda: unlimited_cones(-1.0))
    leg_diameter: float = 0.0
    leg_types: tuple[LegType, ...] = (Strut(),) * 6
    masses: PlatformMasses | None = None
    characteristic_length: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parts and freeze them."""
        names = tuple(self.leg_names)
        if len(names) != 6 or len(set(names)) != 6 or not all(
                isinstance(name, str) and name for name in names):
            raise NameSetError(f'leg_names: expected six different names, got {list(names)}')
        base = checks.as_array('base_joints', self.base_joints, (6, 3))
        platform = checks.as_array('platform_joints', self.platform_joints, (6, 3))
        leg_types = _leg_types(names, self.leg_types)
        _require_size(base, platform, leg_types)
        _require_legs_apart(names, base, platform, leg_types)
        values = {'leg_names': names, 'base_joints': base, 'platform_joints': platform,
                  'leg_types': leg_types,
                  'length_limits': _limits(names, leg_types, self.length_limits),
                  'base_cones': _cones('base_cones', names, self.base_cones),
                  'platform_cones': _cones('platform_cones', names, self.platform_cones),
                  'leg_diameter': _diameter(self.leg_diameter),
                  'characteristic_length': radius_of_gyration(platform)}
        for key, value in values.items():
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.setflags(write=False)
            object.__setattr__(self, key, value)

    def __eq__(self, other: object) -> bool:
        """Return whether another geometry has the same parts."""
        if not isinstance(other, StewartGeometry):
            return NotImplemented
        return all(np.array_equal(mine, others) for mine, others in zip(
            self._parts(), other._parts()))

    def __hash__(self) -> int:
        """Return a hash of name and joints."""
        return hash((self.name, self.leg_names, self.base_joints.tobytes(),
                     self.platform_joints.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by building again: the arrays of the copy are read-only too."""
        return type(self), self._parts()

    def _parts(self) -> tuple[Any, ...]:
        """Return the arguments of the geometry."""
        return tuple(getattr(self, part.name) for part in fields(self) if part.init)

    @property
    def plain(self) -> bool:
        """Return whether all legs are struts between joints whose axes meet."""
        return all(isinstance(leg, Strut) for leg in self.leg_types)

    @property
    def driven(self) -> bool:
        """Return whether there are rails or cranks."""
        return any(isinstance(leg, Rail | Crank) for leg in self.leg_types)

    @property
    def signed(self) -> bool:
        """Return whether there are drive coordinates that may be zero."""
        return not all(leg.positive for leg in self.leg_types)

    @property
    def staged(self) -> bool:
        """Return whether there are legs of two driven axes."""
        return any(isinstance(leg, Stage) for leg in self.leg_types)

    @property
    def reading_unit(self) -> tuple[float, str]:
        """
        Return the distance (m) that one unit of a reading moves the end of a drive, and its name.

        Where all legs are cranks it is their mean radius, and rad; else 1, and m.
        """
        cranks = all(isinstance(leg, Crank) for leg in self.leg_types)
        return (float(self.drive_scales.mean()), 'rad') if cranks else (1.0, 'm')

    @property
    def drive_scales(self) -> Array:
        """Return the distance (6,), m, that one unit of a reading moves the end of the drive."""
        return np.array([leg.radius if isinstance(leg, Crank) else 1.0 for leg in self.leg_types])

    @property
    def following(self) -> tuple[str, ...]:
        """Return the names of the legs whose ends follow the pose, their value being held too."""
        return tuple(name for name, leg_type in zip(self.leg_names, self.leg_types)
                     if isinstance(leg_type, OffsetStrut | Wire | Stage))

    @property
    def base_outline(self) -> Array:
        """Return points (6, 3), m, about the base: its joints, or six of a circular rail."""
        rails = [leg for leg in self.leg_types if isinstance(leg, Crank)]
        if not rails or not coincide(self.base_joints, self.characteristic_length):
            return self.base_joints
        angles, rail = np.arange(6) * math.pi / 3.0, rails[0]
        return np.asarray(self.base_joints[0] + rail.radius * (
            np.outer(np.cos(angles), rail.zero)
            + np.outer(np.sin(angles), np.cross(rail.axis, rail.zero))))

    def table(self, unit: float = 1.0) -> Array:
        """
        Return the kernels' table of the legs, lengths in a unit (m).

        The kernels write the positions of the legs' ends into it: one for each thread.
        """
        ends = np.concatenate((self.base_joints, self.platform_joints)).ravel() / unit
        if self.plain:
            return ends
        rows = [row(leg_type, base, platform, unit) for leg_type, base, platform in zip(
            self.leg_types, self.base_joints, self.platform_joints)]
        return np.concatenate((ends, *rows))

    def require_values(self, values: Array) -> Array:
        """Return drive coordinates (..., 6); raise LimitError where a strut's is not positive."""
        lengths = np.array([leg.positive for leg in self.leg_types])
        bad = np.argwhere((values <= 0.0) & lengths)
        if len(bad):
            where = tuple(int(i) for i in bad[0])
            raise LimitError(f'lengths{list(where)}: expected a positive length in m, '
                             f'got {values[where]}', names=(self.leg_names[where[-1]],),
                             expected=0.0, got=float(values[where]), indices=where)
        return values

    def within_limits(self, lengths: ArrayLike) -> NDArray[np.bool_]:
        """Return for each drive coordinate (..., 6), m or rad, whether it is within its limits."""
        lengths = checks.as_numbers('lengths', lengths)
        return (self.length_limits[:, 0] <= lengths) & (lengths <= self.length_limits[:, 1])

    def require_within_limits(self, lengths: Array) -> None:
        """Raise LimitError naming the first leg whose drive coordinate is beyond its limits."""
        within = self.within_limits(lengths)
        if not within.all():
            leg = int(np.argmin(within))
            least, most = self.length_limits[leg]
            leg_type = self.leg_types[leg]
            driven = {Rail: 'position', Stage: 'position', Crank: 'angle'}
            what = driven.get(type(leg_type), 'length')
            raise LimitError(f'{what} of {self.leg_names[leg]}: expected {least} to {most} '
                             f'{leg_type.unit}, got {lengths[leg]}',
                             names=(self.leg_names[leg],), expected=(float(least), float(most)),
                             got=float(lengths[leg]), indices=(leg,))


def radius_of_gyration(points: Array) -> float:
    """Return the root mean square distance of points (n, 3) from their centroid."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


def coincide(points: Array, size: float) -> bool:
    """Return whether points (n, 3) are one point, to rounding of a size (m)."""
    return radius_of_gyration(points) <= COINCIDENT * size


def _require_size(base: Array, platform: Array, leg_types: Sequence[LegType]) -> None:
    """Refuse joints that all coincide; cranks about one axis are carriages on a circular rail."""
    radii = [leg.radius for leg in leg_types if isinstance(leg, Crank)]
    sizes = max([radius_of_gyration(base), *radii]), radius_of_gyration(platform)
    for place, size in zip(('base', 'platform'), sizes):
        if size <= COINCIDENT * sum(sizes):
            raise GeometryError(f'{place}_joints: expected joints apart, got all six at one point')


def _require_legs_apart(names: Sequence[str], base: Array, platform: Array,
                        leg_types: Sequence[LegType]) -> None:
    """Refuse two legs between the same joints, unless they are the axes of a stage."""
    near = COINCIDENT * (radius_of_gyration(base) + radius_of_gyration(platform))
    for i, j in itertools.combinations(range(6), 2):
        apart = max(np.linalg.norm(joints[i] - joints[j]) for joints in (base, platform))
        if apart <= near and not _across(leg_types[i], leg_types[j]):
            raise GeometryError(
                f'joints: expected legs apart at one end at least, {names[i]} and {names[j]} go '
                f'from {base[i].tolist()} to {platform[i].tolist()} both')


def _across(first: LegType, second: LegType) -> bool:
    """Return whether two legs are the two axes of one stage."""
    return isinstance(first, Stage) and isinstance(second, Stage) and (
        first.direction, first.guide) == (second.other, second.guide)


def _leg_types(names: Sequence[str], value: Sequence[LegType]) -> tuple[LegType, ...]:
    leg_types = tuple(value)
    if len(leg_types) != len(names) or not all(
            isinstance(leg_type, LegType) for leg_type in leg_types):
        raise GeometryError(
            f'leg_types: expected the leg type of each of {list(names)}, got {leg_types}')
    return leg_types


def _limits(names: Sequence[str], leg_types: Sequence[LegType], value: ArrayLike) -> Array:
    limits = checks.as_numbers('length_limits', value)
    if limits.shape != (6, 2):
        raise GeometryError(f'length_limits: expected shape (6, 2), got {limits.shape}')
    for name, leg_type, (least, most) in zip(names, leg_types, limits):
        if not _least(leg_type) <= least < most:
            raise GeometryError(f'length limits of {name}: expected {_least(leg_type):g} <= '
                                f'shortest < longest, got {least}, {most}')
    return limits


def _least(leg_type: LegType) -> float:
    """Return the lower bound of a drive coordinate."""
    return 0.0 if leg_type.positive else -math.inf


def unlimited_cones(z: float) -> Array:
    """Return cones about the z axis, upwards or downwards, that are no limit."""
    return np.tile([0.0, 0.0, z, math.pi], (6, 1))


def _cones(where: str, names: Sequence[str], value: ArrayLike) -> Array:
    cones = checks.as_array(where, value, (6, 4)).copy()
    for name, cone in zip(names, cones):
        size = np.linalg.norm(cone[:3])
        if not (size > 0.0 and 0.0 < cone[3] <= math.pi):
            raise GeometryError(f'{where} of {name}: expected an axis that is not zero and an '
                                f'angle in (0, pi], got {cone[:3].tolist()}, {cone[3]}')
        cone[:3] /= size
    return cones


def _diameter(value: ArrayLike) -> float:
    diameter = checks.as_number('leg_diameter', value)
    if diameter < 0.0:
        raise GeometryError(f'leg_diameter: expected 0 m or more, got {diameter}')
    return diameter
