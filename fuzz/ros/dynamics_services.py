# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Requests to the services of dynamics_server, by its handlers."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from fuzz.ros.stand_ins import answered
from fuzz.target import Run, Target
from geometry_msgs.msg import Pose, Quaternion, Transform
from liedyn_interfaces.msg import (
    BodyWrench, DynamicsQuery, FrameTarget, TreeAcceleration, TreeEffort, TreeState)
from liedyn_interfaces.srv import (
    DescribeModel, Dynamics, EquationsOfMotion, InverseKinematics, Linearize, RetimeTrajectory)
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import (
    JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint)

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.model import load_model
from liedyn_ros.nodes.dynamics.answers import DynamicsAnswers

FILES = 'aerial_manipulator.yaml', 'four_bar.yaml'
SERVICES = {
    'describe_model': DescribeModel, 'equations_of_motion': EquationsOfMotion,
    'forward': Dynamics, 'hybrid': Dynamics, 'inverse': Dynamics,
    'inverse_kinematics': InverseKinematics, 'linearize': Linearize, 'retime': RetimeTrajectory}
EVALUATIONS = 2000  # of the motions of a request, and of samples and programs of a retiming


def make() -> Run:
    """Return what asks about a tree, or about closed loops where the first bit is set."""
    machines = [_callbacks(load_model(config_file(name))) for name in FILES]
    return lambda data: answered(
        machines[data[0] >> 7], bytes((data[0] & 127,)) + data[1:]) if data else False


def _callbacks(model: Any) -> dict[str, Any]:
    answers = DynamicsAnswers(model, dissipation=True)

    def serve(name: str, request: Any, response: Any) -> None:
        method = getattr(answers, name)
        further: tuple[Any, ...] = ()
        if name in ('linearize', 'inverse_kinematics'):
            further = (Budget(evaluations=EVALUATIONS),)
        if name == 'retime':
            further = (lambda retiming: retiming.RetimingBudget(evaluations=EVALUATIONS),)
        if SERVICES[name] is Dynamics:
            method(request.query, response.answer)
        else:
            method(request, response, *further)
        outcome = getattr(response, 'answer', response)
        outcome.success = name != 'inverse_kinematics' or outcome.success

    return {name: (kind, partial(serve, name)) for name, kind in SERVICES.items()}


def seeds() -> Iterator[bytes]:
    """Return a good request of each service, about both machines."""
    for machine, name in enumerate(FILES):
        model = load_model(config_file(name))
        joints = [joint.name for joint in model.joint_list if joint.type_name != 'free']
        count = len(joints)
        closed = assemble(ConstrainedDynamics(model)) if model.closures else model.neutral()
        positions = [float(closed[model.joint(each).qi]) for each in joints]
        state = TreeState(joint_names=joints, positions=positions, velocities=[0.0] * count,
                          child_frame_id='base' if model.nv > count else '')
        state.base_pose.orientation = Quaternion(w=1.0)
        body = next(iter(model.bodies))
        driven = [joint.name for joint in model.joint_list
                  if joint.actuated and joint.name in joints]
        for k, service in enumerate(sorted(SERVICES)):
            yield bytes((k | machine << 7,)) + serialize_message(
                _request(service, state, body, driven))


def _request(service: str, state: TreeState, body: str, driven: list[str]) -> Any:
    """Return a good request at rest, with a wrench of zero on a body."""
    kind, zero = SERVICES[service], [0.0] * len(state.joint_names)
    if kind is DescribeModel:
        return DescribeModel.Request()
    if kind is EquationsOfMotion:
        return EquationsOfMotion.Request(state=state)
    if kind is Linearize:
        return Linearize.Request(states=[state], step=0.01)
    if kind is InverseKinematics:
        return InverseKinematics.Request(
            start=state, targets=[FrameTarget(frame=body, poses=[Pose()])], starts=3)
    if kind is RetimeTrajectory:
        return _path(state, driven)
    query = DynamicsQuery(state=state, external=[BodyWrench(body=body)])
    if service != 'forward':
        query.accelerations = [TreeAcceleration(joints=zero)]
    if service != 'inverse':
        query.efforts = [TreeEffort(joints=zero)]
    return Dynamics.Request(query=query)


def _path(state: TreeState, driven: list[str]) -> RetimeTrajectory.Request:
    """Return two waypoints near a state, of the joints that motors drive."""
    start = dict(zip(state.joint_names, state.positions))
    places = [[0.1 * k + start[name] for name in driven] for k in range(2)]
    request = RetimeTrajectory.Request(intervals=10, trajectory=JointTrajectory(
        joint_names=driven,
        points=[JointTrajectoryPoint(positions=place) for place in places]))
    request.limits.joint_names = driven
    request.limits.acceleration = [1.0] * len(places[0])
    if state.child_frame_id:
        request.multi_dof_trajectory = MultiDOFJointTrajectory(
            joint_names=[state.child_frame_id],
            points=[MultiDOFJointTrajectoryPoint(transforms=[Transform()])] * 2)
    return request


TARGET = Target(make, seeds)
