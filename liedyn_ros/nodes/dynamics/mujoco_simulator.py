# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that simulates any robot of the dynamics server by MuJoCo: efforts in, states out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.control.robot_simulation import RobotSimulation
from liedyn_ros.dynamics import Dynamics, Names
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.model import Model
from liedyn_ros.nodes.dynamics.machines import read_machine
from liedyn_ros.nodes.dynamics.parameters import MODEL_PARAMETERS, MUJOCO_SIMULATOR
from liedyn_ros.nodes.robot_outputs import RobotOutputs
from liedyn_ros.nodes.simulator_node import SimulatorNode
from liedyn_ros.nodes.surroundings import box_of, loaded, Touches
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.qos import TOPIC_DEPTH
from liedyn_ros.ros.streams.stream import Stream

JOINT_TORQUES = 'joint_torques'


class MujocoSimulatorNode(SimulatorNode[RobotSimulation]):
    """An arm, a legged robot or a machine with closed loops, held in place until commanded."""

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        super().__init__('mujoco_simulator', MUJOCO_SIMULATOR, **options)

    def configure(self) -> None:
        """Check the parameters, open topics and the service."""
        parameters = self.parameters
        self.require_time(parameters['publish_rate'])
        model = read_machine({each.name: parameters[each.name] for each in MODEL_PARAMETERS}, None)
        if not isinstance(model, Model):
            raise LiedynError('model_file: expected a robot, or its robot_description, got ' + (
                'none' if model is None else 'a platform, which stewart_dynamics_simulator moves'))
        self._floats = Names(model).base is not None and all(
            each.body_a and each.body_b for each in model.closures)
        self._robot = loaded(model, parameters)
        self._configuration = start_of(model, parameters['start'])
        self._order = NameOrder('name', self.new_simulation().driven, ignore_others=True)
        self._outputs = RobotOutputs(
            self, model, parameters['world_frame'], parameters['frame_prefix'],
            with_clock=parameters['publish_clock'], described=False)
        self._poses = Dynamics(model).kinematics
        self._touches = Touches(self, parameters['frame_prefix'])
        stream = Stream(self)
        stream.subscribe(JointState, JOINT_TORQUES, self._receive, TOPIC_DEPTH, newest_only=True)
        self.open_simulation(stream, parameters['publish_rate'])

    def parameters_changed(self) -> None:
        """Take over the parameters that may change at run time."""
        super().parameters_changed()
        self._outputs.transforms.set_rate(self.parameters['tf_rate'])

    def new_simulation(self) -> RobotSimulation:
        """Return a robot at its start; one with a free base stands on the ground."""
        parameters, q = self.parameters, self._configuration
        around = (1.0 / parameters['integration_rate'],
                  parameters['ground'] if self._floats else None, box_of(parameters))
        robot = RobotSimulation(self._robot, q, *around)
        if not self._floats:
            return robot
        q = q.copy()
        q[2] += parameters['ground'] + parameters['start_height'] - robot.lowest
        return RobotSimulation(self._robot, q, *around)

    def publish_state(self, stamp_ns: int) -> None:
        """Publish the state, what touches, and TF when it is due and heard."""
        robot = self.simulation
        self._outputs.publish(stamp_ns, robot.q, robot.v, robot.efforts)
        if self._outputs.transforms.are_due(stamp_ns):
            self._outputs.broadcast(stamp_ns, self._poses(robot.q).poses)
        if self._touches.heard:
            self._touches.publish(stamp_ns, robot.touches())

    def _receive(self, message: JointState) -> None:
        try:
            places = self._order.of(message.name)
            efforts = as_array('effort', message.effort, (len(message.name),))[places]
            self.take(JOINT_TORQUES, conversions.nanoseconds(message.header.stamp),
                      lambda: self.simulation.command(efforts))
        except LiedynError as error:
            self.refuse(type(error)(f'{JOINT_TORQUES}: {error}'))


def start_of(model: Model, text: str) -> Array:
    """
    Return the start (nq,) near the positions of a text, with closed loops closed.

    Joints that the text does not name are at 0, or at the limit that is nearest. Raises the errors
    of Model.rough_configuration, and ConvergenceError where loops cannot be closed.
    """
    q = model.rough_configuration(text)
    for joint in Names(model).others.values():
        if joint.v_slice.stop - joint.v_slice.start == 1 and f'{joint.name}:=' not in text:
            q[joint.qi] = np.clip(q[joint.qi], joint.limits.lower[0], joint.limits.upper[0])
    if model.closures or model.couplings:
        q = assemble(ConstrainedDynamics(model), q, within_limits=True)
    return q


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(MujocoSimulatorNode, args)


if __name__ == '__main__':
    main()
