# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as RViz markers: base, platform, and legs coloured by their travel."""

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from liedyn_ros.common.checks import Array
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.stewart import leg_ends

LINE = 0.04  # width of lines in units of the characteristic length
JOINT = 0.1  # diameter of joints in the same units
GREY, LIGHT = (0.35, 0.35, 0.4), (0.75, 0.75, 0.8)
MIDDLE, END, BEYOND = (0.1, 0.7, 0.3), (1.0, 0.75, 0.0), (0.9, 0.1, 0.1)


class StewartMarkers:
    """Builds the MarkerArray of one platform; all markers are in the base frame."""

    def __init__(self, platform: Platform) -> None:
        """Take the platform whose joints and limits are drawn."""
        self._geometry, self._frame = platform.geometry, platform.base_frame
        self._size = platform.geometry.characteristic_length

    def at(self, stamp: Time, pose: Array, lengths: Array) -> MarkerArray:
        """Return the markers of a pose (4, 4), m, with leg lengths (6,), m."""
        base, tips = leg_ends(self._geometry, pose)
        joints = self._marker(stamp, 'joints', Marker.SPHERE_LIST, np.concatenate((base, tips)),
                              JOINT, GREY)
        joints.scale.y = joints.scale.z = joints.scale.x
        legs = self._marker(stamp, 'legs', Marker.LINE_LIST,
                            np.stack((base, tips), axis=1).reshape(-1, 3), LINE, MIDDLE)
        legs.colors = [color for leg in self.leg_colors(lengths) for color in (leg, leg)]
        return MarkerArray(markers=[
            self._marker(stamp, 'base', Marker.LINE_STRIP, np.concatenate((base, base[:1])),
                         LINE, GREY),
            self._marker(stamp, 'platform', Marker.LINE_STRIP, np.concatenate((tips, tips[:1])),
                         LINE, LIGHT),
            joints, legs])

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

    def _marker(self, stamp: Time, namespace: str, kind: int, points: Array, width: float,
                color: tuple[float, float, float]) -> Marker:
        marker = Marker(ns=namespace, type=kind, action=Marker.ADD, color=_color(color))
        marker.header.stamp, marker.header.frame_id = stamp, self._frame
        marker.pose.orientation.w = 1.0
        marker.scale.x = width * self._size
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]
        return marker


def _color(rgb: Array | tuple[float, float, float]) -> ColorRGBA:
    red, green, blue = (float(value) for value in rgb)
    return ColorRGBA(r=red, g=green, b=blue, a=1.0)
