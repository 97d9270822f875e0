# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Six actuators that report one by one, put together into sets of one time."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from liedyn_ros.common.checks import unknown_name
from liedyn_ros.common.errors import LimitError, NameSetError, StampError
from liedyn_ros.common.stamps import Timeline

DEPTH = 10  # readings of an actuator that wait for the others'
INTERVALS = 4  # of an actuator's last readings, the longest of which is taken for its period
SILENT_PERIODS = 2 * DEPTH  # without a reading, after which an actuator is named as missing


@dataclass(frozen=True)
class Reading:
    """One actuator at one time: position and, where it is measured, velocity."""

    stamp_ns: int
    position: float
    velocity: float | None = None


@dataclass
class _Actuator:
    """Waiting readings, oldest first, and estimates of their times."""

    heard: bool = False  # since the last set
    timeline: Timeline = field(default_factory=Timeline)
    waiting: deque[Reading] = field(default_factory=lambda: deque(maxlen=DEPTH))
    intervals: deque[int] = field(default_factory=lambda: deque(maxlen=INTERVALS))


class ActuatorSynchronizer:
    """
    Keeps the readings of each actuator until those of the same time of all others are there.

    The readings of a set are used once, and lie within the tolerance of one another. The tolerance
    must be less than half an actuator's period, so that no reading of another set can be as near.
    A set is complete with its last reading; one actuator may be ahead of the others by up to DEPTH
    periods. Where readings come faster than that, half their period counts.
    """

    def __init__(self, names: Sequence[str], tolerance: float, stamped: bool = True) -> None:
        """
        Take the actuators' names and the tolerance in s, which must not be negative.

        stamped: whether the stamps are those of the measurements. Times of arrival, which come
        in bursts, tell no period: then the tolerance alone counts.
        """
        if not 0.0 <= tolerance < float('inf'):
            raise LimitError(f'tolerance: expected a number of s from 0 on, got {tolerance}')
        self.names = tuple(names)
        self._tolerance_ns, self._stamped = round(tolerance * 1e9), stamped
        self.clear()

    def add(self, name: str, reading: Reading) -> dict[str, Reading] | None:
        """
        Take a reading; return the complete set that it closes, or None.

        A reading with the stamp of the actuator's last takes its place if that still waits.
        Raises NameSetError for an unknown actuator and StampError where the reading is older
        than the actuator's last. Where the clock was set back (Timeline), all are forgotten.
        """
        if name not in self._actuators:
            raise unknown_name(NameSetError, 'actuator', self.names, name)
        self._take(name, reading)
        queues = [actuator.waiting for actuator in self._actuators.values()]
        while all(queues):
            stamps = [waiting[0].stamp_ns for waiting in queues]
            oldest = max(stamps) - self._window()
            if min(stamps) >= oldest:
                return self._close()
            for waiting, stamp_ns in zip(queues, stamps):
                if stamp_ns < oldest:
                    waiting.popleft()
        return None

    def missing(self) -> list[str]:
        """
        Return the actuators without a new reading.

        These are the ones without a reading newer than the last set's, and those that others have
        left behind by several periods.
        """
        heard = [last_ns for each in self._actuators.values()
                 if (last_ns := each.timeline.last_ns) is not None]
        return [name for name, each in self._actuators.items()
                if not (each.waiting or each.heard)
                or max(heard) - (each.timeline.last_ns or 0) > self._patience(each)]

    def clear(self) -> None:
        """Forget all readings."""
        self._actuators = {name: _Actuator() for name in self.names}

    def _take(self, name: str, reading: Reading) -> None:
        actuator = self._actuators[name]
        last_ns = actuator.timeline.last_ns
        if reading.stamp_ns == last_ns:
            if actuator.waiting:
                actuator.waiting[-1] = reading
            return
        try:
            follows = actuator.timeline.follows(reading.stamp_ns)
        except StampError as error:
            raise StampError(f'{name}: {error}', names=(name,), expected=error.expected,
                             got=error.got) from error
        if not follows:
            self.clear()
            self._take(name, reading)
            return
        if last_ns is not None:
            actuator.intervals.append(reading.stamp_ns - last_ns)
        actuator.waiting.append(reading)
        actuator.heard = True

    def _patience(self, actuator: _Actuator) -> int:
        """Return for how long (ns) an actuator may be silent while others report."""
        periods = [max(each.intervals) for each in self._actuators.values() if each.intervals]
        period = max(actuator.intervals) if actuator.intervals else max(periods, default=0)
        return self._tolerance_ns + SILENT_PERIODS * period

    def _close(self) -> dict[str, Reading]:
        """Return the oldest reading of each."""
        for actuator in self._actuators.values():
            actuator.heard = False
        return {name: actuator.waiting.popleft() for name, actuator in self._actuators.items()}

    def _window(self) -> int:
        """Return by how much the stamps of a set may differ, ns."""
        if not self._stamped:
            return self._tolerance_ns
        periods = [max(a.intervals) for a in self._actuators.values() if a.intervals]
        return min(self._tolerance_ns, min(periods) // 2) if periods else self._tolerance_ns
