# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that publishes a Stewart platform's pose from its leg lengths."""

from collections.abc import Sequence
from dataclasses import replace
import math
import time
from typing import Any

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.stewart.parameters import POSE_PARAMETERS, SIMULATORS
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.pose.diagnostics import StewartDiagnostics
from liedyn_ros.nodes.stewart.pose.estimates import StewartEstimates
from liedyn_ros.nodes.stewart.pose.leg_input import LegInput
from liedyn_ros.nodes.stewart.pose.markers import StewartDescription
from liedyn_ros.nodes.stewart.pose.outputs import StewartOutputs
from liedyn_ros.nodes.stewart.pose.redundant_sensor import RedundantInput, sensor_of
from liedyn_ros.nodes.stewart.pose.services import (
    StewartModes, StewartPaths, StewartPrediction, StewartServices)
from liedyn_ros.ros.node.lifecycle import ManagedNode, set_rate
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.streams.input_gate import AgeGate
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import (
    Flag, LevenbergMarquardt, MonitorConfig, MonitoredPose, MonitoredTracker, MotionEstimator,
    PoseSolver)
from liedyn_ros.stewart.home import require_home
from liedyn_ros.stewart.reports.health import certifier_of, describe, PoseHealth
from liedyn_ros.stewart.tracking.monitor_config import config_of, method_of

LEG_CHECK_RATE = 10.0  # Hz; of looking whether input comes
UNKNOWN_NODE = '_NODE_NAME_UNKNOWN_'  # which rclpy calls a node for a moment after it was found
REFUSAL_TIME = 2.0  # s after a refusal, in which silence is reported as refused input
EVENTS = int(Flag.BRANCH_CROSSED | Flag.RESTARTED)  # reported once, of samples passed over too


