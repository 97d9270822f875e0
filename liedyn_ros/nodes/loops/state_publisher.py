# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that computes all joints of a robot with closed loops from those with encoders."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
import math
from typing import Any

from liedyn_interfaces.msg import JointMotion
import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.dynamics.machines import read_model
from liedyn_ros.nodes.loops.machine import LoopedMachine, LoopSample, NO_VALUES
from liedyn_ros.nodes.loops.outputs import LoopOutputs
from liedyn_ros.nodes.loops.parameters import LOOP_STATE_PUBLISHER
from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.messages.packed import JointReadings, JointStateReader
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.process.threads import ReadAhead
from liedyn_ros.ros.qos import LATCHED, sensor_data
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.input_gate import InputGate
from liedyn_ros.ros.streams.stream import Stream

INPUT_CHECK_RATE = 10.0  # Hz; of checks whether input comes
MEASURED_TOPIC = 'measured_joint_states'


class LoopStatePublisherNode(ManagedNode):
    """
    States of the measured joints in; states of all joints out.

    Its own thread reads the input. Of all samples that wait, the newest is completed and
    published.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        self._latest: String | None = None  # of the descriptions that came
        self._machines = ReadAhead(self, self._read_machine)
        super().__init__('loop_state_publisher', LOOP_STATE_PUBLISHER, **options)

    def read_ahead(self) -> Future[Any] | None:
        """Begin to read the model in a thread."""
        return self._machines.begin(self._values(), None)

    def configure(self) -> None:
        """Take the model if the parameters name one, open the topics."""
        self.on_close(self._forget)
        self._machine: LoopedMachine | None = None
        self._gate = InputGate(self.now_ns, simulated=self.time_is_simulated)
        self._topic = self.resolve_topic_name(MEASURED_TOPIC)
        self._reader = JointStateReader(self._topic)
        self._start_over()
        self._outputs = LoopOutputs(self, self.parameters['frame_prefix'])
        self._adopt(self._machines.take(self._values(), None))
        self._machines.forget()
        self.open_subscription(  # in a group of its own, as it awaits what it reads
            String, 'robot_description', self._take_description, LATCHED,
            callback_group=ReentrantCallbackGroup())
        self._stream = stream = Stream(self, self._publish_newest)
        StreamDiagnostics(self, stream, 'measured joints', lambda: True)
        qos = sensor_data(self.parameters['queue_depth'])
        self._input = stream.subscribe(
            JointState, MEASURED_TOPIC, self._take, qos, raw=True)
        stream.subscribe(JointMotion, 'measured_joint_motion', self._take_motion, qos)
        self.open_timer(INPUT_CHECK_RATE, self._look_for_silence)
        self.parameters_changed()
        stream.start()

    def activate(self) -> None:
        """Start from the assembly of the parameters: the state before may be out of date."""
        self._start_over()
        if self._machine is not None:
            self._outputs.adopt(self._machine)

    def parameters_changed(self) -> None:
        """Take over the parameters that may change at run time."""
        gate = self._gate
        gate.max_age, gate.max_lead = self.parameters['max_age'], self.parameters['max_lead']
        gate.timeout = self.parameters['input_timeout']
        self._outputs.set_tf_rate(self.parameters['tf_rate'])
        self._warning = (self.parameters['singularity_warning'],
                         self.parameters['singularity_warning_time'])

    def _forget(self) -> None:
        """Forget the description."""
        self._latest = None

    def _start_over(self) -> None:
        with self.lock:
            if self._machine is not None:
                self._machine.tracker.reset()
            self._last: LoopSample | None = None  # the last one completed
            self._newest: LoopSample | None = None  # of those not completed yet
            self._fault: tuple[int, LiedynError] | None = None  # the newest, with its stamp
            self._taken, self._near_singularity = 0, False
            self._refused = ''  # why the last sample since the last good one was refused
            self._gate.reset()

    def _values(self) -> dict[str, Any]:
        return {p.name: self.parameters[p.name] for p in LOOP_STATE_PUBLISHER}

    def _read_machine(
            self, values: Mapping[str, Any], description: str | None) -> LoopedMachine | None:
        """Return the machine of values of the parameters, else of a description, if any."""
        model = read_model(values, description)
        if model is None:
            return None
        return LoopedMachine(
            model, values['measured_joints'], values['start'], values['ignore_other_joints'],
            values['agreement'])

    def _adopt(self, machine: LoopedMachine | None) -> None:
        """Complete the states of a machine from now on, if there is one."""
        if machine is None:
            return
        with self.lock:
            self._machine = machine
            self._reader = JointStateReader(self._topic, machine.measured)
            self._outputs.adopt(machine)
            self._start_over()
        self.get_logger().info(
            f'{machine.model}: {list(machine.measured)} decide the other joints')
        for warning in (*machine.model.warnings, machine.doubt):
            if warning:
                self.get_logger().warning(warning)

    async def _take_description(self, message: String) -> None:
        """Take the topic's model, unless the parameters name one."""
        if self.parameters['model_file'] or self.parameters['robot_description']:
            return
        self._latest, values = message, self._values()
        async with self._machines.ahead(values, message.data):
            if self._latest is not message:  # a newer one came, or the node was cleaned up
                return
            try:
                self._adopt(self._machines.take(values, message.data))
            except LiedynError as error:
                self.complain(f'{error}; the model stays as it was')

    def _take(self, raw: bytes) -> None:
        """Take one message; the newest good one of all that wait is completed."""
        if not self.active:
            return
        try:
            readings = self._reader.read(raw)
        except LiedynError as error:  # without a stamp
            self._taken += 1
            self._fault = self._gate.look(), error
            return
        self._read(readings)

    def _take_motion(self, message: JointMotion) -> None:
        """Take one message with accelerations."""
        if self.active:
            self._read(JointReadings(nanoseconds(message.header.stamp), message.name, *map(
                np.asarray, (message.position, message.velocity, message.effort))),
                np.asarray(message.acceleration))

    def _read(self, readings: JointReadings, accelerations: Array = NO_VALUES) -> None:
        self._taken += 1
        try:
            if self._machine is None:
                raise LiedynError('expected a model, got none yet from the parameters model_file '
                                  'and robot_description and the topic robot_description')
            sample = self._machine.read(readings, accelerations)
            self._gate.follows(sample.stamp_ns)
        except LiedynError as error:
            self._fault = readings.stamp_ns, error
            return
        self._newest = sample

    def _publish_newest(self) -> None:
        """Complete and publish the newest sample, and say why the newest refused one was."""
        sample, fault, taken = self._newest, self._fault, self._taken
        self._newest, self._fault, self._taken = None, None, 0
        machine = self._machine
        passed_over = max(0, taken - (sample is not None) - (fault is not None))
        self._stream.passed_over += passed_over
        completed = False
        if sample is not None and machine is not None:
            try:
                self._complete(machine, sample, passed_over)
                completed = True
            except LiedynError as error:
                fault = sample.stamp_ns, error
        if fault is not None:
            self._refused = str(fault[1])
            if not completed:
                self._gate.look()  # the status has the age at its publication
            self._refuse(*fault, 0 if completed else passed_over)
            if machine is None:
                self.wait_for(fault[1], 'model')
            else:
                self.complain(fault[1])

    def _complete(self, machine: LoopedMachine, sample: LoopSample, passed_over: int) -> None:
        accelerations = sample.accelerations if self._outputs.wants_accelerations else None
        state = machine.tracker.update(
            sample.positions, sample.velocities, accelerations, ahead=False)
        self._outputs.publish(sample, state)  # before all else
        self._gate.look()  # the status has the age at its publication
        self._gate.accept()
        self._refused = ''
        rates, self._last = self._rates(sample), sample
        left = math.inf if rates is None else machine.tracker.time_to_singularity(rates)
        smallest, seconds = self._warning
        near = state.inverse_condition_number < smallest or left < seconds
        if near and not self._near_singularity:
            self.get_logger().warning(
                f'near a singularity: inverse condition number '
                f'{state.inverse_condition_number:.3g}, {left:.3g} s away at this rate')
        self._near_singularity = near
        self._outputs.complete(
            sample.stamp_ns, state.inverse_condition_number, left, near=near,
            age=self._age(sample.stamp_ns), passed_over=passed_over)

    def _rates(self, sample: LoopSample) -> Array | None:
        """Return the measured rates, else differences from the last sample, if any."""
        if sample.velocities is not None or self._last is None:
            return sample.velocities
        seconds = 1e-9 * (sample.stamp_ns - self._last.stamp_ns)
        return (sample.positions - self._last.positions) / seconds if seconds > 0.0 else None

    def _refuse(self, stamp_ns: int, error: LiedynError, passed_over: int = 0) -> None:
        self._outputs.refuse(
            stamp_ns, error, age=self._age(stamp_ns), passed_over=passed_over)

    def _age(self, stamp_ns: int) -> float:
        """Return the age of a stamp, s, at the last look at the clock."""
        return 1e-9 * (self._gate.now_ns - stamp_ns)

    def _look_for_silence(self) -> None:
        with self.lock:
            self._gate.look()
            if not (self.active and self._gate.silent):
                return
            publishers = self.get_publishers_info_by_topic(self._input.topic_name)
            reason = (f'nothing publishes {self._input.topic_name}' if not publishers
                      else f'all samples were refused, the last one: {self._refused}'
                      if self._refused else 'the publisher is silent')
            error = LiedynError(f'{self._gate.missing("measured joints")}: {reason}')
            self._refuse(self._gate.now_ns, error)
            waiting = self._machine is None or not (self._gate.heard or self._refused)
        if not waiting:
            self.complain(error)
        else:
            self.wait_for(error, 'measured joints')


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(LoopStatePublisherNode, args)


if __name__ == '__main__':
    main()
