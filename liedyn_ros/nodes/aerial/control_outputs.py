# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Outputs of the controller of the aerial manipulator: commands, reference, error, health."""

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from liedyn_interfaces.msg import TreeState
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from liedyn_ros.aerial import AerialManipulator, Command
from liedyn_ros.aerial.flight import FlightControl
from liedyn_ros.control import ReferenceMotion, TrackingError
from liedyn_ros.nodes.aerial.commands import JOINT_TORQUES
from liedyn_ros.nodes.aerial.parameters import ROTOR_SPEEDS
from liedyn_ros.nodes.control_status import ControlStatus, report_of
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages
from liedyn_ros.ros.node.lifecycle import ManagedNode


class AerialControlOutputs:
    """The publishers and their reused messages, all with the stamp of their state."""

    def __init__(self, node: ManagedNode, machine: AerialManipulator, tree: TreeMessages,
                 world_frame: str, prefix: str) -> None:
        """Open the publishers; prefix is put before the frame ids of bodies."""
        self._tree = tree
        self._publish_speeds, self._publish_torques = (
            node.open_publisher(JointState, topic).publish
            for topic in (ROTOR_SPEEDS, JOINT_TORQUES))
        self._for_people = (node.open_publisher(JointState, 'tracking_error'),
                            node.open_publisher(Odometry, 'reference'))
        self._publish_error, self._publish_reference = (
            publisher.publish for publisher in self._for_people)
        self._status = ControlStatus(node, 'flight')
        self._speeds = JointState(name=list(machine.rotors))
        self._torques = JointState(name=list(machine.joints))
        self._error = JointState(name=list(machine.model.coordinate_names))
        self._state, self._reference = TreeState(), Odometry(child_frame_id=f'{prefix}reference')
        self._error.header.frame_id = prefix + machine.base
        self._reference.header.frame_id = world_frame
        self._reference.pose.pose = self._state.base_pose
        self._reference.twist.twist = self._state.base_twist

    def publish_command(self, stamp: Time, command: Command) -> None:
        """Publish rotor speeds and joint torques."""
        self._status.commanded()
        self._speeds.header.stamp = self._torques.header.stamp = stamp
        self._speeds.velocity = doubles(command.rotors.speeds)
        self._torques.effort = doubles(command.torques)
        self._publish_speeds(self._speeds)
        self._publish_torques(self._torques)

    def publish_error(self, stamp: Time, motion: ReferenceMotion, error: TrackingError) -> None:
        """Publish the reference and the tracking error, where someone listens."""
        if not any(publisher.get_subscription_count() for publisher in self._for_people):
            return
        self._reference.header.stamp = self._error.header.stamp = stamp
        self._tree.to_state(motion.q, motion.v, self._state)
        self._error.position, self._error.velocity = doubles(error.error), doubles(error.rate)
        self._publish_reference(self._reference)
        self._publish_error(self._error)

    def report(self, control: FlightControl, publishers: list[str], calls: DiagnosticStatus
               ) -> None:
        """Publish the statistics of the server calls and the status of the flight."""
        self._status.publish(report_of(control, 'states', publishers), {
            'rotors, rad/s': self._speeds.velocity, 'joints, N m': self._torques.effort},
            control.hold, calls, moves=control.begun)
