# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as a picture: two plates, joints, and legs whose rods show their travel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail, Stage
from liedyn_ros.stewart.platform.kinematics import leg_ends

# Widths in units of the characteristic length
PLATE_WIDTH, TUBE_WIDTH, ROD_WIDTH, JOINT_WIDTH = 0.03, 0.1, 0.06, 0.14
TUBE_SHARES = 0.3, 0.7  # least and most of a strut at home that its tube covers
GREY_COLOR, LIGHT_COLOR, STEEL_COLOR = (0.7, 0.72, 0.8), (0.6, 0.8, 1.0), (0.85, 0.85, 0.85)
MIDDLE_COLOR, END_COLOR, BEYOND_COLOR = (0.1, 0.8, 0.3), (1.0, 0.75, 0.0), (0.95, 0.1, 0.1)


class PlatformShapes(NamedTuple):
    """
    Where the moving parts are, in the base frame, m.

    joints (2 n, 3) are those of the base, then those of the platform. tubes and rods (n, 2, 3) are
    the two ends of each of n legs. colors (n, 3) are red, green, blue of the rods, 0 to 1.
    """

    joints: Array
    tubes: Array
    rods: Array
    colors: Array


class PlatformPicture:
    """
    Picture of one platform that every view draws.

    A strut is a tube of fixed length and a rod. A driven leg is its crank, or the way of its
    carriage, and a rod. base and platform (12 n, 3), m, are the corners of triangles that bound
    the plates, the one in the base frame, the other in the platform's.
    """

    def __init__(self, geometry: StewartGeometry, home: Array) -> None:
        """Build the picture of a geometry; tubes have their length by the pose home (4, 4), m."""
        self.size = geometry.characteristic_length
        self._geometry = geometry
        self._driven = np.array([
            [isinstance(leg, Rail | Crank | Stage)] for leg in geometry.leg_types])
        begin, end = leg_ends(geometry, home)
        length = np.linalg.norm(end - begin, axis=1)
        self._tube = np.clip(
            geometry.length_limits[:, 0], TUBE_SHARES[0] * length,
            TUBE_SHARES[1] * length)[:, None]
        self.base = plate(geometry.base_outline, PLATE_WIDTH * self.size)
        self.platform = plate(geometry.platform_joints, PLATE_WIDTH * self.size)

    def at(self, pose: Array, lengths: Array) -> PlatformShapes:
        """Return the shapes of a pose (4, 4), m, with drive coordinates (n,), m or rad."""
        ends, tips = leg_ends(self._geometry, pose)
        legs = tips - ends
        share = np.minimum(self._tube / np.linalg.norm(legs, axis=1, keepdims=True), 1.0)
        begin = np.where(self._driven, self._geometry.base_joints, ends)
        middle = np.where(self._driven, ends, ends + share * legs)
        return PlatformShapes(
            np.concatenate((begin, tips)), np.stack((begin, middle), axis=1),
            np.stack((middle, tips), axis=1), self.colors(lengths))

    def colors(self, lengths: Array) -> Array:
        """
        Return the colours (n, 3) of drive coordinates (n,), m or rad.

        Green is the middle of a leg's travel, amber its ends, red beyond. A leg without a longest
        length is green.
        """
        least, most = self._geometry.length_limits.T
        travel = np.abs(2.0 * (lengths - least) / (most - least) - 1.0) * np.isfinite(most)
        within = self._geometry.within_limits(lengths)
        between = np.array(MIDDLE_COLOR) + travel[:, None] * np.subtract(END_COLOR, MIDDLE_COLOR)
        colors: Array = np.where(np.asarray(within)[:, None], between, BEYOND_COLOR)
        return colors


def plate(joints: Array, thickness: float) -> Array:
    """
    Return the corners (12 n, 3) of the triangles of a plate through joints (n, 3), m.

    Corners stand counterclockwise as seen from outside, as viewers light that side.
    """
    center = joints.mean(axis=0)
    x, y = np.linalg.svd(joints - center)[2][:2]  # of the plane nearest to the joints
    half = 0.5 * thickness * np.cross(x, y)
    rim = joints[np.argsort(np.arctan2((joints - center) @ y, (joints - center) @ x))]
    faces = []
    for a, b in zip(rim, np.roll(rim, -1, axis=0)):
        faces += [(center + half, a + half, b + half), (center - half, b - half, a - half),
                  (a - half, b - half, b + half), (a - half, b + half, a + half)]
    return np.reshape(faces, (-1, 3))


def along(ends: Array, shortest: float) -> tuple[Array, Array, Array]:
    """
    Return how cylinders, which stand along z, come between two ends (n, 2, 3), m.

    Returns centres (n, 3), quaternions x, y, z, w (n, 4) and heights (n,), none below shortest.
    """
    direction = ends[:, 1] - ends[:, 0]
    direction = np.where(direction[:, 2:] < 0.0, -direction, direction)  # it has no direction
    direction[np.linalg.norm(direction, axis=1) < shortest] = (0.0, 0.0, shortest)
    heights = np.linalg.norm(direction, axis=1)
    x, y, z = (direction / heights[:, None]).T
    halves = np.sqrt(2.0 + 2.0 * z)  # the quaternion that turns z into the direction
    turns = np.column_stack((-y, x, np.zeros(len(ends)), 1.0 + z)) / halves[:, None]
    return 0.5 * ends.sum(axis=1), turns, heights
