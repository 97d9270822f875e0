# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
Loops in a URDF or SDF, as others write them.

<loop> and <coupling> are of URDF+ (Chignoli et al., 2024), where joints that are not independent
count as passive. Our own are the types rod and helical of <loop>, and its attributes length, pitch
and tolerance. <loop_joint> is of Isaac Sim's URDF importer, <drake:...> of Drake's parser,
<gazebo> and <plugin> of Gazebo. Where one is exactly a closure it becomes one; any other is named
in a warning.
"""

from collections.abc import Iterable, Sequence
import re
from xml.etree.ElementTree import Element as XML

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import se3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.configuration import body_poses
from liedyn_ros.model.io.xml_parts import (
    add, add_origin, DRAKE, joined, origin, place_of, plain, said, with_leaves)
from liedyn_ros.model.parts.constraints import Closure, CLOSURE_TYPES
from liedyn_ros.model.parts.geometry import pose

_X, _Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
CLOSURES = {name: name for name in CLOSURE_TYPES} | {  # by the names of others
    'fixed': 'weld', 'continuous': 'revolute', 'ball': 'spherical', 'revolute2': 'universal',
    'screw': 'helical'}
_NUMBERS = 'pitch', 'length', 'tolerance'
FORCES = (  # of <dynamics>, all read
    'damping', 'friction', 'stiffness', 'rest', 'armature', 'stop_stiffness', 'stop_width')
ADVICE = 'not read: add it by a file for annotate, or by ModelBuilder'
# Words of names and files of plugins that put no force on a link by themselves.
_QUIET = re.compile(
    'control|publish|sensor|camera|imu|laser|lidar|ray|gps|nav_?sat|joint_?state|odom|p3d|contact|'
    'bumper|depth|physics|scene|user_?commands|battery|logger|performer|label|thermal|altimeter|'
    'magnetometer|sonar|markers|trajectory|diff_?drive|skid_?steer|ackermann|planar_?move|'
    'tf_|pose|force_?torque|ft_|select|resource|video|keyboard|occupancy|perfect', re.IGNORECASE)
_CLOSED = re.compile('closed?_?-?loop|loop_?clos', re.IGNORECASE)
SCOPE = 'scope_of_liedyn'  # an attribute: the prefix of the model that holds a plugin


def add_loops(robot: Element, builder: ModelBuilder, links: list[str]) -> None:
    """
    Add the loop closures of a URDF; those of dialects that cannot be read have a warning.

    Raises DescriptionError and the errors of add_closure.
    """
    for loop in robot.each('loop'):
        sides, axis = (loop.take('predecessor'), loop.take('successor')), loop.optional('axis')
        _add_loop(loop, builder, [side.text('link') for side in sides], map(origin, sides),
                  (_X if axis is None else axis.numbers('xyz', 3))
                  if CLOSURE_TYPES[_type(loop)].axes == 1 else None)
    for coupling in robot.each('coupling'):
        _add_coupling(robot, coupling, builder)
    for tag, read in (('loop_joint', _add_loop_joint), (f'{DRAKE}ball_constraint', _add_ball)):
        for i, each in enumerate(robot.each(tag)):
            try:
                read(each, builder, links, i)
            except LiedynError as error:
                builder.add_warning(f'{plain(tag)} {said(each.value)}: {error}; {ADVICE}')


def _add_loop(loop: Element, builder: ModelBuilder, links: Iterable[str], frames: Iterable[Array],
              axis: Sequence[float] | None) -> None:
    first, second = frames
    with loop.context():
        builder.add_closure(
            loop.text('name'), _type(loop), *links, placement_a=first, placement_b=second,
            axis=axis, pitch=loop.number('pitch', 0.0), length=loop.number('length', 0.0),
            tolerance=loop.number('tolerance', 0.0))


def _add_loop_joint(loop: Element, builder: ModelBuilder, links: list[str], i: int) -> None:
    """Add Isaac Sim's loop joint: a type, and its frame on link1 and on link2."""
    sides = [*loop.each('link1'), *loop.each('link2')]  # its manual writes link1 twice
    if len(sides) != 2:
        loop.fail('the elements link1 and link2', f'{len(sides)} of them')
    bodies = [_link(side, 'link', links) for side in sides]
    if CLOSURE_TYPES[_type(loop)].axes:
        loop.fail('a type without an axis, as readers have others for it',
                  f'{loop.text("type")} between {" and ".join(bodies)}')
    _add_loop(loop, builder, bodies, map(place_of, sides), None)


def _add_ball(ball: Element, builder: ModelBuilder, links: list[str], i: int) -> None:
    """Add Drake's ball: point P of body A stays at point Q of body B."""
    bodies = [_link(ball.take(f'{DRAKE}ball_constraint_body_{side}'), 'name', links)
              for side in 'AB']
    a, b = (pose(ball.take(f'{DRAKE}ball_constraint_p_{side}').numbers('value', 3))
            for side in ('AP', 'BQ'))
    builder.add_closure(f'ball_constraint_{i}', 'spherical', *bodies, placement_a=a,
                        placement_b=b)


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
    if kind not in CLOSURES:
        element.fail(f'a type of {sorted(CLOSURES)}', kind)
    return CLOSURES[kind]


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


