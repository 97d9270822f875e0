# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The parts that readers and writers share: known words, masses, limits, shapes, remarks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element as XML, SubElement

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed, require_finite
from liedyn_ros.common.description import abbreviate, no_garbage_collection, parse_number
from liedyn_ros.common.errors import (
    DescriptionError, DescriptionWarning, InertiaError, LiedynError, spelled, warn)
from liedyn_ros.common.meshes import surfaces
from liedyn_ros.common.packages import candidates
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import so3
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import Body, SHAPES, Visual
from liedyn_ros.model.parts.geometry import pose, quaternion_pose
from liedyn_ros.model.parts.inertia import SpatialInertia, unphysical
from liedyn_ros.model.plausibility import implausible, Shape

_WORDS = Path(__file__).with_name('vocabulary.txt')
_OFF = '', 'false', 'none'
_FREE = 'param', 'plugin', 'hardware'  # of a block: each driver has its own words there
# Elements whose names a message says.
_OWNERS = 'link', 'joint', 'model', 'frame', 'robot', 'world', 'gazebo'
_NAMES = ('name', 'link', *(f'{kind}{i}' for kind in ('body', 'joint', 'site', 'tendon')
                            for i in (1, 2)))  # attributes that name parts of a machine


class Vocabulary:
    """
    The words of a format by the element that holds them, from vocabulary.txt, which explains them.

    Words of `read` are read or named elsewhere. Those of `quiet` have no effect on the dynamics,
    nor has what is in them. `block` has those that have none at any depth of an element, by their
    last part, small and without underscores. All others are named, with the `advice` for some.
    """

    def __init__(self, form: str) -> None:
        """Read the tables of a format."""
        self.read, self.quiet, self._block, advice = (_table(f'{form} {kind}') for kind in (
            'read', 'quiet', 'block', 'advice'))
        self._advice = {word: ' '.join(text) for word, text in advice.items()}

    def is_known(self, element: str, word: str, text: str = '') -> bool:
        """Return whether a word of an element, with a text, is in read or quiet."""
        words = (*self.read.get(element, ()), *self.quiet.get(element, ()))
        plain = 'true' if text == '1' else text.lower()
        return any(each in words for each in (
            word, f'{word.partition(":")[0]}:*', f'{word}={plain or "true"}'))

    def unread(self, *roots: XML) -> Iterator[str]:
        """Yield a warning for words in no table that are not off, with the owners of each."""
        remarks = Remarks()
        for root in roots:
            self._visit(root, ('', ''), remarks)
        return iter(remarks)

    def _name(self, remarks: 'Remarks', owner: tuple[str, str], element: str, word: str,
              named: str = '') -> None:
        """Add the remark on a word of an element."""
        place = '' if element == owner[0] else f' of {element}'
        keys = f'{element}/{word}', word, f'{word.partition(":")[0]}:*', element
        advice = next((f': {self._advice[key]}' for key in keys if key in self._advice), '')
        remarks.add(owner[0], f'{word}{named}{place} not read{advice}', owner[1])

    def _visit(self, xml: XML, owner: tuple[str, str], remarks: 'Remarks') -> None:
        tag = plain(xml.tag)
        if tag in _OWNERS:
            owner = tag, said(xml, 'name' if 'name' in xml.attrib else 'reference')
        inside = {plain(inner.tag) for inner in xml}
        for key, text in xml.attrib.items():
            if not (is_off(text) or plain(key) in inside or self.is_known(
                    tag, f'@{plain(key)}', text)):
                self._name(remarks, owner, tag, plain(key))
        for inner in xml:
            word, text = plain(inner.tag), (inner.text or '').strip()
            if word in self._block:
                for each in dict.fromkeys(_beyond(inner, self._block[word])):
                    self._name(remarks, (word, said(inner)), word, each, _named(inner, False))
            elif word in self.read.get(tag, ()):
                if word in self.read or (not len(inner) and word not in _FREE):
                    self._visit(inner, owner, remarks)
            elif not self.is_known(tag, word, text) and _is_on(inner, f'{word}=true' in
                                                               self.quiet.get(tag, ())):
                self._name(remarks, owner, tag, word, _named(inner))


