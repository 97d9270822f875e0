# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The geometry of a Stewart platform: joints, limits, types and names of its legs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
import math

import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import NameSetError
from liedyn_ros.stewart.platform.description.geometry_covariance import checked_covariance
from liedyn_ros.stewart.platform.description.leg_checks import (
    checked_cones, checked_diameter, checked_forces, checked_home, checked_latency,
    checked_leg_types, checked_limits, checked_names, checked_noise, coincide, radius_of_gyration,
    require_legs_apart, require_size, unlimited_cones)
from liedyn_ros.stewart.platform.description.leg_set import LegSet, table_of
from liedyn_ros.stewart.platform.description.leg_types import (
    Crank, LegType, OffsetStrut, Rail, Stage, Strut, Wire)
from liedyn_ros.stewart.platform.description.masses import PlatformMasses


@dataclass(frozen=True, eq=False, repr=False)
class StewartGeometry(LegSet):
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
    only dynamics needs them. calibration_covariance: (42, 42) or (48, 48), of the errors of each
    leg's base joint, platform joint, offset and scale, None where nothing is known (14.30).
    leg_noise: (6,), m or rad, the standard deviation of each reading, 0 for all legs where it is
    not known. leg_latency: (6,), s, by how much each reading is older than its stamp.
    force_limits: (6, 2), N, N m of a crank: the least and the greatest force of each drive,
    positive where it pushes the platform away; infinite without a limit.
    home: (4, 4), m, a pose on the assembly mode of the machine, where it starts, or None.
    characteristic_length: m, the platform joints' radius of gyration, which turns radians into
    metres.

    Raises GeometryError, ShapeError, NotFiniteError, NotInGroupError or NameSetError.
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
    calibration_covariance: Array | None = field(default=None, repr=False)
    leg_noise: Array = field(default_factory=lambda: np.zeros(6))
    leg_latency: Array = field(default_factory=lambda: np.zeros(6))
    force_limits: Array = field(default_factory=lambda: np.zeros((0, 2)))
    home: Array | None = field(default=None, repr=False)
    characteristic_length: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parts and freeze them."""
        names = checked_names(self.leg_names, 'six')
        if len(names) != 6:
            raise NameSetError(f'leg_names: expected six different names, got {list(names)}')
        base = checks.as_array('base_joints', self.base_joints, (6, 3))
        platform = checks.as_array('platform_joints', self.platform_joints, (6, 3))
        leg_types = checked_leg_types(names, self.leg_types)
        require_size(base, platform, leg_types)
        require_legs_apart(names, base, platform, leg_types)
        self._freeze({
            'leg_names': names, 'base_joints': base, 'platform_joints': platform,
            'leg_types': leg_types,
            'length_limits': checked_limits(names, leg_types, self.length_limits),
            'base_cones': checked_cones('base_cones', names, self.base_cones),
            'platform_cones': checked_cones('platform_cones', names, self.platform_cones),
            'leg_diameter': checked_diameter(self.leg_diameter),
            'calibration_covariance': checked_covariance(self.calibration_covariance, 6),
            'leg_noise': checked_noise(names, self.leg_noise),
            'leg_latency': checked_latency(names, self.leg_latency),
            'force_limits': checked_forces(names, leg_types, self.force_limits),
            'home': checked_home(self.home),
            'characteristic_length': radius_of_gyration(platform)})

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
        return self._in_metres.copy() if unit == 1.0 else self._table(unit)

    @cached_property
    def _in_metres(self) -> Array:
        return self._table(1.0)

    def _table(self, unit: float) -> Array:
        return table_of(
            self.base_joints, self.platform_joints, self.leg_types, unit, self.plain,
            self.home)
