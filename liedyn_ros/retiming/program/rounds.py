# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rounds of convex programs, each faster than the one before and within the limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.grid import Grid
from liedyn_ros.retiming.program.fastest_speed import (
    End, FastestSpeed, inner, inner_rates, outer, PENALTY)
from liedyn_ros.retiming.result import travel_time
from liedyn_ros.retiming.rows import Rows

GAIN = 1e-4  # of the time, below which a further round is not worth its price
MAX_ROUNDS = 30


class Problem(NamedTuple):
    """Rows on the grid, and ends that are passed, for a path run at the speed sqrt(z0)."""

    grid: Grid
    states: Rows
    rates: Rows
    ends: tuple[End, ...] = ()
    z0: float = 1.0

    @property
    def one_round(self) -> bool:
        """Return whether the program is convex as it stands."""
        return not (self.rates.bound.size or self.states.root.any())

    def excess(self, unknowns: Array) -> float:
        """Return the share by which the worst limit is exceeded at the grid, at least 0."""
        used = [rows.used(speed).max() for rows, speed in (
            (self.states, self.grid.at_fine(unknowns)), (self.rates, self.grid.at_places(unknowns))
        ) if rows.bound.size]
        return max(0.0, *used) - 1.0 if used and max(used) > 1.0 else 0.0


def rounds(problem: Problem, start: Array,
           budget: RetimingBudget | None = None) -> list[Array]:
    """
    Return the unknowns of each round, each faster than the one before (15.6).

    Without ends that are passed, start keeps the limits and is the first. With them it is a guess,
    and the limits may be exceeded by what problem.excess tells of the last (15.10).
    Raises ConvergenceError, and BudgetError.
    """
    budget = budget or RetimingBudget()
    solver = FastestSpeed(problem.grid, problem.ends, budget)
    found = [] if problem.ends else [start]
    last, cost = start, np.inf if problem.ends else travel_time(problem.grid, start)[-1]
    for _ in range(MAX_ROUNDS):
        tried, excess = _round(problem, solver, last)
        time = float(travel_time(problem.grid, tried)[-1])
        price = time + PENALTY * excess
        budget.finish_round(time / problem.z0**0.5)
        if not price < cost and found:
            return found
        found.append(tried)
        if price > (1.0 - GAIN) * cost or problem.one_round:
            return found
        last, cost = tried, price
    if problem.ends:  # whether this run keeps the limits is judged by the caller
        return found
    raise ConvergenceError(f'retiming: expected no more gain after {MAX_ROUNDS} rounds, '
                           f'the last one gained from {cost:.6g}')


def lower_bound(problem: Problem, fastest: Array) -> Array:
    """Return the unknowns of the convex problem without rates: no run is faster (15.7)."""
    grid, states, _, ends, _ = problem
    return FastestSpeed(grid, ends).solve([outer(states, grid.at_fine(fastest))], fastest)[0]


def _round(problem: Problem, solver: FastestSpeed, last: Array) -> tuple[Array, float]:
    """Return what one program finds from the last round, and by how much it exceeds limits."""
    grid, states, rates, ends, _ = problem
    linear = [inner(states, grid.at_fine(last))]
    if rates.bound.size:
        linear.append(inner_rates(rates, grid.at_places(last)))
    found, excess = solver.solve(linear, last)
    if ends:
        return found, max(excess, problem.excess(found))
    return _within(problem, last, found), 0.0


def _within(problem: Problem, last: Array, found: Array) -> Array:
    """
    Return what a round found, or as much of the way there as keeps the limits (15.6).

    Only viscous terms of rates make a step too long.
    """
    grid, _, rates, *_ = problem
    if not (rates.root_slope.any() or rates.root_value.any()):
        return found
    step = 1.0
    while step > 1e-3:
        tried = last + step * (found - last)
        if rates.used(grid.at_places(tried)).max() <= 1.0 + 1e-6:
            return tried
        step /= 2.0
    return last
