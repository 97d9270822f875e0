# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A tool or a pivot as the platform's frame: the same machine, seen from there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.geometry_covariance import turned_covariance
from liedyn_ros.stewart.platform.description.leg_types import LegType
from liedyn_ros.stewart.platform.description.masses import PlatformMasses


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
