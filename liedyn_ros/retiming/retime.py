# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The fastest run along a path within the limits of joints and motors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.retiming.coefficients import coefficients, Machine
from liedyn_ros.retiming.grid import Grid, Speed
from liedyn_ros.retiming.law import Law
from liedyn_ros.retiming.limits import MotionLimits
from liedyn_ros.retiming.paths import Path
from liedyn_ros.retiming.program.fastest_speed import FastestSpeed, inner, inner_rates, outer
from liedyn_ros.retiming.result import Margins, Retimed, travel_time
from liedyn_ros.retiming.rows import limit_rows, Rows

GAIN = 1e-4  # of the time, below which a further round is not worth its price
MAX_ROUNDS = 30
FEWEST = 10  # intervals; below these limits between the grid cost more than slowing uniformly
CHECKS = 11  # places an interval, where strict holds the limits
TIGHTENINGS = 3  # rounds of strict, each with limits lower by their excess
SLOWEST, FASTEST = 1e-16, 1e16  # of z; beyond these no limit binds, or none can be kept


class _Problem(NamedTuple):
    """Rows on the grid for a path run at the speed sqrt(z0)."""

    grid: Grid
    states: Rows
    rates: Rows


def retime(dynamics: Machine, path: Path, limits: MotionLimits | None = None, *,
           intervals: int = 100, strict: bool = True, external: ArrayLike | None = None
           ) -> Retimed:
    """
    Return the fastest run along a path, from rest to rest, within limits.

    dynamics has damping and friction where it was made with dissipation. Without limits, those of
    velocity and effort of the model hold. The speed along the path is a quadratic spline in
    intervals. Limits hold at their ends and middles, and in between to about 0.1 %; strict
    slows the run until they hold at eleven places of each interval. external (B, 6) are wrenches
    that keep still on the bodies, as a payload's in its frame.

    Raises LimitError where the path cannot be held even at rest, naming the joint and the place,
    and where no limit binds. Raises what MotionLimits.of and inverse dynamics raise (15.1-15.8).
    """
    model = dynamics.model
    given = (limits or MotionLimits()).of(model)
    smooth = bool(np.isfinite([given['jerk'], given['torque_rate']]).any())
    law, grid = Law(_require_length(path), smooth), Grid(_require_intervals(intervals))
    wrenches = None if external is None else as_array('external', external,
                                                      (len(model.bodies), 6))
    states, rates = _rows(dynamics, law, grid.fine, given, wrenches)
    margins = _margins(dynamics, law, grid, given, wrenches)
    _require_moving(law, grid)
    _require_kept(margins, law, grid, 0.0)
    _require_kept(margins, law, grid, SLOWEST)
    z0 = _uniform(states, rates)
    problem = _Problem(grid, states.scaled(z0), rates.at(grid.places).scaled(z0))
    rounds = _rounds(problem, np.ones(grid.unknowns))
    unknowns = _strict(problem, rounds[-1], z0, margins) if strict else z0 * rounds[-1]
    return Retimed(
        dynamics, law, grid, unknowns, wrenches, margins,
        tuple(float(travel_time(grid, z0 * each)[-1]) for each in rounds),
        lambda: float(travel_time(grid, z0 * _lower_bound(problem, rounds[-1]))[-1]))


def _rows(dynamics: Machine, law: Law, p: Array, limits: dict[str, Array],
          external: Array | None) -> tuple[Rows, Rows]:
    """Return the rows of states and of rates at p (K,)."""
    path = law(p)
    wrenches = None if external is None else np.broadcast_to(
        external, (len(p), *external.shape))
    return limit_rows(path, coefficients(dynamics, path, wrenches), limits)


def _margins(dynamics: Machine, law: Law, grid: Grid, limits: dict[str, Array],
             external: Array | None) -> Margins:
    """Return the rows at the checks of each interval."""
    count = grid.intervals * (CHECKS - 1)
    p: Array = np.arange(count + 1) / count
    index = (CHECKS - 1) * np.arange(grid.intervals)[:, None] + np.arange(CHECKS)
    states, rates = (rows.at(index.ravel())
                     for rows in _rows(dynamics, law, p, limits, external))
    return Margins(dynamics.model, p[index], states, rates)


def _require_intervals(intervals: int) -> int:
    """Return the number of intervals; raises LimitError below FEWEST, or for no integer."""
    if isinstance(intervals, bool) or not isinstance(intervals, (int, np.integer)) \
            or intervals < FEWEST:
        raise LimitError(f'intervals: expected an integer of {FEWEST} or more, got {intervals!r}')
    return int(intervals)


def _require_length(path: Path) -> Path:
    """Return the path; raises LimitError where its length is not above zero, or not finite."""
    if not 0.0 < path.length < np.inf:
        raise LimitError(f'path: expected a finite length above 0, got {path.length!r}')
    return path


def _require_moving(law: Law, grid: Grid) -> None:
    """Raise LimitError naming the place where the path stands still for half an interval."""
    s = law.derivatives(grid.fine)[0]
    still = np.asarray(~law.path(s).v.any(axis=1))
    both = np.flatnonzero(still[1:] & still[:-1])
    if len(both):
        raise LimitError(f'path: expected one that moves everywhere, got one that stands still '
                         f'from s = {s[both[0]]:.6g} to {s[both[0] + 1]:.6g} of '
                         f'{law.path.length:.6g}')


