# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a calibration of an arm may find, as one vector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.lie import se3
from liedyn_ros.model import Joint, JOINT_TYPES, Model, with_placements

PARTS = ('turn x', 'turn y', 'turn z', 'shift x', 'shift y', 'shift z')
FREE = 1e3  # rad and m: deviation of a frame that nobody knows
FRAMES = 'instrument', 'target'


@dataclass(frozen=True, eq=False)
class Unknowns:
    """
    The numbers of a calibration, each in deviations z (size,) before it.

    joints are those whose placements may be wrong. Each gives a twist, rad and m, in its frame:
    a placement P becomes P exp(xi) (13.26). Where offsets is true, of a joint only the turn or
    travel along its axis is unknown. The frames of instrument and target follow where they are
    unknown.
    """

    model: Model
    joints: tuple[Joint, ...]
    frames: tuple[str, ...]
    tolerance: tuple[float, float]  # m and rad
    offsets: bool

    @property
    def twists(self) -> int:
        """Return the number of twists of the machine."""
        return len(self.joints)

    @property
    def basis(self) -> Array:
        """Return E (6 twists, of_machine) with the twists of the machine E z."""
        position, rotation = self.tolerance
        size = np.array([rotation] * 3 + [position] * 3)
        if not self.offsets:
            return np.kron(np.eye(self.twists), np.diag(size))
        result = np.zeros((6 * self.twists, len(self.joints)))
        for k, joint in enumerate(self.joints):
            first = 6 * k + (3 if joint.type_name == 'prismatic' else 0)
            result[first:first + 3, k] = joint.axis * size[first - 6 * k]
        return result

    @property
    def of_machine(self) -> int:
        """Return how many numbers are of the machine."""
        return len(self.joints) if self.offsets else 6 * self.twists

    @property
    def size(self) -> int:
        """Return how many numbers there are."""
        return self.of_machine + 6 * len(self.frames)

    @property
    def prior(self) -> Array:
        """Return the deviations (size,) of z before: 1, and FREE of unknown frames."""
        return np.concatenate([np.ones(self.of_machine), np.full(6 * len(self.frames), FREE)])

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the numbers of the machine."""
        if self.offsets:
            return tuple(f'{joint.name} offset' for joint in self.joints)
        return tuple(f'{joint.name} {part}' for joint in self.joints for part in PARTS)

    def twists_of(self, z: Array) -> Array:
        """Return the twists (twists, 6), rad and m, of the machine."""
        return np.asarray(self.basis @ z[:self.of_machine]).reshape(-1, 6)

    def frame(self, name: str, z: Array) -> Array:
        """Return the twist (6,) of an unknown frame, zero of a known one."""
        if name not in self.frames:
            return np.zeros(6)
        first = self.of_machine + 6 * self.frames.index(name)
        return np.asarray(z[first:first + 6])

    def moved(self, z: Array) -> Model:
        """Return the model with the errors of z taken into its placements."""
        xi = se3.exp(self.twists_of(z))
        return with_placements(self.model, {
            joint.name: se3.normalize(joint.placement @ xi[k])
            for k, joint in enumerate(self.joints)})


def unknowns_of(model: Model, body: str, tolerance: tuple[float, float], *, offsets: bool,
                frames: tuple[str, ...]) -> Unknowns:
    """
    Return what may be wrong between the ground and a body: moving joints.

    Raises ModelError for an unknown body, or one that does not move. The same for joints of
    several coordinates on the way to it, and for machines with closed loops.
    """
    if model.closures:
        raise ModelError('model: expected a tree, as joints that are not read do not follow here, '
                         f'got closed loops: {[each.name for each in model.closures]}')
    chain = chain_of(model, body)
    joints = tuple(joint for joint in chain if JOINT_TYPES[joint.type_name].nv)
    several = [joint.name for joint in joints if JOINT_TYPES[joint.type_name].nv > 1]
    if several or not joints:
        raise ModelError(f'{body}: expected moving joints of one coordinate between it and the '
                         f'ground, got {several if several else "none"}')
    return Unknowns(model, joints, frames, tolerance, offsets)


def chain_of(model: Model, body: str) -> list[Joint]:
    """Return the joints from the ground to a body."""
    by_child = {joint.child: joint for joint in model.joint_list}
    result, at = [], by_child.get(model.body(body).name)
    while at is not None:
        result.append(at)
        at = by_child.get(at.parent) if at.parent is not None else None
    return result[::-1]
