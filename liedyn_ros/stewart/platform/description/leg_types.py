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
a strut (m), the position of a carriage or a stage (m), or the angle of a crank (rad). `driven` is
the key of the part at the base in a geometry file; `positive` is whether the coordinate is a
length. `on_platform` are the names of the vectors that are in the platform's frame.
"""

from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.stewart.platform.kernels import leg_rows as kernels

LEAST_SINE = 1e-3  # of the angle between vectors of a stage


@dataclass(frozen=True)
class Strut:
    """
    A leg of variable length between joints whose axes meet: the leg of the textbooks.

    fixed: m, the length of a rod without a drive or a reading; 0 of a leg whose length varies.
    Raises GeometryError.

    >>> Strut().unit
    'm'
    """

    fixed: float = 0.0

    kind: ClassVar[int] = kernels.STRUT
    unit: ClassVar[str] = 'm'
    driven: ClassVar[str] = 'cylinder'
    positive: ClassVar[bool] = True
    on_platform: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Check the length."""
        if not 0.0 <= checks.as_number('fixed', self.fixed) < math.inf:
            raise GeometryError(f'fixed: expected a length above 0 m, got {self.fixed}')


@dataclass(frozen=True)
class OffsetStrut:
    """
    A leg of variable length on two universal joints, whose axes need not meet.

    base_axis: (3,), the direction of the first axis, fixed to the base and through the base
    joint, base frame. base_offset: m, from there to the second axis, 0 where they meet.
    platform_axis, platform_offset: likewise on the platform, platform frame. The length is from
    second axis to second axis (14.38).

    lead: m per turn, of a spindle that the platform's joint holds, against a nut that the base's
    joint holds: above zero of a right-hand thread. The reading is the turns of the motor times
    the lead; the turn of one joint against the other adds to the length (14.42). lead_zero: rad,
    of that turn, at which the reading is the length. Raises GeometryError.

    >>> OffsetStrut(base_axis=(1.0, 0.0, 0.0), base_offset=0.02).lead
    0.0
    """

    base_axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    base_offset: float = 0.0
    platform_axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    platform_offset: float = 0.0
    lead: float = 0.0
    lead_zero: float = 0.0

    kind: ClassVar[int] = kernels.OFFSET
    unit: ClassVar[str] = 'm'
    driven: ClassVar[str] = 'cylinder'
    positive: ClassVar[bool] = True
    on_platform: ClassVar[tuple[str, ...]] = ('platform_axis',)

    def __post_init__(self) -> None:
        """Check the parts."""
        for end in ('base', 'platform'):
            _set_direction(self, f'{end}_axis')
            offset = checks.as_number(f'{end}_offset', getattr(self, f'{end}_offset'))
            if offset < 0.0:
                raise GeometryError(f'{end}_offset: expected 0 m or more, got {offset}')
        for name in ('lead', 'lead_zero'):
            object.__setattr__(self, name, checks.as_number(name, getattr(self, name)))


@dataclass(frozen=True)
class Rail:
    """
    A rod of fixed length from a carriage on a rail: the leg of a hexaglide.

    direction: (3,), of the rail, base frame; the carriage is on the base joint at position 0.
    rod: m. pushes: whether a motion along the direction pushes the platform joint through the
    rod, or pulls it. Of the two positions of the carriage for a pose, it chooses the one behind
    the platform joint, or the one ahead (14.36). Raises GeometryError.

    >>> Rail(direction=(0.0, 0.0, 1.0), rod=0.4).driven
    'carriage'
    """

    direction: tuple[float, ...]
    rod: float
    pushes: bool = True

    kind: ClassVar[int] = kernels.RAIL
    unit: ClassVar[str] = 'm'
    driven: ClassVar[str] = 'carriage'
    positive: ClassVar[bool] = False
    on_platform: ClassVar[tuple[str, ...]] = ()

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

    >>> Crank(axis=(0.0, 1.0, 0.0), zero=(1.0, 0.0, 0.0), radius=0.05, rod=0.3).unit
    'rad'
    """

    axis: tuple[float, ...]
    zero: tuple[float, ...]
    radius: float
    rod: float
    pushes: bool = True

    kind: ClassVar[int] = kernels.CRANK
    unit: ClassVar[str] = 'rad'
    driven: ClassVar[str] = 'crank'
    positive: ClassVar[bool] = False
    on_platform: ClassVar[tuple[str, ...]] = ()

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


@dataclass(frozen=True)
class Wire:
    """
    A wire to the platform joint over a pulley that swivels, such as a cable or a wire encoder.

    axis: (3,), along which the wire arrives at the base joint, base frame; the pulley swivels
    about it and touches it there. radius: m, from the pulley's middle to the wire's. The length
    is the free wire's and that on the pulley, from the base joint on (14.43). Raises
    GeometryError.

    >>> Wire(axis=(0.0, 0.0, 1.0), radius=0.03).unit
    'm'
    """

    axis: tuple[float, ...]
    radius: float

    kind: ClassVar[int] = kernels.WIRE
    unit: ClassVar[str] = 'm'
    driven: ClassVar[str] = 'cylinder'
    positive: ClassVar[bool] = True
    on_platform: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Check the parts."""
        _set_direction(self, 'axis')
        _require_positive('radius', self.radius)


