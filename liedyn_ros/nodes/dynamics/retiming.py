# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The request for the fastest run along a path, of a tree, closed loops or a platform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, Transform, Twist
from liedyn_interfaces.action import RetimeTrajectory as RetimeAction
from liedyn_interfaces.msg import RetimingLimits, TreeState
from liedyn_interfaces.srv import RetimeTrajectory
import numpy as np
from trajectory_msgs.msg import (
    JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint)

from liedyn_ros.common.checks import Array, as_array, require_known
from liedyn_ros.common.errors import LimitError, NameSetError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.retiming import (
    BlendedPath, LoopPath, MotionLimits, Path, PlatformPath, retime, Retimed, RetimedSamples,
    RetimingBudget, SplinePath)
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages
from liedyn_ros.ros.node.goals import Watch
from liedyn_ros.stewart import StewartGeometry

MAX_WAYPOINTS, MAX_COORDINATES, MAX_INTERVALS = 1000, 300, 1000
MAX_PLACES = 30_000  # velocity coordinates times intervals
MAX_POINTS = 10_000  # of the answer
MAX_SECONDS = 10.0  # of a request
GOAL_SECONDS, MAX_GOAL_SECONDS = 3600.0, 86400.0  # of a goal, unless it says so, and at most
SAMPLE_PERIOD, INTERVALS = 0.01, 100  # where the request has 0
MAX_BINDING = 10  # limits of the answer
LIMITS = {'velocity': 'velocity', 'acceleration': 'acceleration', 'jerk': 'jerk',
          'effort': 'torque', 'effort_rate': 'torque_rate', 'power': 'power'}
_NAMES = {ours: field for field, ours in LIMITS.items()}


def retiming_budget(require_active: Callable[[], object]) -> RetimingBudget:
    """Return the bounds of a request, which ends too where require_active raises an error."""
    def look(_: float) -> None:
        require_active()

    return RetimingBudget(seconds=MAX_SECONDS, watch=look)


def retiming_goal_budget(goal: RetimeAction.Goal, watch: Watch) -> RetimingBudget:
    """Return the bounds of a goal, with what watches it; raise LimitError for its time_limit."""
    if not 0.0 <= goal.time_limit <= MAX_GOAL_SECONDS:  # nor a NaN
        raise LimitError(f'time_limit: expected 0 to {MAX_GOAL_SECONDS:g} s, '
                         f'got {goal.time_limit}')

    def look(_: float) -> None:
        watch(lambda: RetimeAction.Feedback(
            rounds=budget.rounds, duration=budget.duration, elapsed=budget.seconds))

    budget = RetimingBudget(seconds=goal.time_limit or GOAL_SECONDS, watch=look)
    return budget


def handle_retime(dynamics: Dynamics | ConstrainedDynamics, geometry: StewartGeometry | None,
                  messages: TreeMessages, request: RetimeTrajectory.Request,
                  response: RetimeTrajectory.Response, budget: RetimingBudget) -> None:
    """
    Fill in the response, or raise LiedynError that names the wrong field and write nothing.

    geometry is that of a platform, whose waypoints are poses. Request and response are those of
    the service, or the goal and the result of the action.
    """
    intervals = request.intervals or INTERVALS
    period = request.sample_period or SAMPLE_PERIOD
    _require_sizes(request, dynamics.model.nv, intervals)
    begin = time.perf_counter()
    limits = read_limits(dynamics.model, request.limits)
    budget.look()
    path = _path(dynamics, geometry, messages, request, budget)
    run = retime(path.dynamics if isinstance(path, PlatformPath) else dynamics, path, limits,
                 intervals=intervals, budget=budget)
    if not run.duration / period < MAX_POINTS:  # nor a NaN
        raise LimitError(f'sample_period: expected at most {MAX_POINTS} points in '
                         f'{run.duration:.6g} s, got {period} s')
    at = run.at(np.append(np.arange(0.0, run.duration, period), run.duration))
    lower_bound = run.lower_bound
    response.header.stamp = request.header.stamp
    response.header.frame_id = messages.names.base_body
    response.duration, response.uniform_duration = run.duration, run.uniform_duration
    response.lower_bound = lower_bound
    _write_joints(dynamics, messages, request.trajectory.joint_names, at, response.trajectory)
    _write_base(messages, at, response.multi_dof_trajectory)
    _write_binding(run, response)
    response.solve_time = time.perf_counter() - begin


def read_limits(model: Model, message: RetimingLimits) -> MotionLimits:
    """Return the limits of a message; coordinates that it does not name have the model's."""
    places = {name: k for k, name in enumerate(model.coordinate_names)}
    require_known(NameSetError, 'limits.joint_names', places, message.joint_names, 'coordinates')
    if len(set(message.joint_names)) < len(message.joint_names):
        raise NameSetError(f'limits.joint_names: expected each coordinate once, '
                           f'got {list(message.joint_names)}', names=message.joint_names)
    of_model = {'velocity': model.limits.velocity, 'torque': model.limits.effort}
    found = {}
    for field, name in LIMITS.items():
        given = getattr(message, field)
        if not given:
            continue
        if len(given) != len(message.joint_names):
            raise ShapeError(f'limits.{field}: expected {len(message.joint_names)} numbers for '
                             f'the joints named, or none, got {len(given)}')
        values = np.array(of_model.get(name, np.full(model.nv, np.inf)))
        values[[places[joint] for joint in message.joint_names]] = given
        wrong = [joint for joint, value in zip(message.joint_names, given) if not value > 0.0]
        if wrong:
            raise LimitError(f'limits.{field}: expected numbers above 0, got '
                             f'{given[message.joint_names.index(wrong[0])]} for {wrong[0]}')
        found[name] = values
    return MotionLimits(**found)


