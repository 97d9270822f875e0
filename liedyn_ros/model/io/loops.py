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


from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import se3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.configuration import body_poses
from liedyn_ros.model.io.xml_parts import (
    add, add_origin, joined, origin, place_of, said, unused, with_leaves)
from liedyn_ros.model.parts.constraints import Closure, CLOSURE_TYPES
from liedyn_ros.model.parts.geometry import IDENTITY, pose

_X, _Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
CLOSURE_NAMES = {name: name for name in CLOSURE_TYPES} | {  # by the names of others
    'fixed': 'weld', 'continuous': 'revolute', 'ball': 'spherical', 'revolute2': 'universal',
    'screw': 'helical'}
_CLOSURE_NUMBERS = 'pitch', 'length', 'tolerance'
DYNAMICS_TAGS = (  # of <dynamics>, all read
    'damping', 'friction', 'stiffness', 'rest', 'armature', 'stop_stiffness', 'stop_width')
# Words of names and files of plugins that put no force on a link by themselves.
_FORCELESS_PLUGINS = re.compile(
    'control|publish|sensor|camera|imu|laser|lidar|ray|gps|nav_?sat|joint_?state|odom|p3d|contact|'
    'bumper|depth|physics|scene|user_?commands|battery|logger|performer|label|thermal|altimeter|'
    'magnetometer|sonar|markers|trajectory|diff_?drive|skid_?steer|ackermann|planar_?move|'
    'tf_|pose|force_?torque|ft_|select|resource|video|keyboard|occupancy|perfect', re.IGNORECASE)
_LOOP_PLUGINS = re.compile('closed?_?-?loop|loop_?clos', re.IGNORECASE)
SCOPE = 'scope_of_liedyn'  # an attribute: the prefix of the model that holds a plugin


def add_loops(robot: Element, builder: ModelBuilder, links: list[str]) -> None:
    """
    Add the loop closures of a URDF; those of dialects that cannot be read have a warning.

    Raises DescriptionError and the errors of add_closure.
    """
    for loop in robot.each('loop'):
        a, b, kind = loop.take('predecessor'), loop.take('successor'), _type(loop)
        axis = None
        if CLOSURE_TYPES[kind].axes == 1:
            given = loop.optional('axis')
            axis = _X if given is None else given.numbers('xyz', 3)
        with loop.context():
            builder.add_closure(
                loop.text('name'), kind, a.text('link'), b.text('link'), placement_a=origin(a),
                placement_b=origin(b), axis=axis,
                **{key: loop.number(key, 0.0) for key in _CLOSURE_NUMBERS})
    for coupling in robot.each('coupling'):
        _add_coupling(coupling, builder)
    for i, each in enumerate((*robot.each('loop_joint'), *robot.each('drake:ball_constraint'))):
        try:
            _add_joint(each, builder, links, i)
        except LiedynError as error:
            builder.add_warning(f'{each.value.tag} {said(each.value)}: {error}; not read: add it '
                                'by a file for annotate, or by ModelBuilder')


def _add_joint(joint: Element, builder: ModelBuilder, links: list[str], i: int) -> None:
    """
    Add a joint of a dialect, on two links.

    Isaac Sim's loop_joint has a type, and its frame on link1 and on link2. Drake's ball holds a
    point P of body A at a point Q of body B.
    """
    if joint.value.tag == 'loop_joint':
        sides = [*joint.each('link1'), *joint.each('link2')]  # its manual writes link1 twice
        name, kind, key, frames = joint.text('name'), _type(joint), 'link', map(place_of, sides)
    else:
        sides = [joint.take(f'drake:ball_constraint_body_{side}') for side in 'AB']
        name, kind, key, frames = f'ball_constraint_{i}', 'spherical', 'name', map(pose, (
            joint.take(f'drake:ball_constraint_p_{side}').numbers('value', 3)
            for side in ('AP', 'BQ')))
    bodies = [side.text(key) for side in sides]
    if len(sides) != 2:
        joint.fail('the elements link1 and link2', f'{len(sides)} of them')
    for side, body in zip(sides, bodies):
        if body not in links:
            side.fail(f'a link of {listed(links)}', repr(body))
    if CLOSURE_TYPES[kind].axes:
        joint.fail('a type without an axis, as readers have others for it',
                   f'{joint.text("type")} between {" and ".join(bodies)}')
    a, b = frames
    builder.add_closure(name, kind, *bodies, placement_a=a, placement_b=b)


def link_of(part: str, body: str | None, ground: str | None) -> str:
    """Return the link of a body, or the one that stands for the ground, or raise for none."""
    link = ground if body is None else body
    if link is None:
        raise DescriptionError(f'{part}: expected no part on the ground, as URDF has none beside '
                               'a floating base, got one')
    return link


