# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The fastest run along a path within the limits of joints and motors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_kind
from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.closure_forces import closure_force, ClosureForce
from liedyn_ros.retiming.coefficients import Coefficients, coefficients, frame_motion
from liedyn_ros.retiming.grid import Grid, Speed
from liedyn_ros.retiming.law import Law
from liedyn_ros.retiming.limits import Machine, MotionLimits
from liedyn_ros.retiming.paths.path import MovingEnd, Path, PathSamples
from liedyn_ros.retiming.program.fastest_speed import PathEnd
from liedyn_ros.retiming.program.rounds import (
    AnyRun, coarse_start, lower_bound, RetimingProblem, rounds, warm_start)
from liedyn_ros.retiming.program.strict import LEAST_SPEED_SQUARED, within_intervals
from liedyn_ros.retiming.result import Margins, Retimed, travel_time
from liedyn_ros.retiming.rows import limit_rows, Rows

# Intervals; below these limits between the grid cost more than slowing uniformly
MIN_GRID_INTERVALS = 10
CHECK_PLACES = 11  # places an interval, where strict holds the limits
UNBOUNDED = ('retiming: expected a limit that bounds the speed along the path, got none; give '
             'velocity, acceleration, torque or torque_rate')
UNLIMITED_SPEED = 1e16  # of z, where no limit binds
LIMIT_ROUNDING = 1e-6  # of a limit, exceeded by the rounding of a given speed and its acceleration
RELAXED_LIMIT = 1.002  # of a limit, which runs without strict may take between the grid


def retime(dynamics: Machine, path: Path, limits: MotionLimits | None = None, *,
           start: MovingEnd | None = None, end: MovingEnd | None = None,
           intervals: int = 100, strict: bool = True, external: ArrayLike | None = None,
           warm: Retimed | None = None, budget: RetimingBudget | None = None) -> Retimed:
    """
    Return the fastest run along a path within limits (15.1-15.10).

    It goes from rest to rest or passes its ends. The speed along the path is a quadratic spline in
    intervals. Limits hold at eleven places of each and in between.

    Args:
        dynamics: with damping and friction where it was made with dissipation.
        path: any Path.
        limits: by default the velocity and effort limits of the model.
        start: motion along the path at its begin; by default at rest.
        end: motion along the path at its end; by default at rest.
        intervals: of the spline.
        strict: limits hold in full; without it to 0.2 %, for a run that is faster.
        external: wrenches (B, 6) that keep still on the bodies, as a payload's in its frame; N m
            and N.
        warm: a run along the same path under other limits, from which the rounds begin.
        budget: bound of the work.

    Returns:
        the run.

    Raises:
        LimitError: naming the joint and the place where the path cannot be held at rest, or be
            passed at the speeds of start and end; also where no limit binds.
        BudgetError: where it takes too much work.

    >>> retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20).duration < 1.0
    True
    """
    given: object = dynamics
    if not isinstance(given, Machine):
        require_kind('dynamics', given, Dynamics, 'as load returns')
    limits = limits or MotionLimits()
    law = Law(_require_length(path), limits.of_rates(dynamics.model), start, end)
    grid = Grid(_require_intervals(intervals))
    return fastest_along(
        dynamics, law, grid, limits, [PathEnd(*each) for each in law.passing()], strict=strict,
        external=_wrenches(dynamics, external), budget=budget,
        warm=None if warm is None else grid.refine(warm.grid, warm.unknowns))


def any_run(dynamics: Machine, path: Path, limits: MotionLimits, *, start: MovingEnd,
            intervals: int, external: ArrayLike | None, budget: RetimingBudget) -> Retimed:
    """
    Return a run from the motion start to rest, as retime without strict, but not the fastest.

    Raises what retime raises; LimitError as soon as limits are exceeded by far.
    """
    law = Law(path, limits.of_rates(dynamics.model), start)
    return fastest_along(
        dynamics, law, Grid(intervals), limits, [PathEnd(*each) for each in law.passing()],
        strict=False, external=_wrenches(dynamics, external), warm=None, budget=budget,
        any_one=True)


