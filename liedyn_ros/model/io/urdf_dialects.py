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

from collections.abc import Iterator, Sequence

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.description import parse_number, short
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.gazebo import add_plugins
from liedyn_ros.model.io.urdf_words import GAZEBO
from liedyn_ros.model.parts.geometry import pose

DRAKE = '{http://drake.mit.edu}'
_ZERO = 0.0, 0.0, 0.0
_LOOP_JOINTS = {'spherical': 'spherical', 'fixed': 'weld'}  # those that need no axis
_SCREEN = {'collision_filter_group'}  # of Drake, without an effect on the dynamics
_INERTIAS = {'rotorinertia', 'motorinertia', 'reflectedinertia', 'armature'}  # without underscores
_MUJOCO = ('compiler', 'option', 'equality', 'size', 'visual', 'statistic', 'asset', 'sensor',
           'contact')
_COMPILER = ('settotalmass', 'boundmass', 'boundinertia', 'balanceinertia', 'inertiafromgeom',
             'inertiagrouprange', 'alignfree')
_GRAVITY_OFF = {'turnGravityOff': ('true', '1'), 'gravity': ('false', '0')}
_FORCES = {'springStiffness': 'stiffness', 'dampingFactor': 'damping'}  # of <gazebo>
FORCES = (  # of <dynamics>, all read
    'damping', 'friction', 'stiffness', 'rest', 'armature', 'stop_stiffness', 'stop_width')
ADVICE = 'not read: add it by a file for annotate, or by ModelBuilder'


def add_dialects(robot: Element, builder: ModelBuilder, links: list[str]) -> None:
    """Add the closures of simulators, and a warning for each other element with an effect."""
    for loop in robot.each('loop_joint'):
        _add_loop_joint(loop, builder, links)
    for i, ball in enumerate(robot.each(f'{DRAKE}ball_constraint')):
        _add_ball(ball, f'ball_constraint_{i}', builder, links)
    for text in (*_drake(robot), *_gazebo(robot), *_mujoco(robot), *_transmissions(robot)):
        builder.add_warning(text)
    plugins = [plugin for gazebo in robot.each('gazebo') for plugin in gazebo.each('plugin')]
    add_plugins(plugins, builder, links, robot.text('name'))


def _add_loop_joint(loop: Element, builder: ModelBuilder, links: list[str]) -> None:
    """Add Isaac Sim's loop joint: a type, and its frame on link1 and on link2."""
    name, kind = _said(loop, 'name'), _said(loop, 'type')
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


def _drake(robot: Element) -> Iterator[str]:
    """Name Drake's other elements beside the links and joints, and within joints."""
    for xml in robot.value:
        tag = _drake_tag(xml.tag)
        if tag and tag not in _SCREEN and xml.tag != f'{DRAKE}ball_constraint':
            names = [each.get('name') or each.get('link') for each in xml if
                     each.get('name') or each.get('link')]
            label = f' {short(xml.get("name"))}' if xml.get('name') else ''
            yield f'drake:{tag}{label}{_between(names)}: {ADVICE}'


def _drake_tag(tag: str) -> str:
    """Return the name of an element of Drake, whatever address its prefix has, or none."""
    address, _, name = tag.rpartition('}')
    return name if 'drake' in address else ''


