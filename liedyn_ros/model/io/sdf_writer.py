# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model written as SDF, so that Gazebo can simulate it."""

from __future__ import annotations

from collections.abc import Sequence
import warnings
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed, require_kind
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.io.sdf.frames import CLOSURES, TYPES
from liedyn_ros.model.io.xml_parts import joined
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.constraints import Closure
from liedyn_ros.model.parts.geometry import IDENTITY
from liedyn_ros.model.parts.joints import GROUND, Joint, JOINT_TYPES

_TYPES = {ours: theirs for theirs, ours in TYPES.items() if theirs != 'revolute2'}
_CLOSURES = {**_TYPES, **{ours: theirs for theirs, ours in CLOSURES.items()},
             'revolute': 'revolute'}
_SIZES = {'box': ('size',), 'cylinder': ('radius', 'length'), 'sphere': ('radius',)}
_FORCES = {'damping': 'damping', 'friction': 'friction', 'stiffness': 'spring_stiffness',
           'rest': 'spring_reference'}
_GAP = 1e-6  # m and rad, by which a closure may be open where a model is drawn


def to_sdf(model: Model, q: ArrayLike | None = None) -> str:
    """
    Return a model as the text of an SDF world with its gravity, and with simple visuals.

    In SDF all joints are at zero where the links are drawn. They are drawn at q (nq,), by default
    at zero of the model; limits, springs and couplings are moved by it. Closures become joints
    that hold a link for the second time, so q must close them: give what assemble returns. A body
    without mass that does not move becomes a frame. One that moves a body fixed to it becomes the
    place of its joint. Motors, rotors, and couplings to several leaders, which SDF lacks, are left
    out, the last two and armatures and end stops with a DescriptionWarning.

    Example: `Path('arm.sdf').write_text(to_sdf(load_model('arm.urdf')))`.

    Raises DescriptionError for cylindrical and planar joints, free joints on a body, and other
    moving bodies without mass. So it does for closures that SDF lacks or q leaves open. Raises
    ShapeError,
    NotFiniteError or NotInGroupError for q, and LiedynError for anything but a Model.
    """
    require_kind('model', model, Model, 'as load_model returns')
    q = model.check_configuration(model.neutral() if q is None else q)
    root = Element('sdf', version='1.11')
    world = SubElement(root, 'world', name='world')
    SubElement(world, 'gravity').text = joined(model.gravity)
    element = SubElement(world, 'model', name=model.name)
    poses: dict[str | None, Array] = {None: IDENTITY}
    for joint in model.joint_list:
        poses[joint.child] = se3.compose(poses[joint.parent], se3.compose(
            joint.placement, joint.motion(q[joint.q_slice])))
    places = _places(model)
    for body in model.body_list:
        if places[body.name] == body.name:
            _add_link(element, model, body.name, poses)
        elif body.inertia is None and places[body.name] is not None:
            _add_frame(element, body.name, places[body.name], se3.compose(
                se3.inverse(poses[places[body.name]]), poses[body.name]))
    for joint in model.joint_list:
        _add_joint(element, model, joint, poses, places, q)
    for frame in model.frame_list:
        _add_frame(element, frame.name, frame.body, frame.placement)
    for closure in model.closures:
        _add_closure(element, closure, poses, places)
    lost = {'couplings to several leaders': [each.joint for each in model.couplings
                                             if each.further],
            **{name: [joint.name for joint in model.joint_list if getattr(joint, name).any()]
               for name in ('armature', 'stop_stiffness')},
            'damping and friction': [joint.name for joint in model.joint_list
                                     if joint.type_name in ('spherical', 'free')
                                     and (joint.damping.any() or joint.friction.any())],
            'rotors': [rotor.name for rotor in model.rotors]}
    for what, names in lost.items():
        if names:
            warnings.warn(f'{model.name}: {what} of {listed(names)} not written: SDF has none',
                          DescriptionWarning, stacklevel=2)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode')


