# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Queries of the dynamics server, read and checked, and results as messages."""

from collections.abc import Iterator
import math

from liedyn_interfaces.msg import ClosureWrench, DynamicsAnswer, DynamicsQuery
from liedyn_interfaces.srv import DescribeModel
import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.dynamics import FloatingBase, JointOrder, Names
from liedyn_ros.dynamics.constrained import ConstraintStatus, LEAST_FORCE, LEAST_TORQUE, Mobility
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.nodes.dynamics.algorithms import Result
from liedyn_ros.nodes.dynamics.inputs import RequestInputs
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import count_entries, doubles, TreeMessages

REDUNDANCIES = {
    DynamicsQuery.LEAST_TORQUE: LEAST_TORQUE, DynamicsQuery.LEAST_FORCE: LEAST_FORCE}


class QueryReader:
    """
    Reads the queries about one model.

    A query gives accelerations, efforts, or both for hybrid dynamics. Every method raises
    LiedynError that names the wrong field.
    """

    def __init__(self, messages: TreeMessages, *, with_loops: bool) -> None:
        """Take the messages of the model, and whether its loops are closed."""
        self._messages, self._with_loops = messages, with_loops
        self._zero = np.zeros(messages.model.nv)

    def read(self, query: DynamicsQuery, *, accelerations: bool,
             efforts: bool) -> tuple[RequestInputs, JointOrder]:
        """Return the inputs, and the order of joints in the query."""
        messages = self._messages
        q, v, order = messages.read_state(query.state)
        entries = count_entries(query, accelerations=accelerations, efforts=efforts)
        zero = self._zero if entries == 1 else np.zeros((entries, len(self._zero)))
        return RequestInputs(
            q, v,
            messages.read_accelerations(query.accelerations, order, entries) if accelerations
            else zero,
            messages.read_efforts(query.efforts, order, entries) if efforts else zero,
            self.prescribed(query, accelerations, efforts),
            messages.read_external(query.external, entries), _redundancy(query),
            self.with_errors(query, efforts, entries)), order

    def prescribed(self, query: DynamicsQuery, accelerations: bool,
                   efforts: bool) -> NDArray[np.bool_]:
        """Return for each coordinate whether its acceleration is known."""
        if accelerations and efforts:
            return self._messages.names.prescribed(query.prescribed)
        if query.prescribed:
            raise NameSetError('prescribed: expected no names, as only hybrid dynamics takes '
                               f'them, got {len(query.prescribed)}')
        return np.full(self._zero.shape, accelerations)

    def with_errors(self, query: DynamicsQuery, efforts: bool, entries: int) -> bool:
        """Return whether errors of orders are requested; only dynamics of trees has them."""
        if not 0.0 <= query.max_error < math.inf:
            raise LimitError(f'max_error: expected a number from 0 on, got {query.max_error}')
        estimated = efforts and not self._with_loops
        if query.max_error and not estimated:
            raise LimitError('max_error: expected 0, as errors are found for forward and hybrid '
                             f'dynamics of trees alone, got {query.max_error}')
        return estimated and (entries > 1 or query.max_error > 0.0)

    def spatial_base(self, query: DynamicsQuery) -> FloatingBase | None:
        """Return the base if its accelerations are derivatives of the spatial twist."""
        convention = query.base_twist_frame
        if convention not in (DynamicsQuery.BODY, DynamicsQuery.SPATIAL):
            raise LimitError(f'base_twist_frame: expected BODY = {DynamicsQuery.BODY} or SPATIAL '
                             f'= {DynamicsQuery.SPATIAL}, got {convention}')
        return None if convention == DynamicsQuery.BODY else self._messages.base

    def whole_spatial_base(self, query: DynamicsQuery,
                           inputs: RequestInputs) -> FloatingBase | None:
        """Return spatial_base, whose coordinates must be prescribed all or none."""
        base = self.spatial_base(query)
        if base is None:
            return None
        count = int(np.count_nonzero(inputs.prescribed[:6]))
        if 0 < count < 6:
            raise NameSetError('prescribed: expected all coordinates of the base or none, as '
                               f'base_twist_frame is SPATIAL, got {count}')
        return base


