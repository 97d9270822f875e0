# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stage of the solve: the pose of each sample, from the pose before."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
import math
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.stamps import Timeline
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.architecture import require_regular
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels import legs
from liedyn_ros.stewart.platform.kernels.limits import bound_readings
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter, PlatformState
from liedyn_ros.stewart.solver.kernels.problem import INVALID
from liedyn_ros.stewart.solver.kernels.solve import SOLVER_WORK
from liedyn_ros.stewart.solver.pose_solver import (
    LevenbergMarquardt, PoseSolver, Status, STATUSES)
from liedyn_ros.stewart.tracking.kernels import follower as parts
from liedyn_ros.stewart.tracking.kernels.sample import solve_from_last


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
        self.limits = geometry.length_limits.copy()  # (n, 2), m or rad, bounds included
        self._admit = BoundKernel(legs.admit, self.limits)
        self._shape = (len(geometry.leg_names),)
        self.timeline = Timeline()

    def reset(self) -> None:
        """Forget the stamps: the next sample may have any."""
        self.timeline.reset()

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
        follows = self.timeline.follows(stamp_ns)
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


NOTHING_FOUND = np.zeros(parts.FOUND_WIDTH)
NOTHING_FOUND[parts.FOUND_TWIST:parts.TWIST_SPAN] = math.nan


class TrackedPose:
    """
    The outcome of one sample, not to be changed.

    stamp_ns: the sample's time. lengths: (n,), m. status: of the solve. pose: (4, 4), platform in
    base, m, where it ended. numbers: what else was found, as kernels/follower.py has it. values:
    of the state.

    >>> PoseTracker(geometry, home).track(0, leg_lengths(geometry, home)).pose.shape
    (4, 4)
    """

    __slots__ = '_state', 'lengths', 'meter', 'numbers', 'pose', 'stamp_ns', 'status', 'values'

    def __init__(self, meter: PlatformMeter, stamp_ns: int, lengths: Array) -> None:
        """
        Take a sample, whose results are still to be written.

        Args:
            meter: of the platform.
            stamp_ns: the sample's time; ns.
            lengths: (n,); m, of cranks rad.
        """
        self.meter, self.stamp_ns, self.lengths = meter, stamp_ns, lengths
        self.pose: Array = np.empty((4, 4))
        self.status = Status.STALLED  # until it is solved
        self.values, self.numbers = meter.empty(), np.empty(parts.FOUND_WIDTH)
        self._state: PlatformState | None = None

    @property
    def converged(self) -> bool:
        """Return whether the pose meets the lengths and is not singular."""
        return self.status is Status.CONVERGED

    @property
    def iterations(self) -> int:
        """Return how many steps the solve took."""
        return int(self.numbers[parts.FOUND_ITERATIONS])

    @property
    def residual(self) -> float:
        """Return the largest leg length error, m."""
        return float(self.numbers[parts.FOUND_RESIDUAL])

    @property
    def start(self) -> Start:
        """Return the guess from which the solve started."""
        return Start(int(self.numbers[parts.FOUND_START]))

    @property
    def solve_time(self) -> float:
        """Return the time of the solve, s."""
        return float(self.numbers[parts.SOLVE_TIME])

    @property
    def twist(self) -> Array | None:
        """Return the body twist, rad/s and m/s; None for a first sample without rates."""
        twist = self.numbers[parts.FOUND_TWIST:parts.TWIST_SPAN]
        return None if math.isnan(twist[0]) else twist

    @property
    def twist_span(self) -> float:
        """Return s between the two poses of whose difference the twist is; 0 by rates."""
        return float(self.numbers[parts.TWIST_SPAN])

    @property
    def smallest_singular_value(self) -> float:
        """Return the smallest singular value of dL/d(twist), without a unit: 0 if singular."""
        return abs(float(self.numbers[parts.FOUND_VALUE]))

    @property
    def state(self) -> PlatformState:
        """Return the platform's state at the pose."""
        if self._state is None:
            self._state = PlatformState(self.meter, self.pose, self.values)
        return self._state

    def note(self, solution: tuple[Array, Status, int, float, float], start: Start,
             begin: float) -> None:
        """
        Write the solution of a solver, whose values are written.

        Args:
            solution: as PoseSolver.solve_checked returns it.
            start: where the solver began.
            begin: s, by time.perf_counter.

        >>> tracked = PoseTracker(geometry, home).track(0, leg_lengths(geometry, home))
        >>> tracked.note((tracked.pose, tracked.status, 1, 0.0, 1.0), tracked.start, 0.0)
        >>> tracked.iterations
        1
        """
        self.pose, self.status, iterations, residual, smallest = solution
        self.numbers = numbers = NOTHING_FOUND.copy()
        numbers[parts.FOUND_STATUS], numbers[parts.FOUND_ITERATIONS] = self.status, iterations
        numbers[parts.FOUND_RESIDUAL], numbers[parts.FOUND_SMALLEST] = residual, smallest
        numbers[parts.FOUND_VALUE], numbers[parts.FOUND_SLOPE] = self.values[-2], self.values[-1]
        numbers[parts.FOUND_START], numbers[parts.SOLVE_TIME] = start, time.perf_counter() - begin


