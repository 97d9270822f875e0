# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Elements of simulators in a URDF, as far as they close a loop or change the dynamics.

<loop_joint> is of Isaac Sim's URDF importer, <drake:...> of Drake's parser, <gazebo> of sdformat,
<mujoco> of MuJoCo. A file that holds them is never refused for them. Where an element is exactly
a closure it becomes one; any other that would change the dynamics is named in a warning.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element as XML

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.description import short
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.gazebo import add_plugins
from liedyn_ros.model.io.vocabulary import is_off, plain, Vocabulary
from liedyn_ros.model.io.xml_parts import DRAKE
from liedyn_ros.model.parts.geometry import pose

_ZERO = 0.0, 0.0, 0.0
_LOOP_JOINTS = {'spherical': 'spherical', 'fixed': 'weld'}  # those that need no axis
_READ = 'drake:collision_filter_group', 'drake:ball_constraint'  # or without an effect
_INERTIAS = {'rotorinertia', 'motorinertia', 'reflectedinertia', 'armature'}  # without underscores
_MUJOCO = ('compiler', 'option', 'equality', 'size', 'visual', 'statistic', 'asset', 'sensor',
           'contact')
_COMPILER = ('settotalmass', 'boundmass', 'boundinertia', 'balanceinertia', 'inertiafromgeom',
             'inertiagrouprange', 'alignfree')
_NAMES = ('name', 'link', *(f'{kind}{i}' for kind in ('body', 'joint', 'site', 'tendon')
                            for i in (1, 2)))  # attributes that name parts of a machine
FORCES = (  # of <dynamics>, all read
    'damping', 'friction', 'stiffness', 'rest', 'armature', 'stop_stiffness', 'stop_width')
ADVICE = 'not read: add it by a file for annotate, or by ModelBuilder'
GAZEBO = Vocabulary('gazebo')


def add_dialects(robot: Element, builder: ModelBuilder, links: list[str]) -> None:
    """Add the closures of simulators, and a warning for each other element with an effect."""
    for loop in robot.each('loop_joint'):
        _add_loop_joint(loop, builder, links)
    for i, ball in enumerate(robot.each(f'{DRAKE}ball_constraint')):
        _add_ball(ball, f'ball_constraint_{i}', builder, links)
    gazebos = list(robot.each('gazebo'))
    for text in (*_drake(robot.value), *GAZEBO.unread(*(each.value for each in gazebos)),
                 *_gazebo(robot.value), *_mujoco(robot.value), *_transmissions(robot.value)):
        builder.add_warning(text)
    add_plugins([plugin for gazebo in gazebos for plugin in gazebo.each('plugin')], builder,
                links, robot.text('name'))


def _add_loop_joint(loop: Element, builder: ModelBuilder, links: list[str]) -> None:
    """Add Isaac Sim's loop joint: a type, and its frame on link1 and on link2."""
    name, kind = _said(loop.value), _said(loop.value, 'type')
    what = f'loop_joint {name} of type {kind}'
    try:
        sides = [*loop.each('link1'), *loop.each('link2')]  # its manual writes link1 twice
        if len(sides) != 2:
            loop.fail('the elements link1 and link2', f'{len(sides)} of them')
        bodies = [_link(side, 'link', links) for side in sides]
        frames = [pose(side.numbers('xyz', 3, _ZERO), side.numbers('rpy', 3, _ZERO))
                  for side in sides]
        if kind in _LOOP_JOINTS:
            builder.add_closure(loop.text('name'), _LOOP_JOINTS[kind], *bodies,
                                placement_a=frames[0], placement_b=frames[1])
            return
        builder.add_warning(
            f'{what} between {bodies[0]} and {bodies[1]}: it has no axis that all readers agree '
            f'on, {ADVICE} as a closure, {_sketch(name, kind, bodies, frames)}')
    except LiedynError as error:
        builder.add_warning(f'{what}: {error}; {ADVICE}')


def _add_ball(ball: Element, name: str, builder: ModelBuilder, links: list[str]) -> None:
    """Add Drake's ball constraint: point P of body A stays at point Q of body B."""
    try:
        bodies = [_link(ball.take(f'{DRAKE}ball_constraint_body_{side}'), 'name', links)
                  for side in 'AB']
        points = [ball.take(f'{DRAKE}ball_constraint_p_{side}').numbers('value', 3)
                  for side in ('AP', 'BQ')]
        builder.add_closure(name, 'spherical', *bodies,
                            placement_a=pose(points[0]), placement_b=pose(points[1]))
    except LiedynError as error:
        builder.add_warning(f'drake:ball_constraint: {error}; {ADVICE}')


def _drake(robot: XML) -> Iterator[str]:
    """Name Drake's other elements beside the links and joints, whatever address they have."""
    for xml in robot:
        if plain(xml.tag).startswith('drake:') and not (
                plain(xml.tag) in _READ and xml.tag.startswith(DRAKE)):
            label = f' {_said(xml)}' if xml.get('name') else ''
            yield f'{plain(xml.tag)}{label}{_between(xml)}: {ADVICE}'


