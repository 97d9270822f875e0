# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The parts that readers and writers share: known words, masses, limits, shapes, remarks."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
import math
import os
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element as XML, SubElement

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed, require_finite
from liedyn_ros.common.description import abbreviate, no_garbage_collection, parse_number, Place
from liedyn_ros.common.errors import (
    DescriptionError, DescriptionWarning, InertiaError, spelled, warn)
from liedyn_ros.common.meshes import surfaces
from liedyn_ros.common.resources import found_file
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import so3
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import Body, SHAPES, SpatialInertia, unphysical, Visual
from liedyn_ros.model.parts.geometry import pose, quaternion_pose
from liedyn_ros.model.plausibility import implausible, Shape, UNLIMITED_VALUE

_WORDS = Path(__file__).with_name('vocabulary.txt')
_DRIVER_ELEMENTS = 'param', 'plugin', 'hardware'  # of a block: each driver has its own words there
# Elements whose names a message says.
_NAMED_ELEMENTS = 'link', 'joint', 'model', 'frame', 'robot', 'world', 'include', 'gazebo'
_NAMES = ('name', 'link', *(f'{kind}{i}' for kind in ('body', 'joint', 'site', 'tendon')
                            for i in (1, 2)))  # attributes that name parts of a machine


class Vocabulary:
    """
    The words of a format by the element that holds them, from vocabulary.txt, which explains them.

    Words that are neither read nor quiet are named, with the advice for some.
    """

    def __init__(self, form: str) -> None:
        """Read the tables of a format."""
        self.read, self._known = dict[str, list[str]](), dict[str, list[str]]()
        self._deep = set[str]()  # elements with a star
        for elements, words in (*_lines('both'), *_lines(form)):
            names, star, _ = elements.partition(' *')
            for name in names.split():
                self._known[name] = words.split()
                if star:
                    self._deep.add(name)
                else:
                    self.read[name] = words.partition('|')[0].split()
        self._advice = {word: text for words, text in _lines('advice') for word in words.split()}

    def is_known(self, element: str, word: str, text: str = '') -> bool:
        """Return whether a word of an element, with a text, is read or quiet."""
        words = self._known.get(element, ())
        if element in self._deep:
            return word.rpartition(':')[2].strip('@').replace('_', '').lower() in words
        plain = 'true' if text in ('', '1') else text.lower()
        return any(each in words for each in (
            word, f'{word.partition(":")[0]}:*', f'{word}={plain}'))

    def unread(self, root: XML) -> Iterator[str]:
        """Return warnings of words that are not known and not off, with the owners of each."""
        remarks = Remarks()
        try:
            self._visit(root, ('', ''), remarks)
        except RecursionError as error:
            raise DescriptionError(f'expected some hundred elements of {root.tag} in each other, '
                                   'got more') from error
        return iter(remarks)

    def _visit(self, xml: XML, owner: tuple[str, str], remarks: 'Remarks',
               joins: str | None = None) -> None:
        """Name the words of an element; joins is what one with a star joins, of all in that."""
        tag = xml.tag if joins is None else owner[0]
        if tag in _NAMED_ELEMENTS:
            owner = tag, said(xml, 'name' if 'name' in xml.attrib else 'reference')

        def name(word: str, named: str) -> None:
            keys = f'{tag}/{word}', word, f'{word.partition(":")[0]}:*', tag
            advice = next((f': {self._advice[key]}' for key in keys if key in self._advice), '')
            place = '' if tag == owner[0] else f' of {tag}'
            if joins is not None:  # named only where there is advice
                named = joins if advice or owner[1] == NAMELESS else ''
            remarks.add(owner[0], f'{word}{named}{place} not read{advice}', owner[1])

        inside = {inner.tag for inner in xml}
        for key, text in xml.attrib.items():
            if not (is_off(text) or key in inside or self.is_known(tag, f'@{key}', text)):
                name(key, '')
        if ''.join(filter(None, (xml.text if len(xml) else '', *(x.tail for x in xml)))).strip():
            name('a text between elements', '')
        for inner in xml:
            word, text = inner.tag, (inner.text or '').strip()
            if not self.is_known(tag, word, text):
                if _is_on(inner, f'{word}=true' in self._known.get(tag, ())):
                    name(word, _named(inner) if joins is None else '')
            elif word in self._deep and joins is None:
                self._visit(inner, (word, said(inner)), remarks, _named(inner, False))
            elif word not in _DRIVER_ELEMENTS and (joins is not None or (
                    word in self.read.get(tag, ()) and (word in self.read or not len(inner)))):
                self._visit(inner, owner, remarks, joins)


