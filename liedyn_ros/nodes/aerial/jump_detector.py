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

"""Detects teleports: a position the vehicle could not have reached in the elapsed time."""

import math

from nav_msgs.msg import Odometry

from liedyn_ros.ros import conversions

TOLERANCE = 0.1  # m, by which two positions may always differ
MAX_ACCELERATION = 50.0  # m/s^2, more than the rotors of such a vehicle give


class JumpDetector:
    """Compares each position (m) with the one before, by the speeds (m/s) at both."""

    def __init__(self) -> None:
        """Start without a position."""
        self.reset()

    def reset(self) -> None:
        """Forget the position: the next may be any."""
        self._last: tuple[int, tuple[float, float, float], float] | None = None

    def jumped(self, odometry: Odometry) -> bool:
        """Take the next position; return whether the vehicle cannot have flown there."""
        at, v = odometry.pose.pose.position, odometry.twist.twist.linear
        stamp_ns, position = conversions.nanoseconds(odometry.header.stamp), (at.x, at.y, at.z)
        speed = math.hypot(v.x, v.y, v.z)
        last, self._last = self._last, (stamp_ns, position, speed)
        if last is None:
            return False
        dt = 1e-9 * (stamp_ns - last[0])
        reach = TOLERANCE + dt * (max(speed, last[2]) + dt * MAX_ACCELERATION)
        return math.dist(position, last[1]) > reach
