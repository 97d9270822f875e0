# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The stage of the redundant sensor: it shows faults that the six lengths alone cannot show.

A redundant sensor measures some function of the pose. Its residual at the pose of the lengths is
zero except for noise. A bias of a leg moves the pose and with it the residual. The direction of
that change names the leg. An orientation gives three residuals and can name a leg; a seventh
length gives one, which says that something is wrong but not where.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.lie import so3
from liedyn_ros.lie.arrays import run
from liedyn_ros.lie.kernels import batch
from liedyn_ros.lie.kernels.motion import move_pose
from liedyn_ros.stewart.platform.state import PlatformState
from liedyn_ros.stewart.tracking.tracker import TrackedPose

MAX_STATISTIC = 30.0  # of a residual squared over its variance, less than 1e-5 by chance
MIN_LEAD = 10.0  # lead in the explained statistic of the named leg over any other
# Deviations of a reading by which its pose may move until then: more is a jump
MAX_MOVE_DEVIATIONS = 100.0
# Ratio of the distance of two poses to the motion between lengths and reading
MIN_SEPARATION_RATIO = 4.0
# Of an orientation, by the body twist
ORIENTATION_JACOBIAN = np.hstack((-np.eye(3), np.zeros((3, 3))))


class Sensor(Protocol):
    """A redundant sensor: its residual, the derivative by the pose, its own variance."""

    def residual(self, pose: Array, reading: ArrayLike) -> Array:
        """Return reading less prediction at a pose (4, 4), (n,)."""

    def derivative(self, pose: Array) -> Array:
        """Return the change of the residual by the pose's body twist, (n, 6)."""

    @property
    def variance(self) -> float:
        """Return the variance of each residual."""


@dataclass(frozen=True)
class OrientationSensor:
    """The platform's orientation in the base: an IMU's. deviation: rad, about each axis."""

    deviation: float

    def __post_init__(self) -> None:
        """Refuse a deviation that is not positive."""
        checks.as_positive('deviation', self.deviation)

    def residual(self, pose: Array, reading: ArrayLike) -> Array:
        """Return log(R^T R_measured), (3,), rad; reading: (3, 3), platform in base."""
        turn = so3.require_rotation('pose', pose[:3, :3]).T @ so3.require_rotation(
            'reading', reading)
        return run(batch.so3_log, turn, 2, (3,))

    def derivative(self, pose: Array) -> Array:
        """Return (3, 6): a rotation of the pose reduces the residual."""
        return ORIENTATION_JACOBIAN.copy()

    @property
    def variance(self) -> float:
        """Return rad^2."""
        return self.deviation ** 2


@dataclass(frozen=True)
class LengthSensor:
    """A seventh length: base (3,) m in the base frame, platform (3,) m; deviation: m."""

    base: Array
    platform: Array
    deviation: float

    def __post_init__(self) -> None:
        """Check the parts."""
        checks.as_positive('deviation', self.deviation)
        for name in ('base', 'platform'):
            object.__setattr__(self, name, checks.as_array(name, getattr(self, name), (3,)))

    def residual(self, pose: Array, reading: ArrayLike) -> Array:
        """Return the length (m) less that of a pose, (1,)."""
        return checks.as_numbers('reading', reading) - np.linalg.norm(self._leg(pose)).reshape(1)

    def derivative(self, pose: Array) -> Array:
        """Return (1, 6): the negative unit wrench along the leg (11.4)."""
        leg = self._leg(pose)
        x, y, z = (pose[:3, :3].T @ leg / np.linalg.norm(leg)).tolist()
        a, b, c = self.platform.tolist()
        return np.array([[c * y - b * z, a * z - c * x, b * x - a * y, -x, -y, -z]])

    @property
    def variance(self) -> float:
        """Return m^2."""
        return self.deviation ** 2

    def _leg(self, pose: Array) -> Array:
        return np.asarray(pose[:3, :3] @ self.platform + pose[:3, 3] - self.base)


class SensorFit(NamedTuple):
    """
    How a redundant sensor fits six lengths.

    statistic: the averaged residual squared over its variance; about the number of residuals
    where all is well. consistent: whether it is below MAX_STATISTIC. leg: the index of the leg
    whose bias explains it, or None. bias: m, of that leg, reading less truth; NaN without one.

    >>> tracked = MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home))
    >>> tracked.fit is None  # without a redundant sensor
    True
    """

    statistic: float
    consistent: bool
    leg: int | None
    bias: float


