# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node's health on /diagnostics (REP 107): input, singularity, legs, limits, sensor."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import math
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.nodes.stewart.platform import AnyPlatform
from liedyn_ros.nodes.stewart.pose.leg_input import LegInput
from liedyn_ros.nodes.stewart.pose.redundant_sensor import RedundantInput
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.age_statistics import AgeStatistics
from liedyn_ros.stewart import (
    Flag, Margins, MonitoredPose, MonitoredTracker, NoiseReport, RedundantPose, RedundantTracker)

OK, WARN, ERROR, STALE = (
    DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE)

NO_POSE = 'no pose'
MAX_MARGINS = 1000  # poses; then only the least margins are kept
SINGULARITY = {
    Flag.BRANCH_WRONG: 'the pose is not the one that the motion leads to',
    Flag.BRANCH_UNSURE: 'noise leaves two poses possible; reset once the pose is known',
    Flag.BRANCH_CROSSED: 'the motion has led through a singularity',
    Flag.NEAR_SINGULARITY: 'near a singularity',
    Flag.APPROACHING_SINGULARITY: 'approaching a singularity',
    Flag.NEAR_DEAD_CENTRE: 'a drive is near its dead centre'}
LEGS = {
    Flag.LEG_STEPPED: 'a reading has jumped and stayed there',
    Flag.LEG_FROZEN: 'a reading is constant while the others move, or all repeat',
    Flag.LEG_BIASED: 'a biased leg explains what the redundant sensor reads',
    Flag.SENSOR_DISAGREES: 'the redundant sensor does not fit the six lengths',
    Flag.LEGS_JUMPED: 'three legs or more jumped at once, as no machine moves',
    Flag.LEG_OUTLIER: 'a reading that no motion explains',
    Flag.RATES_CONTRADICT: 'velocities contradict lengths'}
ERRORS = Flag.BRANCH_WRONG | Flag.BRANCH_UNSURE | Flag.LEG_STEPPED | Flag.LEG_FROZEN | (
    Flag.LEG_BIASED | Flag.SENSOR_DISAGREES | Flag.LEGS_JUMPED)


@dataclass
class _Seen:
    """Events since the last report."""

    began: float = field(default_factory=time.monotonic)  # s
    last: Any = None  # with a pose, MonitoredPose or RedundantPose
    flags: Flag = field(default_factory=lambda: Flag(0))
    legs: Counter[int] = field(default_factory=Counter)
    margins: list[Array] = field(default_factory=list)  # of the platform's limits
    solved: int = 0
    failed: int = 0
    refused: int = 0
    reason: str = ''  # of the last refusal
    silence: str = ''  # why there is no input
    passed_over: int = 0
    ages: AgeStatistics = field(default_factory=AgeStatistics)  # of published poses

    @property
    def tried(self) -> int:
        return self.solved + self.failed

    def told(self, flags: Iterable[Flag]) -> dict[str, object]:
        """Return 1 for each of the flags that a sample had, else 0, to be plotted."""
        return {(flag.name or '').lower(): int(flag in self.flags) for flag in flags}

    @property
    def least(self) -> Margins:
        """Return the least value of each margin since the last report."""
        return Margins(np.min(self.margins, axis=0))


