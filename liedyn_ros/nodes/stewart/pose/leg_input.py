# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The subscriptions of the leg lengths, in each form a robot may have them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.stewart.parameters import (
    FLOAT64_ARRAY, FLOAT64_TOPICS, JOINT_STATE_INPUT, UNSTAMPED)
from liedyn_ros.nodes.stewart.platform import actuator_topic, LEG_STATES
from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.messages.packed import JointStateReader, PackedJointState
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart.input.actuators import ActuatorSynchronizer, LegActuators, Reading

OnSet = Callable[[int, Array, Array | None], None]
OnFault = Callable[[int, LiedynError], None]


class LegInput:
    """
    Turns actuator messages into sets of leg lengths.

    `on_set` is called with a stamp (ns), lengths (m) and, if measured, rates (m/s) in leg order.
    `on_fault` is called with the stamp and the error of a refused message.
    """

    def __init__(
            self, node: ManagedNode, stream: Stream, form: str, actuators: LegActuators, *,
            use_rates: bool, tolerance: float, depth: int, on_set: OnSet,
            on_fault: OnFault) -> None:
        """Subscribe, on a stream, in one of the forms of parameters.INPUTS."""
        self._node, self._stream = node, stream
        self._actuators, self._use_rates = actuators, use_rates
        self._on_set, self._on_fault = on_set, on_fault
        floats, kinds = form in UNSTAMPED, {
            FLOAT64_TOPICS: Float64, FLOAT64_ARRAY: Float64MultiArray}
        self._sets = ActuatorSynchronizer(
            actuators.driven_names, tolerance, not (floats and node.time_is_simulated()))
        self._single = form in (JOINT_STATE_INPUT, FLOAT64_ARRAY)
        self._reader = JointStateReader(
            node.resolve_topic_name(LEG_STATES), actuators.driven_names)
        self._kind: PackedJointState | None = None  # of messages that one kernel reads
        if self._single:
            callbacks: dict[str, Callable[..., None]] = {
                LEG_STATES: self._take_array if floats else self._take_joint_state}
        elif floats:
            callbacks = {actuator_topic(n): partial(self._take_float, n)
                         for n in actuators.driven_names}
        else:
            callbacks = {actuator_topic(n): partial(self._take_one, n)
                         for n in actuators.driven_names}
        self._subscriptions: list[Subscription] = [
            stream.subscribe(kinds.get(form, JointState), topic, callback,
                             sensor_data(depth), raw=form == JOINT_STATE_INPUT, timed=floats)
            for topic, callback in callbacks.items()]

    @property
    def lost(self) -> int:
        """Return the number of sets missing by gaps in the publishers' counts."""
        return max(self._stream.lost_of(each) for each in self._subscriptions)

    def clear(self) -> None:
        """Forget readings that wait for the rest of their set."""
        self._sets.clear()

    def publishers(self) -> set[str]:
        """Return the names of the nodes that publish on these topics."""
        return {info.node_name for subscription in self._subscriptions
                for info in self._node.get_publishers_info_by_topic(subscription.topic_name)}

    def why_silent(self) -> str:
        """Return why no set comes: publishers are missing or of another type."""
        reasons = []
        for subscription in self._subscriptions:
            topic = subscription.topic_name
            wanted = _type_name(subscription.msg_type)
            offered = [p.topic_type for p in self._node.get_publishers_info_by_topic(topic)]
            if not offered:
                reasons.append(f'nothing publishes {topic}')
            elif wanted not in offered:
                reasons.append(f'{topic}: expected {wanted}, got {", ".join(sorted(offered))}')
        if not reasons and not self._single:
            reasons = [f'no new reading of {", ".join(self._sets.missing())}'
                       if self._sets.missing() else 'readings further apart than the tolerance']
        return '; '.join(reasons) or 'the publisher is silent'

    def _take_joint_state(self, raw: bytes) -> None:
        kind = self._kind
        if kind is not None and kind.take(raw):  # most messages are as the one before
            stamp_ns, usable = self._read()
            if usable:
                self._on_set(stamp_ns, self._lengths, self._rates)
                return
        stamp_ns, rates = self._node.now_ns(), None  # bytes that are no message have no stamp
        try:
            stamp_ns, names, positions, velocities, _ = self._reader.read(raw)
            lengths = self._actuators.lengths(names, positions)
            if self._use_rates and len(velocities):
                rates = self._actuators.rates(names, velocities, lengths)
        except LiedynError as error:
            self._on_fault(stamp_ns, error)
            return
        if self._reader.newest is not self._kind:
            self._bind(self._reader.newest)
        self._on_set(stamp_ns, lengths, rates)

    def _bind(self, kind: PackedJointState | None) -> None:
        """Read messages of a kind, of which one was read, by one kernel where that is possible."""
        self._kind = None
        if kind is None:
            return
        first, velocities, _ = kind.places
        rated = self._use_rates and kind.counts[1] > 0
        bound = self._actuators.reader(
            kind.names, kind.tables, first, velocities if rated else None)
        if bound is not None:
            read, self._lengths, rates = bound
            self._kind, self._read, self._rates = kind, read.call, rates if rated else None

    def _take_array(self, message: Float64MultiArray, sent_ns: int) -> None:
        stamp_ns = self._node.time_of_sending(sent_ns)
        try:
            lengths = self._actuators.lengths(self._actuators.driven_names, message.data)
        except LiedynError as error:
            self._on_fault(stamp_ns, error)
            return
        self._on_set(stamp_ns, lengths, None)

    def _take_one(self, name: str, message: JointState) -> None:
        stamp_ns = nanoseconds(message.header.stamp)
        try:
            position = _only(name, 'position', message.name, message.position)
            velocity = None
            if self._use_rates and message.velocity:
                velocity = _only(name, 'velocity', message.name, message.velocity)
        except LiedynError as error:
            self._on_fault(stamp_ns, error)
            return
        self._add(name, Reading(stamp_ns, position, velocity))

    def _take_float(self, name: str, message: Float64, sent_ns: int) -> None:
        self._add(name, Reading(self._node.time_of_sending(sent_ns), message.data))

    def _add(self, name: str, reading: Reading) -> None:
        stamp_ns = reading.stamp_ns
        try:
            complete = self._sets.add(name, reading)
            if complete is None:
                return
            names = self._actuators.driven_names
            stamp_ns = max(complete[n].stamp_ns for n in names)
            lengths = self._actuators.lengths(names, [complete[n].position for n in names])
            velocities = [v for n in names if (v := complete[n].velocity) is not None]
            rates = (self._actuators.rates(names, velocities, lengths)
                     if len(velocities) == len(names) else None)
        except LiedynError as error:
            self._on_fault(stamp_ns, error)
            return
        self._on_set(stamp_ns, lengths, rates)


def _only(name: str, what: str, names: list[str], values: Any) -> float:
    if list(names) != [name] or len(values) != 1:
        raise LiedynError(f'{actuator_topic(name)}: expected one {what} of {name}, '
                          f'got {len(values)} of {list(names)}')
    return float(values[0])


def _type_name(message_type: Any) -> str:
    package = message_type.__module__.split('.')[0]
    return f'{package}/msg/{message_type.__name__}'
