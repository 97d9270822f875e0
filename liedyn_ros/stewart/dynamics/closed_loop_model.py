# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as a model with closed loops, for algorithms that take any machine."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_finite
from liedyn_ros.common.errors import GeometryError, LimitError, SingularError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, ConstraintStatus
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.lie import se3
from liedyn_ros.lie.se3 import from_rotation_translation as _pose
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.stewart.dynamics.forces import Energy
from liedyn_ros.stewart.dynamics.kernels.loop_state import (
    DEAD_CENTRE, DONE, UNREACHED, write_loop_state)
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, LegType, Rail, Strut
from liedyn_ros.stewart.platform.description.masses import LegMasses, LegPart
from liedyn_ros.stewart.platform.kernels import leg_rows
from liedyn_ros.stewart.platform.kinematics import leg_lengths

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_VERTICAL = 0.99  # z of a first axis; above it the second axis is across the x axis of the base
_REST = np.zeros(6)


class ClosedLoopPlatform:
    """
    Inverse and forward dynamics of platform_model, in the coordinates of the platform.

    Raises GeometryError. Poses and twists are checked here; rows (orders, 6) are those of
    StewartDynamics.
    """

    def __init__(self, geometry: StewartGeometry) -> None:
        """Build the model."""
        model, self._state = platform_model(geometry), ClosedLoopState(geometry)
        self._dynamics = ConstrainedDynamics(model)
        self._legs = np.array([model.joint(name).vi for name in geometry.leg_names])
        self._platform = np.arange(model.nv) < 6
        self._body = model.body_index('platform')

    def inverse(self, pose_base_platform: ArrayLike, twist: ArrayLike, a: Array, forces: Array,
                stretch: Array, external: Array) -> float | None:
        """
        Write drive forces and second derivatives of the legs' values.

        Returns the inverse condition number of the actuation.
        """
        require_finite('acceleration', a)
        q, v, pull = self._state.motion(pose_base_platform, twist, a[0])
        moving = pull
        if len(a) > 1 or not isfinite(np.dot(pull, pull)):
            moving = self._moving(pose_base_platform, q, v, a)
        found = self._dynamics.inverse(q, v, moving, external=self._wrenches(external, moving))
        forces[:], stretch[:] = found.tau[..., self._legs], moving[..., self._legs]
        return found.actuation_inverse_condition_number

    def _moving(self, pose_base_platform: ArrayLike, q: Array, v: Array, a: Array) -> Array:
        """Return the accelerations (orders, nv) of all, given those of the platform."""
        given = self._rows(a, slice(0, 6))
        moved = self._dynamics.hybrid(q, v, self._platform, given, np.zeros_like(given))
        if moved.status is ConstraintStatus.INCONSISTENT:
            raise SingularError('pose_base_platform: expected legs that follow the platform, got '
                                f'a singular pose\n{np.asarray(pose_base_platform)}')
        return moved.a

    def forward(self, pose_base_platform: ArrayLike, twist: ArrayLike, a: Array, forces: Array,
                stretch: Array, external: Array) -> None:
        """Write accelerations and second derivatives of the legs' values."""
        require_finite('forces', forces)
        q, v = self._state(pose_base_platform, twist)
        tau = self._rows(forces, self._legs)
        if len(tau) == 1:
            tau = tau[0]
        found = self._dynamics.forward(q, v, tau, external=self._wrenches(external, tau))
        a[:], stretch[:] = found.a[..., :6], found.a[..., self._legs]

    def mass_matrix(self, pose_base_platform: ArrayLike) -> Array:
        """Return M_x (6, 6): N^T M N, as the platform moves all by N (12.22)."""
        states = [self._state(pose_base_platform, unit) for unit in np.eye(6)]
        moves = np.column_stack([v for _, v in states])
        matrix: Array = moves.T @ self._dynamics.tree.mass_matrix(states[0][0]) @ moves
        return matrix

    def energy(self, pose_base_platform: ArrayLike, twist: ArrayLike) -> Energy:
        """Return the energy of platform and legs."""
        q, v = self._state(pose_base_platform, twist)
        tree = self._dynamics.tree
        return Energy(tree.kinetic_energy(q, v), tree.potential_energy(q))

    def _rows(self, rows: Array, at: slice | Array) -> Array:
        """Return rows (orders, nv) of all coordinates, zero elsewhere."""
        full = np.zeros((len(rows), len(self._platform)))
        full[:, at] = rows
        return full

    def _wrenches(self, external: Array, like: Array) -> Array | None:
        """Return wrenches ([orders,] B, 6) on the platform in its frame, None where none act."""
        if not len(external):
            return None
        full = np.zeros((*like.shape[:-1], len(self._dynamics.model.bodies), 6))
        full[..., self._body, :] = require_finite('external', external)
        return full


