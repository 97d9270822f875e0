# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The simulator of a Stewart platform: leg states along a smooth motion, and the true pose."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from liedyn_ros.common.checks import listed
from liedyn_ros.nodes.simulator_node import MAX_CLOCK_STEP, max_lateness, REPORT_RATE
from liedyn_ros.nodes.stewart.leg_outputs import LegOutputs
from liedyn_ros.nodes.stewart.parameters import PLATFORM_SIMULATOR, SIMULATOR_NAME
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros.node.lifecycle import lateness_ns, LOG_PERIOD, ManagedNode, set_rate
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.streams.age_statistics import AgeStatistics
from liedyn_ros.ros.streams.input_gate import ClockMonitor
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import LegSimulation
from liedyn_ros.stewart.simulation.leg_simulation import LegSample


class StewartSimulatorNode(ManagedNode):
    """Leg states and the true pose out, a sample at a time, in its own thread."""

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        super().__init__(SIMULATOR_NAME, PLATFORM_SIMULATOR, **options)

    def configure(self) -> None:
        """Check the parameters, compute the first sample, open the topics."""
        parameters = self.parameters
        self._platform = Platform.from_parameters(parameters, ignore_others=False)
        self._rate, self._duration = parameters['rate'], parameters['duration']
        self._delay_ns = round(1e9 * parameters['delay'])
        self._clock_monitor = ClockMonitor(self.now_ns, MAX_CLOCK_STEP + 1.0 / self._rate)
        self._motion = self._platform.trajectory(self, self._duration)
        self._start_motion()
        stream = Stream(self)
        self._ticks = stream.open_timer(0.0, self._tick)
        self._outputs = LegOutputs(
            self, self._platform, parameters['actuators'], parameters['publish_leg_rates'])
        self._publish_diagnostics = self.open_publisher(DiagnosticArray, '/diagnostics').publish
        stream.start()

    def activate(self) -> None:
        """Start the motion with the next tick, at home and at rest."""
        with self.lock:
            self._start_motion()
        set_rate(self._ticks, self._rate)
        self.on_close(lambda: set_rate(self._ticks, 0.0))
        self.open_timer(REPORT_RATE, self._report)

    def _start_motion(self) -> None:
        parameters = self.parameters
        self._simulation = LegSimulation(
            self._platform.geometry, self._motion, self._rate,
            length_noise=parameters['length_noise'],
            dropout_probability=parameters['dropout_probability'], seed=parameters['seed'])
        self._next = self._simulation.take()
        self._waiting: deque[tuple[int, LegSample]] = deque()
        self._begin_ns: int | None = None
        self._ages = AgeStatistics()  # of true poses when published, since the last report

    def _tick(self) -> None:
        """Publish every sample that is due; a late tick catches up."""
        now_ns = self._clock_monitor.look()
        if self._clock_monitor.was_set and self._begin_ns is not None:
            self.get_logger().warning(f'{self._clock_monitor.cause}: the motion starts again')
            self._start_motion()
        if self._begin_ns is None:
            if missing := self._outputs.missing(self.parameters['wait_for_nodes']):
                self.wait_for(f'the motion waits for {listed(missing)}', 'nodes')
                return
            self._begin_ns = now_ns - lateness_ns(self._ticks)  # so that every tick has its sample
        late = 1e-9 * (now_ns - self._begin_ns) - self._next.time
        if late > max_lateness(self._rate):
            self.get_logger().warning(
                f'too slow for {self._rate:g} Hz: samples are published {1e3 * late:.0f} ms late, '
                'several at a time', throttle_duration_sec=LOG_PERIOD)
        while (stamp_ns := self._begin_ns + round(1e9 * self._next.time)) <= now_ns:
            if 0.0 < self._duration <= self._next.time:
                if not self._waiting:
                    self.get_logger().info(f'motion over after {self._duration:g} s')
                    self._ticks.cancel()
                break
            self._outputs.publish_truth(stamp_ns, self._next.pose)
            self._ages.note(1e-9 * (self.now_ns() - stamp_ns))
            self._waiting.append((stamp_ns, self._next))
            self._next = self._simulation.take()
        while self._waiting and self._waiting[0][0] + self._delay_ns <= now_ns:
            stamp_ns, sample = self._waiting.popleft()
            if not sample.dropped:
                self._outputs.publish_legs(stamp_ns, sample)

    def _report(self) -> None:
        """Publish how late samples were since the last report."""
        with self.lock:
            ages, self._ages = self._ages, AgeStatistics()
        slow = ages.greatest > max_lateness(self._rate)
        message = 'at the required rate' if len(ages) else 'no samples'
        if slow:
            message = (f'too slow for {self._rate:g} Hz: a sample was published '
                       f'{1e3 * ages.greatest:.0f} ms late')
        values = {'samples': str(len(ages)), **ages.report()}
        report = DiagnosticArray(status=[DiagnosticStatus(
            level=DiagnosticStatus.WARN if slow else DiagnosticStatus.OK, message=message,
            name=self.status_name('pace'),
            values=[KeyValue(key=key, value=value) for key, value in values.items()])])
        report.header.stamp = self.get_clock().now().to_msg()
        self._publish_diagnostics(report)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(StewartSimulatorNode, args)


if __name__ == '__main__':
    main()
