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

"""A tracker that knows when it may be wrong: it says so, names the leg, holds the other branch."""

from dataclasses import dataclass
from enum import IntFlag
import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.platform.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.limits import LimitGauge, Margins
from liedyn_ros.stewart.platform.singularity import Singularity, SingularityMeter, time_until
from liedyn_ros.stewart.solver.methods import LevenbergMarquardt, Method
from liedyn_ros.stewart.tracking.branch_monitor import Branch, BranchGuard
from liedyn_ros.stewart.tracking.leg_monitor import LegMonitor
from liedyn_ros.stewart.tracking.sensor_monitor import Consistency, ConsistencyMonitor, Sensor
from liedyn_ros.stewart.tracking.tracker import PoseTracker, Start, TrackedPose
from liedyn_ros.stewart.tracking.two_branch_tracker import Hypotheses, Preference

ASSUMED_NOISE = 1e-5  # m, where none is given
KEPT_BRANCH = 0.1  # signed value below which a failed solve is not tried again from home


class Flag(IntFlag):
    """What is to be said of a pose; docs/stewart.md tells what to make of each."""

    NEAR_SINGULARITY = 1
    APPROACHING_SINGULARITY = 2
    BRANCH_CROSSED = 4
    BRANCH_UNSURE = 8
    BRANCH_WRONG = 16
    RESTARTED = 32
    LEG_OUTLIER = 64
    LEG_STEPPED = 128
    LEG_FROZEN = 256
    SENSOR_DISAGREES = 512
    LEG_BIASED = 1024
    LEG_TRAVEL = 2048
    JOINT_ANGLE = 4096
    LEG_CLEARANCE = 8192


@dataclass(frozen=True, kw_only=True)
class Watch:
    """
    What a SafeTracker looks for.

    leg_noise: m, standard deviation of a length; 0 where it is not known, then 1e-5 is assumed.
    leg_resolution: m, of a reading, 0 for the smallest step that it makes. leg_acceleration:
    m/s^2, the greatest of a leg. frozen_time: s, 0 for never. warn_below:
    smallest singular value that is near. warn_before: s, time to there that is a warning.
    hold_hypotheses: whether to follow both branches through a singularity and to give the pose
    of the one that the motion leads to. replace_outliers: whether an outlier's length is taken
    from its prediction. sensor: a redundant one. sensor_time: s over which it is averaged.
    """

    leg_noise: float = 0.0
    leg_resolution: float = 0.0
    leg_acceleration: float = 5.0
    frozen_time: float = 0.05
    warn_below: float = 0.05
    warn_before: float = 0.5
    hold_hypotheses: bool = False
    replace_outliers: bool = True
    sensor: Sensor | None = None
    sensor_time: float = 1.0

    def __post_init__(self) -> None:
        """Refuse negative numbers. Raises LimitError."""
        for name in ('leg_noise', 'leg_resolution', 'leg_acceleration', 'frozen_time',
                     'warn_below', 'warn_before', 'sensor_time'):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise LimitError(f'{name}: expected a number from 0 on, '
                                 f'got {getattr(self, name)}')

    @property
    def noise(self) -> float:
        """Return the standard deviation of a length to reckon with, m."""
        return self.leg_noise or ASSUMED_NOISE


@dataclass(frozen=True)
class SafePose:
    """
    A tracked pose and what is to be said of it.

    legs: indices of the legs suspected. singularity, branch: None where there is no pose.
    time_to_singularity: s, until the smallest singular value falls below warn_below at its
    present rate; infinite where it does not. other: (4, 4), m, the pose of the other branch
    while both are held. margins: what the pose leaves of the platform's limits. fit: of the
    redundant sensor's reading, None where none was compared.
    """

    tracked: TrackedPose
    flags: Flag
    legs: tuple[int, ...] = ()
    singularity: Singularity | None = None
    branch: Branch | None = None
    time_to_singularity: float = math.inf
    other: Array | None = None
    margins: Margins | None = None
    fit: Consistency | None = None


