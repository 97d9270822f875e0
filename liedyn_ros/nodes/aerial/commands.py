# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Command input of the aerial simulator: rotor speeds or a wrench, and torques."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from liedyn_ros.aerial import AerialManipulator, FlightSimulation
from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, NameSetError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.nodes.aerial.parameters import BASE_WRENCH
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.qos import TOPIC_DEPTH
from liedyn_ros.ros.streams.stream import Stream

JOINT_TORQUES = 'joint_torques'


class AerialCommands:
    """
    Applies every valid command to the simulation and refuses others with the reason.

    Names may come in any order. A refused command changes nothing: the last one stays.
    """

    def __init__(self, stream: Stream, machine: AerialManipulator, base_command: str,
                 base_frame: str,
                 take: Callable[[str, int, Callable[[FlightSimulation], None]], None],
                 refuse: Callable[[LiedynError], None]) -> None:
        """
        Subscribe on a stream; base_command is one of the parameter's choices.

        base_frame: frame id of the base, in which a wrench is.

        `take` gets the topic and the stamp (ns) of a command, and the function that applies it to
        a simulation; it may raise LiedynError. `refuse` gets the reason.
        """
        self._base_frame = base_frame
        self._take, self._refuse = take, refuse
        base_type, read = ((WrenchStamped, self._wrench) if base_command == BASE_WRENCH else
                           (JointState, self._rotors))
        self._rotor_order = NameOrder('name', machine.rotors)
        self._joint_order = NameOrder('name', machine.joints)
        for message_type, topic, reader in (
                (base_type, base_command, read), (JointState, JOINT_TORQUES, self._torques)):
            stream.subscribe(message_type, topic, partial(self._receive, topic, reader),
                             TOPIC_DEPTH, newest_only=True)

    def _receive(self, topic: str, read: Callable[[Any], Callable[[FlightSimulation], None]],
                 message: Any) -> None:
        try:
            self._take(topic, conversions.nanoseconds(message.header.stamp), read(message))
        except LiedynError as error:
            self._refuse(type(error)(f'{topic}: {error}'))

    def _rotors(self, message: JointState) -> Callable[[FlightSimulation], None]:
        speeds = _ordered(self._rotor_order, message.name, 'velocity', message.velocity)
        return lambda simulation: simulation.command_rotors(speeds)

    def _torques(self, message: JointState) -> Callable[[FlightSimulation], None]:
        torques = _ordered(self._joint_order, message.name, 'effort', message.effort)
        return lambda simulation: simulation.command_torques(torques)

    def _wrench(self, message: WrenchStamped) -> Callable[[FlightSimulation], None]:
        if message.header.frame_id != self._base_frame:
            raise NameSetError(f'frame_id: expected {self._base_frame!r}, the body the wrench '
                               f'is on, got {message.header.frame_id!r}')
        wrench = conversions.from_wrench(message.wrench)
        return lambda simulation: simulation.command_wrench(wrench)


def _ordered(
        order: NameOrder, names: Sequence[str], field: str, values: Sequence[float]) -> Array:
    places = order.of(names)
    return checks.as_array(field, values, (len(places),))[places]