def _table(section: str) -> dict[str, tuple[str, ...]]:
    """Return the lines `element: word word` of a section; indented lines go on."""
    _, begin, text = _WORDS.read_text(encoding='utf-8').partition(f'[{section}]\n')
    lines = text.partition('\n[')[0].strip().replace('\n    ', ' ').splitlines() if begin else []
    return {element: tuple(words.split()) for element, _, words in (
        f'{line} '.partition(': ') for line in lines)}


def _beyond(xml: XML, words: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of attributes and elements at any depth that are on and not in words."""
    for key, text in xml.attrib.items():
        if _bare(key) not in words and not is_off(text):
            yield plain(key)
    for inner in xml:
        if _bare(inner.tag) not in words:
            if _is_on(inner, False):
                yield plain(inner.tag)
        elif _bare(inner.tag) not in _FREE:
            yield from _beyond(inner, words)


def _bare(tag: str) -> str:
    return plain(tag).rpartition(':')[2].replace('_', '').lower()


def plain(tag: str) -> str:
    """Return a name; that of an address of Drake or Gazebo has its prefix, as in `drake:mimic`."""
    address, brace, name = tag.rpartition('}')
    prefix = next((each for each in ('drake', 'xacro', 'gazebo') if each in address),
                  address.strip('{').rpartition('/')[2])
    return f'{prefix}:{name}' if brace else name


def is_off(text: str | None) -> bool:
    """Return whether a text is not there, empty, false or the number zero."""
    given = (text or '').strip()
    return given.lower() in _OFF or parse_number(given) == 0.0


def _is_on(xml: XML, by_default: bool) -> bool:
    """Return whether an element says something: a text or attribute in it, or that it is there."""
    said = [each for part in xml.iter() for each in (*part.attrib.values(), part.text or '')
            if each.strip()]
    return by_default or not said or not all(map(is_off, said))


def said(xml: XML, attribute: str = 'name') -> str:
    """Return an attribute for a message, whatever it is."""
    return abbreviate(xml.get(attribute, 'without a name')).strip('\'"')


def _named(xml: XML, itself: bool = True) -> str:
    """Return the name of an element, and those of what it joins, for a message."""
    names = [each.get(key) for each in xml.iter() for key in _NAMES
             if each.get(key) and not (each is xml and key == 'name')]
    names += [text for side in ('parent', 'child')
              if (text := (xml.findtext(side) or '').strip())]
    return (f' {said(xml)}' if itself and xml.get('name') else '') + (
        f' between {listed([str(name) for name in names])}' if names else '')


DRAKE = '{http://drake.mit.edu}'
MOMENTS = 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'
RECORDED = 'damping', 'friction', 'armature'  # forces of joints, that recordings tell
_KEYS = {'bodies': ('inertia',), 'joints': (*RECORDED, 'placement'),
         'closures': ('length', 'tolerance', 'frame_a', 'frame_b')}
_ZERO = 0.0, 0.0, 0.0


class Remarks:
    """The remarks on the parts of a file: each text, and the names that it is about."""

    def __init__(self) -> None:
        """Start without remarks."""
        self._names: dict[tuple[str, str], list[str]] = {}

    def add(self, kind: str, text: str, *names: str) -> None:
        """Say a text of parts of a kind, such as `link`; of none it is not said."""
        if names:
            self._names.setdefault((kind, text), []).extend(names)

    def __iter__(self) -> Iterator[str]:
        """Yield a warning for each text."""
        return (f'{kind}s {listed(names)}: {text}' for (kind, text), names in self._names.items())


def inertia_in(inertial: Element, link: str, mass: float, moments: Sequence[float],
               placement: Array, strict: bool, remarks: Remarks) -> SpatialInertia:
    """
    Return the inertia of MOMENTS in the frame of a placement (4, 4) on its link.

    Mass properties that no rigid body has are a remark; strict refuses them.
    """
    xx, xy, xz, yy, yz, zz = moments
    inertia, turn = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))), placement[:3, :3]
    if (turn != np.eye(3)).any():
        inertia = turn @ inertia @ turn.T
        inertia = 0.5 * inertia + 0.5 * inertia.T
    with inertial.context():
        fault = unphysical(mass, require_finite('inertia', inertia))
        if fault is not None:
            if strict or mass < 0.0:
                raise InertiaError(
                    f'{fault}{"; without strict it is used as it is" * (mass >= 0.0)}')
            remarks.add('link', f'{fault.partition(", got")[0]}; their mass properties, which no '
                        'rigid body has, are used as they are (strict refuses them)', link)
        return SpatialInertia(mass, placement[:3, 3], inertia, physical=False)


def given_limits(joint: str, bounds: dict[str, float], remarks: Remarks) -> dict[str, float]:
    """
    Return limits of one coordinate, infinite where exporters of CAD write 0 or less for none.

    So they are where velocity and effort are both 0, with bounds of 0 beside them, and where one
    is below 0; that is a remark.
    """
    speeds = {key: bounds[key] for key in ('velocity', 'effort') if key in bounds}
    zeros = [value == 0.0 for value in speeds.values()]
    if min(speeds.values(), default=0.0) < 0.0:
        remarks.add('joint', 'a velocity or effort below 0 in limit, taken for not given', joint)
        bounds |= {key: math.inf for key, value in speeds.items() if value < 0.0}
    if len(zeros) == 2 and all(zeros):
        remarks.add('joint', 'velocity and effort of 0 in limit, as exporters of CAD write them, '
                    'taken for not given: write them there, or give limits where a motion is '
                    'planned', joint)
        bounds |= dict.fromkeys(speeds, math.inf)
        if bounds.get('lower') == bounds.get('upper') == 0.0:
            bounds |= {'lower': -math.inf, 'upper': math.inf}
    elif any(zeros):
        remarks.add('joint', 'a velocity or an effort of 0 in limit, used as it is: no motion '
                    'keeps it', joint)
    return bounds


def model_of_file(name: str, read: Callable[[], Model],
                  shapes: Callable[[str], Iterable[Shape]] = lambda body: ()) -> Model:
    """
    Return the model that a reader reads; its errors and warnings name the file.

    shapes returns those of a body, as shapes_of does. Numbers that overflow are for the reader to
    refuse; those that are hardly in kg and m have a warning. Raises DescriptionError.
    """
    try:
        with np.errstate(over='ignore', invalid='ignore'), no_garbage_collection():
            model = read()
            found = (*model.warnings, *implausible(model, shapes))
    except DescriptionError:
        raise
    except LiedynError as error:
        raise DescriptionError(f'{name}: {error}') from error
    model = replace(model, warnings=tuple(map(spelled, found)))
    for warning in model.warnings:
        warn(f'{name}: {warning}', DescriptionWarning)
    return model


def shapes_of(link: Element, folder: Path | None, place: Callable[[Element], Array]
              ) -> Iterator[Shape]:
    """
    Yield the shapes of a link of URDF or SDF as far as they are known.

    folder is that of the file, for meshes, which trimesh reads where it is installed. place
    returns the pose (4, 4) of an element.
    """
    for each in (*link.each('collision'), *link.each('visual')):
        for xml in each.value.findall('geometry/*'):
            try:
                yield place(each)[:3, 3], _reach(Element(xml, f'/{xml.tag}', each), folder)
            except DescriptionError:  # what is drawn is no part of the model
                continue


def _reach(shape: Element, folder: Path | None) -> float:
    """Return how far a shape is from its frame, 0 where that is not known."""
    if shape.value.tag == 'mesh':
        uri = shape.value.get('filename', shape.value.get('uri', ''))
        path = next((path for path in candidates(uri, folder) if path.is_file()), None)
        return 0.0 if path is None else mesh_reach(
            path, shape.numbers('scale', 3, (1.0, 1.0, 1.0)))
    return float(np.linalg.norm([
        *(0.5 * np.array(shape.numbers('size', 3, (0.0, 0.0, 0.0)))),
        shape.number('radius', 0.0), 0.5 * shape.number('length', 0.0)]))


def mesh_reach(path: Path, scale: Iterable[float]) -> float:
    """Return how far the points of a mesh are from its frame; raises DescriptionError."""
    return max(float(np.linalg.norm(each.corners * np.array(scale), axis=1).max())
               for each in surfaces(path))


def with_drake(root: Element) -> Element:
    """Return a document whose elements of Drake have DRAKE, whatever address they had."""
    for xml in root.value.iter():
        address, _, name = xml.tag.rpartition('}')
        if 'drake' in address:
            xml.tag = DRAKE + name
    return root


def with_leaves(root: Element) -> Element:
    """Return a document in which the texts of elements are attributes of those around them."""
    for xml in with_drake(root).value.iter():
        for leaf in xml:
            if (leaf.text or '').strip():
                xml.attrib.setdefault(leaf.tag, str(leaf.text).strip())
    return root


def origin(element: Element, tag: str = 'origin') -> Array:
    """Return the pose (4, 4) of an element origin, the identity where there is none."""
    found = element.optional(tag)
    if found is None:
        return pose()
    if 'quat_xyzw' not in found.value.attrib:
        return place_of(found)
    turn = found.numbers('quat_xyzw', 4)
    if 'rpy' in found.value.attrib or not any(turn):
        found.fail('rpy or a quat_xyzw other than zero', 'both' if any(turn) else 'zero')
    return quaternion_pose(found.numbers('xyz', 3, _ZERO), turn)


def place_of(element: Element, xyz: str = 'xyz', rpy: str = 'rpy') -> Array:
    """Return the pose (4, 4) that two attributes of an element give."""
    return pose(element.numbers(xyz, 3, _ZERO), element.numbers(rpy, 3, _ZERO))


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
    _anew(element, tag).attrib = {
        'xyz': joined(placement[:3, 3]), 'rpy': joined(so3.to_rpy(placement[:3, :3]))}


def joined(numbers: ArrayLike) -> str:
    """Return numbers, or one, as a text that a reader reads back to the same bits."""
    return ' '.join(repr(float(x) + 0.0) for x in np.atleast_1d(numbers))  # + 0.0: no -0.0


def moments_of(inertia: SpatialInertia) -> dict[str, float]:
    """Return the moments about the centre of mass, by MOMENTS."""
    return dict(zip(MOMENTS, inertia.inertia_about_com[np.triu_indices(3)].tolist()))


def write_inertial(link: XML, inertia: SpatialInertia) -> None:
    """Write the element inertial of a URDF's link, in place of one that is there."""
    inertial = _anew(link, 'inertial')
    add(inertial, 'origin', xyz=inertia.center_of_mass)
    add(inertial, 'mass', value=inertia.mass)
    add(inertial, 'inertia', **moments_of(inertia))


def _anew(parent: XML, tag: str) -> XML:
    """Return an element without content, the first or where one was before."""
    place = next((i for i, each in enumerate(parent) if each.tag == tag), 0)
    for old in parent.findall(tag):
        parent.remove(old)
    found = XML(tag)
    parent.insert(place, found)
    return found


def drawn(model: Model, body: Body) -> list[tuple[Array, Visual]]:
    """Return the visuals of a body and of its rotors, with their poses (4, 4) in the body."""
    return [(each.placement, each) for each in body.visuals] + [
        (rotor.placement @ each.placement, each) for rotor in model.rotors
        if rotor.body == body.name for each in rotor.visuals]


def add_shape(parent: XML, visual: Visual, nested: bool) -> None:
    """Write the geometry of a visual, its sizes as attributes (URDF) or nested elements (SDF)."""
    sizes: dict[str, ArrayLike] = {'size': visual.size} if visual.shape == 'box' else dict(
        zip(SHAPES[visual.shape], visual.size))
    shape = add(add(parent, 'geometry'), visual.shape, **({} if nested else sizes))
    add_all(shape, sizes if nested else {})


def add_all(element: XML, values: Mapping[str, ArrayLike]) -> None:
    """Add an element with a text for each tag."""
    for tag, value in values.items():
        add(element, tag, value)


def changes(before: Model, after: Model) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield parts that differ: their kind, the new one, and its attributes that are others."""
    for kind, olds, news in (('bodies', before.body_list, after.body_list),
                             ('joints', before.joint_list, after.joint_list),
                             ('closures', before.closures, after.closures)):
        named = {each.name: each for each in olds}
        for part in news:
            new = {key: getattr(part, key) for key in _KEYS[kind] if not np.array_equal(
                _numbers(named[part.name], key), _numbers(part, key))}
            if new and new.get('inertia', new) is not None:
                yield kind, part, new


def _numbers(part: Any, key: str) -> Any:
    value = getattr(part, key)
    return value.parameters() if isinstance(value, SpatialInertia) else value


def warn_of_lost(model: Model, lost: Iterable[str]) -> None:
    """Warn of what a format lacks."""
    for what in lost:
        warn(f'{model.name}: {what}', DescriptionWarning)


def document(root: XML) -> str:
    """Return an element, indented, as the text of a document."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode')
