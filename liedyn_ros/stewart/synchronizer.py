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

"""Six actuators that report one by one, put together into sets of one time."""

from collections.abc import Sequence
from dataclasses import dataclass

from liedyn_ros.errors import LimitError, NameSetError, StampError


@dataclass(frozen=True)
class Reading:
    """One actuator at one time: position and, where it is measured, velocity."""

    stamp_ns: int
    position: float
    velocity: float | None = None


class ActuatorSynchronizer:
    """
    Keeps the newest reading of each actuator and tells when they belong together.

    A set is complete when all readings are newer than the last set's and lie within the
    tolerance of one another.
    """

    def __init__(self, names: Sequence[str], tolerance: float) -> None:
        """Take the actuators' names and the tolerance in s, which must not be negative."""
        if not 0.0 <= tolerance < float('inf'):
            raise LimitError(f'tolerance: expected a number of s from 0 on, got {tolerance}')
        self.names = tuple(names)
        self._tolerance_ns = round(tolerance * 1e9)
        self._newest: dict[str, Reading] = {}
        self._used_ns: dict[str, int] = {}

    def add(self, name: str, reading: Reading) -> dict[str, Reading] | None:
        """
        Take a reading; return the complete set that it closes, or None.

        Raises NameSetError for an unknown actuator and StampError where the reading is older
        than the actuator's last; then all readings are forgotten, as the clock may have been
        set back.
        """
        if name not in self.names:
            raise NameSetError(f'actuator: expected one of {list(self.names)}, got {name!r}')
        last = self._newest.get(name)
        if last is not None and reading.stamp_ns < last.stamp_ns:
            self.clear()
            raise StampError(f'stamp of {name}: expected at least {last.stamp_ns} ns, '
                             f'got {reading.stamp_ns}')
        self._newest[name] = reading
        if self.missing():
            return None
        stamps = [self._newest[n].stamp_ns for n in self.names]
        if max(stamps) - min(stamps) > self._tolerance_ns:
            return None
        self._used_ns = {n: self._newest[n].stamp_ns for n in self.names}
        return dict(self._newest)

    def missing(self) -> list[str]:
        """Return the actuators without a reading newer than the last complete set."""
        return [n for n in self.names if n not in self._newest
                or self._newest[n].stamp_ns <= self._used_ns.get(n, -1)]

    def clear(self) -> None:
        """Forget all readings."""
        self._newest.clear()
        self._used_ns.clear()
