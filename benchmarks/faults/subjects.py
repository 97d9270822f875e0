# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The nodes that faults are done to: their input, and how good outputs are recognised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose, PoseStamped, TwistStamped
from liedyn_interfaces.msg import (
    DynamicsAnswer, DynamicsQuery, RetimingLimits, StewartStatus, TreeAcceleration, TreeState)
from liedyn_interfaces.srv import Dynamics, RetimeTrajectory, StewartInverseKinematics
from nav_msgs.msg import Odometry
import numpy as np
from rcl_interfaces.srv import GetParameters
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from benchmarks.faults.figures import MAX_GAP, STEADY
from liedyn_ros.aerial import AerialManipulator, Reference
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_model
from liedyn_ros.ros.messages.conversions import from_pose
from liedyn_ros.stewart import leg_lengths, load_geometry

HOME = (0.0, 0.0, 0.5)  # m, where the platform is held
START = (1.0, 0.0, 1.5)  # m, where the aerial manipulator starts
WEIGHT = 4.68 * 9.81  # N, of the aerial manipulator
LEG_FORCE = 19.64815  # N, of each leg at home
HOVER = 400.0  # rad/s, of rotors that about bear the weight
CLOSE = 1e-4  # m
LEG = 'hip', 'knee', 'crank_joint', 'rod_joint'  # joints of the linkage leg
# s for which nobody resets the vehicle, which then falls: the 3 s of a fault, and the wait for an
# answer of the service.
FALL = 5.0
NEAR = 0.5 * 9.81 * FALL ** 2  # m, that it falls meanwhile

Stamped = tuple[str, Any]  # topic, message with a header


@dataclass(frozen=True)
class Subject:
    """
    A node under test.

    inputs: returns topics and messages, which are sent together with one stamp. output: type and
    topic. good: whether an output is right. service: type, name and request; served tells
    whether its response is right. helpers: nodes that it needs. matched: each input has an
    output with its stamp. steady, max_gap: of its outputs, as in a Record. counts: whether a
    message of the output's topic is an output at all.
    """

    node: str
    module: str
    output: tuple[Any, str]
    good: Callable[[Any], bool]
    inputs: Callable[[], Sequence[Stamped]] = tuple
    parameters: Sequence[str] = ()
    service: tuple[Any, str, Callable[[], Any]] | None = None
    served: Callable[[Any], bool] = lambda response: bool(response.success)
    helpers: Sequence[str] = ()
    matched: bool = True
    steady: int = STEADY
    max_gap: float = MAX_GAP
    counts: Callable[[Any], bool] = lambda message: True

    @cached_property
    def question(self) -> tuple[Any, str, Any]:
        """Return type, name and request of the service; by default that of the parameters."""
        if self.service is None:
            return GetParameters, f'{self.node}/get_parameters', GetParameters.Request(
                names=['autostart'])
        kind, name, request = self.service
        return kind, name, request()

    def answers(self, response: Any) -> bool:
        """Return whether a response of the service is right."""
        return len(response.values) == 1 if self.service is None else self.served(response)


@cache
def platform_geometry() -> Any:
    """Return the geometry that the nodes of the platform have by default."""
    return load_geometry(config_file('stewart_geometry.yaml'))


def leg_states() -> list[Stamped]:
    """Return leg lengths at home, at rest."""
    geometry, home = platform_geometry(), np.eye(4)
    home[:3, 3] = HOME
    return [('leg_states', JointState(
        name=list(geometry.leg_names), velocity=[0.0] * 6,
        position=leg_lengths(geometry, home).tolist()))]


def leg_forces() -> list[Stamped]:
    """Return forces that hold the platform at home."""
    return [('leg_forces', JointState(
        name=list(platform_geometry().leg_names), effort=[LEG_FORCE] * 6))]


def platform_state() -> list[Stamped]:
    """Return a pose at home, and a twist of zero."""
    twist = TwistStamped()
    twist.header.frame_id = 'stewart_platform'
    return [('pose', home_pose()), ('twist', twist)]


