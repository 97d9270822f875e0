# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that simulates an aerial manipulator: commands in, state out."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from sensor_msgs.msg import JointState

from liedyn_ros.aerial import AerialManipulator, FlightSimulation
from liedyn_ros.aerial.simulation import MujocoSimulation
from liedyn_ros.aerial.vehicle import Lags
from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, NameSetError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.control.gusts import Gusts
from liedyn_ros.nodes.aerial.parameters import (
    aerial_manipulator_of, BASE_WRENCH, SIMULATOR_PARAMETERS, start_of)
from liedyn_ros.nodes.robot_outputs import RobotOutputs
from liedyn_ros.nodes.simulator_node import MUJOCO_ENGINE, SimulatorNode
from liedyn_ros.nodes.surroundings import box_of, loaded, Touches
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.process.run import run
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


class AerialManipulatorSimulatorNode(SimulatorNode[FlightSimulation]):
    """The vehicle under commands, held until the first. MuJoCo alone has a ground."""

    motion = 'flight'

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        super().__init__('aerial_manipulator_simulator', SIMULATOR_PARAMETERS, **options)

    def configure(self) -> None:
        """Check the parameters, open topics and the service."""
        parameters = self.parameters
        self.require_time(parameters['publish_rate'])
        self._machine = aerial_manipulator_of(parameters)
        self._loaded = AerialManipulator(loaded(self._machine.model, parameters))
        self._touches = Touches(self, parameters['frame_prefix'])
        self._configuration = self._machine.model.check_configuration(
            start_of(parameters, self._machine))
        self._outputs = RobotOutputs(
            self, self._machine.model, parameters['world_frame'], parameters['frame_prefix'],
            with_clock=parameters['publish_clock'])
        stream = Stream(self)
        AerialCommands(
            stream, self._machine, parameters['base_command'],
            parameters['frame_prefix'] + self._machine.base, self._command, self.refuse)
        self.open_simulation(stream, parameters['publish_rate'])

    def activate(self) -> None:
        """Hold the vehicle at the start; publish its model."""
        super().activate()
        self._outputs.describe()

    def parameters_changed(self) -> None:
        """Take over the parameters that may change at run time."""
        super().parameters_changed()
        self._outputs.transforms.set_rate(self.parameters['tf_rate'])

    def new_simulation(self) -> FlightSimulation:
        """Return a vehicle at its start."""
        parameters = self.parameters
        start = (self._loaded, self._configuration, 1.0 / parameters['integration_rate'],
                 Lags(parameters['rotor_lag'], parameters['joint_lag']), self._machine)
        flight = (MujocoSimulation(*start, parameters['ground'], box_of(parameters))
                  if parameters['simulator'] == MUJOCO_ENGINE else FlightSimulation(*start))
        if any(parameters['wind']) or parameters['gusts']:
            flight.gusts = Gusts(np.random.default_rng(0), parameters['wind'], parameters['gusts'])
        return flight

    def publish_state(self, stamp_ns: int) -> None:
        """Publish odometry and joint states, and TF when it is due and heard."""
        self._outputs.publish(stamp_ns, self.simulation.q, self.simulation.v)
        if self._outputs.transforms.are_due(stamp_ns):
            self._outputs.broadcast(
                stamp_ns, self._machine.dynamics.kinematics(self.simulation.q).poses)
        if self._touches.heard and isinstance(self.simulation, MujocoSimulation):
            self._touches.publish(stamp_ns, self.simulation.touches())

    def _command(self, topic: str, stamp_ns: int,
                 command: Callable[[FlightSimulation], None]) -> None:
        self.take(topic, stamp_ns, lambda: command(self.simulation))


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(AerialManipulatorSimulatorNode, args)


if __name__ == '__main__':
    main()
