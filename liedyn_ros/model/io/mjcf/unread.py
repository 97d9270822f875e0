# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Elements of MJCF that are not read: refused where bodies would be missing, else named."""

from __future__ import annotations

from collections.abc import Iterator

from liedyn_ros.common.checks import listed
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.mjcf.document import Document, moving_content

_MAKES_BODIES = 'attach', 'replicate', 'composite', 'flexcomp', 'flex'
_FLUID = 'density', 'viscosity', 'wind'
_JOINT = {  # attributes of joints, and what users do instead
    'armature': 'add it to the mass matrix',
    'stiffness': 'add the spring to the efforts',
    'springdamper': 'write its stiffness and damping'}
_AXIAL = {'armature', 'stiffness'}  # read for hinges and slides
_TENDON = {'stiffness': 'spring', 'damping': 'damper', 'frictionloss': 'friction',
           'armature': 'inertia', 'springlength': 'spring'}
_OFF = '', '0', '0.0', 'false', 'disable'
Joints = dict[str, list[str]]


def refuse_unread(document: Document) -> None:
    """Raise DescriptionError for elements that make bodies, and for global coordinates."""
    if document.compiler.value.get('coordinate', 'local') != 'local':
        document.compiler.fail('local coordinates',
                               repr(document.compiler.value.get('coordinate')))
    for xml in document.root.value.iter():
        if xml.tag in _MAKES_BODIES:
            document.root.fail('an MJCF file whose bodies are written out (save it with MuJoCo, '
                               'mj_saveLastXML)', f'an element {xml.tag}')


def actuated_joints(document: Document) -> set[str] | None:
    """Return the joints that actuators of a document drive; None where it has no actuator."""
    tendons = {xml.get('name'): [joint.get('joint') for joint in xml.findall('joint')]
               for xml in document.root.value.findall('./tendon/fixed')}
    actuators = document.root.value.findall('./actuator/*')
    driven: set[str] = set()
    for xml in actuators:
        names = [xml.get('joint'), xml.get('jointinparent'), *tendons.get(xml.get('tendon'), [])]
        driven.update(name for name in names if name is not None)
    return driven if actuators else None


def add_unread(document: Document, builder: ModelBuilder) -> None:
    """Add a warning for each kind of element and attribute that would change the dynamics."""
    found: dict[str, Joints] = {key: {} for key in _JOINT}
    lines: list[str] = []
    floating: Joints = {}
    joints = bodies = 0

    def visit(element: Element, around: str | None) -> None:
        nonlocal joints, bodies
        for each in moving_content(element):
            tag, said = each.value.tag, each.value.get('name')
            if tag in ('body', 'frame', 'worldbody'):
                bodies += tag == 'body'
                name = said or f'body_{bodies}'
                if not _is_off(each.value.get('gravcomp', '')):
                    floating.setdefault(each.value.get('gravcomp', ''), []).append(name)
                if each.value.get('mocap') == 'true':
                    lines.append(f'body {name}: mocap not read: it stays where it is')
                visit(each, each.value.get('childclass', around))
            elif tag in ('joint', 'freejoint'):
                joint = each if tag == 'freejoint' else document.with_defaults(each, around)
                name = said or f'joint_{joints}'
                joints += 1
                lines.extend(_of_joint(joint, name))
                axial = tag == 'joint' and joint.value.get('type') not in ('ball', 'free')
                for key in _JOINT.keys() - (_AXIAL if axial else set()):
                    value = joint.value.get(key, '')
                    if not _is_off(value):
                        found[key].setdefault(value, []).append(name)

    for world in document.root.each('worldbody'):
        visit(world, world.value.get('childclass'))
    for key, advice in _JOINT.items():
        for value, names in found[key].items():
            builder.add_warning(f'joints {listed(names)}: {key} {value} not read: {advice}')
    for value, names in floating.items():
        builder.add_warning(f'bodies {listed(names)}: gravcomp {value} not read: gravity acts on '
                            'them')
    for line in [*lines, *_of_document(document), *_of_tendons(document)]:
        builder.add_warning(line)


def _of_joint(joint: Element, name: str) -> Iterator[str]:
    if joint.value.get('align') == 'true':
        yield f'joint {name}: align not read: the frame of its body is that of the file'
    if joint.value.get('type') == 'ball' and 'range' in joint.value.attrib:
        yield f'joint {name}: the range of a ball joint is not read'
    for key in ('damping', 'frictionloss', 'stiffness'):
        further = joint.value.get(key, '').split()[1:]
        if any(not _is_off(text) for text in further):
            yield f'joint {name}: {key} beyond its first number not read'


def _of_document(document: Document) -> Iterator[str]:
    """Name settings of the compiler and the medium, plugins, constraints turned off."""
    if not _is_off(document.compiler.value.get('alignfree', '')):
        yield 'compiler alignfree not read: frames of free bodies are those of the file'
    for option in document.root.each('option'):
        fluid = [key for key in _FLUID if not all(
            _is_off(text) for text in option.value.get(key, '').split())]
        if fluid:
            yield f'option {listed(fluid)} not read: no medium resists the motion'
        for flag in option.each('flag'):
            off = [key for key in ('constraint', 'equality', 'passive', 'damper')
                   if flag.value.get(key) == 'disable']
            if off:
                yield f'option flag {listed(off)} not read: it stays on'
    if document.root.value.find('.//plugin') is not None:
        yield 'plugins not read: their forces are missing'


def _of_tendons(document: Document) -> Iterator[str]:
    """Name the forces of tendons; lengths that equality constraints hold are read by these."""
    found: dict[str, list[str]] = {}
    for group in document.root.each('tendon'):
        for each in moving_content(group):
            tendon = document.with_defaults(each, None, 'tendon')
            for key, force in _TENDON.items():
                names = found.setdefault(force, [])
                name = tendon.value.get('name', 'without a name')
                if name not in names and not all(
                        _is_off(text) for text in tendon.value.get(key, '').split()):
                    names.append(name)
    for force, names in found.items():
        if names:
            yield f'tendons {listed(names)}: {force} not read: add it to the efforts'


def _is_off(text: str) -> bool:
    """Return whether a text is empty, false or zero."""
    if text in _OFF:
        return True
    try:
        return float(text) == 0.0
    except ValueError:
        return False
