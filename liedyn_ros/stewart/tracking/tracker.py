# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stage of the solve: the pose of each sample, from the pose before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.stamps import Timeline
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels import motion as kernels
from liedyn_ros.stewart.platform.architecture import require_regular
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels import legs
from liedyn_ros.stewart.platform.kernels.limits import bound_readings
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter, PlatformState
from liedyn_ros.stewart.solver.least_squares import AT_REST
from liedyn_ros.stewart.solver.pose_solver import (
    LevenbergMarquardt, PoseSolver, Status, STATUSES)
from liedyn_ros.stewart.tracking.branch.kernels.guess import is_predictable, lead_to_lengths


class Sample(NamedTuple):
    """
    An accepted sample: its time, lengths (n,), m, and rates (n,), m/s, if measured.

    clock_set_back: whether its time shows that the clock was set back.
    """

    stamp_ns: int
    lengths: Array
    rates: Array | None
    clock_set_back: bool


class SampleGate:
    """Checks shape, finiteness, limits and order of stamps of each sample, once."""

    def __init__(self, geometry: StewartGeometry, home: Array | None = None) -> None:
        """Take a geometry; what it does not limit is bounded by a home pose (4, 4), m, if any."""
        self._bounded = np.asarray(
            np.isinf(geometry.length_limits).any(axis=1) & (home is not None))
        if home is not None and self._bounded.any():
            limits = geometry.length_limits.copy()
            bound_readings(geometry.table(), geometry.characteristic_length,
                           leg_lengths(geometry, home), limits.reshape(-1))
            geometry = replace(geometry, length_limits=limits)
        self._geometry = geometry
        self._admit = BoundKernel(legs.admit, geometry.length_limits.copy())
        self._shape = (len(geometry.leg_names),)
        self._timeline = Timeline()

    def reset(self) -> None:
        """Forget the stamps: the next sample may have any."""
        self._timeline.reset()

    def accept(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None = None) -> Sample:
        """
        Return a sample that may be solved.

        lengths: (n,), m. rates: (n,), m/s. Raises ShapeError, NotFiniteError, LimitError for
        lengths beyond the limits, and StampError for a time that is not a whole number or not
        after the last.
        """
        given: Array = np.empty(self._shape)
        measured: Any = rates  # arrays, where the kernel takes them
        if not self._admit.attempt(lengths, lengths if rates is None else rates, given):
            given = checks.as_array('lengths', lengths, self._shape).copy()
            self._geometry.require_values(given)
            try:
                self._geometry.require_within_limits(given, read=True)
            except LimitError as error:
                if self._bounded[list(error.indices)].any():
                    error.args = (f'{error}. The geometry file has no such limit: '
                                  'readings beyond it are in another unit',)
                raise
            measured = None if rates is None else checks.as_array(
                'rates', rates, self._shape)
        follows = self._timeline.follows(stamp_ns)
        return Sample(int(stamp_ns), given, measured, not follows)  # one type: nothing compiles


class Start(IntEnum):
    """
    The guess a solve started from.

    >>> MonitoredTracker(geometry, home).start is None
    True
    """

    PREDICTED = 0  # the last pose, moved on with its twist
    HOME = 1
    GUESS = 2  # one that the caller gave


@dataclass(slots=True, eq=False)  # not frozen, which takes longer to build than to solve
class TrackedPose:
    """
    The outcome of one sample, not to be changed.

    stamp_ns: the sample's time. lengths: (n,), m. pose: (4, 4), platform in base, m, where the
    solve ended. status, iterations: of the solve. residual: largest leg length error, m. start:
    the guess. state: the platform's at the pose. twist: body twist (w, v) of the platform, rad/s
    and m/s, or None for the first sample without rates. twist_span: s between the two poses of
    whose difference it is made; 0 where it comes from measured rates. solve_time: s.

    >>> PoseTracker(geometry, home).track(0, leg_lengths(geometry, home)).pose.shape
    (4, 4)
    """

    stamp_ns: int
    lengths: Array
    pose: Array
    status: Status
    iterations: int
    residual: float
    start: Start
    state: PlatformState
    twist: Array | None
    twist_span: float
    solve_time: float

    @property
    def converged(self) -> bool:
        """Return whether the pose meets the lengths and is not singular."""
        return self.status is Status.CONVERGED

    @property
    def smallest_singular_value(self) -> float:
        """Return the smallest singular value of dL/d(twist), without a unit: 0 if singular."""
        return self.state.smallest_singular_value


