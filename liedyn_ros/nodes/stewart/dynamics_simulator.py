# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The simulator of a Stewart platform under leg forces: commands in, leg states out."""

from collections.abc import Sequence
from typing import Any

from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.simulator_node import MUJOCO_ENGINE, SimulatorNode
from liedyn_ros.nodes.stewart.leg_outputs import LegOutputs
from liedyn_ros.nodes.stewart.parameters import DYNAMICS_SIMULATOR, DYNAMICS_SIMULATOR_NAME
from liedyn_ros.nodes.stewart.platform import LEG_FORCES, Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.qos import TOPIC_DEPTH
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import MujocoPlatformSimulation, PlatformSimulation


class StewartDynamicsSimulatorNode(SimulatorNode[PlatformSimulation]):
    """The platform, held at home by brakes until the first command, and then by its legs alone."""

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        super().__init__(DYNAMICS_SIMULATOR_NAME, DYNAMICS_SIMULATOR, **options)

    def configure(self) -> None:
        """Check the parameters, open topics and the service."""
        parameters = self.parameters
        self.require_time(parameters['rate'])
        self._platform = Platform.from_parameters(
            parameters, ignore_others=False, driven=True)
        self._platform.actuators.require_constant_ratio()
        self.new_simulation()  # refuses a geometry without masses
        self._outputs = LegOutputs(
            self, self._platform, parameters['actuators'], parameters['publish_leg_rates'],
            with_efforts=True)
        self._publish_clock = (self.open_publisher(Clock, '/clock').publish
                               if parameters['publish_clock'] else None)
        stream = Stream(self)
        stream.subscribe(JointState, LEG_FORCES, self._receive, TOPIC_DEPTH, newest_only=True)
        self.open_simulation(stream, parameters['rate'])

    def new_simulation(self) -> PlatformSimulation:
        """Return a platform at home."""
        parameters = self.parameters
        start = (self._platform.geometry, self._platform.home,
                 1.0 / parameters['integration_rate'], parameters['leg_lag'],
                 parameters['length_resolution'])
        if parameters['simulator'] == MUJOCO_ENGINE:
            return MujocoPlatformSimulation(*start, parameters['leg_friction'])
        return PlatformSimulation(*start)

    def publish_state(self, stamp_ns: int) -> None:
        """Publish leg states and the true pose."""
        if self._publish_clock is not None:
            self._publish_clock(Clock(clock=conversions.stamp_of(stamp_ns)))
        self._outputs.publish_truth(stamp_ns, self.simulation.pose)
        self._outputs.publish_legs(stamp_ns, self.simulation.sample())

    def _receive(self, message: JointState) -> None:
        try:
            forces = self._platform.actuators.forces(message.name, message.effort)
            self.take(LEG_FORCES, conversions.nanoseconds(message.header.stamp),
                      lambda: self.simulation.command(forces))
        except LiedynError as error:
            self.refuse(type(error)(f'{LEG_FORCES}: {error}'))


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(StewartDynamicsSimulatorNode, args)


if __name__ == '__main__':
    main()