def _wrenches(dynamics: Machine, external: ArrayLike | None) -> Array | None:
    """Return wrenches (B, 6) on the bodies, if any; raises ShapeError."""
    return None if external is None else as_array('external', external,
                                                  (len(dynamics.model.bodies), 6))


def fastest_along(dynamics: Machine, law: Law, grid: Grid, limits: MotionLimits,
                  ends: Sequence[PathEnd], *, strict: bool, external: Array | None,
                  warm: Array | None, budget: RetimingBudget | None, kept: bool = False,
                  any_one: bool = False) -> Retimed:
    """
    Return the fastest run along the path of a law, on a grid, passing ends.

    warm are unknowns to begin with. kept says that they keep the limits and pass the ends: the
    result is no slower then. any_one: whether the first one that keeps the limits will do.
    Arguments and errors are otherwise those of retime.
    """
    budget, share = budget or RetimingBudget(), 1.0 if strict else RELAXED_LIMIT
    margins = find_margins(dynamics, law, grid, limits, external)
    states, rates = margins.fine_rows()
    _require_moving(law, grid)
    _require_some(states, rates)
    _require_kept(margins, law, grid, 0.0)
    _require_kept(margins, law, grid, LEAST_SPEED_SQUARED)
    z0 = max(end.z for end in ends) if ends else _uniform(states, rates)
    problem = RetimingProblem(grid, states.scaled(z0), rates.at(grid.places).scaled(z0),
                              tuple(end.scaled(z0) for end in ends), z0)
    guess = _guess(problem)
    first = coarse_start(problem, guess, budget) if warm is None else \
        warm_start(problem, guess, warm / z0)
    eased = margins.eased(share)
    done = AnyRun(lambda tried: eased.most(grid, z0 * tried) <= 1.0) if any_one else None
    found = [guess] * (first is not guess) + rounds(problem, first, budget, done=done)
    unknowns = within_intervals(problem, found[-1], z0, eased, budget, any_one)
    if kept and warm is not None:
        unknowns = _faster(margins, grid, unknowns, warm, share)
    elif ends:
        _require_passed(margins, law, grid, unknowns, share)
    return Retimed(
        dynamics, limits, law, grid, unknowns, external, margins,
        tuple(float(travel_time(grid, z0 * each)[-1]) for each in found),
        lambda: float(travel_time(grid, z0 * lower_bound(problem, found[-1]))[-1]))


def _faster(margins: Margins, grid: Grid, unknowns: Array, warm: Array, most: float) -> Array:
    """Return unknowns that keep the limits and are faster than warm, or else warm (15.18)."""
    times = [travel_time(grid, each)[-1] for each in (unknowns, warm)]
    return unknowns if times[0] < times[1] and margins.most(
        grid, unknowns) <= most + LIMIT_ROUNDING else warm


def _guess(problem: RetimingProblem) -> Array:
    """Return the unknowns of the uniform run, or a speed that goes over to those of the ends."""
    p: Array = np.arange(problem.grid.unknowns) / (problem.grid.unknowns - 1)
    z = {0: 1.0, -1: 1.0} | {end.at: end.z for end in problem.ends}
    return z[0] + (z[-1] - z[0]) * p


def _require_passed(margins: Margins, law: Law, grid: Grid, unknowns: Array, most: float
                    ) -> None:
    """Raise LimitError naming the limit that a run exceeds, passing the ends at their speeds."""
    share, p, rows, place, row = margins.worst_place(grid, unknowns)
    if share > most + LIMIT_ROUNDING:
        s = law.derivatives(np.array([p]))[0, 0]
        word, bound, got = rows.as_given(place, row, share)
        raise LimitError(
            f'{rows.names[row]}: expected at {"least" if word == "more" else "most"} {bound:.6g} '
            f'of {rows.of[row]} on a path that is passed at start = {_told(law.start)}, '
            f'end = {_told(law.end)}, '
            f'got {got:.6g} at {"most" if word == "more" else "least"}, '
            f'at s = {s:.6g} of {law.path.length:.6g}; more intervals may need less')