class SafeTracker:
    """A PoseTracker under watch: each pose comes with what speaks against it."""

    def __init__(
            self, geometry: StewartGeometry, home: ArrayLike,
            method: Method = LevenbergMarquardt(), watch: Watch = Watch()) -> None:
        """Take a geometry, the home pose (4, 4) of the platform in the base (m), a method."""
        self.geometry, self.watch = geometry, watch
        self._tracker = PoseTracker(geometry, home, method)
        self._meter, self._gauge = SingularityMeter(geometry), LimitGauge(geometry)
        self._guard = BranchGuard(watch.noise / geometry.characteristic_length)
        self._legs = LegMonitor(
            watch.noise, watch.leg_acceleration, watch.frozen_time, watch.leg_resolution)
        self._sensor = None if watch.sensor is None else ConsistencyMonitor(
            geometry, watch.sensor, watch.noise, watch.sensor_time)
        self._sign = 0  # of the determinant, told of the last sample
        self._lost = False  # whether a motion was followed that no pose has gone on from yet
        self._hypotheses = Hypotheses(self._tracker, self._meter, self._guard)

    @property
    def last(self) -> TrackedPose | None:
        """Return the last good pose."""
        return self._tracker.last

    def reset(self) -> None:
        """Forget the motion, the faults and the branch: the next sample starts from home."""
        self._tracker.reset()
        self._forget()
        self._lost = False

    def update(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None = None,
            reading: ArrayLike | None = None, reading_ns: int | None = None) -> SafePose:
        """
        Return the pose of one sample as PoseTracker.update does, with what is to be said of it.

        reading: the redundant sensor's, where there is a new one. reading_ns: its time, to which
        the pose is moved at its twist; that of the lengths where it is left out.
        """
        followed = self._tracker.last is not None
        lengths, rates = self._tracker.accept(stamp_ns, lengths, rates)
        if followed and self._tracker.last is None:  # the clock was set back
            self._forget()
            self._lost = True
        faults = self._legs.judge(stamp_ns, lengths, rates)
        flags = (Flag.LEG_OUTLIER * bool(faults.outliers) | Flag.LEG_STEPPED * bool(faults.stepped)
                 | Flag.LEG_FROZEN * bool(faults.frozen))
        if self.watch.replace_outliers:
            lengths = faults.plausible
        started = self._tracker.last is not None
        self._tracker.restarts = not self._guard.near(KEPT_BRANCH)
        tracked = self._tracker.advance(stamp_ns, lengths, rates)
        flags |= Flag.RESTARTED * (self._lost or (started and tracked.start is Start.HOME))
        self._lost &= not tracked.solution.converged
        if not tracked.solution.converged:
            self._go_on(stamp_ns, lengths, tracked.solution.pose)
            flags |= (Flag.BRANCH_CROSSED * self._crosses(started)
                      | Flag.BRANCH_UNSURE * self._guard.near(KEPT_BRANCH))
            return SafePose(tracked, Flag(flags), faults.legs)
        sensed = None
        if self._sensor is not None and reading is not None:
            sensed = reading, stamp_ns if reading_ns is None else reading_ns
        return self._judge(tracked, flags, faults.legs, sensed, started)

    def _judge(
            self, tracked: TrackedPose, flags: int, legs: tuple[int, ...],
            sensed: tuple[ArrayLike, int] | None, started: bool) -> SafePose:
        singularity = self._meter.measure(tracked.solution.pose)
        branch = self._guard.update(tracked.stamp_ns, singularity)
        other = None
        if self.watch.hold_hypotheses:
            tracked, singularity, branch, other = self._hypotheses.choose(
                tracked, singularity, branch, self._preference(tracked, sensed))
        flags |= (Flag.BRANCH_CROSSED * self._crosses(started) | Flag.BRANCH_UNSURE * branch.unsure
                  | Flag.BRANCH_WRONG * branch.wrong)
        until = time_until(singularity.signed_value, branch.rate, self.watch.warn_below)
        flags |= (Flag.NEAR_SINGULARITY * (until == 0.0)
                  | Flag.APPROACHING_SINGULARITY * (0.0 < until < self.watch.warn_before))
        fit = None
        if self._sensor is not None and sensed is not None:
            fit = self._sensor.compare(tracked, *sensed)
        if fit is not None:
            flags |= Flag.SENSOR_DISAGREES * (not fit.consistent)
            if fit.leg is not None:
                flags |= Flag.LEG_BIASED
                legs = tuple(sorted({*legs, fit.leg}))
        left, kept = self._gauge.measure(tracked.solution.pose)
        if not kept:
            flags |= exceeded_by(left)
        return SafePose(tracked, Flag(flags), legs, singularity, branch, until, other, left, fit)

    def _go_on(self, stamp_ns: int, lengths: Array, nearest: Array) -> None:
        """Let the guard judge lengths that no pose has, which by noise is so at a singularity."""
        if not self._guard.near(KEPT_BRANCH):
            self._guard.coast(stamp_ns)
            return
        error = np.linalg.norm(lengths - leg_lengths(self.geometry, nearest))
        self._guard.update(stamp_ns, self._meter.measure(nearest),
                           float(error) / self.geometry.characteristic_length)

    def _crosses(self, started: bool) -> bool:
        """Return whether the motion has led through a singularity since the sample before."""
        before, self._sign = self._sign, self._guard.told_sign
        return started and self._sign != before

    def _preference(
            self, tracked: TrackedPose, sensed: tuple[ArrayLike, int] | None) -> Preference | None:
        if self._sensor is None or sensed is None:
            return None
        return self._sensor.preference(tracked, *sensed)

    def _forget(self) -> None:
        for part in (self._guard, self._legs, self._sensor):
            if part is not None:
                part.reset()
        self._hypotheses.drop()


def exceeded_by(margins: Margins) -> Flag:
    """Return the flags of the limits that one pose exceeds."""
    return Flag(Flag.LEG_TRAVEL * bool((margins.travel < 0.0).any())
                | Flag.JOINT_ANGLE * bool((margins.joint_angles < 0.0).any())
                | Flag.LEG_CLEARANCE * bool((margins.clearance < 0.0).any()))
