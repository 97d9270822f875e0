# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The geometry of a Stewart platform: joints, limits, types and names of its legs; its tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError, NameSetError
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.description.geometry_covariance import (
    checked_covariance, of_legs, turned_covariance)
from liedyn_ros.stewart.platform.description.leg_checks import (
    checked_cones, checked_diameter, checked_forces, checked_home, checked_latency,
    checked_leg_types, checked_limits, checked_names, checked_noise, coincide, radius_of_gyration,
    require_legs_apart, require_size)
from liedyn_ros.stewart.platform.description.leg_types import (
    Crank, LegType, OffsetStrut, Rail, row, Stage, Strut, Wire)
from liedyn_ros.stewart.platform.description.masses import LegMasses, PlatformMasses
from liedyn_ros.stewart.platform.kernels.leg_rows import (
    END, END_SHIFT, ROW, SCREW_PITCH, SCREW_TURN)
from liedyn_ros.stewart.platform.kernels.leg_types import write_leg_ends

NO_LIMITS = np.empty(0)  # the usual ones


@dataclass(frozen=True, eq=False, repr=False)
class StewartGeometry:
    """
    Six legs or more, each from a base joint to a platform joint; immutable.

    From seven legs on lengths are redundant: the pose is the least-squares one, and its residual
    shows which leg reads wrongly. What holds for six legs alone raises GeometryError for more.

    Joints of several legs may coincide, at one end or at both ends of different legs (6-3, 3-3).
    Cranks of one axis may share their base joint: they are the carriages of a circular rail.

    name: of the platform, in messages. leg_names: 6 to 12 different names; their order is the
    order of every array of drive coordinates. base_joints: (n, 3) m, in the base frame.
    platform_joints: (n, 3) m, in the platform frame. length_limits: (n, 2), bounds of each drive
    coordinate: m, or rad of a crank. Without a limit they are 0, or -infinity where a coordinate
    may be negative, and infinity. base_cones, platform_cones: (n, 4), how far each joint may turn.
    Three entries point from the joint along its leg in the middle of the range, in the frame that
    holds the joint. The fourth is the largest angle (rad) of the leg from it; pi where there is no
    limit. leg_diameter: m, of the legs as cylinders; 0 where it is not known. leg_types: the type
    of each leg, in leg order. masses: None where they are not known; only dynamics needs them.
    calibration_covariance: (7 n, 7 n) or (8 n, 8 n), of the errors of each leg's base joint,
    platform joint, offset and scale, None where nothing is known (14.30). leg_noise: (n,), m or
    rad, the standard deviation of each reading, 0 for all legs where it is not known; from seven
    legs on it weights them. leg_latency: (n,), s, by how much each reading is older than its
    stamp. force_limits: (n, 2), N, N m of a crank: the least and the greatest force of each drive,
    positive where it pushes the platform away; infinite without a limit. Where they are left out
    wires pull, and others have none. home: (4, 4), m, a pose on the assembly mode of the machine,
    where it starts, or None. encoders: the same legs by what is read, where other joints than
    those of the drives are. characteristic_length: m, the platform joints' radius of gyration,
    which turns radians into metres.

    Raises GeometryError, ShapeError, NotFiniteError, NotInGroupError or NameSetError.

    >>> geometry = ld.load_geometry(config_file('stewart_geometry.yaml'))
    >>> geometry.base_joints.shape, geometry.leg_names[0]
    ((6, 3), 'leg_1')
    """

    leg_names: tuple[str, ...]
    base_joints: Array
    platform_joints: Array
    length_limits: Array
    name: str = 'stewart_platform'
    base_cones: Array = field(default_factory=lambda: NO_LIMITS)
    platform_cones: Array = field(default_factory=lambda: NO_LIMITS)
    leg_diameter: float = 0.0
    leg_types: tuple[LegType, ...] = ()
    masses: PlatformMasses | None = None
    calibration_covariance: Array | None = field(default=None, repr=False)
    leg_noise: Array = field(default_factory=lambda: NO_LIMITS)
    leg_latency: Array = field(default_factory=lambda: NO_LIMITS)
    force_limits: Array = field(default_factory=lambda: NO_LIMITS)
    home: Array | None = field(default=None, repr=False)
    encoders: StewartGeometry | None = field(default=None, repr=False)
    characteristic_length: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parts and freeze them."""
        names = checked_names(self.leg_names)
        n = len(names)
        base = checks.as_array('base_joints', self.base_joints, (n, 3))
        platform = checks.as_array('platform_joints', self.platform_joints, (n, 3))
        leg_types = checked_leg_types(names, self.leg_types or (Strut(),) * n)
        if self.encoders is not None and self.encoders.leg_names != names:
            raise NameSetError(f'encoders: expected one for each of {list(names)}, got '
                               f'{list(self.encoders.leg_names)}', names=names)
        masses = self.masses
        if masses is not None and len(masses.legs) != n:
            if masses.legs:
                raise GeometryError(f'masses: expected masses of {n} legs, or of none, '
                                    f'got {len(masses.legs)}')
            masses = replace(masses, legs=(LegMasses(),) * n)
        require_size(base, platform, leg_types)
        require_legs_apart(names, base, platform, leg_types)
        self._freeze({
            'leg_names': names, 'base_joints': base, 'platform_joints': platform,
            'leg_types': leg_types, 'masses': masses,
            'length_limits': checked_limits(names, leg_types, self.length_limits),
            'base_cones': checked_cones('base_cones', names, self.base_cones, 1.0),
            'platform_cones': checked_cones('platform_cones', names, self.platform_cones, -1.0),
            'leg_diameter': checked_diameter(self.leg_diameter),
            'calibration_covariance': checked_covariance(self.calibration_covariance, n),
            'leg_noise': checked_noise(names, self.leg_noise),
            'leg_latency': checked_latency(names, self.leg_latency),
            'force_limits': checked_forces(names, leg_types, self.force_limits),
            'home': checked_home(self.home),
            'characteristic_length': radius_of_gyration(platform)})

    def __repr__(self) -> str:
        """Return the name and the number of legs: the arrays are long."""
        return f'<{type(self).__name__} {self.name}: {len(self.leg_names)} legs>'

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
        parts: Any = self
        return tuple(getattr(self, part.name) for part in fields(parts) if part.init)

    def _freeze(self, values: Mapping[str, Any]) -> None:
        """Set the checked parts; arrays are copied and read-only."""
        for key, value in values.items():
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.setflags(write=False)
            object.__setattr__(self, key, value)

    @cached_property
    def readings(self) -> StewartGeometry:
        """Return the geometry that the readings belong to: of the encoders, or itself."""
        return self if self.encoders is None else replace(self.encoders, home=self.home)

    @property
    def plain(self) -> bool:
        """Return whether all legs are struts between joints whose axes meet."""
        return all(isinstance(leg, Strut) for leg in self.leg_types)

    @property
    def fixed_lengths(self) -> Array:
        """Return the lengths (n,), m, of rods without a drive or a reading; NaN of other legs."""
        return np.array([leg.fixed if isinstance(leg, Strut) and leg.fixed else np.nan
                         for leg in self.leg_types])

    @property
    def signed(self) -> bool:
        """Return whether there are drive coordinates that may be zero."""
        return not all(leg.positive for leg in self.leg_types)

    @property
    def drive_scales(self) -> Array:
        """Return the distance (n,), m, that one unit of a reading moves the end of the drive."""
        return np.array([leg.radius if isinstance(leg, Crank) else 1.0 for leg in self.leg_types])

    def require_values(self, values: Array) -> Array:
        """
        Return drive coordinates that a platform can have.

        Args:
            values: (..., n); m, of cranks rad.

        Returns:
            the values.

        Raises:
            LimitError: where a strut's is not positive.

        >>> geometry.require_values(np.full(6, 0.5)).shape
        (6,)
        """
        lengths = np.array([leg.positive for leg in self.leg_types])
        bad = np.argwhere((values <= 0.0) & lengths)
        if len(bad):
            where = tuple(int(i) for i in bad[0])
            raise LimitError(f'lengths{list(where)}: expected a positive length in m, '
                             f'got {values[where]}', names=(self.leg_names[where[-1]],),
                             expected=0.0, got=float(values[where]), indices=where)
        return values

    def within_limits(self, lengths: ArrayLike) -> NDArray[np.bool_]:
        """
        Return for each drive coordinate whether it is within its limits.

        Args:
            lengths: (..., n); m, of cranks rad.

        Returns:
            (..., n).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> geometry.within_limits([0.5] * 6).all().item()
        True
        """
        lengths = checks.as_numbers('lengths', lengths)
        return (self.length_limits[:, 0] <= lengths) & (lengths <= self.length_limits[:, 1])

    def require_within_limits(self, lengths: Array, *, read: bool = False) -> None:
        """
        Raise the error of drive coordinates beyond their limits.

        Args:
            lengths: (n,); m, of cranks rad.
            read: whether they are readings, whose unit or zero may be another.

        Raises:
            LimitError: naming the first leg that is beyond.

        >>> geometry.require_within_limits(np.full(6, 0.5))
        """
        within = self.within_limits(lengths)
        if not within.all():
            leg = int(np.argmin(within))
            (least, most), leg_type = self.length_limits[leg].tolist(), self.leg_types[leg]
            got, unit, fits = float(lengths[leg]), leg_type.unit, self.fitting_unit(lengths)
            driven = {Rail: 'position', Stage: 'position', Crank: 'angle'}
            what, hint = driven.get(type(leg_type), 'length'), ''
            if read and fits:
                hint = f', which looks like {fits[0]}: actuator_scale {fits[1]:.6g}'
            elif isinstance(leg_type, Crank):
                unit = 'deg'
                hint = " deg: is the servo's zero elsewhere (actuator_offset)?" if read else ' deg'
            shown = [x if unit != 'deg' else math.degrees(x) for x in (least, most, got)]
            raise LimitError(f'{what} of {self.leg_names[leg]}: expected {shown[0]:.6g} to '
                             f'{shown[1]:.6g} {unit}, got {shown[2]:.9g}{hint}',
                             names=(self.leg_names[leg],), expected=(least, most),
                             got=got, indices=(leg,))

    def fitting_unit(self, readings: Array) -> tuple[str, float] | None:
        """
        Return the unit, and its size in m or rad, in which readings fit that are beyond limits.

        Args:
            readings: (n,); m, of cranks rad.

        Returns:
            ('mm', 0.001) or ('degrees', 0.01745), of cranks from more than a whole turn; or None.

        >>> geometry.fitting_unit(np.full(6, 500.0))
        ('mm', 0.001)
        """
        unit = {'m': ('mm', 1e-3), 'rad': ('degrees', math.radians(1.0))}[self.reading_unit[1]]
        small = unit[0] == 'degrees' and np.abs(readings).max() <= 2.0 * math.pi
        cranks = unit[0] == 'mm' and any(isinstance(leg, Crank) for leg in self.leg_types)
        if small or cranks or self.within_limits(readings).all():
            return None
        return unit if self.within_limits(unit[1] * readings).all() else None

    @property
    def redundant(self) -> bool:
        """Return whether there are more legs than the six that a pose needs."""
        return len(self.leg_names) > 6

    @property
    def weights(self) -> Array:
        """Return least-squares weights by leg (n,); without noise the drives' ends count alike."""
        noise = self.leg_noise if self.leg_noise.any() else 1.0 / self.drive_scales
        return np.asarray(noise ** -2.0)

    def require_six(self, what: str) -> None:
        """
        Raise the error of what only platforms of six legs have.

        Args:
            what: the word for it.

        Raises:
            GeometryError: where there are more legs.

        >>> geometry.require_six('energy')
        """
        if self.redundant:
            raise GeometryError(f'{what}: expected a platform of six legs, got '
                                f'{list(self.leg_names)}; `six` chooses six of them',
                                names=self.leg_names, expected=6, got=len(self.leg_names))

    def six(self, names: ArrayLike) -> StewartGeometry:
        """
        Return the platform of six of the legs.

        Args:
            names: of the six.

        Returns:
            the geometry.

        Raises:
            NameSetError: for an unknown leg.
            GeometryError: for other than six.

        >>> geometry.six(geometry.leg_names).leg_names == geometry.leg_names
        True
        """
        chosen = [str(name) for name in np.atleast_1d(names)]
        for name in chosen:
            if name not in self.leg_names:
                raise checks.unknown_name(NameSetError, 'leg', self.leg_names, name)
        rows = [self.leg_names.index(name) for name in chosen]
        masses, covariance = self.masses, self.calibration_covariance
        return replace(
            self, encoders=None if self.encoders is None else self.encoders.six(names),
            leg_names=tuple(chosen), leg_types=tuple(self.leg_types[row] for row in rows),
            masses=None if masses is None else replace(
                masses, legs=tuple(masses.legs[row] for row in rows)),
            calibration_covariance=None if covariance is None else of_legs(
                covariance, len(self.leg_names), rows),
            **{name: getattr(self, name)[rows] for name in (
                'base_joints', 'platform_joints', 'length_limits', 'base_cones', 'platform_cones',
                'leg_noise', 'leg_latency', 'force_limits')})

    @property
    def driven(self) -> bool:
        """Return whether there are rails or cranks."""
        return any(isinstance(leg, Rail | Crank) for leg in self.leg_types)

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
    def following(self) -> tuple[str, ...]:
        """Return the names of the legs whose ends follow the pose, their value being held too."""
        return tuple(name for name, leg_type in zip(self.leg_names, self.leg_types)
                     if isinstance(leg_type, OffsetStrut | Wire | Stage))

    @property
    def base_outline(self) -> Array:
        """Return points (n, 3), m, about the base: its joints, or six of a circular rail."""
        rails = [leg for leg in self.leg_types if isinstance(leg, Crank)]
        if not rails or not coincide(self.base_joints, self.characteristic_length):
            return self.base_joints
        angles, rail = np.arange(6) * math.pi / 3.0, rails[0]
        return np.asarray(self.base_joints[0] + rail.radius * (
            np.outer(np.cos(angles), rail.zero)
            + np.outer(np.sin(angles), np.cross(rail.axis, rail.zero))))

    def table(self, unit: float = 1.0) -> Array:
        """
        Return the kernels' table of the legs.

        Kernels write the positions of the legs' ends into it: one for each thread.

        Args:
            unit: of its lengths; m.

        Returns:
            the table.

        >>> geometry.table().dtype
        dtype('float64')
        """
        return self._in_metres.copy() if unit == 1.0 else self._table(unit)

    @cached_property
    def _in_metres(self) -> Array:
        return self._table(1.0)

    def _table(self, unit: float) -> Array:
        return table_of(
            self.base_joints, self.platform_joints, self.leg_types, unit, self.plain,
            self.home)


