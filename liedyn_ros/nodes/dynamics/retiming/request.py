# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The request for the fastest run along a path: its limits, its machine, the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import InertiaStamped, Pose, Transform, Twist
from liedyn_interfaces.action import RetimeTrajectory as RetimeAction
from liedyn_interfaces.msg import RetimingFrameLimits, RetimingLimits
from liedyn_interfaces.srv import RetimeTrajectory
import numpy as np
from trajectory_msgs.msg import (
    JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint)

from liedyn_ros.common.checks import Array, require_known
from liedyn_ros.common.errors import LiedynError, LimitError, NameSetError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, MinimalCoordinates
from liedyn_ros.model import JOINT_TYPES, Model, ModelBuilder, SpatialInertia
from liedyn_ros.nodes.dynamics.retiming.paths import read_path
from liedyn_ros.retiming import (
    FrameLimits, MotionLimits, retime, Retimed, RetimedSamples, RetimingBudget, stop_along)
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages
from liedyn_ros.ros.node.goals import seconds_of, Watch
from liedyn_ros.stewart import StewartGeometry

LIMIT_OF_FIELD = {'velocity': 'velocity', 'acceleration': 'acceleration', 'jerk': 'jerk',
                  'effort': 'torque', 'least_effort': 'least_torque', 'effort_rate': 'torque_rate',
                  'effort_per_velocity': 'torque_per_speed', 'power': 'power'}
LIMIT_FIELDS = {ours: field for field, ours in LIMIT_OF_FIELD.items()}
MAX_LIMITED_FRAMES, MAX_PAYLOADS = 20, 20
_ANY = 'least_effort', 'effort_per_velocity'  # which the limits check themselves
_FRAME = 'velocity', 'acceleration', 'angular_velocity', 'angular_acceleration'


def read_limits(model: Model, message: RetimingLimits) -> MotionLimits:
    """Return the limits of a message; coordinates that it does not name have the model's."""
    places = {name: k for k, name in enumerate(model.coordinate_names)}
    require_known(NameSetError, 'limits.joint_names', places, message.joint_names, 'coordinates')
    if len(set(message.joint_names)) < len(message.joint_names):
        raise NameSetError(f'limits.joint_names: expected each coordinate once, '
                           f'got {list(message.joint_names)}', names=message.joint_names)
    of_model: dict[str, Array] = {
        'velocity': model.limits.velocity, 'torque': model.limits.effort,
        'acceleration': model.limits.acceleration, 'jerk': model.limits.jerk,
        'least_torque': -model.limits.effort, 'torque_per_speed': np.zeros(model.nv)}
    found: dict[str, Any] = {}
    for field, name in LIMIT_OF_FIELD.items():
        given = getattr(message, field)
        if not given:
            continue
        if len(given) != len(message.joint_names):
            raise ShapeError(f'limits.{field}: expected {len(message.joint_names)} numbers for '
                             f'the joints named, or none, got {len(given)}')
        values = np.array(of_model.get(name, np.full(model.nv, np.inf)))
        values[[places[joint] for joint in message.joint_names]] = given
        wrong = [joint for joint, value in zip(message.joint_names, given)
                 if field not in _ANY and not value > 0.0]
        if wrong:
            raise LimitError(f'limits.{field}: expected numbers above 0, got '
                             f'{given[message.joint_names.index(wrong[0])]} for {wrong[0]}')
        found[name] = values
    return MotionLimits(**found, frames=_read_frames(model, message.frames))


def _read_frames(model: Model, messages: Sequence[RetimingFrameLimits]) -> list[FrameLimits]:
    """Return the limits of frames; 0 stands for none."""
    if len(messages) > MAX_LIMITED_FRAMES:
        raise ShapeError(f'limits.frames: expected at most {MAX_LIMITED_FRAMES}, got '
                         f'{len(messages)}')
    result = []
    for k, each in enumerate(messages):
        point = each.point.x, each.point.y, each.point.z
        try:
            model.frame_index(each.frame)
            result.append(FrameLimits(each.frame, point=point, **{
                name: getattr(each, name) or np.inf for name in _FRAME}))
        except LiedynError as error:
            raise type(error)(f'limits.frames[{k}]: {error}') from error
    return result