# The last good pose, the one before it, and the measured rates that its twist comes from.
FollowerState = tuple[TrackedPose | None, TrackedPose | None, Array | None]


class PoseFollower:
    """
    Solves samples from the last pose predicted at constant twist, and from home if that fails.

    Only a converged pose changes the state: a failed solve leaves the last good one in place.
    """

    def __init__(
            self, geometry: StewartGeometry, home: ArrayLike, method: LevenbergMarquardt,
            meter: PlatformMeter) -> None:
        """
        Take a geometry, the home pose (4, 4) of the platform in the base (m), and settings.

        meter: measures the poses. Raises GeometryError for a platform that is singular at every
        pose, and the errors of `require_pose`.
        """
        self.geometry = geometry = geometry.readings
        self.home = se3.require_pose('home', home, (4, 4)).copy()
        require_regular(geometry, self.home)
        self._last: TrackedPose | None = None
        self._before: TrackedPose | None = None  # the good pose before the last
        self._rates: Array | None = None  # measured ones that the last twist comes from
        self.start_of: Callable[[Array], Array] | None = None  # of lengths, nearer than home
        self.solver = PoseSolver(geometry, method)
        self._meter = meter

    @property
    def last(self) -> TrackedPose | None:
        """Return the last good pose, from which the next solve starts."""
        return self._last

    def solve_sample(
            self, sample: Sample, may_restart: Callable[[], bool] = lambda: True) -> TrackedPose:
        """Return the pose of a sample; may_restart: whether a solve may be tried from home."""
        values = self._meter.empty()
        begin = time.perf_counter()
        (pose, status, iterations, residual, _), start = self._solve(sample, values, may_restart)
        solve_time = time.perf_counter() - begin
        state = PlatformState(self._meter, pose, values)
        tracked = TrackedPose(sample.stamp_ns, sample.lengths, pose, status, iterations, residual,
                              start, state, None, 0.0, solve_time)
        if status is Status.CONVERGED:
            if sample.rates is not None:
                tracked.twist = state.twist(sample.rates)
            elif self._last is not None:
                tracked.twist, tracked.twist_span = _mean_twist(self._last, tracked)
            self._before, self._rates, self._last = self._last, sample.rates, tracked
        return tracked

    def solve_from(self, guess: Array, tracked: TrackedPose) -> TrackedPose:
        """Return a tracked pose solved once more from a guess (4, 4), m; nothing is changed."""
        values = self._meter.empty()
        pose, status, iterations, residual, _ = self.solver.solve_checked(
            tracked.lengths, guess, values)
        return TrackedPose(
            tracked.stamp_ns, tracked.lengths, pose, status, iterations, residual, Start.GUESS,
            PlatformState(self._meter, pose, values), None, 0.0, tracked.solve_time)

    def state(self) -> FollowerState:
        """Return the state from which the next solve starts, for `restore`."""
        return self._last, self._before, self._rates

    def restore(self, state: FollowerState) -> None:
        """Start the next solve from a former state."""
        self._last, self._before, self._rates = state

    def solve_without(self, tracked: TrackedPose, weights: Array, guess: Array) -> None:
        """Solve a tracked pose of redundant lengths with weights (n,), from a guess (4, 4), m."""
        fitted = self.solver.least_squares
        if fitted is None:
            return
        tracked.pose, status, more, _ = fitted.solve_checked(tracked.lengths, guess, weights)
        tracked.status, tracked.iterations = STATUSES[status], tracked.iterations + more
        values = self._meter.empty()
        self._meter.write(tracked.pose, values, weights)
        tracked.state = PlatformState(self._meter, tracked.pose, values)

    def continue_from(self, last: TrackedPose | None) -> None:
        """Start the next solve from a pose of another stage; None for home."""
        self.restore((last, None, None))

    def _solve(
            self, sample: Sample, values: Array, may_restart: Callable[[], bool]
    ) -> tuple[tuple[Array, Status, int, float, float], Start]:
        last, lengths = self._last, sample.lengths
        if last is not None:
            if self._rates is None:
                twist, span = last.twist, last.twist_span
            else:
                twist, span = self._led(sample, last, self._rates)
            gap = 1e-9 * (sample.stamp_ns - last.stamp_ns)
            if twist is None or not is_predictable(gap, span):
                twist, gap = AT_REST, 0.0
            solution = self.solver.solve_checked(lengths, last.pose, values, twist, gap)
            if solution[1] is Status.CONVERGED or not may_restart():
                return solution, Start.PREDICTED
        start = self.home if self.start_of is None else self.start_of(lengths)
        return self.solver.solve_checked(lengths, start, values), Start.HOME

    def _led(
            self, sample: Sample, last: TrackedPose, rates: Array) -> tuple[Array | None, float]:
        """
        Return the last twist and its span (s), by measured rates that lead to the lengths.

        Else it is the difference of the last two poses, or None.
        """
        gap = 1e-9 * (sample.stamp_ns - last.stamp_ns)
        if lead_to_lengths(last.lengths, np.asarray(rates, dtype=float), gap, sample.lengths):
            return last.twist, last.twist_span
        return (None, 0.0) if self._before is None else _mean_twist(self._before, last)


