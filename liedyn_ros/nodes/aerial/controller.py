# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that flies the aerial manipulator along its reference, by the dynamics server."""

from collections.abc import Callable, Sequence
import math
from typing import Any, NamedTuple

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery, TreeState
from nav_msgs.msg import Odometry
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from liedyn_ros.aerial import AerialManipulator, Command, Reference
from liedyn_ros.aerial.flight import FlightControl
from liedyn_ros.aerial.vehicle import Lags
from liedyn_ros.common.errors import LiedynError, ModelError, NameSetError, ShapeError, StampError
from liedyn_ros.control import Gains, ReferenceMotion, TrackingError
from liedyn_ros.control.follower import DesiredMotion, Phase
from liedyn_ros.control.jump_detector import JumpDetector
from liedyn_ros.dynamics import JointOrder
from liedyn_ros.nodes.aerial.calls import InverseDynamicsCalls, SERVICE
from liedyn_ros.nodes.aerial.parameters import (
    aerial_manipulator_of, CONTROLLER_PARAMETERS, EFFORT_RATES, ROTOR_SPEEDS)
from liedyn_ros.nodes.aerial.simulator import JOINT_TORQUES
from liedyn_ros.nodes.control_status import ControlStatus, publishers_of, refuse_jump, report_of
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.parameters.parameter_set import ParameterSet
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.streams.age_statistics import tell_silence
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.input_gate import InputGate, StampedPair
from liedyn_ros.ros.streams.stream import Stream


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


COMMAND_CHECK_RATE = 100.0  # Hz; of checks whether states come, and of commands where none does
REPORT_RATE = 1.0  # Hz
RETRY_PERIOD_NS = 100_000_000  # of requests to a server that is not ready
REFERENCE_START = 'reference begun at, ns'
MAX_REFERENCE_JUMP = 0.1  # m


class _Asked(NamedTuple):
    """A state, the order of its joints, and what is wanted of the vehicle in it."""

    header: Header
    state: TreeState
    order: JointOrder
    wanted: DesiredMotion


