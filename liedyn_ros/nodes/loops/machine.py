# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A machine with closed loops as JointStates describe it: its tracker and its messages."""

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, LoopState, LoopTracker)
from liedyn_ros.dynamics.constrained.tracking.start import several_assemblies
from liedyn_ros.dynamics.tree.floating_base import base_joint
from liedyn_ros.lie import se3
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.model.parts.joints import GROUND
from liedyn_ros.ros.messages.packed import JointReadings

NO_VALUES: Array = np.empty(0)  # a field that a message leaves out


class LoopSample(NamedTuple):
    """The state of the measured joints, in their order; None for fields left out."""

    stamp_ns: int
    positions: Array
    velocities: Array | None
    efforts: Array | None
    accelerations: Array | None = None


class JointNumbers(NamedTuple):
    """
    Numbers of joints of one coordinate, named as the fields of messages.

    rad or m and their derivatives, N m or N. All but position are None where they are unknown.
    """

    position: Array
    velocity: Array | None
    acceleration: Array | None
    effort: Array | None


class MultiDofMotion(NamedTuple):
    """
    The motion of a joint of several degrees of freedom.

    parent, child: the frames of its bodies. pose (4, 4), m, of the child in the parent. twist (6,)
    of the child relative to the parent, in the child; None where velocities are unknown.
    """

    name: str
    parent: str
    child: str
    pose: Array
    twist: Array | None


class LoopedMachine:
    """
    A model whose measured joints determine the others, and the numbers of its messages.

    doubt: a sentence where nothing says which of several assemblies is meant.
    Raises ModelError where they do not, with the coordinates left free. Raises ConvergenceError
    where the loops cannot be closed.
    """

    def __init__(self, model: Model, measured: Sequence[str], start: str,
                 ignore_other_joints: bool, agreement: float) -> None:
        """Take a model and the parameters of these names; measured are measured_joints."""
        dynamics = ConstrainedDynamics(model)
        q = model.rough_configuration(start)
        self.tracker = LoopTracker(
            dynamics, None if list(measured) == [''] else measured, start=q,
            agreement=agreement)
        self.model, self.measured = model, self.tracker.measured
        known, closed = self.tracker.known, assemble(dynamics, q)
        complete_velocity(dynamics, closed, np.zeros(model.nv), known)
        self.doubt = '' if start else several_assemblies(dynamics, q, closed, known)
        self._order = NameOrder('name', self.measured, ignore_others=ignore_other_joints)
        moving = [joint for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv]
        single = [joint for joint in moving if JOINT_TYPES[joint.type_name].nv == 1]
        base = base_joint(model)  # it stays at its place
        self._tree = dynamics.tree
        self._multi_dof = [
            joint for joint in moving if joint not in single and joint is not base]
        self._q = np.array([joint.qi for joint in single], dtype=np.int64)
        self._v = np.array([joint.vi for joint in single], dtype=np.int64)
        self.names = [joint.name for joint in single]
        self._measured = [self.names.index(name) for name in self.measured]
        self._all_efforts = all(
            joint.name in self.measured for joint in single if joint.actuated)

    def read(self, readings: JointReadings, accelerations: Array = NO_VALUES) -> LoopSample:
        """
        Return the measured joints of a message; accelerations are in its order.

        Raises NameSetError for names that are unknown, missing or repeated, ShapeError and
        NotFiniteError, and LiedynError for accelerations without velocities.
        """
        stamp_ns, names, positions, velocities, efforts = readings
        places = self._order.of(names)

        def measured_of(name: str, values: Array) -> Array:
            picked: Array = as_array(name, values, (len(names),))[places]
            return picked

        if len(accelerations) and not len(velocities):
            raise LiedynError('acceleration: expected velocity with it, got none')
        return LoopSample(
            stamp_ns, measured_of('position', positions),
            measured_of('velocity', velocities) if len(velocities) else None,
            measured_of('effort', efforts) if len(efforts) else None,
            measured_of('acceleration', accelerations) if len(accelerations) else None)

    def joint_numbers(
            self, sample: LoopSample, state: LoopState
    ) -> JointNumbers:
        """
        Return the numbers of the joints of one coordinate, in the order of `names`.

        Efforts of passive joints are 0. There are none unless those of all actuators are measured.
        """
        q = state.q[self._q]
        turns = sample.positions - q[self._measured]  # full turns of continuous joints
        q[self._measured] = (
            q[self._measured] + 2.0 * math.pi * np.round(turns / (2.0 * math.pi))
            if state.redundant else sample.positions)
        effort = None
        if sample.efforts is not None and self._all_efforts:
            effort = np.zeros(len(self.names))
            effort[self._measured] = sample.efforts
        return JointNumbers(
            q, None if state.v is None else state.v[self._v],
            None if state.a is None else state.a[self._v], effort)

    @property
    def has_multi_dof_joints(self) -> bool:
        """Return whether a joint besides a floating base has several degrees of freedom."""
        return bool(self._multi_dof)

    def multi_dof_motions(self, state: LoopState) -> list[MultiDofMotion]:
        """Return the motion of each joint of several degrees of freedom but a floating base."""
        motion, bodies = self._tree.kinematics(state.q, state.v), self.model.bodies
        poses: dict[str | None, Array] = {None: np.eye(4), **dict(zip(bodies, motion.poses))}
        twists: dict[str | None, Array] = {None: np.zeros(6), **dict(zip(bodies, motion.twists))}
        found = []
        for joint in self._multi_dof:
            parent_child = se3.compose(se3.inverse(poses[joint.parent]), poses[joint.child])
            twist = None
            if state.v is not None:
                twist = twists[joint.child] - se3.adjoint(
                    se3.inverse(parent_child)) @ twists[joint.parent]
            found.append(MultiDofMotion(
                joint.name, joint.parent or GROUND, joint.child, parent_child, twist))
        return found