def _lines(section: str) -> Iterator[tuple[str, str]]:
    """Yield each line of a section, before and after its colon; indented lines go on."""
    _, _, text = _WORDS.read_text(encoding='utf-8').partition(f'[{section}]\n')
    for line in text.partition('\n[')[0].strip().replace('\n    ', ' ').splitlines():
        before, _, after = f'{line} '.partition(': ')
        yield before, after.strip()


def is_off(text: str | None) -> bool:
    """Return whether a text is not there, empty, false or the number zero."""
    given = (text or '').strip()
    return given.lower() in ('', 'false', 'none') or parse_number(given) == 0.0


def _is_on(xml: XML, by_default: bool) -> bool:
    """Return whether an element says something: a text or attribute in it, or that it is there."""
    said = [each for part in xml.iter() for each in (*part.attrib.values(), part.text or '')
            if each.strip()]
    return by_default or not said or not all(map(is_off, said))


def said(xml: XML, attribute: str = 'name') -> str:
    """Return an attribute for a message, whatever it is."""
    return abbreviate(xml.get(attribute, NAMELESS)).strip('\'"')


def _named(xml: XML, itself: bool = True) -> str:
    """Return the name of an element, and those of what it joins, for a message."""
    names = [each.get(key) for each in xml.iter() for key in _NAMES
             if each.get(key) and not (each is xml and key == 'name')
             and each.tag not in (*_DRIVER_ELEMENTS, 'command_interface', 'state_interface')]
    names += [text for side in ('parent', 'child')
              if (text := (xml.findtext(side) or '').strip())]
    return (f' {said(xml)}' if itself and xml.get('name') else '') + (
        f' between {listed([str(name) for name in names])}' if names else '')


def unused(name: str, *taken: Container[str | None]) -> str:
    """Return a name that is in none of some, itself or with underscores behind it."""
    while any(name in names for names in taken):
        name += '_'
    return name


MOMENT_TAGS = 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'
RECORDED = 'damping', 'friction', 'armature'  # forces of joints, that recordings tell
_CHANGES = {  # parts of a model by kind: where they are, and their attributes that may differ
    'bodies': ('body_list', 'inertia'), 'joints': ('joint_list', *RECORDED, 'placement'),
    'closures': ('closures', 'length', 'tolerance', 'frame_a', 'frame_b')}
_ORIGIN = 0.0, 0.0, 0.0
NAMELESS = 'without a name'
COUNTED = 10  # names, from which on a remark begins with their number
TURN = 6.3  # rad, 2 pi rounded up, as files round


class Remarks:
    """The remarks on the parts of a file: each text, and the names that it is about."""

    def __init__(self) -> None:
        """Start without remarks."""
        self._names: dict[tuple[str, str], dict[str, None]] = {}

    def add(self, kind: str, text: str, *names: str) -> None:
        """Say a text of parts of a kind, such as `link` or `inertias of`; of none it is not."""
        if names:
            self._names.setdefault((kind, text), {}).update(dict.fromkeys(names))

    def __iter__(self) -> Iterator[str]:
        """Yield a warning for each text."""
        for (kind, text), names in self._names.items():
            kinds = 'bodies' if kind == 'body' else kind if ' ' in kind else f'{kind}s'
            count = f'{len(names)} ' if len(names) >= COUNTED else ''
            yield f'{count}{kinds} {listed(list(names))}: {text}' if kind else text

    def warn(self, name: str) -> None:
        """Warn of what a format lacks, for a model of a name."""
        for text in self:
            warn(f'{name}: {text}', DescriptionWarning)


