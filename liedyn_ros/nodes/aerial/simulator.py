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

"""The node that plays an aerial manipulator: commands in, its state out."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.timer import Timer
from std_srvs.srv import Trigger

from liedyn_ros.aerial import Lags, Simulation
from liedyn_ros.common import checks
from liedyn_ros.common.errors import LiedynError, StampError
from liedyn_ros.nodes.aerial.commands import AerialCommands
from liedyn_ros.nodes.aerial.outputs import AerialOutputs
from liedyn_ros.nodes.aerial.parameters import machine_of, SIMULATOR, start_of
from liedyn_ros.nodes.aerial.simulated_time import Pace
from liedyn_ros.ros.lifecycle import ManagedNode, run

REPORT_PERIOD = 1.0  # s
JUMP_NS = 5_000_000_000  # a clock that leaps further, or back, was set: the flight starts anew


class AerialManipulatorSimulatorNode(ManagedNode):
    """
    Integrates the machine up to its clock at every tick, and before every command.

    A command is in force from the step after its arrival until the next one. There is no ground:
    until its first commands the machine stands in the air, as on a stand.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        self._parts: list[Any] = []
        self._service: Any = None
        self._timers_of_ours: list[Timer] = []
        super().__init__('aerial_manipulator_simulator', SIMULATOR, **options)

    def configure(self) -> None:
        """Check the parameters, warm the kernels up, open topics and the service."""
        parameters = self.parameters
        self._factor = parameters['time_factor']
        with_clock = parameters['publish_clock']
        if with_clock and self.get_parameter('use_sim_time').value:
            raise LiedynError('publish_clock: expected use_sim_time false, as the time of the '
                              'simulation cannot drive itself, got true')
        for name, usual in (('time_factor', 1.0), ('most_command_age', 0.0)):
            if parameters[name] != usual and not with_clock:
                raise LiedynError(f'{name}: expected {usual:g} without publish_clock, which tells '
                                  f'others the time, got {parameters[name]}')
        self._machine = machine_of(parameters)
        self._start = self._machine.model.check_configuration(start_of(parameters, self._machine))
        self._warm_up()
        self._outputs = AerialOutputs(
            self, self._machine, parameters['world_frame'], with_clock)
        self._parts = [self._outputs, AerialCommands(
            self, self._machine, parameters['base_command'], self._take, self._refuse)]
        self._service = self.create_service(Trigger, '~/reset', self._reset)
        self.parameters_changed()

    def release(self) -> None:
        """Close what `configure` opened."""
        self.deactivate()
        for part in self._parts:
            part.destroy()
        self._parts.clear()
        if self._service is not None:
            self.destroy_service(self._service)
            self._service = None

    def activate(self) -> None:
        """Stand at the start; say what the machine looks like."""
        self._start_anew(self.get_clock().now().nanoseconds)
        self._outputs.describe()
        self._timers_of_ours = [
            self.create_timer(1.0 / (self._factor * self.parameters['publish_rate']), self._tick),
            self.create_timer(REPORT_PERIOD, self._report)]

    def deactivate(self) -> None:
        """Stop."""
        for timer in self._timers_of_ours:
            self.destroy_timer(timer)
        self._timers_of_ours = []

    def parameters_changed(self) -> None:
        """Take over what may change at run time."""
        self._max_age = self.parameters['max_age']
        self._timeout_ns = round(1e9 * self.parameters['command_timeout'])
        rate = self.parameters['tf_rate']
        self._tf_period_ns = round(1e9 / rate) if rate > 0.0 else None

    @property
    def _stamp_ns(self) -> int:
        """Return the time that the simulation has reached."""
        return self._begin_ns + round(1e9 * self._simulation.time)

    def _start_again(self) -> None:
        """Start anew at the time that others know."""
        self._start_anew(self._stamp_ns if self.parameters['publish_clock'] else
                         self.get_clock().now().nanoseconds)

    def _start_anew(self, begin_ns: int) -> None:
        self._simulation = Simulation(
            self._machine, self._start, 1.0 / self.parameters['integration_rate'],
            Lags(self.parameters['rotor_lag'], self.parameters['joint_lag']))
        self._begin_ns = self._published_ns = begin_ns
        self._pace = Pace(self._factor, self.parameters['most_command_age'],
                          self.get_clock().now().nanoseconds)
        self._commanded_ns = self._broadcast_ns = 0

    def _tick(self) -> None:
        self._advance()
        stamp_ns = self._stamp_ns
        if stamp_ns == self._published_ns:
            return
        self._published_ns = stamp_ns
        self._outputs.publish(stamp_ns, self._simulation.q, self._simulation.v)
        if (self._tf_period_ns is not None
                and stamp_ns - self._broadcast_ns >= self._tf_period_ns):
            self._broadcast_ns = stamp_ns
            self._outputs.broadcast(stamp_ns, self._simulation.poses())
        if self._simulation.flies and 0 < self._timeout_ns < stamp_ns - self._commanded_ns:
            self.complain(
                f'commands: expected every {1e-9 * self._timeout_ns:g} s, got none for '
                f'{1e-9 * (stamp_ns - self._commanded_ns):.1f} s; the last ones stay in force')

    def _advance(self) -> None:
        """Take every step that is due."""
        now_ns = self.get_clock().now().nanoseconds
        if not 0 <= now_ns - self._pace.looked_ns <= JUMP_NS:
            self.get_logger().warning('the clock was set: the flight starts anew')
            self._start_anew(now_ns)
        self._pace.pass_to(now_ns, flies=self._simulation.flies)
        try:
            while self._simulation.time + self._simulation.dt <= self._pace.due:
                self._simulation.step()
        except LiedynError as error:
            self.complain(f'the motion left all bounds, the flight starts anew: {error}')
            self._start_again()

    def _take(self, topic: str, stamp_ns: int, command: Callable[[Simulation], None]) -> None:
        if not self.active:
            return
        self._advance()
        if self._max_age > 0.0:
            checks.require_recent(stamp_ns, self._stamp_ns, self._max_age)
            if stamp_ns < self._begin_ns:
                raise StampError(f'stamp: expected a time of this flight, which began at '
                                 f'{self._begin_ns} ns, got {stamp_ns}')
        command(self._simulation)
        self._pace.commanded(topic, 1e-9 * (stamp_ns - self._begin_ns))
        self._commanded_ns = self._stamp_ns

    def _report(self) -> None:
        self._outputs.publish_diagnostics(self._pace.report(self.get_fully_qualified_name()))

    def _refuse(self, error: LiedynError) -> None:
        if self.active:
            self.complain(error)

    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.active:
            self._start_again()
        response.success = self.active
        response.message = 'stands at the start' if self.active else 'expected an active node'
        return response

    def _warm_up(self) -> None:
        self.get_logger().info('compiling kernels, or loading them from the cache ...')
        simulation = Simulation(self._machine, self._start)
        simulation.command_wrench(np.zeros(6))
        simulation.command_torques(np.zeros(len(self._machine.joints)))
        simulation.step()
        simulation.poses()


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(AerialManipulatorSimulatorNode, args)


if __name__ == '__main__':
    main()
