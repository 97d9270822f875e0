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

"""The pose node's health on /diagnostics (REP 107): input, singularity, legs, limits, sensor."""

from collections import Counter
from collections.abc import Callable, Mapping
import math

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.sensor import RedundantInput
from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.stewart import Flag, Margins, MonitoredPose, NoiseReport

OK, WARN, ERROR, STALE = (
    DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE)

NO_POSE = 'no pose'
SINGULARITY = {
    Flag.BRANCH_WRONG: 'the pose is not the one that the motion leads to',
    Flag.BRANCH_UNSURE: 'noise leaves two poses possible; reset once the pose is known',
    Flag.BRANCH_CROSSED: 'the motion has led through a singularity',
    Flag.NEAR_SINGULARITY: 'near a singularity',
    Flag.APPROACHING_SINGULARITY: 'approaching a singularity'}
LEGS = {
    Flag.LEG_STEPPED: 'a reading has jumped and stayed there',
    Flag.LEG_FROZEN: 'a reading stands while the others move, or all repeat',
    Flag.LEG_BIASED: 'a biased leg explains what the redundant sensor reads',
    Flag.SENSOR_DISAGREES: 'the redundant sensor does not fit the six lengths',
    Flag.LEGS_JUMPED: 'three legs or more jumped at once, as no machine moves',
    Flag.LEG_OUTLIER: 'a reading that no motion explains'}
ERRORS = Flag.BRANCH_WRONG | Flag.BRANCH_UNSURE | Flag.LEG_STEPPED | Flag.LEG_FROZEN | (
    Flag.LEG_BIASED | Flag.SENSOR_DISAGREES | Flag.LEGS_JUMPED)


class StewartDiagnostics:
    """Gathers what happened since the last report and publishes it with the state of now."""

    def __init__(
            self, node: ManagedNode, platform: Platform, sensor: RedundantInput | None,
            noise: Callable[[], NoiseReport]) -> None:
        """Open the publisher; sensor: the redundant one; noise: returns what is measured of it."""
        self._node, self._platform, self._sensor, self._noise = node, platform, sensor, noise
        self._publisher = node.open_publisher(DiagnosticArray, '/diagnostics')
        self._name = node.get_fully_qualified_name().lstrip('/')
        self.clear()

    def clear(self) -> None:
        """Begin the next report."""
        self._last: MonitoredPose | None = None  # with a pose
        self._flags, self._legs = Flag(0), Counter[int]()
        self._least: Margins | None = None  # of the platform's limits
        self._solved = self._failed = self._refused = 0
        self._reason = ''

    def take(self, monitored: MonitoredPose) -> None:
        """Note one sample."""
        self._flags |= monitored.flags
        self._legs.update(monitored.legs)
        if monitored.converged:
            margins = monitored.state.margins
            self._least = margins if self._least is None else self._least.least(margins)
            self._last = monitored
            self._solved += 1
        else:
            self._failed += 1

    def refuse(self, reason: str) -> None:
        """Note input that was refused."""
        self._refused += 1
        self._reason = reason

    def publish(self) -> None:
        """Publish the report and begin the next."""
        report = DiagnosticArray(status=[
            self._input(), self._judge('singularity', SINGULARITY, self._measures()),
            self._judge('legs', LEGS, {'suspected': self._suspected()}), self._limits(),
            self._noise_of_legs()])
        if self._sensor is not None:
            report.status.append(self._redundant(self._sensor))
        report.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(report)
        self.clear()

    def _input(self) -> DiagnosticStatus:
        counts = {'solved': self._solved, 'not solved': self._failed, 'refused': self._refused}
        if self._refused:
            return self._status('input', WARN if self._solved else ERROR, self._reason, counts)
        if not self._solved + self._failed:
            return self._status('input', STALE, 'no leg lengths', counts)
        if self._failed:
            message = 'solves failed' if self._solved else 'every solve failed'
            return self._status('input', WARN if self._solved else ERROR, message, counts)
        if Flag.RESTARTED in self._flags:
            return self._status('input', WARN, 'started again from home', counts)
        return self._status('input', OK, 'tracking', counts)

    def _judge(
            self, what: str, reasons: Mapping[Flag, str], values: Mapping[str, object]
    ) -> DiagnosticStatus:
        if not self._solved + self._failed:
            return self._status(what, STALE, NO_POSE, {})
        found = [flag for flag in reasons if flag in self._flags]
        messages = [reasons[flag] for flag in found]
        level = ERROR if any(flag in ERRORS for flag in found) else WARN if found else OK
        if not self._solved:
            level, messages = ERROR, [f'{NO_POSE}: every solve failed', *messages]
        return self._status(what, level, '; '.join(messages) or 'good', values)

    def _measures(self) -> dict[str, object]:
        last = self._last
        if last is None or last.branch is None:
            return {}
        state, branch = last.state, last.branch
        return {'smallest singular value': f'{last.smallest_singular_value:.6g}',
                'determinant sign': state.determinant_sign,
                'expected determinant sign': branch.expected_sign,
                'time to singularity, s': f'{last.time_to_singularity:.6g}',
                'prediction gap': f'{branch.prediction_gap:.3g}',
                'flags': ' '.join(flag.name or '' for flag in Flag if flag in self._flags)}

    def _suspected(self) -> str:
        names = self._platform.geometry.leg_names
        return ', '.join(f'{names[leg]} ({count} samples)'
                         for leg, count in sorted(self._legs.items()))

    def _limits(self) -> DiagnosticStatus:
        """Return the least that was left of each limit since the last report."""
        if self._least is None:
            return self._status('limits', ERROR if self._failed else STALE, NO_POSE, {})
        least = self._least
        exceeded = least.exceeded(self._platform.geometry.leg_names)
        return self._status(
            'limits', ERROR if exceeded else OK,
            f'exceeded: {", ".join(exceeded)}' if exceeded else 'within all limits',
            {name: f'{part.min():.4g}' for name, part in (
                ('travel left, m', least.travel), ('joint angle left, rad', least.joint_angles),
                ('clearance between legs, m', least.clearance))})

    def _noise_of_legs(self) -> DiagnosticStatus:
        """Return what the readings show of their noise, with the parameters to write down."""
        report = self._noise()
        if math.isnan(report.noise):
            return self._status('noise', STALE, 'nothing measured yet', {})
        values = {
            'leg_noise, m': f'{report.noise:.3g}', 'leg_resolution, m': f'{report.resolution:.3g}',
            'leg_acceleration, m/s^2': f'{report.acceleration:.3g}',
            'noise is': 'measured' if report.identified else 'at most this',
            'jitter of stamps, s': f'{report.jitter:.2g}', 'period, s': f'{report.period:.4g}'}
        return self._status('noise', WARN if report.advice else OK,
                            '; '.join(report.advice) or 'as expected', values)

    def _redundant(self, sensor: RedundantInput) -> DiagnosticStatus:
        fault, counts = sensor.report()
        return self._status('redundant sensor', WARN if fault else OK, fault or 'in use', counts)

    def _status(
            self, what: str, level: bytes, message: str, values: Mapping[str, object]
    ) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=level, name=f'{self._name}: {what}', message=message,
            hardware_id=self._platform.geometry.name,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