def inertia_in(inertial: Element, link: str, mass: float, moments: Sequence[float],
               placement: Array, strict: bool, remarks: Remarks) -> SpatialInertia:
    """
    Return the inertia of MOMENT_TAGS in the frame of a placement (4, 4) on its link.

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


def given_limits(joint: str, bounds: dict[str, float], remarks: Remarks, turns: bool
                 ) -> dict[str, float]:
    """
    Return limits of one coordinate, infinite where exporters of CAD write 0 or less for none.

    So they are where velocity and effort are both 0, with bounds of 0 beside them, and where one
    is below 0; that is a remark. One that turns for ever has no bounds of position.
    """
    lost = [bounds.pop(key, 0.0) for key in ('lower', 'upper')] if turns else []
    if any(0.0 < abs(each) < UNLIMITED_VALUE for each in lost):
        remarks.add('joint', 'lower and upper of a continuous joint, which has none, not read',
                    joint)
    below, zeros = ([key for key in ('velocity', 'effort') if key in bounds and wrong(bounds[key])]
                    for wrong in (lambda value: value < 0.0, lambda value: value == 0.0))
    if below:
        remarks.add('joint', 'a velocity or effort below 0 in limit, taken for not given', joint)
    if len(zeros) == 2:
        remarks.add('joint', 'velocity and effort of 0 in limit, as exporters of CAD write them, '
                    'taken for not given: write them there, or give limits where a motion is '
                    'planned', joint)
        below = zeros
        if bounds.get('lower') == bounds.get('upper') == 0.0:
            bounds |= {'lower': -math.inf, 'upper': math.inf}
    elif zeros:
        remarks.add('joint', 'a velocity or an effort of 0 in limit, used as it is: no motion '
                    'keeps it', joint)
    return bounds | dict.fromkeys(below, math.inf)


def name_degrees(kind: str, owners: Iterable[Element], remarks: Remarks) -> None:
    """Note angles beyond a turn in the places of links or joints and of their masses."""
    for owner in owners:
        for xml in (each for part in (owner.value, *owner.value.findall('inertial'))
                    for each in (*part.findall('origin'), *part.findall('pose'))):
            angles = xml.get('rpy', '').split()
            if xml.tag == 'pose' and is_off(xml.get('degrees')) and 'quat' not in xml.get(
                    'rotation_format', ''):
                angles = (xml.text or '').split()[3:]
            if any(abs(parse_number(each) or 0.0) > TURN for each in angles):
                remarks.add(kind, 'roll, pitch or yaw beyond a turn; they are in rad, and these '
                            'look like degrees', owner.text('name'))


@contextmanager
def reading(name: str | os.PathLike[str]) -> Iterator[None]:
    """Name a file in the errors of a reader, which itself refuses numbers that overflow."""
    with Place(None, str(name)).context(), np.errstate(over='ignore', invalid='ignore'):
        with no_garbage_collection():
            yield


def model_of_file(source: Element | str, read: Callable[[], Model],
                  shapes: Callable[[str], Iterable[Shape]] = lambda body: (),
                  links: Mapping[str, Element] = MappingProxyType({})) -> Model:
    """
    Return the model of a root element or a path; errors and warnings name its file.

    shapes returns those of a body, as shapes_of does; links has the elements of those that may
    have shapes, by name. Numbers that are hardly in kg and m have a
    warning; those of what is not read come last. Raises DescriptionError.
    """
    name = source if isinstance(source, str) else source.path.removesuffix(f': {source.value.tag}')
    with reading(name):
        model, remarks = read(), Remarks()
        drawn = {name for name, link in links.items() if any(
            link.value.find(f'{tag}/geometry/*') is not None for tag in ('visual', 'collision'))}
        for each in implausible(model, shapes, drawn):
            remarks.add(*each)
    model = replace(model, warnings=tuple(sorted(
        map(spelled, (*remarks, *model.warnings)), key=lambda text: ' not read' in text)))
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
            shape = Element(xml, f'/{xml.tag}', each)
            uri = xml.get('filename', xml.get('uri', '')) if xml.tag == 'mesh' else ''
            with suppress(DescriptionError):  # what is drawn is no part of the model
                size = 0.5 * np.array(shape.numbers('size', 3, _ORIGIN))
                reach = math.hypot(*size.tolist(), shape.number('radius', 0.0),
                                   0.5 * shape.number('length', 0.0))
                if (path := found_file(uri, folder)) is not None:
                    reach = mesh_reach(path, shape.numbers('scale', 3, (1.0, 1.0, 1.0)))
                yield place(each)[:3, 3], reach


def mesh_reach(path: Path, scale: Iterable[float]) -> float:
    """Return how far the points of a mesh are from its frame; raises DescriptionError."""
    return max(float(np.linalg.norm(each.corners * np.array(scale), axis=1).max())
               for each in surfaces(path))


def with_leaves(root: Element) -> Element:
    """Return a document in which the texts of elements are attributes of those around them."""
    for xml in root.value.iter():
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
    return quaternion_pose(found.numbers('xyz', 3, _ORIGIN), turn)


def place_of(element: Element, xyz: str = 'xyz', rpy: str = 'rpy') -> Array:
    """Return the pose (4, 4) that two attributes of an element give."""
    return pose(element.numbers(xyz, 3, _ORIGIN), element.numbers(rpy, 3, _ORIGIN))


def add(parent: XML, tag: str, content: ArrayLike | Mapping[str, ArrayLike] | None = None,
        **attributes: ArrayLike) -> XML:
    """Add an element with attributes and a text, or an element for each; numbers in full."""
    element = SubElement(parent, tag, {
        key: value if isinstance(value, str) else joined(value)
        for key, value in attributes.items()})
    if isinstance(content, Mapping):
        for key, value in content.items():
            add(element, key, value)
    elif content is not None:
        element.text = content if isinstance(content, str) else joined(content)
    return element


def add_origin(element: XML, placement: Array, tag: str = 'origin') -> None:
    """Write a pose (4, 4) as an element origin."""
    add(element, tag, xyz=placement[:3, 3], rpy=so3.to_rpy(placement[:3, :3]))


def joined(numbers: ArrayLike) -> str:
    """Return numbers, or one, as a text that a reader reads back to the same bits."""
    return ' '.join(repr(float(x) + 0.0) for x in np.atleast_1d(numbers))  # + 0.0: no -0.0


def moments_of(inertia: SpatialInertia) -> dict[str, float]:
    """Return the moments about the centre of mass, by MOMENT_TAGS."""
    return dict(zip(MOMENT_TAGS, inertia.inertia_about_com[np.triu_indices(3)].tolist()))


def write_inertial(link: XML, inertia: SpatialInertia) -> None:
    """Write the element inertial of a URDF's link."""
    inertial = add(link, 'inertial')
    add(inertial, 'origin', xyz=inertia.center_of_mass)
    add(inertial, 'mass', value=inertia.mass)
    add(inertial, 'inertia', **moments_of(inertia))


