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

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.gazebo import add_plugins
from liedyn_ros.model.io.vocabulary import said, Vocabulary
from liedyn_ros.model.io.xml_parts import DRAKE
from liedyn_ros.model.parts.geometry import pose

_ZERO = 0.0, 0.0, 0.0
_LOOP_JOINTS = {'spherical': 'spherical', 'fixed': 'weld'}  # those that need no axis
FORCES = (  # of <dynamics>, all read
    'damping', 'friction', 'stiffness', 'rest', 'armature', 'stop_stiffness', 'stop_width')
ADVICE = 'not read: add it by a file for annotate, or by ModelBuilder'
GAZEBO = Vocabulary('gazebo')


def add_dialects(robot: Element, builder: ModelBuilder, links: list[str]) -> None:
    """Add the closures of simulators, and a warning for each other element with an effect."""
    for xml in robot.value.iter():  # Drake's by whatever address its prefix has
        if 'drake' in xml.tag.rpartition('}')[0]:
            xml.tag = DRAKE + xml.tag.rpartition('}')[2]
    for loop in robot.each('loop_joint'):
        _add_loop_joint(loop, builder, links)
    for i, ball in enumerate(robot.each(f'{DRAKE}ball_constraint')):
        _add_ball(ball, f'ball_constraint_{i}', builder, links)
    gazebos = list(robot.each('gazebo'))
    for each in gazebos:
        for text in GAZEBO.unread(each.value):
            builder.add_warning(text)
    add_plugins([plugin for gazebo in gazebos for plugin in gazebo.each('plugin')], builder,
                links, robot.text('name'), mimics=[
                    joint.get('name', '') for joint in robot.value.findall('joint[mimic]')])


def _add_loop_joint(loop: Element, builder: ModelBuilder, links: list[str]) -> None:
    """Add Isaac Sim's loop joint: a type, and its frame on link1 and on link2."""
    name, kind = said(loop.value), said(loop.value, 'type')
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


_CLOSURES = {'ball': 'spherical', 'fixed': 'weld', 'revolute2': 'universal', 'screw': 'helical',
             'continuous': 'revolute'}


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
