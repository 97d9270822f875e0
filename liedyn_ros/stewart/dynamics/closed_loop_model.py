# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as a model with closed loops, for algorithms that take any machine."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail, Strut
from liedyn_ros.stewart.platform.description.masses import LegMasses, LegPart

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_VERTICAL = 0.99  # z of a first axis; above it the second axis is across the x axis of the base


def platform_model(geometry: StewartGeometry) -> Model:
    """
    Return a free platform, legs of universal and driven joints, and six spherical closures.

    The driven joints have the names of the legs. A strut has a prismatic joint, of no length at
    zero; so has the carriage on a rail. A crank has a revolute joint. Other names
    are platform, LEG_cylinder (LEG_carriage, LEG_crank), LEG_rod, LEG_base for the universal joint
    and LEG_tip for the closure. Raises GeometryError for a geometry without masses, or with other
    legs than plain struts, rails and cranks.
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


def _pose(rotation: Array, position: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def _inertia(part: LegPart, center: float, axis: Array | None = None) -> SpatialInertia | None:
    """Return the inertia of a slender part along an axis, z by default, its centre on it."""
    if part.mass == 0.0:
        return None
    axis = np.array(_Z) if axis is None else axis
    along = np.outer(axis, axis)
    # A part may be a thin line; what is impossible LegPart has refused.
    return SpatialInertia(part.mass, center * axis, part.transverse * (np.eye(3) - along)
                          + part.axial * along, physical=False)
