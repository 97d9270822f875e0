# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The element origin of a URDF."""

from xml.etree.ElementTree import Element as XML
from xml.etree.ElementTree import SubElement

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.parts.geometry import pose

_ZERO = 0.0, 0.0, 0.0


def origin(element: Element, tag: str = 'origin') -> Array:
    """Return the pose (4, 4) of an element origin, the identity where there is none."""
    found = element.optional(tag)
    if found is None:
        return pose()
    if 'quat_xyzw' not in found.value.attrib:
        return pose(found.numbers('xyz', 3, _ZERO), found.numbers('rpy', 3, _ZERO))
    if 'rpy' in found.value.attrib:
        found.fail('rpy or quat_xyzw', 'both')
    turn = np.array(found.numbers('quat_xyzw', 4))
    if not turn.any():
        found.fail('a quaternion other than zero', 'zero')
    return se3.from_rotation_translation(
        so3.from_quaternion(turn / np.linalg.norm(turn)),
        np.array(found.numbers('xyz', 3, _ZERO)))


def add_origin(element: XML, placement: Array) -> None:
    """Write a pose (4, 4) as an element origin."""
    SubElement(element, 'origin', xyz=joined(placement[:3, 3]),
               rpy=joined(_rpy(placement[:3, :3])))


def joined(numbers: ArrayLike) -> str:
    """Return numbers as the text of an attribute."""
    return ' '.join(repr(float(x) + 0.0) for x in np.asarray(numbers))  # + 0.0: no -0.0


def _rpy(rotation: Array) -> Array:
    """Return fixed-axis roll, pitch and yaw, exact at pitch 90 degrees too."""
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    tilt = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    roll = np.arctan2(-tilt[1, 2], tilt[1, 1])  # tilt = Ry(pitch) Rx(roll)
    return np.array([roll, np.arctan2(-tilt[2, 0], tilt[0, 0]), yaw])