def _gazebo(robot: XML) -> Iterator[str]:
    """Name joints and links within <gazebo>, and joints that its plugins couple."""
    mimics = {joint.get('name') for joint in robot.findall('joint[mimic]')}
    for joint in robot.findall('gazebo/joint'):
        kind = _said(joint, 'type')
        yield (f'gazebo joint {_said(joint)} of type {kind}{_between(joint)}: {ADVICE}, as a '
               f'closure of type {_CLOSURES.get(kind, kind)} at its pose')
    for link in robot.findall('gazebo/link'):
        yield f'gazebo link {_said(link)}: not read: write it as a link of the URDF'
    for plugin in robot.findall('gazebo/plugin[mimicJoint]'):
        follower, leader = ((plugin.findtext(tag) or '').strip() for tag in (
            'mimicJoint', 'joint'))
        if follower not in mimics:
            yield (f'gazebo plugin {_said(plugin)}: joint {short(follower)} mimics '
                   f'{short(leader)}, {ADVICE} as a coupling, or write the element mimic')


def _mujoco(robot: XML) -> Iterator[str]:
    """Name MuJoCo's equality constraints, armatures, gravity and what else changes dynamics."""
    further = [xml.tag for xml in robot.findall('mujoco/*') if xml.tag not in _MUJOCO and len(xml)]
    if further:
        yield f'mujoco {listed(further)} not read'
    for xml in robot.findall('mujoco/compiler'):
        masses = [key for key, text in xml.attrib.items()
                  if key in _COMPILER and text not in ('false', '0', 'auto')]
        if masses:
            yield f'mujoco compiler {listed(masses)} not read: masses are those of the URDF'
    for xml in robot.findall('mujoco/equality/*'):
        yield (f'mujoco equality {xml.tag} {short(xml.get("name", "without a name"))}'
               f'{_between(xml)}: {ADVICE}{_EQUALITIES.get(xml.tag, "")}')
    for xml in robot.findall('mujoco//*[@armature]'):
        if not is_off(xml.get('armature')):
            yield (f'mujoco {xml.tag} {_said(xml)}: armature {_said(xml, "armature")} not read: '
                   'write it in dynamics')
    for xml in robot.findall('mujoco/option[@gravity]'):
        yield (f'mujoco option gravity {_said(xml, "gravity")} not read: give it as the argument '
               'gravity')


def _transmissions(robot: XML) -> Iterator[str]:
    """Name the rotor inertias of transmissions: reflected, they add to the mass matrix."""
    for transmission in robot.findall('transmission'):
        found = [plain(xml.tag).rpartition(':')[2] for xml in transmission.iter()
                 if plain(xml.tag).rpartition(':')[2].replace('_', '').lower() in _INERTIAS
                 and not is_off(xml.get('value') or xml.text)]
        if found:
            joints = [_said(joint) for joint in transmission.findall('joint')]
            yield (f'transmission {_said(transmission)} of joints {listed(joints)}: '
                   f'{listed(found)} not read: write its ratio squared times the inertia as '
                   'armature of dynamics')


_CLOSURES = {'ball': 'spherical', 'fixed': 'weld', 'revolute2': 'universal', 'screw': 'helical',
             'continuous': 'revolute'}
_EQUALITIES = {'connect': ' as a closure of type spherical', 'weld': ' as a closure of type weld',
               'joint': ' as a coupling, or write the element mimic'}


def _sketch(name: str, kind: str, bodies: list[str], frames: list[Array]) -> str:
    """Return the closure of a loops file that a user completes by the axis."""
    places = ', '.join(
        f'placement_{side}: [xyz: {[round(float(x), 9) for x in frame[:3, 3]]}]'
        for side, frame in zip('ab', frames))
    return (f'{name}: {{type: {_CLOSURES.get(kind, kind)}, body_a: {bodies[0]}, '
            f'body_b: {bodies[1]}, {places}, axis: ...}}')


def _link(element: Element, attribute: str, links: list[str]) -> str:
    """Return the name of a link of the file."""
    name = element.text(attribute)
    if name not in links:
        element.fail(f'a link of {listed(links)}', repr(name))
    return name


def _said(xml: XML, attribute: str = 'name') -> str:
    """Return an attribute for a message, whatever it is."""
    return short(xml.get(attribute, 'without a name')).strip('\'"')


def _between(xml: XML) -> str:
    """Return the links and joints that an element names within it, for a message."""
    names = [each.get(key) for each in xml.iter() for key in _NAMES
             if each.get(key) and not (each is xml and key == 'name')]
    names += [text for side in ('parent', 'child')
              if (text := (xml.findtext(side) or '').strip())]
    return f' between {listed([str(name) for name in names])}' if names else ''
