# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A pose and a twist with their common covariance, at the time of a sample and near it."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.geometry_covariance import errors_by_geometry
from liedyn_ros.stewart.platform.kernels import inverse_rates as kernels
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter, PlatformState
from liedyn_ros.stewart.solver.pose_solver import PoseSolver
from liedyn_ros.stewart.tracking.legs.monitor import LegEstimate
from liedyn_ros.stewart.tracking.monitored_pose import MonitoredPose

MAX_RATE_DEVIATIONS = 2.0  # deviations by which two estimates of a rate may differ
MAX_DEVIATION = 0.1  # characteristic lengths, of a drive's end: beyond it nothing is known
AT_REST = np.zeros(6)


def of_measured(
        geometry: StewartGeometry, state: PlatformState, twist: ArrayLike, of_pose: Array,
        of_rates: Array, shared: Array | None = None) -> tuple[Array, Array]:
    """
    Return the covariance of a body twist J^-1 Ldot of leg rates, and of pose with twist (14.26).

    of_pose: (6, 6), the covariance of the pose of the state. of_rates: (6, 6), the covariance of
    the twist (6,), rad/s and m/s, by the rates' noise. shared: (6, 6), the symmetric covariance of
    the two errors; None where they are independent. The second result (6, 6) is the covariance of
    the pose's error (rows) with the twist's. Raises SingularError.
    """
    inverse = state.inverse
    changes = np.empty(inverse.T.shape)
    kernels.jacobian_change(
        geometry.table(), np.array(state.pose), np.array(checks.as_numbers('twist', twist)),
        changes.reshape(-1), np.empty(changes.size))
    by_pose = -inverse @ changes  # d(twist of fixed rates)/d(pose)
    cross = of_pose @ by_pose.T
    twice = of_rates + by_pose @ cross
    if shared is None:
        return twice, cross
    return twice + shared @ by_pose.T + by_pose @ shared, cross + shared


class GeometryNoise:
    """Uncertainty of a calibrated geometry; owns its workspace: one for each thread."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry with its calibration_covariance. Raises LimitError without one."""
        if geometry.calibration_covariance is None:
            raise LimitError('geometry: expected one with a calibration_covariance, got none')
        self._geometry, self._meter = geometry, PlatformMeter(geometry)
        self._errors = geometry.calibration_covariance

    def covariance(self, pose_base_platform: ArrayLike, twist: ArrayLike = AT_REST) -> Array:
        """
        Return how a pose and then its body twist vary together, (12, 12) (14.30).

        pose_base_platform: (4, 4), m. twist: (6,), rad/s and m/s. The error is the same at every
        sample near this pose: no filter makes it less. Raises ShapeError, NotFiniteError, and
        SingularError where the lengths do not determine the pose.
        """
        effects = self._effects(self._meter.measure(pose_base_platform), np.array(
            checks.as_array('twist', twist, (6,))))
        return np.asarray(effects @ self._errors @ effects.T)

    def _effects(self, state: PlatformState, twist: Array) -> Array:
        """
        Return d(pose, twist)/d(errors), 12 rows, by J(T) V = s m'.

        delta x = -J^-1 G delta theta, delta V = J^-1 (delta s m' - delta_theta(J V) - B delta x),
        with B = d(J V)/d(pose).
        """
        inverse, jacobian = state.inverse, state.jacobian
        n, change = len(jacobian), np.empty_like(jacobian)
        kernels.jacobian_change(self._geometry.table(), state.pose, twist, change.reshape(-1),
                                np.empty(change.size))
        width = len(self._errors) // n
        values = np.stack((leg_lengths(self._geometry, state.pose), jacobian @ twist))
        worth, rates = errors_by_geometry(
            np.stack((jacobian, change)), state.pose[None], values, width)
        each, rates = np.arange(n), rates.reshape(n, n, width)
        rates[each, each, 3:6] -= np.cross(jacobian[:, 3:], twist[:3])
        rates[each, each, 6] = 0.0
        moved = inverse @ worth
        return np.vstack((moved, inverse @ (rates.reshape(n, -1) - change @ moved)))


