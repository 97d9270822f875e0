# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""URDF, the robot description of ROS, read and written."""

import math
import os
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element as XML, SubElement

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed, require_kind
from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.xml_edits import Edits, Placed
from liedyn_ros.common.xml_reader import Element, is_document, read
from liedyn_ros.model.builder import LOOPS_BESIDE, ModelBuilder, STANDARD_GRAVITY
from liedyn_ros.model.io.loops import add_loops, add_plugins, DYNAMICS_TAGS, link_of, write_loop
from liedyn_ros.model.io.xml_parts import (
    add, add_origin, add_shape, changes, document, drawn, given_limits, inertia_in, is_off, joined,
    model_of_file, MOMENT_TAGS, name_degrees, origin, Remarks, said, shapes_of, unused, Vocabulary,
    write_inertial)
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import Body, SpatialInertia
from liedyn_ros.model.parts.constraints import Closure, Coupling
from liedyn_ros.model.parts.geometry import perpendicular
from liedyn_ros.model.parts.joints import GROUND, Joint

ROOT_JOINT = 'root_joint'
NEWEST_URDF = '1.2'  # version of the format
URDF_WORDS = Vocabulary('urdf')
_LIMITED_TYPES = 'revolute', 'prismatic', 'continuous'

URDF_TYPES = {  # to the types of this package
    'fixed': 'fixed', 'revolute': 'revolute', 'continuous': 'continuous',
    'prismatic': 'prismatic', 'planar': 'planar', 'floating': 'free'}


def load_urdf(
        source: str | os.PathLike[str], *, floating: bool = False, strict: bool = False,
        gravity: ArrayLike = STANDARD_GRAVITY) -> Model:
    """
    Return the model that a URDF file, or a text that starts with '<', describes.

    A joint named root_joint, with underscores behind it where the file has one, holds the root
    link on the ground, or leaves it free if floating. An element virtual_joint, as to_urdf writes
    it, names that joint and says which. Mimic joints become couplings, and elements that others
    close loops with closures. Mass properties that no
    rigid body has are used as they are; strict refuses them. Limits and dynamics are read where
    URDF defines them: not for fixed, planar and floating joints, where dynamics other than zero
    are refused. The attribute version decides as in urdfdom. Whatever else would change the
    dynamics has a DescriptionWarning; elements of xacro are refused.

    Args:
        source: path of the file, or its text.
        floating: whether the root link floats.
        strict: whether mass properties that no rigid body has are refused.
        gravity: acceleration (3,) in the ground; m/s^2.

    Returns:
        the model.

    Raises:
        DescriptionError: naming the file, the element, the expected and the given value.

    >>> load_urdf(config_file('arm.urdf')).nv
    6
    """
    robot = read(source, 'URDF', 'robot')
    for xml in robot.value.iter():
        if xml.tag.startswith('xacro:') or '${' in (name := xml.get('name', '')) or '$(' in name:
            robot.fail('a URDF without elements of xacro (expand it, or name the file .xacro)',
                       xml.tag if ':' in xml.tag else f'{xml.tag} {said(xml)}')
    folder = None if is_document(source) else Path(source).parent
    links = {link.value.get('name', ''): link for link in robot.each('link')}
    return model_of_file(robot, lambda: _model(robot, floating, strict, gravity),
                         lambda body: shapes_of(links[body], folder, origin), links)


def _model(robot: Element, floating: bool, strict: bool, gravity: ArrayLike) -> Model:
    builder, remarks = ModelBuilder(robot.text('name'), gravity), Remarks()
    version = robot.version('1.0', NEWEST_URDF, builder.add_warning)
    early = [] if version >= (1, 1) else [  # which urdfdom ignores, so it is taken out
        each for each in robot.value.iter('origin') if each.attrib.pop('quat_xyzw', None)]
    if early:
        builder.add_warning(f'quat_xyzw of {len(early)} origins ignored, as urdfdom does in URDF '
                            '1.0: write version="1.1" into the element robot')
    links = [link.text('name') for link in robot.each('link')]
    for link in robot.each('link'):
        builder.add_body(link.text('name'), _inertia(link, strict, remarks))
    if not links:
        robot.fail('at least one element link', 'none')
    joints = list(robot.each('joint'))
    followers = _add_couplings(robot, joints, builder, strict)
    children = {_add_joint(joint, builder, followers, version, remarks) for joint in joints}
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        robot.fail('one link that is the child of no joint',
                   listed(roots) if roots else f'none; {LOOPS_BESIDE}')
    virtual, kind = robot.optional('virtual_joint'), 'fixed'
    name = unused(ROOT_JOINT, [joint.text('name') for joint in joints])
    if virtual is not None and virtual.text('child_link') == roots[0]:
        name, kind = virtual.text('name'), virtual.text('type')
        if kind not in ('fixed', 'floating'):
            virtual.fail('a type of fixed or floating', kind)
    builder.add_joint(name, 'free' if floating else URDF_TYPES[kind], None, roots[0])
    add_loops(robot, builder, links)
    add_plugins([plugin for gazebo in robot.each('gazebo') for plugin in gazebo.each('plugin')],
                builder, links, robot.text('name'), mimics=[
                    joint.get('name', '') for joint in robot.value.findall('joint[mimic]')])
    name_degrees('link', robot.each('link'), remarks)
    name_degrees('joint', joints, remarks)
    builder.add_warning(*remarks, *URDF_WORDS.unread(robot.value))
    return builder.build()


