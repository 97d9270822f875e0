# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The payload of the machine that is served, estimated from its joint states."""

from __future__ import annotations

from collections.abc import Callable

from liedyn_interfaces.msg import Payload as PayloadMessage
import numpy as np
from sensor_msgs.msg import JointState

from liedyn_ros.common.errors import bounded, LiedynError
from liedyn_ros.identification import Payload, PayloadStream
from liedyn_ros.ros.messages.conversions import nanoseconds, stamp_of
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.stream import Stream

REPORT_RATE = 1.0  # Hz
QUEUE = 100  # samples, as none is to be missed


class PayloadTopics:
    """
    Joint states in, the payload out, once a second.

    Its own thread takes the samples. source returns what estimates, or None without a model.
    """

    def __init__(self, node: ManagedNode, body: str, source: Callable[[], PayloadStream | None]
                 ) -> None:
        """Open the topics."""
        self._node, self._body, self._source = node, body, source
        self._why = ''  # the last sample was refused
        self._stream = Stream(node, name='payload')
        StreamDiagnostics(node, self._stream, 'payload', lambda: True)
        self._stream.subscribe(JointState, 'joint_states', self._take, sensor_data(QUEUE))
        self._publisher = node.open_publisher(PayloadMessage, '~/payload')
        self._stream.open_timer(REPORT_RATE, self._publish)
        self._stream.start()

    def _take(self, message: JointState) -> None:
        estimator = self._source()
        if estimator is None or not self._node.active:
            return
        try:
            estimator.take(nanoseconds(message.header.stamp), message.name, message.position,
                           message.effort)
            self._why = ''
        except LiedynError as error:
            self._why = str(error)
            self._node.complain(f'joint_states: {error}')

    def _publish(self) -> None:
        estimator = self._source()
        if self._node.active and estimator is not None:
            self._publisher.publish(message_of(estimator, self._body, self._why))


def message_of(estimator: PayloadStream, body: str, why: str = '') -> PayloadMessage:
    """Return a message on a payload; why: the reason that the last sample was refused."""
    message = PayloadMessage(samples=estimator.estimator.samples, refused=estimator.refused,
                             joint_names=list(estimator.joint_names))
    message.header.frame_id = body
    message.header.stamp = stamp_of(estimator.stamp_ns)
    try:
        found = estimator.estimate
        if not np.isfinite(found.deviations[0]):
            raise LiedynError('payload: expected motions that determine its mass, got none')
        if not found.mass > 0.0:
            raise LiedynError(f'payload: expected a mass above 0, got {found.mass:.4g} +- '
                              f'{found.deviations[0]:.2g} kg')
    except LiedynError as error:
        message.message = bounded(f'{error}; {why}' if why else str(error))
        return message
    _write(found, message)
    return message


def _write(found: Payload, message: PayloadMessage) -> None:
    message.success, message.duration = True, found.seconds
    message.parameters, message.deviations = found.parameters, found.deviations
    message.center_deviations = found.center_deviations
    message.covariance = found.covariance.ravel()
    message.errors, message.offsets = found.errors.tolist(), found.offsets.tolist()
    mass, *rest = found.possible().tolist()
    xx, xy, xz, yy, yz, zz = rest[3:]
    x, y, z = (each / mass for each in rest[:3])
    inertia = message.inertia  # about the centre of mass
    inertia.m, inertia.com.x, inertia.com.y, inertia.com.z = mass, x, y, z
    inertia.ixx, inertia.ixy = xx - mass * (y * y + z * z), xy + mass * x * y
    inertia.ixz, inertia.iyy = xz + mass * x * z, yy - mass * (x * x + z * z)
    inertia.iyz, inertia.izz = yz + mass * y * z, zz - mass * (x * x + y * y)
