# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Outputs of the simulator of the aerial manipulator: state, TF, robot model, clock."""

from geometry_msgs.msg import TransformStamped
from liedyn_interfaces.msg import TreeState
from nav_msgs.msg import Odometry
import numpy as np
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from liedyn_ros.aerial import AerialManipulator
from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3
from liedyn_ros.model import to_urdf
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tf import Transforms
from liedyn_ros.ros.messages.tree_messages import TreeMessages
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import LATCHED


class AerialOutputs:
    """The publishers and their reused messages; odometry and joint states have one stamp."""

    def __init__(self, node: ManagedNode, machine: AerialManipulator, world_frame: str,
                 prefix: str, *, with_clock: bool) -> None:
        """
        Open the publishers; prefix is put before the frame ids of bodies.

        Raises DescriptionError for a model that URDF cannot describe.
        """
        self._node, self._description = node, String(data=to_urdf(machine.model))
        self._tree = TreeMessages(machine.model)
        self._states = (node.open_publisher(Odometry, 'odometry'),
                        node.open_publisher(JointState, 'joint_states'))
        self._publish_odometry, self._publish_joints = (
            publisher.publish for publisher in self._states)
        self._publish_description = node.open_publisher(
            String, 'robot_description', LATCHED).publish
        self._publish_clock = (
            node.open_publisher(Clock, '/clock').publish if with_clock else None)
        self._state, self._odometry, self._joints = TreeState(), Odometry(), JointState()
        self._odometry.header.frame_id = world_frame
        self._odometry.child_frame_id = prefix + machine.base
        self._odometry.pose.pose = self._state.base_pose
        self._odometry.twist.twist = self._state.base_twist
        self._joints.name = list(machine.joints)
        self.transforms = Transforms(node)
        self._parents = [-1 if joint.parent is None else machine.model.body_index(joint.parent)
                         for joint in machine.model.joint_list]
        self._frames = [TransformStamped(child_frame_id=prefix + joint.child)
                        for joint in machine.model.joint_list]
        for frame, joint in zip(self._frames, machine.model.joint_list):
            frame.header.frame_id = prefix + joint.parent if joint.parent else world_frame

    def describe(self) -> None:
        """Publish the robot model for RViz once, latched."""
        self._publish_description(self._description)

    def publish(self, stamp_ns: int, q: Array, v: Array) -> None:
        """Publish the time, and a state where someone listens."""
        stamp = conversions.stamp_of(stamp_ns)
        if self._publish_clock is not None:
            self._publish_clock(Clock(clock=stamp))
        if not any(publisher.get_subscription_count() for publisher in self._states):
            return
        self._tree.to_state(q, v, self._state)
        self._odometry.header.stamp = self._joints.header.stamp = stamp
        self._joints.position = self._state.positions
        self._joints.velocity = self._state.velocities
        self._publish_odometry(self._odometry)
        self._publish_joints(self._joints)

    def broadcast(self, stamp_ns: int, poses: Array) -> None:
        """Send the pose of every body in its parent, from their poses (B, 4, 4) in the world."""
        stamp = conversions.stamp_of(stamp_ns)
        above = np.concatenate((poses, np.eye(4)[None]))[self._parents]
        for transform, pose in zip(self._frames, se3.compose(se3.inverse(above), poses)):
            transform.header.stamp = stamp
            conversions.to_transform(pose, transform.transform)
        self.transforms.send(self._frames)
