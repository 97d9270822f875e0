# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Queries about a Stewart platform: the motion of the platform decides that of its legs."""

import time
from typing import Any

from builtin_interfaces.msg import Time
from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery
import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import (
    LiedynError, LimitError, NameSetError, ShapeError, SingularError)
from liedyn_ros.dynamics import FloatingBase, JointOrder
from liedyn_ros.model import Model
from liedyn_ros.nodes.dynamics.algorithms import Compute
from liedyn_ros.nodes.dynamics.answers import DynamicsAnswers
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import count_entries, require_few_wrenches
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart import (
    length_jacobian, model_state, platform_model, PoseSolver, StewartDynamics, StewartGeometry)

PLATFORM_BODY = 'platform'  # the body


def answers_about(machine: Model | StewartGeometry, *, dissipation: bool, hold_couplings: bool,
                  stamp: Time) -> DynamicsAnswers:
    """Return the answers about a model, or about a platform."""
    options: dict[str, Any] = {
        'dissipation': dissipation, 'hold_couplings': hold_couplings, 'stamp': stamp}
    return (PlatformAnswers(machine, **options) if isinstance(machine, StewartGeometry)
            else DynamicsAnswers(machine, **options))


def require_answers(node: ManagedNode, answers: DynamicsAnswers | None) -> DynamicsAnswers:
    """Return the answers of a node, or raise LiedynError: it is not active, or has no model."""
    if not node.active:
        raise LiedynError(f'{node.get_name()}: {node.why_inactive}')
    if answers is None:
        raise LiedynError(f'{node.get_name()}: expected a model, got none yet from the '
                          'parameters model_file and robot_description and the topic '
                          'robot_description')
    return answers


class PlatformAnswers(DynamicsAnswers):
    """
    Handles the requests and queries about a platform on six legs.

    A query that names no joints is about the platform and its legs alone. Its base is the
    platform; the joints of efforts and accelerations are the legs, in the order of the geometry. A
    query that names all joints is answered as for any machine with closed loops.
    """

    def __init__(self, geometry: StewartGeometry, **options: Any) -> None:
        """Take a geometry with masses, and the options of DynamicsAnswers."""
        super().__init__(platform_model(geometry), **options)
        self._platform = StewartDynamics(geometry)
        joints = [self.model.joint(name) for name in geometry.leg_names]
        self._legs = JointOrder(*(np.array(places, dtype=np.int64) for places in (
            [joint.qi for joint in joints], [joint.vi for joint in joints])))

    def _geometry(self) -> StewartGeometry:
        return self._platform.geometry

    def _measured(self) -> dict[str, Any]:
        """Return the legs, which tell the pose from the home of the geometry on."""
        geometry = self._platform.geometry
        if geometry.home is None:
            raise LimitError(f'{geometry.name}: expected a home in the geometry file, from which '
                             f'the pose is solved, got none', names=('home',))
        solver, known = PoseSolver(geometry), geometry.home

        def complete(lengths: Array, rates: Array) -> tuple[Array, Array]:
            nonlocal known
            found = solver.solve(lengths, known)
            if not found.converged:
                raise SingularError(f'position: expected lengths of a pose near the last, got '
                                    f'{lengths.tolist()}; send samples closer to each other')
            known = found.pose
            twist = np.linalg.lstsq(length_jacobian(geometry, known), rates)[0]
            return model_state(geometry, known, twist)

        return {'measured': geometry.leg_names, 'complete': complete}

    def _answer(self, query: DynamicsQuery, answer: DynamicsAnswer, compute: Compute, *,
                accelerations: bool, efforts: bool) -> None:
        if query.state.joint_names:
            super()._answer(query, answer, compute, accelerations=accelerations, efforts=efforts)
            return
        if accelerations and efforts:
            raise NameSetError('joint_names: expected all joints, as hybrid dynamics needs them, '
                               'got none')
        self._reader.prescribed(query, accelerations, efforts)  # refuses names
        entries = count_entries(query, accelerations=accelerations, efforts=efforts)
        self._reader.with_errors(query, efforts, entries)  # refuses max_error
        pose, twist = self._messages.read_base(query.state)
        outside = self._outside(query, entries)
        begin = time.perf_counter()
        if accelerations:
            rows = self._rows('accelerations', query.accelerations, entries, 0)
            motion = self._platform.inverse(
                pose, twist, self._converted(query, pose, twist, rows, True), external=outside)
        else:
            rows = self._rows('efforts', query.efforts, entries, 6)
            motion = self._platform.forward(pose, twist, rows, external=outside)
        answer.solve_time = time.perf_counter() - begin
        a, tau = np.zeros((2, entries, self.model.nv))
        a[:, :6] = self._converted(query, pose, twist, motion.acceleration, False)
        a[:, self._legs.v], tau[:, self._legs.v] = motion.leg_accelerations, motion.forces
        for k, message in enumerate(query.efforts):
            tau[k, :6] = conversions.from_wrench(message.base)
        answer.header.frame_id = self._messages.names.base_body
        answer.joint_names = list(self._platform.geometry.leg_names)
        answer.accelerations = [self._messages.to_acceleration(row, self._legs) for row in a]
        answer.efforts = [self._messages.to_effort(row, self._legs) for row in tau]
        answer.constraints = DynamicsAnswer.REGULAR
        answer.model = self.model.digest

    def _rows(self, name: str, messages: Any, entries: int, joints: int) -> Array:
        """Return the rows (orders, 6) of the legs, or of the platform where joints is zero."""
        rows = np.empty((entries, 6))
        for k, (message, row) in enumerate(zip(messages, rows)):
            if len(message.joints) != joints:
                raise ShapeError(f'{name}[{k}].joints: expected {joints or "no"} numbers, as the '
                                 f'query names no joints, got {len(message.joints)}')
            row[:] = message.joints if joints else conversions.from_twist(message.base)
        return as_array(name, rows, (entries, 6))

    def _outside(self, query: DynamicsQuery, entries: int) -> Array:
        """Return the wrenches (orders, 6) on the platform."""
        require_few_wrenches(query.external)
        total = np.zeros((entries, 6))
        for i, each in enumerate(query.external):
            if each.body != PLATFORM_BODY:
                raise NameSetError(f'external[{i}].body: expected {PLATFORM_BODY!r}, as the query '
                                   f'names no joints, got {each.body!r}')
            if each.order >= entries:
                raise LimitError(f'external[{i}].order: expected {entries - 1} at most, got '
                                 f'{each.order}')
            total[each.order] += conversions.from_wrench(each.wrench)
        for k, message in enumerate(query.efforts):
            total[k] += conversions.from_wrench(message.base)
        return total

    def _converted(self, query: DynamicsQuery, pose: Array, twist: Array, rows: Array,
                   to_body: bool) -> Array:
        """Convert derivatives of the query's base twist to the body twist, or back."""
        base: FloatingBase | None = self._reader.spatial_base(query)
        if base is None:
            return rows
        full = np.zeros((len(rows), self.model.nv))
        full[:, :6] = rows
        q, v = model_state(self._platform.geometry, pose, twist)
        convert = base.to_body if to_body else base.to_spatial
        converted: Array = convert(q, v, full)[:, :6]
        return converted
