# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Frames of SDF, and models in models and included files as one, with SDFormat's names."""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
import warnings
from xml.etree.ElementTree import Element as Xml, SubElement

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.resources import candidates, PATHS
from liedyn_ros.common.xml_reader import Element, read
from liedyn_ros.lie import se3
from liedyn_ros.model.io.loops import SCOPE
from liedyn_ros.model.io.sdf_writer import add_pose, to_sdf
from liedyn_ros.model.io.urdf import load_urdf
from liedyn_ros.model.io.xml_parts import Vocabulary, with_leaves
from liedyn_ros.model.parts.geometry import IDENTITY, pose, quaternion_pose

MAX_NESTED_MODELS, MAX_SDF_DEPTH = 100, 20  # of a model, and of models in each other
MODEL_FRAME, WORLD_FRAME = '__model__', 'world'
SDF_WORDS, NEWEST_SDF = Vocabulary('sdf'), '1.12'  # version of the format
_NESTED_ELEMENTS = 'link', 'joint', 'frame', 'gripper', 'plugin'
_NAME_ATTRIBUTES = {  # attributes that name links, joints and frames
    'link': ('name',), 'joint': ('name', 'parent', 'child', 'gearbox_reference_body'),
    'frame': ('name', 'attached_to'), 'gripper': ('name',), 'pose': ('relative_to', 'frame'),
    'xyz': ('expressed_in',), 'mimic': ('joint',)}


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


def placed(model: Element) -> tuple[str, Array]:
    """Return the frame that a model's pose is relative to, and its pose (4, 4) there."""
    relative, at = pose_of(model)
    frame = model.value.get('placement_frame')  # the pose is of this frame, not of the model
    return relative, at @ se3.inverse(NamedFramePoses(model, IDENTITY)[frame]) if frame else at


class NamedFramePoses:
    """The poses (4, 4) of the named frames of a model or world in the ground, joints at zero."""

    def __init__(self, model: Element, ground: Array) -> None:
        """Take a model whose frame has a pose (4, 4) in the ground."""
        self._model, self._found = model, {MODEL_FRAME: ground, WORLD_FRAME: IDENTITY}
        self._given: dict[str, tuple[Element, str, Array]] = {}
        for tag, default in (('link', None), ('joint', 'child'), ('frame', 'attached_to'),
                             ('model', None), ('include', None)):
            for each in model.each(tag):
                name = each.value.get('name', '') if tag == 'include' else each.text('name')
                if name in self._given or name in self._found:
                    each.fail('a name not yet used', repr(name))
                to, at = pose_of(each)
                if not to and default:
                    to = text_of(each, default, None if tag == 'joint' else '').strip()
                self._given[name] = each, to or MODEL_FRAME, at

    def __getitem__(self, name: str) -> Array:
        """Return a pose, or raise DescriptionError for an unknown frame or a circle."""
        chain: list[str] = []
        while (name := self._own(name)) not in self._found:
            if name not in self._given:
                self._model.fail(f'a frame of {listed(list(self._given))}', repr(name))
            if name in chain:
                self._given[name][0].fail('a pose that leads to the model', f'a circle: {chain}')
            chain.append(name)
            name = self._given[name][1]
        for each in reversed(chain):
            _, to, at = self._given[each]
            self._found[each] = self._found[self._own(to)] @ at
        return self._found[chain[0] if chain else name]

    def link(self, name: str, links: Mapping[str, object]) -> str | None:
        """Return the link that a frame or joint stands on, None for the ground."""
        seen: list[str] = []
        while (name := self._own(name)) not in links:
            if name == WORLD_FRAME:
                return None
            if name == MODEL_FRAME:
                return self._model.value.get('canonical_link') or next(iter(links))
            if name not in self._given or name in seen:
                self._model.fail(f'a link of {listed(list(links))}', repr(name))
            seen.append(name)
            element = self._given[name][0]
            name = text_of(element, 'child') if element.value.tag == 'joint' else (
                element.value.get('attached_to', '').strip() or MODEL_FRAME)
        return name

    def _own(self, name: str) -> str:
        """Return the name here of a frame that can be that of a model in this one."""
        return name if name in self._given else name.removesuffix(f'::{MODEL_FRAME}')


