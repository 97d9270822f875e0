# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parts of a model, checked: axes, limits, names, a tree; and as another takes them in."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed, unknown_name
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model.configuration import children_of
from liedyn_ros.model.parts.body import Body, Frame
from liedyn_ros.model.parts.constraints import Closure, Coupling
from liedyn_ros.model.parts.geometry import checked_pose, perpendicular, unit_axis
from liedyn_ros.model.parts.joints import Joint, JOINT_TYPES, Limits
from liedyn_ros.model.parts.rotors import Rotor

_PERPENDICULAR = 1e-9
_BOUNDS = [field.name for field in fields(Limits)]
Z_AXIS = unit_axis('z', (0.0, 0.0, 1.0))
X_AXIS = perpendicular(Z_AXIS)


def joint_axes(name: str, type_name: str, axis: ArrayLike | None,
               second_axis: ArrayLike | None) -> tuple[Array, Array]:
    """Return the z and x axes of the frame in which the elementary links are laid."""
    spec = JOINT_TYPES[type_name]
    if (axis is not None) != spec.has_axis:
        raise ModelError(f'joint {name}: expected {"an" if spec.has_axis else "no"} axis for type '
                         f'{type_name}, got {axis!r}')
    if second_axis is not None and not spec.has_second_axis:
        raise ModelError(
            f'joint {name}: expected no second axis for type {type_name}, got {second_axis!r}')
    if second_axis is None and type_name == 'universal':
        raise ModelError(f'joint {name}: expected a second axis for type {type_name}, got none')
    if axis is None:
        return Z_AXIS, X_AXIS
    z = unit_axis(f'joint {name}: axis', axis)
    if second_axis is None:
        return z, perpendicular(z)
    x = unit_axis(f'joint {name}: second axis', second_axis)
    if abs(z @ x) > _PERPENDICULAR:
        raise ModelError(f'joint {name}: expected perpendicular axes, got {z} and {x}')
    return z, unit_axis(f'joint {name}: second axis', x - (z @ x) * z)


def axis_names(joint: Joint) -> tuple[str, ...]:
    """Return the names of the coordinates of a joint that are about or along one axis."""
    spec = JOINT_TYPES[joint.type_name]
    return joint.coordinate_names if spec.nq == spec.nv else ()


def joint_limits(name: str, type_name: str, limits: Mapping[str, ArrayLike]) -> Limits:
    """Return the limits of a new joint, infinite where none is given."""
    spec = JOINT_TYPES[type_name]
    if not limits:
        return unlimited(spec.nv)
    unknown = [key for key in limits if key not in _BOUNDS]
    if unknown:
        raise ModelError(f'joint {name}: expected limits of {_BOUNDS}, got {unknown}')
    bounds = Limits(**limits, nv=spec.nv, name=f'joint {name}: limits')
    if not spec.has_bounds and ('lower' in limits or 'upper' in limits) and np.isfinite(
            [bounds.lower, bounds.upper]).any():
        raise ModelError(f'joint {name}: expected no bounds of position for type {type_name}, '
                         f'got {bounds.lower.tolist()} to {bounds.upper.tolist()}')
    return bounds


def require_new(what: str, name: str, used: Container[str]) -> None:
    """Raise ModelError for a name that is used."""
    if name in used:
        raise ModelError(f'{what} {name}: expected a name not yet used, got it twice')


@lru_cache
def unlimited(nv: int) -> Limits:
    """Return infinite limits of a joint of nv degrees of freedom."""
    return Limits(nv=nv)


