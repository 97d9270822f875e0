# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What fails, for how long, in which wind, and what became of it."""

from typing import NamedTuple

import numpy as np


SETTLE = 2.0  # s after an outage, from which on a run within bounds has survived it


class Outage(NamedTuple):
    """
    What fails from a time on (s), for a duration (s), and by how much something is late (s).

    Late are states of a vehicle where these are what fails, else its answers, or poses.
    """

    name: str
    what: str = ''  # server, states, poses, second, stray, commands, doubled
    duration: float = 0.0
    latency: float = 0.0
    begin: float = 2.5

    def on(self, what: str, time: float) -> bool:
        """Return whether this fails at a time."""
        return self.what == what and self.begin <= time < self.begin + self.duration

    def at_random(self, rng: np.random.Generator) -> 'Outage':
        """Return one that begins up to a second later."""
        return self._replace(begin=self.begin + rng.uniform(0.0, 1.0))

    def settled(self, time: float) -> bool:
        """Return whether a run is over at a time if it is as before, of one that shall end."""
        return time >= self.begin + self.duration + SETTLE

    @property
    def text(self) -> str:
        """Return the name, and how long or how late."""
        if self.latency:
            return f'{self.name}, {1e3 * self.latency:.0f} ms'
        whole = not self.duration or self.duration > 90.0
        return self.name if whole else f'{self.name}, {self.duration:g} s'


class Passed(NamedTuple):
    """
    What became of a run: the worst attitude (deg) and distance (m), and the distance at the end.

    phase: what the controller said at the end, phases: all that it said. crashed: beyond bounds.
    force: the greatest command over its limit. said: whether it spoke before it was beyond bounds,
    each time.
    """

    attitude: float
    distance: float
    end: float
    phase: str
    crashed: bool
    phases: tuple[str, ...]
    force: float = 0.0
    said: bool = True
