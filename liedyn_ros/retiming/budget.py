# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The work that a retiming may do, and how far it has come."""

from __future__ import annotations

from liedyn_ros.common.budget import Budget


class RetimingBudget(Budget):
    """
    Bounds a retiming as Budget does: samples of a path and programs count as evaluations.

    rounds counts the finished ones, duration (s) is the shortest so far, 0 before the first.

    >>> budget = RetimingBudget(seconds=10.0)
    >>> retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20, budget=budget).duration < 1.0
    True
    >>> budget.rounds > 0
    True
    """

    rounds, duration = 0, 0.0

    @property
    def left(self) -> float:
        """Return the time that is left, s, above 0."""
        return max(self.max_seconds - self.seconds, 1e-3)

    def look(self) -> None:
        """
        Count an evaluation.

        Raises:
            BudgetError: beyond a bound.

        >>> RetimingBudget(evaluations=10).look()
        """
        self.spend(0.0)

    def finish_round(self, duration: float) -> None:
        """
        Take the duration of a round.

        Args:
            duration: s.

        Raises:
            BudgetError: beyond a bound.

        >>> budget = RetimingBudget()
        >>> budget.finish_round(1.5)
        >>> budget.rounds, budget.duration
        (1, 1.5)
        """
        self.rounds += 1
        self.duration = duration if self.rounds == 1 else min(self.duration, duration)
        self.look()
