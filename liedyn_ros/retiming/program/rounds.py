# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rounds of convex programs, each faster than the one before and within the limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.grid import Grid
from liedyn_ros.retiming.program.fastest_speed import (
    FastestSpeed, inner, inner_rates, MIN_SPEED_RATIO, outer, PathEnd, PENALTY)
from liedyn_ros.retiming.result import travel_time
from liedyn_ros.retiming.rows import Rows

MIN_TIME_GAIN = 1e-4  # of the time, below which a further round is not worth its price
MAX_PROGRAM_ROUNDS = 30
# Intervals of the first rounds: a part of all, and the least
COARSE_GRIDS, MIN_COARSE_INTERVALS = (5, 4, 3, 2), 20
SLOWING_TOLERANCE = 1e-4  # of the factor that slows their run
MAX_EXCESS = 0.5  # of a limit, by which a round may exceed it before a later one keeps it


class RetimingProblem(NamedTuple):
    """Rows on the grid, and ends that are passed, for a path run at the speed sqrt(z0)."""

    grid: Grid
    states: Rows
    rates: Rows
    ends: tuple[PathEnd, ...] = ()
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


class AnyRun:
    """Ends rounds once one keeps all limits, or once it is not likely that a later one will."""

    def __init__(self, kept: Callable[[Array], bool]) -> None:
        """Take a test whether unknowns that keep the limits at the grid keep them between."""
        self._kept, self._excess = kept, list[float]()

    def __call__(self, unknowns: Array, excess: float) -> bool:
        """Return whether to end after a round; the excess falls ever more slowly (15.17)."""
        self._excess.append(excess)
        if excess == 0.0:
            return self._kept(unknowns)
        falls, left = (
            self._excess[-3] - excess if len(self._excess) > 2 else np.inf, MAX_PROGRAM_ROUNDS)
        return excess > MAX_EXCESS or falls / 2.0 * (left - len(self._excess)) < excess


def rounds(problem: RetimingProblem, start: Array, budget: RetimingBudget | None = None,
           most: int = MAX_PROGRAM_ROUNDS, done: Callable[[Array, float], bool] | None = None
           ) -> list[Array]:
    """
    Return the unknowns of each round, each faster than the one before (15.6).

    Without ends that are passed, start keeps the limits and is the first. With them it is a guess,
    and the limits may be exceeded by what problem.excess tells of the last (15.10). Where no run
    is found, the guess is the last. They end without a gain worth its price, or after most, or
    where done, of unknowns and their excess, says so. Raises ConvergenceError without such ends,
    and BudgetError.
    """
    budget = budget or RetimingBudget()
    solver = FastestSpeed(problem.grid, problem.ends, budget, np.inf if done is None
                          else MAX_EXCESS)
    found = [] if problem.ends else [start]
    last, cost = start, np.inf if problem.ends else travel_time(problem.grid, start)[-1]
    before = np.inf
    for _ in range(most):
        try:
            tried, excess = _round(problem, solver, last)
        except ConvergenceError:
            if not problem.ends:
                raise
            return found or [start]  # far beyond the limits; the caller says by how much
        time = float(travel_time(problem.grid, tried)[-1])
        price = time + PENALTY * excess
        budget.finish_round(time / problem.z0**0.5)
        if not price < cost and found:
            return found
        found.append(tried)
        gain = 1.0 - price / cost
        if _further(gain, before, bool(problem.ends)) < MIN_TIME_GAIN or problem.one_round or (
                done is not None and done(tried, excess)):
            return found
        last, cost, before = tried, price, gain
    # Whether limits are kept is judged by the caller
    if problem.ends or most < MAX_PROGRAM_ROUNDS:
        return found
    raise ConvergenceError(f'retiming: expected no more gain after {MAX_PROGRAM_ROUNDS} rounds, '
                           f'the last one gained from {cost:.6g}')


def _further(gain: float, before: float, unsteady: bool) -> float:
    """Return the gain of all further rounds, if each gains the same part of the one before."""
    return gain if unsteady or not gain < before < np.inf else min(
        gain, gain**2 / (before - gain))


def coarse_start(problem: RetimingProblem, uniform: Array, budget: RetimingBudget) -> Array:
    """
    Return a run that keeps the limits, from rounds on a coarser grid; uniform without gain (15.6).

    The coarse spline is one of the fine grid too.
    """
    grid = problem.grid
    factor = next((by for by in COARSE_GRIDS if grid.intervals % by == 0
                   and grid.intervals >= by * MIN_COARSE_INTERVALS), 1)
    if problem.ends or problem.one_round or factor == 1:
        return uniform
    coarse = Grid(grid.ends[::factor])
    fine = factor * coarse.places
    places = np.minimum(3 * (fine // 2) + fine % 2, len(grid.places) - 1)
    try:
        found = rounds(RetimingProblem(
            coarse, problem.states.at(slice(None, None, factor)), problem.rates.at(places),
            z0=problem.z0), uniform[:coarse.unknowns], budget)[-1]
    except ConvergenceError:  # which the fine grid may not meet
        return uniform
    return warm_start(problem, uniform, grid.refine(coarse, found))


def warm_start(problem: RetimingProblem, uniform: Array, start: Array) -> Array:
    """
    Return a run of another problem, slowed until it keeps the limits; uniform without gain (15.6).

    Where ends are passed it is a guess, and stays as it is.
    """
    if not start.min() > MIN_SPEED_RATIO:
        return uniform
    if problem.ends:
        return start
    low, high = (0.0, 1.0) if problem.excess(start) > 0.0 else (1.0, 1.0)
    while high > low + SLOWING_TOLERANCE:
        middle = (low + high) / 2.0
        low, high = (middle, high) if problem.excess(middle * start) == 0.0 else (low, middle)
    start = low * start
    better = low > 0.0 and travel_time(problem.grid, start)[-1] < travel_time(
        problem.grid, uniform)[-1]
    return start if better else uniform


def lower_bound(problem: RetimingProblem, fastest: Array) -> Array:
    """Return the unknowns of the convex problem without rates: no run is faster (15.7)."""
    grid, states, _, ends, _ = problem
    return FastestSpeed(grid, ends).solve([outer(states, grid.at_fine(fastest))], fastest)[0]


def _round(problem: RetimingProblem, solver: FastestSpeed, last: Array) -> tuple[Array, float]:
    """Return a program's unknowns, from the last round, and their excess over limits."""
    grid, states, rates, ends, _ = problem
    linear = [inner(states, grid.at_fine(last))]
    if rates.bound.size:
        linear.append(inner_rates(rates, grid.at_places(last)))
    found, excess = solver.solve(linear, last)
    if ends:
        return found, max(excess, problem.excess(found))
    return _within(problem, last, found), 0.0


def _within(problem: RetimingProblem, last: Array, found: Array) -> Array:
    """
    Return a round's unknowns, or as much of the way there as keeps the limits (15.6).

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
