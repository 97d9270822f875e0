# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Budgets: bounds of evaluations and of time, and the share of work for a watcher."""

import pytest
from support.refusals import refused

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.errors import BudgetError


def test_evaluations_are_bounded() -> None:
    budget = Budget(evaluations=2)
    budget.spend(0.1)
    budget.spend(0.2)
    with refused(BudgetError, expected=2):
        budget.spend(0.3)


def test_time_is_bounded() -> None:
    budget = Budget(seconds=0.0)
    with refused(BudgetError, expected=0):
        while True:  # until the clock moves
            budget.spend(0.5)


def test_a_watcher_gets_the_share_and_may_end_the_work() -> None:
    shares: list[float] = []

    def watch(share: float) -> None:
        shares.append(share)
        if share > 0.6:
            raise BudgetError('enough')

    budget = Budget(watch=watch)
    for part in range(2):
        budget.begin(part, 4)
        budget.spend(0.5)
    with pytest.raises(BudgetError):
        budget.begin(3, 4)
    assert shares == [0.0, 0.125, 0.25, 0.375, 0.75]
    assert (budget.part, budget.evaluations) == (3, 2)
