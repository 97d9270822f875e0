# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The publishers of the controller: commands in the forms that drives take, error, reference."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

from liedyn_ros.nodes.stewart.platform import LEG_FORCES, Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart import leg_lengths, LegForceCommand, PlatformController
from liedyn_ros.stewart.control.controller import Phase

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
        self._node, self._commanded_ns = node, 0  # when the last command was published
        self._geometry, self._actuators = platform.geometry, platform.actuators
        self._diagnostics = node.open_publisher(DiagnosticArray, '/diagnostics')
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

    def report(
            self, controller: PlatformController, now_ns: int, publishers: list[str]) -> None:
        """Report the platform's phase, its last command, and the publishers of poses."""
        level = {Phase.STANDING: DiagnosticStatus.OK, Phase.FOLLOWING: DiagnosticStatus.OK,
                 Phase.WAITING: DiagnosticStatus.WARN}.get(
                     controller.phase, DiagnosticStatus.ERROR)
        message = controller.phase.value
        if len(publishers) > 1:
            level, message = DiagnosticStatus.ERROR, f'{message}; poses of {len(publishers)} nodes'
        values = {'pace': f'{controller.pace:.3f}', 'poses from': ', '.join(publishers)}
        if self._commanded_ns:
            values |= {
                'last command': ', '.join(f'{name} {effort:.4g}' for name, effort in zip(
                    self._named.name, self._named.effort)),
                'age of the last command, s': f'{1e-9 * (now_ns - self._commanded_ns):.3f}',
                'bound of that age, s': f'{controller.hold:.3f}',
                'limits of forces': ', '.join(f'{least:.4g} to {most:.4g}'
                                              for least, most in controller.limits.T)}
        status = DiagnosticStatus(
            level=level, message=message, name=self._node.status_name('motion'),
            values=[KeyValue(key=key, value=value) for key, value in values.items()])
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._diagnostics.publish(array)

    def publish(self, stamp_ns: int, command: LegForceCommand) -> None:
        """Publish a command, and the reference that it follows."""
        self._commanded_ns = self._node.now_ns()
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
