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

"""The node that flies the aerial manipulator along its reference, by the dynamics server."""

from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import KeyValue
from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery, TreeState
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.timer import Timer
from sensor_msgs.msg import JointState

from liedyn_ros.aerial import (
    Feedback, Gains, Lags, Machine, RateFeedback, Reference, tracking_error)
from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, NameSetError, ShapeError
from liedyn_ros.common.stamps import Timeline
from liedyn_ros.dynamics import JointOrder
from liedyn_ros.nodes.aerial.calls import InverseDynamicsCalls, SERVICE
from liedyn_ros.nodes.aerial.control_outputs import AerialControlOutputs
from liedyn_ros.nodes.aerial.jump_detector import Place
from liedyn_ros.nodes.aerial.parameters import CONTROLLER, EFFORT_RATES, machine_of
from liedyn_ros.ros import conversions
from liedyn_ros.ros.lifecycle import ManagedNode, run
from liedyn_ros.ros.parameters import ParameterSet
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.tree_messages import TreeMessages

WATCH_PERIOD = 0.1  # s
REPORT_PERIOD = 1.0  # s
RETRY_PERIOD_NS = 100_000_000  # of asking a server that is not ready
BEGUN = 'reference begun at, ns'


class AerialManipulatorControllerNode(ManagedNode):
    """
    A cycle for every state: wanted acceleration, inverse dynamics by service, command.

    Only the newest state counts: those that come while a reply is awaited replace one another.

    With effort rates the derivative of the acceleration is asked for as well, and the command is
    so far ahead of the wanted efforts that actuators with lag give these (8.8).

    The reference begins with the first command. The model of this node gives rotors, limits and
    names; masses are the server's.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        self._parts: list[Any] = []
        self._subscriptions_of_ours: list[Any] = []
        self._timers_of_ours: list[Timer] = []
        self._timeline = Timeline()
        super().__init__('aerial_manipulator_controller', CONTROLLER, **options)

    def configure(self) -> None:
        """Check the parameters, warm the kernels up, open topics and the client."""
        parameters = self.parameters
        self._machine = machine_of(parameters)
        self._reference = reference_of(parameters, self._machine)
        self._with_rates = parameters['mode'] == EFFORT_RATES
        law = RateFeedback if self._with_rates else Feedback
        self._feedback = law(self._machine.model, Gains())
        self._tree = TreeMessages(self._machine.model)
        self._world_frame = parameters['world_frame']
        self._warm_up()
        self._outputs = AerialControlOutputs(self, self._machine, self._tree, self._world_frame)
        self._calls = InverseDynamicsCalls(self, self._answered)
        self._parts = [self._outputs, self._calls]
        self._start_anew()
        self._subscriptions_of_ours = [
            self.create_subscription(
                message_type, topic, self._take, sensor_data(1),
                qos_overriding_options=QoSOverridingOptions.with_default_policies())
            for message_type, topic in ((Odometry, 'odometry'), (JointState, 'joint_states'))]
        self._timers_of_ours = [
            self.create_timer(WATCH_PERIOD, self._watch),
            self.create_timer(REPORT_PERIOD, self._report)]
        self.parameters_changed()

    def release(self) -> None:
        """Close what `configure` opened."""
        for part in self._parts:
            part.destroy()
        for subscription in self._subscriptions_of_ours:
            self.destroy_subscription(subscription)
        for timer in self._timers_of_ours:
            self.destroy_timer(timer)
        self._parts, self._subscriptions_of_ours, self._timers_of_ours = [], [], []

    def activate(self) -> None:
        """Begin the reference anew."""
        self._timeline.reset()
        self._start_anew()

    def deactivate(self) -> None:
        """Command nothing more."""
        self._calls.forget()

    def parameters_changed(self) -> None:
        """Take over what may change at run time."""
        parameters = self.parameters
        self._max_age = parameters['max_age']
        self._reply_timeout_ns = round(1e9 * parameters['reply_timeout'])
        self._state_timeout_ns = round(1e9 * parameters['state_timeout'])
        self._feedback.use(Gains(
            parameters['rotation_pole'], parameters['position_pole'], parameters['joint_pole'],
            parameters['integral_limit']))
        self._lags = Lags(parameters['rotor_lag'], parameters['joint_lag'])

    def _start_anew(self) -> None:
        self._place: Place | None = None  # of the machine, at the newest state
        self._newest: dict[type, Any] = {}  # message of each type
        self._state: tuple[Odometry, JointState] | None = None  # not asked about yet
        self._begin_ns: int | None = None  # of the reference: the state of the first command
        self._asked_ns = self._again_ns = 0
        self._calls.forget()
        self._seen_ns = self.get_clock().now().nanoseconds
        self._feedback.reset()

    def _take(self, message: Odometry | JointState) -> None:
        """Keep the newest of both; of one stamp, they are the state to act upon."""
        if not self.active:
            return
        self._newest[type(message)] = message
        odometry, joints = self._newest.get(Odometry), self._newest.get(JointState)
        if odometry and joints and odometry.header.stamp == joints.header.stamp:
            self._newest.clear()
            self._see(odometry, joints)

    def _see(self, odometry: Odometry, joints: JointState) -> None:
        """Act upon a state in its time; after a break the reference starts anew."""
        place = Place.of(odometry)
        try:
            self._require_usable(odometry)
            goes_on = self._timeline.follows(place.stamp_ns)
        except LiedynError as error:
            self.complain(f'odometry and joint_states: {error}')
            return
        if not goes_on:
            self._break_off('the clock was set back')
        elif self._place is not None and not self._place.leads_to(place):
            self._break_off('the machine was put elsewhere')
        self._place = place
        self._calls.passed_over += self._state is not None
        self._state = odometry, joints
        self._seen_ns = self.get_clock().now().nanoseconds
        self._act()

    def _break_off(self, reason: str) -> None:
        self.get_logger().warning(f'{reason}: the reference starts anew')
        self._start_anew()

    def _act(self) -> None:
        """Ask about the newest state, once no reply is awaited any more."""
        if self._state is None:
            return
        odometry, joints = self._state
        stamp_ns = conversions.nanoseconds(odometry.header.stamp)
        if self._calls.awaited_ns is not None:
            if stamp_ns - self._calls.awaited_ns <= self._reply_timeout_ns:
                return
            self._calls.give_up()
            self._complain_of_calls('expected a reply within '
                                    f'{1e-9 * self._reply_timeout_ns:g} s, got none')
        self._state = None
        if stamp_ns < self._again_ns:
            return
        try:
            query, order = self._query(odometry, joints)
        except LiedynError as error:
            self.complain(error)
            return
        if self._calls.ready:
            self._calls.ask(query, order)
        else:
            self._complain_of_calls('expected the service, found none')

    def _require_usable(self, odometry: Odometry) -> None:
        if self._max_age > 0.0:
            checks.require_recent(conversions.nanoseconds(odometry.header.stamp),
                                  self.get_clock().now().nanoseconds, self._max_age)
        if odometry.header.frame_id != self._world_frame:
            raise NameSetError(f'frame_id: expected {self._world_frame!r}, '
                               f'got {odometry.header.frame_id!r}')

    def _query(
            self, odometry: Odometry, joints: JointState) -> tuple[DynamicsQuery, JointOrder]:
        stamp_ns = conversions.nanoseconds(odometry.header.stamp)
        state = TreeState(
            child_frame_id=odometry.child_frame_id, base_pose=odometry.pose.pose,
            base_twist=odometry.twist.twist, joint_names=joints.name,
            positions=joints.position, velocities=joints.velocity)
        q, v, order = self._tree.read_state(state)
        return DynamicsQuery(header=odometry.header, state=state, accelerations=[
            self._tree.to_acceleration(a, order)
            for a in np.atleast_2d(self._wanted(stamp_ns, q, v))]), order

    def _wanted(self, stamp_ns: int, q: Array, v: Array) -> Array:
        """Return the acceleration to command in a state at a time, or with its derivative."""
        begin_ns, last_ns, self._asked_ns = self._begin_ns, self._asked_ns, stamp_ns
        if begin_ns is None:  # on the stand
            begin_ns = last_ns = stamp_ns
        motion = self._reference.at(1e-9 * (stamp_ns - begin_ns))
        off = tracking_error(self._machine.model, motion, q, v)
        self._outputs.publish_error(conversions.stamp_of(stamp_ns), motion, off)
        return self._feedback.acceleration(off, 1e-9 * (stamp_ns - last_ns))

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
        tau = self._tree.read_efforts(answer.efforts, order, 1 + self._with_rates)
        command = self._machine.command(self._lags.lead(tau) if self._with_rates else tau)
        if self._begin_ns is None:
            self._begin_ns = conversions.nanoseconds(answer.header.stamp)
        self._outputs.publish_command(answer.header.stamp, command)
        if command.at_limit:
            self.complain(f'at a limit: {", ".join(command.at_limit)}')

    def _refused(self, stamp: Time, reason: str) -> None:
        """Count a reply without forces: a failure in flight, before it a server not ready."""
        if self._begin_ns is None:
            self._calls.refused += 1
            self._again_ns = conversions.nanoseconds(stamp) + RETRY_PERIOD_NS
        else:
            self._calls.failed += 1
        self._complain_of_calls(reason)

    def _complain_of_calls(self, reason: str) -> None:
        """Say why there is no new command."""
        self.complain(f'{SERVICE}: {reason}; ' + (
            'no flight yet' if self._begin_ns is None else 'the last command is held'))

    def _watch(self) -> None:
        now_ns = self.get_clock().now().nanoseconds
        if not 0 < self._seen_ns <= now_ns:  # the clock has just started or was set back
            self._seen_ns = now_ns
        silent_ns = now_ns - self._seen_ns
        if self.active and 0 < self._state_timeout_ns < silent_ns:
            self.complain(
                f'expected odometry and joint_states of one stamp every '
                f'{1e-9 * self._state_timeout_ns:g} s, got none for {1e-9 * silent_ns:.1f} s')

    def _report(self) -> None:
        if self.active:
            status = self._calls.report()
            if self._begin_ns is not None:
                status.values.append(KeyValue(key=BEGUN, value=str(self._begin_ns)))
            self._outputs.publish_diagnostics(status)

    def _warm_up(self) -> None:
        self.get_logger().info('compiling kernels, or loading them from the cache ...')
        motion = self._reference.at(0.0)
        off = tracking_error(self._machine.model, motion, motion.q, motion.v)
        self._feedback.acceleration(off, 0.0)
        self._machine.command(np.zeros(self._machine.model.nv))
        self._tree.to_state(motion.q, motion.v, TreeState())


def reference_of(parameters: ParameterSet, machine: Machine) -> Reference:
    """Return the reference of the parameters; raises LiedynError naming what is wrong."""
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