def _require_sizes(request: RetimeTrajectory.Request, nv: int, intervals: int) -> None:
    """Raise LimitError or ShapeError for a request beyond the bounds."""
    if nv > MAX_COORDINATES:
        raise LimitError(f'model: expected at most {MAX_COORDINATES} velocity coordinates for '
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


def _path(dynamics: Dynamics | ConstrainedDynamics, geometry: StewartGeometry | None,
          messages: TreeMessages, request: RetimeTrajectory.Request, budget: RetimingBudget
          ) -> Path:
    """Return the path through the waypoints of a request."""
    joints, poses = request.trajectory, request.multi_dof_trajectory
    if geometry is not None:
        if joints.joint_names or joints.points or request.blend:
            raise NameSetError('trajectory, blend: expected neither joints nor a blend for a '
                               f'Stewart platform, got {list(joints.joint_names)} and '
                               f'{request.blend}')
        return PlatformPath(geometry, _read_poses(messages, poses), budget)
    if isinstance(dynamics, ConstrainedDynamics):
        if poses.points or request.blend:
            raise LimitError('multi_dof_trajectory, blend: expected neither for a machine with '
                             f'closed loops, got {len(poses.points)} poses, {request.blend}')
        return LoopPath(dynamics, _read_positions(joints), list(joints.joint_names),
                        budget=budget)
    waypoints = _read_configurations(messages, joints, poses)
    return BlendedPath(dynamics.model, waypoints, request.blend) if request.blend else \
        SplinePath(dynamics.model, waypoints)


def _read_positions(message: JointTrajectory) -> Array:
    """Return the positions (K, n) of a trajectory."""
    count = len(message.joint_names)
    for k, point in enumerate(message.points):
        if len(point.positions) != count:
            raise ShapeError(f'trajectory.points[{k}].positions: expected {count} numbers for '
                             f'the joints named, got {len(point.positions)}')
    return as_array('trajectory.points', np.reshape(
        [point.positions for point in message.points], (-1, count)), (-1, count))


def _read_poses(messages: TreeMessages, message: MultiDOFJointTrajectory) -> Array:
    """Return the poses (K, 4, 4) of the base; raises NameSetError for another body."""
    _require_base(messages, message)
    return np.array([conversions.from_pose(_pose(point.transforms[0]))
                     for point in message.points]).reshape(-1, 4, 4)


def _require_base(messages: TreeMessages, message: MultiDOFJointTrajectory) -> None:
    """Raise NameSetError unless the base alone is named, ShapeError for a wrong count."""
    base = messages.names.base
    known = [] if base is None else [messages.names.base_body, base.name]
    if len(message.joint_names) != 1 or message.joint_names[0] not in known:
        raise NameSetError(f'multi_dof_trajectory.joint_names: expected one of {known}, got '
                           f'{list(message.joint_names)}')
    for k, point in enumerate(message.points):
        if len(point.transforms) != 1:
            raise ShapeError(f'multi_dof_trajectory.points[{k}].transforms: expected one, got '
                             f'{len(point.transforms)}')


def _read_configurations(messages: TreeMessages, joints: JointTrajectory,
                         poses: MultiDOFJointTrajectory) -> Array:
    """Return the configurations (K, nq) of a tree."""
    wide = [joint.name for joint in messages.names.others.values()
            if JOINT_TYPES[joint.type_name].nq != 1]
    if wide:
        raise LimitError(f'model: expected joints of one coordinate beside the base, got {wide}')
    _read_positions(joints)
    given = list(joints.points)
    if messages.floating:
        _require_base(messages, poses)
        given = given or [JointTrajectoryPoint() for _ in poses.points]
        if len(given) != len(poses.points):
            raise ShapeError(f'multi_dof_trajectory.points: expected {len(given)}, as many as '
                             f'points of the trajectory, got {len(poses.points)}')
    elif poses.points or poses.joint_names:
        raise NameSetError('multi_dof_trajectory: expected none, as the base is fixed, got '
                           f'{list(poses.joint_names)}')
    result = np.empty((len(given), messages.model.nq))
    for k, (point, row) in enumerate(zip(given, result)):
        state = TreeState(child_frame_id=messages.names.base_body,
                          joint_names=joints.joint_names, positions=point.positions)
        if messages.floating:
            state.base_pose = _pose(poses.points[k].transforms[0])
        row[:] = messages.read_state(state)[0]
    return result


def _pose(message: Transform) -> Pose:
    """Return a Transform as a Pose."""
    p = message.translation
    return Pose(position=Point(x=p.x, y=p.y, z=p.z), orientation=message.rotation)


def _write_joints(dynamics: Dynamics | ConstrainedDynamics, messages: TreeMessages,
                  names: Sequence[str], at: RetimedSamples, message: JointTrajectory) -> None:
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


def _write_base(messages: TreeMessages, at: RetimedSamples,
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


def _write_binding(run: Retimed, response: Any) -> None:
    """Write the limits that bind most, and their shares of the time."""
    shares: dict[str, float] = {}
    for (limit, name), part in zip(run.binding, np.diff(run.interval_times) / run.duration):
        key = f'{_NAMES.get(limit, limit)} {name}'
        shares[key] = shares.get(key, 0.0) + float(part)
    most = sorted(shares.items(), key=lambda each: -each[1])[:MAX_BINDING]
    response.binding_limits = [name for name, _ in most]
    response.binding_shares = [share for _, share in most]


def _duration(t: float) -> Duration:
    """Return seconds as a message."""
    seconds, rest = divmod(round(float(t) * 10**9), 10**9)
    return Duration(sec=seconds, nanosec=rest)