def _inertia(link: Element, strict: bool, remarks: Remarks) -> SpatialInertia | None:
    """Return the inertia of a link, None for one without mass and moments."""
    inertial = link.optional('inertial')
    if inertial is None:
        return None
    mass = inertial.take('mass').number('value')
    inertia = inertial.take('inertia')
    moments = [inertia.number(name) for name in MOMENT_TAGS]
    if not mass and not any(moments):
        return None
    return inertia_in(inertial, link.text('name'), mass, moments, origin(inertial), strict,
                      remarks)


def _add_couplings(robot: Element, joints: list[Element], builder: ModelBuilder, strict: bool
                   ) -> set[str]:
    """Add the couplings of mimic joints, return their names; fixed ones have none to couple."""
    types = {joint.text('name'): joint.text('type') for joint in joints}
    followers = []
    _take_mimics_of_control(robot, joints, builder)
    for joint in joints:
        follows = joint.optional('mimic')
        if follows is None or joint.text('type') == 'fixed':
            continue
        name, leader = joint.text('name'), follows.text('joint')
        if types.get(leader) in ('fixed', 'planar', 'floating'):
            builder.add_warning(f'joint {name}: it mimics {leader}, which is {types[leader]}; it '
                                'moves by itself here: make it fixed too, turned by its offset, '
                                'or add a coupling to one coordinate by a file for annotate')
        elif leader in types:
            builder.add_coupling(name, leader, follows.number('multiplier', 1.0),
                                 follows.number('offset', 0.0))
            followers.append(name)
        elif strict:
            follows.fail('a joint of the robot', repr(leader))
        else:
            builder.add_warning(f'joint {name}: it mimics {leader}, which is not in the file; it '
                                'moves by itself (strict refuses it)')
    return set(followers)


def _take_mimics_of_control(robot: Element, joints: list[Element], builder: ModelBuilder) -> None:
    """
    Give joints the element mimic that parameters of ros2_control have.

    Its attribute mimic has a warning where the joint itself says another thing.
    """
    own = {joint.text('name'): joint.value for joint in joints}
    for joint in (each for control in robot.each('ros2_control')
                  for each in control.each('joint') if each.value.get('name') in own):
        name, says = joint.text('name'), joint.value.get('mimic', '')
        given = {each.get('name', ''): (each.text or '').strip()
                 for each in joint.value.findall('param')}
        coupled = own[name].find('mimic') is not None
        if says and (coupled or 'mimic' in given) == is_off(says):
            what = ('follows another joint by its own element mimic' if coupled else
                    'moves by itself, as it has no element mimic: write one')
            builder.add_warning(f'joint {name}: mimic {abbreviate(says)} of ros2_control not '
                                f'read: it {what}')
        if 'mimic' in given and not coupled:
            SubElement(own[name], 'mimic', {'joint': given['mimic']} | {
                key: given[key] for key in ('multiplier', 'offset') if key in given})


def _add_joint(joint: Element, builder: ModelBuilder, followers: set[str],
               version: tuple[int, ...], remarks: Remarks) -> str:
    """Add a joint and return its child link."""
    name, urdf_type = joint.text('name'), joint.text('type')
    if urdf_type not in URDF_TYPES:
        joint.fail(f'a type of {list(URDF_TYPES)}', urdf_type)
    axis = joint.optional('axis')
    has_axis = urdf_type not in ('fixed', 'floating')
    child = joint.take('child').text('link')
    dynamics = None if urdf_type == 'fixed' else joint.optional('dynamics')
    forces = {} if dynamics is None else {
        key: value for key in DYNAMICS_TAGS if (value := dynamics.number(key, 0.0))}
    if dynamics is not None and forces and urdf_type in ('planar', 'floating'):
        dynamics.fail(f'no {" and ".join(forces)} for type {urdf_type}', str(forces))
    builder.add_joint(
        name, URDF_TYPES[urdf_type], joint.take('parent').text('link'), child,
        placement=origin(joint),
        axis=((1.0, 0.0, 0.0) if axis is None else axis.numbers('xyz', 3)) if has_axis else None,
        limits=_limits(joint, urdf_type, version, remarks), **forces,
        actuated=urdf_type != 'floating' and name not in followers
        and joint.value.get('independent', '').lower() != 'false')
    return child


