# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A tracker that warns of wrong poses, names the faulty leg, and can follow both branches.

A sample is examined (examination.py). One kernel then solves it, judges its branch and writes what
is said about it (kernels/sample.py). Between judgement and words, SensorMonitor and
TwoBranchTracker may choose another pose. Redundant lengths have no other branch near:
PoseFollower.solve_sample and BiasMonitor.examine take the kernel's place.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
import math
import time
from typing import NoReturn, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.stewart.certificate.pose import TravelProof
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.flags import Flag, flag_of
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.solver.kernels.problem import INVALID
from liedyn_ros.stewart.solver.kernels.solve import SOLVER_WORK
from liedyn_ros.stewart.solver.least_squares import AT_REST
from liedyn_ros.stewart.solver.pose_solver import LevenbergMarquardt, Status, STATUSES
from liedyn_ros.stewart.tracking.bias_monitor import BiasFit, BiasMonitor
from liedyn_ros.stewart.tracking.branch.kernels.branch import PREDICTION_LIMIT
from liedyn_ros.stewart.tracking.branch.monitor import BranchMonitor
from liedyn_ros.stewart.tracking.branch_evidence import BranchEvidence, BranchSource, NOISE_REASON
from liedyn_ros.stewart.tracking.examination import Examined, joined, SampleExamination
from liedyn_ros.stewart.tracking.kernels import follower as parts, sample as kernels
from liedyn_ros.stewart.tracking.legs.monitor import LegFaults, LegMotion, NO_FAULTS
from liedyn_ros.stewart.tracking.legs.noise_estimator import NoiseReport
from liedyn_ros.stewart.tracking.monitor_config import MonitorConfig
from liedyn_ros.stewart.tracking.monitored_pose import MonitoredPose, NO_FLAGS, StartedPose
from liedyn_ros.stewart.tracking.sensor_monitor import SensorMonitor
from liedyn_ros.stewart.tracking.tracker import (
    FollowerState, PoseFollower, Sample, Start, TrackedPose)
from liedyn_ros.stewart.tracking.two_branch_tracker import TwoBranchTracker

if TYPE_CHECKING:
    from liedyn_ros.stewart.assembly.modes import MachineModes

NO_RATES = np.empty(0)
Reading = tuple[ArrayLike, int]  # of the redundant sensor, and its time (ns)


