# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model written as SDF, so that Gazebo can simulate it."""

from collections.abc import Sequence
from itertools import count
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.configuration import body_poses, children_of
from liedyn_ros.model.io.xml_parts import (
    add, add_shape, document, drawn, moments_of, Remarks)
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import Body
from liedyn_ros.model.parts.constraints import Closure
from liedyn_ros.model.parts.joints import GROUND, Joint, JOINT_TYPES

SDF_TYPES = {  # to the types of this package
    'revolute': 'revolute', 'continuous': 'continuous', 'prismatic': 'prismatic',
    'fixed': 'fixed', 'ball': 'spherical', 'universal': 'universal', 'revolute2': 'universal',
    'screw': 'helical'}
_TYPES = {ours: theirs for theirs, ours in SDF_TYPES.items() if theirs != 'revolute2'}
_CLOSURES = {**_TYPES, 'weld': 'fixed'}
_LIMIT_TAGS = 'lower', 'upper'
DYNAMICS_OF_SDF = {'damping': 'damping', 'friction': 'friction', 'stiffness': 'spring_stiffness',
                   'rest': 'spring_reference'}
_MAX_GAP = 1e-6  # m and rad, by which a closure may be open where a model is drawn


def to_sdf(model: Model, q: ArrayLike | None = None) -> str:
    """
    Return a model as the text of an SDF world with its gravity, and with simple visuals.

    Links are drawn at q (nq,), by default at zero of the model, where SDF's joints are at zero.
    Closures become joints that hold a link for the second time, so q must close them: give what
    assemble returns. A body without mass that does not move becomes a frame. One that moves a body
    fixed to it becomes the place of its joint; where it floats, the coordinates are the pose of
    that body. What SDF lacks is left out, all but motors with a DescriptionWarning.

    Args:
        model: a Model.
        q: configuration (nq,) that links are drawn at, which closes the loops; by default zero.

    Returns:
        the text.

    Raises:
        DescriptionError: for joints and closures that SDF lacks, closures that q leaves open and
            other moving bodies without mass.
        LiedynError: for a wrong q, and for anything but a Model.

    >>> '<sdf version=' in to_sdf(model)
    True
    """
    require_kind('model', model, Model, 'as load_model returns')
    q = model.check_configuration(model.neutral() if q is None else q)
    root = Element('sdf', version='1.11')
    world = add(root, 'world', name='world')
    add(world, 'gravity', model.gravity)
    lost = Remarks()
    _Writer(add(world, 'model', name=model.name), model, q, lost).write()
    lost.add('joint', 'couplings to several leaders not written: SDF has none', *(
        each.joint for each in model.couplings if each.further))
    for joint in model.joint_list:
        for key in ('armature', 'stop_stiffness', *(
                ('damping', 'friction') if joint.type_name in ('spherical', 'free') else ())):
            if getattr(joint, key).any():
                lost.add('joint', f'{key} not written: SDF has none', joint.name)
    lost.add('rotor', 'not written: SDF has none', *(rotor.name for rotor in model.rotors))
    names = [str(each.get('name')) for each in root.iter() if each.tag != 'visual']
    text, between, one = document(root), '__', '\n'.join(names)
    if any(each in one for each in ('__', '_::', '::_')):  # so that no two names become one
        between = f'_{"-" * next(k for k in count(1) if "-" * k not in one)}_'
    lost.add('name', f'written with {between}: SDF keeps ::', *(n for n in names if '::' in n))
    lost.warn(model.name)
    return text.replace('::', between)