def _link(element: Element, attribute: str, links: list[str]) -> str:
    name = element.text(attribute)
    if name not in links:
        element.fail(f'a link of {listed(links)}', repr(name))
    return name


def add_plugins(plugins: Iterable[Element], builder: ModelBuilder, links: Sequence[str],
                model: str, mimics: Sequence[str] = ()) -> None:
    """
    Add the closures of plugins, and a warning for each other that may put forces on links.

    A DetachableJoint is a weld where the file has both links. A plugin for closed loops, with a
    joint, its parent and its child, is a revolute one. model is the name of the whole machine,
    mimics are joints that plugins may couple, as the file does so too.
    """
    others = []
    for plugin in map(with_leaves, plugins):
        file, name, follower = (
            plugin.value.get(key, '') for key in ('filename', 'name', 'mimicJoint'))
        if 'detachable' in f'{file} {name}'.lower().replace('-', ''):
            _add_detachable(plugin, builder, links, model)
        elif _CLOSED.search(f'{file} {name}'):
            _add_closed_loop(plugin, builder, links)
        elif follower and follower not in mimics:
            builder.add_warning(
                f'plugin {said(plugin.value)}: joint {abbreviate(follower)} mimics '
                f'{abbreviate(plugin.value.get("joint"))}: not read: add a coupling by a file '
                'for annotate, or write the element mimic')
        elif not follower and not any(map(_QUIET.search, (name.rpartition(':')[2], file))):
            others.append(f'{name} of {file}')
    if others:
        builder.add_warning(f'plugins {listed(others)}: not read: add their forces, or their '
                            'loops by a file for annotate')


def _add_detachable(plugin: Element, builder: ModelBuilder, links: Sequence[str], model: str
                    ) -> None:
    scope, inner, child, parent = (plugin.value.get(key, '') for key in (
        SCOPE, 'child_model', 'child_link', 'parent_link'))
    own = inner in ('', model, '__model__', scope.removesuffix('::').rpartition('::')[2])
    a = _one_of((scope + parent, parent), links)
    b = _one_of((f'{inner}::{child}', f'{scope}{inner}::{child}',
                 *((scope + child, child) if own else ())), links)
    what = (f'plugin {said(plugin.value)}: it fixes {abbreviate(child)} of {abbreviate(inner)} to '
            f'{abbreviate(parent)}')
    if a is None or b is None or a == b:
        builder.add_warning(f'{what}, which are not both of this model: not read')
        return
    _close(builder, f'{a}={b}', 'weld', (a, b), np.eye(4), 0)
    builder.add_warning(f'{what}: read as a weld, as long as nothing detaches it')


def _add_closed_loop(plugin: Element, builder: ModelBuilder, links: Sequence[str]) -> None:
    """Add a revolute closure at the child, or at a position and rotation in it, about y there."""
    given, name = plugin.value.attrib, said(plugin.value)
    parent, child = (_one_of((given.get(SCOPE, '') + link, link), links)
                     for link in (given.get('parent', ''), given.get('child', '')))
    if parent is None or child is None or parent == child:
        builder.add_warning(f'plugin {name}: it closes a loop: expected the links parent and '
                            f'child, got {abbreviate(given.get("parent"))} and '
                            f'{abbreviate(given.get("child"))}: add it by a file for annotate')
        return
    at = place_of(plugin, *(('position', 'rotation') if {'position', 'rotation'} & set(given)
                            else ('xyz', 'rpy')))
    axis = plugin.numbers('axis', 3, (0.0, 1.0, 0.0))
    _close(builder, given.get('joint', name), 'revolute', (parent, child), at, 1, axis)
    builder.add_warning(f'plugin {name}: read as a revolute closure of {parent} and '
                        f'{child}, about {list(axis)} of {child} at {at[:3, 3].tolist()}')


def _close(builder: ModelBuilder, name: str, kind: str, bodies: tuple[str, str], at: Array,
           side: int, axis: Sequence[float] | None = None) -> None:
    """Add a closure at a place of one of two bodies, by its side, where they are drawn."""
    while name in {closure.name for closure in builder.closures}:
        name += '_'
    poses, places = body_poses(builder.build().joint_list), [at, at]
    places[1 - side] = se3.inverse(poses[bodies[1 - side]]) @ poses[bodies[side]] @ at
    builder.add_closure(name, kind, *bodies, placement_a=places[0], placement_b=places[1],
                        axis=axis)


def _one_of(names: Iterable[str], links: Sequence[str]) -> str | None:
    return next((name for name in names if name in links), None)
