# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The redundant sensor of the pose node: an IMU's orientation, or a seventh length."""

import numpy as np
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.lie import so3
from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.parameters.parameter_set import ParameterSet
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.streams.input_gate import InputGate
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart.tracking.sensor_monitor import LengthSensor, OrientationSensor, Sensor

NO_ORIENTATION = -1.0  # the first number of its covariance in an Imu without one (sensor_msgs)


def sensor_of(parameters: ParameterSet) -> Sensor | None:
    """Return the sensor that the parameters describe; raises LiedynError for two."""
    turn, length = parameters['orientation_noise'], parameters['extra_length_noise']
    if turn and length:
        raise LiedynError('orientation_noise and extra_length_noise: expected one redundant '
                          f'sensor, got {turn:g} rad and {length:g} m')
    if turn:
        return OrientationSensor(turn)
    if length:
        return LengthSensor(
            np.array(parameters['extra_length_base']),
            np.array(parameters['extra_length_platform']), length)
    return None


class RedundantInput:
    """
    Keeps the newest reading of the redundant sensor; each is used once.

    The frame id of an Imu is ignored: it names the sensor's frame (REP 145).
    `orientation_mounting` says its orientation in the platform.
    """

    def __init__(self, node: ManagedNode, stream: Stream, parameters: ParameterSet,
                 sensor: Sensor) -> None:
        """Subscribe on the stream; a reading that is refused is logged with the reason."""
        self._on_fault, self._time_of_sending = node.complain, node.time_of_sending
        self._gate = InputGate(node.now_ns, simulated=node.time_is_simulated)
        self._tolerance_ns = round(1e9 * parameters['sensor_tolerance'])
        self._mounting = so3.inverse(so3.from_quaternion(
            checks.as_array('orientation_mounting', parameters['orientation_mounting'], (4,))))
        self.clear()
        oriented = isinstance(sensor, OrientationSensor)
        self._subscription = stream.subscribe(
            Imu if oriented else Float64, 'orientation' if oriented else 'extra_length',
            self._take_orientation if oriented else self._take_length, sensor_data(),
            timed=not oriented)

    def clear(self) -> None:
        """Forget the readings."""
        self._gate.reset()
        self._newest: tuple[int, Array] | None = None
        self._ever_used = False
        self._reason = ''
        self._begin_report()

    def near(self, stamp_ns: int) -> tuple[int, Array] | None:
        """Return time (ns) and value of a reading near a time that was not used, or None."""
        if self._newest is None or abs(self._newest[0] - stamp_ns) > self._tolerance_ns:
            return None
        self._met = True
        return self._newest

    def use(self) -> None:
        """Take the newest reading as used: it has been compared with a pose."""
        self._newest, self._ever_used = None, True
        self._used += 1
        self._gate.look()
        self._gate.accept()

    def report(self) -> tuple[str, dict[str, object]]:
        """Return the fault since the last report, or '', and counts."""
        counts: dict[str, object] = {
            'heard': self._heard, 'used': self._used, 'refused': self._refused}
        fault = ''
        if self._refused:
            fault = self._reason
        elif not self._used:
            self._gate.look()
            used = f'last used {self._gate.silence:.1f} s ago' if self._ever_used else 'never used'
            fault = f'silent, {used}: nothing on {self._subscription.topic_name}'
            if self._met:
                fault = f'{used}: no pose to compare a reading with'
            elif self._heard:
                fault = f'{used}: no stamp within sensor_tolerance of the leg lengths'
        self._begin_report()
        return fault, counts

    def _begin_report(self) -> None:
        self._heard = self._used = self._refused = 0
        self._met = False  # whether a reading was near leg lengths in time

    def _take_orientation(self, message: Imu) -> None:
        q, stamp_ns = message.orientation, nanoseconds(message.header.stamp)
        try:
            if message.orientation_covariance[0] == NO_ORIENTATION:
                raise LiedynError('orientation: expected one, got the covariance that says there '
                                  f'is none, {NO_ORIENTATION:g} at its beginning')
            rotation = so3.from_quaternion(
                checks.as_array('orientation', (q.x, q.y, q.z, q.w), (4,)))
            self._gate.follows(stamp_ns)
        except LiedynError as error:
            self._refuse(error)
        else:
            self._keep(stamp_ns, so3.compose(rotation, self._mounting))

    def _take_length(self, message: Float64, sent_ns: int) -> None:
        try:
            reading = checks.as_array('extra_length', message.data, ())
        except LiedynError as error:
            self._refuse(error)
        else:
            self._gate.look()
            self._keep(self._time_of_sending(sent_ns), reading)

    def _keep(self, stamp_ns: int, reading: Array) -> None:
        self._newest, self._heard = (stamp_ns, reading), self._heard + 1

    def _refuse(self, error: LiedynError) -> None:
        self._refused, self._reason = self._refused + 1, str(error)
        self._on_fault(error)
