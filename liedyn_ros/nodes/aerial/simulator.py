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

"""The node that simulates an aerial manipulator: commands in, state out."""

from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import Transform
from liedyn_interfaces.msg import TreeState
import numpy as np
from std_srvs.srv import Trigger

from liedyn_ros.aerial import AerialManipulator, Lags, Reference, Simulation
from liedyn_ros.common.errors import LiedynError, StampError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.model import load_model
from liedyn_ros.nodes.aerial.commands import AerialCommands
from liedyn_ros.nodes.aerial.outputs import AerialOutputs
from liedyn_ros.nodes.aerial.parameters import (
    aerial_manipulator_of, MODEL, SIMULATOR, start_of)
from liedyn_ros.nodes.aerial.simulated_time import SimulatedTime
from liedyn_ros.ros import conversions
from liedyn_ros.ros.diagnostics import StreamDiagnostics
from liedyn_ros.ros.input_gate import ClockMonitor, InputGate
from liedyn_ros.ros.lifecycle import ManagedNode, set_rate
from liedyn_ros.ros.process import run
from liedyn_ros.ros.stream import Stream
from liedyn_ros.ros.tree_messages import TreeMessages

REPORT_RATE = 1.0  # Hz
MAX_STEP = 5.0  # s of the clock between two looks; beyond it, or back, the clock was set


def warm_up_simulation() -> None:
    """Call the kernels of the simulator once."""
    machine = AerialManipulator(load_model(config_file(MODEL)))
    simulation = Simulation(machine, Reference().at(0.0).q)
    simulation.command_wrench(np.zeros(6))
    simulation.command_torques(np.zeros(len(machine.joints)))
    simulation.step()
    poses = simulation.poses()
    se3.compose(se3.inverse(poses), poses)
    conversions.to_transform(poses[0], Transform())
    TreeMessages(machine.model).to_state(simulation.q, simulation.v, TreeState())


