# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The geometry of a platform with seven legs or more, whose lengths are redundant."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError, NameSetError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.geometry_covariance import checked_covariance, of_legs
from liedyn_ros.stewart.platform.description.leg_checks import (
    checked_cones, checked_diameter, checked_forces, checked_home, checked_latency,
    checked_leg_types, checked_limits, checked_names, checked_noise, radius_of_gyration,
    require_legs_apart, require_size, unlimited_cones)
from liedyn_ros.stewart.platform.description.leg_set import LegSet, table_of
from liedyn_ros.stewart.platform.description.leg_types import LegType, Strut
from liedyn_ros.stewart.platform.description.masses import LegMasses, PlatformMasses
from liedyn_ros.stewart.platform.kernels import leg_types as kernels

NONE = np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class RedundantGeometry(LegSet):
    """
    Seven legs or more, each from a base joint to a platform joint; immutable.

    All is as in StewartGeometry, with n rows for six. In leg_noise errors of the geometry count
    too. masses: the platform's alone; only dynamics needs it. force_limits: (n, 2), N, N m of a
    crank, of each drive, positive where it pushes the platform away. Where they are left out wires
    pull, and others have none. Raises GeometryError, ShapeError, NotFiniteError, NameSetError or
    LimitError.
    """

    leg_names: tuple[str, ...]
    base_joints: Array
    platform_joints: Array
    length_limits: Array
    name: str = 'redundant_platform'
    base_cones: Array = field(default_factory=lambda: NONE)
    platform_cones: Array = field(default_factory=lambda: NONE)
    leg_diameter: float = 0.0
    leg_types: tuple[LegType, ...] = ()
    leg_noise: Array = field(default_factory=lambda: NONE)
    calibration_covariance: Array | None = field(default=None, repr=False)
    leg_latency: Array = field(default_factory=lambda: NONE)
    masses: PlatformMasses | None = None
    force_limits: Array = field(default_factory=lambda: NONE)
    home: Array | None = field(default=None, repr=False)
    characteristic_length: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parts and freeze them."""
        names = checked_names(self.leg_names, 'seven or more')
        n = len(names)
        if n < 7:
            raise NameSetError(f'leg_names: expected seven or more, got {list(names)}')
        base = checks.as_array('base_joints', self.base_joints, (n, 3))
        platform = checks.as_array('platform_joints', self.platform_joints, (n, 3))
        leg_types = checked_leg_types(names, self.leg_types or (Strut(),) * n)
        require_size(base, platform, leg_types)
        require_legs_apart(names, base, platform, leg_types)
        if self.masses is not None and self.masses.legs != (LegMasses(),) * 6:
            raise GeometryError('masses: expected none of the legs of a platform of seven or more')
        cones = {key: unlimited_cones(z, n) if getattr(self, key) is NONE else getattr(self, key)
                 for key, z in (('base_cones', 1.0), ('platform_cones', -1.0))}
        self._freeze({
            'leg_names': names, 'base_joints': base, 'platform_joints': platform,
            'leg_types': leg_types,
            'length_limits': checked_limits(names, leg_types, self.length_limits),
            **{key: checked_cones(key, names, value) for key, value in cones.items()},
            'leg_diameter': checked_diameter(self.leg_diameter),
            'leg_noise': checked_noise(names, self.leg_noise),
            'leg_latency': checked_latency(names, self.leg_latency),
            'force_limits': checked_forces(names, leg_types, self.force_limits),
            'home': checked_home(self.home),
            'calibration_covariance': checked_covariance(self.calibration_covariance, n),
            'characteristic_length': radius_of_gyration(platform)})

    def six(self, names: ArrayLike) -> StewartGeometry:
        """Return the platform of six of the legs, by name. Raises NameSetError, GeometryError."""
        chosen = [str(name) for name in np.atleast_1d(names)]
        for name in chosen:
            if name not in self.leg_names:
                raise checks.unknown_name(NameSetError, 'leg', self.leg_names, name)
        rows = [self.leg_names.index(name) for name in chosen]
        return StewartGeometry(
            tuple(chosen), self.base_joints[rows], self.platform_joints[rows],
            self.length_limits[rows], self.name, self.base_cones[rows], self.platform_cones[rows],
            self.leg_diameter, tuple(self.leg_types[row] for row in rows), None,
            None if self.calibration_covariance is None else of_legs(
                self.calibration_covariance, len(self.leg_names), rows),
            self.leg_noise[rows], self.leg_latency[rows], self.force_limits[rows], self.home)

    @property
    def base_outline(self) -> Array:
        """Return points (n, 3), m, about the base: its joints."""
        return self.base_joints

    def tables(self, unit: float = 1.0) -> Array:
        """
        Return the kernels' tables of all legs, six a row, lengths in a unit (m).

        The first legs fill up the last row. The kernels write the positions of the legs' ends into
        them: one set for each thread.
        """
        return self._in_metres.copy() if unit == 1.0 else self._tables(unit)

    @cached_property
    def _in_metres(self) -> Array:
        return self._tables(1.0)

    def _tables(self, unit: float) -> Array:
        blocks = []
        for begin in range(0, len(self.leg_names), 6):
            rows = [k % len(self.leg_names) for k in range(begin, begin + 6)]
            blocks.append(table_of(
                self.base_joints[rows], self.platform_joints[rows],
                [self.leg_types[row] for row in rows], unit, self.plain, self.home))
        return np.stack(blocks)

    def lengths(self, pose_base_platform: ArrayLike) -> Array:
        """
        Return the drive coordinates (..., n), m or rad, of poses (..., 4, 4), m (Stewart 16).

        Raises ShapeError, NotFiniteError, NotInGroupError, and LimitError where the rod of a rail
        or a crank does not reach.
        """
        poses = se3.require_pose('pose_base_platform', pose_base_platform)
        flat = np.array(poses.reshape(-1, 4, 4))
        blocks = []
        for table in self.tables():
            blocks.append(np.empty((len(flat), 6)))
            kernels.values_batch(table, flat, blocks[-1])
        values = np.hstack(blocks)[:, :len(self.leg_names)]
        beyond = np.argwhere(~np.isfinite(values))
        if len(beyond):
            row, leg = beyond[0].tolist()
            raise LimitError(f'pose_base_platform: expected one that the rod of '
                             f'{self.leg_names[leg]} reaches, got\n{flat[row]}')
        return values.reshape(*poses.shape[:-2], len(self.leg_names))