def _limits(joint: Element, urdf_type: str, version: tuple[int, ...], remarks: Remarks
            ) -> dict[str, float]:
    limit = joint.optional('limit')
    if urdf_type not in _LIMITED_TYPES or (limit is None and urdf_type == 'continuous'):
        if limit is not None and urdf_type != 'fixed':
            remarks.add('joint', f'limit not read, which a {urdf_type} joint has not',
                        joint.text('name'))
        return {}
    if limit is None:
        joint.fail(f'an element limit for type {urdf_type}', 'none')
    lower, upper, most = (
        -math.inf, math.inf, math.inf) if version >= (1, 2) else (0.0, 0.0, None)
    bounds = {key: limit.number(key, default, infinite=True) for key, default in (
        ('lower', lower), ('upper', upper), ('velocity', most), ('effort', most),
        ('acceleration', math.inf), ('deceleration', math.inf), ('jerk', math.inf))}
    bounds['acceleration'] = min(bounds['acceleration'], bounds.pop('deceleration'))
    return given_limits(joint.text('name'), bounds, remarks, urdf_type == 'continuous')


_TYPES = {ours: theirs for theirs, ours in URDF_TYPES.items()}
_NO_LIMIT = 1e308  # URDF has no infinity


def to_urdf(model: Model) -> str:
    """
    Return a model as the text of a URDF, with simple visuals.

    A single root that is free, or fixed at the origin, becomes the root link, and an element
    virtual_joint says which. Otherwise there is a root link world. Frames become links without
    mass, closures elements loop, as URDF+ has them. Gravity, rotors, and limits and forces of
    planar and floating joints are left out; couplings to several leaders, or of a joint's
    coordinate, with a DescriptionWarning.

    Args:
        model: a Model.

    Returns:
        text of XML.

    Raises:
        DescriptionError: for joints that URDF lacks, and closures between the ground and a base
            that floats.
        LiedynError: for anything but a Model.

    >>> ld.to_urdf(model).startswith('<')
    True
    """
    require_kind('model', model, Model, 'as load_model returns')
    robot = XML('robot', name=model.name)
    roots = [joint for joint in model.joint_list if joint.parent is None]
    grounded = len(roots) > 1 or roots[0].type_name not in ('free', 'fixed') or (
        roots[0].placement != np.eye(4)).any()
    if grounded:
        if GROUND in model.bodies:
            raise DescriptionError(f'expected no body {GROUND}, the root link in URDF, got one')
        add(robot, 'link', name=GROUND)
    for body in model.body_list:
        _write_link(robot, model, body)
    couplings = {each.joint: each for each in model.couplings if not each.further
                 and {each.joint, each.leader} <= set(model.joints)}
    lost = Remarks()
    lost.add('joint', 'couplings not written: URDF couples one joint to one other', *(
        each.joint for each in model.couplings if couplings.get(each.joint) is not each))
    lost.warn(model.name)
    for joint in (each for each in model.joint_list if grounded or each.parent is not None):
        element = _write_joint(robot, joint, couplings.get(joint.name))
        if model.closures and not joint.actuated and joint.type_name != 'free':
            element.set('independent', 'false')
    ground = GROUND if grounded else None if roots[0].type_name == 'free' else roots[0].child
    for closure in model.closures:
        loop = add(robot, 'loop', name=closure.name, type=closure.type_name)
        for side, on in (('predecessor', closure.body_a), ('successor', closure.body_b)):
            add(loop, side, link=link_of(f'closure {closure.name}', on, ground))
        write_loop(loop, closure)
    for frame in model.frame_list:
        parent = link_of(f'frame {frame.name}', frame.body, ground)
        add(robot, 'link', name=frame.name)
        _start_joint(robot, f'{frame.name}_frame', 'fixed', frame.placement, parent, frame.name)
    if not grounded:  # other URDF readers ignore this element
        add(robot, 'virtual_joint', name=roots[0].name, type=_TYPES[roots[0].type_name],
                   parent_frame=GROUND, child_link=roots[0].child)
    return document(robot)


def _write_link(robot: XML, model: Model, body: Body) -> None:
    """Write a body, with its inertia and visuals."""
    link = add(robot, 'link', name=body.name)
    if body.inertia is not None:
        write_inertial(link, body.inertia)
    for i, (placement, visual) in enumerate(drawn(model, body)):
        element = add(link, 'visual')
        add_origin(element, placement)
        add_shape(element, visual, nested=False)
        # A material's name is global: a unique name keeps each colour.
        add(add(element, 'material', name=f'{body.name}_{i}'), 'color', rgba=visual.color)