def _redundancy(query: DynamicsQuery) -> str:
    redundancy = REDUNDANCIES.get(query.redundancy)
    if redundancy is None:
        raise LimitError(f'redundancy: expected LEAST_TORQUE = {DynamicsQuery.LEAST_TORQUE} or '
                         f'LEAST_FORCE = {DynamicsQuery.LEAST_FORCE}, got {query.redundancy}')
    return redundancy


CONSTRAINT_STATUS = {None: DynamicsAnswer.UNCONSTRAINED} | {
    status: getattr(DynamicsAnswer, status.name) for status in ConstraintStatus}


def write_result(messages: TreeMessages, order: JointOrder, result: Result,
                 answer: DynamicsAnswer) -> None:
    """Write a result into an answer, with the joints in the order of the query."""
    answer.header.frame_id = messages.names.base_body
    answer.accelerations = [
        messages.to_acceleration(row, order) for row in np.atleast_2d(result.a)]
    answer.efforts = [messages.to_effort(row, order) for row in np.atleast_2d(result.tau)]
    answer.constraints = CONSTRAINT_STATUS[result.status]
    if result.errors is not None:
        answer.errors = doubles(result.errors)
    if result.wrenches is not None:
        answer.closures = list(_closure_wrenches(messages.model, result.wrenches))


def _closure_wrenches(model: Model, wrenches: Array) -> Iterator[ClosureWrench]:
    """Return the messages of wrenches (C, 6), or (order + 1, C, 6)."""
    for order, of_order in enumerate(wrenches if wrenches.ndim == 3 else wrenches[None]):
        for closure, wrench in zip(model.closures, of_order):
            message = ClosureWrench(
                closure=closure.name, body=closure.body_b or '', order=order)
            conversions.to_wrench(wrench, message.wrench)
            yield message


def write_description(names: Names, mobility: Mobility, response: DescribeModel.Response, *,
                      with_loops: bool) -> None:
    """Write the description of a model; with_loops: its couplings are held."""
    model = names.model
    response.header.frame_id = names.base_body
    types = [JOINT_TYPES[joint.type_name] for joint in names.others.values()]
    response.name, response.base_body = model.name, names.base_body
    response.digest = model.digest
    response.body_names, response.joint_names = list(model.bodies), list(names.others)
    response.joint_types = [joint.type_name for joint in names.others.values()]
    response.position_counts = [each.nq for each in types]
    response.velocity_counts = [each.nv for each in types]
    response.coordinate_names = list(model.coordinate_names)
    response.position_lower = doubles(model.limits.lower)
    response.position_upper = doubles(model.limits.upper)
    response.velocity_limit = doubles(model.limits.velocity)
    response.effort_limit = doubles(model.limits.effort)
    response.mass = float(model.mass)
    gravity = response.gravity
    gravity.x, gravity.y, gravity.z = model.gravity.tolist()
    response.actuated = model.actuated.tolist()
    response.closure_names = [closure.name for closure in model.closures]
    response.closure_types = [closure.type_name for closure in model.closures]
    response.closure_bodies_a = [closure.body_a or '' for closure in model.closures]
    response.closure_bodies_b = [closure.body_b or '' for closure in model.closures]
    for coupling in model.couplings if with_loops else ():
        for k, (leader, multiplier) in enumerate(coupling.terms):
            response.coupled_joints.append(coupling.joint)
            response.coupled_leaders.append(leader)
            response.coupling_multipliers.append(multiplier)
            response.coupling_offsets.append(0.0 if k else coupling.offset)
    response.degrees_of_freedom = mobility.degrees_of_freedom
    response.redundant_constraints = list(mobility.redundant)
