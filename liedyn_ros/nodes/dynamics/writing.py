# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Results of the dynamics server as messages."""

from collections.abc import Iterator

from liedyn_interfaces.msg import ClosureWrench, DynamicsAnswer
from liedyn_interfaces.srv import DescribeModel
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import JointOrder, Names
from liedyn_ros.dynamics.constrained import ConstraintStatus, Mobility
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.nodes.dynamics.algorithms import Result
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages

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
