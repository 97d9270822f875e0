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

"""The platform as a model with closed loops, for algorithms that take any machine."""

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.stewart.platform.geometry import StewartGeometry
from liedyn_ros.stewart.platform.masses import LegMasses, LegPart

_VERTICAL = 0.99  # of a first axis; the second is then sought across the x axis of the base


def platform_model(geometry: StewartGeometry) -> Model:
    """
    Return a free platform, legs of universal and prismatic joints, and six spherical closures.

    The prismatic joints have the names of the legs and are driven; at zero they have no length.
    Other names are platform, LEG_cylinder, LEG_rod, LEG_base for the universal joint and LEG_tip
    for the closure. Raises GeometryError for a geometry without masses or with other legs.
    """
    masses = geometry.masses
    if masses is None or not geometry.plain:
        raise GeometryError(f'{geometry.name}: expected struts with masses, got '
                            f'{"no masses" if masses is None else "legs of another form"}')
    builder = ModelBuilder(geometry.name, gravity=masses.gravity)
    builder.add_body('platform', masses.spatial_inertia())
    builder.add_joint('platform_joint', 'free', None, 'platform', actuated=False)
    for name, base, tip, (least, most), leg in zip(
            geometry.leg_names, geometry.base_joints, geometry.platform_joints,
            geometry.length_limits, masses.legs):
        cylinder, rod = f'{name}_cylinder', f'{name}_rod'
        builder.add_body(cylinder, _inertia(leg.cylinder, 1.0))
        builder.add_joint(
            f'{name}_base', 'universal', None, cylinder, axis=[1.0, 0.0, 0.0],
            second_axis=[0.0, 1.0, 0.0], placement=_pose(_axes(leg), base), actuated=False)
        builder.add_body(rod, _inertia(leg.rod, -1.0))
        builder.add_joint(name, 'prismatic', cylinder, rod, axis=[0.0, 0.0, 1.0],
                          limits={'lower': least, 'upper': most})
        builder.add_closure(f'{name}_tip', 'spherical', rod, 'platform',
                            placement_b=_pose(np.eye(3), tip))
    return builder.build()


def model_state(geometry: StewartGeometry, pose_base_platform: ArrayLike, twist: ArrayLike
                ) -> tuple[Array, Array]:
    """
    Return q (25,) and v (24,) of platform_model at a pose and a body twist (12.39).

    Raises ShapeError, NotFiniteError, NotInGroupError, or GeometryError without masses.
    """
    if geometry.masses is None:
        raise GeometryError(f'{geometry.name}: expected masses, got none')
    pose = se3.require_pose('pose_base_platform', pose_base_platform)
    twist = as_array('twist', twist, (6,))
    rotation, position = pose[:3, :3], pose[:3, 3]
    q, v = [*position, *so3.to_quaternion(rotation)], [*twist]
    for base, tip, leg in zip(
            geometry.base_joints, geometry.platform_joints, geometry.masses.legs):
        axes = _axes(leg)
        along = axes.T @ (rotation @ tip + position - base)
        speed = axes.T @ (rotation @ (twist[3:] + np.cross(twist[:3], tip)))
        length = float(np.linalg.norm(along))
        x, y, z = along / length
        across, rate = np.hypot(y, z), float(speed @ along / length)
        q += [np.arctan2(-y, z), np.arctan2(x, across), length]
        v += [(y * speed[2] - z * speed[1]) / (length * across**2),
              (speed[0] - x * rate) / (length * across), rate]
    return np.array(q), np.array(v)


def _axes(leg: LegMasses) -> Array:
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


def _inertia(part: LegPart, side: float) -> SpatialInertia | None:
    if part.mass == 0.0:
        return None
    return SpatialInertia(part.mass, [0.0, 0.0, side * part.center], np.diag(
        [part.transverse, part.transverse, part.axial]))
