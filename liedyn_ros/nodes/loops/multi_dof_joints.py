# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Joints of several degrees of freedom, such as universal ones: no JointState can hold them."""

from geometry_msgs.msg import Transform, TransformStamped, Twist
from sensor_msgs.msg import MultiDOFJointState

from liedyn_ros.dynamics.constrained import LoopState
from liedyn_ros.nodes.loops.machine import LoopedMachine
from liedyn_ros.ros.messages.conversions import stamp_of, to_transform, to_twist
from liedyn_ros.ros.messages.tf import Transforms
from liedyn_ros.ros.node.lifecycle import ManagedNode


class MultiDofJointOutputs:
    """
    The poses of the child bodies in their parent bodies, as MultiDOFJointState and on TF.

    robot_state_publisher leaves such joints out: without them the tree of frames is in parts.
    """

    def __init__(self, node: ManagedNode, frame_prefix: str) -> None:
        """Open the publishers; frame_prefix is put before the frame ids of TF."""
        self._prefix = frame_prefix
        self._publisher = node.open_publisher(MultiDOFJointState, 'multi_dof_joint_states')
        self.transforms = Transforms(node)

    def publish(self, machine: LoopedMachine, state: LoopState, stamp_ns: int) -> None:
        """Publish a state's joints where someone listens, with twists if velocities are known."""
        with_tf = self.transforms.are_due(stamp_ns)
        if not (with_tf or self._publisher.get_subscription_count()):
            return
        stamp, message = stamp_of(stamp_ns), MultiDOFJointState()
        message.header.stamp = stamp
        frames = []
        for each in machine.multi_dof_motions(state):
            transform = Transform()
            to_transform(each.pose, transform)
            message.joint_names.append(each.name)
            message.transforms.append(transform)
            if each.twist is not None:
                twist = Twist()
                to_twist(each.twist, twist)
                message.twist.append(twist)
            frame = TransformStamped(
                child_frame_id=self._prefix + each.child, transform=transform)
            frame.header.stamp, frame.header.frame_id = stamp, self._prefix + each.parent
            frames.append(frame)
        self._publisher.publish(message)
        if with_tf:
            self.transforms.send(frames)