def drawn(model: Model, body: Body) -> list[tuple[Array, Visual]]:
    """Return the visuals of a body and of its rotors, with their poses (4, 4) in the body."""
    return [(each.placement, each) for each in body.visuals] + [
        (rotor.placement @ each.placement, each) for rotor in model.rotors
        if rotor.body == body.name for each in rotor.visuals]


def add_shape(parent: XML, visual: Visual, nested: bool) -> None:
    """Write the geometry of a visual, its sizes as attributes (URDF) or nested elements (SDF)."""
    sizes: dict[str, ArrayLike] = {'size': visual.size} if visual.shape == 'box' else dict(
        zip(SHAPES[visual.shape], visual.size))
    add(add(parent, 'geometry'), visual.shape, sizes if nested else None,
        **({} if nested else sizes))


def changes(before: Model, after: Model) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield parts that differ: their kind, the new one, and its attributes that are others."""
    for kind, (parts, *keys) in _CHANGES.items():
        named = {each.name: each for each in getattr(before, parts)}
        for part in getattr(after, parts):
            new = {key: getattr(part, key) for key in keys if not np.array_equal(*(
                each.parameters() if hasattr(each, 'parameters') else each  # of an inertia
                for each in (getattr(named[part.name], key), getattr(part, key))))}
            if new and new.get('inertia', new) is not None:
                yield kind, part, new


def document(root: XML) -> str:
    """Return an element, indented, as the text of a document."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode')
