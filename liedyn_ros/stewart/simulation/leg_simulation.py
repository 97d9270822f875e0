# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg lengths as sensors would report them along a trajectory: with noise and with dropouts."""

from dataclasses import dataclass

import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.platform import kinematics
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.simulation.trajectory import SmoothTrajectory

# Samples computed at once: numpy's overhead is then small beside a sample's cost
BLOCK_SAMPLES = 200


@dataclass(frozen=True)
class LegSample:
    """
    One sample: time (s), true pose (4, 4), true body twist (6,), n leg lengths (n,) m with noise.

    leg_rates: (n,), m/s, true. dropped: whether the sensors fail to report it. forces: (n,), N,
    of the drives; None where nothing drives them.
    """

    time: float
    pose: Array
    twist: Array
    lengths: Array
    leg_rates: Array
    dropped: bool
    forces: Array | None = None


class LegSimulation:
    """
    Samples of a trajectory at a fixed rate, taken in order; the same for the same seed.

    >>> motion = SmoothTrajectory(home, [0.01] * 6, [0.2] * 6, [0.0] * 6, 1.0)
    >>> simulation = LegSimulation(geometry, motion, rate=100.0, length_noise=1e-5, seed=1)
    >>> simulation.take().lengths.shape
    (6,)
    """

    def __init__(
            self, geometry: StewartGeometry, trajectory: SmoothTrajectory, rate: float, *,
            length_noise: float = 0.0, dropout_probability: float = 0.0, seed: int = 0) -> None:
        """
        Take the platform, its motion, the rate (Hz) and the noise's standard deviation (m).

        Args:
            geometry: of the platform.
            trajectory: its motion.
            rate: Hz.
            length_noise: standard deviation, m.
            dropout_probability: of a sample.
            seed: of the noise.

        Raises:
            LimitError: where one is outside its range.
        """
        for name, value, most in (('rate', rate, np.inf), ('length_noise', length_noise, np.inf),
                                  ('dropout_probability', dropout_probability, 1.0)):
            if not 0.0 <= value <= most or not np.isfinite(value) or (name, value) == ('rate', 0):
                raise LimitError(f'{name}: expected a number from 0 to {most}, got {value}')
        self._geometry, self._trajectory, self._rate = geometry, trajectory, rate
        self._noise, self._dropout = length_noise, dropout_probability
        self._rng = np.random.default_rng(checks.as_seed('seed', seed))
        self._block: list[tuple[Array, ...]] = []
        self._next = 0

    def take(self) -> LegSample:
        """
        Return the next sample.

        Returns:
            its time (s), pose, twist, lengths and rates, and whether it was lost.

        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> LegSimulation(geometry, motion, 100.0).take().time
        0.0
        """
        if not self._block:
            self._block = self._compute(self._next)[::-1]
            self._next += BLOCK_SAMPLES
        time, pose, twist, lengths, dropped = self._block.pop()
        return LegSample(float(time), pose, twist, lengths,
                         kinematics.leg_rates(self._geometry, pose, twist), bool(dropped))

    def _compute(self, first: int) -> list[tuple[Array, ...]]:
        """Return a block's samples but for their rates, of which many are not taken."""
        times = np.arange(first, first + BLOCK_SAMPLES) / self._rate
        poses, twists = self._trajectory.pose(times), self._trajectory.twist(times)
        lengths = kinematics.leg_lengths(self._geometry, poses)
        noisy = lengths + self._rng.normal(0.0, self._noise, lengths.shape)
        dropped = self._rng.random(BLOCK_SAMPLES) < self._dropout
        return [*zip(times, poses, twists, noisy, dropped)]