def loaded(dynamics: Dynamics | ConstrainedDynamics, payloads: Sequence[InertiaStamped]
           ) -> Dynamics | ConstrainedDynamics:
    """Return the dynamics of a machine with payloads; raises LiedynError naming the payload."""
    if not payloads:
        return dynamics
    if len(payloads) > MAX_PAYLOADS:
        raise ShapeError(f'payloads: expected at most {MAX_PAYLOADS}, got {len(payloads)}')
    builder = ModelBuilder.of(dynamics.model)
    for k, each in enumerate(payloads):
        of, com = each.inertia, each.inertia.com
        try:
            builder.add_payload(f'payload_{k}', _body(dynamics.model, each.header.frame_id),
                                SpatialInertia(of.m, (com.x, com.y, com.z), [
                                    [of.ixx, of.ixy, of.ixz], [of.ixy, of.iyy, of.iyz],
                                    [of.ixz, of.iyz, of.izz]]))
        except LiedynError as error:
            raise type(error)(f'payloads[{k}]: {error}') from error
    model = builder.build()
    return ConstrainedDynamics(model, dissipation=dynamics.tree.dissipation) if isinstance(
        dynamics, ConstrainedDynamics) else Dynamics(model, dissipation=dynamics.dissipation)


def _body(model: Model, frame: str) -> str:
    """Return the child body of a joint, or the frame as it is."""
    return model.joint(frame).child if frame in model.joints else frame


MAX_BINDING = 10  # limits of the answer


def write_joints(dynamics: Dynamics | ConstrainedDynamics | MinimalCoordinates,
                 messages: TreeMessages, names: Sequence[str], at: RetimedSamples,
                 message: JointTrajectory) -> None:
    """Write the actuated joints, or those of a tree in the order of the request."""
    model = dynamics.model
    if isinstance(dynamics, ConstrainedDynamics):
        names = [joint.name for joint in messages.names.others.values() if joint.actuated
                 and JOINT_TYPES[joint.type_name].nv == 1]
    joints = [model.joint(name) for name in names]
    q, v = [joint.qi for joint in joints], [joint.vi for joint in joints]
    message.joint_names = list(names)
    rows = zip(at.t, *(np.ascontiguousarray(each) for each in (
        at.q[:, q], at.v[:, v], at.a[:, v], at.torque[:, v])))
    message.points = [JointTrajectoryPoint(
        positions=doubles(position), velocities=doubles(velocity),
        accelerations=doubles(acceleration), effort=doubles(effort),
        time_from_start=_duration(t)) for t, position, velocity, acceleration, effort in rows]


def write_base(messages: TreeMessages, at: RetimedSamples,
               message: MultiDOFJointTrajectory) -> None:
    """Write the floating base, or the platform, where there is one."""
    if messages.base is None:
        return
    message.joint_names = [messages.names.base_body]
    message.points = []
    for t, q, v, a in zip(at.t, at.q, at.v, at.a):
        pose, transform, twists = Pose(), Transform(), (Twist(), Twist())
        conversions.to_pose(messages.base.pose(q), pose)
        p = pose.position
        transform.translation.x, transform.translation.y, transform.translation.z = p.x, p.y, p.z
        transform.rotation = pose.orientation
        for values, twist in zip((v, a), twists):
            conversions.to_twist(values[:6], twist)
        message.points.append(MultiDOFJointTrajectoryPoint(
            transforms=[transform], velocities=[twists[0]], accelerations=[twists[1]],
            time_from_start=_duration(t)))


def write_binding(run: Retimed, response: Any) -> None:
    """Write the limits that bind most, and their shares of the time."""
    shares: dict[str, float] = {}
    for (limit, name), part in zip(run.binding, np.diff(run.interval_times) / run.duration):
        key = f'{LIMIT_FIELDS.get(limit, limit)} {name}'
        shares[key] = shares.get(key, 0.0) + float(part)
    most = sorted(shares.items(), key=lambda each: -each[1])[:MAX_BINDING]
    response.binding_limits = [name for name, _ in most]
    response.binding_shares = [share for _, share in most]


def _duration(t: float) -> Duration:
    """Return seconds as a message."""
    seconds, rest = divmod(round(float(t) * 10**9), 10**9)
    return Duration(sec=seconds, nanosec=rest)


MAX_WAYPOINTS, MAX_RUN_COORDINATES, MAX_INTERVALS = 1000, 300, 1000
MAX_PLACES = 30_000  # velocity coordinates times intervals
MAX_ANSWER_POINTS = 10_000  # of the answer
MAX_RUN_SECONDS = 10.0  # of a request
SAMPLE_PERIOD, DEFAULT_INTERVALS = 0.01, 100  # where the request has 0


def retiming_budget(require_active: Callable[[], object]) -> RetimingBudget:
    """Return the bounds of a request, which ends too where require_active raises an error."""
    def look(_: float) -> None:
        require_active()

    return RetimingBudget(seconds=MAX_RUN_SECONDS, watch=look)


