# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What the controller of the aerial manipulator publishes: commands, reference, error, health."""

from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from liedyn_interfaces.msg import TreeState
from nav_msgs.msg import Odometry
from rclpy.lifecycle import LifecycleNode
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState

from liedyn_ros.aerial import Command, Machine, Motion, TrackingError
from liedyn_ros.nodes.aerial.commands import JOINT_TORQUES
from liedyn_ros.nodes.aerial.parameters import ROTOR_SPEEDS
from liedyn_ros.ros.tree_messages import doubles, TreeMessages

DEPTH = 10


class AerialControlOutputs:
    """The publishers and the messages they reuse; everything is stamped as the state it is for."""

    def __init__(self, node: LifecycleNode, machine: Machine, tree: TreeMessages,
                 world_frame: str) -> None:
        """Open the publishers."""
        self._node, self._tree = node, tree
        self._publishers: list[Any] = []
        self._publish_speeds = self._open(JointState, ROTOR_SPEEDS)
        self._publish_torques = self._open(JointState, JOINT_TORQUES)
        self._publish_error = self._open(JointState, 'tracking_error')
        self._publish_reference = self._open(Odometry, 'reference')
        self._for_people = self._publishers[-2:]
        self._publish_diagnostics = self._open(DiagnosticArray, '/diagnostics')
        self._speeds = JointState(name=list(machine.rotors))
        self._torques = JointState(name=list(machine.joints))
        self._error = JointState(name=list(machine.model.coordinate_names))
        self._state, self._reference = TreeState(), Odometry(child_frame_id='reference')
        self._error.header.frame_id = machine.base
        self._reference.header.frame_id = world_frame
        self._reference.pose.pose = self._state.base_pose
        self._reference.twist.twist = self._state.base_twist

    def destroy(self) -> None:
        """Close the publishers."""
        for publisher in self._publishers:
            self._node.destroy_lifecycle_publisher(publisher)

    def publish_command(self, stamp: Time, command: Command) -> None:
        """Publish rotor speeds and joint torques."""
        self._speeds.header.stamp = self._torques.header.stamp = stamp
        self._speeds.velocity = doubles(command.rotors.speeds)
        self._torques.effort = doubles(command.torques)
        self._publish_speeds(self._speeds)
        self._publish_torques(self._torques)

    def publish_error(self, stamp: Time, motion: Motion, off: TrackingError) -> None:
        """Tell listeners where the machine ought to be and how it is off, coordinate by name."""
        if not any(publisher.get_subscription_count() for publisher in self._for_people):
            return
        self._reference.header.stamp = self._error.header.stamp = stamp
        self._tree.to_state(motion.q, motion.v, self._state)
        self._error.position, self._error.velocity = doubles(off.error), doubles(off.rate)
        self._publish_reference(self._reference)
        self._publish_error(self._error)

    def publish_diagnostics(self, status: DiagnosticStatus) -> None:
        """Publish how the calls of the server went."""
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publish_diagnostics(message)

    def _open(self, message_type: Any, topic: str) -> Any:
        self._publishers.append(self._node.create_lifecycle_publisher(
            message_type, topic, DEPTH,
            qos_overriding_options=QoSOverridingOptions.with_default_policies()))
        return self._publishers[-1].publish
