# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The fastest run from an instant of another run on."""

from __future__ import annotations

import numpy as np

from liedyn_ros.common.errors import LimitError
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.grid import Grid
from liedyn_ros.retiming.law import Law
from liedyn_ros.retiming.limits import MotionLimits
from liedyn_ros.retiming.paths.path import MovingEnd, PathPart
from liedyn_ros.retiming.program.fastest_speed import PathEnd
from liedyn_ros.retiming.result import Retimed
from liedyn_ros.retiming.retime import fastest_along, retime

MIN_INTERVAL_SHARE = 1e-3  # of an interval, below which the first one is a part of the next
# Intervals, and the parts of each of them, where other limits are met
NEW_INTERVALS, SUBINTERVALS = 4, 4
EXCESS_TOLERANCE = 1e-6  # of a limit, by which a run that keeps it may exceed it


def replan(run: Retimed, t: float, limits: MotionLimits | None = None, *, strict: bool = True,
           budget: RetimingBudget | None = None) -> Retimed:
    """
    Return the fastest run from an instant of a run on, within its limits or others (15.18).

    It goes on with the motion and the torques that the run has then, along the rest of its path.
    Where no limit falls, the rates of torque go on too, and nothing is refused. The result is no
    slower than the rest of the run.

    Args:
        run: what retime returned.
        t: instant; s.
        limits: by default the limits of the run.
        strict: as for retime; to it, the limits of a run without it fall.
        budget: bound of the work.

    Returns:
        the run.

    Raises:
        LimitError: for an instant that is not before the end, and what retime raises where limits
            fall.

    >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
    >>> replan(run, 0.5 * run.duration).duration < run.duration
    True
    """
    limits, whole, law = limits or run.limits, run.grid, rest_of_law(run, t)
    start = 0.0 if law is run.law or law.rest_of is None else law.rest_of[1]
    if limits.of_rates(run.dynamics.model) and not law.smooth:  # it jumps at an end at rest
        return retime(run.dynamics, law.path, limits, start=law.start, end=law.end,
                      intervals=whole.intervals, strict=strict, external=run.external,
                      budget=budget)
    kept = not _falls(run, limits) and (not strict or run.margins.most(
        whole, run.unknowns) <= 1.0 + EXCESS_TOLERANCE)
    grid = whole if start == 0.0 else _grid(whole, start, kept)
    rest = grid.refine(whole, run.unknowns, start)
    ends = [PathEnd(*each) for each in law.passing()]
    if start > 0.0:  # as the run has it, without the rounding of a speed along the path
        z, dz, ddz = (float(each[0]) for each in grid.evaluate(rest, np.zeros(1)))
        ends[0] = PathEnd(0, z, dz, ddz if kept else None)
    return fastest_along(run.dynamics, law, grid, limits, ends, strict=strict,
                         external=run.external, warm=rest, budget=budget, kept=kept)


def rest_of_law(run: Retimed, t: float) -> Law:
    """Return the law of a run from an instant t on; raises LimitError for one beyond the run."""
    if not 0.0 <= t < run.duration:
        raise LimitError(f't: expected an instant from 0 to before {run.duration:.9g} s, '
                         f'got {t!r}')
    start, now, law = float(run.place(np.array([t]))[0]), run.at([t]), run.law
    if start == 0.0:
        return law
    return Law(PathPart(law.path, float(now.s[0]), law.path.length), law.smooth,
               MovingEnd(float(now.path_speed[0]), float(now.path_acceleration[0])), law.end,
               (law, start))


def _grid(whole: Grid, start: float, kept: bool) -> Grid:
    """
    Return a grid with the knots of another one from a start on, and about as many of them.

    It is finer where a speed that does not keep its limits has to change first.
    """
    left = whole.intervals - int(np.searchsorted(whole.ends, start, side='right')) + 1
    ends = whole.split(max(whole.intervals // left, 1))
    ends = np.concatenate([[start], ends[ends > start + MIN_INTERVAL_SHARE / whole.intervals]])
    if not kept and len(ends) > NEW_INTERVALS:
        near = np.interp(np.arange(SUBINTERVALS * NEW_INTERVALS) / SUBINTERVALS,
                         np.arange(NEW_INTERVALS + 1), ends[:NEW_INTERVALS + 1])
        ends = np.concatenate([near, ends[NEW_INTERVALS:]])
    return Grid((ends - start) / (1.0 - start))


def _falls(run: Retimed, limits: MotionLimits) -> bool:
    """Return whether a limit leaves less than that of a run, or is one that the run has not."""
    before, now = (each.by_name(run.dynamics.model) for each in (run.limits, limits))
    for name, of in before | now:
        sign = -1.0 if name.startswith('least_') or name == 'torque_per_speed' else 1.0
        none = 0.0 if name == 'torque_per_speed' else sign * np.inf
        if sign * now.get((name, of), none) < sign * before.get((name, of), none):
            return True
    model = run.dynamics.model
    return not np.array_equal(run.limits.lines(model), limits.lines(model))
