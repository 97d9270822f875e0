# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The work that a computation may do before it is given up."""

from collections.abc import Callable
import math
import time

from liedyn_ros.common.errors import BudgetError


def _unwatched(_: float) -> None:
    """Look on."""


class Budget:
    """
    Bounds a computation in its evaluations and in time, and lets others watch it.

    A computation that may take long takes a budget and calls `spend` at each evaluation. One of
    several parts calls `begin` at each. watch is then called with the share of the work that is
    done, 0 to 1, and raises an error to end it.

    >>> budget = Budget(evaluations=1)
    >>> budget.spend(0.5)  # a second one raises BudgetError
    """

    def __init__(self, *, evaluations: float = math.inf, seconds: float = math.inf,
                 watch: Callable[[float], None] = _unwatched,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """Take the bounds; the time of the clock runs from now on."""
        self.max_evaluations, self.max_seconds, self._watch = evaluations, seconds, watch
        self.evaluations, self.part, self._parts = 0, 0, 1
        self._clock, self._start = clock, clock()

    @property
    def seconds(self) -> float:
        """Return the time since the start, s."""
        return self._clock() - self._start

    def begin(self, part: int, parts: int) -> None:
        """
        Begin one of the parts of the work.

        Args:
            part: its place, from 0.
            parts: how many there are.

        Raises:
            BudgetError: beyond a bound.

        >>> Budget().begin(0, 2)
        """
        self.part, self._parts = part, parts
        self._look(0.0)

    def spend(self, share: float) -> None:
        """
        Count an evaluation.

        Args:
            share: of its part that is done, 0 to 1.

        Raises:
            BudgetError: beyond a bound.

        >>> Budget(evaluations=3).spend(0.5)
        """
        self.evaluations += 1
        self._look(share)

    def _look(self, share: float) -> None:
        done, seconds = (self.part + share) / self._parts, self.seconds
        if self.evaluations > self.max_evaluations:
            raise BudgetError(f'expected at most {self.max_evaluations} evaluations of motion, '
                              f'got more with {done:.1%} of the work done')
        if seconds > self.max_seconds:
            raise BudgetError(f'expected at most {self.max_seconds:g} s of work, got '
                              f'{seconds:.1f} s with {done:.1%} of it done')
        self._watch(done)