class PoseTracker:
    """
    Poses of samples as they come, each solved from the one before, or from home.

    A refused sample or a failed solve leaves the last good pose in place. Use one in each thread:
    a tracker that two threads share gives wrong poses.

    >>> PoseTracker(geometry, home).track(0, leg_lengths(geometry, home)).converged
    True
    """

    def __init__(
            self, geometry: StewartGeometry, home: ArrayLike,
            method: LevenbergMarquardt = LevenbergMarquardt()) -> None:
        """
        Take a geometry, the home pose of the platform in the base, and settings.

        Args:
            geometry: of the platform.
            home: (4, 4), platform in base, m.
            method: settings of Levenberg-Marquardt.

        Raises:
            GeometryError: for a platform that is singular at every pose.
            NotInGroupError: for a home that is no pose.
        """
        geometry = geometry.readings
        self._follower = PoseFollower(geometry, home, method, PlatformMeter(geometry))
        self._gate = SampleGate(geometry, self._follower.home)
        self._latency = geometry.leg_latency if geometry.leg_latency.any() else None
        self._read: Sample | None = None  # the one before, as it was read

    @property
    def home(self) -> Array:
        """Return the pose (4, 4), m, from which the first sample is solved."""
        return self._follower.home

    @property
    def last(self) -> TrackedPose | None:
        """Return the last good pose, from which the next solve starts."""
        return self._follower.last

    def reset(self) -> None:
        """
        Forget the motion: the next sample starts from home, whatever its time.

        >>> PoseTracker(geometry, home).reset()
        """
        self._follower.continue_from(None)
        self._gate.reset()
        self._read = None

    def track(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None = None
    ) -> TrackedPose:
        """
        Return the pose of one sample of leg lengths.

        Where the clock was set back, the motion is forgotten.

        Args:
            stamp_ns: time of the sample; ns.
            lengths: (n,); m, of cranks rad.
            rates: measured ones (n,), m/s; the twist then comes from them, else from the
                difference of two poses.

        Returns:
            the pose.

        Raises:
            StampError: for a stamp out of order.
            LimitError: for a length that is not positive.
            LiedynError: for another shape, or a number that is not finite.

        >>> PoseTracker(geometry, home).track(0, leg_lengths(geometry, home)).status
        <Status.CONVERGED: 0>
        """
        sample = self._gate.accept(stamp_ns, lengths, rates)
        if sample.clock_set_back:
            self._follower.continue_from(None)
            self._read = None
        return self._follower.solve_sample(
            sample if self._latency is None else self._at_its_stamp(sample, self._latency))

    def _at_its_stamp(self, sample: Sample, latency: Array) -> Sample:
        """Return a sample whose readings have moved on at their rates, measured or by the last."""
        before, self._read = self._read, sample
        rates = sample.rates
        if rates is None:
            if before is None:
                return sample
            rates = (sample.lengths - before.lengths) / (
                1e-9 * (sample.stamp_ns - before.stamp_ns))
        return sample._replace(lengths=sample.lengths + latency * rates)


def _mean_twist(last: TrackedPose, tracked: TrackedPose) -> tuple[Array, float]:
    """Return the mean twist since the last pose, and the time (s) between the two."""
    twist, span = np.empty(6), 1e-9 * (tracked.stamp_ns - last.stamp_ns)
    kernels.mean_twist(last.pose, tracked.pose, span, twist)
    return twist, span
