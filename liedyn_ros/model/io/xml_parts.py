# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Parts that XML formats share: places, mass properties, and elements as they are written."""

from collections.abc import Iterator, Mapping, Sequence
import warnings
from xml.etree import ElementTree
from xml.etree.ElementTree import Element as XML
from xml.etree.ElementTree import SubElement

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed, require_finite
from liedyn_ros.common.errors import DescriptionWarning, InertiaError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.geometry import pose, quaternion_pose
from liedyn_ros.model.parts.inertia import SpatialInertia, unphysical

DRAKE = '{http://drake.mit.edu}'
MOMENTS = 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'
_ZERO = 0.0, 0.0, 0.0


class Masses:
    """The mass properties of a file's links; those that no body has are refused if strict."""

    def __init__(self, strict: bool) -> None:
        """Start without links."""
        self._strict, self.remarks = strict, dict[str, list[str]]()  # links by what is said

    def read(self, inertial: Element, link: str, mass: float, moments: Sequence[float],
             placement: Array) -> SpatialInertia:
        """Return the inertia of MOMENTS in the frame of a placement (4, 4) on its link."""
        xx, xy, xz, yy, yz, zz = moments
        inertia, turn = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))), placement[:3, :3]
        if (turn != np.eye(3)).any():
            inertia = turn @ inertia @ turn.T
            inertia = 0.5 * inertia + 0.5 * inertia.T
        with inertial.context():
            fault = unphysical(mass, require_finite('inertia', inertia))
            if fault is not None:
                if self._strict or mass < 0.0:
                    raise InertiaError(
                        f'{fault}{"; without strict it is used as it is" * (mass >= 0.0)}')
                self.remarks.setdefault(
                    f'{fault.partition(", got")[0]}; their mass properties, which no rigid body '
                    'has, are used as they are (strict refuses them)', []).append(link)
            return SpatialInertia(mass, placement[:3, 3], inertia, physical=False)

    def warnings(self) -> Iterator[str]:
        """Yield the remarks on links as warnings."""
        return (f'links {listed(names)}: {text}' for text, names in self.remarks.items())


def origin(element: Element, tag: str = 'origin') -> Array:
    """Return the pose (4, 4) of an element origin, the identity where there is none."""
    found = element.optional(tag)
    if found is None:
        return pose()
    if 'quat_xyzw' not in found.value.attrib:
        return pose(found.numbers('xyz', 3, _ZERO), found.numbers('rpy', 3, _ZERO))
    if 'rpy' in found.value.attrib:
        found.fail('rpy or quat_xyzw', 'both')
    turn = found.numbers('quat_xyzw', 4)
    if not any(turn):
        found.fail('a quaternion other than zero', 'zero')
    return quaternion_pose(found.numbers('xyz', 3, _ZERO), turn)


def add(parent: XML, tag: str, content: ArrayLike | str | None = None, **attributes: ArrayLike
        ) -> XML:
    """Add an element with a text and attributes; numbers are written in full."""
    element = SubElement(parent, tag, {
        key: value if isinstance(value, str) else joined(value)
        for key, value in attributes.items()})
    if content is not None:
        element.text = content if isinstance(content, str) else joined(content)
    return element


def add_origin(element: XML, placement: Array, tag: str = 'origin') -> None:
    """Write a pose (4, 4) as an element origin, in place of one that is there."""
    found = element.find(tag)
    if found is None:
        found = XML(tag)
        element.insert(0, found)
    found.attrib = {'xyz': joined(placement[:3, 3]), 'rpy': joined(rpy(placement[:3, :3]))}


def joined(numbers: ArrayLike) -> str:
    """Return numbers, or one, as a text that a reader reads back to the same bits."""
    return ' '.join(repr(float(x) + 0.0) for x in np.atleast_1d(numbers))  # + 0.0: no -0.0


def rpy(rotation: Array) -> Array:
    """Return fixed-axis roll, pitch and yaw, exact at pitch 90 degrees too."""
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    tilt = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    roll = np.arctan2(-tilt[1, 2], tilt[1, 1])  # tilt = Ry(pitch) Rx(roll)
    return np.array([roll, np.arctan2(-tilt[2, 0], tilt[0, 0]), yaw])


def moments_of(inertia: SpatialInertia) -> dict[str, float]:
    """Return the moments about the centre of mass, by MOMENTS."""
    return dict(zip(MOMENTS, inertia.inertia_about_com[np.triu_indices(3)].tolist()))


def write_inertial(link: XML, inertia: SpatialInertia) -> None:
    """Write the element inertial of a URDF's link, in place of one that is there."""
    place = next((i for i, each in enumerate(link) if each.tag == 'inertial'), 0)
    for old in link.findall('inertial'):
        link.remove(old)
    inertial = XML('inertial')
    link.insert(place, inertial)
    add(inertial, 'origin', xyz=inertia.center_of_mass)
    add(inertial, 'mass', value=inertia.mass)
    add(inertial, 'inertia', **moments_of(inertia))


def warn_of_lost(model: Model, lost: Mapping[str, Sequence[str]]) -> None:
    """Warn of what a format lacks: the names that each text is about."""
    for what, names in lost.items():
        if names:
            warnings.warn(f'{model.name}: {listed(names)}: {what}', DescriptionWarning,
                          stacklevel=3)


def document(root: XML) -> str:
    """Return an element, indented, as the text of a document."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode')
