# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Loops in a URDF, as others write them: URDF itself has none.

<loop> and <coupling> are of URDF+ (Chignoli et al., 2024), where joints that are not independent
count as passive. <constraint> is what urdfdom may come to have (its pull request 264), so it is
read where the caller asks for it. Our own are the types rod and helical of <loop>, and its
attributes length, pitch and tolerance. <loop_joint> is of Isaac Sim's URDF importer, <drake:...>
of Drake's parser, <gazebo> of sdformat. Where one is exactly a closure it becomes one; any other
that would change the dynamics is named in a warning.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element as XML

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.description import short
from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.gazebo import add_plugins
from liedyn_ros.model.io.vocabulary import said, Vocabulary
from liedyn_ros.model.io.xml_parts import add, add_origin, DRAKE, joined, origin
from liedyn_ros.model.parts.constraints import Closure, CLOSURE_TYPES
from liedyn_ros.model.parts.geometry import axis_frame, perpendicular, pose, unit_axis

_X = 1.0, 0.0, 0.0
_Z = 0.0, 0.0, 1.0
_TYPES = {name: name for name in CLOSURE_TYPES} | {
    'fixed': 'weld', 'continuous': 'revolute', 'ball': 'spherical'}
_SIDES = 'parent', 'child'
_NUMBERS = 'pitch', 'length', 'tolerance'


def add_loops(robot: Element, builder: ModelBuilder, urdf_constraints: bool) -> None:
    """
    Add the loop closures of a URDF, those of <constraint> by urdf_constraints alone.

    Raises DescriptionError and the errors of add_closure.
    """
    for loop in robot.each('loop'):
        sides, axis = (loop.take('predecessor'), loop.take('successor')), loop.optional('axis')
        turns = CLOSURE_TYPES[_type(loop)].axes == 1
        _add_loop(builder, loop, [side.text('link') for side in sides], map(origin, sides),
                  (_X if axis is None else axis.numbers('xyz', 3)) if turns else None)
    for constraint in robot.each('constraint'):
        if urdf_constraints:
            _add_loop(builder, constraint,
                      [constraint.take(side).text('link') for side in _SIDES],
                      (_side(constraint, side) for side in _SIDES), None)
            continue
        builder.add_warning(
            f'constraint {short(constraint.value.get("name", "without a name"))}: not read, '
            'as urdfdom has not decided on this element: the option urdf_constraints reads '
            'it as a closure, or write it as an element loop')
    for coupling in robot.each('coupling'):
        _add_coupling(robot, coupling, builder)


def _add_loop(builder: ModelBuilder, loop: Element, links: list[str], frames: Iterable[Array],
              axis: Sequence[float] | None) -> None:
    numbers: dict[str, Any] = {name: loop.number(name, 0.0) for name in _NUMBERS}
    first, second = frames
    with loop.context():
        builder.add_closure(loop.text('name'), _type(loop), *links, placement_a=first,
                            placement_b=second, axis=axis, **numbers)


def write_loops(robot: XML, closures: Sequence[Closure], ground: str | None) -> None:
    """
    Write closures as elements loop; ground names the link that stands for the ground.

    Raises DescriptionError for a closure on the ground where no link does, None.
    """
    for closure in closures:
        loop = add(robot, 'loop', name=closure.name, type=closure.type_name)
        for side, body in (('predecessor', closure.body_a), ('successor', closure.body_b)):
            link = ground if body is None else body
            if link is None:
                raise DescriptionError(f'closure {closure.name}: expected two bodies, as URDF has '
                                       'no ground beside a floating base, got the ground')
            add(loop, side, link=link)
        write_loop(loop, closure)


def write_loop(loop: XML, closure: Closure) -> None:
    """Write the frames of a loop, whose z is its axis, and its numbers, in place of others."""
    for tag, frame in (('predecessor', closure.frame_a), ('successor', closure.frame_b)):
        side = loop.find(tag)
        if side is None:
            raise DescriptionError(f'loop {closure.name}: expected a {tag}, got none')
        add_origin(side, frame)
    for old in loop.findall('axis'):
        loop.remove(old)
    if CLOSURE_TYPES[closure.type_name].axes == 1:
        add(loop, 'axis', xyz=_Z)
    loop.attrib.update({name: joined(value) for name in _NUMBERS
                        if (value := float(getattr(closure, name))) != 0.0})


def _type(element: Element) -> str:
    kind = element.text('type')
    if kind not in _TYPES:
        element.fail(f'a type of {sorted(_TYPES)}', kind)
    return _TYPES[kind]


def _side(constraint: Element, side: str) -> Array:
    """Return the frame of one side of a constraint, its axis where the closure has it."""
    kind = _type(constraint)
    placement, given = origin(constraint, f'{side}_origin'), constraint.optional(f'{side}_axis')
    if CLOSURE_TYPES[kind].axes:
        axis = unit_axis(f'{side}_axis', _X if given is None else given.numbers('xyz', 3))
        beside = perpendicular(axis)
        if kind != 'universal':
            rotation = axis_frame(axis, beside)  # z along the axis
        elif side == 'parent':
            rotation = axis_frame(beside, axis)  # x along it
        else:
            rotation = np.column_stack((beside, axis, np.cross(beside, axis)))  # y along it
        placement[:3, :3] = placement[:3, :3] @ rotation
    return placement


def _add_coupling(robot: Element, coupling: Element, builder: ModelBuilder) -> None:
    """
    Couple the joints on the way to one link to those on the way to another.

    From the last link that both paths share, the sum of the joints to the successor is the ratio
    times that to the predecessor.
    """
    above = {joint.take('child').text('link'): joint for joint in robot.each('joint')}

    def path(link: str) -> list[str]:
        names: list[str] = []
        while link in above and len(names) <= len(above):
            joint = above[link]
            if joint.text('type') != 'fixed':
                names.append(joint.text('name'))
            link = joint.take('parent').text('link')
        return names

    first, second = (path(coupling.take(side).text('link')) for side in (
        'predecessor', 'successor'))
    leaders = [name for name in first if name not in second]
    followers = [name for name in second if name not in first]
    if not leaders or not followers:
        coupling.fail('links that different joints move', f'{first} and {second}')
    ratio = coupling.take('ratio').number('value')
    terms = dict.fromkeys(leaders[1:], ratio) | dict.fromkeys(followers[1:], -1.0)
    builder.add_coupling(followers[0], leaders[0], ratio, 0.0, terms)


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
    for text in GAZEBO.unread(*(each.value for each in gazebos)):
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
