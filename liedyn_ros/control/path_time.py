# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The time along a reference that slows down, waits and goes on, with two smooth derivatives."""

import math

from liedyn_ros.control.feedback import ReferenceMotion


class PathTime:
    """
    The place (s) along a reference and the rate of its time, 1 at full speed.

    The rate follows the pace that is asked for as (s + pole)^2, so it and its derivative are
    continuous, and a reference that stops does so along its own path.
    """

    def __init__(self) -> None:
        """Stand at the start of the reference, at full rate: it begins at rest itself."""
        self.place, self.rate, self.rate1 = 0.0, 1.0, 0.0
        self.rate2 = 0.0

    def step(self, dt: float, pace: float, pole: float) -> None:
        """Go on by dt (s) towards a pace from 0 to 1, as fast as the pole (rad/s) says."""
        e, away = math.exp(-pole * dt), self.rate - pace
        slope = self.rate1 + pole * away  # of (away + slope t) exp(-pole t), the exact solution
        self.place += (pace * dt + away * (1.0 - e) / pole
                       + slope * (1.0 - e * (1.0 + pole * dt)) / pole**2)
        self.rate = pace + (away + slope * dt) * e
        self.rate1 = (slope - pole * (away + slope * dt)) * e
        self.rate2 = pole**2 * (pace - self.rate) - 2.0 * pole * self.rate1

    def motion(self, reference: ReferenceMotion) -> ReferenceMotion:
        """Return the motion in time of the reference at this place, by the chain rule."""
        r, r1, r2 = self.rate, self.rate1, self.rate2
        if r == 1.0 and r1 == r2 == 0.0:
            return reference
        q, v, a, jerk = reference
        return ReferenceMotion(
            q, r * v, r**2 * a + r1 * v, r**3 * jerk + 3.0 * r * r1 * a + r2 * v)
