# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The base of simulators that integrate a machine under commands, up to the clock."""

from abc import ABC, abstractmethod
from collections.abc import Callable
import math
import time
from typing import Generic, Protocol, TypeVar

from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import Trigger

from liedyn_ros.common.errors import LiedynError, StampError
from liedyn_ros.control import Drives
from liedyn_ros.control.actuators import COMMAND_TIMEOUT
from liedyn_ros.nodes.control_status import drives_status, NORMAL_STATES
from liedyn_ros.ros.node.lifecycle import LOG_PERIOD, ManagedNode, set_rate
from liedyn_ros.ros.parameters.parameter_set import Parameter
from liedyn_ros.ros.simulated_time import SimulatedTime
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.input_gate import AgeGate, ClockMonitor
from liedyn_ros.ros.streams.stream import Stream

REPORT_RATE = 1.0  # Hz
MAX_CLOCK_STEP = 5.0  # s of the clock between two looks; beyond it, or back, the clock was set
LEAST_LATENESS, LATE_PERIODS = 0.02, 3.0  # s, periods; beyond both a simulator warns of it
SHARE_PERIODS, MAX_PASS = 4.0, 0.1  # of publishing, and s of computing, before others are served
TIME_SUM_ERROR = 1e-6  # s, of sums of times

MAX_AGE_PARAMETER = Parameter(
    'max_age', 0.5, 'age beyond which a stamped input is refused as stale; 0 for any age', 's',
    least=0.0, most=3600.0, run_time=True)
OWN_ENGINE, MUJOCO_ENGINE = 'own', 'mujoco'
SIMULATOR_CHOICE = Parameter(
    'simulator', OWN_ENGINE,
    "whose physics: the package's own dynamics, or MuJoCo if it is installed",
    choices=(OWN_ENGINE, MUJOCO_ENGINE))
INTEGRATION_RATE = Parameter(
    'integration_rate', 1000.0, 'steps of the simulation a second', 'Hz', least=100.0,
    most=10000.0)
PUBLISH_RATE = Parameter(
    'publish_rate', 250.0, 'states a second', 'Hz', least=1.0, most=1000.0)
TIME_PARAMETERS = (
    Parameter('command_timeout', COMMAND_TIMEOUT, 'time in motion without an accepted command '
              'after which the drives take their own safe action and the silence is reported; '
              '0 for never: the last commands stay in force', 's',
              least=0.0, most=3600.0, run_time=True),
    Parameter('publish_clock', False, 'publish the time of the simulation on /clock'),
    Parameter('max_command_age', 0.02, 'age of the state that a command answers, by their '
              'stamps, beyond which simulated time waits for a newer command. The time between '
              'two states counts where it is longer; 0 waits for none. Only with publish_clock',
              's', least=0.0, most=10.0),
    Parameter('time_factor', 1.0, 'speed of the simulation over real time; other than 1 only '
              'with publish_clock', least=0.01, most=10.0),
)


def max_lateness(rate: float) -> float:
    """Return how late (s) states may be published at a rate (Hz): no machine wakes on time."""
    return max(LEAST_LATENESS, LATE_PERIODS / rate)


class Simulation(Protocol):
    """A machine that is held in place until it is commanded; its step dt is in s."""

    dt: float
    command_timeout: float  # s, after which drives act by themselves

    @property
    def time(self) -> float:
        """Return the time since the start, s: a multiple of dt."""

    @property
    def moves(self) -> bool:
        """Return whether the machine is released, by its first command."""

    @property
    def drives(self) -> Drives:
        """Return the action of its drives."""

    def step(self) -> None:
        """Advance by dt; raise LiedynError where the motion cannot go on."""


Simulated = TypeVar('Simulated', bound=Simulation)


