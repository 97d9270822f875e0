# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs as messages of trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Pose, Transform, Twist
import numpy as np
from trajectory_msgs.msg import (
    JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint)

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, MinimalCoordinates
from liedyn_ros.model import JOINT_TYPES
from liedyn_ros.nodes.dynamics.retiming.limits import LIMIT_FIELDS
from liedyn_ros.retiming import Retimed, RetimedSamples
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages

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
