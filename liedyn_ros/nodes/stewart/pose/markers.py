# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as RViz markers, and as a robot model with joint states for any other tool."""

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, String
from visualization_msgs.msg import Marker, MarkerArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import NameSetError
from liedyn_ros.model import to_urdf
from liedyn_ros.nodes.stewart.platform import LEG_STATES, Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.packed import NANOSECONDS, PackedPublisher, STAMP_FIELDS
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import LATCHED
from liedyn_ros.stewart import TrackedPose
from liedyn_ros.stewart.description import PlatformTree
from liedyn_ros.stewart.platform.picture import (
    along, GREY_COLOR, JOINT_WIDTH, LIGHT_COLOR, MIDDLE_COLOR, PlatformPicture, ROD_WIDTH,
    STEEL_COLOR, TUBE_WIDTH)

SHORTEST_TUBE = 1e-3  # of a tube, by the characteristic length: RViz warns of one without height


class StewartMarkers:
    """Fills in the MarkerArray of one platform; all markers are in the base frame."""

    def __init__(self, platform: Platform) -> None:
        """Build the markers of the platform whose joints and limits are drawn."""
        self._picture = PlatformPicture(platform.geometry, platform.home)
        size = self._picture.size
        self._frame, self._shortest = platform.base_frame, SHORTEST_TUBE * size
        base, self._platform = (
            self._marker(name, Marker.TRIANGLE_LIST, (1.0, 1.0, 1.0), color)
            for name, color in (('base', GREY_COLOR), ('platform', LIGHT_COLOR)))
        base.points = _points(self._picture.base)
        self._platform.points = _points(self._picture.platform)
        self._joints = self._marker('joints', Marker.SPHERE_LIST, [JOINT_WIDTH * size] * 3,
                                    STEEL_COLOR)
        self._tubes, self._rods = ([
            self._marker(name, Marker.CYLINDER, [width * size] * 3, color, leg)
            for leg in range(len(platform.geometry.leg_names))] for name, width, color in (
                ('tubes', TUBE_WIDTH, STEEL_COLOR), ('rods', ROD_WIDTH, MIDDLE_COLOR)))
        self._array = MarkerArray(
            markers=[base, self._platform, self._joints, *self._tubes, *self._rods])

    def at(self, stamp: Time, pose: Array, lengths: Array) -> MarkerArray:
        """
        Return the markers of a pose (4, 4), m, with drive coordinates (n,), m or rad.

        The next call writes into the same message.
        """
        shapes = self._picture.at(pose, lengths)
        for marker in self._array.markers:
            marker.header.stamp = stamp
        conversions.to_pose(pose, self._platform.pose)
        self._joints.points = _points(shapes.joints)
        self._stretch(self._tubes, shapes.tubes)
        self._stretch(self._rods, shapes.rods)
        for rod, color in zip(self._rods, shapes.colors):
            rod.color = _color(color)
        return self._array

    def _stretch(self, cylinders: list[Marker], ends: Array) -> None:
        """Put cylinders, which stand along z, between their ends (n, 2, 3)."""
        centers, turns, heights = along(ends, self._shortest)
        for marker, center, turn, height in zip(
                cylinders, centers.tolist(), turns.tolist(), heights.tolist()):
            marker.scale.z = height
            position, orientation = marker.pose.position, marker.pose.orientation
            position.x, position.y, position.z = center
            orientation.x, orientation.y, orientation.z, orientation.w = turn

    def _marker(self, namespace: str, kind: int, scale: Sequence[float],
                color: tuple[float, float, float], number: int = 0) -> Marker:
        marker = Marker(
            ns=namespace, id=number, type=kind, action=Marker.ADD, color=_color(np.array(color)))
        marker.header.frame_id = self._frame
        marker.pose.orientation.w = 1.0
        marker.scale.x, marker.scale.y, marker.scale.z = scale
        return marker


def _points(points: Array) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]


def _color(rgb: Array) -> ColorRGBA:
    red, green, blue = rgb.tolist()
    return ColorRGBA(r=red, g=green, b=blue, a=1.0)


JOINT_STATES = 'joint_states'


class StewartDescription:
    """Publishes the URDF once, latched, and the joint states of poses where someone listens."""

    def __init__(self, node: ManagedNode, platform: Platform, prefix: str) -> None:
        """Open the publishers. Raises NameSetError where the node would read its own states."""
        if node.resolve_topic_name(LEG_STATES) == node.resolve_topic_name(JOINT_STATES):
            raise NameSetError(
                f'{JOINT_STATES}: expected another topic than that of {LEG_STATES}, got '
                f'{node.resolve_topic_name(JOINT_STATES)} for both: remap one of them')
        self._tree = PlatformTree(
            platform.geometry, platform.home, base=platform.base_frame,
            platform=platform.platform_frame, prefix=prefix)
        self._description = String(data=to_urdf(self._tree.model))
        self._descriptions = node.open_publisher(String, 'robot_description', LATCHED)
        names = list(self._tree.joints)
        self._joints = PackedPublisher(
            node.open_publisher(JointState, JOINT_STATES),
            JointState(name=names, position=[0.0] * len(names)), (*STAMP_FIELDS, 'position'))

    def describe(self) -> None:
        """Publish the URDF; the node is active."""
        self._descriptions.publish(self._description)

    def publish(self, tracked: TrackedPose) -> None:
        """Publish the joint states of a pose."""
        if self._joints.heard:
            self._joints.publish((*divmod(tracked.stamp_ns, NANOSECONDS),
                                  *self._tree.joint_values(tracked.pose).tolist()))