def _told(end: MovingEnd | None) -> str:
    """Return an end as messages tell it."""
    if end is None:
        return 'rest'
    return f'speed {end.speed:.6g}' + (
        '' if end.acceleration is None else f' with acceleration {end.acceleration:.6g}')


def _rows(dynamics: Machine, law: Law, p: Array, limits: MotionLimits,
          external: Array | None) -> tuple[Rows, Rows]:
    """Return the rows of states and of rates at p (K,)."""
    path, model = law(p), dynamics.model
    wrenches = None if external is None else np.broadcast_to(
        external, (len(p), *external.shape))
    carried = [closure_force(dynamics, each) for each in limits.closures]
    return limit_rows(path, _coefficients(dynamics, law, p, path, wrenches, carried),
                      limits.of(model), model.coordinate_names,
                      [frame_motion(dynamics, path, each) for each in limits.frames],
                      limits.closures, limits.lines(model))


def _coefficients(dynamics: Machine, law: Law, p: Array, path: PathSamples,
                  external: Array | None, closures: list[ClosureForce]) -> Coefficients:
    """Return coefficients at p (K,); raises ModelError with the place of singular actuators."""
    try:
        return coefficients(dynamics, path, external, closures)
    except ModelError as error:
        if not error.indices:
            raise
        s = law.derivatives(p[[error.indices[0] % len(p)]])[0, 0]
        raise ModelError(f'{error}, at s = {s:.6g} of {law.path.length:.6g} of the path',
                         names=error.names, got=error.got, indices=error.indices) from error


def find_margins(dynamics: Machine, law: Law, grid: Grid, limits: MotionLimits,
                 external: Array | None) -> Margins:
    """Return the rows at the checks of each interval."""
    p = grid.split(CHECK_PLACES - 1)
    index = (CHECK_PLACES - 1) * np.arange(grid.intervals)[:, None] + np.arange(CHECK_PLACES)
    states, rates = (rows.at(index.ravel())
                     for rows in _rows(dynamics, law, p, limits, external))
    return Margins(dynamics.model, p[index], states, rates)


def _require_some(states: Rows, rates: Rows) -> None:
    """Raise LimitError where no limit is finite."""
    if not (states.bound.size or rates.bound.size):
        raise LimitError(UNBOUNDED)


def _require_intervals(intervals: int) -> int:
    """Return the number of intervals; LimitError below MIN_GRID_INTERVALS, or for no integer."""
    if isinstance(intervals, bool) or not isinstance(intervals, (int, np.integer)) \
            or intervals < MIN_GRID_INTERVALS:
        raise LimitError(
            f'intervals: expected an integer of {MIN_GRID_INTERVALS} or more, got {intervals!r}')
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
        interval, row = map(int, np.unravel_index(np.argmax(used), used.shape))
        word, bound, got = rows.as_given(
            interval * CHECK_PLACES + CHECK_PLACES // 2, row, float(used.max()))
        s = law.derivatives(margins.p[interval, [CHECK_PLACES // 2]])[0, 0]
        doing = f'to hold {rows.of[row]} still on the path' if z == 0.0 else \
            f'of {rows.of[row]} in a run at any speed'
        raise LimitError(f'{rows.names[row]}: expected {word} than {bound:.6g} {doing}, got '
                         f'{got:.6g} at s = {s:.6g} of {law.path.length:.6g}',
                         names=(rows.of[row],), expected=bound, got=got)


def _uniform(states: Rows, rates: Rows) -> float:
    """Return z of the fastest uniform run: the largest below which all limits hold."""
    def keeps_limits(z: float) -> bool:
        speed = Speed(np.full(len(states.value), z), np.zeros(1), np.zeros(1))
        return all(not rows.bound.size or rows.used(speed).max() <= 1.0
                   for rows in (states, rates))

    z = LEAST_SPEED_SQUARED
    while keeps_limits(4.0 * z):
        z *= 4.0
        if z > UNLIMITED_SPEED:
            raise LimitError(UNBOUNDED)
    low, high = z, 4.0 * z
    while high > low * (1.0 + 1e-9):
        middle = (low * high)**0.5
        low, high = (middle, high) if keeps_limits(middle) else (low, middle)
    return low