class SensorMonitor:
    """Averages a redundant sensor's residual over time and judges it."""

    def __init__(self, sensor: Sensor, time: float) -> None:
        """
        Take the sensor and the time to average over (s).

        Averaging reduces the legs' noise but not the sensor's own, which drifts.
        """
        checks.as_positive('time', time)
        self.sensor = sensor
        self._time = time
        self.reset()

    def reset(self) -> None:
        """Forget the average."""
        self._mean: Array | None = None
        self._share = 1.0  # variance of the mean over that of one sample
        self._stamp_ns = 0

    def compare(
            self, tracked: TrackedPose, reading: ArrayLike, reading_ns: int, noise: float | Array
    ) -> SensorFit | None:
        """
        Return how a reading at its time (ns) fits a tracked pose, moved there at its twist.

        noise: m or rad, standard deviation of a leg's reading, or of each (6,).

        None where there is no twist to move it with, or one that is a jump.
        """
        pose, share = tracked.pose, 0.0
        if lag := 1e-9 * (tracked.stamp_ns - reading_ns):
            if tracked.twist is None or self._way(pose, tracked.twist, lag) > (
                    MAX_MOVE_DEVIATIONS * math.sqrt(self.sensor.variance)):
                return None
            pose = _moved(pose, tracked.twist, -lag)
            share = lag / tracked.twist_span if tracked.twist_span else 0.0
        # The twist being a difference, the moved pose's error is (1 - share) d + share d_before.
        return self.judge_pose(
            tracked.stamp_ns, pose, reading, tracked.state, noise,
            (1.0 - share) ** 2 + share ** 2)

    def judge_pose(
            self, stamp_ns: int, pose: Array, reading: ArrayLike, state: PlatformState,
            noise: float | Array, spread: float = 1.0) -> SensorFit:
        """
        Return how a reading fits the pose of the lengths at the same time (ns).

        state: the platform's at the pose, or at that of the lengths. noise: m or rad, standard
        deviation of a leg's reading, or of each (6,). spread: ratio of the pose's variance to the
        variance by that noise.
        """
        residual = self.sensor.residual(pose, reading)
        if self._mean is None or stamp_ns <= self._stamp_ns:
            self._mean, self._share = residual, spread
        else:
            gain = -math.expm1(-1e-9 * (stamp_ns - self._stamp_ns) / self._time)
            self._mean = self._mean + gain * (residual - self._mean)
            self._share = (1.0 - gain) ** 2 * self._share + gain ** 2 * spread
        self._stamp_ns = stamp_ns
        return self._judge(pose, state, noise, self._mean)

    def preference(
            self, tracked: TrackedPose, reading: ArrayLike, reading_ns: int
    ) -> Callable[[Array, Array], bool | None]:
        """Return a function: whether a reading at its time (ns) fits the second of two poses."""
        lag = 1e-9 * (tracked.stamp_ns - reading_ns)
        return partial(self._prefers_second, reading=reading, twist=tracked.twist, lag=lag)

    def _prefers_second(
            self, first: Array, second: Array, reading: ArrayLike, twist: Array | None, lag: float
    ) -> bool | None:
        """
        Return whether a reading fits the second of two poses better; None if it is not decided.

        twist: of the first. lag: s, from the reading to the poses. The second has another twist,
        so two poses are compared only if they are much further apart than the first has moved.
        """
        way = 0.0
        if lag:
            if twist is None:
                return None
            way = self._way(first, twist, lag)
            first, second = _moved(first, twist, -lag), _moved(second, twist, -lag)
        a, b = (self.sensor.residual(pose, reading) for pose in (first, second))
        if np.linalg.norm(a - b) < MIN_SEPARATION_RATIO * way:
            return None
        margin = float(a @ a - b @ b) / self.sensor.variance
        return None if abs(margin) < MAX_STATISTIC else margin > 0.0

    def _way(self, pose: Array, twist: Array, seconds: float) -> float:
        """Return the change of the sensor's reading of a pose in a time (s) at a twist."""
        return float(np.linalg.norm(seconds * self.sensor.derivative(pose) @ twist))

    def _judge(
            self, pose: Array, state: PlatformState, noise: float | Array, residual: Array
    ) -> SensorFit:
        effect = self.sensor.derivative(pose) @ state.inverse  # (n, 6), by a length
        by_noise = effect * noise
        covariance = self._share * by_noise @ by_noise.T
        covariance.flat[::len(residual) + 1] += self.sensor.variance
        weighted = np.asarray(np.linalg.solve(covariance, residual), dtype=float)
        statistic = float(residual @ weighted)
        if statistic < MAX_STATISTIC:
            return SensorFit(statistic, True, None, math.nan)
        leg, bias = self._explain(effect, covariance, weighted, statistic)
        return SensorFit(statistic, False, leg, bias)

    @staticmethod
    def _explain(
            effect: Array, covariance: Array, weighted: Array, statistic: float
    ) -> tuple[int | None, float]:
        """Return the leg whose bias alone explains the residual best, if none other can."""
        size = np.einsum('ij,ij->j', effect, np.linalg.solve(covariance, effect))
        match = effect.T @ weighted
        explained = match ** 2 / size
        first, second = np.argsort(explained)[:-3:-1]
        if (len(covariance) < 2 or explained[first] - explained[second] < MIN_LEAD
                or statistic - explained[first] > MAX_STATISTIC):
            return None, math.nan
        return int(first), float(match[first] / size[first])


def _moved(pose: Array, twist: Array, seconds: float) -> Array:
    moved = np.empty((4, 4))
    move_pose(pose, twist, seconds, moved)
    return moved