class MonitoredTracker:
    """
    A PoseTracker with monitors: each pose comes with its warnings.

    Use one in each thread: a tracker that two threads share gives wrong poses.

    >>> tracker = MonitoredTracker(geometry, home)
    >>> found = tracker.track(0, leg_lengths(geometry, home))
    >>> np.allclose(found.pose, home)
    True
    """

    def __init__(self, geometry: StewartGeometry, home: ArrayLike,
                 method: LevenbergMarquardt = LevenbergMarquardt(),
                 config: MonitorConfig = MonitorConfig()) -> None:
        """
        Take a geometry, the home pose (4, 4) of the platform in the base (m), and settings.

        Args:
            geometry: of the platform.
            home: (4, 4), platform in base, m.
            method: settings of Levenberg-Marquardt.
            config: of the monitors.

        Raises:
            the errors of PoseTracker; LimitError: hypotheses of more legs than six.
        """
        geometry = geometry.readings
        if geometry.redundant and config.hold_hypotheses:
            raise LimitError(
                f'hold_hypotheses: expected false for {len(geometry.leg_names)} legs, whose '
                'lengths have no second pose, got true', expected=False, got=True)
        if isinstance(config.leg_noise, tuple):
            checks.as_array('leg_noise', config.leg_noise, (len(geometry.leg_names),))
        if geometry.redundant and config.leg_noise:  # it weights the legs
            geometry = replace(geometry, leg_noise=np.broadcast_to(
                config.leg_noise, len(geometry.leg_names)
            ) * geometry.reading_unit[0] / geometry.drive_scales)
        self.geometry, self.config = geometry, config
        self._meter = PlatformMeter(geometry, config.singularity_warning)
        self._unit, _ = geometry.reading_unit
        self._length = geometry.characteristic_length / self._unit
        self._relative = geometry.drive_scales / self._unit  # of readings to that unit
        self._follower = PoseFollower(geometry, home, method, self._meter)
        self._examination = SampleExamination(geometry, config, self._follower.home)
        self._leg_monitor = self._examination.legs
        self._branch_monitor = BranchMonitor()
        self._evidence = BranchEvidence(geometry, self._follower.home, self._meter)
        self._travel = TravelProof(geometry, self._follower.home)
        self._two_branches = TwoBranchTracker(
            geometry, home, method, self._meter) if config.hold_hypotheses else None
        fitted = self._follower.solver.least_squares
        self._bias_monitor = None if fitted is None else BiasMonitor(
            geometry, fitted, leave_out=config.replace_outliers,
            singularity_warning=config.singularity_warning)
        self._sensor_monitor = None if config.sensor is None else SensorMonitor(
            config.sensor, config.sensor_time)
        self._motion: LegMotion | None = None
        self._last: MonitoredPose | None = None
        self._trusted: FollowerState | None = None  # before readings that jumped just now
        self._platform_jumped = False  # whether these were of three legs or more
        self._bind_kernels(method)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: views of buffers that stages share would part."""
        raise LiedynError('MonitoredTracker: expected one that is not copied, as its stages share '
                          'memory: make another one, and give it the samples since',
                          names=('MonitoredTracker',))

    def _bind_kernels(self, method: LevenbergMarquardt) -> None:
        """Bind the kernels of a sample to the tables of the platform and the stages' buffers."""
        geometry, follower, config = self.geometry, self._follower, self.config
        scale, (legs, bounds) = geometry.characteristic_length, self._meter.tables
        judge, rests = self._branch_monitor.buffer, self._evidence.buffer
        warnings = config.singularity_warning, config.singularity_warning_time
        self._solve = BoundKernel(
            kernels.track_sample, geometry.table(scale), legs, scale, self._unit,
            method.as_tuple(), self._travel.table, judge, rests, follower.numbers, follower.poses,
            follower.stamps, np.empty(SOLVER_WORK), bounds, self._meter.driven, *warnings).call
        self._write_report = BoundKernel(
            kernels.report_sample, judge, rests, follower.numbers, legs, bounds,
            self._meter.driven, scale, *warnings).call

    @property
    def last(self) -> MonitoredPose | None:
        """Return the last good pose."""
        return self._last

    @property
    def noise(self) -> NoiseReport:
        """Return the estimates of the readings' noise, and advice on wrong parameters."""
        return self._leg_monitor.report()

    @property
    def rate_faults(self) -> list[str]:
        """Return the lasting faults of measured rates, to be read; see RateMonitor.describe."""
        return self._examination.rates.describe(self.geometry.leg_names)

    def reset(self) -> None:
        """
        Forget the motion, the faults and the branch: the next sample starts from home.

        >>> MonitoredTracker(geometry, home).reset()
        """
        self._follower.continue_from(None)
        self._examination.gate.reset()
        self._forget()

    def confirm(self) -> bool:
        """
        Take the last pose for the right one, on the word of the user.

        Returns:
            False where there is none.

        >>> MonitoredTracker(geometry, home).confirm()
        False
        """
        if self._last is not None:
            self._confirm(self._last, BranchSource.HOME)
        return self._last is not None

    @property
    def start(self) -> StartedPose | None:
        """Return the last pose, of whose start all poses may be weighed; None where none is."""
        last, monitor = self._last, self._bias_monitor
        noise = self._leg_monitor.noise.deviation / self._length
        if monitor is not None:
            noise = monitor.noise if self._evidence.unsure else math.nan
        return None if last is None or self._travel.proved or math.isnan(noise) else StartedPose(
            self._evidence.starts, last.lengths, last.pose, noise)

    def weigh(self, start: StartedPose, found: MachineModes) -> None:
        """
        Judge a start by all poses of its lengths: one alone is proved.

        A start, gap or singularity meanwhile makes it void. Where one pose alone is left and it is
        another one, the tracking continues from there. More than six lengths then confirm it.

        Args:
            start: of the tracker.
            found: all poses of its lengths, see StartModes.

        >>> tracker = MonitoredTracker(geometry, home)
        >>> _ = tracker.track(0, leg_lengths(geometry, home))
        >>> tracker.start is None or tracker.start.number > 0
        True
        """
        evidence, last = self._evidence, self._last
        crossed = self._follower.numbers[parts.HAS_CROSSED]
        if start.number != evidence.starts or last is None or crossed:
            return
        right = found.right(start.pose)
        if right is not None:
            tracked = self._follower.solve_from(right, last)
            if not tracked.converged:
                return
            tracked.numbers[parts.FOUND_START] = last.start
            last = self._last = copy(last)
            last.take(tracked)
            last.margins = tracked.state.margins.values
            self._follower.continue_from(last)
            if self._bias_monitor is not None:  # the residual is to confirm it
                self._bias_monitor.reset()
                return
            evidence.continue_from(last)
            self._confirm(last, BranchSource.PROVED)
            return
        if self._bias_monitor is None and evidence.weigh(start.pose, found.poses, found.complete):
            self._confirm(last, BranchSource.PROVED)

    def _confirm(self, tracked: TrackedPose, source: BranchSource) -> None:
        self._branch_monitor.confirm(tracked.state)
        self._evidence.confirm(source)
        self._follower.numbers[parts.REPORTED_SIGN] = tracked.state.determinant_sign
        if self._two_branches is not None:
            self._two_branches.reset()

    def track(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None = None,
            reading: ArrayLike | None = None, reading_ns: int | None = None) -> MonitoredPose:
        """
        Return the pose of one sample, with its warnings.

        Args:
            stamp_ns: time of the sample; ns.
            lengths: (n,); m, of cranks rad.
            rates: measured ones (n,); m/s, of cranks rad/s.
            reading: of the redundant sensor, where there is a new one.
            reading_ns: its time, ns; by default the time of the lengths.

        Returns:
            the pose and its flags.

        Raises:
            StampError: for a stamp out of order.
            LimitError: for a length that is not positive.
            LiedynError: for another shape, or a number that is not finite.

        >>> tracker = MonitoredTracker(geometry, home)
        >>> tracker.track(0, leg_lengths(geometry, home)).status
        <Status.CONVERGED: 0>
        """
        sample, faults, doubtful, wrong_rates, self._motion = (
            self._examination.examine_usual(stamp_ns, lengths, rates)
            or self._examine_unusual(stamp_ns, lengths, rates))
        monitor, before = self._bias_monitor, self._follower.last
        sensed = None if self._sensor_monitor is None or reading is None else (
            reading, stamp_ns if reading_ns is None else reading_ns)
        ends = monitor is None and sensed is None and self._two_branches is None
        started = ends or self._follower.started
        if self._trusted is not None:
            self._return(sample)
        if doubtful:
            self._trusted, self._platform_jumped = self._follower.state(), faults.jumped
        flags, legs = _flagged(faults, wrong_rates)
        tracked = MonitoredPose(self._meter, sample.stamp_ns, sample.lengths, legs, self._motion)
        if sample.rates is not None:
            tracked.rates = sample.rates.copy()
        if monitor is None:
            flags = self._follow(tracked, sample, doubtful, flags, ends)
        else:
            flags |= self._follow_redundant(monitor, before, tracked, sample, doubtful)
        if tracked.status is Status.CONVERGED:
            if not (ends or doubtful) and monitor is None:
                self._choose(tracked, sample, sensed)
            if sensed is not None:
                flags |= self._compare(tracked, sensed)
            self._last = tracked
        else:
            self._lose(tracked, doubtful)
        if not ends:
            flags = self._judge(tracked, flags, started)
        tracked.flags = flag_of(flags) if flags else NO_FLAGS
        if not tracked.numbers[parts.FOUND_SOURCE]:
            tracked.branch_reason = self._reason(tracked.converged)
        return tracked

    def _examine_unusual(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None) -> Examined:
        """Return the examination of a sample that the kernel of usual ones did not take."""
        sample = self._examination.gate.accept(stamp_ns, lengths, rates)
        if sample.clock_set_back:
            self._begin_again()
        return self._examination.examine(sample)

    def _reason(self, converged: bool) -> str:
        """Return why the branch of a pose, or of none, is unsure."""
        return self._evidence.reason or (NOISE_REASON if converged else '')

    def _lose(self, tracked: MonitoredPose, doubtful: bool) -> None:
        """Note that a sample has no pose; doubtful: that its readings are why."""
        tracked.rates = None
        if not doubtful:
            self._leg_monitor.restart_prediction()

    def _begin_again(self) -> None:
        """Forget the motion, as the clock was set back."""
        lost = self._follower.started or self._evidence.restarted
        self._follower.continue_from(None)
        self._forget()
        if lost:
            self._evidence.restart()

    def _follow(self, tracked: MonitoredPose, sample: Sample, doubtful: bool, flags: int,
                ends: bool) -> int:
        """Solve six lengths, and judge their branch; return all flags where that ends a sample."""
        rates, motion, lengths, begin = (
            tracked.rates, self._motion, sample.lengths, time.perf_counter())
        moved = NO_RATES if motion is None else (
            motion.moved if motion.latency is None else motion.rates)
        status, flags = self._solve(
            sample.stamp_ns, lengths, lengths if rates is None else rates, rates is not None,
            self._leg_monitor.noise.deviation / self._length, doubtful, flags, moved, ends,
            tracked.pose, tracked.values, tracked.margins, tracked.numbers)
        tracked.numbers[parts.SOLVE_TIME] = time.perf_counter() - begin
        if status == INVALID:
            raise self._follower.solver.why_refused(sample.lengths, self._follower.home)
        tracked.status = STATUSES[status]
        return flags

    def _follow_redundant(
            self, monitor: BiasMonitor, before: TrackedPose | None, tracked: MonitoredPose,
            sample: Sample, doubtful: bool) -> int:
        """
        Solve more than six lengths, and judge their residual; return its flags.

        before: the last good pose, if any.
        """
        follower, twist, gap = self._follower, None if before is None else before.twist, 0.0
        if before is not None:
            gap = 1e-9 * (sample.stamp_ns - before.stamp_ns)
        if twist is None or gap > PREDICTION_LIMIT:
            twist, gap = AT_REST, 0.0
        tracked.numbers[:], tracked.numbers[parts.FOUND_SIGN] = 0.0, 1.0  # one branch
        solved = follower.solve_sample(sample)
        if before is not None and solved.start is Start.HOME:
            self._evidence.restart()
        tracked.take(solved)
        if not tracked.converged:
            return 0
        tracked.bias_fit = fit = monitor.examine(solved, twist, gap, before is not None)
        if fit.left_out and fit.leg is not None:
            follower.solve_without(solved, *monitor.without(fit.leg))
            tracked.take(solved)
            if not solved.converged:  # without a leg
                tracked.bias_fit = None
                return 0
        tracked.legs = joined(tracked.legs, fit.legs)
        if doubtful:
            kernels.pass_over(self._branch_monitor.buffer, follower.numbers, sample.stamp_ns,
                              tracked.numbers)
        else:
            self._judge_evidence(tracked.start is Start.HOME, fit)
        return fit.flags

    def _judge_evidence(self, begins: bool, fit: BiasFit) -> None:
        """Judge the evidence of a pose of more than six lengths; begins: whether it is a start."""
        evidence, known = self._evidence, not math.isnan(fit.noise)
        if known and fit.consistent and not begins:
            evidence.confirm(BranchSource.SENSOR)
        elif not known or evidence.unsure or (begins and not fit.consistent):
            evidence.await_residual(known)  # the least residual from home may not be the least
        evidence.rest_on(BranchSource.SENSOR)

    def _return(self, sample: Sample) -> None:
        """
        Start the solve of a sample from the last good pose before readings that jumped, if any.

        They may have led to another assembly mode. But where three legs or more jumped and stay,
        the platform did.
        """
        trusted, self._trusted = self._trusted, None
        if trusted is None or not (trusted[0][parts.GOOD_POSES] and self._follower.started):
            return
        before, last = (np.linalg.norm(sample.lengths - numbers[
            parts.FOLLOWED_LEGS:parts.FOLLOWED_LEGS + len(sample.lengths)])
            for numbers in (trusted[0], self._follower.numbers))
        if not (self._platform_jumped and last < before):
            self._follower.restore(trusted)

    def _choose(
            self, tracked: MonitoredPose, sample: Sample, sensed: Reading | None) -> None:
        """Take the pose of the better branch, where two are followed, and continue from it."""
        prefer = None
        if self._sensor_monitor is not None and sensed is not None:
            prefer = self._sensor_monitor.preference(tracked, *sensed)
        branch = tracked.branch
        if self._two_branches is None or branch is None:
            if prefer is not None and self._evidence.unsure:
                self._evidence.ask(prefer, tracked)
            return
        choice = self._two_branches.choose(
            tracked, sample, branch, prefer, both=self._evidence.unsure)
        if choice.switched:
            tracked.take(choice.tracked)
            self._follower.continue_from(choice.tracked)
            self._evidence.continue_from(choice.tracked)
        if choice.confirmed:
            self._branch_monitor.confirm(tracked.state)
            self._evidence.confirm(BranchSource.SENSOR)
        tracked.branch, tracked.other = choice.branch, choice.other

    def _compare(self, tracked: MonitoredPose, sensed: Reading) -> int:
        """Compare a pose with the redundant sensor; return the flags of a contradiction."""
        if self._sensor_monitor is None:
            return 0
        tracked.fit = fit = self._sensor_monitor.compare(
            tracked, *sensed, self._leg_monitor.noise.deviations / self._relative)
        if fit is None or fit.consistent:
            return 0
        if fit.leg is None:
            return Flag.SENSOR_DISAGREES.value
        tracked.legs = joined(tracked.legs, (fit.leg,))
        return Flag.SENSOR_DISAGREES.value | Flag.LEG_BIASED.value

    def _judge(self, tracked: MonitoredPose, flags: int, started: bool) -> int:
        """Write the words about a pose; flags: of the legs. Return all flags."""
        rates = NO_RATES if self._motion is None else self._motion.rates
        if self._bias_monitor is not None and len(rates) and tracked.twist_span and (
                tracked.smallest_singular_value > self.config.singularity_warning):
            tracked.numbers[parts.FOUND_TWIST:parts.TWIST_SPAN] = tracked.state.twist(rates)
            tracked.numbers[parts.TWIST_SPAN] = 0.0
        found: int = self._write_report(
            started, flags, rates, tracked.pose, tracked.values, tracked.margins, tracked.numbers)
        return found

    def _forget(self) -> None:
        self._last = self._motion = self._trusted = None
        self._follower.numbers[parts.HAS_CROSSED:parts.FOLLOWED_LEGS] = 0.0
        for stage in (self._branch_monitor, self._evidence, self._examination, self._bias_monitor,
                      self._sensor_monitor, self._two_branches):
            if stage is not None:
                stage.reset()


def _flagged(faults: LegFaults, wrong_rates: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return the flags of faulty readings and rates, and their legs."""
    flags, legs = (0, ()) if faults is NO_FAULTS else (faults.flags, faults.legs)
    if wrong_rates:
        return flags | Flag.RATES_CONTRADICT.value, joined(legs, wrong_rates)
    return flags, legs