def _places(model: Model) -> dict[str | None, str | None]:
    """Return the link that a body is part of in SDF: itself, or another; None for the ground."""
    places: dict[str | None, str | None] = {None: None}
    after: dict[str | None, list[Joint]] = {}
    for joint in model.joint_list:
        after.setdefault(joint.parent, []).append(joint)
    for joint, body in zip(model.joint_list, model.body_list):
        if body.inertia is not None:
            places[body.name] = body.name
        elif joint.type_name == 'fixed':
            places[body.name] = places[joint.parent]
        else:
            held = [each.child for each in after.get(body.name, []) if each.type_name == 'fixed'
                    and model.body(each.child).inertia is not None]
            if len(held) != 1:
                raise DescriptionError(f'body {body.name}: expected mass in all that moves, as '
                                       'Gazebo asks for, got none')
            places[body.name] = held[0]
    return places


def _add_pose(element: Element, placement: Array, relative_to: str | None) -> None:
    pose = SubElement(element, 'pose', rotation_format='quat_xyzw')
    if relative_to is not None:
        pose.set('relative_to', relative_to)
    pose.text = joined((*placement[:3, 3], *so3.to_quaternion(placement[:3, :3])))


def _add_frame(model: Element, name: str, body: str | None, placement: Array) -> None:
    frame = SubElement(model, 'frame', name=name, attached_to=GROUND if body is None else body)
    _add_pose(frame, placement, GROUND if body is None else body)


def _add_link(model: Element, whole: Model, name: str, poses: dict[str | None, Array]) -> None:
    if name == GROUND:
        raise DescriptionError(f'expected no body {GROUND} with mass, the ground in SDF, got one')
    link, body = SubElement(model, 'link', name=name), whole.body(name)
    _add_pose(link, poses[name], None)
    if body.inertia is not None:
        inertial = SubElement(link, 'inertial')
        SubElement(inertial, 'pose').text = joined((*body.inertia.center_of_mass, 0.0, 0.0, 0.0))
        SubElement(inertial, 'mass').text = repr(float(body.inertia.mass))
        inertia = SubElement(inertial, 'inertia')
        for i, j in zip(*np.triu_indices(3)):
            SubElement(inertia, f'i{"xyz"[i]}{"xyz"[j]}').text = repr(
                float(body.inertia.inertia_about_com[i, j]))
    for i, each in enumerate(body.visuals):
        visual = SubElement(link, 'visual', name=f'{name}_{i}')
        _add_pose(visual, each.placement, None)
        shape = SubElement(SubElement(visual, 'geometry'), each.shape)
        sizes = [each.size] if each.shape == 'box' else each.size.reshape(-1, 1)
        for tag, size in zip(_SIZES[each.shape], sizes):
            SubElement(shape, tag).text = joined(size)
        SubElement(SubElement(visual, 'material'), 'diffuse').text = joined(each.color)


def _add_joint(model: Element, whole: Model, joint: Joint, poses: dict[str | None, Array],
               places: dict[str | None, str | None], q: Array) -> None:
    """Add a joint, its zero at q; none for a base that floats, or between parts of one link."""
    kind, spec = joint.type_name, JOINT_TYPES[joint.type_name]
    parent, child = places[joint.parent], places[joint.child]
    if kind == 'free' and joint.parent is None:
        return
    if parent == child:
        return
    if kind not in _TYPES:
        raise DescriptionError(f'joint {joint.name}: expected one of the types of SDF, '
                               f'{list(_TYPES)}, got {kind}')
    element = SubElement(model, 'joint', name=joint.name, type=_TYPES[kind])
    SubElement(element, 'parent').text = GROUND if parent is None else parent
    SubElement(element, 'child').text = child
    if child != joint.child:
        _add_pose(element, se3.compose(se3.inverse(poses[child]), poses[joint.child]), child)
    if not spec.has_axis:
        return
    if kind == 'helical':
        SubElement(element, 'screw_thread_pitch').text = repr(2.0 * np.pi * joint.pitch)
    turn = joint.motion(q[joint.q_slice])[:3, :3].T
    axes = [turn @ joint.axis] if kind == 'universal' else [joint.axis]
    if kind == 'universal':  # the second turns with the body, as the first does not
        axes.append(joint.second_axis)
        axes[0] = axes[0] - (axes[0] @ axes[1]) * axes[1]
    zero = {
        name: float(q[each.qi + k]) for each in whole.joint_list
        if JOINT_TYPES[each.type_name].nq == JOINT_TYPES[each.type_name].nv
        for k, name in enumerate(each.coordinate_names)}
    for i, (axis, name) in enumerate(zip(axes, joint.coordinate_names)):
        part = SubElement(element, 'axis2' if i else 'axis')
        SubElement(part, 'xyz').text = joined(axis)
        _add_mimic(part, whole, name, zero)
        limit = SubElement(part, 'limit')
        for bound in ('lower', 'upper', 'velocity', 'effort'):
            value = float(getattr(joint.limits, bound)[i])
            value -= zero[name] if bound in ('lower', 'upper') else 0.0
            SubElement(limit, bound).text = repr(value)
        forces = {theirs: float(getattr(joint, ours)[i]) for ours, theirs in _FORCES.items()}
        forces['spring_reference'] -= zero[name] if forces['spring_stiffness'] else 0.0
        dynamics = SubElement(part, 'dynamics')
        for tag, value in forces.items():
            SubElement(dynamics, tag).text = repr(value)