class Nesting:
    """
    Replaces held and included models by links, joints and frames, in place.

    Those of a nested model `arm` are named `arm::link`; `arm` itself becomes a frame. folder is
    that of the file, None for a text.
    """

    def __init__(self, folder: Path | None) -> None:
        """Start without files."""
        self._folder, self._files = folder, 0
        self.remarks: list[str] = []  # what was left out, and warnings of included files

    def one(self, holder: Element, name: str | None) -> Element:
        """
        Return a model of a document or world, in it or included, with all in it.

        It is the one of a name, by default the only one that is not static.
        """
        models = [(text_of(each, 'name', None if tag == 'model' else '')
                   or text_of(each, 'uri').rstrip('/').rpartition('/')[2], each)
                  for tag in ('model', 'include') for each in holder.each(tag)]
        chosen = [each for each in models if name in (None, each[0])]
        for of_file in (False, True):  # static models say so here, or in their file
            if len(chosen) > 1 and name is None:
                chosen = [each for each in chosen if not is_true(
                    self._opened(each[1], self._folder)[0] if of_file else each[1], 'static')]
        if len(chosen) != 1:
            holder.fail('one element model that is not static, or the name of one as sdf_model',
                        listed([each[0] for each in models]) if models else 'none')
        if len(models) > 1:
            self.remarks.append(
                f'models {listed([each[0] for each in models if each is not chosen[0]])} of the '
                'world left out')
        model, folder = self._opened(chosen[0][1], self._folder)
        self._unite(model, folder, 0)
        return model

    def _unite(self, model: Element, folder: Path | None, depth: int) -> None:
        """Unite a model with all in it; raises DescriptionError for what cannot be found."""
        if depth > MAX_SDF_DEPTH:
            model.fail(f'at most {MAX_SDF_DEPTH} models in each other', 'more')
        for each in (*model.each('include'), *model.each('model')):
            inner, place = self._opened(each, folder)
            self._unite(inner, place, depth + 1)
            rest = Xml('model', inner.value.attrib)
            rest.extend(part for part in inner.value if part.tag not in _NESTED_ELEMENTS)
            self.remarks += SDF_WORDS.unread(rest)
            merged = each.value.tag == 'include' and is_true(each, 'merge')
            _move(model, inner, '' if merged else f'{inner.text("name")}::')
            model.value.remove(each.value)

    def _opened(self, include: Element, folder: Path | None) -> tuple[Element, Path | None]:
        """Return a model, copied with name and pose where it is included, and its folder."""
        if include.value.tag != 'include':
            return include, folder
        self.remarks += SDF_WORDS.unread(include.value)
        self._files += 1
        if self._files > MAX_NESTED_MODELS:
            include.fail(f'at most {MAX_NESTED_MODELS} included files', 'more')
        uri = text_of(include, 'uri')
        if uri.partition('://')[0] not in ('model', 'package', 'file') and '://' in uri:
            include.fail('a uri of a file here, model://name or a path', repr(uri))
        beside = () if folder is None else (folder / uri, folder.parent / uri)
        paths = (*beside, *candidates(uri, folder), *candidates(f'model://{uri}', folder))
        path = next((file for path in paths for file in (
            path / 'model.sdf' if path.is_dir() else path,) if file.is_file()), None)
        if path is None:
            include.fail(f'a model next to the file or in a folder of {PATHS[1]}',
                         f'{uri!r}, which is in none')
        root = read(path, 'SDF')
        if root.value.tag == 'robot':  # a URDF, as Gazebo includes it too
            grounded = root.value.find(f"link[@name='{WORLD_FRAME}']") is not None  # as in Gazebo
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter('always')
                root = read(to_sdf(load_urdf(path, floating=not grounded)), 'SDF').take('world')
            self.remarks += [str(each.message) for each in found]
            root.value.tag = 'sdf'
        upgraded(root, self.remarks)
        models = list(root.each('model'))
        if root.value.tag != 'sdf' or len(models) != 1:
            root.fail('an element sdf with one element model', f'{len(models)}')
        inner = deepcopy(models[0].value)
        for other in inner.findall('pose') if include.value.find('pose') is not None else ():
            inner.remove(other)
        inner.extend(deepcopy(each) for each in include.value if each.tag in ('plugin', 'pose'))
        inner.attrib |= {key: include.value.attrib[key] for key in (
            'name', 'static', 'pose', 'placement_frame') if key in include.value.attrib}
        return Element(inner, f'/model[{inner.get("name")}]', include), path.parent


def upgraded(root: Element, remarks: list[str]) -> Element:
    """
    Return a document as of SDF 1.6, as sdformat converts it, its texts as attributes.

    To 1.4 axes are along the frame of their model, to 1.5 gravity is in physics. Older ones than
    1.2 have attributes for elements and are refused.
    """
    version = root.version('1.6', NEWEST_SDF, remarks.append)
    if version < (1, 2):
        root.fail('SDF 1.2 or newer (convert it: gz sdf -p)', root.value.get('version'))
    if version < (1, 6):
        for world in root.value.findall('world'):
            world.extend(world.findall('physics/gravity')[:1])
            for physics in world.findall('physics'):
                physics[:] = [each for each in physics if each.tag != 'gravity']
    for axis in (*with_leaves(root).value.iter('axis'), *root.value.iter('axis2')):
        old = axis.get('use_parent_model_frame', 'false').lower() in ('true', '1')
        for xyz in axis.findall('xyz') or [SubElement(axis, 'xyz')]:
            if version < (1, 5) or old:
                xyz.set('expressed_in', MODEL_FRAME)
    return root


def _move(model: Element, inner: Element, prefix: str) -> None:
    """Move links, joints and frames of a united model into the one around it."""
    name = inner.text('name')
    if is_true(inner, 'static'):
        inner.fail('a model in a model that is not static: fix it by a joint to the world', name)
    frame = name if prefix else f'_merged__{name}{MODEL_FRAME}'
    links = [link.text('name') for link in inner.each('link')]
    if not links:
        inner.fail('at least one element link', 'none')
    place = SubElement(model.value, 'frame', {
        'name': frame, 'attached_to': prefix + inner.value.get('canonical_link', links[0])})
    to, at = placed(inner)
    add_pose(place, at, to or MODEL_FRAME)
    place.set('pose', str(place[0].text))
    for each in [part for part in inner.value if part.tag in _NESTED_ELEMENTS]:
        if each.tag == 'plugin':
            each.set(SCOPE, prefix + each.get(SCOPE, ''))
        else:
            _rename(each, prefix, frame)
        model.value.append(each)


def _rename(each: Xml, prefix: str, frame: str) -> None:
    """Give an element the names of the model around its own."""
    if each.tag == 'frame':
        each.set('attached_to', each.get('attached_to', '').strip() or MODEL_FRAME)
    elif each.tag == 'link':
        for at in each.findall('pose') or [SubElement(each, 'pose')]:
            at.set('relative_to', (at.attrib.pop('frame', '').strip()
                                   or at.get('relative_to', '').strip() or MODEL_FRAME))
    for part in each.iter():
        for key in _NAME_ATTRIBUTES.get(part.tag, ()):
            if (name := part.get(key, '').strip()) not in ('', WORLD_FRAME):
                part.set(key, frame if name == MODEL_FRAME else prefix + name)