def write_loop(loop: XML, closure: Closure) -> None:
    """Write the frames of a loop, whose z is its axis, and its numbers."""
    for tag, frame in (('predecessor', closure.frame_a), ('successor', closure.frame_b)):
        side = loop.find(tag)
        add_origin(add(loop, tag) if side is None else side, frame)
    if CLOSURE_TYPES[closure.type_name].axes == 1:
        add(loop, 'axis', xyz=_Z)
    loop.attrib.update({name: joined(value) for name in _CLOSURE_NUMBERS
                        if (value := float(getattr(closure, name))) != 0.0})


def _type(element: Element) -> str:
    kind = element.text('type')
    return CLOSURE_NAMES.get(kind) or element.fail(f'a type of {sorted(CLOSURE_NAMES)}', kind)


def _add_coupling(coupling: Element, builder: ModelBuilder) -> None:
    """
    Couple the joints on the way to one link to those on the way to another.

    From the last link that both paths share, the sum of the joints to the successor is the ratio
    times that to the predecessor.
    """
    with coupling.context():
        moves = {joint.child: joint for joint in builder.build().joint_list}

    def path(link: str | None) -> list[str]:
        names = list[str]()
        while link is not None and (joint := moves.get(link)) is not None:
            names += [joint.name] * (joint.type_name != 'fixed')
            link = joint.parent
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


def add_plugins(plugins: Iterable[Element], builder: ModelBuilder, links: Sequence[str],
                model: str, mimics: Sequence[str] = ()) -> None:
    """
    Add the closures of plugins, and a warning for each other that may put forces on links.

    A DetachableJoint is a weld where the file has both links. A plugin for closed loops, with a
    joint, its parent and its child, is a revolute one, at a position and rotation in the child, by
    default about its y. model is the name of the whole machine, mimics are joints that plugins may
    couple, as the file does so too.
    """
    others = []
    for plugin in map(with_leaves, plugins):
        file, name, scope, inner, follower, child, parent = (plugin.value.get(key, '') for key in (
            'filename', 'name', SCOPE, 'child_model', 'mimicJoint', 'child', 'parent'))
        if 'detachable' in f'{file} {name}'.lower().replace('-', ''):
            child, parent = (plugin.value.get(f'{key}_link', '') for key in ('child', 'parent'))
            own = inner in ('', model, '__model__', scope.removesuffix('::').rpartition('::')[2])
            _close(plugin, builder, links, (scope + parent, parent), (
                f'{inner}::{child}', f'{scope}{inner}::{child}',
                *((scope + child, child) if own else ())), 'weld, as long as nothing detaches it')
        elif _LOOP_PLUGINS.search(f'{file} {name}'):
            tags = ('position', 'rotation') if {'position', 'rotation'} & set(
                plugin.value.attrib) else ('xyz', 'rpy')
            _close(plugin, builder, links, (scope + parent, parent), (scope + child, child),
                   'revolute', place_of(plugin, *tags), plugin.numbers('axis', 3, (0.0, 1.0, 0.0)))
        elif follower and follower not in mimics:
            builder.add_warning(
                f'plugin {said(plugin.value)}: joint {abbreviate(follower)} mimics '
                f'{abbreviate(plugin.value.get("joint"))}: not read: add a coupling by a file '
                'for annotate, or write the element mimic')
        elif not follower and not any(map(
                _FORCELESS_PLUGINS.search, (name.rpartition(':')[2], file))):
            others.append(f'{name} of {file}')
    if others:
        builder.add_warning(f'plugins {listed(others)}: not read: add their forces, or their '
                            'loops by a file for annotate')


def _close(plugin: Element, builder: ModelBuilder, links: Sequence[str], parents: Sequence[str],
           children: Sequence[str], kind: str, at: Array = IDENTITY,
           axis: Sequence[float] | None = None) -> None:
    """Add a closure of the first known parent and child, as drawn, at a place in the child."""
    a, b = (next((name for name in names if name in links), None) for names in (parents, children))
    if a is None or b is None or a == b:
        builder.add_warning(
            f'plugin {said(plugin.value)}: it holds {abbreviate(children[0])} on '
            f'{abbreviate(parents[0])}, which are not both of this model: not read: add it by a '
            'file for annotate')
        return
    name = unused(plugin.value.get('joint', f'{a}={b}'), [each.name for each in builder.closures])
    poses = body_poses(builder.build().joint_list)
    builder.add_closure(name, kind.partition(',')[0], a, b, axis=axis, placement_b=at,
                        placement_a=se3.inverse(poses[a]) @ poses[b] @ at)
    builder.add_warning(f'plugin {said(plugin.value)}: {b} is held on {a} at '
                        f'{at[:3, 3].tolist()} by a {kind}{f" about {list(axis)}" if axis else ""}'
                        ', read as a closure')