def pose_covariance(geometry: StewartGeometry, pose_base_platform: ArrayLike,
                    leg_noise: ArrayLike | None = None) -> Array:
    """
    Return the covariance of one pose, solved from lengths with noise, as PoseSolver solves it.

    That of a calibrated geometry is in it, as in MotionEstimator's, which has that of a motion.

    Args:
        geometry: a StewartGeometry.
        pose_base_platform: pose (4, 4), m.
        leg_noise: standard deviations of the readings, (n,) or one number; m, of cranks rad. By
            default those of the geometry.

    Returns:
        (6, 6) in body twist coordinates, rad and m.

    Raises:
        LimitError: for noise that is not above 0.
        SingularError: where the lengths do not determine the pose.
        LiedynError: for another shape, or a matrix that is no pose.

    >>> np.sqrt(pose_covariance(geometry, home, 1e-4)[5, 5]) < 1e-4  # m, along z
    np.True_
    """
    geometry = require_kind(
        'geometry', geometry, StewartGeometry, 'as load_geometry returns').readings
    given = geometry.leg_noise if leg_noise is None else checks.as_numbers('leg_noise', leg_noise)
    noise = checks.as_array('leg_noise', np.broadcast_to(
        given, geometry.leg_noise.shape) if given.ndim == 0 else given, geometry.leg_noise.shape)
    if not (noise > 0.0).all():
        raise LimitError(f'leg_noise: expected numbers above 0, got {noise.tolist()}',
                         names=('leg_noise',), expected=0.0, got=float(noise.min()))
    state = PlatformMeter(geometry).measure(pose_base_platform)
    of_pose = _square(state, noise)
    if geometry.calibration_covariance is None:
        return of_pose
    return np.asarray(of_pose + GeometryNoise(geometry).covariance(state.pose)[:6, :6])


def in_fixed_axes(covariance: ArrayLike, pose_base_platform: ArrayLike) -> Array:
    """
    Return a pose's covariance as REP 103 wants it: x, y, z, rotation about x, y, z of the base.

    covariance: (6, 6), in body twist coordinates. pose_base_platform: (4, 4), m. Small rotations
    about fixed axes are the base coordinates of the rotation vector.
    """
    rotation = checks.as_numbers('pose_base_platform', pose_base_platform)[:3, :3]
    turn = np.zeros((6, 6))
    turn[:3, 3:] = turn[3:, :3] = rotation
    return turn @ checks.as_numbers('covariance', covariance) @ turn.T


def linear_first(covariance: ArrayLike) -> Array:
    """
    Return the covariance of a twist with the linear part first, as messages have it.

    Args:
        covariance: (6, 6), angular part first.

    Returns:
        (6, 6).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> linear_first(np.diag([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])).diagonal()
    array([2., 2., 2., 1., 1., 1.])
    """
    return np.roll(checks.as_numbers('covariance', covariance), 3, axis=(0, 1))


@dataclass(frozen=True)
class MotionEstimate:
    """
    An estimate of a moving frame at one time.

    pose: (4, 4), m. twist: (6,), body twist, rad/s and m/s. covariance: (12, 12), of the pose's
    error d in T exp(d) and then of the twist's; None where it is not known.

    >>> tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, home)
    >>> _, second = (tracker.track(k * 10_000_000, lengths) for k in range(2))
    >>> MotionEstimator(geometry).of(second).twist.shape
    (6,)
    """

    pose: Array
    twist: Array
    covariance: Array | None = None

    @property
    def pose_covariance(self) -> Array | None:
        """Return the pose's part, (6, 6) in body twist coordinates, rad and m."""
        return None if self.covariance is None else self.covariance[:6, :6]

    @property
    def twist_covariance(self) -> Array | None:
        """Return the twist's part, (6, 6), rad/s and m/s."""
        return None if self.covariance is None else self.covariance[6:, 6:]


