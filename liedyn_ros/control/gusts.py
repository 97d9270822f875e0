# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Wind: a mean force, and gusts about it."""

import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array


class Gusts:
    """Wind as a force (3,), N: a mean, and gusts in each direction as a first-order process."""

    def __init__(self, rng: np.random.Generator, mean: ArrayLike, gust: float, time: float = 0.5
                 ) -> None:
        """Take the mean (3,) and the deviation of gusts, N, and their time constant, s."""
        self._mean = as_array('mean', mean, (3,))
        self._rng, self._gust, self._time = rng, gust, time
        self._now: Array = np.zeros(3)

    @classmethod
    def from_anywhere(cls, rng: np.random.Generator, mean: float, gust: float) -> 'Gusts':
        """Return wind of a mean (N) in a random level direction."""
        way = rng.uniform(0.0, 2.0 * np.pi)
        return cls(rng, [mean * np.cos(way), mean * np.sin(way), 0.0], gust)

    def step(self, dt: float) -> Array:
        """Return the force dt (s) later."""
        keep = math.exp(-dt / self._time)
        new = self._gust * math.sqrt(1.0 - keep**2) * self._rng.normal(size=3)
        self._now = keep * self._now + new
        return np.asarray(self._mean + self._now)
