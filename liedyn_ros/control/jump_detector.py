# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Detects teleports: a position that a machine could not have reached in the elapsed time."""

from collections.abc import Sequence
import math

MAX_ACCELERATION = 50.0  # m/s^2, more than the actuators of such machines give


class JumpDetector:
    """
    Compares each position (m, any dimension) with the one before, by the speeds at both.

    `alone` tells of a jump that the position before, a jump too, does not confirm: a stray one, or
    that of a second publisher, which is no place of the machine.
    """

    def __init__(self, tolerance: float) -> None:
        """Start without a position; two may always differ by the tolerance, m."""
        self._tolerance = tolerance
        self.reset()

    def reset(self) -> None:
        """Forget the position: the next may be any."""
        self._last: tuple[int, Sequence[float], float] | None = None
        self._doubted: tuple[int, Sequence[float], float] | None = None
        self.alone = True

    def jumped(self, stamp_ns: int, position: Sequence[float], speed: float) -> bool:
        """Return whether no motion leads to a position with a speed (m/s), which is left out."""
        here = stamp_ns, position, speed
        if self._last is None or self._leads(self._last, here):
            self._last, self._doubted = here, None
            return False
        self.alone = self._doubted is None or not self._leads(self._doubted, here)
        self._doubted = here
        return True

    def _leads(self, last: tuple[int, Sequence[float], float],
               here: tuple[int, Sequence[float], float]) -> bool:
        """Return whether a motion leads from a place to another."""
        dt = 1e-9 * (here[0] - last[0])
        reach = self._tolerance + dt * (min(here[2], last[2]) + dt * MAX_ACCELERATION)
        return math.dist(here[1], last[1]) <= reach