class AerialManipulatorSimulatorNode(ManagedNode):
    """
    Integrates the vehicle up to the clock at every tick and before every command.

    A command is in force from the step after its arrival until the next one. There is no ground:
    until its first commands the vehicle is held in place, as on a stand. Ticks and commands are
    served in a thread of their own.
    """

    warm_up = staticmethod(warm_up_simulation)

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        super().__init__('aerial_manipulator_simulator', SIMULATOR, **options)

    def configure(self) -> None:
        """Check the parameters, open topics and the service."""
        parameters = self.parameters
        self._factor = parameters['time_factor']
        with_clock = parameters['publish_clock']
        if with_clock and self.get_parameter('use_sim_time').value:
            raise LiedynError('publish_clock: expected use_sim_time false, as the time of the '
                              'simulation cannot drive itself, got true')
        for name, usual in (('time_factor', 1.0), ('max_command_age', 0.0)):
            if parameters[name] != usual and not with_clock:
                raise LiedynError(f'{name}: expected {usual:g} without publish_clock, which tells '
                                  f'others the time, got {parameters[name]}')
        self._machine = aerial_manipulator_of(parameters)
        self._configuration = self._machine.model.check_configuration(
            start_of(parameters, self._machine))
        self._outputs = AerialOutputs(
            self, self._machine, parameters['world_frame'], with_clock)
        self._clock_monitor = ClockMonitor(self.now_ns, MAX_STEP)
        self._start_flight(self.now_ns())
        self._gate = InputGate(lambda: self._stamp_ns)  # by the time of the simulation
        stream = Stream(self)
        AerialCommands(
            stream, self._machine, parameters['base_command'], self._take, self._refuse)
        stream.open_service(Trigger, '~/reset', self._reset)
        self._ticks = stream.open_timer(0.0, self._tick)
        self.parameters_changed()
        StreamDiagnostics(self, stream, 'commands')
        stream.start()

    def activate(self) -> None:
        """Hold the vehicle at the start; publish its model."""
        with self.lock:
            self._clock_monitor.look()
            self._start_flight(self.now_ns())
            self._outputs.describe()
        set_rate(self._ticks, self._factor * self.parameters['publish_rate'])
        self.on_close(lambda: set_rate(self._ticks, 0.0))
        self.open_timer(REPORT_RATE, self._report)

    def parameters_changed(self) -> None:
        """Take over what may change at run time."""
        self._gate.max_age = self.parameters['max_age']
        self._gate.timeout = self.parameters['command_timeout']
        rate = self.parameters['tf_rate']
        self._tf_period_ns = round(1e9 / rate) if rate > 0.0 else None

    @property
    def _stamp_ns(self) -> int:
        """Return the time that the simulation has reached."""
        return self._begin_ns + round(1e9 * self._simulation.time)

    def _start_again(self) -> None:
        """Restart at the present time of the clock."""
        self._start_flight(
            self._stamp_ns if self.parameters['publish_clock'] else self.now_ns())

    def _start_flight(self, begin_ns: int) -> None:
        self._simulation = Simulation(
            self._machine, self._configuration, 1.0 / self.parameters['integration_rate'],
            Lags(self.parameters['rotor_lag'], self.parameters['joint_lag']))
        self._begin_ns = self._published_ns = begin_ns
        self._time = SimulatedTime(
            self._factor, self.parameters['max_command_age'], self.now_ns(),
            self.parameters['publish_rate'])
        self._broadcast_ns = self._states = 0

    def _tick(self) -> None:
        self._advance()
        stamp_ns = self._stamp_ns
        if stamp_ns == self._published_ns:
            return
        self._published_ns = stamp_ns
        self._states += 1
        self._outputs.publish(stamp_ns, self._simulation.q, self._simulation.v)
        if (self._tf_period_ns is not None
                and stamp_ns - self._broadcast_ns >= self._tf_period_ns):
            self._broadcast_ns = stamp_ns
            self._outputs.broadcast(stamp_ns, self._simulation.poses())
        self._gate.look()
        if self._simulation.flies and self._gate.silent:
            self.complain(
                f'commands: expected every {self._gate.timeout:g} s, got none for '
                f'{self._gate.silence:.1f} s; the last ones stay in force', 'silence')

    def _advance(self) -> None:
        """Take every step that is due."""
        now_ns = self._clock_monitor.look()
        if self._clock_monitor.was_set:
            self.get_logger().warning('the clock was set: the flight restarts')
            self._start_flight(now_ns)
        self._time.pass_to(now_ns, flies=self._simulation.flies)
        try:
            while self._simulation.time + self._simulation.dt <= self._time.due:
                self._simulation.step()
        except LiedynError as error:
            self.complain(f'the motion diverged, the flight restarts: {error}')
            self._start_again()

    def _take(self, topic: str, stamp_ns: int, command: Callable[[Simulation], None]) -> None:
        if not self.active:
            return
        self._advance()
        self._gate.look()
        self._gate.require_recent(stamp_ns)
        if self._gate.max_age > 0.0 and stamp_ns < self._begin_ns:
            raise StampError(f'stamp: expected a time of this flight, which began at '
                             f'{self._begin_ns} ns, got {stamp_ns}')
        command(self._simulation)
        self._time.commanded(topic, 1e-9 * (stamp_ns - self._begin_ns))
        self._gate.accept()

    def _report(self) -> None:
        with self.lock:
            status = self._time.report(
                self.status_name('pace'), self._simulation.time, self._states)
            self._states = 0
        self._outputs.publish_diagnostics(status)

    def _refuse(self, error: LiedynError) -> None:
        if self.active:
            self.complain(error)

    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.active:
            self._start_again()
        response.success = self.active
        response.message = 'stands at the start' if self.active else 'expected an active node'
        return response


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(AerialManipulatorSimulatorNode, args)


if __name__ == '__main__':
    main()