class StewartPoseNode(ManagedNode):
    """
    Leg lengths in; pose, twist, status, markers and TF out.

    Leg lengths are read in their own thread. All that wait are tracked, and the newest is
    published. Timers, services and slow services have a thread each; parameters run in the
    executor.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        super().__init__('stewart_pose', POSE_PARAMETERS, **options)

    def configure(self) -> None:
        """Check the parameters, open topics and services."""
        parameters = self.parameters
        platform = Platform.from_parameters(parameters, parameters['ignore_other_joints'])
        geometry, method, sensor = platform.geometry, method_of(parameters), sensor_of(parameters)
        config = config_of(parameters, sensor, len(geometry.leg_names))
        require_home(geometry, parameters, platform.home, PoseSolver(geometry, method).solve)
        self._tracker = MonitoredTracker(geometry, platform.home, method, config)
        platform = replace(platform, geometry=self._tracker.geometry)
        self._last: MonitoredPose | None = None
        self._refused = ''  # why the last sample since the last good one was refused
        self._geometry_is_doubtful = not parameters['geometry_file']
        self._gate = AgeGate(self.now_ns, simulated=self.time_is_simulated)
        self._forget_batch()
        self._stream = Stream(self, self._publish_newest)
        self._sensor = None if sensor is None else RedundantInput(
            self, self._stream, parameters, sensor)
        self._input = LegInput(
            self, self._stream, parameters['actuators'], platform.actuators,
            use_rates=parameters['use_leg_rates'], tolerance=parameters['matching_tolerance'],
            depth=parameters['queue_depth'], on_set=self._take, on_fault=self._refuse)
        self._open_outputs(platform)
        self._open_services(platform, method, config)
        self._open_timers()
        self.parameters_changed()
        self._stream.start()

    def activate(self) -> None:
        """Start from home: an earlier track may be out of date."""
        self._start_over()
        if self._description is not None:
            self._description.describe()

    def parameters_changed(self) -> None:
        """Apply the parameters that may change at run time."""
        parameters, gate = self.parameters, self._gate
        gate.max_age, gate.max_lead = parameters['max_age'], parameters['max_lead']
        gate.timeout = parameters['input_timeout']
        self._outputs.transforms.set_rate(parameters['tf_rate'])
        self._health.max_age = parameters['age_warning'] if gate.max_age else math.inf
        self._health.max_missed = parameters['missed_warning']
        for name, timer in self._paced.items():
            set_rate(timer, parameters[name])

    def _start_over(self) -> None:
        with self.lock:
            self._tracker.reset()
            self._input.clear()
            self._diagnostics.clear()
            if self._sensor is not None:
                self._sensor.clear()
            self._last = None
            self._forget_batch()
            self._gate.reset()
            self._refused = ''

    def _confirm(self) -> None:
        with self.lock:
            if not self._tracker.confirm():
                raise LiedynError('confirm: expected a pose that was published, got none yet')

    def _forget_batch(self) -> None:
        self._batch: list[Any] = []  # samples tracked since the last was published
        self._fault: tuple[int, LiedynError] | None = None  # the newest, with its stamp
        self._refusals = 0  # since then

    def _take(self, stamp_ns: int, lengths: Array, rates: Array | None) -> None:
        """Track one sample; the newest of all that waited is published then."""
        if not self.active:
            return
        if not self._batch:
            self._look_at_clock()
        try:
            self._gate.require_recent(stamp_ns)
            monitored = self._track(stamp_ns, lengths, rates)
        except LiedynError as error:
            self._refuse(stamp_ns, error)
            return
        self._gate.accept()
        self._refused = ''
        if self._sensor is not None and monitored.fit is not None:
            self._sensor.use()
        self._batch.append(monitored)
        if monitored.converged:
            self._last = monitored
            self._estimates.keep(monitored)

    def _track(
            self, stamp_ns: int, lengths: Array, rates: Array | None) -> MonitoredPose:
        """Track one sample, with the reading of the redundant sensor near it."""
        sensed = None if self._sensor is None else self._sensor.near(stamp_ns)
        if sensed is None:
            return self._tracker.track(stamp_ns, lengths, rates)
        reading_ns, reading = sensed
        return self._tracker.track(stamp_ns, lengths, rates, reading, reading_ns)

    def _refuse(self, stamp_ns: int, error: LiedynError) -> None:
        if self.active:
            self._fault, self._refused = (stamp_ns, error), str(error)
            self._refused_at = time.monotonic()
            self._refusals += 1
            self._health.refuse(self._refused)

    def _publish_newest(self) -> None:
        """Publish the newest sample, and why the newest of those refused was refused."""
        batch, fault, refusals = self._batch, self._fault, self._refusals
        self._forget_batch()
        if batch:
            self._outputs.publish_pose(batch[-1])  # before all else
        elif fault is None:
            return
        now_ns = self.now_ns()
        if batch:
            self._publish_rest(batch, now_ns, passed_over=len(batch) - 1 + max(refusals - 1, 0))
        if fault is not None:
            stamp_ns, error = fault
            self._outputs.reject(stamp_ns, str(error), age=1e-9 * (now_ns - stamp_ns),
                                 passed_over=0 if batch else refusals - 1)
            self.complain(error)

    def _publish_rest(
            self, batch: list[Any], now_ns: int, passed_over: int) -> None:
        """Publish the rest of the newest sample, and count the samples passed over for it."""
        newest, flags = batch[-1], 0
        for monitored in batch:
            flags |= int(monitored.flags) & EVENTS
            self._health.take(monitored)
        age = 1e-9 * (now_ns - newest.stamp_ns)
        self._outputs.publish_rest(
            newest, flags | int(newest.flags), age=age, passed_over=passed_over)
        self._diagnostics.published(age, len(batch) - 1)
        if not newest.converged:
            self.complain(describe(newest))
        self._estimates.publish()

    def _look_at_clock(self) -> None:
        """Forget the redundant sensor's readings where the clock was set back."""
        self._gate.look()
        if self._sensor is not None and self._gate.was_set:
            self._sensor.clear()

    def _look_for_silence(self) -> None:
        self._warn_of_geometry()
        with self.lock:
            self._look_at_clock()
            if not (self.active and self._gate.silent):
                return
            refused = self._refused
            refusing = refused and time.monotonic() - self._refused_at < REFUSAL_TIME
        if refusing:
            kind, reason = 'refused', f'all samples were refused, the last one: {refused}'
        else:
            kind = 'silent' if self._input.publishers() else 'not published'
            reason = self._input.why_silent() + (
                refused and f'; the last sample was refused: {refused}')
        with self.lock:
            if self.active and self._gate.silent:
                self._tell_silence(reason, kind)

    def _tell_silence(self, reason: str, kind: str) -> None:
        """Report why no leg lengths come; it is an error only if they came before."""
        error = LiedynError(f'{self._gate.missing("leg lengths")}: {reason}')
        self._outputs.reject(self._gate.now_ns, str(error), age=0.0, passed_over=0)
        self._health.silent(str(error))
        if not self._gate.heard:
            self.wait_for(error, kind)
        elif kind != 'refused':  # each refusal is reported by itself
            self.complain(error)

    def _warn_of_geometry(self) -> None:
        """Warn once where the default geometry is used without a simulator."""
        if not self._geometry_is_doubtful:
            return
        publishers = self._input.publishers()
        if publishers and UNKNOWN_NODE not in publishers:
            self._geometry_is_doubtful = False
            if not publishers <= SIMULATORS:
                self.get_logger().warning(
                    'geometry_file: expected the file of this platform, got none: the pose is '
                    "that of the package's example, config/stewart_geometry.yaml")

    def _draw(self) -> None:
        if self.active and self._last is not None:
            self._outputs.publish_markers(self._last)

    def _publish_joints(self) -> None:
        last = self._last
        if self.active and last is not None and self._description is not None:
            self._description.publish(last)

    def _report(self) -> None:
        if self.active:
            self._diagnostics.publish()

    def _open_outputs(self, platform: Platform) -> None:
        """Open publishers."""
        self._outputs = StewartOutputs(
            self, platform, certifier_of(self.parameters, platform.geometry))
        self._health = PoseHealth(platform.geometry, self._tracker)
        self._diagnostics = StewartDiagnostics(
            self, platform, self._health, self._input, self._sensor)
        estimator = MotionEstimator(platform.geometry, self.parameters['leg_rate_noise'])
        self._estimates = StewartEstimates(
            self, platform, estimator, self.parameters['covariance_rate'])
        self._description = (
            StewartDescription(self, platform, self.parameters['frame_prefix'])
            if self.parameters['joint_state_rate'] else None)

    def _open_timers(self) -> None:
        """Open timers on a stream: at each, the executor would look at all of its services."""
        stream = Stream(self, name='timers', guarded=False)
        self._paced = {
            'marker_rate': stream.open_timer(0.0, self._draw),
            'joint_state_rate': stream.open_timer(0.0, self._publish_joints),
            'diagnostics_rate': stream.open_timer(0.0, self._report)}
        stream.open_timer(LEG_CHECK_RATE, self._look_for_silence)
        stream.start()

    def _open_services(
            self, platform: Platform, method: LevenbergMarquardt, config: MonitorConfig) -> None:
        """Open services on streams: one that takes long delays no other."""
        geometry, rate_noise = platform.geometry, self.parameters['leg_rate_noise']
        quick = Stream(self, name='services', guarded=False)
        StewartServices(
            self, quick, platform, method, config.singularity_warning,
            certifier_of(self.parameters, geometry), self._start_over, self._confirm)
        StewartPrediction(  # with its own estimator: it runs in another thread
            quick, platform, MotionEstimator(geometry, rate_noise), self._tracker)
        quick.start()
        slow = Stream(self, name='slow_services', guarded=False)
        StewartModes(self, slow, platform, self._tracker)
        if not geometry.redundant:  # of more legs nothing is proved
            StewartPaths(self, slow, platform)
        slow.start()


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(StewartPoseNode, args)


if __name__ == '__main__':
    main()