def check_names(bodies: Mapping[str, Body], joints: Mapping[str, Joint], rotors: list[Rotor],
                closures: list[Closure], couplings: list[Coupling]) -> None:
    """Raise ModelError for a name that is no part of the model, and a body without a joint."""
    for joint in joints.values():
        for role, body in (('parent', joint.parent), ('child', joint.child)):
            if body is not None and body not in bodies:
                raise unknown_name(ModelError, f'joint {joint.name}', bodies, body,
                                   f'a {role} body')
    for rotor in rotors:
        if rotor.body not in bodies:
            raise unknown_name(ModelError, f'rotor {rotor.name}', bodies, rotor.body,
                               'a body')
    for closure in closures:
        for body in (closure.body_a, closure.body_b):
            if body is not None and body not in bodies:
                raise unknown_name(ModelError, f'closure {closure.name}', bodies, body,
                                   'a body')
    single = [name for j in joints.values() for name in axis_names(j)]
    for coupling in couplings:
        names = [name for name, _ in coupling.terms]
        if len({coupling.joint, *names}) <= len(names):
            raise ModelError(f'coupling of joint {coupling.joint}: expected leaders that are '
                             f'others, each once, got {names}')
        for role, name in (('one', coupling.joint),
                           *(('a leader', leader) for leader, _ in coupling.terms)):
            if name not in single:
                raise ModelError(f'coupling of joint {coupling.joint}: expected {role} of the '
                                 f'coordinates about or along one axis, {listed(single)}, '
                                 f'got {name!r}')
    idle = [name for name in bodies if name not in joints]
    if idle:
        raise ModelError(
            f'bodies {listed(idle)}: expected a joint that holds or moves each, got none')


def depth_first(joints: Mapping[str, Joint]) -> list[Joint]:
    """Return the joints, by child body, parents first; raise ModelError for a loop."""
    children = children_of(joints.values())
    ordered: list[Joint] = []
    waiting = children.get(None, [])[::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += children.get(joint.child, [])[::-1]
    looped = sorted(joints.keys() - {joint.child for joint in ordered})
    if looped:
        raise ModelError(
            f'bodies {listed(looped)}: expected a path of joints to the ground, got a loop')
    return ordered


class Attachment(NamedTuple):
    """
    Where a model is attached: on a body, None for the ground, at a pose (4, 4) in its frame.

    prefix goes before each name.
    """

    prefix: str
    body: str | None
    placement: Array

    def joint(self, joint: Joint) -> Joint:
        """Return a joint of the model, or raise ModelError for a base that moves freely."""
        if joint.type_name == 'free' and joint.parent is None:
            raise ModelError(f'joint {joint.name}: expected a model on a fixed base, got a '
                             'floating one; load it with floating=False')
        return replace(
            joint, name=self.prefix + joint.name, parent=self._body(joint.parent),
            child=self.prefix + joint.child, placement=self._placed(joint.parent, joint.placement))

    def rotor(self, rotor: Rotor) -> Rotor:
        """Return a rotor of the model."""
        return replace(rotor, name=self.prefix + rotor.name, body=self.prefix + rotor.body)

    def coupling(self, coupling: Coupling) -> Coupling:
        """Return a coupling of the model."""
        return replace(
            coupling, joint=self.prefix + coupling.joint, leader=self.prefix + coupling.leader,
            further=tuple((self.prefix + name, factor) for name, factor in coupling.further))

    def closure(self, closure: Closure) -> Closure:
        """Return a closure of the model."""
        return replace(
            closure, name=self.prefix + closure.name, body_a=self._body(closure.body_a),
            body_b=self._body(closure.body_b),
            frame_a=self._placed(closure.body_a, closure.frame_a),
            frame_b=self._placed(closure.body_b, closure.frame_b))

    def frame(self, frame: Frame) -> Frame:
        """Return an added frame of the model."""
        return Frame(self.prefix + frame.name, self._body(frame.body),
                     self._placed(frame.body, frame.placement))

    def _body(self, name: str | None) -> str | None:
        return self.body if name is None else self.prefix + name

    def _placed(self, body: str | None, pose: Array) -> Array:
        """Return a pose on the model's ground as one on the body that takes its place."""
        return checked_pose('placement', self.placement @ pose) if body is None else pose