# Numbers and stamps of a follower, and its last pose.
FollowerState = tuple[Array, NDArray[np.int64], TrackedPose | None]


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
        self.numbers = np.zeros(parts.FOLLOWED_LEGS + 2 * len(geometry.leg_names))
        self.poses = self.numbers[:parts.POSE_NUMBERS].reshape(3, 4, 4)
        self.poses[parts.HOME_POSE] = self.home
        self.stamps = np.zeros(parts.FOLLOWED_STAMPS, dtype=np.int64)
        self.solver = PoseSolver(geometry, method)
        scale = geometry.characteristic_length
        self._solve_six = BoundKernel(
            solve_from_last, geometry.table(scale), scale, method.as_tuple(), np.empty(0),
            self.numbers, self.poses, self.stamps, np.empty(SOLVER_WORK))
        self.last: TrackedPose | None = None  # the last good pose
        self._meter = meter

    @property
    def started(self) -> bool:
        """Return whether there is a good pose, from which the next solve starts."""
        return bool(self.numbers[parts.GOOD_POSES])

    def solve_sample(self, sample: Sample, may_restart: bool = True) -> TrackedPose:
        """Return the pose of a sample; may_restart: whether a solve may be tried from home."""
        stamp_ns, lengths, rates, _ = sample
        tracked, begin = TrackedPose(self._meter, stamp_ns, lengths), time.perf_counter()
        measured = lengths if rates is None else np.array(rates, dtype=float)
        if self.solver.least_squares is None:
            status = self._solve_six.call(
                not may_restart, stamp_ns, lengths, measured, rates is not None, tracked.pose,
                tracked.values, tracked.numbers)
            if status == INVALID:
                raise self.solver.why_refused(lengths, self.home)
            tracked.status = STATUSES[status]
            tracked.numbers[parts.SOLVE_TIME] = time.perf_counter() - begin
        else:
            tracked.note(*self._solve(sample, tracked.values), begin)
            if tracked.converged:
                if rates is not None:
                    tracked.numbers[parts.FOUND_TWIST:parts.TWIST_SPAN] = tracked.state.twist(
                        measured)
                parts.follow_pose(
                    self.numbers, self.poses, self.stamps, stamp_ns, lengths, measured,
                    rates is not None, tracked.pose, tracked.numbers)
        if tracked.converged:
            self.last = tracked
        return tracked

    def solve_from(self, guess: Array, tracked: TrackedPose) -> TrackedPose:
        """Return a tracked pose solved once more from a guess (4, 4), m; nothing is changed."""
        again = TrackedPose(self._meter, tracked.stamp_ns, tracked.lengths)
        again.note(self.solver.solve_checked(tracked.lengths, guess, again.values), Start.GUESS,
                   time.perf_counter())
        return again

    def state(self) -> FollowerState:
        """Return the state from which the next solve starts, for `restore`."""
        return self.numbers.copy(), self.stamps.copy(), self.last

    def restore(self, state: FollowerState) -> None:
        """Start the next solve from a former state."""
        self.numbers[:parts.REPORTED_SIGN] = state[0][:parts.REPORTED_SIGN]
        self.numbers[parts.FOLLOWED_LEGS:] = state[0][parts.FOLLOWED_LEGS:]
        self.stamps[:], self.last = state[1:]

    def solve_without(self, tracked: TrackedPose, weights: Array, guess: Array) -> None:
        """Solve a tracked pose of redundant lengths with weights (n,), from a guess (4, 4), m."""
        fitted = self.solver.least_squares
        if fitted is None:
            return
        tracked.pose, status, more, _ = fitted.solve_checked(tracked.lengths, guess, weights)
        self._meter.write(tracked.pose, tracked.values, weights)
        self.poses[parts.LAST_POSE], numbers = tracked.pose, tracked.numbers
        tracked.status = STATUSES[status]
        numbers[parts.FOUND_STATUS], numbers[parts.FOUND_VALUE] = status, tracked.values[-2]
        numbers[parts.FOUND_ITERATIONS] += more

    def continue_from(self, last: TrackedPose | None) -> None:
        """Start the next solve from a pose of another stage; None for home."""
        numbers, self.last = self.numbers, last
        numbers[parts.GOOD_POSES] = 0.0
        if last is not None:
            twist = last.twist
            parts.follow_pose(numbers, self.poses, self.stamps, last.stamp_ns, last.lengths,
                              last.lengths, False, last.pose, last.numbers.copy())
            numbers[parts.HAS_TWIST], numbers[parts.POSE_SPAN] = twist is not None, last.twist_span
            numbers[parts.LAST_TWIST:parts.GUESS_TWIST] = 0.0 if twist is None else twist

    def _solve(self, sample: Sample, values: Array
               ) -> tuple[tuple[Array, Status, int, float, float], Start]:
        numbers, lengths = self.numbers, sample.lengths
        if self.started:
            seconds = parts.write_guess_twist(
                numbers, self.poses, self.stamps, sample.stamp_ns, lengths)
            solution = self.solver.solve_checked(
                lengths, self.poses[parts.LAST_POSE], values,
                numbers[parts.GUESS_TWIST:parts.GOOD_POSES], seconds)
            if solution[1] is Status.CONVERGED:
                return solution, Start.PREDICTED
        return self.solver.solve_checked(lengths, self.home, values), Start.HOME


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
