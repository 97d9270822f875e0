# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as a tree of joints, as URDF has them, and the values of these joints at a pose."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.lie import se3, so3
from liedyn_ros.lie.se3 import from_rotation_translation as _pose
from liedyn_ros.model import Model, ModelBuilder, Visual
from liedyn_ros.stewart.dynamics.closed_loop_model import universal_axes
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import (
    Crank, OffsetStrut, Rail, Stage, Wire)
from liedyn_ros.stewart.platform.description.masses import LegMasses
from liedyn_ros.stewart.platform.kinematics import leg_ends, leg_lengths

# Radii, and thickness, of characteristic length
TUBE_RADIUS, ROD_RADIUS, JOINT_RADIUS, PLATE_THICKNESS = 0.05, 0.03, 0.07, 0.03
HOME_TUBE_SHARE = 0.45  # of a strut at home
GREY_RGBA, BLUE, STEEL_RGBA = (0.7, 0.72, 0.8, 1.0), (0.6, 0.8, 1.0, 1.0), (0.85, 0.85, 0.85, 1.0)
_X, _Y, _Z = np.eye(3)


class PlatformTree:
    """
    A base, on it the platform by a floating joint, and six open legs that end at the platform.

    A leg has three joints: its drive, of the leg's name, and LEG_first and LEG_second, the axes
    of its universal joint. A strut's drive stands behind them, a carriage or a crank before. No
    joint closes the loops: the values at a pose do. Bodies are base, platform, and with a prefix
    LEG_fork, LEG_cylinder (LEG_carriage, LEG_crank) and LEG_rod. The frame of a strut's rod is at
    the platform, that of another at its universal joint.

    model: without closures; `to_urdf` takes it. joints: names (18,), leg after leg.
    """

    def __init__(self, geometry: StewartGeometry, home: ArrayLike, *, base: str = 'base',
                 platform: str = 'platform', prefix: str = '') -> None:
        """
        Take a platform, its home pose (4, 4), m, and names.

        Raises LimitError, ModelError, or GeometryError for wires and stages.
        """
        if without := [name for name, leg in zip(geometry.leg_names, geometry.leg_types)
                       if isinstance(leg, Wire | Stage)]:
            raise GeometryError('tree: expected struts, rails or cranks, whose joints make a '
                                f'tree, got others of {without}')
        self._geometry, self._prefix = geometry, prefix
        self._size = geometry.characteristic_length
        legs = geometry.leg_types
        self._driven = np.array([isinstance(leg, Rail | Crank) for leg in legs])
        self._turns = np.array([
            leg.axis if isinstance(leg, Crank) else (0.0, 0.0, 0.0) for leg in legs])
        self._offsets = np.array([
            leg.base_offset if isinstance(leg, OffsetStrut) else 0.0 for leg in legs])
        self._axes = np.array([_axes(geometry, leg) for leg in range(len(legs))])
        builder = ModelBuilder(geometry.name)
        builder.add_body(base, None, [self._plate(geometry.base_outline, GREY_RGBA)])
        builder.add_joint(f'{base}_joint', 'fixed', None, base)
        builder.add_body(platform, None, [self._plate(geometry.platform_joints, BLUE)])
        builder.add_joint(f'{platform}_joint', 'free', base, platform)
        values = self._values(home)
        names = [self._add_leg(builder, base, leg, values[leg]) for leg in range(len(legs))]
        self.model: Model = builder.build()
        self.joints = tuple(name for each in names for name in each)

    def joint_values(self, pose_base_platform: ArrayLike) -> Array:
        """
        Return the values (3 n,) of the joints at a pose (4, 4), m: rad, and m of prismatic ones.

        Raises LimitError where a rod does not reach.
        """
        pose = se3.require_pose('pose_base_platform', pose_base_platform)
        values, (ends, tips) = self._values(pose), leg_ends(self._geometry, pose)
        seats = np.where(self._driven[:, None], ends, self._geometry.base_joints)
        frames = so3.exp(self._turns * values[:, None]) @ self._axes
        x, y, z = np.einsum('kji,kj->ik', frames, tips - seats)
        first = np.arctan2(-y, z)
        second = np.arctan2(x, np.hypot(y, z) - self._offsets)
        rows = np.where(self._driven[:, None], np.column_stack((values, first, second)),
                        np.column_stack((first, second, values)))
        return rows.ravel()

    def _values(self, pose: ArrayLike) -> Array:
        """Return the values of the drives, of struts their lengths, which screws change too."""
        ends, tips = leg_ends(self._geometry, pose)
        return np.where(self._driven, leg_lengths(self._geometry, pose),
                        np.linalg.norm(tips - ends, axis=1))

    def _add_leg(self, builder: ModelBuilder, base: str, leg: int, value: float) -> list[str]:
        """Add a leg with its joints at a value; return their names."""
        geometry, name = self._geometry, self._geometry.leg_names[leg]
        leg_type, joint = geometry.leg_types[leg], geometry.base_joints[leg]
        limits = _limits(geometry.length_limits[leg])
        fork, rod = f'{self._prefix}{name}_fork', f'{self._prefix}{name}_rod'
        driven = f'{self._prefix}{name}_{leg_type.driven}'
        universal = [f'{name}_first', f'{name}_second']
        offset = _pose(np.eye(3), self._offsets[leg] * _Z)
        if not isinstance(leg_type, Rail | Crank):
            tube = HOME_TUBE_SHARE * value
            builder.add_body(fork, None,
                             [Visual('sphere', [JOINT_RADIUS * self._size], color=STEEL_RGBA)])
            builder.add_joint(universal[0], 'continuous', base, fork, axis=_X,
                              placement=_pose(self._axes[leg], joint))
            builder.add_body(driven, None, [self._bar(TUBE_RADIUS, 0.0, tube, STEEL_RGBA)])
            builder.add_joint(universal[1], 'continuous', fork, driven, axis=_Y, placement=offset)
            builder.add_body(rod, None, [self._bar(ROD_RADIUS, tube - value, 0.0, BLUE)])
            builder.add_joint(name, 'prismatic', driven, rod, axis=_Z, limits=limits)
            return [*universal, name]
        seat = leg_type.radius * np.array(leg_type.zero) if isinstance(leg_type, Crank) else 0 * _X
        kind, axis = (('continuous', leg_type.axis) if isinstance(leg_type, Crank)
                      else ('prismatic', leg_type.direction))
        if kind == 'continuous' and limits:
            kind = 'revolute'
        builder.add_body(driven, None, [Visual('sphere', [JOINT_RADIUS * self._size], _pose(
            np.eye(3), seat), STEEL_RGBA)])
        builder.add_joint(name, kind, base, driven, axis=axis, limits=limits,
                          placement=_pose(np.eye(3), joint))
        builder.add_body(fork, None)
        builder.add_joint(universal[0], 'continuous', driven, fork, axis=_X,
                          placement=_pose(self._axes[leg], seat))
        builder.add_body(rod, None, [self._bar(ROD_RADIUS, 0.0, leg_type.rod, BLUE)])
        builder.add_joint(universal[1], 'continuous', fork, rod, axis=_Y)
        return [name, *universal]

    def _bar(self, radius: float, begin: float, end: float,
             color: tuple[float, ...]) -> Visual:
        """Return a cylinder along z, from one height to another."""
        return Visual('cylinder', [radius * self._size, end - begin],
                      _pose(np.eye(3), 0.5 * (begin + end) * _Z), color)

    def _plate(self, joints: Array, color: tuple[float, ...]) -> Visual:
        """Return a disc as wide as the joints (6, 3) are far from their middle."""
        center = joints.mean(axis=0)
        x, y = np.linalg.svd(joints - center)[2][:2]
        radius = np.linalg.norm(joints - center, axis=1).mean()
        return Visual('cylinder', [radius, PLATE_THICKNESS * self._size],
                      _pose(np.column_stack((x, y, np.cross(x, y))), center), color)


def _axes(geometry: StewartGeometry, leg: int) -> Array:
    """Return first and second axis of a universal joint, and the leg's direction at zero."""
    leg_type = geometry.leg_types[leg]
    if isinstance(leg_type, OffsetStrut):
        return universal_axes(LegMasses(base_axis=leg_type.base_axis))
    return universal_axes(LegMasses() if geometry.masses is None else geometry.masses.legs[leg])


def _limits(bounds: Array) -> dict[str, float]:
    """Return the limits of a drive that has two."""
    return dict(zip(('lower', 'upper'), bounds.tolist())) if np.isfinite(bounds).all() else {}
