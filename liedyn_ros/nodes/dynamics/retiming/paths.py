# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The path of a request, of a tree, closed loops or a platform."""

from __future__ import annotations

from geometry_msgs.msg import Point, Pose, Transform
from liedyn_interfaces.msg import TreeState
from liedyn_interfaces.srv import RetimeTrajectory
import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError, NameSetError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import JOINT_TYPES
from liedyn_ros.retiming import BlendedPath, LoopPath, PlatformPath, RetimingBudget, SplinePath
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import TreeMessages
from liedyn_ros.stewart import StewartGeometry


def read_path(dynamics: Dynamics | ConstrainedDynamics, geometry: StewartGeometry | None,
              messages: TreeMessages, request: RetimeTrajectory.Request, budget: RetimingBudget
              ) -> SplinePath | BlendedPath | LoopPath | PlatformPath:
    """Return the path through the waypoints of a request."""
    joints, poses = request.trajectory, request.multi_dof_trajectory
    blend = request.blend or None
    if geometry is not None:
        if joints.joint_names or joints.points:
            raise NameSetError('trajectory: expected no joints for a Stewart platform, got '
                               f'{list(joints.joint_names)}')
        return PlatformPath(geometry, _read_poses(messages, poses), budget, blend=blend,
                            start=_base_motion(poses, 0) if poses.points else None)
    if isinstance(dynamics, ConstrainedDynamics):
        if poses.points:
            raise LimitError('multi_dof_trajectory: expected no poses for a machine with closed '
                             f'loops, got {len(poses.points)}')
        return LoopPath(dynamics, _read_positions(joints), list(joints.joint_names), budget=budget,
                        blend=blend, start=_joint_motion(joints, 0), end=_joint_motion(joints, -1))
    waypoints = _read_configurations(messages, joints, poses)
    ends = [_motion(messages, joints, poses, at) for at in (0, -1)]
    if blend is None:
        return SplinePath(dynamics.model, waypoints, *ends)
    for name, motion in zip(('first', 'last'), ends):
        if motion is not None and motion.any():
            raise LimitError(f'blend: expected 0 where the {name} point has velocities, as lines '
                             f'have their own direction, got {blend}')
    return BlendedPath(dynamics.model, waypoints, blend)


def _read_positions(message: JointTrajectory) -> Array:
    """Return the positions (K, n) of a trajectory."""
    count = len(message.joint_names)
    for k, point in enumerate(message.points):
        if len(point.positions) != count:
            raise ShapeError(f'trajectory.points[{k}].positions: expected {count} numbers for '
                             f'the joints named, got {len(point.positions)}')
    shape = len(message.points), count
    return as_array('trajectory.points', np.reshape(
        [point.positions for point in message.points], shape), shape)


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
        raise LimitError(f'model: expected joints of one coordinate besides the base, got {wide}')
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


def _motion(messages: TreeMessages, joints: JointTrajectory, poses: MultiDOFJointTrajectory,
            at: int) -> Array | None:
    """Return v and a (2, nv) of a tree at a point, None at rest."""
    result = np.zeros((2, messages.model.nv))
    order = messages.names.order(joints.joint_names)
    if joints.points:
        result[:, order.v] = _joint_motion(joints, at)
    if messages.floating:
        result[:, :6] = _base_motion(poses, at)
    return result if result[0].any() else None


def _joint_motion(message: JointTrajectory, at: int) -> Array:
    """Return velocities and accelerations (2, n) of joints at a point; none at rest."""
    size = len(message.joint_names)
    result = np.zeros((2, size))
    if not message.points:
        return result
    for row, name in zip(result, ('velocities', 'accelerations')):
        given = getattr(message.points[at], name)
        if given and len(given) != size:
            raise ShapeError(f'trajectory.points[{at}].{name}: expected {size} numbers for the '
                             f'joints named, or none, got {len(given)}')
        row[:] = given or 0.0
    return as_array(f'trajectory.points[{at}]', result if result[0].any() else 0.0 * result,
                    (2, size))


def _base_motion(message: MultiDOFJointTrajectory, at: int) -> Array:
    """Return the twist of the base or platform and its derivative (2, 6) at a point."""
    result, point = np.zeros((2, 6)), message.points[at]
    for row, given in zip(result, (point.velocities, point.accelerations)):
        row[:] = conversions.from_twist(given[0]) if given else 0.0
    return as_array(f'multi_dof_trajectory.points[{at}]', result, (2, 6))
