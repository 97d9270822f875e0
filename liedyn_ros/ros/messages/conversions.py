# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Between ROS messages and the core's arrays; quaternions are x, y, z, w in both (REP 103)."""

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Accel, Pose, Transform, Twist, Wrench
import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, so3
from liedyn_ros.lie.kernels.motion import position_quaternion, split
from liedyn_ros.lie.kernels.so3 import to_quaternion

POSE_FIELDS = (*(f'position.{axis}' for axis in 'xyz'),  # of a Pose, as pose_numbers
               *(f'orientation.{part}' for part in 'xyzw'))


def nanoseconds(stamp: Time) -> int:
    """Return a stamp in ns."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def stamp_of(nanoseconds: int) -> Time:
    """Return the stamp of a time in ns."""
    sec, nanosec = divmod(nanoseconds, 1_000_000_000)
    return Time(sec=sec, nanosec=nanosec)


def to_pose(pose: Array, message: Pose) -> None:
    """Write a pose (4, 4), m, into a Pose message."""
    r, p = split(pose)
    position, orientation = message.position, message.orientation
    position.x, position.y, position.z = p
    orientation.x, orientation.y, orientation.z, orientation.w = to_quaternion(r)


def pose_numbers(pose: Array) -> tuple[float, ...]:
    """Return the seven numbers of a pose (4, 4), m, in the order of a Pose message."""
    numbers: tuple[float, ...] = position_quaternion(pose)
    return numbers


def to_transform(pose: Array, message: Transform) -> None:
    """Write a pose (4, 4), m, into a Transform message."""
    r, p = split(pose)
    translation, rotation = message.translation, message.rotation
    translation.x, translation.y, translation.z = p
    rotation.x, rotation.y, rotation.z, rotation.w = to_quaternion(r)


def to_twist(twist: Array, message: Twist | Accel) -> None:
    """Write a twist (w, v), rad/s and m/s, into a Twist message, or its derivative into Accel."""
    angular, linear = message.angular, message.linear
    angular.x, angular.y, angular.z, linear.x, linear.y, linear.z = twist.tolist()


def from_twist(message: Twist | Accel) -> tuple[float, ...]:
    """Return the six numbers (w, v) of a Twist or Accel message."""
    angular, linear = message.angular, message.linear
    return angular.x, angular.y, angular.z, linear.x, linear.y, linear.z


def to_wrench(wrench: Array, message: Wrench) -> None:
    """Write a wrench (m, f), N m and N, into a Wrench message."""
    torque, force = message.torque, message.force
    torque.x, torque.y, torque.z, force.x, force.y, force.z = wrench.tolist()


def from_wrench(message: Wrench) -> tuple[float, ...]:
    """Return the six numbers (m, f) of a Wrench message."""
    torque, force = message.torque, message.force
    return torque.x, torque.y, torque.z, force.x, force.y, force.z


def from_pose(message: Pose) -> Array:
    """Return the pose (4, 4), m, of a message; raises NotFiniteError or NotInGroupError."""
    p, q = message.position, message.orientation
    return from_position_quaternion([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])


def from_poses(messages: Sequence[Pose]) -> Array:
    """Return the poses (n, 4, 4), m, of messages; raises as above, naming the first that errs."""
    numbers = np.array([(p.x, p.y, p.z, q.x, q.y, q.z, q.w) for p, q in (
        (message.position, message.orientation) for message in messages)]).reshape(-1, 7)
    return se3.from_rotation_translation(
        so3.from_quaternion(numbers[:, 3:]), checks.as_array('position', numbers[:, :3], (-1, 3)))


def from_position_quaternion(position: list[float], quaternion: list[float]) -> Array:
    """Return the pose (4, 4), m, of a position and a unit quaternion; raises as above."""
    return se3.from_rotation_translation(
        so3.from_quaternion(checks.as_array('quaternion', quaternion, (4,))),
        checks.as_array('position', position, (3,)))
