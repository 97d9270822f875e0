# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Outputs of simulators of robots: state, TF, robot model, clock."""

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
import numpy as np
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import FloatingBase, Names
from liedyn_ros.lie import se3
from liedyn_ros.model import JOINT_TYPES, Model, to_urdf
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tf import Transforms
from liedyn_ros.ros.messages.tree_messages import doubles
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import LATCHED


class RobotOutputs:
    """
    The publishers and their reused messages; odometry and joint states have one stamp.

    Odometry is that of a floating base. Joint states are those of joints of one coordinate.
    """

    def __init__(self, node: ManagedNode, model: Model, world_frame: str, prefix: str, *,
                 with_clock: bool, described: bool = True) -> None:
        """
        Open the publishers; prefix is put before the frame ids of bodies.

        described: publish the model, too. Raises DescriptionError where URDF cannot describe it.
        """
        names = Names(model)
        self._base = None if names.base is None else FloatingBase(model)
        joints = [each for each in names.others.values() if JOINT_TYPES[each.type_name].nv == 1]
        self._q, self._v = ([getattr(each, at) for each in joints] for at in ('qi', 'vi'))
        self._joints = JointState(name=[each.name for each in joints])
        self._odometry = Odometry(child_frame_id=prefix + names.base_body)
        self._odometry.header.frame_id = world_frame
        self._states = [node.open_publisher(JointState, 'joint_states')]
        if self._base is not None:
            self._states.append(node.open_publisher(Odometry, 'odometry'))
        self._describe: Callable[[Any], None] | None = None
        if described:
            self._description = String(data=to_urdf(model))
            self._describe = node.open_publisher(String, 'robot_description', LATCHED).publish
        self._publish_clock = (
            node.open_publisher(Clock, '/clock').publish if with_clock else None)
        self.transforms = Transforms(node)
        self._parents = [-1 if joint.parent is None else model.body_index(joint.parent)
                         for joint in model.joint_list]
        self._frames = [TransformStamped(child_frame_id=prefix + joint.child)
                        for joint in model.joint_list]
        for frame, joint in zip(self._frames, model.joint_list):
            frame.header.frame_id = prefix + joint.parent if joint.parent else world_frame

    def describe(self) -> None:
        """Publish the robot model for RViz once, latched."""
        if self._describe is not None:
            self._describe(self._description)

    def publish(self, stamp_ns: int, q: Array, v: Array, efforts: Array | None = None) -> None:
        """Publish the time, and a state where someone listens; efforts (nv,) of the drives."""
        stamp = conversions.stamp_of(stamp_ns)
        if self._publish_clock is not None:
            self._publish_clock(Clock(clock=stamp))
        if not any(publisher.get_subscription_count() for publisher in self._states):
            return
        self._joints.header.stamp = stamp
        self._joints.position, self._joints.velocity = doubles(q[self._q]), doubles(v[self._v])
        if efforts is not None:
            self._joints.effort = doubles(efforts[self._v])
        if self._base is not None:
            self._odometry.header.stamp = stamp
            conversions.to_pose(self._base.pose(q), self._odometry.pose.pose)
            conversions.to_twist(v[:6], self._odometry.twist.twist)
            self._states[1].publish(self._odometry)
        self._states[0].publish(self._joints)

    def broadcast(self, stamp_ns: int, poses: Array) -> None:
        """Send the pose of every body in its parent, from their poses (B, 4, 4) in the world."""
        stamp = conversions.stamp_of(stamp_ns)
        above = np.concatenate((poses, np.eye(4)[None]))[self._parents]
        for transform, pose in zip(self._frames, se3.compose(se3.inverse(above), poses)):
            transform.header.stamp = stamp
            conversions.to_transform(pose, transform.transform)
        self.transforms.send(self._frames)
