# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Order of time stamps: tells a late sample from a clock that was set back, and finds gaps."""

import itertools

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.errors import StampError

LATE_NS = 500_000_000  # a stamp older than the last by at most this is a late sample
LARGEST_NS = 2 ** 62  # 146 years: the difference of two stamps fits into 64 bits
MESSAGES_NS = 2**31 * 10**9  # the first time that a message of ROS cannot have
UNSET = '; the stamp is 0: the publisher does not set header.stamp'
LONGEST_GAP = 0.25  # s without a sample, which no curve through those beside it bridges
GAP_STEPS = 20.0  # usual steps, which a gap has at least


def require_time_of_messages(stamp_ns: int) -> None:
    """Raise StampError for a time, ns, that messages of ROS, or of a bag, cannot have."""
    if not 0 <= stamp_ns < MESSAGES_NS:
        raise StampError(f'stamp: expected a time from 1970 to 2038, as messages have, got '
                         f'{1e-9 * stamp_ns:.9g} s')


def gaps_in(time: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether steps (n - 1,) of increasing times (n,), s, are gaps."""
    steps = np.diff(time)
    if not len(steps):
        return np.zeros(0, dtype=bool)
    return np.asarray(steps > max(LONGEST_GAP, GAP_STEPS * float(np.median(steps))))


def pieces_of(time: NDArray[np.float64]) -> list[slice]:
    """Return the samples between the gaps of increasing times (n,), s."""
    ends = [0, *(np.flatnonzero(gaps_in(time)) + 1).tolist(), len(time)]
    return [slice(begin, end) for begin, end in itertools.pairwise(ends)]


class Pace:
    """Picks samples by their stamps, so many a second at most."""

    def __init__(self, rate: float) -> None:
        """Pick at a rate, Hz; 0 for every sample."""
        self._period_ns, self._next_ns = round(1e9 / rate) if rate > 0.0 else 0, 0

    def is_due(self, stamp_ns: int) -> bool:
        """Return whether a stamp, ns, is a period after the last one picked, or before it."""
        if self._next_ns - self._period_ns <= stamp_ns < self._next_ns:
            return False
        self._next_ns = stamp_ns + self._period_ns
        return True


class Timeline:
    """
    The stamps of one source of samples, each of which has to be after the one before.

    A network that does not guarantee delivery does not guarantee order: a sample that is late is
    refused, and nothing else happens. Two samples in a row, in order, that are both older than the
    last by more than LATE_NS show a clock that was set back. One alone is a stray stamp.
    """

    def __init__(self) -> None:
        """Begin with any stamp."""
        self.reset()

    def reset(self) -> None:
        """Forget the stamps: the next may be any."""
        self.last_ns: int | None = None
        self._earlier_ns: int | None = None  # of a sample much older than the last, just refused

    def note(self, stamp_ns: int) -> None:
        """Take a stamp, ns, which is after the one before."""
        self.last_ns, self._earlier_ns = stamp_ns, None

    def follows(self, stamp_ns: int) -> bool:
        """
        Take the next stamp, ns; return False where it shows that the clock was set back.

        Raises StampError where it is not a whole number, beyond LARGEST_NS, or not after the last.
        """
        if not isinstance(stamp_ns, (int, np.integer)):
            raise StampError(f'stamp: expected a whole number of ns, got {stamp_ns!r}')
        if not -LARGEST_NS < stamp_ns < LARGEST_NS:
            raise StampError(f'stamp: expected within {LARGEST_NS} ns of 0, got {stamp_ns}',
                             names=('stamp',), expected=LARGEST_NS, got=stamp_ns)
        last_ns, earlier_ns, self._earlier_ns = self.last_ns, self._earlier_ns, None
        if last_ns is None or stamp_ns > last_ns:
            self.last_ns = stamp_ns
            return True
        if last_ns - stamp_ns > LATE_NS:
            if earlier_ns is not None and stamp_ns > earlier_ns:
                self.last_ns = stamp_ns
                return False
            self._earlier_ns = stamp_ns
        unset = UNSET if stamp_ns == 0 else ''
        raise StampError(f'stamp: expected a time after {last_ns} ns, got {stamp_ns}{unset}',
                         names=('stamp',), expected=last_ns, got=stamp_ns)
