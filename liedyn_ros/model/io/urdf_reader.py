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

"""URDF, the robot description of ROS."""

from collections.abc import Iterator
from dataclasses import dataclass
import os
from pathlib import Path
from typing import Literal, NoReturn
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.model.builder import ModelBuilder, STANDARD_GRAVITY
from liedyn_ros.model.geometry import pose
from liedyn_ros.model.inertia import SpatialInertia
from liedyn_ros.model.model import Model

ROOT_JOINT = 'root_joint'
BYTE_ORDER_MARK = '\ufeff'  # which may stand before any text

URDF_TYPES = {  # to ours
    'fixed': 'fixed', 'revolute': 'revolute', 'continuous': 'continuous',
    'prismatic': 'prismatic', 'planar': 'planar', 'floating': 'free'}


def load_urdf(
        source: str | os.PathLike[str], *, floating: bool = False,
        mimic: Literal['refuse', 'independent'] = 'refuse',
        gravity: ArrayLike = STANDARD_GRAVITY, physical: bool = True) -> Model:
    """
    Return the model that a URDF file, or a text that starts with '<', describes.

    A joint named root_joint holds the root link on the ground, or leaves it free if floating.
    Mimic joints are refused, or with mimic='independent' become joints of their own, with their
    coupling noted in the model. physical=False accepts inertias that no rigid body has. Limits
    and dynamics are read where URDF defines them: not for fixed, planar and floating joints,
    where dynamics other than zero are refused. Elements that are neither link nor joint are left
    alone, as are visuals and collisions.

    Raises DescriptionError naming the file, the element, what was expected and what came.
    """
    if mimic not in ('refuse', 'independent'):
        raise DescriptionError(f"mimic: expected 'refuse' or 'independent', got {mimic!r}")
    name, text = _read(source)
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # or of its encoding
        raise DescriptionError(f'{name}: expected well-formed XML, got {error}') from error
    robot = _Element(root, f'{name}: {root.tag}')
    if root.tag != 'robot':
        robot.fail('a root element robot', root.tag)
    builder = ModelBuilder(robot.text('name'), gravity)
    try:
        _add_links(robot, builder, physical)
        _add_joints(robot, builder, mimic, floating)
        return builder.build()
    except DescriptionError:
        raise
    except LiedynError as error:
        raise DescriptionError(f'{name}: {error}') from error


def _read(source: str | os.PathLike[str]) -> tuple[str, str | bytes]:
    """Return a name for messages and the text of the description."""
    if isinstance(source, str):
        source = source.removeprefix(BYTE_ORDER_MARK)
    if isinstance(source, str) and not source.strip():
        raise DescriptionError(f"URDF: expected a path or a text that starts with '<', "
                               f'got {source!r}')
    if isinstance(source, str) and source.lstrip().startswith('<'):
        return 'URDF text', source
    try:
        return str(source), Path(source).read_bytes()
    except OSError as error:
        raise DescriptionError(f'{source}: expected a readable file, got {error}') from error
    except ValueError as error:  # a character that no path has
        raise DescriptionError(f'{str(source)!r}: expected a path, got {error}') from error


def _add_links(robot: '_Element', builder: ModelBuilder, physical: bool) -> None:
    links = list(robot.each('link'))
    if not links:
        robot.fail('at least one element link', 'none')
    for link in links:
        inertial = link.one('inertial')
        builder.add_body(
            link.text('name'), None if inertial is None else _inertia(inertial, physical))


