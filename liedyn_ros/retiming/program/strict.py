# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs that keep their limits between the places of the grid too: how much they are slowed."""

from __future__ import annotations

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.grid import Grid
from liedyn_ros.retiming.program.rounds import MIN_TIME_GAIN, RetimingProblem, rounds
from liedyn_ros.retiming.result import Margins, travel_time
from liedyn_ros.retiming.rows import Rows, STATE_ROWS

TIGHTENINGS = 3  # rounds, each with limits lower by their excess
# The same where ends are passed: rounds, and what part of the excess
PASSING_ROUNDS, PASSING_SHARE = 8, 1.5
# Of them in a row, after which as much gain in each of the rest were too little
MAX_VAIN_ROUNDS = 2
MAX_GRID_EXCESS = 0.01  # excess at the grid itself, for which tighter limits are no cure


def within_intervals(problem: RetimingProblem, found: Array, z0: float, margins: Margins,
                     budget: RetimingBudget, hasty: bool = False) -> Array:
    """
    Return the unknowns of a run that keeps all limits within the intervals too (15.8).

    Limits exceeded in an interval are tightened there by the excess. What still remains is taken
    by slowing the whole run; where ends are passed, it remains (15.10), and hasty ends early
    where that is likely.
    """
    if problem.ends:
        return _tightest(problem, found, z0, margins, budget, MAX_VAIN_ROUNDS if hasty
                         else PASSING_ROUNDS)
    grid, best = problem.grid, z0 * found * slowing(problem.grid, z0 * found, margins)
    time = travel_time(grid, best)[-1]
    for _ in range(TIGHTENINGS):
        if time < (1.0 + MIN_TIME_GAIN) * travel_time(grid, z0 * found)[-1]:  # too little to gain
            return best
        problem = _tightened(problem, z0 * found, margins)
        try:
            found = rounds(problem, best / z0, budget, 1)[-1]
        except ConvergenceError:  # tightened to less than the path takes; the best so far holds
            return best
        slowed = z0 * found * slowing(grid, z0 * found, margins)
        if not travel_time(grid, slowed)[-1] < (1.0 - MIN_TIME_GAIN) * time:
            return best
        best, time = slowed, travel_time(grid, slowed)[-1]
    return best


def _tightest(problem: RetimingProblem, found: Array, z0: float, margins: Margins,
              budget: RetimingBudget, most_vain: int) -> Array:
    """Return the unknowns that exceed the limits within the intervals least, if at all."""
    best, least, vain = z0 * found, margins.most(problem.grid, z0 * found), 0
    for left in range(PASSING_ROUNDS if problem.excess(found) < MAX_GRID_EXCESS else 0, 0, -1):
        if least <= 1.0 or vain == most_vain:
            break
        problem = _tightened(problem, z0 * found, margins, PASSING_SHARE)
        found = rounds(problem, found, budget)[-1]
        most = margins.most(problem.grid, z0 * found)
        vain = vain + 1 if (least - most) * (left - 1) < most - 1.0 else 0
        if most < least:
            best, least = z0 * found, most
    return best


def _tightened(problem: RetimingProblem, unknowns: Array, margins: Margins, part: float = 1.0
               ) -> RetimingProblem:
    """Return the problem with the limits of each interval lower by a part of their excess."""
    grid, states, rates, ends, _ = problem
    excess = [part * np.maximum(margins.worst(rows, grid, unknowns) - 1.0, 0.0)
              for rows in (margins.states, margins.rates)]
    by_fine = np.zeros(states.bound.shape)
    by_fine[1::2] = excess[0]
    by_fine[:-1:2] = excess[0]
    by_fine[2::2] = np.maximum(by_fine[2::2], excess[0])
    by_fine[[end.at for end in ends]] = 0.0  # what is given there is not for the run to choose
    room = states.bound - states.constant  # of which rest leaves to the motion
    bound = states.bound - np.minimum(by_fine * states.bound, 0.5 * room)
    return problem._replace(
        states=states._replace(bound=bound),
        rates=rates._replace(bound=rates.bound / (1.0 + np.repeat(excess[1], 3, axis=0))))


LEAST_SPEED_SQUARED = 1e-16  # of z, below which no limit can be kept
STRICT_TOLERANCE = 1e-7  # of the factor


def slowing(grid: Grid, unknowns: Array, margins: Margins) -> float:
    """
    Return the factor of z, at most 1, that keeps all limits within the intervals (15.8).

    Each row is a polynomial in the root of the factor, whose terms are found once. Rows that no
    factor brings to their limits are left out. Raises ConvergenceError.
    """
    rows = [_terms(margins, each, grid, unknowns) for each in (margins.states, margins.rates)
            if each.bound.size]

    def keeps_limits(factor: float) -> bool:
        return all(_most(powers, terms, factor) <= 1.0 for powers, terms in rows)

    if keeps_limits(1.0):
        return 1.0
    low, high = 0.25, 1.0
    while not keeps_limits(low):  # ends, since rest keeps all limits
        low, high = low / 4.0, low
        if low < LEAST_SPEED_SQUARED:
            raise ConvergenceError('retiming: expected a run that a slower one brings within the '
                                   'limits; give more intervals')
    while high > low * (1.0 + STRICT_TOLERANCE):
        middle = (low * high)**0.5
        low, high = (middle, high) if keeps_limits(middle) else (low, middle)
    return low


def _terms(margins: Margins, rows: Rows, grid: Grid, unknowns: Array) -> tuple[Array, Array]:
    """Return powers (3,) of the factor and the terms (3, M, CHECKS) of M rows of intervals."""
    z, dz, ddz = margins.speed(grid, unknowns)
    root, inner = np.sqrt(z), rows.slope * dz + rows.value * z
    if rows.kind == STATE_ROWS:
        powers, terms = (1.0, 0.5, 0.0), (inner, rows.root * root, rows.constant)
    else:
        powers, terms = (1.5, 1.0, 0.5), (
            (inner + rows.curvature * ddz) * root, rows.root_value * z + rows.root_slope * dz,
            rows.constant * root)
    parts = np.moveaxis(np.reshape(
        [term / rows.bound for term in terms], (3, *margins.p.shape, -1)), 2, 3)
    bends = np.abs(np.diff(parts, 2, axis=3)).max(axis=3) / 8.0
    most = np.maximum(parts, 0.0).sum(axis=0).max(axis=2) + bends.sum(axis=0)
    return np.array(powers), parts[:, most > 1.0]


def _most(powers: Array, terms: Array, factor: float) -> float:
    """Return the largest share of a limit, between the checks too, as Margins.worst has it."""
    values = np.tensordot(factor**powers, terms, 1)
    between = np.abs(np.diff(values, 2, axis=1)).max(axis=1, initial=0.0) / 8.0
    return float((values.max(axis=1, initial=-np.inf) + between).max(initial=0.0))