class _Writer:
    """Writes a model, drawn at q, into an element."""

    def __init__(self, element: Element, model: Model, q: Array, lost: Remarks) -> None:
        self._element, self._model, self._q, self._lost = element, model, q, lost
        self._joint_names = {each.name: each.name for each in model.joint_list}
        self._poses, self._places = body_poses(model.joint_list, q), _places(model)
        self._zeros = {  # of the model's coordinates, where SDF's are at zero
            name: float(q[each.qi + k]) for each in model.joint_list
            if JOINT_TYPES[each.type_name].nq == JOINT_TYPES[each.type_name].nv
            for k, name in enumerate(each.coordinate_names)}

    def write(self) -> None:
        for body in self._model.body_list:
            place = self._places[body.name]
            if place == body.name:
                self._add_link(body)
            elif body.inertia is None and place is not None:
                self._add_frame(body.name, place, se3.inverse(
                    self._poses[place]) @ self._poses[body.name])
        self._joint_names = {name: self._free('joint', name) for name in self._joint_names}
        for joint in self._model.joint_list:
            self._add_joint(joint)
        for frame in self._model.frame_list:
            self._add_frame(self._free('frame', frame.name), frame.body, frame.placement)
        for closure in self._model.closures:
            self._add_closure(closure)

    def _free(self, kind: str, name: str) -> str:
        """Return a name that nothing else has: parts of a model of SDF share their names."""
        taken = {each.get('name') for each in self._element}
        if name not in taken:
            return name
        new = f'{name}_{kind}'
        while new in taken or new in self._joint_names:
            new += '_'
        self._lost.add(kind, 'named anew, as SDF has one name for each link, joint and frame',
                       f'{name}, now {new}')
        return new

    def _add_frame(self, name: str, body: str | None, placement: Array) -> None:
        on = body or GROUND
        add_pose(add(self._element, 'frame', name=name, attached_to=on), placement, on)

    def _add_link(self, body: Body) -> None:
        if body.name == GROUND:
            raise DescriptionError(f'expected no body {GROUND}, the ground of SDF, got one')
        link = add(self._element, 'link', name=body.name)
        add_pose(link, self._poses[body.name])
        if body.inertia is not None:
            inertial = add(link, 'inertial')
            add(inertial, 'pose', (*body.inertia.center_of_mass, 0.0, 0.0, 0.0))
            add(inertial, 'mass', body.inertia.mass)
            add(inertial, 'inertia', moments_of(body.inertia))
        for i, (placement, each) in enumerate(drawn(self._model, body)):
            visual = add(link, 'visual', name=f'{body.name}_{i}')
            add_pose(visual, placement)
            add_shape(visual, each, nested=True)
            add(add(visual, 'material'), 'diffuse', each.color)

    def _start(self, name: str, kind: str, ends: Sequence[str | None], pitch: float) -> Element:
        element = add(self._element, 'joint', {
            'parent': ends[0] or GROUND, 'child': ends[1] or GROUND},
            name=name, type=_CLOSURES[kind])
        if kind == 'helical':
            add(element, 'screw_thread_pitch', 2.0 * np.pi * pitch)
        return element

    def _add_joint(self, joint: Joint) -> None:
        """Add a joint; none for a base that floats, or between parts of one link."""
        kind = joint.type_name
        parent, child = self._places[joint.parent], self._places[joint.child]
        if parent == child or (kind == 'free' and joint.parent is None):
            return
        if kind not in _TYPES:
            raise DescriptionError(f'joint {joint.name}: expected one of the types of SDF, '
                                   f'{list(_TYPES)}, got {kind}')
        element = self._start(self._joint_names[joint.name], kind, (parent, child), joint.pitch)
        if child != joint.child:
            add_pose(element, se3.inverse(self._poses[child]) @ self._poses[joint.child], child)
        if not JOINT_TYPES[kind].has_axis:
            return
        axes = [joint.axis]
        if kind == 'universal':  # the second turns with the body, as the first does not
            first = joint.motion(self._q[joint.q_slice])[:3, :3].T @ joint.axis
            axes = [first - (first @ joint.second_axis) * joint.second_axis, joint.second_axis]
        for i, (axis, name) in enumerate(zip(axes, joint.coordinate_names)):
            part = add(element, 'axis2' if i else 'axis')
            add(part, 'xyz', axis)
            zero = self._zeros[name]
            for each in self._model.couplings:
                if each.joint == name and not each.further:
                    leader, _, coordinate = each.leader.partition('/')
                    add(part, 'mimic', {
                        'multiplier': each.multiplier, 'reference': 0.0, 'offset':
                        each.offset + each.multiplier * self._zeros[each.leader] - zero},
                        joint=self._joint_names[leader],
                        axis='axis2' if coordinate == 'second' else 'axis')
            add(part, 'limit', {
                bound: getattr(joint.limits, bound)[i] - (zero if bound in _LIMIT_TAGS else 0.0)
                for bound in (*_LIMIT_TAGS, 'velocity', 'effort')})
            forces = {theirs: getattr(joint, ours)[i] for ours, theirs in DYNAMICS_OF_SDF.items()}
            forces['spring_reference'] -= zero if forces['spring_stiffness'] else 0.0
            add(part, 'dynamics', forces)

    def _add_closure(self, closure: Closure) -> None:
        """Add a closure as a joint that holds body b, which is on body a already."""
        name, kind = closure.name, closure.type_name
        if kind not in _CLOSURES:
            raise DescriptionError(f'closure {name}: expected one of the types of SDF, '
                                   f'{list(_CLOSURES)}, got {kind}')
        ends = [(closure.body_a, closure.frame_a, 0), (closure.body_b, closure.frame_b, 1)]
        if closure.body_b is None:  # a joint of SDF has a child
            ends.reverse()
        (parent, frame_p, axis_p), (child, frame_c, axis_c) = ends
        at = self._poses[child] @ frame_c
        between = se3.inverse(at) @ self._poses[parent] @ frame_p
        link = self._places[child]
        if link is None or not _coincide(kind, between, axis_p, axis_c):
            raise DescriptionError(
                f'closure {name}: expected links drawn where it is closed, as a joint of SDF has '
                'one frame (give q, as assemble returns it), got '
                f'{between[:3, 3].tolist()} m apart')
        name, links = self._free('closure', name), (self._places[parent], link)
        element = self._start(name, kind, links, closure.pitch)
        add_pose(element, se3.inverse(self._poses[link]) @ at, link)
        axes: dict[str, Sequence[Array]] = {
            'weld': (), 'spherical': (), 'universal': (between[:3, axis_p], np.eye(3)[axis_c])}
        for tag, axis in zip(('axis', 'axis2'), axes.get(kind, np.eye(3)[2:])):
            add(add(element, tag), 'xyz', axis)


def _places(model: Model) -> dict[str | None, str | None]:
    """Return the link that a body is part of in SDF: itself, or another; None for the ground."""
    places: dict[str | None, str | None] = {None: None}
    after = children_of(model.joint_list)
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


def add_pose(element: Element, placement: Array, relative_to: str | None = None) -> None:
    """Add a pose (4, 4) of an element, in a frame."""
    add(element, 'pose', (*placement[:3, 3], *so3.to_quaternion(placement[:3, :3])),
        rotation_format='quat_xyzw', **({'relative_to': relative_to} if relative_to else {}))


def _coincide(kind: str, between: Array, axis_p: int, axis_c: int) -> bool:
    """Return whether a closure is closed: frames of both bodies agree but for what it frees."""
    point, turn = between[:3, 3], between[:3, :3]
    if kind in ('prismatic', 'helical'):
        point = point[:2]
    held = {'weld': turn - np.eye(3), 'prismatic': turn - np.eye(3), 'spherical': np.zeros(1),
            'universal': turn[axis_c, axis_p]}.get(kind, turn[:, 2] - np.eye(3)[2])
    return bool((abs(point) <= _MAX_GAP).all() and (abs(held) <= _MAX_GAP).all())
