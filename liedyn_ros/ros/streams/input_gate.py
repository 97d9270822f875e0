# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The gates of stamped input: age, lead, silence, and a clock that was set; and order.

The order of stamps is judged once: by InputGate, or by the core that takes the samples.
"""

from collections import deque
from collections.abc import Callable
import math
import time
from typing import Any

from liedyn_ros.common.errors import StampError
from liedyn_ros.common.stamps import Timeline, UNSET

ClockReader = Callable[[], int]
LATENESS_CAUSES = 'a busy machine or network delays samples, or two clocks differ'
SIMULATED_LEAD = 5.0  # s that a stamp may be ahead of /clock, which a busy process reads late
MAX_UNPAIRED = 2  # of each type: the partner of one may be taken after the next one


class ClockMonitor:
    """
    Reads a clock, ns, and detects that it jumped: back, or ahead by more than max_step (s).

    `cause` is why: somebody set the clock, or this process did not run.
    """

    def __init__(self, read: ClockReader, max_step: float = math.inf) -> None:
        """Take a reader of the clock; 0 is the time of one that has not started."""
        self._read, self._max_step_ns = read, 1e9 * max_step
        self.now_ns, self.cause, self._looked = read(), '', time.monotonic()

    @property
    def was_set(self) -> bool:
        """Return whether the clock jumped before the last look."""
        return bool(self.cause)

    def look(self) -> int:
        """Return the time; `was_set` and `cause` then tell of the time since the last look."""
        now_ns, now = self._read(), time.monotonic()
        step_ns, passed = now_ns - self.now_ns, now - self._looked
        self.now_ns, self._looked, self.cause = now_ns, now, ''
        if step_ns < 0 or step_ns - 1e9 * passed > self._max_step_ns:
            self.cause = 'the clock was set'
        elif step_ns > self._max_step_ns:
            self.cause = f'this process did not run for {passed:.1f} s, on a busy machine'
        return now_ns


class AgeGate(ClockMonitor):
    """
    Judges the age of the stamps of one input, and tells for how long none was accepted.

    max_age: s, 0 for stamps of any age or lead. max_lead: s that a stamp may be ahead of the
    clock; None: as max_age. Simulated time stands still between two messages of /clock, and a busy
    process reads them late: a stamp may be ahead by SIMULATED_LEAD besides. timeout: s without
    accepted input that are silence; 0: never. A clock that has not started refuses nothing.
    `heard` tells whether any input was accepted since the reset.
    """

    def __init__(self, read: ClockReader, *, max_age: float = 0.0,
                 max_lead: float | None = None, timeout: float = 0.0,
                 simulated: Callable[[], bool] = lambda: False) -> None:
        """
        Take a reader of the clock; the bounds may be changed at any time.

        simulated: tells whether the clock is that of a simulation or a bag.
        """
        super().__init__(read)
        self._simulated = simulated
        self.max_age, self.max_lead, self.timeout = max_age, max_lead, timeout
        self._accepted_ns, self.heard = self.now_ns, False

    def reset(self) -> None:
        """Count silence from now on; no input was accepted yet."""
        self.look()
        self._accepted_ns, self.heard = self.now_ns, False

    def look(self) -> int:
        """Return the time; where the clock has just started or was set, silence starts again."""
        before_ns, now_ns = self.now_ns, super().look()
        if self.cause or before_ns == 0:
            self._accepted_ns = now_ns
        return now_ns

    def require_recent(self, stamp_ns: int) -> None:
        """
        Raise StampError where a stamp is stale (too old) at the last look, or ahead of the clock.

        A message may be younger than the last look; before it counts as ahead the clock is read.
        """
        if self.max_age <= 0.0 or self.now_ns == 0:
            return
        age = 1e-9 * (self.now_ns - stamp_ns)
        if age < 0.0:
            age = 1e-9 * (self._read() - stamp_ns)
        if 0.0 <= age <= self.max_age:
            return
        lead = self.max_age if self.max_lead is None else self.max_lead
        if self._simulated():
            lead += SIMULATED_LEAD
        if not -lead <= age <= 0.0:
            bound, side = (self.max_age, f'ago: {LATENESS_CAUSES}') if age > 0.0 else (
                lead, 'ahead: two clocks differ')
            side = side if stamp_ns else f'ago{UNSET}'
            raise StampError(
                f'stamp: expected within {bound:g} s of now, got {abs(age):.6g} s {side}')

    def age(self, stamp_ns: int) -> float:
        """Return how old (s) a stamp is at the last look, 0 where stamps of any age are taken."""
        judged = self.max_age > 0.0 and self.now_ns != 0
        return max(1e-9 * (self.now_ns - stamp_ns), 0.0) if judged else 0.0

    def accept(self) -> None:
        """Count silence from the last look on: input was accepted."""
        self._accepted_ns, self.heard = self.now_ns, True

    @property
    def silence(self) -> float:
        """Return for how long (s) no input was accepted, at the last look."""
        return 1e-9 * (self.now_ns - self._accepted_ns)

    @property
    def silent(self) -> bool:
        """Return whether that is longer than the timeout."""
        return 0.0 < self.timeout < self.silence

    def missing(self, expected: str) -> str:
        """Return the sentence for what is silent."""
        return f'expected {expected} every {self.timeout:g} s, got none for {self.silence:.1f} s'


class InputGate(AgeGate):
    """An AgeGate that judges the order of the stamps too."""

    def __init__(self, read: ClockReader, *, max_age: float = 0.0,
                 max_lead: float | None = None, timeout: float = 0.0,
                 simulated: Callable[[], bool] = lambda: False) -> None:
        """Take the arguments of an AgeGate."""
        super().__init__(
            read, max_age=max_age, max_lead=max_lead, timeout=timeout, simulated=simulated)
        self._timeline = Timeline()

    def reset(self) -> None:
        """Forget the stamps: the next may be any; silence is counted from now on."""
        super().reset()
        self._timeline.reset()

    def follows(self, stamp_ns: int) -> bool:
        """
        Look at the clock and judge a stamp; return False where the stamps were set back.

        Raises StampError where it is too old, too far ahead, or not after the one before.
        """
        self.look()
        self.require_recent(stamp_ns)
        return self._timeline.follows(stamp_ns)


class StampedPair:
    """Keeps the newest messages of each of two types until two have one stamp."""

    def __init__(self, first: type, second: type) -> None:
        """Take the types of the messages."""
        self._types = first, second
        self._waiting: dict[type, deque[Any]] = {
            each: deque(maxlen=MAX_UNPAIRED) for each in self._types}

    def clear(self) -> None:
        """Forget messages that wait for the other of their stamp."""
        for each in self._types:
            self._waiting[each].clear()

    def add(self, message: Any) -> tuple[Any, Any] | None:
        """Return both messages, in the order of the types, once they have one stamp."""
        first, second = self._types
        own = self._waiting[type(message)]
        others = self._waiting[second if type(message) is first else first]
        stamp = message.header.stamp
        partner = next((each for each in others if each.header.stamp == stamp), None)
        if partner is None:
            own.append(message)
            return None
        own.clear()
        while others.popleft() is not partner:  # what came before it has lost its like
            pass
        return (message, partner) if type(message) is first else (partner, message)