def platform_model(geometry: StewartGeometry) -> Model:
    """
    Return a free platform, legs of universal and driven joints, and six spherical closures.

    The driven joints have the names of the legs. A strut has a prismatic joint, of no length at
    zero; so has the carriage on a rail. A crank has a revolute joint. Other names are platform,
    LEG_cylinder (LEG_carriage, LEG_crank), LEG_rod, LEG_base for the universal joint and LEG_tip
    for the closure.

    Args:
        geometry: a StewartGeometry.

    Returns:
        the model.

    Raises:
        GeometryError: for a geometry without masses, or with other legs than plain struts, rails
            and cranks.

    >>> len(platform_model(geometry).closures)
    6
    """
    masses = geometry.masses
    if masses is None:
        raise GeometryError(f'{geometry.name}: expected masses, got none; docs/conventions.md '
                            'shows the key masses of a geometry file')
    builder = ModelBuilder(geometry.name, gravity=masses.gravity)
    builder.add_body('platform', masses.spatial_inertia())
    builder.add_joint('platform_joint', 'free', None, 'platform', actuated=False)
    for name, leg_type, base, tip, (least, most), leg in zip(
            geometry.leg_names, geometry.leg_types, geometry.base_joints, geometry.platform_joints,
            geometry.length_limits, masses.legs):
        limits = {'lower': least, 'upper': most}
        if isinstance(leg_type, Strut):
            length = _add_strut(builder, name, base, limits, leg)
        elif isinstance(leg_type, Rail | Crank):
            length = _add_driven_rod(builder, name, leg_type, base, limits, leg)
        else:
            raise GeometryError(f'{geometry.name}: {name}: expected a strut whose joint axes '
                                f'meet, a rail or a crank, got {leg_type}')
        builder.add_closure(f'{name}_tip', 'spherical', f'{name}_rod', 'platform',
                            placement_a=_pose(np.eye(3), np.array([0.0, 0.0, length])),
                            placement_b=_pose(np.eye(3), tip))
    return builder.build()


def _add_strut(builder: ModelBuilder, name: str, base: Array, limits: dict[str, float],
               leg: LegMasses) -> float:
    """Add cylinder and rod; return how far the tip is from the rod's frame."""
    cylinder, rod = f'{name}_cylinder', f'{name}_rod'
    builder.add_body(cylinder, _inertia(leg.cylinder, leg.cylinder.center))
    builder.add_joint(f'{name}_base', 'universal', None, cylinder, axis=_X, second_axis=_Y,
                      placement=_pose(universal_axes(leg), base), actuated=False)
    builder.add_body(rod, _inertia(leg.rod, -leg.rod.center))
    builder.add_joint(name, 'prismatic', cylinder, rod, axis=_Z, limits=limits)
    return 0.0


def _add_driven_rod(builder: ModelBuilder, name: str, leg_type: Rail | Crank, base: Array,
                    limits: dict[str, float], leg: LegMasses) -> float:
    """Add a carriage or a crank, and the rod on it; return the rod's length."""
    driven, rod = f'{name}_{leg_type.driven}', f'{name}_rod'
    if isinstance(leg_type, Rail):
        builder.add_body(driven, _inertia(leg.cylinder, 0.0))
        builder.add_joint(name, 'prismatic', None, driven, axis=leg_type.direction,
                          placement=_pose(np.eye(3), base), limits=limits)
        place = _pose(universal_axes(leg), np.zeros(3))
    else:
        along = np.array(leg_type.zero)
        builder.add_body(driven, _inertia(leg.cylinder, leg.cylinder.center, along))
        builder.add_joint(name, 'revolute', None, driven, axis=leg_type.axis,
                          placement=_pose(np.eye(3), base), limits=limits)
        place = _pose(universal_axes(leg), leg_type.radius * along)
    builder.add_body(rod, _inertia(leg.rod, leg_type.rod - leg.rod.center))
    builder.add_joint(f'{name}_base', 'universal', driven, rod, axis=_X, second_axis=_Y,
                      placement=place, actuated=False)
    return leg_type.rod