class AerialManipulatorControllerNode(ManagedNode):
    """
    A cycle for every state: wanted acceleration, inverse dynamics by service, command.

    Only the newest state is sent: one that comes while a reply is awaited replaces the last.
    Cycles run in their own thread. Where replies are late or lost, and where states stop,
    FlightControl flies on with the model of this node.

    With effort rates the server computes one time derivative more. The command then leads the
    wanted efforts, so that actuators with lag produce them (8.8).

    The reference begins with the first command. The model of this node gives rotors, limits and
    names, and masses where the server is silent. A server that changes its model in flight is
    refused.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        super().__init__('aerial_manipulator_controller', CONTROLLER_PARAMETERS, **options)

    def configure(self) -> None:
        """Check the parameters, open the topics and the client."""
        parameters = self.parameters
        self._machine = aerial_manipulator_of(parameters)
        self._with_rates = parameters['mode'] == EFFORT_RATES
        self._control = FlightControl(
            self._machine, reference_of(parameters, self._machine), with_rates=self._with_rates)
        self._tree = TreeMessages(self._machine.model)
        self._world_frame = parameters['world_frame']
        self._gate = InputGate(self.now_ns, simulated=self.time_is_simulated)
        self._states = StampedPair(Odometry, JointState)
        self._jumps = JumpDetector(MAX_REFERENCE_JUMP)
        prefix = parameters['frame_prefix']
        self._base_frame = prefix + self._machine.base
        self._outputs = AerialControlOutputs(
            self, self._machine, self._tree, self._world_frame, prefix)
        stream = Stream(self)
        self._calls = InverseDynamicsCalls(self, stream, self._answered)
        self._start_over()
        for message_type, topic in ((Odometry, 'odometry'), (JointState, 'joint_states')):
            stream.subscribe(message_type, topic, self._receive, sensor_data(1))
        StreamDiagnostics(self, stream, 'states', lambda: self._begin_ns is not None)
        stream.open_timer(COMMAND_CHECK_RATE, self._look_for_silence)
        stream.open_timer(REPORT_RATE, self._report)
        self.parameters_changed()
        stream.start()

    def activate(self) -> None:
        """Begin the reference at its start."""
        self._start_over()
        self.on_close(self._forget_calls)

    def parameters_changed(self) -> None:
        """Take over the parameters that may change at run time."""
        parameters, control = self.parameters, self._control
        with self.lock:
            self._gate.max_age = parameters['max_age']
            self._gate.timeout = control.state_timeout = parameters['state_timeout']
            control.reply_timeout = parameters['reply_timeout']
            control.stop_time, control.descent = parameters['stop_time'], parameters['descent']
            control.use(Gains(
                parameters['rotation_pole'], parameters['position_pole'],
                parameters['joint_pole'], parameters['integral_limit']))
            control.lags = Lags(parameters['rotor_lag'], parameters['joint_lag'])

    def _start_over(self) -> None:
        with self.lock:
            self._gate.reset()
            self._refusal = ''  # why the last state since the last good one was refused
            self._served = False  # the server has answered, and not that it is not ready
            self._start_reference()

    def _forget_calls(self) -> None:
        with self.lock:
            self._calls.forget()

    def _start_reference(self) -> None:
        self._jumps.reset()
        self._states.clear()
        self._state: _Asked | None = None  # no request sent yet
        self._asked: _Asked | None = None  # whose answer is awaited
        self._origin_ns: int | None = None  # from which the control counts, the first state
        self._begin_ns: int | None = None  # of the reference: the state of the first command
        self._model = ''  # the digest of the server's, in the first answer of the flight
        self._again_ns = 0
        self._commanded: Time | None = None  # the stamp of the last command
        self._calls.forget()
        self._control.reset()

    def _receive(self, message: Odometry | JointState) -> None:
        """Act upon the state that the newest messages of one stamp form."""
        if not self.active:
            return
        if (state := self._states.add(message)) is not None:
            self._see(*state)

    def _see(self, odometry: Odometry, joints: JointState) -> None:
        """Act upon a state in its time; after a break the reference starts again."""
        try:
            goes_on = self._gate.follows(conversions.nanoseconds(odometry.header.stamp))
            self._require_frame(odometry)
            if not goes_on:
                self._restart('the clock was set back')
            if self._jumped(odometry):
                refuse_jump(self, 'odometry', self._jumps.alone)
                self._restart('the machine was moved elsewhere')
                self._jumped(odometry)  # the first position of the new flight
            state = self._want(odometry, joints)
        except LiedynError as error:
            self._refusal = str(error)
            self.complain(f'odometry and joint_states: {error}', 'states')
            return
        self._refusal = ''
        self._calls.passed_over += self._state is not None
        self._state = state
        self._gate.accept()
        self._act()
        if self._control.overdue:
            self._command_by(self._control.command, odometry.header.stamp)

    def _command_by(self, own: Callable[[], Command | None], stamp: Time) -> None:
        """Publish a command of the own model, if it has one."""
        try:
            command = own()
        except LiedynError as error:
            self.complain(f'own command: {error}', 'own')
        else:
            if command is not None:
                self._publish(stamp, command)

    def _jumped(self, odometry: Odometry) -> bool:
        at, v = odometry.pose.pose.position, odometry.twist.twist.linear
        return self._jumps.jumped(conversions.nanoseconds(odometry.header.stamp),
                                  (at.x, at.y, at.z), math.hypot(v.x, v.y, v.z))

    def _restart(self, reason: str) -> None:
        self.get_logger().warning(f'{reason}: the reference starts again')
        self._calls.passed_over += (
            (self._state is not None) + (self._calls.awaited_ns is not None))
        self._start_reference()

    def _want(self, odometry: Odometry, joints: JointState) -> _Asked:
        """Return a state, and what is wanted of the vehicle in it."""
        state = TreeState(
            child_frame_id=self._machine.base, base_pose=odometry.pose.pose,
            base_twist=odometry.twist.twist, joint_names=joints.name,
            positions=joints.position, velocities=joints.velocity)
        q, v, order = self._tree.read_state(state)
        stamp_ns = conversions.nanoseconds(odometry.header.stamp)
        if self._origin_ns is None:
            self._origin_ns = stamp_ns
        wanted = self._control.see(
            1e-9 * (stamp_ns - self._origin_ns), q, v, self._gate.age(stamp_ns))
        self._outputs.publish_error(odometry.header.stamp, wanted.motion, wanted.error)
        return _Asked(odometry.header, state, order, wanted)

    def _act(self) -> None:
        """Send a request for the newest state, once no reply is awaited."""
        if self._state is None:
            return
        stamp_ns = conversions.nanoseconds(self._state.header.stamp)
        if self._calls.awaited_ns is not None:
            timeout = self._control.reply_timeout
            if stamp_ns - self._calls.awaited_ns <= 1e9 * timeout:
                return
            self._calls.give_up()
            self._complain_of_calls(f'expected a reply within {timeout:g} s, got none', 'reply')
        self._asked, self._state = self._state, None
        if stamp_ns < self._again_ns:
            return
        if self._calls.ready:
            header, state, order, wanted = self._asked
            self._calls.ask(DynamicsQuery(header=header, state=state, accelerations=[
                self._tree.to_acceleration(a, order)
                for a in np.atleast_2d(wanted.acceleration)]), order)
        else:
            self._complain_of_calls('expected the service, found none', 'service')

    def _require_frame(self, odometry: Odometry) -> None:
        for name, expected, given in (
                ('frame_id', self._world_frame, odometry.header.frame_id),
                ('child_frame_id', self._base_frame, odometry.child_frame_id)):
            if given != expected:
                raise NameSetError(f'{name}: expected {expected!r}, got {given!r}')

    def _answered(self, answer: DynamicsAnswer, order: JointOrder) -> None:
        if not self.active:
            return
        try:
            self._command(answer, order)
        except LiedynError as error:
            self._refused(answer.header.stamp, str(error))
        self._act()

    def _command(self, answer: DynamicsAnswer, order: JointOrder) -> None:
        if not answer.success:
            raise LiedynError(answer.message)
        model = answer.model
        if self._begin_ns is not None and model != self._model:
            raise ModelError(
                f'model: expected that of this flight, {self._model or "without a digest"}, got '
                f'{model or "one without"}', expected=self._model, got=model)
        self._served = True
        tau = self._tree.read_efforts(answer.efforts, order, 1 + self._with_rates)
        if self._asked is None:
            return
        if answer.header.stamp != self._asked.header.stamp:
            raise StampError('stamp: expected the stamp of the query, got another')
        command = self._control.answer(self._asked.wanted, tau)
        if self._begin_ns is None:
            self._begin_ns = conversions.nanoseconds(answer.header.stamp)
            self._model = model
            if model and model != self._machine.model.digest:
                self.get_logger().info(
                    f'the server flies by model {model}, where this node has '
                    f'{self._machine.model.digest}: rotors, limits and a hover are of the latter')
        if command is not None:
            self._publish(answer.header.stamp, command)
        elif self._commanded != self._asked.header.stamp:
            self._calls.passed_over += 1

    def _publish(self, stamp: Time, command: Command) -> None:
        self._commanded = stamp
        self._outputs.publish_command(stamp, command)
        if command.at_limit:
            self.complain(f'at a limit: {", ".join(command.at_limit)}', 'limits')

    def _refused(self, stamp: Time, reason: str) -> None:
        """Count a reply without forces: a failure in flight, before it a server not ready."""
        if self._begin_ns is None:
            self._calls.refused += 1
            self._again_ns = conversions.nanoseconds(stamp) + RETRY_PERIOD_NS
        else:
            self._calls.failed += 1
        self._complain_of_calls(reason, 'refusal')

    def _complain_of_calls(self, reason: str, kind: str) -> None:
        """Say why there is no new command; it is an error only where efforts came before."""
        tell = self.complain if self._served else self.wait_for
        tell(f'{SERVICE}: {reason}; ' + (
            'no flight yet' if self._begin_ns is None
            else 'the vehicle hovers by its own model until answers come'), kind)

    def _look_for_silence(self) -> None:
        """Fly on without states, and tell of it."""
        self._gate.look()
        if not self.active:
            return
        if self._gate.timeout and self._begin_ns is not None:
            self._command_by(lambda: self._control.silent(self._gate.silence),
                             conversions.stamp_of(self._gate.now_ns))
        if self._gate.silent:
            tell_silence(self, self._gate, 'odometry and joint_states of one stamp', self._refusal)
        if self._control.phase is Phase.STOPPED:
            self.complain(f'{Phase.STOPPED.value}: the rotors have stopped; activate the node '
                          f'again',
                          'stopped')

    def _report(self) -> None:
        if not self.active:
            return
        status = self._calls.report()
        if self._begin_ns is not None:
            status.values.append(KeyValue(key=REFERENCE_START, value=str(self._begin_ns + round(
                1e9 * (self._control.waited)))))
        self._outputs.report(self._control, publishers_of(self, 'odometry'), status)


def reference_of(parameters: ParameterSet, machine: AerialManipulator) -> Reference:
    """Return the reference; raises LiedynError that names the wrong parameter."""
    for name in ('joint_start', 'joint_sweep'):
        if len(parameters[name]) != len(machine.joints):
            raise ShapeError(f'{name}: expected {len(machine.joints)} numbers, one for each of '
                             f'{list(machine.joints)}, got {len(parameters[name])}')
    return Reference(**{name: parameters[name] for name in (
        'joint_start', 'joint_sweep', 'radius', 'height', 'period', 'yaw_amplitude',
        'yaw_frequency', 'rise_time')})


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(AerialManipulatorControllerNode, args)


if __name__ == '__main__':
    main()