class StewartDiagnostics:
    """
    Gathers the events since the last report and publishes them with the present state.

    Samples are counted under the lock of the node; the report is made without it.
    """

    def __init__(
            self, node: ManagedNode, platform: AnyPlatform,
            tracker: MonitoredTracker | RedundantTracker, legs: LegInput,
            sensor: RedundantInput | None) -> None:
        """Open the publisher. legs: their input, which counts lost samples. sensor: redundant."""
        self._node, self._platform = node, platform
        self._tracker: Any = tracker  # of the platform's kind, as its poses
        self._legs, self._sensor = legs, sensor
        self._publisher = node.open_publisher(DiagnosticArray, '/diagnostics')
        self.max_age = math.inf  # s, of a published pose, above which it warns
        self.max_missed = 1.0  # share of the samples that may be passed over or lost
        self._lost_before = 0
        self._repetition_told = False
        self.clear()

    def clear(self) -> None:
        """Begin the next report."""
        self._now = _Seen()

    def take(self, monitored: MonitoredPose | RedundantPose) -> None:
        """Note one sample."""
        seen = self._now
        if int(monitored.flags):
            seen.flags |= monitored.flags
        if monitored.legs:
            seen.legs.update(monitored.legs)
        if monitored.converged:
            self._note_limits(monitored)
            seen.last = monitored
            seen.solved += 1
        else:
            seen.failed += 1

    def _note_limits(self, monitored: Any) -> None:
        """Note how far a pose is from its limits."""
        seen = self._now
        seen.margins.append(monitored.state.margins.values)
        if len(seen.margins) == MAX_MARGINS:
            seen.margins = [seen.least.values]

    def refuse(self, reason: str) -> None:
        """Note input that was refused."""
        self._now.refused += 1
        self._now.reason = reason

    def silent(self, reason: str) -> None:
        """Note that no input comes."""
        self._now.silence = reason

    def published(self, age: float, passed_over: int) -> None:
        """Note that a sample was published at an age, s, and how many were passed over for it."""
        self._now.passed_over += passed_over
        self._now.ages.note(age)

    def publish(self) -> None:
        """Publish the report and begin the next."""
        with self._node.lock:
            self._seen = self._now
            self.clear()
            estimates = self._estimates()
        report = DiagnosticArray(status=[self._input(), *self._parts(*estimates)])
        report.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(report)
        self._seen = _Seen()  # nothing is kept until the next

    def _estimates(self) -> tuple[Any, ...]:
        """Return what the tracker and the sensor say, under the lock."""
        sensor = None if self._sensor is None else self._redundant(self._sensor)
        return self._tracker.noise, self._tracker.rate_faults, sensor

    def _parts(self, *estimates: Any) -> list[DiagnosticStatus]:
        """Return the parts besides the input; estimates: of _estimates."""
        noise, velocities, sensor = estimates
        return [self._judge('singularity', SINGULARITY, self._measures()),
                self._legs_part(velocities), self._limits(), self._noise_of_legs(noise),
                *([] if sensor is None else [sensor])]

    def _input(self) -> DiagnosticStatus:
        seen, lost = self._seen, self._legs.lost - self._lost_before
        self._lost_before += lost
        elapsed = time.monotonic() - seen.began
        values: dict[str, object] = {
            'solved': seen.solved, 'not solved': seen.failed, 'refused': seen.refused,
            'passed over': seen.passed_over, 'lost': lost,
            'rate, Hz': f'{(seen.tried + seen.refused + lost) / max(elapsed, 1e-9):.1f}',
            **seen.ages.report(), **seen.told([Flag.RESTARTED])}
        level, message = self._judge_input(lost)
        return self._status('input', level, message, values)

    def _judge_input(self, lost: int) -> tuple[bytes, str]:
        seen = self._seen
        if not (seen.tried or seen.refused):
            return (ERROR, seen.silence) if seen.silence else (STALE, 'no leg lengths')
        faults = '; '.join(self._input_faults(lost))
        if not faults:
            return OK, 'tracking'
        return WARN if seen.solved else ERROR, faults

    def _input_faults(self, lost: int) -> Iterator[str]:
        """Return the faults of the input, the worst first."""
        seen, missed = self._seen, self._seen.passed_over + lost
        if seen.refused:
            yield seen.reason
        if seen.failed:
            yield 'solves failed' if seen.solved else 'every solve failed'
        if seen.ages.greatest > self.max_age:
            yield (f'too slow: a pose was published {1e3 * seen.ages.greatest:.0f} ms after its '
                   f'lengths; {seen.passed_over} samples passed over, {lost} lost')
        elif missed > self.max_missed * (seen.tried + lost):
            yield (f'too slow: of {seen.tried + lost} samples {seen.passed_over} were passed '
                   f'over and {lost} lost')
        if Flag.RESTARTED in seen.flags:
            yield 'started again from home'

    def _judge(
            self, what: str, reasons: Mapping[Flag, str], values: Mapping[str, object]
    ) -> DiagnosticStatus:
        if not self._seen.tried:
            return self._status(what, STALE, NO_POSE, {})
        found = [flag for flag in reasons if flag in self._seen.flags]
        messages = [reasons[flag] for flag in found]
        level = ERROR if any(flag in ERRORS for flag in found) else WARN if found else OK
        values = {**values, **self._seen.told(reasons)}
        if not self._seen.solved:
            level, messages = ERROR, [f'{NO_POSE}: every solve failed', *messages]
        return self._status(what, level, '; '.join(messages) or 'good', values)

    def _measures(self) -> dict[str, object]:
        last = self._seen.last
        if last is None or last.branch is None:
            return {}
        state, branch = last.state, last.branch
        return {'smallest singular value': f'{last.smallest_singular_value:.6g}',
                'determinant sign': state.determinant_sign,
                'expected determinant sign': branch.expected_sign,
                'time to singularity, s': f'{last.time_to_singularity:.6g}',
                'prediction gap': f'{branch.prediction_gap:.3g}'}

    def _legs_part(self, velocities: Sequence[str]) -> DiagnosticStatus:
        """Return the faults of the legs; velocities: those of the rates, to be read."""
        reasons = dict(LEGS)
        if velocities:
            reasons[Flag.RATES_CONTRADICT] += f': {", ".join(velocities)}'
        return self._judge('legs', reasons, {'suspected': self._suspected()})

    def _suspected(self) -> str:
        names = self._platform.geometry.leg_names
        return ', '.join(f'{names[leg]} ({count} samples)'
                         for leg, count in sorted(self._seen.legs.items()))

    def _limits(self) -> DiagnosticStatus:
        """Return the least margin of each limit since the last report."""
        if not self._seen.margins:
            return self._status('limits', ERROR if self._seen.failed else STALE, NO_POSE, {})
        least = self._seen.least
        exceeded = least.exceeded(self._platform.geometry.leg_names)
        return self._status(
            'limits', ERROR if exceeded else OK,
            f'exceeded: {", ".join(exceeded)}' if exceeded else 'within all limits',
            {name: f'{part.min():.4g}' for name, part in (
                ('travel left, m', least.travel), ('joint angle left, rad', least.joint_angles),
                ('clearance between legs, m', least.clearance))} | self._seen.told(
                    (Flag.LEG_TRAVEL, Flag.JOINT_ANGLE, Flag.LEG_CLEARANCE)))

    def _noise_of_legs(self, report: NoiseReport) -> DiagnosticStatus:
        """Return the estimates of the readings' noise, with the parameters to set."""
        if math.isnan(report.noise):
            return self._status('noise', STALE, 'nothing measured yet',
                                {'covariances from': report.source})
        geometry: Any = self._platform.geometry
        (_, unit), repetition = geometry.reading_unit, report.repetition(geometry.leg_names)
        if repetition and not self._repetition_told:
            self._repetition_told = True
            self._node.get_logger().warning(repetition)
        values = {
            f'leg_noise, {unit}': f'{report.noise:.3g}',
            f'leg_noises, {unit}': ', '.join(f'{noise:.3g}' for noise in report.noises),
            f'leg_resolution, {unit}': f'{report.resolution:.3g}',
            f'leg_acceleration, {unit}/s^2': f'{report.acceleration:.3g}',
            'noise is': 'measured' if report.identified else 'at most this',
            'covariances from': report.source,
            'jitter of stamps, s': f'{report.jitter:.2g}', 'period, s': f'{report.period:.4g}',
            'repetitions': ', '.join(f'{repeats:.3g}' for repeats in report.repeats),
            **self._seen.told([Flag.PARAMETER_TOO_SMALL])}
        faults = [*report.advice, *([repetition] if repetition else [])]
        return self._status('noise', WARN if faults else OK, '; '.join(faults) or 'as expected',
                            values)

    def _redundant(self, sensor: RedundantInput) -> DiagnosticStatus:
        fault, counts = sensor.report()
        return self._status('redundant sensor', WARN if fault else OK, fault or 'in use', counts)

    def _status(
            self, what: str, level: bytes, message: str, values: Mapping[str, object]
    ) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=level, name=self._node.status_name(what), message=message,
            hardware_id=self._platform.geometry.name,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
