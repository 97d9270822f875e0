# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The health of tracked poses over a while, as /diagnostics tells it: words, levels, values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
import math
from typing import Any, NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.certificate.pose import PoseCertifier, unproved
from liedyn_ros.stewart.home import mirror_of_home
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.platform.limits import LimitMargins
from liedyn_ros.stewart.solver.pose_solver import Solution
from liedyn_ros.stewart.tracking.bias_monitor import BiasFit
from liedyn_ros.stewart.tracking.legs.noise_estimator import NoiseReport
from liedyn_ros.stewart.tracking.monitored_pose import MonitoredPose
from liedyn_ros.stewart.tracking.monitored_tracker import MonitoredTracker
from liedyn_ros.stewart.tracking.tracker import TrackedPose

WITHOUT_POSE = 'no pose'
SINGULARITY = {
    Flag.BRANCH_WRONG: (
        'the pose is not the one that the motion leads to; call ~/confirm if it is right'),
    Flag.BRANCH_UNSURE: 'two poses are possible; call ~/confirm if this one is right',
    Flag.BRANCH_CROSSED: 'the motion has led through a singularity',
    Flag.NEAR_SINGULARITY: 'near a singularity',
    Flag.APPROACHING_SINGULARITY: 'approaching a singularity',
    Flag.NEAR_DEAD_CENTRE: 'a drive is near its dead centre'}
LEG_FLAGS = {
    Flag.LEG_STEPPED: 'a reading has jumped and stayed there',
    Flag.LEG_FROZEN: 'a reading is constant while the others move, or all repeat',
    Flag.LEG_BIASED: 'a biased leg explains what the redundant sensor reads',
    Flag.SENSOR_DISAGREES: 'the redundant sensor does not fit the lengths',
    Flag.LEGS_JUMPED: 'three legs or more jumped at once, as no machine moves',
    Flag.LEG_OUTLIER: 'a reading that no motion explains',
    Flag.RATES_CONTRADICT: 'velocities contradict lengths'}
REDUNDANCY_FLAGS = {
    Flag.LEG_BIASED: 'the lengths of a path show that a leg is biased',
    Flag.SENSOR_DISAGREES: 'the lengths contradict each other'}
ERROR_FLAGS = Flag.BRANCH_WRONG | Flag.BRANCH_UNSURE | Flag.LEG_STEPPED | Flag.LEG_FROZEN | (
    Flag.LEG_BIASED | Flag.SENSOR_DISAGREES | Flag.LEGS_JUMPED)
Outcome = Solution | TrackedPose  # of a solve
NO_BOUNDS = (0.0,) * 8  # in place of error radius, uniqueness radius and six bounds
REJECTED = 4  # the status of input that was not solved, beside those of solves
LIMIT_FLAGS = int(Flag.LEG_TRAVEL | Flag.JOINT_ANGLE | Flag.LEG_CLEARANCE | Flag.NEAR_DEAD_CENTRE)


def describe(solution: Outcome) -> str:
    """Return why a solve failed, empty if it converged."""
    if solution.converged:
        return ''
    return (f'expected lengths of a regular pose, got {solution.status.name.lower()} after '
            f'{solution.iterations} iterations: largest length error {solution.residual:.3g} m, '
            f'smallest singular value {solution.smallest_singular_value:.3g}')


def certifier_of(settings: Any, geometry: StewartGeometry) -> PoseCertifier | None:
    """Return the certifier of poses by named settings; None for legs that have no proof."""
    if unproved(geometry):
        return None
    return PoseCertifier(geometry, settings['length_bound'], settings['joint_bound'])


def certificate_of(
        certifier: PoseCertifier | None, solution: Solution | TrackedPose,
        lengths: Array) -> tuple[float, ...] | None:
    """Return error radius, uniqueness radius and six bounds of a pose; None if not certified."""
    if certifier is None or not solution.converged:
        return None
    radius, unique, _, *bounds = certifier.numbers(solution.pose, lengths)
    return None if math.isnan(radius) else (radius, unique, *bounds)


def motion_numbers(monitored: MonitoredPose) -> tuple[int, int, float, float]:
    """Return the sign of the determinant, the expected one, prediction gap, time to go (s)."""
    branch = monitored.branch
    if branch is None or monitored.bias_fit is not None:
        return 0, 0, 0.0, 0.0
    return (int(monitored.state.determinant_sign), int(branch.expected_sign),
            branch.prediction_gap, monitored.time_to_singularity)


