# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Unknowns of a calibration of an arm, or of a machine with loops, as one vector."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.lie import se3
from liedyn_ros.model import Closure, CLOSURE_TYPES, Joint, JOINT_TYPES, Model, with_placements

FRAME_PARTS = ('turn x', 'turn y', 'turn z', 'shift x', 'shift y', 'shift z')
UNKNOWN_PLACE = 1e3  # m: deviation of a place that nobody knows
# Rad: that of a turn by any angle, which many targets hide
UNKNOWN_TURN = np.pi / np.sqrt(3.0)
CALIBRATED_FRAMES = 'instrument', 'target'


@dataclass(frozen=True, eq=False)
class Unknowns:
    """
    The numbers of a calibration, each in deviations z (size,) before it.

    joints are those whose placements may be wrong, closures those whose frames may. Each gives a
    twist, rad and m, in its frame: a placement P becomes P exp(xi) (13.26). Rods have a length
    too. Where offsets is true, of a joint only the turn or travel along its axis is unknown. kept
    (numbers, of_machine) are the directions that leave loops closed, None for all. The frames of
    instrument and target follow where they are unknown, then further numbers, m, of the
    measurement.
    """

    model: Model
    joints: tuple[Joint, ...]
    closures: tuple[Closure, ...]
    frames: tuple[str, ...]
    tolerance: tuple[float, float]  # m and rad
    offsets: bool
    further: int
    kept: Array | None = None

    @property
    def twists(self) -> int:
        """Return the number of twists of the machine."""
        return len(self.joints) + 2 * len(self.closures)

    @property
    def rods(self) -> tuple[Closure, ...]:
        """Return the closures whose length may be wrong."""
        return tuple(each for each in self.closures if CLOSURE_TYPES[each.type_name].has_length)

    @property
    def basis(self) -> Array:
        """Return E (6 twists + rods, of_machine): twists, then lengths, of the machine are E z."""
        return self._all if self.kept is None else np.asarray(self._all @ self.kept)

    @property
    def _all(self) -> Array:
        position, rotation = self.tolerance
        size = np.array([rotation] * 3 + [position] * 3)
        if not self.offsets:
            return np.diag([*np.tile(size, self.twists), *[position] * len(self.rods)])
        result = np.zeros((6 * self.twists, len(self.joints)))
        for k, joint in enumerate(self.joints):
            first = 6 * k + (3 if joint.type_name == 'prismatic' else 0)
            result[first:first + 3, k] = joint.axis * size[first - 6 * k]
        return result

    @property
    def of_machine(self) -> int:
        """Return how many numbers are of the machine."""
        return self._all.shape[1] if self.kept is None else self.kept.shape[1]

    @property
    def size(self) -> int:
        """Return how many numbers there are."""
        return self.of_machine + 6 * len(self.frames) + self.further

    @property
    def prior(self) -> Array:
        """Return the deviations (size,) of z before the calibration."""
        frames = np.tile([UNKNOWN_TURN] * 3 + [UNKNOWN_PLACE] * 3, len(self.frames))
        return np.concatenate(
            [np.ones(self.of_machine), frames, np.full(self.further, UNKNOWN_PLACE)])

    @property
    def places(self) -> tuple[str, ...]:
        """Return the names of the frames that have twists."""
        return (*(joint.name for joint in self.joints),
                *(f'{closure.name} {end}' for closure in self.closures for end in ('a', 'b')))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the numbers of the machine."""
        if self.offsets:
            return tuple(f'{joint.name} offset' for joint in self.joints)
        return (*(f'{name} {part}' for name in self.places for part in FRAME_PARTS),
                *(f'{rod.name} length' for rod in self.rods))

    def shares(self, covariance: Array) -> Array:
        """Return the variance left of each of names, from that (of_machine square) of z."""
        if self.kept is None:
            return np.diag(covariance)
        return np.asarray(np.einsum('ij,jk,ik->i', self.kept, covariance, self.kept))

    def twists_of(self, z: Array) -> Array:
        """Return the twists (twists, 6), rad and m, of the machine."""
        return self._machine(z)[:6 * self.twists].reshape(-1, 6)

    def lengths_of(self, z: Array) -> Array:
        """Return corrections of the lengths (rods,), m."""
        return self._machine(z)[6 * self.twists:]

    def _machine(self, z: Array) -> Array:
        return np.asarray(self.basis @ z[:self.of_machine])

    def frame(self, name: str, z: Array) -> Array:
        """Return the twist (6,) of an unknown frame, zero of a known one."""
        if name not in self.frames:
            return np.zeros(6)
        first = self.of_machine + 6 * self.frames.index(name)
        return np.asarray(z[first:first + 6])

    def moved(self, z: Array) -> Model:
        """Return the model with the errors of z taken into its placements."""
        xi, count = se3.exp(self.twists_of(z)), len(self.joints)
        model = with_placements(self.model, {
            joint.name: se3.normalize(joint.placement @ xi[k])
            for k, joint in enumerate(self.joints)})
        if not self.closures:
            return model
        longer = dict(zip((rod.name for rod in self.rods), self.lengths_of(z).tolist()))
        at = {closure.name: count + 2 * k for k, closure in enumerate(self.closures)}
        return replace(model, closures=tuple(closure if closure.name not in at else replace(
            closure, frame_a=se3.normalize(closure.frame_a @ xi[at[closure.name]]),
            frame_b=se3.normalize(closure.frame_b @ xi[at[closure.name] + 1]),
            length=closure.length + longer.get(closure.name, 0.0))
            for closure in model.closures))


def unknowns_of(model: Model, body: str, tolerance: tuple[float, float], *, offsets: bool,
                frames: tuple[str, ...], names: tuple[str, ...], further: int = 0) -> Unknowns:
    """
    Return the unknowns between the ground and a body, with the loops that it depends on.

    names are the joints that are read, which alone have offsets; further is how many further
    numbers the measurement has. Raises ModelError for an unknown
    body, or one that does not move, and for a joint of several coordinates that would be read.
    """
    found, closures = involved(model, body)
    joints = tuple(joint for joint in found if not offsets or joint.name in names)
    several = [joint.name for joint in found if JOINT_TYPES[joint.type_name].nv > 1
               and (joint.name in names or not closures)]
    if several or not joints:
        raise ModelError(f'{body}: expected moving joints of one coordinate between it and the '
                         f'ground, got {several if several else "none"}')
    return Unknowns(model, joints, () if offsets else closures, frames, tolerance, offsets,
                    further)


def involved(model: Model, body: str) -> tuple[list[Joint], tuple[Closure, ...]]:
    """Return the moving joints that the place of a body depends on, and the closures."""
    moving = {joint.name for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv}
    found = {joint.name for joint in chain_of(model, body)} & moving
    above = {end: {joint.name for joint in chain_of(model, end)} if end is not None else set[str]()
             for closure in model.closures for end in (closure.body_a, closure.body_b)}
    loops = {closure.name: moving & (above[closure.body_a] ^ above[closure.body_b])
             for closure in model.closures}
    closing = set[str]()
    while new := {name for name, loop in loops.items() if loop & found} - closing:
        closing |= new
        found = found.union(*(loops[name] for name in new))
    return ([joint for joint in model.joint_list if joint.name in found],
            tuple(each for each in model.closures if each.name in closing))


def read_joints(model: Model, body: str) -> tuple[str, ...]:
    """Return the joints that are read by default: of loops and couplings those with actuators."""
    joints, closures = involved(model, body)
    if not closures and not model.couplings:
        return tuple(joint.name for joint in joints)
    led = {each.joint for each in model.couplings}
    leaders = {name for each in model.couplings for name, _ in each.terms
               if each.joint in {joint.name for joint in joints}}
    return tuple(joint.name for joint in model.joint_list if joint.actuated
                 and joint.name not in led and (joint in joints or joint.name in leaders))


def chain_of(model: Model, body: str) -> list[Joint]:
    """Return the joints from the ground to a body."""
    by_child = {joint.child: joint for joint in model.joint_list}
    result, at = [], by_child.get(model.body(body).name)
    while at is not None:
        result.append(at)
        at = by_child.get(at.parent) if at.parent is not None else None
    return result[::-1]
