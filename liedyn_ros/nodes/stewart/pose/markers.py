# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as RViz markers: two plates, joints, and legs whose rods show their travel."""

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from liedyn_ros.common.checks import Array
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.stewart import Crank, leg_ends, Rail, Stage

PLATE, TUBE, ROD, JOINT = 0.03, 0.1, 0.06, 0.14  # widths in units of the characteristic length
SHORTEST = 1e-3  # of a tube, in the same units: RViz warns of a cylinder without height
TUBE_SHARE = 0.3, 0.7  # least and most of a strut at home that its tube covers
GREY, LIGHT, STEEL = (0.7, 0.72, 0.8), (0.6, 0.8, 1.0), (0.85, 0.85, 0.85)
MIDDLE, END, BEYOND = (0.1, 0.8, 0.3), (1.0, 0.75, 0.0), (0.95, 0.1, 0.1)


class StewartMarkers:
    """
    Fills in the MarkerArray of one platform; all markers are in the base frame.

    A strut is a tube of fixed length and a rod. A driven leg is its crank, or the way of its
    carriage, and a rod.
    """

    def __init__(self, platform: Platform) -> None:
        """Build the markers of the platform whose joints and limits are drawn."""
        geometry = platform.geometry
        size = geometry.characteristic_length
        self._geometry, self._frame, self._size = geometry, platform.base_frame, size
        self._driven = np.array([
            [isinstance(leg, Rail | Crank | Stage)] for leg in geometry.leg_types])
        begin, end = leg_ends(geometry, platform.home)
        home = np.linalg.norm(end - begin, axis=1)
        self._tube = np.clip(
            geometry.length_limits[:, 0], TUBE_SHARE[0] * home, TUBE_SHARE[1] * home)[:, None]
        base, self._platform = (
            self._marker(name, Marker.TRIANGLE_LIST, (1.0, 1.0, 1.0), color)
            for name, color in (('base', GREY), ('platform', LIGHT)))
        base.points = _points(plate(geometry.base_outline, PLATE * size))
        self._platform.points = _points(plate(geometry.platform_joints, PLATE * size))
        self._joints = self._marker('joints', Marker.SPHERE_LIST, [JOINT * size] * 3, STEEL)
        self._tubes, self._rods = ([
            self._marker(name, Marker.CYLINDER, [width * size] * 3, color, leg)
            for leg in range(6)] for name, width, color in (
                ('tubes', TUBE, STEEL), ('rods', ROD, MIDDLE)))
        self._array = MarkerArray(
            markers=[base, self._platform, self._joints, *self._tubes, *self._rods])

    def at(self, stamp: Time, pose: Array, lengths: Array) -> MarkerArray:
        """
        Return the markers of a pose (4, 4), m, with drive coordinates (6,), m or rad.

        The next call writes into the same message.
        """
        ends, tips = leg_ends(self._geometry, pose)
        legs = tips - ends
        share = np.minimum(self._tube / np.linalg.norm(legs, axis=1, keepdims=True), 1.0)
        begin = np.where(self._driven, self._geometry.base_joints, ends)
        middle = np.where(self._driven, ends, ends + share * legs)
        for marker in self._array.markers:
            marker.header.stamp = stamp
        conversions.to_pose(pose, self._platform.pose)
        self._joints.points = _points(np.concatenate((begin, tips)))
        self._stretch(self._tubes, begin, middle)
        self._stretch(self._rods, middle, tips)
        for rod, color in zip(self._rods, self.leg_colors(lengths)):
            rod.color = color
        return self._array

    def leg_colors(self, lengths: Array) -> list[ColorRGBA]:
        """
        Return green in the middle of a leg's travel, amber at its ends, red beyond.

        A leg without a longest length is green.
        """
        least, most = self._geometry.length_limits.T
        travel = np.abs(2.0 * (lengths - least) / (most - least) - 1.0) * np.isfinite(most)
        within = self._geometry.within_limits(lengths)
        return [_color(np.array(MIDDLE) + t * np.subtract(END, MIDDLE) if inside else BEYOND)
                for t, inside in zip(travel, within)]

    def _stretch(self, cylinders: list[Marker], begin: Array, end: Array) -> None:
        """Put cylinders, which stand along z, between points (6, 3)."""
        along, shortest = end - begin, SHORTEST * self._size
        along = np.where(along[:, 2:] < 0.0, -along, along)  # a cylinder has no direction
        along[np.linalg.norm(along, axis=1) < shortest] = (0.0, 0.0, shortest)
        heights = np.linalg.norm(along, axis=1)
        x, y, z = (along / heights[:, None]).T
        halves = np.sqrt(2.0 + 2.0 * z)  # the quaternion that turns z into the direction
        turns = np.column_stack((-y, x, np.zeros(6), 1.0 + z)) / halves[:, None]
        for marker, center, turn, height in zip(
                cylinders, (0.5 * (begin + end)).tolist(), turns.tolist(), heights.tolist()):
            marker.scale.z = height
            position, orientation = marker.pose.position, marker.pose.orientation
            position.x, position.y, position.z = center
            orientation.x, orientation.y, orientation.z, orientation.w = turn

    def _marker(self, namespace: str, kind: int, scale: Sequence[float],
                color: tuple[float, float, float], number: int = 0) -> Marker:
        marker = Marker(
            ns=namespace, id=number, type=kind, action=Marker.ADD, color=_color(color))
        marker.header.frame_id = self._frame
        marker.pose.orientation.w = 1.0
        marker.scale.x, marker.scale.y, marker.scale.z = scale
        return marker


def plate(joints: Array, thickness: float) -> Array:
    """
    Return the corners (72, 3) of the triangles that bound a plate through joints (6, 3), m.

    Corners stand counterclockwise as seen from outside, as RViz lights that side.
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


def _points(points: Array) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]


def _color(rgb: Array | tuple[float, float, float]) -> ColorRGBA:
    red, green, blue = (float(value) for value in rgb)
    return ColorRGBA(r=red, g=green, b=blue, a=1.0)