def certificate_fields(bounds: Sequence[float] | None) -> dict[str, Any]:
    """Return the fields of what certificate_of returns."""
    radius, unique, *errors = bounds or NO_BOUNDS
    return {'certified': bounds is not None, 'error_radius': radius,
            'uniqueness_radius': unique, 'error_bound': errors}


def outcome_fields(solution: Outcome, start: int, solve_time: float) -> dict[str, Any]:
    """Return the fields of the outcome of a solve; solve_time: s."""
    return {'status': int(solution.status), 'message': describe(solution), 'start': start,
            'iterations': solution.iterations, 'residual': solution.residual,
            'smallest_singular_value': solution.smallest_singular_value,
            'solve_time': solve_time}


def status_fields(
        monitored: MonitoredPose, flags: int, bounds: Sequence[float] | None,
        names: Sequence[str]) -> dict[str, Any]:
    """
    Return the fields of the status of a sample, but for header, age, passed_over.

    flags: its own, and those of samples passed over. bounds: of certificate_of. names: of legs.
    """
    sign, expected, gap, until = motion_numbers(monitored)
    return {
        **outcome_fields(monitored, int(monitored.start), monitored.solve_time),
        **length_fields(monitored.lengths), 'flags': flags,
        'suspected_legs': [names[leg] for leg in monitored.legs],
        'exceeded_limits': (
            monitored.state.exceeded_limits() if int(monitored.flags) & LIMIT_FLAGS else []),
        'determinant_sign': sign, 'expected_determinant_sign': expected,
        'prediction_gap': gap, 'time_to_singularity': until,
        'branch_source': int(monitored.branch_source), **certificate_fields(bounds)}


def length_fields(lengths: Array) -> dict[str, Any]:
    """Return the fields of leg lengths (n,), m or rad."""
    return {'length': lengths[:6], 'further_lengths': lengths[6:].tolist()}


def refusal_fields(reason: str) -> dict[str, Any]:
    """Return the fields of the refusal of input; the others are zero."""
    return {'status': REJECTED, 'message': reason}


class Level(IntEnum):
    """The levels of a DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


class PartHealth(NamedTuple):
    """The health of one part: what a DiagnosticStatus says."""

    what: str
    level: Level
    message: str
    values: Mapping[str, object]


class LiveCounts(NamedTuple):
    """Live counts of a running node: samples passed over and lost, seconds, ages, their most."""

    passed_over: int
    lost: int
    seconds: float
    ages: Mapping[str, str]
    oldest: float  # s


@dataclass
class Period:
    """Events between two reports, and the tracker's estimates at the end of them."""

    last: MonitoredPose | None = None  # with a pose
    flags: Flag = field(default_factory=lambda: Flag(0))
    legs: Counter[int] = field(default_factory=Counter)
    margins: Array | None = None  # least ones of the platform's limits
    legs_counted: int = 6  # of the platform
    solved: int = 0
    failed: int = 0
    refused: int = 0
    reason: str = ''  # of the last refusal
    silence: str = ''  # why there is no input
    noise: NoiseReport | None = None
    rate_faults: Sequence[str] = ()

    @property
    def tried(self) -> int:
        return self.solved + self.failed

    def flag_values(self, flags: Iterable[Flag]) -> dict[str, object]:
        """Return 1 for each of the flags that a sample had, else 0, to be plotted."""
        return {(flag.name or '').lower(): int(flag in self.flags) for flag in flags}


