# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The frames of an SDF model: poses of links, joints and frames, each relative to another."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.parts.geometry import IDENTITY, pose, quaternion_pose

MODEL, WORLD = '__model__', 'world'
TYPES = {  # to the types of this package
    'revolute': 'revolute', 'continuous': 'continuous', 'prismatic': 'prismatic',
    'fixed': 'fixed', 'ball': 'spherical', 'universal': 'universal', 'revolute2': 'universal',
    'screw': 'helical'}
CLOSURES = {'continuous': 'revolute', 'fixed': 'weld'}  # of joints that close a loop


def text_of(element: Element, key: str, default: str | None = None) -> str:
    """Return a text of an element, which must be there unless there is a default."""
    found = element.value.get(key, default)
    if found is None:
        element.fail(f'an element {key} with a text', 'none')
    return found


def is_true(element: Element, key: str) -> bool:
    """Return whether a text of an element is true."""
    return element.value.get(key, '').strip().lower() in ('true', '1')


def pose_of(element: Element) -> tuple[str, Array]:
    """Return the frame that an element's pose is relative to, '' for none, and the pose (4, 4)."""
    found = element.optional('pose')
    if found is None:
        return '', IDENTITY
    relative = found.value.get('relative_to', found.value.get('frame', '')).strip()
    if found.value.get('rotation_format', 'euler_rpy') == 'quat_xyzw':
        numbers = element.numbers('pose', 7, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        if not any(numbers[3:]):
            found.fail('a quaternion of length one', 'zero')
        return relative, quaternion_pose(numbers[:3], numbers[3:])
    numbers = element.numbers('pose', 6, 6 * (0.0,))
    angles = np.radians(numbers[3:]) if is_true(found, 'degrees') else numbers[3:]
    return relative, pose(numbers[:3], angles)


class Frames:
    """The poses (4, 4) of the named frames of a model or world in the ground, joints at zero."""

    def __init__(self, model: Element, ground: Array) -> None:
        """Take a model whose frame has a pose (4, 4) in the ground."""
        self._model, self._found = model, {MODEL: ground, WORLD: IDENTITY}
        self._given: dict[str, tuple[Element, str, Array]] = {}
        for tag, default in (('link', None), ('joint', 'child'), ('frame', 'attached_to'),
                             ('model', None), ('include', None)):
            for each in model.each(tag):
                name = each.value.get('name', '') if tag == 'include' else each.text('name')
                if name in self._given or name in self._found:
                    each.fail('a name not yet used', repr(name))
                to, at = pose_of(each)
                if not to and default == 'child':
                    to = text_of(each, 'child')
                elif not to and default:
                    to = each.value.get(default, '').strip()
                self._given[name] = each, to or MODEL, at

    def at(self, element: Element) -> Array:
        """Return the pose (4, 4) of an element that stands in the model."""
        to, at = pose_of(element)
        return self[to or MODEL] @ at

    def __getitem__(self, name: str) -> Array:
        """Return a pose, or raise DescriptionError for an unknown frame or a circle."""
        chain: list[str] = []
        name = self._own(name)
        while name not in self._found:
            if name not in self._given:
                self._model.fail(f'a frame of {listed(list(self._given))}', repr(name))
            if name in chain:
                self._given[name][0].fail('a pose that leads to the model', f'a circle: {chain}')
            chain.append(name)
            name = self._own(self._given[name][1])
        for each in reversed(chain):
            _, to, at = self._given[each]
            self._found[each] = self._found[to] @ at
        return self._found[chain[0] if chain else name]

    def link(self, name: str, links: Mapping[str, object]) -> str | None:
        """Return the link that a frame or joint stands on, None for the ground."""
        seen: list[str] = []
        name = self._own(name)
        while name not in links:
            if name == WORLD:
                return None
            if name == MODEL:
                return self._model.value.get('canonical_link') or next(iter(links))
            if name not in self._given or name in seen:
                self._model.fail(f'a link of {listed(list(links))}', repr(name))
            seen.append(name)
            element = self._given[name][0]
            name = self._own(text_of(element, 'child') if element.value.tag == 'joint'
                             else element.value.get('attached_to', '').strip() or MODEL)
        return name

    def _own(self, name: str) -> str:
        """Return the name here of a frame that can be that of a model in this one."""
        return name if name in self._given else name.removesuffix(f'::{MODEL}')
