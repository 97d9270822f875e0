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

"""The node that publishes a Stewart platform's pose from its leg lengths."""

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Pose
from rclpy.timer import Timer

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.stewart.covariances import StewartCovariances
from liedyn_ros.nodes.stewart.diagnostics import StewartDiagnostics
from liedyn_ros.nodes.stewart.leg_input import LegInput
from liedyn_ros.nodes.stewart.modes import StewartModes
from liedyn_ros.nodes.stewart.outputs import describe, StewartOutputs
from liedyn_ros.nodes.stewart.parameters import LEVENBERG_MARQUARDT, POSE
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.prediction import StewartPrediction
from liedyn_ros.nodes.stewart.sensor import RedundantInput, sensor_of
from liedyn_ros.nodes.stewart.services import StewartServices
from liedyn_ros.ros.conversions import to_pose
from liedyn_ros.ros.lifecycle import ManagedNode, run
from liedyn_ros.stewart import (
    GaussNewton, leg_lengths, LevenbergMarquardt, Method, MonitorConfig, MonitoredTracker,
    MotionEstimator, Sensor, TrackedPose)

WATCH_PERIOD = 0.1  # s
ANY_NOISE = 1e-5  # m and m/s, to compile with


class StewartPoseNode(ManagedNode):
    """Leg lengths in; pose, twist, status, markers and TF out."""

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        self._parts: list[Any] = []
        self._timers_of_ours: list[Timer] = []
        self._last: TrackedPose | None = None
        self._last_accepted_ns = 0
        super().__init__('stewart_pose', POSE, **options)

    def configure(self) -> None:
        """Check the parameters, warm the kernels up, open topics and services."""
        parameters = self.parameters
        platform = Platform.from_parameters(parameters, parameters['ignore_other_joints'])
        method, sensor = method_of(parameters), sensor_of(parameters)
        config = config_of(parameters, sensor)
        self._tracker = MonitoredTracker(platform.geometry, platform.home, method, config)
        self._warm_up(platform, method, config)
        self._outputs = StewartOutputs(self, platform)
        self._parts.append(self._outputs)
        self._sensor = None
        if sensor is not None:
            self._sensor = RedundantInput(self, parameters, self.complain, sensor)
            self._parts.append(self._sensor)
        self._diagnostics = StewartDiagnostics(self, platform, self._sensor)
        self._parts.append(self._diagnostics)
        self._open_estimates(platform, config)
        self._input = LegInput(
            self, parameters['actuators'], platform.actuators,
            use_rates=parameters['use_leg_rates'], tolerance=parameters['matching_tolerance'],
            depth=parameters['queue_depth'], on_set=self._take, on_fault=self._refuse)
        self._parts.append(self._input)
        self._parts.append(StewartServices(
            self, platform, method, config.singularity_warning, self._begin_anew))
        self._parts.append(StewartModes(self, platform))
        self.parameters_changed()

    def release(self) -> None:
        """Close what `configure` opened."""
        for part in self._parts:
            part.destroy()
        self._parts.clear()
        self._stop_timers()

    def destroy_node(self) -> None:
        """Close what is open, and with it the thread that searches assembly modes."""
        self.release()
        super().destroy_node()

    def activate(self) -> None:
        """Begin at home: what was tracked before may be long past."""
        self._begin_anew()

    def parameters_changed(self) -> None:
        """Take over what may change at run time."""
        self._max_age, self._max_lead = self.parameters['max_age'], self.parameters['max_lead']
        self._with_tf = self.parameters['publish_tf']
        self._timeout_ns = round(1e9 * self.parameters['input_timeout'])
        self._stop_timers()
        self._timers_of_ours.append(self.create_timer(WATCH_PERIOD, self._watch))
        for name, callback in (('marker_rate', self._draw), ('diagnostics_rate', self._report)):
            if self.parameters[name] > 0.0:
                self._timers_of_ours.append(
                    self.create_timer(1.0 / self.parameters[name], callback))

    def _begin_anew(self) -> None:
        self._tracker.reset()
        self._input.clear()
        self._diagnostics.clear()
        if self._sensor is not None:
            self._sensor.clear()
        self._last = None
        self._last_accepted_ns = self._now_ns()

    def _take(self, stamp_ns: int, lengths: Array, rates: Array | None) -> None:
        if not self.active:
            return
        now_ns = self._look_at_clock()
        try:
            if self._max_age > 0.0 and now_ns > 0:
                checks.require_recent(stamp_ns, now_ns, self._max_age, self._max_lead)
            sensed = None if self._sensor is None else self._sensor.near(stamp_ns)
            reading_ns, reading = sensed or (None, None)
            monitored = self._tracker.update(stamp_ns, lengths, rates, reading, reading_ns)
        except LiedynError as error:
            self._refuse(stamp_ns, error)
            return
        self._last_accepted_ns = now_ns
        if self._sensor is not None and monitored.fit is not None:
            self._sensor.use()
        self._outputs.publish(monitored, self._with_tf)
        self._diagnostics.take(monitored)
        if not monitored.converged:
            self.complain(describe(monitored))
            return
        self._last = monitored
        if self._covariances is not None:
            self._covariances.publish(monitored)

    def _refuse(self, stamp_ns: int, error: LiedynError) -> None:
        if self.active:
            self.complain(error)
            self._outputs.reject(stamp_ns, str(error))
            self._diagnostics.refuse(str(error))

    def _watch(self) -> None:
        now_ns = self._look_at_clock()
        if self.active and 0 < self._timeout_ns < now_ns - self._last_accepted_ns:
            reason = (f'expected leg lengths every {1e-9 * self._timeout_ns:g} s, got none for '
                      f'{1e-9 * (now_ns - self._last_accepted_ns):.1f} s: '
                      f'{self._input.why_silent()}')
            self.complain(reason)
            self._outputs.reject(now_ns, reason)
            self._diagnostics.refuse(reason)

    def _look_at_clock(self) -> int:
        """Return the time, ns; where it was set back, forget the redundant sensor's readings."""
        now_ns = self._now_ns()
        if now_ns < self._last_accepted_ns and self._sensor is not None:
            self._sensor.clear()
        if not 0 < self._last_accepted_ns <= now_ns:  # the clock has just started or was set back
            self._last_accepted_ns = now_ns
        return now_ns

    def _draw(self) -> None:
        if self.active and self._last is not None:
            self._outputs.publish_markers(self._last)

    def _report(self) -> None:
        if self.active:
            self._diagnostics.publish()

    def _open_estimates(self, platform: Platform, config: MonitorConfig) -> None:
        estimator = MotionEstimator(
            platform.geometry, config.leg_noise, self.parameters['leg_rate_noise'])
        self._covariances = None
        if config.leg_noise:
            self._covariances = StewartCovariances(
                self, platform, estimator, self.parameters['covariance_rate'])
            self._parts.append(self._covariances)
        self._parts.append(StewartPrediction(
            self, platform, estimator, config.leg_acceleration, lambda: self._tracker.last))

    def _warm_up(self, platform: Platform, method: Method, config: MonitorConfig) -> None:
        self.get_logger().info('compiling kernels, or loading them from the cache ...')
        tracker = MonitoredTracker(platform.geometry, platform.home, method, config)
        lengths = leg_lengths(platform.geometry, platform.home)
        estimator = MotionEstimator(platform.geometry, ANY_NOISE, ANY_NOISE)
        try:
            for k, rates in enumerate((0.0 * lengths, None)):
                tracked = tracker.update(1_000_000 * k, lengths, rates)
                if not tracked.converged:
                    raise LiedynError(describe(tracked))
                estimator.of(tracked)
        except LiedynError as error:
            raise LiedynError(f'home pose: {error}') from error
        to_pose(tracked.pose, Pose())

    def _stop_timers(self) -> None:
        for timer in self._timers_of_ours:
            self.destroy_timer(timer)
        self._timers_of_ours.clear()

    def _now_ns(self) -> int:
        return self.get_clock().now().nanoseconds


def method_of(parameters: Any) -> Method:
    """Return the iterative method the parameters choose."""
    if parameters['solver'] == LEVENBERG_MARQUARDT:
        return LevenbergMarquardt(
            damping=parameters['damping'], max_iterations=parameters['max_iterations'])
    return GaussNewton(
        step_factor=parameters['step_factor'], max_iterations=parameters['max_iterations'])


def config_of(parameters: Any, sensor: Sensor | None) -> MonitorConfig:
    """Return what the parameters ask to look for."""
    names = ('leg_noise', 'leg_resolution', 'leg_acceleration', 'frozen_time',
             'hold_hypotheses', 'replace_outliers', 'sensor_time')
    return MonitorConfig(
        singularity_warning=parameters['singularity_warning'],
        singularity_warning_time=parameters['singularity_warning_time'], sensor=sensor,
        **{name: parameters[name] for name in names})


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(StewartPoseNode, args)


if __name__ == '__main__':
    main()