def universal_axes(leg: LegMasses) -> Array:
    """Return first and second axis of a universal joint, and a leg's direction at zero."""
    first = np.array(leg.base_axis)
    up = np.array([0.0, 0.0, 1.0] if abs(first[2]) < _VERTICAL else [1.0, 0.0, 0.0])
    second = np.cross(up, first)
    second /= np.linalg.norm(second)
    return np.column_stack((first, second, np.cross(first, second)))


def _inertia(part: LegPart, center: float, axis: Array | None = None) -> SpatialInertia | None:
    """Return the inertia of a slender part along an axis, z by default, its centre on it."""
    if part.mass == 0.0:
        return None
    axis = np.array(_Z) if axis is None else axis
    along = np.outer(axis, axis)
    # A part may be a thin line; what is impossible LegPart has refused.
    return SpatialInertia(part.mass, center * axis, part.transverse * (np.eye(3) - along)
                          + part.axial * along, physical=False)


def model_state(geometry: StewartGeometry, pose_base_platform: ArrayLike, twist: ArrayLike
                ) -> tuple[Array, Array]:
    """
    Return the state of platform_model at a pose and a body twist (12.39).

    Args:
        geometry: a StewartGeometry.
        pose_base_platform: pose (4, 4) of the platform in the base; m.
        twist: body twist (6,), angular part first; rad/s and m/s.

    Returns:
        q (25,) and v (24,); rad and m.

    Raises:
        GeometryError: for a geometry without masses.
        LimitError: where a rod does not reach.
        SingularError: where a drive is at its dead centre.

    >>> model_state(geometry, home, np.zeros(6))[0].shape
    (25,)
    """
    return ClosedLoopState(geometry)(pose_base_platform, twist)


class ClosedLoopState:
    """Finds states as model_state does; terms that no pose changes are computed once."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """Lay out the legs."""
        if geometry.masses is None:
            raise GeometryError(f'{geometry.name}: expected masses, got none')
        self._geometry = geometry
        legs = np.array([
            [*_own(leg_type, scale, masses), *base, *tip] for leg_type, scale, masses, base, tip
            in zip(geometry.leg_types, geometry.drive_scales, geometry.masses.legs,
                   geometry.base_joints, geometry.platform_joints)])
        self._kernel = BoundKernel(write_loop_state, legs, geometry.table())

    def __call__(self, pose_base_platform: ArrayLike, twist: ArrayLike) -> tuple[Array, Array]:
        """Return q (25,) and v (24,), or raise the errors of model_state."""
        q, v, _ = self.motion(pose_base_platform, twist, _REST)
        return q, v

    def motion(self, pose_base_platform: ArrayLike, twist: ArrayLike, acceleration: Array
               ) -> tuple[Array, Array, Array]:
        """Return q, v and the accelerations a (24,) at a rate (6,) of the twist, or raise them."""
        pose = se3.require_pose('pose_base_platform', pose_base_platform)
        twist = as_array('twist', twist, (6,))
        q, v, a = np.empty(25), np.empty(24), np.empty(24)
        code = self._kernel.call(np.array(pose), np.array(twist), acceleration, q, v, a)
        if code == DONE:
            return q, v, a
        if code == UNREACHED:
            leg_lengths(self._geometry, pose)  # which names the leg
            raise LimitError(f'pose_base_platform: expected rods that reach, got\n{pose}')
        leg = self._geometry.leg_names[code - DEAD_CENTRE]
        raise SingularError(f'pose_base_platform: expected drives that move the platform, got '
                            f'{leg} at its dead centre, at\n{pose}')


def _own(leg_type: LegType, scale: float, masses: LegMasses) -> list[float]:
    """Return the columns of a leg that its type gives, and the axes of its joints."""
    kind, radius = 0, 0.0
    direction: Array = np.zeros(3)
    frame: Array = np.eye(3)
    if isinstance(leg_type, Crank):
        kind, radius = leg_rows.CRANK, leg_type.radius
        frame = np.column_stack(
            (leg_type.zero, np.cross(leg_type.axis, leg_type.zero), leg_type.axis))
    elif isinstance(leg_type, Rail):
        kind, direction = leg_rows.RAIL, np.array(leg_type.direction)
    return [kind, scale, radius, *direction, *frame.ravel(),
            *(frame.T @ universal_axes(masses)).ravel()]