def _add_mimic(axis: Element, model: Model, name: str, zero: dict[str, float]) -> None:
    """Add the coupling of a coordinate to one other."""
    for each in model.couplings:
        if each.joint == name and not each.further:
            leader, _, coordinate = each.leader.partition('/')
            mimic = SubElement(axis, 'mimic', joint=leader)
            if coordinate == 'second':
                mimic.set('axis', 'axis2')
            offset = each.offset + each.multiplier * zero[each.leader] - zero[name]
            for tag, value in (('multiplier', each.multiplier), ('offset', offset),
                               ('reference', 0.0)):
                SubElement(mimic, tag).text = repr(float(value))


def _add_closure(model: Element, closure: Closure, poses: dict[str | None, Array],
                 places: dict[str | None, str | None]) -> None:
    """Add a closure as a joint that holds body b, which is on body a already."""
    name, kind = closure.name, closure.type_name
    if kind not in _CLOSURES:
        raise DescriptionError(f'closure {name}: expected one of the types of SDF, '
                               f'{list(_CLOSURES)}, got {kind}')
    ends = [(closure.body_a, closure.frame_a, 0), (closure.body_b, closure.frame_b, 1)]
    if closure.body_b is None:  # a joint of SDF has a child
        ends.reverse()
    (parent, frame_p, axis_p), (child, frame_c, axis_c) = ends
    at = se3.compose(poses[child], frame_c)
    between = se3.compose(se3.inverse(at), se3.compose(poses[parent], frame_p))
    link = places[child]
    if link is None or not _coincide(kind, between, axis_p, axis_c):
        raise DescriptionError(
            f'closure {name}: expected links drawn where it is closed, as a joint of SDF has one '
            f'frame (give q, as assemble returns it), got {between[:3, 3].tolist()} m apart')
    used = {each.get('name') for each in model}
    while name in used:
        name += '_closure'
    element = SubElement(model, 'joint', name=name, type=_CLOSURES[kind])
    SubElement(element, 'parent').text = GROUND if parent is None else places[parent]
    SubElement(element, 'child').text = link
    _add_pose(element, se3.compose(se3.inverse(poses[link]), at), link)
    if kind == 'helical':
        SubElement(element, 'screw_thread_pitch').text = repr(2.0 * np.pi * closure.pitch)
    axes: dict[str, Sequence[Array]] = {
        'weld': (), 'spherical': (), 'universal': (between[:3, axis_p], np.eye(3)[axis_c])}
    for tag, axis in zip(('axis', 'axis2'), axes.get(kind, np.eye(3)[2:])):
        SubElement(SubElement(element, tag), 'xyz').text = joined(axis)


def _coincide(kind: str, between: Array, axis_p: int, axis_c: int) -> bool:
    """Return whether a closure is closed: frames of both bodies agree but for what it frees."""
    point, turn = between[:3, 3], between[:3, :3]
    if kind in ('prismatic', 'helical'):
        point = point[:2]
    held = {'weld': turn - np.eye(3), 'prismatic': turn - np.eye(3), 'spherical': np.zeros(1),
            'universal': turn[axis_c, axis_p]}.get(kind, turn[:, 2] - np.eye(3)[2])
    return bool((abs(point) <= _GAP).all() and (abs(held) <= _GAP).all())
