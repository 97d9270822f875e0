# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The masses of a Stewart platform and its legs, a part of its geometry file."""

from collections.abc import Sequence
from dataclasses import dataclass

from liedyn_ros.common import checks
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.common.yaml_reader import Node
from liedyn_ros.model.parts.body import SpatialInertia

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class LegPart:
    """
    A part of a leg, such as its rod: slender, alike in all directions across it.

    mass: kg. center: m, of mass, from the joint that the part hangs on, towards the other end.
    transverse, axial: kg m^2, about the centre of mass. Raises GeometryError.

    >>> LegPart(mass=0.5, center=0.1, transverse=1e-3).axial
    0.0
    """

    mass: float = 0.0
    center: float = 0.0
    transverse: float = 0.0
    axial: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ('mass', 'center', 'transverse', 'axial'):
            value = checks.as_number(name, getattr(self, name))
            if value < 0.0 and name != 'center':
                raise GeometryError(f'{name}: expected 0 or more, got {value}')
            object.__setattr__(self, name, value)
        if self.axial > 2.0 * self.transverse * (1.0 + 1e-9):
            raise GeometryError(f'axial: expected at most twice the transverse inertia, '
                                f'{2.0 * self.transverse:g} kg m^2, got {self.axial:g}')
        if self.mass == 0.0 and (self.transverse or self.axial):
            raise GeometryError('mass: expected more than 0 kg of a part with inertia, got 0')


@dataclass(frozen=True)
class LegMasses:
    """
    A leg: cylinder on a universal joint at the base, rod on a spherical joint at the platform.

    Of a rail, cylinder is the carriage; of a crank, the crank with its rotor, whose centre is that
    far from the motor's axis. Their rods hang on the platform joint as well, and end in the
    universal joint. base_axis: (3,), the first axis of that joint, base frame. It is fixed to the
    base, the carriage, or the crank at angle 0; only the axial inertia depends on it. Raises
    GeometryError.

    >>> LegMasses(cylinder=LegPart(mass=0.5), rod=LegPart(mass=0.2)).base_axis
    (1.0, 0.0, 0.0)
    """

    cylinder: LegPart = LegPart()
    rod: LegPart = LegPart()
    base_axis: tuple[float, ...] = (1.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the axis and make it a unit vector."""
        axis = checks.as_array('base_axis', self.base_axis, (3,))
        size = float((axis @ axis)**0.5)
        if size == 0.0:
            raise GeometryError(f'base_axis: expected a direction, got {axis.tolist()}')
        object.__setattr__(self, 'base_axis', tuple((axis / size).tolist()))


@dataclass(frozen=True)
class PlatformMasses:
    """
    The masses of a machine; immutable.

    mass: kg, of the platform with its load. center_of_mass: (3,) m, platform frame. inertia: xx,
    yy, zz, xy, xz, yz about it, kg m^2, platform axes. legs: one of each,
    or none where they do not count. gravity: (3,), acceleration in
    the base frame, m/s^2. Raises GeometryError, ShapeError, NotFiniteError or InertiaError.

    >>> PlatformMasses(mass=10.0, inertia=(0.1, 0.1, 0.2, 0.0, 0.0, 0.0)).center_of_mass
    (0.0, 0.0, 0.0)
    """

    mass: float
    inertia: tuple[float, ...]
    center_of_mass: tuple[float, ...] = (0.0, 0.0, 0.0)
    legs: tuple[LegMasses, ...] = ()
    gravity: tuple[float, ...] = STANDARD_GRAVITY

    def __post_init__(self) -> None:
        """Check the parts."""
        for name, size in (('inertia', 6), ('center_of_mass', 3), ('gravity', 3)):
            values = checks.as_array(name, getattr(self, name), (size,))
            object.__setattr__(self, name, tuple(values.tolist()))
        self.spatial_inertia()

    def spatial_inertia(self) -> SpatialInertia:
        """
        Return the inertia of the platform in its frame.

        Returns:
            the inertia.

        Raises:
            InertiaError: where no body has it.

        >>> geometry.masses.spatial_inertia().mass == geometry.masses.mass
        True
        """
        xx, yy, zz, xy, xz, yz = self.inertia
        return SpatialInertia(
            self.mass, self.center_of_mass, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def read_masses(node: Node, leg_names: Sequence[str], driven: Sequence[str]) -> PlatformMasses:
    """
    Read the key `masses` of a geometry file; see docs/conventions.md.

    driven: the key of the part at the base of each leg.
    """
    platform = node.take('platform')
    inertia = platform.take('inertia')
    moments = [inertia.take(key).number() for key in ('xx', 'yy', 'zz')]
    moments += [inertia.take(key, 0.0).number() for key in ('xy', 'xz', 'yz')]
    inertia.finish()
    center = platform.take('center_of_mass', [0.0, 0.0, 0.0]).numbers(3)
    mass, gravity = platform.take('mass').number(), node.take('gravity', list(STANDARD_GRAVITY))
    platform.finish()
    every, each = node.take('leg', {}), dict(node.take('legs', {}).items())
    if unknown := [name for name in each if name not in leg_names]:
        node.take('legs').fail(f'names of {list(leg_names)}', str(unknown))
    legs = tuple(_leg(each.get(name, every), part) for name, part in zip(leg_names, driven))
    node.finish()
    with node.context():
        return PlatformMasses(mass, tuple(moments), tuple(center), legs,
                              tuple(gravity.numbers(3)))


def _leg(node: Node, driven: str) -> LegMasses:
    axis = node.take('base_axis', [1.0, 0.0, 0.0]).numbers(3)
    cylinder, rod = (_part(node.take(name, {})) for name in (driven, 'rod'))
    node.finish()
    with node.context():
        return LegMasses(cylinder, rod, tuple(axis))


def _part(node: Node) -> LegPart:
    numbers = [node.take(key, 0.0).number() for key in ('mass', 'center', 'transverse', 'axial')]
    node.finish()
    with node.context():
        return LegPart(*numbers)