class SimulatorNode(ManagedNode, ABC, Generic[Simulated]):
    """
    Integrates a machine up to the clock at every tick and before every command.

    A command is in force from the step after its arrival until the next one, or until
    `command_timeout`, when the drives act by themselves. By the time of /clock it is in force from
    the last tick on, so load does not shift it. Until its first commands the machine is held in
    place. Ticks and commands are served in their own thread.

    A subclass has the parameters above, opens its publishers and calls `open_simulation` in
    `configure`. It says how a simulation begins in `new_simulation`, what is published of it in
    `publish_state`, and hands valid commands to `take`.
    """

    motion = 'motion'  # as messages call it
    simulation: Simulated

    @abstractmethod
    def new_simulation(self) -> Simulated:
        """Return a simulation at its start."""

    @abstractmethod
    def publish_state(self, stamp_ns: int) -> None:
        """Publish the state that the simulation has reached."""

    def require_time(self, rate: float) -> None:
        """Check the parameters of time at a rate of states (Hz); raise LiedynError."""
        with_clock = self.parameters['publish_clock']
        if with_clock and self.get_parameter('use_sim_time').value:
            raise LiedynError('publish_clock: expected use_sim_time false, as the time of the '
                              'simulation cannot drive itself, got true')
        self._factor = self.parameters['time_factor']
        if self._factor != 1.0 and not with_clock:
            raise LiedynError(f'time_factor: expected 1 without publish_clock, which gives other '
                              f'nodes the time, got {self._factor}')
        max_age = self.parameters['max_command_age'] if with_clock else 0.0
        self._max_command_age = max(max_age, 1.0 / rate) if max_age else 0.0

    def open_simulation(self, stream: Stream, rate: float) -> None:
        """Begin the simulation, published at a rate (Hz), and start the stream."""
        self._rate = rate
        self._clock_monitor = ClockMonitor(self.now_ns, MAX_CLOCK_STEP)
        self._publish_report = self.open_publisher(DiagnosticArray, '/diagnostics').publish
        self._begin(self.now_ns())
        self._gate = AgeGate(lambda: self._stamp_ns)  # by the time of the simulation
        stream.open_service(Trigger, '~/reset', self._reset)
        self._ticks = stream.open_timer(0.0, self._tick)
        self.parameters_changed()
        StreamDiagnostics(self, stream, 'commands', lambda: self.simulation.moves)
        stream.start()

    def activate(self) -> None:
        """Hold the machine at the start."""
        with self.lock:
            self._clock_monitor.look()
            self._begin(self.now_ns())
        set_rate(self._ticks, self._factor * self._rate)
        self.on_close(lambda: set_rate(self._ticks, 0.0))
        self.open_timer(REPORT_RATE, self._report)

    def parameters_changed(self) -> None:
        """Take over what may change at run time."""
        self._gate.max_age = self.parameters['max_age']
        self.simulation.command_timeout = self.parameters['command_timeout'] or math.inf

    def take(self, topic: str, stamp_ns: int, command: Callable[[], None]) -> None:
        """Let a command with a stamp (ns) act upon the simulation; raise LiedynError else."""
        if not self.active:
            return
        if not self.time_is_simulated():  # by /clock, time stands still until the next tick
            self._advance()
        self._gate.look()
        self._gate.require_recent(stamp_ns)
        if self._gate.max_age > 0.0 and stamp_ns < self._begin_ns:
            raise StampError(f'stamp: expected a time of this {self.motion}, which began at '
                             f'{self._begin_ns} ns, got {stamp_ns}')
        command()
        self._time.commanded(topic, 1e-9 * (stamp_ns - self._begin_ns))

    def refuse(self, error: LiedynError) -> None:
        """Log why a command was refused."""
        if self.active:
            self.complain(error)

    @property
    def _stamp_ns(self) -> int:
        """Return the time that the simulation has reached."""
        return self._begin_ns + round(1e9 * self.simulation.time)

    def _begin_again(self) -> None:
        """Restart at the present time of the clock."""
        self._begin(self._stamp_ns if self.parameters['publish_clock'] else self.now_ns())

    def _begin(self, begin_ns: int) -> None:
        self.simulation = self.new_simulation()
        self.simulation.command_timeout = self.parameters['command_timeout'] or math.inf
        self._begin_ns = self._published_ns = begin_ns
        self._time = SimulatedTime(
            self._factor, self._max_command_age, self.now_ns(), self._rate)
        self._states, self._acted = 0, Drives.STANDING

    def _tick(self) -> None:
        self._advance()
        stamp_ns = self._stamp_ns
        if stamp_ns == self._published_ns:
            return
        self._published_ns = stamp_ns
        self._states += 1
        self.publish_state(stamp_ns)
        if (drives := self.simulation.drives) not in NORMAL_STATES:
            self._acted = drives
            self.complain(f'commands: expected every {self.parameters["command_timeout"]:g} s, '
                          f'got none; the drives {drives.value}', 'silence')

    def _advance(self) -> None:
        """Take the steps that are due; beyond a few periods a slow machine leaves the rest."""
        now_ns = self._clock_monitor.look()
        if self._clock_monitor.was_set:
            self.get_logger().warning(f'{self._clock_monitor.cause}: the {self.motion} restarts')
            self._begin(now_ns)
        self._time.pass_to(now_ns, moves=self.simulation.moves)
        few, end = self.simulation.time + SHARE_PERIODS / self._rate, time.monotonic() + MAX_PASS
        try:
            while self.simulation.time + self.simulation.dt <= self._time.due + TIME_SUM_ERROR:
                self.simulation.step()
                if self.simulation.time >= few and time.monotonic() > end:
                    self._report_lateness()
                    break
        except LiedynError as error:
            self.complain(f'the {self.motion} restarts: {error}')
            self._begin_again()

    def _report_lateness(self) -> None:
        late = self._time.due - self.simulation.time
        if late > max_lateness(self._rate):
            self.get_logger().warning(
                f'too slow for steps of {self.simulation.dt:g} s: the {self.motion} is '
                f'{1e3 * late:.0f} ms late', throttle_duration_sec=LOG_PERIOD)

    def _report(self) -> None:
        with self.lock:
            status = self._time.report(
                self.status_name('pace'), self.simulation.time, self._states)
            drives, acted = self.simulation.drives, self._acted
            self._states, self._acted = 0, Drives.STANDING
        report = DiagnosticArray(status=[status, drives_status(
            self.status_name('drives'), drives, acted, self.parameters['command_timeout'])])
        report.header.stamp = self.get_clock().now().to_msg()
        self._publish_report(report)

    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> None:
        if self.active:
            self._begin_again()
        response.success = self.active
        response.message = 'at rest at the start' if self.active else 'expected an active node'