@dataclass(frozen=True)
class Stage:
    """
    One of the two driven axes of a leg: two such legs have the same joints and guide.

    direction: (3,), of this axis, base frame; other: (3,), of the leg's other axis. Together they
    move a point, on the base joint at positions 0. guide: (3,), along which the platform joint
    slides from that point, base frame. With carried, the guide is fixed to the platform instead,
    through the platform joint, platform frame: the point slides along it (14.44). Raises
    GeometryError.

    >>> Stage(direction=(1.0, 0.0, 0.0), other=(0.0, 1.0, 0.0), guide=(0.0, 0.0, 1.0)).carried
    False
    """

    direction: tuple[float, ...]
    other: tuple[float, ...]
    guide: tuple[float, ...]
    carried: bool = False

    unit: ClassVar[str] = 'm'
    driven: ClassVar[str] = 'carriage'
    positive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the parts."""
        for name in ('direction', 'other', 'guide'):
            _set_direction(self, name)
        if float(np.linalg.norm(np.cross(self.direction, self.other))) < LEAST_SINE:
            raise GeometryError('stage: expected two directions, got '
                                f'{list(self.direction)} and {list(self.other)}')
        if not self.carried and abs(float(self.normal @ self.guide)) < LEAST_SINE:
            raise GeometryError('stage: expected a guide that leaves the plane of the two axes, '
                                f'got {list(self.guide)}')

    @property
    def kind(self) -> int:
        """Return the kind of the kernels."""
        return kernels.CARRIED_STAGE if self.carried else kernels.STAGE

    @property
    def on_platform(self) -> tuple[str, ...]:
        """Return the names of the vectors in the platform's frame."""
        return ('guide',) if self.carried else ()

    @property
    def normal(self) -> Array:
        """Return the unit normal of the plane of the two axes."""
        normal = np.cross(self.direction, self.other)
        return np.asarray(normal / np.linalg.norm(normal))

    @property
    def dual(self) -> Array:
        """Return the vector in the plane whose product with a way is its part along this axis."""
        across = np.cross(self.other, self.normal)
        return np.asarray(across / (across @ self.direction))


LegType = Strut | OffsetStrut | Rail | Crank | Wire | Stage


def row(leg_type: LegType, base: Array, platform: Array, unit: float) -> Array:
    """Return a leg's row of the kernels' table, lengths in a unit (m); see kernels.leg_rows."""
    numbers = np.zeros(kernels.ROW)
    numbers[kernels.KIND] = leg_type.kind
    numbers[kernels.BASE:kernels.BASE + 3] = base / unit
    numbers[kernels.PLATFORM:kernels.PLATFORM + 3] = platform / unit
    numbers[kernels.UNIT] = numbers[kernels.SIZE] = unit
    first, second = numbers[kernels.FIRST_UNIT:][:3], numbers[kernels.SECOND_UNIT:][:3]
    if isinstance(leg_type, OffsetStrut):
        first[:], second[:] = leg_type.base_axis, leg_type.platform_axis
        numbers[kernels.LENGTH] = leg_type.base_offset / unit
        numbers[kernels.OTHER] = leg_type.platform_offset / unit
        numbers[kernels.SCREW_PITCH] = leg_type.lead / (2.0 * math.pi * unit)
        numbers[kernels.SCREW_PHASE] = leg_type.lead_zero
    elif isinstance(leg_type, Rail):
        first[:] = leg_type.direction
        numbers[kernels.LENGTH] = leg_type.rod / unit
    elif isinstance(leg_type, Crank):
        first[:], second[:] = leg_type.zero, np.cross(leg_type.axis, leg_type.zero)
        numbers[kernels.LENGTH] = leg_type.rod / unit
        numbers[kernels.OTHER] = leg_type.radius / unit
        numbers[kernels.UNIT] = 1.0
    elif isinstance(leg_type, Wire):
        first[:] = leg_type.axis
        numbers[kernels.LENGTH] = leg_type.radius / unit
    elif isinstance(leg_type, Stage):
        first[:], second[:] = leg_type.dual, leg_type.normal
        numbers[kernels.GUIDE:kernels.GUIDE + 3] = leg_type.guide
    if isinstance(leg_type, Rail | Crank):
        numbers[kernels.SIDE] = 1.0 if leg_type.pushes else -1.0
    return numbers


def _set_direction(leg_type: LegType, name: str) -> None:
    """Replace a vector by its unit vector."""
    vector = checks.as_array(name, getattr(leg_type, name), (3,))
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        raise GeometryError(f'{name}: expected a direction, got {vector.tolist()}')
    object.__setattr__(leg_type, name, tuple((vector / size).tolist()))


def _require_positive(name: str, value: float) -> None:
    if not checks.as_number(name, value) > 0.0:
        raise GeometryError(f'{name}: expected more than 0 m, got {value}')