def home_pose() -> PoseStamped:
    """Return the platform's pose at home."""
    message = PoseStamped()
    message.header.frame_id = 'stewart_base'
    message.pose.position.z, message.pose.orientation.w = HOME[2], 1.0
    return message


def machine() -> AerialManipulator:
    """Return the aerial manipulator of the package."""
    return AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))


def vehicle_state() -> list[Stamped]:
    """Return the aerial manipulator at rest at the start of its reference."""
    names = list(machine().joints)
    odometry = Odometry(child_frame_id='base')
    odometry.header.frame_id = 'world'
    position = odometry.pose.pose.position
    position.x, position.y, position.z = START
    return [('odometry', odometry), ('joint_states', JointState(
        name=names, position=list(Reference().joint_start), velocity=[0.0] * len(names)))]


def vehicle_commands() -> list[Stamped]:
    """Return rotor speeds and joint torques of about a hover."""
    vehicle = machine()
    return [('rotor_speeds', JointState(
        name=list(vehicle.rotors), velocity=[HOVER] * len(vehicle.rotors))),
            ('joint_torques', JointState(
                name=list(vehicle.joints), effort=[0.0] * len(vehicle.joints)))]


def arm_torques() -> list[Stamped]:
    """Return torques of two joints of the arm, which barely move it."""
    return [('joint_torques', JointState(name=['shoulder_pan', 'wrist_3'], effort=[0.1, 0.0]))]


def query() -> DynamicsQuery:
    """Return a query of the efforts that hold the aerial manipulator at rest."""
    names = list(machine().joints)
    state = TreeState(child_frame_id='base', joint_names=names, positions=[0.1] * len(names))
    state.base_pose.orientation.w = 1.0
    return DynamicsQuery(state=state, accelerations=[TreeAcceleration(joints=[0.0] * len(names))])


def encoders() -> list[Stamped]:
    """Return the measured joints of the linkage leg, at rest."""
    return [('measured_joint_states', JointState(
        name=['hip', 'crank_joint'], position=[0.1, 0.2], velocity=[0.0, 0.0]))]


def standing_joints() -> list[Stamped]:
    """Return joints of the linkage leg that stand where its path begins."""
    return [('joint_states', JointState(name=list(LEG), position=[0.1] * len(LEG)))]


def path() -> RetimeTrajectory.Request:
    """Return a path of the linkage leg: a run goes as far as joints may lag, and waits there."""
    limits = RetimingLimits(joint_names=LEG, velocity=[0.5] * 4, acceleration=[5.0] * 4)
    return RetimeTrajectory.Request(limits=limits, trajectory=JointTrajectory(
        joint_names=LEG, points=[JointTrajectoryPoint(positions=[each] * len(LEG))
                                 for each in (0.1, 0.6)]))


def at(position: Any, wanted: Sequence[float], within: float) -> bool:
    """Return whether a position of a message is near another."""
    return bool(np.abs(np.subtract((position.x, position.y, position.z), wanted)).max() < within)


def within_travel(pose: Pose) -> bool:
    """
    Return whether a platform's legs are within their travel; beyond it the simulator restarts.

    A bound on its distance from home would say less. Constant forces hold it only where a reset
    comes now and then: home is an unstable equilibrium.
    """
    try:
        platform_geometry().require_within_limits(
            leg_lengths(platform_geometry(), from_pose(pose)))
    except LiedynError:
        return False
    return True


def seen() -> list[Stamped]:
    """Return a pose at home, and the status of its solve."""
    return [('pose', home_pose()), ('status', StewartStatus(length=[0.5] * 6))]


def drawn(report: DiagnosticArray) -> bool:
    """Return whether a view drew pictures of messages that it took."""
    values = _values_of_page(report)
    return int(values.get('taken', 0)) > 0 and int(values.get('pictures', 0)) > 0


def on_loopback(report: DiagnosticArray) -> bool:
    """Return whether the page of a view is for this computer alone."""
    return _values_of_page(report)['address'].startswith('http://127.0.0.1:')


def _values_of_page(report: DiagnosticArray) -> dict[str, str]:
    return {each.key: each.value for status in report.status
            if status.name.endswith('view: page') for each in status.values}