def _inertia(inertial: '_Element', physical: bool) -> SpatialInertia | None:
    mass = inertial.need('mass').number('value')
    moments = inertial.need('inertia')
    xx, xy, xz, yy, yz, zz = (
        moments.number(name) for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if mass == 0.0 and not inertia.any():
        return None
    placement = _origin(inertial)
    rotation = placement[:3, :3]
    try:
        return SpatialInertia(
            mass, placement[:3, 3], rotation @ inertia @ rotation.T, physical)
    except LiedynError as error:
        hint = '; physical=False takes it as it is' if physical and mass >= 0.0 else ''
        raise DescriptionError(f'{inertial.path}: {error}{hint}') from error


def _add_joints(robot: '_Element', builder: ModelBuilder, mimic: str, floating: bool) -> None:
    joints = list(robot.each('joint'))
    for joint in joints:
        _add_joint(joint, builder)
        follows = joint.one('mimic')
        if follows is not None and joint.text('type') != 'fixed':  # which has nothing to couple
            _add_coupling(joint, follows, builder, mimic)
    children = {joint.need('child').text('link') for joint in joints}
    links = [link.text('name') for link in robot.each('link')]
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        robot.fail('one link that is the child of no joint',
                   roots or 'none: the joints are a loop')
    builder.add_joint(ROOT_JOINT, 'free' if floating else 'fixed', None, roots[0])


def _add_joint(joint: '_Element', builder: ModelBuilder) -> None:
    urdf_type = joint.text('type')
    if urdf_type not in URDF_TYPES:
        joint.fail(f'a type of {list(URDF_TYPES)}', urdf_type)
    damping, friction = _dynamics(joint, urdf_type)
    axis = joint.one('axis')
    has_axis = urdf_type not in ('fixed', 'floating')
    builder.add_joint(
        joint.text('name'), URDF_TYPES[urdf_type],
        joint.need('parent').text('link'), joint.need('child').text('link'),
        placement=_origin(joint),
        axis=((1.0, 0.0, 0.0) if axis is None else axis.numbers('xyz', 3)) if has_axis else None,
        limits=_limits(joint, urdf_type), damping=damping, friction=friction)


def _limits(joint: '_Element', urdf_type: str) -> dict[str, ArrayLike]:
    limit = joint.one('limit')
    if urdf_type in ('revolute', 'prismatic'):
        if limit is None:
            joint.fail(f'an element limit for type {urdf_type}', 'none')
        return {'lower': limit.number('lower', 0.0), 'upper': limit.number('upper', 0.0),
                'velocity': limit.number('velocity'), 'effort': limit.number('effort')}
    if urdf_type == 'continuous' and limit is not None:
        return {'velocity': limit.number('velocity'), 'effort': limit.number('effort')}
    return {}


def _dynamics(joint: '_Element', urdf_type: str) -> tuple[float, float]:
    dynamics = joint.one('dynamics')
    if dynamics is None or urdf_type == 'fixed':
        return 0.0, 0.0
    values = dynamics.number('damping', 0.0), dynamics.number('friction', 0.0)
    if any(values) and urdf_type in ('planar', 'floating'):
        dynamics.fail(f'no damping and friction for type {urdf_type}', values)
    return values


def _add_coupling(
        joint: '_Element', follows: '_Element', builder: ModelBuilder, mimic: str) -> None:
    leader = follows.text('joint')
    if mimic == 'refuse':
        joint.fail("no mimic joint, or mimic='independent' to load it as a joint of its own",
                   f'one that mimics {leader}')
    builder.add_coupling(joint.text('name'), leader, follows.number('multiplier', 1.0),
                         follows.number('offset', 0.0))


def _origin(element: '_Element') -> Array:
    origin = element.one('origin')
    if origin is None:
        return np.eye(4)
    return pose(origin.numbers('xyz', 3, '0 0 0'), origin.numbers('rpy', 3, '0 0 0'))


@dataclass(frozen=True)
class _Element:
    """An XML element and its path, for messages."""

    xml: ElementTree.Element
    path: str

    def fail(self, expected: str, got: object) -> NoReturn:
        """Raise DescriptionError for this element."""
        raise DescriptionError(f'{self.path}: expected {expected}, got {got}')

    def each(self, tag: str) -> Iterator['_Element']:
        """Return the elements of a tag."""
        for i, xml in enumerate(self.xml.findall(tag)):
            yield _Element(xml, f'{self.path}/{tag}[{xml.get("name", i)}]')

    def one(self, tag: str) -> '_Element | None':
        """Return the element of a tag, or None."""
        found = self.xml.findall(tag)
        if len(found) > 1:
            self.fail(f'at most one element {tag}', len(found))
        return _Element(found[0], f'{self.path}/{tag}') if found else None

    def need(self, tag: str) -> '_Element':
        """Return the element of a tag, which must be there."""
        found = self.one(tag)
        return self.fail(f'an element {tag}', 'none') if found is None else found

    def text(self, attribute: str) -> str:
        """Return an attribute, which must be there and not empty."""
        value = self.xml.get(attribute)
        return value if value else self.fail(f'an attribute {attribute}', repr(value))

    def number(self, attribute: str, default: float | None = None) -> float:
        """Return an attribute as one number."""
        return self.numbers(attribute, 1, None if default is None else str(default))[0]

    def numbers(self, attribute: str, count: int, default: str | None = None) -> list[float]:
        """Return an attribute as finite numbers."""
        text = self.xml.get(attribute, default)
        if text is None:
            self.fail(f'an attribute {attribute}', 'none')
        try:
            values = [float(part) for part in text.split()]
        except ValueError:
            values = []
        if len(values) != count or not np.isfinite(values).all():
            self.fail(f'{count} finite number{"s" * (count > 1)} as {attribute}', repr(text))
        return values
