# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A tracker of platforms of seven legs and more: pose, covariance, and biased legs by name."""

from __future__ import annotations

from dataclasses import dataclass
import math
import time

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.stamps import Timeline
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels.motion import mean_twist
from liedyn_ros.stewart.platform.description.redundant_geometry import RedundantGeometry
from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.platform.state import SINGULARITY_WARNING
from liedyn_ros.stewart.redundant.bias_monitor import BiasFit, BiasMonitor
from liedyn_ros.stewart.redundant.motion import LegMotionFilter, LegMotions
from liedyn_ros.stewart.redundant.solver import (
    gain_of, RedundantSolver, smallest_singular_value)
from liedyn_ros.stewart.solver.pose_solver import AT_REST, Status
from liedyn_ros.stewart.tracking.branch.kernels.branch import PREDICTION_LIMIT
from liedyn_ros.stewart.tracking.tracker import Start

ASSUMED_NOISE = 2e-4  # m, of a drive's end, until it is known
RATE_NOISE, RATE_STEPS = 9.0, 10.0  # of a rate by lengths: deviations over a period, and samples
ACCELERATION = 25.0  # m/s^2, of a drive's end, in these samples


@dataclass(frozen=True, kw_only=True)
class RedundantConfig:
    """
    The configuration of a RedundantTracker.

    memory: s, over which a path is remembered. least_bias: deviations of a reading, below which
    a bias is not named. leave_out: whether a leg that is named is left out of the pose, where the
    noise is given. singularity_warning: smallest singular value that is near. Raises LimitError.
    """

    memory: float = 10.0
    least_bias: float = 5.0
    leave_out: bool = True
    singularity_warning: float = SINGULARITY_WARNING

    def __post_init__(self) -> None:
        """Refuse numbers that are not above zero."""
        for name in ('memory', 'least_bias'):
            checks.as_positive(name, getattr(self, name))
        if not 0.0 <= checks.as_number('singularity_warning', self.singularity_warning) < math.inf:
            raise LimitError('singularity_warning: expected a number from 0 on, '
                             f'got {self.singularity_warning}')


@dataclass(slots=True, eq=False)
class RedundantPose:
    """
    The outcome of one sample of redundant lengths, not to be changed.

    stamp_ns: its time. lengths: (n,), m or rad. pose: (4, 4), platform in base, m. status,
    iterations: of the solve. start: the guess. residuals: (n,), readings less those of the
    least-squares pose of all legs. fit: their judgement. flags, legs: as in MonitoredPose. A leg
    against this sample alone is an outlier; a leg against the path is biased. used: indices of
    the legs in the pose. twist: (6,), body twist at the stamp, rad/s and m/s, or None. Near a
    singularity it is the mean since the last pose. covariance: (6, 6), of the pose in body
    coordinates, rad and m; None where noise or pose are not known. jacobian: (n, 6),
    d(reading)/d(body twist) there, by rad and m. characteristic_length: m. solve_time: s, of
    wall-clock time, for pose and judgement. motion: of the legs; None for the first sample. gain:
    (6, n), twist by rates of the legs; None near a singularity. rates: (n,), the measured ones
    that the twist comes from, or None.
    """

    stamp_ns: int
    lengths: Array
    pose: Array
    status: Status
    iterations: int
    start: Start
    residuals: Array
    fit: BiasFit | None
    flags: Flag
    legs: tuple[int, ...]
    used: tuple[int, ...]
    twist: Array | None
    covariance: Array | None
    jacobian: Array
    characteristic_length: float
    solve_time: float
    motion: LegMotions | None = None
    gain: Array | None = None
    rates: Array | None = None

    @property
    def residual(self) -> float:
        """Return the largest absolute residual, m or rad."""
        return float(np.abs(self.residuals).max())

    @property
    def converged(self) -> bool:
        """Return whether there is a pose."""
        return self.status is Status.CONVERGED

    @property
    def smallest_singular_value(self) -> float:
        """Return the smallest singular value of J of the legs used, scaled: 0 if singular."""
        used = list(self.used) if self.used else slice(None)
        return smallest_singular_value(self.jacobian[used], self.characteristic_length)


