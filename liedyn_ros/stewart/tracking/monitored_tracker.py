# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A tracker that warns of wrong poses, names the faulty leg, and can follow both branches.

A sample passes six stages, each an object with one call that returns its findings:
SampleGate.accept, LegMonitor.examine, RateMonitor.contradicting, PoseFollower.solve_sample,
BranchMonitor.judge and SensorMonitor.compare. Redundant lengths have no other branch near; the
fifth stage is BiasMonitor.examine then. MonitoredTracker combines them.
"""

from __future__ import annotations

from dataclasses import replace
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.certificate.pose import TravelProof
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.flags import Flag, flag_of
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter, time_until
from liedyn_ros.stewart.solver.least_squares import AT_REST
from liedyn_ros.stewart.solver.pose_solver import LevenbergMarquardt, Status
from liedyn_ros.stewart.tracking.bias_monitor import BiasFit, BiasMonitor
from liedyn_ros.stewart.tracking.branch.kernels.branch import KEPT_BRANCH, PREDICTION_LIMIT
from liedyn_ros.stewart.tracking.branch.monitor import Branch, BranchMonitor
from liedyn_ros.stewart.tracking.branch_evidence import BranchEvidence, BranchSource, NOISE_REASON
from liedyn_ros.stewart.tracking.legs.monitor import LegFaults, LegMonitor, LegMotion, NO_FAULTS
from liedyn_ros.stewart.tracking.legs.noise_estimator import NoiseReport
from liedyn_ros.stewart.tracking.monitor_config import MonitorConfig
from liedyn_ros.stewart.tracking.monitored_pose import MonitoredPose, StartedPose
from liedyn_ros.stewart.tracking.rates.monitor import RateMonitor
from liedyn_ros.stewart.tracking.sensor_monitor import SensorFit, SensorMonitor
from liedyn_ros.stewart.tracking.tracker import (
    FollowerState, PoseFollower, Sample, SampleGate, Start, TrackedPose)
from liedyn_ros.stewart.tracking.two_branch_tracker import BranchChoice, TwoBranchTracker

if TYPE_CHECKING:
    from liedyn_ros.stewart.assembly.modes import MachineModes

UNSURE_BRANCH, UNSURE_SOURCE = int(Flag.BRANCH_UNSURE | Flag.BRANCH_WRONG), BranchSource.UNSURE
ONE_BRANCH = Branch(1, 0.0, 0.0, unsure=False, wrong=False)  # of redundant lengths
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
        self._rods = {*np.flatnonzero(~np.isnan(geometry.fixed_lengths)).tolist()}
        self._latency = geometry.leg_latency if geometry.leg_latency.any() else None
        self._leg_monitor = LegMonitor(
            geometry, config.leg_noise or self._relative * geometry.leg_noise,
            config.leg_acceleration, config.frozen_time, config.leg_resolution)
        self._rate_monitor = RateMonitor(geometry)
        self._follower = PoseFollower(geometry, home, method, self._meter)
        self._gate = SampleGate(geometry, self._follower.home)
        self._branch_monitor = BranchMonitor()
        self._evidence = BranchEvidence(geometry, self._follower.home, self._meter)
        self._travel = TravelProof(geometry, self._follower.home)
        if self._travel.proved:
            self._follower.start_of = self._travel.start
        self._two_branches = TwoBranchTracker(
            geometry, home, method, self._meter) if config.hold_hypotheses else None
        fitted = self._follower.solver.least_squares
        self._bias_monitor = None if fitted is None else BiasMonitor(
            geometry, fitted, leave_out=config.replace_outliers,
            singularity_warning=config.singularity_warning)
        self._every_leg = (1 << len(geometry.leg_names)) - 1
        self._sensor_monitor = None if config.sensor is None else SensorMonitor(
            config.sensor, config.sensor_time)
        self._motion: LegMotion | None = None
        self._last: MonitoredPose | None = None
        self._sign = 0  # of the determinant, reported with the last sample
        self._crossed = False  # whether the motion has led through a singularity
        self._chosen = False  # whether home's word has just chosen the pose
        self._trusted: FollowerState | None = None  # before readings that jumped just now
        self._platform_jumped = False  # whether these were of three legs or more

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
        return self._rate_monitor.describe(self.geometry.leg_names)

    def reset(self) -> None:
        """
        Forget the motion, the faults and the branch: the next sample starts from home.

        >>> MonitoredTracker(geometry, home).reset()
        """
        self._follower.continue_from(None)
        self._gate.reset()
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
        last, monitor, noise = self._last, self._bias_monitor, self._relative_noise
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
        if start.number != evidence.starts or last is None or self._crossed:
            return
        right = found.right(start.pose)
        if right is not None:
            tracked = self._follower.solve_from(right, last)
            if not tracked.converged:
                return
            last = self._last = replace(last, pose=tracked.pose, state=tracked.state, twist=None)
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
        self._sign = tracked.state.determinant_sign
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
        sample, faults, doubtful, wrong_rates = self._examine(
            self._gate.accept(stamp_ns, lengths, rates))
        started = (before := self._follower.last) is not None
        self._return(sample)
        if doubtful:
            self._trusted, self._platform_jumped = self._follower.state(), faults.jumped
        tracked = self._follower.solve_sample(sample, self._may_restart)
        flags, legs = (0, ()) if faults is NO_FAULTS else (faults.flags, faults.legs)
        if wrong_rates:
            flags, legs = flags | Flag.RATES_CONTRADICT.value, _joined(legs, wrong_rates)
        if started and tracked.start is Start.HOME:
            self._evidence.restart()
        if tracked.status is not Status.CONVERGED:
            return self._unsolved(tracked, flags, legs, started, doubtful)
        bias_fit = None
        if self._bias_monitor is not None:
            bias_fit = self._judge_residual(self._bias_monitor, before, tracked)
            if not tracked.converged:  # without a leg
                return self._unsolved(tracked, flags, legs, started, doubtful)
            flags, legs = flags | bias_fit.flags, _joined(legs, bias_fit.legs)
        if not doubtful:
            self._judge_evidence(before, tracked, bias_fit)
        sensed = None if self._sensor_monitor is None or reading is None else (
            reading, stamp_ns if reading_ns is None else reading_ns)
        choice = self._pass_over(tracked) if doubtful else self._choose(tracked, sample, sensed)
        self._last = self._report(choice, flags, legs, sensed, started, sample.rates)
        self._last.bias_fit = bias_fit
        return self._last

    def _examine(self, sample: Sample) -> tuple[Sample, LegFaults, bool, tuple[int, ...]]:
        """Return a sample to solve, faults of legs, whether it is doubtful, and wrong rates."""
        if sample.clock_set_back:
            lost = self._follower.last is not None or self._evidence.restarted
            self._follower.continue_from(None)
            self._forget()
            if lost:
                self._evidence.restart()
        faults, plausible, self._motion = self._leg_monitor.examine(
            sample.stamp_ns, sample.lengths)
        if faults.legs and self._rods.issuperset(faults.legs):
            faults = NO_FAULTS  # a rod of fixed length stands while the others move
        doubtful = bool(faults.outliers) or faults.jumped
        if faults.outliers and self._leg_monitor.noise.known and self.config.replace_outliers:
            # Some are kept: nothing predicts them.
            doubtful = any(plausible[leg] == sample.lengths[leg] for leg in faults.outliers)
            sample = sample._replace(lengths=plausible)
        wrong_rates = () if sample.rates is None else self._wrong_rates(
            sample.stamp_ns, sample.rates, faults, plausible)
        if wrong_rates:
            sample = sample._replace(rates=None)
        if self._latency is not None:
            sample = self._at_its_stamp(sample, self._latency)
        return sample, faults, doubtful, wrong_rates

    def _judge_residual(
            self, monitor: BiasMonitor, before: TrackedPose | None, tracked: TrackedPose
    ) -> BiasFit:
        """Judge the residual of a pose; solve it without a leg that is named."""
        twist, gap = None if before is None else before.twist, 0.0
        if before is not None:
            gap = 1e-9 * (tracked.stamp_ns - before.stamp_ns)
        if twist is None or gap > PREDICTION_LIMIT:
            twist, gap = AT_REST, 0.0
        fit = monitor.examine(tracked, twist, gap, before is not None)
        if fit.left_out and fit.leg is not None:
            self._follower.solve_without(tracked, *monitor.without(fit.leg))
        return fit

    def _judge_evidence(
            self, before: TrackedPose | None, tracked: TrackedPose, bias_fit: BiasFit | None
    ) -> None:
        """Judge the evidence of a pose's branch; before: the last good pose, if any."""
        evidence = self._evidence
        if bias_fit is not None:
            known, begins = not math.isnan(bias_fit.noise), tracked.start is Start.HOME
            if known and bias_fit.consistent and not begins:
                evidence.confirm(BranchSource.SENSOR)
            elif not known or evidence.unsure or (begins and not bias_fit.consistent):
                evidence.await_residual(known)  # the least residual from home may not be the least
            evidence.rest_on(BranchSource.SENSOR)
            return
        self._chosen = evidence.judge(before, tracked, self._relative_noise)
        open_yet = evidence.unsure or evidence.source is not BranchSource.PROVED
        if (open_yet and self._travel.proved
                and self._travel.holds(tracked.lengths, tracked.pose)):
            evidence.confirm(BranchSource.PROVED)

    def _at_its_stamp(self, sample: Sample, latency: Array) -> Sample:
        """Return a sample whose readings and rates have moved on by each leg's latency, s."""
        motion, rates = self._motion, sample.rates
        if motion is None:
            return sample if rates is None else sample._replace(
                lengths=sample.lengths + latency * rates)
        self._motion = late = motion.compensated(latency)
        moved, changed = late.latency_correction()
        return sample._replace(lengths=sample.lengths + moved,
                               rates=None if rates is None else rates + changed)

    def _wrong_rates(
            self, stamp_ns: int, rates: ArrayLike, faults: LegFaults, plausible: Array
    ) -> tuple[int, ...]:
        """Return the legs whose measured rates contradict the lengths."""
        motion = self._motion
        if motion is None:
            return ()
        outliers = self._every_leg if faults.jumped else sum(1 << leg for leg in faults.outliers)
        return self._rate_monitor.contradicting(
            stamp_ns, plausible, rates, motion.rates, self._leg_monitor.uncertainty(), outliers)

    def _may_restart(self) -> bool:
        """Return whether a solve that failed may go over to another branch, from home."""
        return not self._branch_monitor.near(KEPT_BRANCH)

    def _unsolved(
            self, tracked: TrackedPose, flags: int, legs: tuple[int, ...], started: bool,
            doubtful: bool) -> MonitoredPose:
        """Handle a failed solve; near a singularity noise alone can cause it."""
        if not doubtful:
            self._leg_monitor.restart_prediction()
        if self._branch_monitor.near(KEPT_BRANCH) and not doubtful:
            error = np.linalg.norm(tracked.lengths - leg_lengths(self.geometry, tracked.pose))
            self._branch_monitor.judge(
                tracked.stamp_ns, tracked.state, self._relative_noise,
                self._unit * float(error) / self.geometry.characteristic_length)
        else:
            self._branch_monitor.predict(tracked.stamp_ns)
        near = Flag.NEAR_SINGULARITY.value * (tracked.status is Status.SINGULAR)
        return self._pose(tracked, flags | near | self._branch_flags(
            started, self._branch_monitor.near(KEPT_BRANCH)), legs)

    def _return(self, sample: Sample) -> None:
        """
        Start the solve of a sample from the last good pose before readings that jumped, if any.

        They may have led to another assembly mode. But where three legs or more jumped and stay,
        the platform did.
        """
        trusted, self._trusted = self._trusted, None
        before, last = None if trusted is None else trusted[0], self._follower.last
        if trusted is None or before is None or last is None:
            return
        if self._platform_jumped and np.linalg.norm(sample.lengths - last.lengths) < (
                np.linalg.norm(sample.lengths - before.lengths)):
            return
        self._follower.restore(trusted)

    def _pass_over(self, tracked: TrackedPose) -> BranchChoice:
        """Return a pose of readings that jump: the branch is that of the motion before."""
        self._branch_monitor.predict(tracked.stamp_ns)
        sign = self._branch_monitor.reported_sign
        branch = None if self._last is None else self._last.branch
        return BranchChoice(tracked, Branch(
            sign, 0.0 if branch is None else branch.rate, 0.0,
            branch is not None and branch.unsure,
            bool(sign) and tracked.state.determinant_sign != sign))

    def _choose(
            self, tracked: TrackedPose, sample: Sample, sensed: Reading | None) -> BranchChoice:
        """Return the pose of the better branch, and continue from it."""
        if self._bias_monitor is not None:
            return BranchChoice(tracked, ONE_BRANCH)
        branch = self._branch_monitor.judge(
            tracked.stamp_ns, tracked.state, self._relative_noise)
        if (branch.unsure or branch.wrong) and (self._chosen or (
                self._travel.proved and self._travel.holds(tracked.lengths, tracked.pose))):
            self._branch_monitor.confirm(tracked.state)
            self._sign = tracked.state.determinant_sign
            branch = branch._replace(expected_sign=self._sign, unsure=False, wrong=False)
        elif branch.wrong and not self._evidence.settled:
            branch = branch._replace(wrong=False, unsure=True)
        prefer = None
        if self._sensor_monitor is not None and sensed is not None:
            prefer = self._sensor_monitor.preference(tracked, *sensed)
        if self._two_branches is None:
            if prefer is not None and self._evidence.unsure:
                self._evidence.ask(prefer, tracked)
            return BranchChoice(tracked, branch)
        choice = self._two_branches.choose(
            tracked, sample, branch, prefer, both=self._evidence.unsure)
        if choice.switched:
            self._follower.continue_from(choice.tracked)
            self._evidence.continue_from(choice.tracked)
        if choice.confirmed:
            self._branch_monitor.confirm(choice.tracked.state)
            self._evidence.confirm(BranchSource.SENSOR)
        return choice

    def _report(
            self, choice: BranchChoice, flags: int, legs: tuple[int, ...], sensed: Reading | None,
            started: bool, rates: ArrayLike | None) -> MonitoredPose:
        tracked, branch = choice.tracked, choice.branch
        flags |= self._branch_flags(started, branch.unsure)
        if branch.wrong and not self._evidence.unsure:  # else the last branch may have been left
            flags |= Flag.BRANCH_WRONG.value
        until = time_until(
            tracked.state.signed_value, branch.rate, self.config.singularity_warning)
        if 0.0 < until < self.config.singularity_warning_time:
            flags |= Flag.APPROACHING_SINGULARITY.value
        fit = None
        if self._sensor_monitor is not None and sensed is not None:
            fit = self._sensor_monitor.compare(
                tracked, *sensed, self._leg_monitor.noise.deviations / self._relative)
        if fit is not None and not fit.consistent:
            flags |= Flag.SENSOR_DISAGREES.value
            if fit.leg is not None:
                flags |= Flag.LEG_BIASED.value
                legs = _joined(legs, (fit.leg,))
        return self._pose(tracked, flags | int(tracked.state.flags), legs, branch, until,
                          choice.other, fit, rates)

    def _pose(
            self, tracked: TrackedPose, flags: int, legs: tuple[int, ...],
            branch: Branch | None = None, until: float = math.inf, other: Array | None = None,
            fit: SensorFit | None = None, rates: ArrayLike | None = None) -> MonitoredPose:
        motion, twist, span = self._motion, tracked.twist, tracked.twist_span
        if motion is not None and span and (
                tracked.smallest_singular_value > self.config.singularity_warning):
            twist, span = tracked.state.twist(motion.rates), 0.0
        reason = self._evidence.reason or (
            NOISE_REASON if flags & UNSURE_BRANCH and tracked.status is Status.CONVERGED else '')
        return MonitoredPose(
            tracked.stamp_ns, tracked.lengths, tracked.pose, tracked.status, tracked.iterations,
            tracked.residual, tracked.start, tracked.state, twist, span, tracked.solve_time,
            flag_of(flags), legs, branch, until, other, fit, motion,
            None if rates is None else np.array(rates, dtype=float),
            UNSURE_SOURCE if flags & UNSURE_BRANCH or tracked.status is not Status.CONVERGED else
            self._evidence.source, reason)

    @property
    def _relative_noise(self) -> float:
        return self._leg_monitor.noise.deviation / self._length

    def _branch_flags(self, started: bool, unsure: bool) -> int:
        """Note whether the motion crossed a singularity; return the flags of branch and start."""
        before, self._sign = self._sign, self._branch_monitor.reported_sign
        crosses, evidence = started and self._sign != before, self._evidence
        if crosses:
            evidence.crossed()
            self._crossed = True
        return (Flag.BRANCH_CROSSED.value * crosses + Flag.RESTARTED.value * evidence.restarted
                + Flag.BRANCH_UNSURE.value * (unsure or evidence.unsure))

    def _forget(self) -> None:
        self._last = self._motion = self._trusted = None
        self._crossed = False
        for stage in (self._branch_monitor, self._evidence, self._leg_monitor, self._rate_monitor,
                      self._bias_monitor, self._sensor_monitor, self._two_branches):
            if stage is not None:
                stage.reset()


def _joined(legs: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """Return all of two sets of legs, in order."""
    return tuple(sorted({*legs, *others}))