def _gazebo(robot: Element) -> Iterator[str]:
    """Name joints and links within <gazebo>, springs, gravity turned off, and mimic plugins."""
    mimics = {joint.value.get('name') for joint in robot.each('joint')
              if joint.value.find('mimic') is not None}
    weightless = []
    yield from GAZEBO.unread(*(gazebo.value for gazebo in robot.each('gazebo')))
    for gazebo in robot.each('gazebo'):
        for joint in gazebo.each('joint'):
            names = [text for side in ('parent', 'child')
                     if (text := (joint.value.findtext(side) or '').strip())]
            kind = _said(joint, 'type')
            yield (f'gazebo joint {_said(joint, "name")} of type {kind}{_between(names)}: '
                   f'{ADVICE}, as a closure of type {_CLOSURES.get(kind, kind)} at its pose')
        for link in gazebo.each('link'):
            yield f'gazebo link {_said(link, "name")}: not read: write it as a link of the URDF'
        for plugin in gazebo.each('plugin'):
            follower = (plugin.value.findtext('mimicJoint') or '').strip()
            if follower and follower not in mimics:
                leader = (plugin.value.findtext('joint') or '').strip()
                yield (f'gazebo plugin {_said(plugin, "name")}: joint {short(follower)} mimics '
                       f'{short(leader)}, {ADVICE} as a coupling, or write the element mimic')
        if any((gazebo.value.findtext(tag) or '').strip().lower() in off
               for tag, off in _GRAVITY_OFF.items()):
            weightless.append(_said(gazebo, 'reference'))
        for tag, force in _FORCES.items():
            if _above_zero(gazebo.value.findtext(tag)):
                yield (f'gazebo {_said(gazebo, "reference")}: {tag} not read: write it as '
                       f'{force} of dynamics')
    if weightless:
        yield f'links {listed(weightless)}: gazebo turns gravity off, not read: it acts on them'


def _mujoco(robot: Element) -> Iterator[str]:
    """Name MuJoCo's equality constraints, armatures, gravity and what else changes dynamics."""
    for mujoco in robot.each('mujoco'):
        further = [xml.tag for xml in mujoco.value if xml.tag not in _MUJOCO and len(xml)]
        if further:
            yield f'mujoco {listed(further)} not read'
        for xml in mujoco.value.findall('compiler'):
            masses = [key for key, text in xml.attrib.items()
                      if key in _COMPILER and text not in ('false', '0', 'auto')]
            if masses:
                yield f'mujoco compiler {listed(masses)} not read: masses are those of the URDF'
        for equality in mujoco.value.findall('equality'):
            for xml in equality:
                names = [xml.get(key) for key in ('body1', 'body2', 'joint1', 'joint2', 'site1',
                                                  'site2', 'tendon1', 'tendon2') if xml.get(key)]
                yield (f'mujoco equality {xml.tag} {short(xml.get("name", "without a name"))}'
                       f'{_between(names)}: {ADVICE}{_EQUALITIES.get(xml.tag, "")}')
        for xml in mujoco.value.iter():
            if _above_zero(xml.get('armature')):
                yield (f'mujoco {xml.tag} {short(xml.get("name", "without a name"))}: armature '
                       f'{short(xml.get("armature"))} not read: write it in dynamics')
            if xml.tag == 'option' and xml.get('gravity') is not None:
                yield (f'mujoco option gravity {short(xml.get("gravity"))} not read: give it as '
                       'the argument gravity')


def _transmissions(robot: Element) -> Iterator[str]:
    """Name the rotor inertias of transmissions: reflected, they add to the mass matrix."""
    for transmission in robot.each('transmission'):
        found = [xml.tag.rpartition('}')[2] for xml in transmission.value.iter()
                 if xml.tag.rpartition('}')[2].replace('_', '').lower() in _INERTIAS
                 and _above_zero(xml.get('value') or xml.text)]
        if found:
            joints = [_said(joint, 'name') for joint in transmission.each('joint')]
            yield (f'transmission {_said(transmission, "name")} of joints {listed(joints)}: '
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


def _said(element: Element, attribute: str) -> str:
    """Return an attribute for a message, whatever it is."""
    value = element.value.get(attribute)
    return 'without a name' if value is None else short(value).strip('\'"')


def _between(names: Sequence[str | None]) -> str:
    return f' between {listed([str(name) for name in names])}' if names else ''


def _above_zero(text: str | None) -> bool:
    """Return whether a text is given and is not the number zero."""
    return bool(text and text.strip()) and parse_number(str(text).strip()) != 0.0
