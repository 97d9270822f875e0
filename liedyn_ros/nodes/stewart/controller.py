# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that tracks a motion of a Stewart platform by leg forces."""

from collections.abc import Sequence
import math
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError, NameSetError
from liedyn_ros.control import Gains
from liedyn_ros.control.jump_detector import JumpDetector
from liedyn_ros.nodes.control_status import ControlStatus, publishers_of, refuse_jump, report_of
from liedyn_ros.nodes.stewart.parameters import PLATFORM_CONTROLLER
from liedyn_ros.nodes.stewart.platform import LEG_FORCES, LEG_STATES, Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.streams.age_statistics import tell_silence
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.input_gate import InputGate, StampedPair
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import leg_lengths, leg_rates, PlatformController, StewartDynamics
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


STATE_CHECK_RATE = 100.0  # Hz; of looking whether states come, and of commands where none does
REPORT_RATE = 1.0  # Hz
MAX_LEG_JUMP = 0.01  # m of all leg lengths together


class StewartControllerNode(ManagedNode):
    """
    Leg forces for every pose with a twist of the same stamp, in its own thread.

    The reference is a smooth motion about home; it begins with the first command that has a
    subscriber.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        super().__init__('stewart_controller', PLATFORM_CONTROLLER, **options)

    def configure(self) -> None:
        """Check the parameters, open the topics."""
        parameters = self.parameters
        self._platform = Platform.from_parameters(
            parameters, ignore_others=False, driven=True)
        self._platform.actuators.require_constant_ratio()
        self._trajectory = self._platform.trajectory(self)
        self._controller = PlatformController(
            StewartDynamics(self._platform.geometry), self._trajectory)
        self._gate = InputGate(self.now_ns, simulated=self.time_is_simulated)
        self._states = StampedPair(PoseStamped, TwistStamped)
        self._jumps = JumpDetector(MAX_LEG_JUMP)
        self._outputs = ControlOutputs(self, self._platform)
        self._start_over()
        stream = Stream(self)
        for message_type, topic in ((PoseStamped, 'pose'), (TwistStamped, 'twist')):
            stream.subscribe(message_type, topic, self._receive, sensor_data(1))
        StreamDiagnostics(self, stream, 'states', lambda: self._begin_ns is not None)
        stream.open_timer(STATE_CHECK_RATE, self._look_for_silence)
        stream.open_timer(REPORT_RATE, self._report)
        legs = Stream(self)  # apart, as the states are counted alone
        legs.subscribe(JointState, LEG_STATES, self._feel, sensor_data(1))
        self.parameters_changed()
        stream.start()
        legs.start()

    def activate(self) -> None:
        """Begin the reference at its start."""
        with self.lock:
            self._start_over()

    def parameters_changed(self) -> None:
        """Apply the parameters that may change at run time."""
        parameters = self.parameters
        with self.lock:
            self._gate.max_age = parameters['max_age']
            self._gate.timeout = parameters['state_timeout']
            self._controller.stop_time = self._gate.timeout or math.inf  # 0 is for never
            self._controller.use(Gains(
                rotation=parameters['rotation_pole'], position=parameters['position_pole'],
                joints=parameters['position_pole'],
                integral_limit=parameters['integral_limit']), parameters['leg_lag'])
        if not np.isfinite(self._platform.geometry.force_limits).all():
            self.get_logger().info(
                'leg forces are bounded by what the motion takes, as the geometry file has no '
                f'`force` of each leg: {self._controller.limits.round(1).tolist()}')

    def _start_over(self) -> None:
        self._gate.reset()
        self._refusal = ''  # why the last state since the last good one was refused
        self._start_reference()

    def _start_reference(self) -> None:
        self._states.clear()
        self._begin_ns: int | None = None  # of the reference: the state of that command
        self._origin_ns: int | None = None  # from which the controller counts, the first state
        self._felt_ns = 0  # when the legs last stood in for a pose
        self._jumps.reset()
        self._controller.reset()

    def _restart(self, reason: str) -> None:
        self.get_logger().warning(f'{reason}: the reference starts again')
        self._start_reference()

    def _receive(self, message: PoseStamped | TwistStamped) -> None:
        """Answer the state that the newest pose and twist of one stamp form."""
        if not self.active:
            return
        if (state := self._states.add(message)) is not None:
            self._answer(*state)

    def _answer(self, pose: PoseStamped, twist: TwistStamped) -> None:
        """Answer a state in its time; after a break the reference starts again."""
        stamp_ns = conversions.nanoseconds(pose.header.stamp)
        try:
            if not self._gate.follows(stamp_ns):
                self._restart('the clock was set back')
            self._command(stamp_ns, pose, twist)
        except LiedynError as error:
            self._refusal = str(error)
            held = 'no motion yet' if self._begin_ns is None else 'it counts as none'
            self.complain(f'pose and twist: {error}; {held}', 'states')
            return
        self._refusal = ''
        self._gate.accept()

    def _command(self, stamp_ns: int, pose: PoseStamped, twist: TwistStamped) -> None:
        at, rate = self._read(pose, twist)
        if self._jumped(stamp_ns, at, rate):
            refuse_jump(self, 'pose', self._jumps.alone)
            self._restart('the platform was moved elsewhere')
            self._jumped(stamp_ns, at, rate)  # the first position of the new motion
        heard = self._outputs.heard
        if not heard and self._begin_ns is not None:
            self._restart('the commands have lost their subscriber')
        if self._origin_ns is None:
            self._origin_ns = stamp_ns
        time = 1e-9 * (stamp_ns - self._origin_ns)
        command = self._controller.see(time, at, rate, self._gate.age(stamp_ns))
        if heard and self._begin_ns is None:
            self._begin_ns = stamp_ns
            self._controller.begin(time)
        self._publish(stamp_ns, command)

    def _publish(self, stamp_ns: int, command: LegForceCommand) -> None:
        self._outputs.publish(stamp_ns, command)
        if command.at_limit:
            self.complain(
                f'forces at their limits, {100.0 * command.share:.0f} % of the usual ones in this '
                f'pose: {", ".join(command.at_limit)}', 'limits')

    def _read(self, pose: PoseStamped, twist: TwistStamped) -> tuple[Array, Array]:
        """Return pose (4, 4) and twist (6,) of a state; raise LiedynError where it is none."""
        for message, frame in ((pose, self._platform.base_frame),
                               (twist, self._platform.platform_frame)):
            if message.header.frame_id != frame:
                raise NameSetError(
                    f'frame_id: expected {frame!r}, got {message.header.frame_id!r}')
        return (conversions.from_pose(pose.pose),
                as_array('twist', conversions.from_twist(twist.twist), (6,)))

    def _jumped(self, stamp_ns: int, pose: Array, twist: Array) -> bool:
        """Return whether no motion of the legs leads from the last state to this one."""
        geometry = self._platform.geometry
        return self._jumps.jumped(
            stamp_ns, leg_lengths(geometry, pose).tolist(),
            float(np.linalg.norm(leg_rates(geometry, pose, twist))))

    def _feel(self, message: JointState) -> None:
        """Go on by the legs where poses are silent."""
        if not (self.active and self._gate.timeout and self._begin_ns is not None
                and self._gate.silence > self._controller.hold):
            return
        stamp_ns = conversions.nanoseconds(message.header.stamp)
        try:
            lengths = self._platform.actuators.lengths(message.name, message.position)
            command = self._controller.feel(1e-9 * (stamp_ns - (self._origin_ns or 0)), lengths)
        except LiedynError as error:
            self.complain(f'{LEG_STATES}: {error}')
            return
        if command is not None:
            self._felt_ns = self.now_ns()
            self._jumps.jumped(stamp_ns, lengths.tolist(), 0.0)  # where poses come again
            self._publish(stamp_ns, command)

    def _look_for_silence(self) -> None:
        """Go on without states, and tell of it."""
        self._gate.look()
        if not self.active:
            return
        silence = min(self._gate.silence, 1e-9 * (self.now_ns() - self._felt_ns))
        if self._gate.timeout and self._begin_ns is not None:
            try:
                command = self._controller.silent(silence)
            except LiedynError as error:  # where no forces hold the platform
                self.complain(error)
            else:
                if command is not None:
                    self._publish(self._gate.now_ns, command)
        if self._gate.silent:
            tell_silence(self, self._gate, 'pose and twist of one stamp', self._refusal)

    def _report(self) -> None:
        if self.active:
            self._outputs.report(self._controller, publishers_of(self, 'pose'))


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(StewartControllerNode, args)


if __name__ == '__main__':
    main()
