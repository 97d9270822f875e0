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

"""The geometry of a Stewart platform: where the legs are fixed, how long they may be, names."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LiedynError, LimitError, NameSetError
from liedyn_ros.common.yaml_reader import Node, read


@dataclass(frozen=True, eq=False)
class StewartGeometry:
    """
    Six legs, each from a base joint to a platform joint; immutable.

    leg_names: six different names; their order is the order of every array of leg values.
    base_joints: (6, 3) m, in the base frame. platform_joints: (6, 3) m, in the platform frame.
    length_limits: (6, 2) m, the shortest and longest leg; 0 and infinity where there is none.
    base_cones, platform_cones: (6, 4), how far each joint may turn: a unit vector from the joint
    along its leg in the middle of the range, in the frame that holds the joint, and the largest
    angle (rad) of the leg from it; pi where there is no limit.
    leg_diameter: m, of the legs as cylinders; 0 where it is not known.
    joints: (36,) m, base joints and then platform joints, as the kernels take them.

    Raises GeometryError, ShapeError, NotFiniteError or NameSetError.
    """

    leg_names: tuple[str, ...]
    base_joints: Array
    platform_joints: Array
    length_limits: Array
    name: str = 'stewart_platform'
    base_cones: Array = field(default_factory=lambda: _any_direction(1.0))
    platform_cones: Array = field(default_factory=lambda: _any_direction(-1.0))
    leg_diameter: float = 0.0
    joints: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parts and freeze them."""
        names = tuple(self.leg_names)
        if len(names) != 6 or len(set(names)) != 6:
            raise NameSetError(f'leg_names: expected six different names, got {list(names)}')
        base = checks.as_array('base_joints', self.base_joints, (6, 3))
        platform = checks.as_array('platform_joints', self.platform_joints, (6, 3))
        for place, joints in (('base', base), ('platform', platform)):
            _require_distinct(place, names, joints)
        values = {'leg_names': names, 'base_joints': base, 'platform_joints': platform,
                  'length_limits': _limits(names, self.length_limits),
                  'base_cones': _cones('base_cones', names, self.base_cones),
                  'platform_cones': _cones('platform_cones', names, self.platform_cones),
                  'leg_diameter': _diameter(self.leg_diameter),
                  'joints': np.concatenate((base, platform)).ravel()}
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
        """Return a hash of what two equal geometries share."""
        return hash((self.name, self.leg_names, self.joints.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by building again: the arrays of the copy are read-only too."""
        return type(self), self._parts()

    def _parts(self) -> tuple[Any, ...]:
        """Return what the geometry was built from."""
        return tuple(getattr(self, part.name) for part in fields(self) if part.init)

    @property
    def characteristic_length(self) -> float:
        """Return the platform joints' radius of gyration (m): what turns radians into metres."""
        return radius_of_gyration(self.platform_joints)

    def within_limits(self, lengths: ArrayLike) -> NDArray[np.bool_]:
        """Return for each leg length (..., 6), m, whether the leg can be that long."""
        lengths = np.asarray(lengths)
        return (self.length_limits[:, 0] <= lengths) & (lengths <= self.length_limits[:, 1])

    def require_within_limits(self, lengths: Array) -> None:
        """Raise LimitError naming the first leg whose length (6,), m, is beyond its limits."""
        within = self.within_limits(lengths)
        if not within.all():
            leg = int(np.argmin(within))
            least, most = self.length_limits[leg]
            raise LimitError(f'length of {self.leg_names[leg]}: expected {least} to {most} m, '
                             f'got {lengths[leg]}')

    @classmethod
    def from_yaml(cls, path: str | Path) -> 'StewartGeometry':
        """Read a geometry file; see docs/conventions.md for its form. Raises GeometryError."""
        try:
            return _described(read(path, 'geometry'))
        except LiedynError as error:
            raise GeometryError(f'{path}: {error}') from error

    @classmethod
    def from_mapping(cls, document: Any) -> 'StewartGeometry':
        """
        Build from a geometry file's content, in metres; see docs/conventions.md.

        Raises DescriptionError, or what a geometry raises.
        """
        return _described(Node(document, 'geometry'))


def radius_of_gyration(points: Array) -> float:
    """Return the root mean square distance of points (n, 3) from their centroid."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


def _require_distinct(place: str, names: Sequence[str], joints: Array) -> None:
    size = radius_of_gyration(joints)
    for (i, a), (j, b) in itertools.combinations(enumerate(joints), 2):
        if np.linalg.norm(a - b) <= 1e-9 * size:
            raise GeometryError(
                f'{place}_joints: expected joints apart, '
                f'those of {names[i]} and {names[j]} coincide at {a.tolist()}')


def _limits(names: Sequence[str], value: ArrayLike) -> Array:
    limits = checks.as_numbers('length_limits', value)
    if limits.shape != (6, 2):
        raise GeometryError(f'length_limits: expected shape (6, 2), got {limits.shape}')
    for name, (least, most) in zip(names, limits):
        if not 0.0 <= least < most:
            raise GeometryError(
                f'length limits of {name}: expected 0 <= shortest < longest, got {least}, {most}')
    return limits


def _any_direction(z: float) -> Array:
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


def _described(root: Node) -> StewartGeometry:
    legs = root.take('legs')
    named = legs.items()
    if len(named) != 6:
        raise GeometryError(f'{legs.path}: expected six legs, got {[name for name, _ in named]}')
    base, platform, limits = np.empty((6, 3)), np.empty((6, 3)), np.empty((6, 2))
    cones = {'base_cone': _any_direction(1.0), 'platform_cone': _any_direction(-1.0)}
    for k, (_, leg) in enumerate(named):
        base[k], platform[k] = leg.take('base').numbers(3), leg.take('platform').numbers(3)
        limits[k] = leg.take('length', [0.0, math.inf]).numbers(2, infinite=True)
        for key, rows in cones.items():
            cone = leg.optional(key)
            if cone is not None:
                rows[k] = *cone.take('axis').numbers(3), cone.take('angle').number()
                cone.finish()
        leg.finish()
    name, diameter = root.take('name', 'stewart_platform'), root.take('leg_diameter', 0.0)
    root.finish()
    return StewartGeometry(
        tuple(leg_name for leg_name, _ in named), base, platform, limits, name.text(),
        cones['base_cone'], cones['platform_cone'], diameter.number())
