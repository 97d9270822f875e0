# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The publishers of the controller: commands in the forms that drives take, error, reference."""

from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

from liedyn_ros.nodes.control_status import ControlStatus, report_of
from liedyn_ros.nodes.stewart.platform import LEG_FORCES, Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart import leg_lengths, PlatformController
from liedyn_ros.stewart.control.controller import LegForceCommand

FORCE_COMMANDS = f'{LEG_FORCES}/commands'
POSITION_COMMANDS = 'leg_positions/commands'
COORDINATES = [f'{part}_{axis}' for part in ('rotation', 'position') for axis in 'xyz']


class ControlOutputs:
    """
    The publishers and the messages they reuse.

    The arrays without names are the commands of ros2_control's group controllers: an actuator
    after the other, in the order of actuator_names.
    """

    def __init__(
            self, node: ManagedNode, platform: Platform) -> None:
        """Open the publishers."""
        self._status = ControlStatus(node, 'motion')
        self._geometry, self._actuators = platform.geometry, platform.actuators
        self._forces = node.open_publisher(JointState, LEG_FORCES)
        self._force_commands = node.open_publisher(Float64MultiArray, FORCE_COMMANDS)
        self._position_commands = node.open_publisher(Float64MultiArray, POSITION_COMMANDS)
        self._tracking_error = node.open_publisher(JointState, 'tracking_error')
        self._reference = node.open_publisher(PoseStamped, 'reference')
        self._named = JointState(name=list(self._actuators.names))
        self._error = JointState(name=COORDINATES)
        self._error.header.frame_id = platform.platform_frame
        self._pose = PoseStamped(header=Header(frame_id=platform.base_frame))

    @property
    def heard(self) -> bool:
        """Return whether anyone subscribes to commands."""
        return any(publisher.get_subscription_count() for publisher in (
            self._forces, self._force_commands, self._position_commands))

    def report(self, controller: PlatformController, publishers: list[str]) -> None:
        """Report the platform's phase, its last command, and the publishers of poses."""
        level, message, values = report_of(controller, 'poses', publishers)
        self._status.publish((level, message, {
            **values, 'limits of forces': ', '.join(
                f'{least:.4g} to {most:.4g}' for least, most in controller.limits.T)}),
            {'efforts': self._named.effort}, controller.hold, moves=controller.begun)

    def publish(self, stamp_ns: int, command: LegForceCommand) -> None:
        """Publish a command, and the reference that it follows."""
        self._status.commanded()
        stamp = conversions.stamp_of(stamp_ns)
        efforts = self._actuators.efforts(command.forces).tolist()
        self._named.header.stamp, self._named.effort = stamp, efforts
        self._forces.publish(self._named)
        if self._force_commands.get_subscription_count():
            self._force_commands.publish(Float64MultiArray(data=efforts))
        if self._position_commands.get_subscription_count():
            lengths = leg_lengths(self._geometry, command.pose)
            self._position_commands.publish(
                Float64MultiArray(data=self._actuators.positions(lengths).tolist()))
        if self._tracking_error.get_subscription_count():
            self._error.header.stamp, error = stamp, command.error
            self._error.position, self._error.velocity = error.error.tolist(), error.rate.tolist()
            self._tracking_error.publish(self._error)
        if self._reference.get_subscription_count():
            self._pose.header.stamp = stamp
            conversions.to_pose(command.pose, self._pose.pose)
            self._reference.publish(self._pose)
