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

"""Where the machine was: what it cannot have flown to, it was put to."""

import math
from typing import NamedTuple

from nav_msgs.msg import Odometry

from liedyn_ros.ros import conversions

NEAR = 0.1  # m, that any two places may be apart
MOST_ACCELERATION = 50.0  # m/s^2, more than the rotors of such a machine give


class Place(NamedTuple):
    """A position (m) in the world, with the speed there (m/s), at a time (ns)."""

    stamp_ns: int
    position: tuple[float, float, float]
    speed: float

    @classmethod
    def of(cls, odometry: Odometry) -> 'Place':
        """Return the place of a machine."""
        at, v = odometry.pose.pose.position, odometry.twist.twist.linear
        return cls(conversions.nanoseconds(odometry.header.stamp), (at.x, at.y, at.z),
                   math.hypot(v.x, v.y, v.z))

    def leads_to(self, later: 'Place') -> bool:
        """Return whether a machine can fly from here to a place, numbers being numbers."""
        dt = 1e-9 * (later.stamp_ns - self.stamp_ns)
        reach = NEAR + dt * (max(self.speed, later.speed) + dt * MOST_ACCELERATION)
        return not math.dist(self.position, later.position) > reach