def _start_joint(robot: XML, name: str, kind: str, placement: Array, parent: str, child: str
                 ) -> XML:
    element = add(robot, 'joint', name=name, type=kind)
    add_origin(element, placement)
    add(element, 'parent', link=parent)
    add(element, 'child', link=child)
    return element


def _write_joint(robot: XML, joint: Joint, coupling: Coupling | None) -> XML:
    if joint.type_name not in _TYPES:
        raise DescriptionError(f'joint {joint.name}: expected one of the types of URDF, '
                               f'{list(_TYPES)}, got {joint.type_name}')
    element = _start_joint(robot, joint.name, _TYPES[joint.type_name], joint.placement,
                           joint.parent or GROUND, joint.child)
    if joint.type_name in ('fixed', 'free'):
        return element
    add(element, 'axis', xyz=joint.axis)
    if joint.type_name == 'planar':
        if not np.allclose(joint.second_axis, perpendicular(joint.axis), rtol=0.0, atol=1e-12):
            raise DescriptionError(f'joint {joint.name}: expected the default second axis, the '
                                   f'only one URDF has, got {joint.second_axis}')
        return element
    needed = (() if joint.type_name == 'continuous' else ('lower', 'upper')) + (
        'effort', 'velocity')
    add(element, 'limit', **{
        key: np.clip(value, -_NO_LIMIT, _NO_LIMIT) for key in (*needed, 'acceleration', 'jerk')
        if np.isfinite(value := getattr(joint.limits, key)[0]) or key in needed})
    add(element, 'dynamics', **{
        key: value for key in DYNAMICS_TAGS
        if (value := float(getattr(joint, key)[0])) or key in ('damping', 'friction')})
    if coupling is not None:
        add(element, 'mimic', joint=coupling.leader, multiplier=coupling.multiplier,
            offset=coupling.offset)
    return element


_ELEMENT_TAGS = {'bodies': 'link', 'joints': 'joint', 'closures': 'loop'}


def updated_urdf(text: str, before: Model, after: Model) -> str:
    """
    Return the text of a URDF with what differs between two models of it.

    That is masses, centres and inertias of links, placements of joints, their forces in RECORDED,
    and frames of loops. All else stays as it was written, comments too.

    Args:
        text: the URDF.
        before: the model of the text.
        after: the model that it is to describe.

    Returns:
        the text.

    Raises:
        DescriptionError: for links, joints and loops that the text does not have, and for joints
            of several coordinates.

    >>> text = config_file('arm.urdf').read_text()
    >>> heavy = scale_masses(model, 2.0)
    >>> new = load_urdf(updated_urdf(text, model, heavy))
    >>> new.body('forearm').inertia.mass == heavy.body('forearm').inertia.mass
    True
    """
    edits = Edits(text, sum(1 for _ in read(text, 'URDF').value.iter()))
    for kind, part, new in changes(before, after):
        found = edits.root.find(_ELEMENT_TAGS[kind], part.name)
        if found is None:
            raise DescriptionError(f'URDF: expected a {_ELEMENT_TAGS[kind]} {part.name}, got none')
        if kind == 'bodies':
            element = XML('link')
            write_inertial(element, part.inertia)
            old = found.find('inertial')
            for each in element if old is None else element[0]:
                edits.put(old or found, each)
        elif kind == 'closures':
            _update_loop(edits, found, part)
        else:
            _update_joint(edits, found, part, new)
    return str(edits)


def _update_joint(edits: Edits, found: Placed, joint: Joint, new: dict[str, Any]) -> None:
    if 'placement' in new:
        element = XML('joint')
        add_origin(element, new.pop('placement'))
        edits.put(found, element[0])
    if any(len(values) != 1 for values in new.values()):
        raise DescriptionError(f'joint {joint.name}: expected one coordinate, as URDF has forces '
                               f'for, got {len(joint.damping)}')
    if new:
        edits.write(found, 'dynamics', {key: joined(values) for key, values in new.items()})


def _update_loop(edits: Edits, found: Placed, closure: Closure) -> None:
    element = XML('loop')
    write_loop(element, closure)
    for each in element[:2]:
        side = found.find(each.tag)
        if side is None:
            raise DescriptionError(f'loop {closure.name}: expected a {each.tag}, got none')
        edits.put(side, each[0])
    for each in element[2:]:
        edits.put(found, each)
    edits.update(found, element.attrib)
    for axis in [each for each in found.parts if each.tag == 'axis'][len(element[2:]):]:
        edits.remove(axis)