def joint_covariance(pose: Array, twist: Array, cross: Array | None = None) -> Array:
    """Return (12, 12) of a pose's and a twist's covariance; cross: of pose (rows) with twist."""
    mixed = np.zeros((6, 6)) if cross is None else cross
    return np.block([[pose, mixed], [mixed.T, twist]])


class MotionEstimator:
    """
    Motions of monitored poses with their covariance; use one in each thread.

    The covariance is that of the legs' noise, given or estimated (NoiseReport.source), and of the
    motion between samples, and of a calibrated geometry (14.30). Biases and a wrong branch are not
    in it, nor is a wrong geometry without its covariance. Of redundant lengths the noise of the
    legs stands for that.

    >>> first = MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home))
    >>> MotionEstimator(geometry).pose_covariance(first) is None  # without the noise of the legs
    True
    """

    def __init__(self, geometry: StewartGeometry, rate_noise: float = 0.0) -> None:
        """
        Take the deviation of a measured rate, m/s or rad/s; 0 where it is not known.

        Args:
            geometry: of the platform.
            rate_noise: deviation of a measured rate, m/s or rad/s; 0 where it is not known.
        """
        geometry = geometry.readings
        self._geometry, self._rate_noise = geometry, rate_noise
        self._meter, self._solver = PlatformMeter(geometry), PoseSolver(geometry)
        self._unknown = (None if geometry.calibration_covariance is None
                         else GeometryNoise(geometry))

    def pose_covariance(self, monitored: MonitoredPose) -> Array | None:
        """
        Return the covariance of a pose.

        Args:
            monitored: what MonitoredTracker.track returned.

        Returns:
            (6, 6) in body twist coordinates, rad and m; None for the first pose.

        >>> first = MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home))
        >>> MotionEstimator(geometry).pose_covariance(first) is None
        True
        """
        of_pose = self._by_legs(monitored)
        if of_pose is None or self._unknown is None:
            return of_pose
        return np.asarray(of_pose + self._unknown.covariance(monitored.pose)[:6, :6])

    def _by_legs(self, monitored: MonitoredPose) -> Array | None:
        """Return the part of the legs' noise."""
        motion = monitored.motion
        if motion is None:
            return None
        variance = (motion.caution * motion.noise) ** 2 + motion.excess ** 2
        of_pose = variance * _square(monitored.state, motion.shares / motion.scales)
        if motion.jitter and monitored.twist is not None:  # (14.28)
            of_pose += motion.jitter ** 2 * np.outer(monitored.twist, monitored.twist)
        return of_pose

    def of(self, monitored: MonitoredPose) -> MotionEstimate:
        """
        Return the motion at the stamp of a pose, with its covariance.

        A twist that is a difference of poses, as near a singularity, has no covariance.

        Args:
            monitored: what MonitoredTracker.track returned.

        Returns:
            pose, twist and covariance.

        Raises:
            LimitError: for a pose without a twist.
            SingularError: at a singularity.

        >>> tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, home)
        >>> _, second = (tracker.track(k * 10_000_000, lengths) for k in range(2))
        >>> np.abs(MotionEstimator(geometry).of(second).twist).max() < 1e-6
        np.True_
        """
        pose, twist, motion = monitored.pose, monitored.twist, monitored.motion
        if twist is None:
            raise LimitError('monitored: expected a pose with a twist, got the first one')
        of_pose = self._by_legs(monitored)
        if of_pose is None or motion is None or monitored.twist_span:
            return MotionEstimate(pose, twist)
        legs = motion.at()
        if monitored.rates is not None:
            inverse = monitored.state.inverse
            of_rates = inverse * self._rate_variances(monitored.rates, legs) @ inverse.T
            return MotionEstimate(pose, twist, self._joint(
                monitored.state, twist, of_pose, of_rates, np.zeros((6, 6))))
        square = _square(monitored.state, legs.shares / legs.scales)
        return MotionEstimate(pose, twist, self._joint(
            monitored.state, twist, of_pose, legs.rate_variance * square,
            legs.covariance * square))

    def predict(self, monitored: MonitoredPose, seconds: float) -> MotionEstimate:
        """
        Return the motion a time after a pose, or before it (14.27).

        The motion of the legs is extrapolated and the pose of the lengths solved.

        Args:
            monitored: what MonitoredTracker.track returned.
            seconds: s, negative before it.

        Returns:
            pose, twist and covariance.

        Raises:
            LimitError: where the motion is not known, or not for as long.
            ConvergenceError: where no pose has the lengths.
            SingularError: at a singularity.

        >>> config = MonitorConfig(leg_noise=1e-5, leg_acceleration=1.0)
        >>> tracker = MonitoredTracker(geometry, home, config=config)
        >>> lengths = leg_lengths(geometry, home)
        >>> last = [tracker.track(k * 10_000_000, lengths) for k in range(100)][-1]
        >>> np.allclose(MotionEstimator(geometry).predict(last, 0.01).pose, home, atol=1e-4)
        True
        """
        motion = monitored.motion
        if motion is None:
            raise LimitError('monitored: expected a pose with a motion, got the first one')
        legs = motion.at(seconds)
        deviation = math.sqrt(legs.length_variance) / (
            motion.caution * self._geometry.characteristic_length)
        if not deviation < MAX_DEVIATION:
            raise LimitError(
                f'prediction {seconds:g} s after the last sample: expected lengths known to '
                f'{MAX_DEVIATION} characteristic lengths, got {deviation:.3g} by the samples '
                'before, which may be few since a break')
        guess = monitored.pose
        if monitored.twist is not None:
            guess = se3.normalize(se3.compose(guess, se3.exp(seconds * monitored.twist)))
        values = self._meter.empty()
        solution = self._solver.solve(legs.lengths, guess, values, without=monitored.left_out)
        if not solution.converged:
            raise ConvergenceError(f'prediction {seconds:g} s after the last sample: expected '
                                   f'lengths of a pose, got {solution.status.name.lower()}')
        state = PlatformState(self._meter, solution.pose, values)
        twist = state.inverse @ legs.rates
        square = _square(state, legs.shares / legs.scales)
        return MotionEstimate(solution.pose, twist, self._joint(
            state, twist, legs.length_variance * square, legs.rate_variance * square,
            legs.covariance * square))

    def _rate_variances(self, rates: Array, legs: LegEstimate) -> Array:
        """Return the variances (n,) of measured rates, in their units squared."""
        return measured_variances(
            rates, legs.rates, legs.rate_variance * (legs.shares / legs.scales) ** 2,
            self._rate_noise)

    def _joint(
            self, state: PlatformState, twist: Array, of_pose: Array, of_rates: Array,
            shared: Array) -> Array:
        """Return (12, 12) of pose and twist; see of_measured."""
        of_twist, cross = of_measured(self._geometry, state, twist, of_pose, of_rates, shared)
        joint = joint_covariance(of_pose, of_twist, cross)
        return joint if self._unknown is None else joint + self._unknown.covariance(
            state.pose, twist)


def measured_variances(
        rates: Array, by_lengths: Array, variances: Array, given: float) -> Array:
    """
    Return the variances (n,) of measured rates (n,), in their units squared.

    by_lengths, variances: (n,), the rates by the lengths and their variances. given: the deviation
    of measured ones, or 0. What the lengths contradict is added to it. Where it is 0, the
    difference counts, with the variance by the lengths.
    """
    squares = (rates - by_lengths) ** 2
    if not given:
        return np.asarray(squares + variances)
    return np.asarray(
        given ** 2 + np.maximum(squares - MAX_RATE_DEVIATIONS ** 2 * (given ** 2 + variances),
                                0.0))


def _square(state: PlatformState, sizes: Array) -> Array:
    """Return the covariance (6, 6) of a pose by errors of readings of sizes (n,), m or rad."""
    inverse = state.inverse * sizes
    return np.asarray(inverse @ inverse.T)