def right_efforts(answer: DynamicsAnswer) -> bool:
    """Return whether an answer has the vehicle's weight as the base's force."""
    return answer.success and abs(answer.efforts[0].base.force.z - WEIGHT) < 0.01


def finite(values: Sequence[float], size: int) -> bool:
    """Return whether there are as many finite numbers."""
    return len(values) == size and bool(np.isfinite(values).all())


SUBJECTS = {subject.node: subject for subject in (
    Subject(
        'stewart_pose', 'liedyn_ros.nodes.stewart.pose', (PoseStamped, 'pose'),
        lambda message: at(message.pose.position, HOME, CLOSE), leg_states,
        service=(StewartInverseKinematics, 'stewart_pose/inverse_kinematics',
                 lambda: StewartInverseKinematics.Request(pose=home_pose())),
        served=lambda response: response.success and finite(response.lengths, 6)),
    Subject(
        'stewart_simulator', 'liedyn_ros.nodes.stewart.simulator', (JointState, 'leg_states'),
        lambda message: finite(message.position, 6) and min(message.position) > 0.0,
        parameters=('rate:=100.0',), matched=False),
    Subject(
        'stewart_dynamics_simulator', 'liedyn_ros.nodes.stewart.dynamics_simulator',
        (PoseStamped, 'true_pose'), lambda message: within_travel(message.pose),
        leg_forces, ('rate:=100.0',),
        (Trigger, 'stewart_dynamics_simulator/reset', Trigger.Request), matched=False),
    Subject(
        'stewart_controller', 'liedyn_ros.nodes.stewart.controller', (JointState, 'leg_forces'),
        lambda message: finite(message.effort, 6), platform_state),
    Subject(
        'dynamics_server', 'liedyn_ros.nodes.dynamics.server',
        (DynamicsAnswer, 'dynamics_server/inverse_dynamics/answer'), right_efforts,
        lambda: [('dynamics_server/inverse_dynamics/query', query())],
        ('model_file:=aerial_manipulator.yaml',),
        (Dynamics, 'dynamics_server/inverse_dynamics', lambda: Dynamics.Request(query=query())),
        lambda response: right_efforts(response.answer)),
    Subject(
        'aerial_manipulator_simulator', 'liedyn_ros.nodes.aerial.simulator',
        (Odometry, 'odometry'), lambda message: at(message.pose.pose.position, START, NEAR),
        vehicle_commands, ('publish_rate:=100.0',),
        (Trigger, 'aerial_manipulator_simulator/reset', Trigger.Request), matched=False),
    Subject(
        'aerial_manipulator_controller', 'liedyn_ros.nodes.aerial.controller',
        (JointState, 'rotor_speeds'), lambda message: finite(message.velocity, 6),
        vehicle_state, helpers=('dynamics_server',)),
    Subject(
        'loop_state_publisher', 'liedyn_ros.nodes.loops.state_publisher',
        (JointState, 'joint_states'),
        lambda message: finite(message.position, 4) and abs(
            message.position[message.name.index('hip')] - 0.1) < CLOSE,
        encoders, ('model_file:=linkage_leg.urdf', 'loops_file:=linkage_leg_loops.yaml')),
    Subject(
        'path_runner', 'liedyn_ros.nodes.path_runner', (JointTrajectory, 'joint_trajectory'),
        lambda message: finite(message.points[0].positions, len(LEG)), standing_joints,
        ('model_file:=linkage_leg.urdf',), (RetimeTrajectory, 'path_runner/run', path),
        lambda response: response.success,
        matched=False),
    Subject(
        'mujoco_simulator', 'liedyn_ros.nodes.dynamics.mujoco_simulator',
        (JointState, 'joint_states'), lambda message: finite(message.position, 6), arm_torques,
        ('model_file:=arm.urdf', 'publish_rate:=100.0'),
        (Trigger, 'mujoco_simulator/reset', Trigger.Request), matched=False),
    # It publishes nothing but what it says of its pictures, once a second.
    Subject('view', 'liedyn_ros.view', (DiagnosticArray, '/diagnostics'), on_loopback, seen,
            matched=False, steady=2, max_gap=3.0, counts=drawn),
)}