class PoseHealth:
    """Counts samples, and judges what was counted in a period."""

    def __init__(self, geometry: StewartGeometry, tracker: MonitoredTracker) -> None:
        """Take a geometry, and the tracker whose poses come."""
        self._geometry, self._tracker = geometry, tracker
        self.max_age = math.inf  # s, of a published pose, above which it warns
        self.max_missed = 1.0  # share of the samples that may be passed over or lost
        self._mirror = None if geometry.home is None or geometry.redundant else (
            mirror_of_home(geometry, geometry.home))
        self.clear()

    def clear(self) -> None:
        """Begin the next period."""
        self._now = Period(legs_counted=len(self._geometry.leg_names))

    def take(self, monitored: MonitoredPose) -> None:
        """Note one sample."""
        now = self._now
        if int(monitored.flags):
            now.flags |= monitored.flags
        if monitored.legs:
            now.legs.update(monitored.legs)
        if monitored.converged:
            now.margins = monitored.margins if now.margins is None else np.minimum(
                now.margins, monitored.margins)
            now.last = monitored
            now.solved += 1
        else:
            now.failed += 1

    def refuse(self, reason: str) -> None:
        """Note input that was refused."""
        self._now.refused += 1
        self._now.reason = reason

    def silent(self, reason: str) -> None:
        """Note that no input comes."""
        self._now.silence = reason

    def end(self) -> Period:
        """Return the period that ends now, and begin the next."""
        ended = self._now
        self._estimate(ended)
        self.clear()
        return ended

    def _estimate(self, period: Period) -> None:
        """Note noise and faults of rates, as the tracker estimates them."""
        period.noise, period.rate_faults = self._tracker.noise, self._tracker.rate_faults

    def repetition(self, period: Period) -> str:
        """Return advice for a source that repeats its readings; else an empty text."""
        report = period.noise
        return '' if report is None or math.isnan(report.noise) else report.repetition(
            self._geometry.leg_names)

    def parts(self, period: Period, live: LiveCounts | None = None) -> list[PartHealth]:
        """Return the health of a period; live: of a node, None for a recording."""
        return [self._input(period, live), *self._judged(period)]

    def _judged(self, period: Period) -> list[PartHealth]:
        """Return the parts besides the input."""
        return [self._judge(
            period, 'singularity', self._of_branch(period), self._measures(period)),
                self._legs_part(period), self._limits(period), self._noise_of_legs(period)]

    def _input(self, period: Period, live: LiveCounts | None) -> PartHealth:
        values: dict[str, object] = {
            'solved': period.solved, 'not solved': period.failed, 'refused': period.refused}
        if live is not None:
            counted = period.tried + period.refused + live.lost
            values |= {'passed over': live.passed_over, 'lost': live.lost,
                       'rate, Hz': f'{counted / max(live.seconds, 1e-9):.1f}', **live.ages}
        level, message = self._judge_input(period, live)
        return PartHealth('input', level, message, values | period.flag_values([Flag.RESTARTED]))

    def _judge_input(self, period: Period, live: LiveCounts | None) -> tuple[Level, str]:
        if not (period.tried or period.refused):
            return (Level.ERROR, period.silence) if period.silence else (
                Level.STALE, 'no leg lengths')
        faults = '; '.join(self._input_faults(period, live))
        if not faults:
            return Level.OK, 'tracking'
        return Level.WARN if period.solved else Level.ERROR, faults

    def _input_faults(self, period: Period, live: LiveCounts | None) -> Iterator[str]:
        """Return the faults of the input, the worst first."""
        if period.refused:
            yield period.reason
        if period.failed:
            yield 'solves failed' if period.solved else 'every solve failed'
        if live is not None and live.oldest > self.max_age:
            yield (f'too slow: a pose was published {1e3 * live.oldest:.0f} ms after its '
                   f'lengths; {live.passed_over} samples passed over, {live.lost} lost')
        elif live is not None and live.passed_over + live.lost > self.max_missed * (
                period.tried + live.lost):
            yield (f'too slow: of {period.tried + live.lost} samples {live.passed_over} were '
                   f'passed over and {live.lost} lost')
        if Flag.RESTARTED in period.flags:
            yield 'started again from home; call ~/confirm if this pose is right'

    def _judge(self, period: Period, what: str, reasons: Mapping[Flag, str],
               values: Mapping[str, object]) -> PartHealth:
        if not period.tried:
            return PartHealth(what, Level.STALE, WITHOUT_POSE, {})
        found = [flag for flag in reasons if flag in period.flags]
        messages = [reasons[flag] for flag in found]
        level = Level.ERROR if any(flag in ERROR_FLAGS for flag in found) else (
            Level.WARN if found else Level.OK)
        if not period.solved:
            level, messages = Level.ERROR, [f'{WITHOUT_POSE}: every solve failed', *messages]
        return PartHealth(what, level, '; '.join(messages) or 'good',
                          {**values, **period.flag_values(reasons)})

    def _of_branch(self, period: Period) -> Mapping[Flag, str]:
        """Return sentences of the branch's flags, with the reason of the last pose."""
        last = period.last
        if last is None or not last.branch_reason:
            return SINGULARITY
        return SINGULARITY | {Flag.BRANCH_UNSURE: (
            f'{SINGULARITY[Flag.BRANCH_UNSURE]} ({last.branch_reason})')}

    def _measures(self, period: Period) -> dict[str, object]:
        last = period.last
        if last is None or last.branch is None:
            return {}
        state, branch = last.state, last.branch
        mirror = {} if self._mirror is None else {'home has the lengths of, m': ', '.join(
            f'{each:.4g}' for each in self._mirror[:3, 3].tolist())}
        least = f'{last.smallest_singular_value:.6g}'
        if self._geometry.redundant:
            return {'branch source': last.branch_source.name, 'smallest singular value': least}
        return {'branch source': last.branch_source.name, 'smallest singular value': least,
                'determinant sign': state.determinant_sign,
                'expected determinant sign': branch.expected_sign,
                'time to singularity, s': f'{last.time_to_singularity:.6g}',
                'prediction gap': f'{branch.prediction_gap:.3g}', **mirror}

    def _legs_part(self, period: Period) -> PartHealth:
        """Return the faults of the legs, those of the rates included."""
        reasons = dict(LEG_FLAGS)
        if period.rate_faults:
            reasons[Flag.RATES_CONTRADICT] += f': {", ".join(period.rate_faults)}'
        fit = None if period.last is None else period.last.bias_fit
        if fit is not None:
            reasons |= REDUNDANCY_FLAGS
        return self._judge(period, 'legs', reasons, {
            'suspected': self._suspected(period), **({} if fit is None else self._residual(fit))})

    def _residual(self, fit: BiasFit) -> dict[str, object]:
        """Return values from the residual of redundant lengths: its size, a leg and its bias."""
        names = self._geometry.leg_names
        values: dict[str, object] = {'chi square': f'{fit.chi_square:.4g}',
                                     'degrees of freedom': len(names) - 6}
        if fit.leg is not None:
            values[f'bias of {names[fit.leg]}'] = f'{fit.bias:.6g}'
        return values

    def _suspected(self, period: Period) -> str:
        names = self._geometry.leg_names
        return ', '.join(f'{names[leg]} ({count} samples)'
                         for leg, count in sorted(period.legs.items()))

    def _limits(self, period: Period) -> PartHealth:
        """Return the least margin of each limit since the last report."""
        if period.margins is None:
            return PartHealth('limits', Level.ERROR if period.failed else Level.STALE,
                              WITHOUT_POSE, {})
        least = LimitMargins(period.margins, period.legs_counted)
        exceeded = least.exceeded(self._geometry.leg_names)
        return PartHealth(
            'limits', Level.ERROR if exceeded else Level.OK,
            f'exceeded: {", ".join(exceeded)}' if exceeded else 'within all limits',
            {name: f'{part.min():.4g}' for name, part in (
                ('travel left, m', least.travel), ('joint angle left, rad', least.joint_angles),
                ('clearance between legs, m', least.clearance))} | period.flag_values(
                    (Flag.LEG_TRAVEL, Flag.JOINT_ANGLE, Flag.LEG_CLEARANCE)))

    def _noise_of_legs(self, period: Period) -> PartHealth:
        """Return the estimates of the readings' noise, with the parameters to set."""
        report: Any = period.noise
        if math.isnan(report.noise):
            return PartHealth('noise', Level.STALE, 'nothing measured yet',
                              {'covariances from': report.source})
        (_, unit), repetition = self._geometry.reading_unit, self.repetition(period)
        faults = [*report.advice, *([repetition] if repetition else [])]
        return PartHealth(
            'noise', Level.WARN if faults else Level.OK, '; '.join(faults) or 'as expected', {
                f'leg_noise, {unit}': f'{report.noise:.3g}',
                f'leg_noises, {unit}': ', '.join(f'{noise:.3g}' for noise in report.noises),
                f'leg_resolution, {unit}': f'{report.resolution:.3g}',
                f'leg_acceleration, {unit}/s^2': f'{report.acceleration:.3g}',
                'noise is': 'measured' if report.identified else 'at most this',
                'covariances from': report.source,
                'jitter of stamps, s': f'{report.jitter:.2g}',
                'period, s': f'{report.period:.4g}',
                'repetitions': ', '.join(f'{repeats:.3g}' for repeats in report.repeats),
                **period.flag_values([Flag.PARAMETER_TOO_SMALL])})
