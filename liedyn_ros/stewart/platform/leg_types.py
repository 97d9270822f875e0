# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Leg types: the part that the drive moves, and the places of the joints.

Every leg has one drive coordinate, which its drive sets and its sensor reads. It is the length of
a strut (m), the position of a carriage on its rail (m), or the angle of a crank (rad). `driven` is
the key of the part at the base in a geometry file.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.stewart.platform.kernels import leg_types as kernels


@dataclass(frozen=True)
class Strut:
    """A leg of variable length between joints whose axes meet: the leg of the textbooks."""

    kind: ClassVar[int] = kernels.STRUT
    unit: ClassVar[str] = 'm'
    driven: ClassVar[str] = 'cylinder'


@dataclass(frozen=True)
class OffsetStrut:
    """
    A leg of variable length on universal joints whose two axes do not meet.

    base_axis: (3,), the direction of the first axis, fixed to the base and through the base
    joint, base frame. base_offset: m, from there to the second axis, 0 where they meet.
    platform_axis, platform_offset: likewise on the platform, platform frame. The length is from
    second axis to second axis (14.38). Raises GeometryError.
    """

    base_axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    base_offset: float = 0.0
    platform_axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    platform_offset: float = 0.0

    kind: ClassVar[int] = kernels.OFFSET
    unit: ClassVar[str] = 'm'
    driven: ClassVar[str] = 'cylinder'

    def __post_init__(self) -> None:
        """Check the parts."""
        for end in ('base', 'platform'):
            _set_direction(self, f'{end}_axis')
            offset = checks.as_number(f'{end}_offset', getattr(self, f'{end}_offset'))
            if offset < 0.0:
                raise GeometryError(f'{end}_offset: expected 0 m or more, got {offset}')


@dataclass(frozen=True)
class Rail:
    """
    A rod of fixed length from a carriage on a rail: the leg of a hexaglide.

    direction: (3,), of the rail, base frame; the carriage is on the base joint at position 0.
    rod: m. pushes: whether a motion along the direction pushes the platform joint through the
    rod, or pulls it. Of the two positions of the carriage for a pose, it chooses the one behind
    the platform joint, or the one ahead (14.36). Raises GeometryError.
    """

    direction: tuple[float, ...]
    rod: float
    pushes: bool = True

    kind: ClassVar[int] = kernels.RAIL
    unit: ClassVar[str] = 'm'
    driven: ClassVar[str] = 'carriage'

    def __post_init__(self) -> None:
        """Check the parts."""
        _set_direction(self, 'direction')
        _require_positive('rod', self.rod)


@dataclass(frozen=True)
class Crank:
    """
    A rod of fixed length from a crank: the leg of a rotary hexapod.

    axis: (3,), of the motor, through the base joint, base frame. zero: (3,), the direction of
    the crank at angle 0, across the axis. radius: m, of the crank. rod: m. pushes: whether a
    positive turn pushes the platform joint through the rod, else pulls it: one of the crank's
    two angles for a pose (14.37). Raises GeometryError.
    """

    axis: tuple[float, ...]
    zero: tuple[float, ...]
    radius: float
    rod: float
    pushes: bool = True

    kind: ClassVar[int] = kernels.CRANK
    unit: ClassVar[str] = 'rad'
    driven: ClassVar[str] = 'crank'

    def __post_init__(self) -> None:
        """Check the parts."""
        for name in ('axis', 'zero'):
            _set_direction(self, name)
        lean = float(np.dot(self.axis, self.zero))
        if abs(lean) > 1e-6:
            raise GeometryError(f'crank: expected zero across the axis, got {list(self.zero)} and '
                                f'{list(self.axis)}')
        for name in ('radius', 'rod'):
            _require_positive(name, getattr(self, name))


LegType = Strut | OffsetStrut | Rail | Crank


def row(leg_type: LegType, base: Array, platform: Array, unit: float) -> Array:
    """Return a leg's row of the kernels' table, lengths in a unit (m); see kernels.leg_types."""
    numbers = np.zeros(kernels.ROW)
    numbers[kernels.KIND] = leg_type.kind
    numbers[kernels.BASE:kernels.BASE + 3] = base / unit
    numbers[kernels.PLATFORM:kernels.PLATFORM + 3] = platform / unit
    numbers[kernels.UNIT] = numbers[kernels.SIZE] = unit
    first, second = numbers[kernels.FIRST:][:3], numbers[kernels.SECOND:][:3]
    if isinstance(leg_type, OffsetStrut):
        first[:], second[:] = leg_type.base_axis, leg_type.platform_axis
        numbers[kernels.LENGTH] = leg_type.base_offset / unit
        numbers[kernels.OTHER] = leg_type.platform_offset / unit
    elif isinstance(leg_type, Rail):
        first[:] = leg_type.direction
        numbers[kernels.LENGTH] = leg_type.rod / unit
    elif isinstance(leg_type, Crank):
        first[:], second[:] = leg_type.zero, np.cross(leg_type.axis, leg_type.zero)
        numbers[kernels.LENGTH] = leg_type.rod / unit
        numbers[kernels.OTHER] = leg_type.radius / unit
        numbers[kernels.UNIT] = 1.0
    if isinstance(leg_type, Rail | Crank):
        numbers[kernels.SIDE] = 1.0 if leg_type.pushes else -1.0
    return numbers


def _set_direction(leg_type: LegType, name: str) -> None:
    """Replace a vector by its unit vector."""
    vector = checks.as_array(name, np.asarray(getattr(leg_type, name)), (3,))
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        raise GeometryError(f'{name}: expected a direction, got {vector.tolist()}')
    object.__setattr__(leg_type, name, tuple((vector / size).tolist()))


def _require_positive(name: str, value: float) -> None:
    if not checks.as_number(name, value) > 0.0:
        raise GeometryError(f'{name}: expected more than 0 m, got {value}')