def retiming_goal_budget(goal: RetimeAction.Goal, watch: Watch) -> RetimingBudget:
    """Return the bounds of a goal, with what watches it; raise LimitError for its time_limit."""
    def look(_: float) -> None:
        watch(lambda: RetimeAction.Feedback(
            rounds=budget.rounds, duration=budget.duration, elapsed=budget.seconds))

    budget = RetimingBudget(seconds=seconds_of(goal), watch=look)
    return budget


def handle_retime(dynamics: Dynamics | ConstrainedDynamics, geometry: StewartGeometry | None,
                  messages: TreeMessages, request: RetimeTrajectory.Request,
                  response: RetimeTrajectory.Response, budget: RetimingBudget) -> Retimed:
    """
    Fill in the response and return the run, or raise LiedynError and write nothing.

    The error names the wrong field. geometry is that of a platform, whose waypoints are poses.
    Request and response are those of the service, or the goal and the result of the action.
    """
    period = request.sample_period or SAMPLE_PERIOD
    begin = time.perf_counter()
    run = plan(dynamics, geometry, messages, request, budget)
    if not run.duration / period < MAX_ANSWER_POINTS:  # nor a NaN
        raise LimitError(f'sample_period: expected at most {MAX_ANSWER_POINTS} points in '
                         f'{run.duration:.6g} s, got {period} s')
    at = run.at(np.append(np.arange(0.0, run.duration, period), run.duration))
    lower_bound = run.lower_bound
    response.header.stamp = request.header.stamp
    response.header.frame_id = messages.names.base_body
    response.duration = run.duration
    response.uniform_duration = run.uniform_duration if np.isfinite(run.uniform_duration) else 0.0
    response.lower_bound = lower_bound
    write_joints(dynamics, messages, request.trajectory.joint_names, at, response.trajectory)
    write_base(messages, at, response.multi_dof_trajectory)
    write_binding(run, response)
    response.solve_time = time.perf_counter() - begin
    return run


def plan(dynamics: Dynamics | ConstrainedDynamics, geometry: StewartGeometry | None,
         messages: TreeMessages, request: RetimeTrajectory.Request, budget: RetimingBudget
         ) -> Retimed:
    """Return the run that a request asks for; raises as handle_retime does."""
    intervals = request.intervals or DEFAULT_INTERVALS
    _require_sizes(request, dynamics.model.nv, intervals)
    machine = loaded(dynamics, request.payloads)
    limits = read_limits(machine.model, request.limits)
    external = _read_external(machine, messages, request)
    budget.look()
    path = read_path(dynamics, geometry, messages, request, budget)
    if not request.stop:
        return retime(machine, path, limits, start=path.start, end=path.end, intervals=intervals,
                      external=external, budget=budget)
    if path.start is None:
        raise LimitError('stop: expected velocities of the first point, in which the machine '
                         'moves, got none')
    return stop_along(machine, path, limits, start=path.start, intervals=intervals,
                      external=external, budget=budget)


def _read_external(machine: Dynamics | ConstrainedDynamics, messages: TreeMessages,
                   request: RetimeTrajectory.Request) -> Array | None:
    """Return the wrenches (B, 6) on the bodies of a machine, None without any."""
    of = TreeMessages(machine.model) if request.payloads else messages
    return of.read_external(request.external, 1)


def _require_sizes(request: RetimeTrajectory.Request, nv: int, intervals: int) -> None:
    """Raise LimitError or ShapeError for a request beyond the bounds."""
    if nv > MAX_RUN_COORDINATES:
        raise LimitError(f'model: expected at most {MAX_RUN_COORDINATES} velocity coordinates for '
                         f'retiming, got {nv}')
    most = min(MAX_INTERVALS, MAX_PLACES // nv) if nv else MAX_INTERVALS
    if intervals > most:
        raise LimitError(f'intervals: expected at most {most} for {nv} velocity coordinates, '
                         f'got {intervals}')
    for name in ('trajectory', 'multi_dof_trajectory'):
        count = len(getattr(request, name).points)
        if count > MAX_WAYPOINTS:
            raise ShapeError(f'{name}.points: expected at most {MAX_WAYPOINTS}, got {count}')
    if not 0.0 <= request.blend < np.inf:
        raise LimitError(f'blend: expected 0 or more, got {request.blend}')
    if not 0.0 <= request.sample_period < np.inf:
        raise LimitError(f'sample_period: expected 0 or more, got {request.sample_period}')