class RedundantTracker:
    """
    Tracks the pose of seven lengths or more; use one in each thread.

    Each solve starts from the last pose, moved on at its twist. A leg whose bias alone explains
    the residual is named and left out.
    """

    def __init__(
            self, geometry: RedundantGeometry, home: ArrayLike,
            config: RedundantConfig = RedundantConfig()) -> None:
        """Take a geometry, and the home pose (4, 4) of the platform in the base, m."""
        self.geometry, self.config = geometry, config
        self.home = se3.require_pose('home', checks.as_array('home', home, (4, 4))).copy()
        self._solver = RedundantSolver(geometry)
        self._monitor = BiasMonitor(self._solver, config.memory, config.least_bias)
        self._filter = LegMotionFilter(self._solver)
        self._assumed = ASSUMED_NOISE / float(np.median(
            self._solver.deviations * geometry.drive_scales))
        self._leaves_out = config.leave_out and bool(geometry.leg_noise.any())
        self._units = np.array([geometry.characteristic_length] * 3 + [1.0] * 3)  # m of a twist
        self._squares = self._units ** 2
        self._largest_weight = float(self._solver.weights.max())
        self._every = tuple(range(len(self._solver.weights)))
        positive = np.array([leg.positive for leg in geometry.leg_types])
        least, most = geometry.length_limits.T
        self._most = most.tolist()
        self._least = np.where(
            positive & (least == 0.0), 0.0, np.nextafter(least, -math.inf)).tolist()
        self._timeline = Timeline()
        self._last: RedundantPose | None = None
        self._read: Array = np.empty(0)  # the readings of the sample
        self._moved: Array | None = None  # what their legs went since then

    @property
    def last(self) -> RedundantPose | None:
        """Return the last good pose."""
        return self._last

    def reset(self) -> None:
        """Forget motion, noise and faults: the next sample starts from home."""
        self._timeline.reset()
        self._forget()

    def _forget(self) -> None:
        self._monitor.reset()
        self._filter.reset()
        self._last = None

    def track(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None = None
    ) -> RedundantPose:
        """
        Return the pose of lengths (n,), m or rad, taken at a time in ns.

        rates: (n,), m/s or rad/s, where they are measured. Raises ShapeError, NotFiniteError,
        LimitError for lengths beyond the limits, and StampError for a time that is not after the
        last.
        """
        count = self._solver.weights.shape
        given = checks.as_array('lengths', lengths, count).copy()
        if not all(map(_is_within, self._least, given.tolist(), self._most)):
            self.geometry.require_values(given)
            self.geometry.require_within_limits(given)
        measured = None if rates is None else checks.as_array('rates', rates, count)
        started = self._last is not None
        if not self._timeline.follows(stamp_ns):
            self._forget()
        solver, last, began = self._solver, self._last, time.perf_counter()
        self._read, self._moved = given, self._moved_on(stamp_ns)
        if self._moved is not None:
            given = given + self._moved
        pose, status, iterations, start = self._solve(stamp_ns, given)
        flags = Flag.RESTARTED if started and start is Start.HOME else Flag(0)
        if status is not Status.CONVERGED:
            return RedundantPose(
                stamp_ns, given, pose, status, iterations, start, solver.errors.copy(), None,
                flags, (), (), None, None, solver.jacobian(), self.geometry.characteristic_length,
                time.perf_counter() - began)
        square = solver.project()
        residuals = solver.residuals.copy()
        twist, gap = self._motion(stamp_ns, last)
        others = solver.leave_one_out(
            given, pose, twist, gap, last is not None, self._monitor.doubts(square))
        fit = self._monitor.judge(stamp_ns, square, others)
        weights = self._weights(self._left_out(fit, others))
        if fit.leg is not None and weights is not solver.weights:
            pose, status, more, _ = solver.solve_checked(
                given, solver.pose_without(fit.leg), weights)
            iterations += more
        return self._report(stamp_ns, given, pose, status, iterations, start, residuals, fit,
                            flags, weights, measured, began)

    def _moved_on(self, stamp_ns: int) -> Array | None:
        """Return how far legs (n,) are expected to go from their readings' time to the stamp."""
        last = self._last
        if last is None or last.motion is None or last.motion.latency is None:
            return None
        gap = 1e-9 * (stamp_ns - last.stamp_ns)
        if gap > PREDICTION_LIMIT:
            return None
        return last.motion.at(gap).lengths - last.motion.after(gap).lengths

    def _left_out(self, fit: BiasFit, others: Array) -> int | None:
        """Return the leg to leave out of a pose: one that was named, if this is better."""
        leg = fit.leg
        if leg is None or not self._leaves_out or not self._monitor.agree_without(leg, others):
            return None
        return leg if self._is_worse(leg, fit.bias) else None

    def _weights(self, leg: int | None) -> Array:
        """Return the weights of all legs, or of all but one."""
        weights = self._solver.weights
        if leg is not None:
            weights = weights.copy()
            weights[leg] = 0.0
        return weights

    def _used(self, weights: Array) -> tuple[int, ...]:
        """Return the indices of the legs that count."""
        return self._every if weights is self._solver.weights else tuple(
            np.flatnonzero(weights).tolist())

    def _is_worse(self, leg: int, bias: float) -> bool:
        """Return whether the pose of all legs is expected to be worse than that without one."""
        solver, weights, jacobian = self._solver, self._weights(leg), self._solver.jacobian()
        every, others = solver.covariance(solver.weights), solver.covariance(weights)
        if every is None or others is None or self._is_near(others, jacobian, weights):
            return False
        moved = self._units * (every @ jacobian[leg]) * solver.weights[leg] * bias
        return float((others.diagonal() - every.diagonal()) @ self._squares) < float(
            moved @ moved)

    def _motion(self, stamp_ns: int, last: RedundantPose | None) -> tuple[Array, float]:
        """Return the twist of the last pose and the time since then, s."""
        if last is None:
            return AT_REST, 0.0
        gap = 1e-9 * (stamp_ns - last.stamp_ns)
        return (AT_REST, 0.0) if last.twist is None or gap > PREDICTION_LIMIT else (
            last.twist, gap)

    def _solve(self, stamp_ns: int, lengths: Array) -> tuple[Array, Status, int, Start]:
        """Return the pose of all legs, near the last pose or else near home."""
        if self._last is not None:
            pose, status, iterations, _ = self._solver.solve_checked(
                lengths, self._last.pose, self._solver.weights,
                *self._motion(stamp_ns, self._last))
            if status is Status.CONVERGED:
                return pose, status, iterations, Start.PREDICTED
        pose, status, iterations, _ = self._solver.solve_checked(
            lengths, self.home, self._solver.weights)
        return pose, status, iterations, Start.HOME

    def _report(
            self, stamp_ns: int, lengths: Array, pose: Array, status: Status, iterations: int,
            start: Start, residuals: Array, fit: BiasFit, flags: Flag, weights: Array,
            rates: Array | None, began: float) -> RedundantPose:
        """Return the outcome of a sample that was solved."""
        legs: tuple[int, ...] = ()
        if not fit.consistent:
            flags |= Flag.SENSOR_DISAGREES
        if fit.leg is not None:
            legs = (fit.leg,)
            flags |= Flag.LEG_BIASED if fit.lasting else Flag.LEG_OUTLIER
        covariance, jacobian = self._solver.covariance(weights), self._solver.jacobian()
        near = self._is_near(covariance, jacobian, weights)
        if near:
            flags |= Flag.NEAR_SINGULARITY
        motion = self._follow(stamp_ns, lengths, weights, fit.noise)
        gain = None if near or covariance is None else gain_of(covariance, jacobian, weights)
        later = None if motion is None else motion.since()
        if later is not None and rates is not None:
            rates = rates + later.rates
        wrong = () if rates is None or motion is None else self._contradicted(rates, motion)
        if wrong:
            flags, legs = flags | Flag.RATES_CONTRADICT, tuple(sorted({*legs, *wrong}))
        measured = None if wrong or rates is None or not rates.any() else rates.copy()
        twist = self._twist(stamp_ns, pose, gain, motion, measured)
        of_readings = None if covariance is None or math.isnan(fit.noise) else (
            fit.noise ** 2 * covariance)
        if of_readings is not None and gain is not None and later is not None:
            of_readings = of_readings + gain * later.length_variances @ gain.T
        outcome = RedundantPose(
            stamp_ns, lengths, pose, status, iterations, start, residuals, fit, flags, legs,
            self._used(weights), twist, of_readings, jacobian,
            self.geometry.characteristic_length, time.perf_counter() - began, motion, gain,
            None if gain is None else measured)
        if status is Status.CONVERGED:
            self._last = outcome
        return outcome

    def _is_near(self, covariance: Array | None, jacobian: Array, weights: Array) -> bool:
        """
        Return whether the legs that count are near a singularity, by J of all.

        A bound decides mostly: 1/s^2 is no greater than |J^+|_F^2.
        """
        least, warning = self.geometry.characteristic_length, self.config.singularity_warning
        if covariance is not None:
            spread = float(covariance.diagonal() @ self._squares) * self._largest_weight
            if spread * warning ** 2 < least ** 2:
                return False
        return smallest_singular_value(jacobian[weights > 0.0], least) <= warning

    def _follow(
            self, stamp_ns: int, lengths: Array, weights: Array, noise: float
    ) -> LegMotions | None:
        """Return the motion of the legs; one that is left out reads what the pose says."""
        readings = lengths if weights is self._solver.weights else np.where(
            weights > 0.0, lengths, lengths - self._solver.errors)
        if self._moved is not None:  # the filter follows them as they were read
            readings = np.where(weights > 0.0, self._read, readings - self._moved)
        return self._filter.follow(
            stamp_ns, readings, self._assumed if math.isnan(noise) else noise)

    def _contradicted(self, rates: Array, motion: LegMotions) -> tuple[int, ...]:
        """Return the legs whose measured rates (n,) no motion of their lengths has (14.60)."""
        part = motion.parts[0]
        limits = RATE_NOISE * motion.noise / part.period + RATE_STEPS * (
            ACCELERATION * part.period / self.geometry.drive_scales)
        wrong = np.abs(rates - motion.rates) > limits
        return tuple(np.flatnonzero(wrong).tolist()) if part.samples > RATE_STEPS else ()

    def _twist(
            self, stamp_ns: int, pose: Array, gain: Array | None, motion: LegMotions | None,
            rates: Array | None) -> Array | None:
        """Return the twist of measured rates, of the lengths, or the mean since the last pose."""
        if gain is not None and rates is not None:
            return np.asarray(gain @ rates)
        if gain is not None and motion is not None:
            return np.asarray(gain @ motion.rates)
        if self._last is None:
            return None
        twist = np.empty(6)
        mean_twist(self._last.pose, pose, 1e-9 * (stamp_ns - self._last.stamp_ns), twist)
        return twist


def _is_within(least: float, value: float, most: float) -> bool:
    return least < value <= most