def _require_kept(margins: Margins, law: Law, grid: Grid, z: float) -> None:
    """Raise LimitError naming limit, joint and place that a run at rest (0), or at z, exceeds."""
    for rows in (margins.states, margins.rates):
        used = margins.worst(rows, grid, np.full(grid.unknowns, z))
        if not used.size or used.max() < 1.0:
            continue
        interval, row = np.unravel_index(np.argmax(used), used.shape)
        bound = rows.bound[interval * CHECKS, row]
        name = margins.model.coordinate_names[rows.coordinates[row]]
        s = law.derivatives(margins.p[interval, [CHECKS // 2]])[0, 0]
        doing = f'to hold {name} still on the path' if z == 0.0 else \
            f'of {name} in a run at any speed'
        raise LimitError(f'{rows.names[row]}: expected less than {bound:.6g} {doing}, got '
                         f'{used.max() * bound:.6g} at s = {s:.6g} of {law.path.length:.6g}',
                         names=(name,), expected=float(bound), got=float(used.max() * bound))


def _uniform(states: Rows, rates: Rows) -> float:
    """Return z of the fastest uniform run: the largest below which all limits hold."""
    def kept(z: float) -> bool:
        speed = Speed(np.full(len(states.value), z), np.zeros(1), np.zeros(1))
        return all(not rows.bound.size or rows.used(speed).max() <= 1.0
                   for rows in (states, rates))

    z = SLOWEST
    while kept(4.0 * z):
        z *= 4.0
        if z > FASTEST:
            raise LimitError('retiming: expected a limit that bounds the speed along the path, '
                             'got none; give velocity, acceleration, torque or torque_rate')
    low, high = z, 4.0 * z
    while high > low * (1.0 + 1e-9):
        middle = (low * high)**0.5
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low


def _rounds(problem: _Problem, start: Array) -> list[Array]:
    """Return the unknowns of each round, each faster than the one before (15.6)."""
    grid, states, rates = problem
    solver, rounds = FastestSpeed(grid), [start]
    time = travel_time(grid, start)[-1]
    for _ in range(MAX_ROUNDS):
        linear = [inner(states, grid.at_fine(rounds[-1]))]
        if rates.bound.size:
            linear.append(inner_rates(rates, grid.at_places(rounds[-1])))
        found = _within(problem, rounds[-1], solver.solve(linear, rounds[-1]))
        faster = travel_time(grid, found)[-1]
        if not faster < time:
            return rounds
        rounds.append(found)
        if faster > (1.0 - GAIN) * time or not (rates.bound.size or states.root.any()):
            return rounds
        time = faster
    raise ConvergenceError(f'retiming: expected no more gain after {MAX_ROUNDS} rounds, '
                           f'the last one gained from {time:.6g}')


def _within(problem: _Problem, last: Array, found: Array) -> Array:
    """
    Return what a round found, or as much of the way there as keeps the limits (15.6).

    Only viscous terms of rates make a step too long.
    """
    grid, _, rates = problem
    if not (rates.root_slope.any() or rates.root_value.any()):
        return found
    step = 1.0
    while step > 1e-3:
        tried = last + step * (found - last)
        if rates.used(grid.at_places(tried)).max() <= 1.0 + 1e-6:
            return tried
        step /= 2.0
    return last


def _lower_bound(problem: _Problem, fastest: Array) -> Array:
    """Return the unknowns of the convex problem without rates: no run is faster (15.7)."""
    grid, states, _ = problem
    return FastestSpeed(grid).solve([outer(states, grid.at_fine(fastest))], fastest)


def _strict(problem: _Problem, found: Array, z0: float, margins: Margins) -> Array:
    """
    Return the unknowns of a run that keeps all limits within the intervals too (15.8).

    Limits exceeded in an interval are tightened there by the excess; what still remains is taken
    by slowing the whole run.
    """
    grid, best = problem.grid, z0 * found * _slowing(problem.grid, z0 * found, margins)
    time = travel_time(grid, best)[-1]
    for _ in range(TIGHTENINGS):
        problem = _tightened(problem, z0 * found, margins)
        try:
            found = _rounds(problem, best / z0)[-1]
        except ConvergenceError:  # tightened to less than the path takes; the best so far holds
            return best
        slowed = z0 * found * _slowing(grid, z0 * found, margins)
        if not travel_time(grid, slowed)[-1] < (1.0 - GAIN) * time:
            return best
        best, time = slowed, travel_time(grid, slowed)[-1]
    return best


def _tightened(problem: _Problem, unknowns: Array, margins: Margins) -> _Problem:
    """Return the problem with the limits of each interval lower by their excess there."""
    grid, states, rates = problem
    excess = [np.maximum(margins.worst(rows, grid, unknowns) - 1.0, 0.0)
              for rows in (margins.states, margins.rates)]
    by_fine = np.zeros(states.bound.shape)
    by_fine[1::2] = excess[0]
    by_fine[:-1:2] = excess[0]
    by_fine[2::2] = np.maximum(by_fine[2::2], excess[0])
    room = states.bound - states.constant  # of which rest leaves to the motion
    bound = states.bound - np.minimum(by_fine * states.bound, 0.5 * room)
    return problem._replace(
        states=states._replace(bound=bound),
        rates=rates._replace(bound=rates.bound / (1.0 + np.repeat(excess[1], 3, axis=0))))


def _slowing(grid: Grid, unknowns: Array, margins: Margins) -> float:
    """Return the factor of z, at most 1, that keeps all limits within the intervals (15.8)."""
    def kept(factor: float) -> bool:
        return all(not rows.bound.size
                   or margins.worst(rows, grid, factor * unknowns).max() <= 1.0
                   for rows in (margins.states, margins.rates))

    if kept(1.0):
        return 1.0
    low, high = 0.25, 1.0
    while not kept(low):  # ends, since rest keeps all limits
        low, high = low / 4.0, low
        if low < SLOWEST:
            raise ConvergenceError('retiming: expected a run that a slower one brings within the '
                                   'limits; give more intervals')
    while high > low * (1.0 + 1e-7):
        middle = (low * high)**0.5
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low