def table_of(
        base: Array, platform: Array, leg_types: Sequence[LegType], unit: float,
        plain: bool, home: Array | None = None) -> Array:
    """
    Return the kernels' table of n legs with joints (n, 3), m, lengths in a unit (m).

    plain: whether to leave out the rows of the legs, which struts alone do without. home: (4, 4),
    m, about whose turn screws are counted, so that no length jumps by a lead near it.
    """
    ends = np.concatenate((base, platform)).ravel() / unit
    if plain:
        return ends
    rows = [row(*leg, unit) for leg in zip(leg_types, base, platform)]
    table = np.concatenate((ends, *rows))
    if home is not None and any(isinstance(leg, OffsetStrut) and leg.lead for leg in leg_types):
        write_leg_ends(table, *split(np.array(
            se3.from_rotation_translation(home[:3, :3], home[:3, 3] / unit))))
        for screw in table[END * len(base):].reshape(-1, ROW):
            if screw[SCREW_PITCH]:
                screw[SCREW_TURN] = -screw[END_SHIFT] / screw[SCREW_PITCH]
    return table


def with_tool(geometry: StewartGeometry, pose_platform_tool: ArrayLike) -> StewartGeometry:
    """
    Return the machine's geometry with the tool's frame for the platform's.

    pose_platform_tool: (4, 4), m. All that is fixed to the platform is seen from the tool: joints,
    axes, cones, masses and home. So poses, twists and covariances are those of the tool.

    Args:
        geometry: a StewartGeometry.
        pose_platform_tool: pose (4, 4) of the tool in the platform's frame; m.

    Returns:
        the geometry.

    Raises:
        NotInGroupError: for a matrix that is no pose.

    >>> tool = with_tool(geometry, ld.pose([0.0, 0.0, 0.1]))
    >>> (geometry.platform_joints - tool.platform_joints)[0].round(9)
    array([0. , 0. , 0.1])
    """
    tool = se3.require_pose('pose_platform_tool', pose_platform_tool)
    rotation, position = tool[:3, :3], tool[:3, 3]
    cones = geometry.platform_cones.copy()
    cones[:, :3] = cones[:, :3] @ rotation
    parts: dict[str, Any] = {
        'platform_joints': (geometry.platform_joints - position) @ rotation,
        'platform_cones': cones,
        'leg_types': tuple(_turned(leg_type, rotation) for leg_type in geometry.leg_types)}
    if geometry.home is not None:
        parts['home'] = se3.compose(geometry.home, tool)
    if geometry.masses is not None:
        parts['masses'] = _seen(geometry.masses, rotation, position)
    if geometry.calibration_covariance is not None:
        parts['calibration_covariance'] = turned_covariance(
            geometry.calibration_covariance, len(geometry.leg_names), rotation)
    return replace(geometry, **parts)


def _turned(leg_type: LegType, rotation: Array) -> LegType:
    """Return a leg type with its vectors on the platform seen from the tool."""
    vectors: dict[str, Any] = {
        name: tuple((getattr(leg_type, name) @ rotation).tolist())
        for name in leg_type.on_platform}
    return replace(leg_type, **vectors) if vectors else leg_type


def _seen(masses: PlatformMasses, rotation: Array, position: Array) -> PlatformMasses:
    """Return the masses with the platform's seen from the tool."""
    inertia = rotation.T @ masses.spatial_inertia().inertia_about_com @ rotation
    centre = (np.array(masses.center_of_mass) - position) @ rotation
    entries = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return replace(masses, inertia=tuple(entries), center_of_mass=tuple(centre.tolist()))
