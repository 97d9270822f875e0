# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts of a model as another one takes them in: renamed, and placed on one of its bodies."""

from dataclasses import replace
from typing import NamedTuple

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model.parts.body import Frame
from liedyn_ros.model.parts.constraints import Closure, Coupling
from liedyn_ros.model.parts.geometry import checked_pose
from liedyn_ros.model.parts.joints import Joint
from liedyn_ros.model.parts.rotors import Rotor


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
