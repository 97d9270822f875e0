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
    """Compares each position (m, any dimension) with the one before, by the speeds at both."""

    def __init__(self, tolerance: float) -> None:
        """Start without a position; two may always differ by the tolerance, m."""
        self._tolerance = tolerance
        self.reset()

    def reset(self) -> None:
        """Forget the position: the next may be any."""
        self._last: tuple[int, Sequence[float], float] | None = None

    def jumped(self, stamp_ns: int, position: Sequence[float], speed: float) -> bool:
        """Take the next position and speed (m/s); return whether no motion leads there."""
        last, self._last = self._last, (stamp_ns, position, speed)
        if last is None:
            return False
        dt = 1e-9 * (stamp_ns - last[0])
        reach = self._tolerance + dt * (min(speed, last[2]) + dt * MAX_ACCELERATION)
        return math.dist(position, last[1]) > reach
