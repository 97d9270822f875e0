# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The shortest stop along a path, from a motion on it, or from an instant of a run."""

from __future__ import annotations

from numpy.typing import ArrayLike

from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.limits import MotionLimits
from liedyn_ros.retiming.machine import Machine
from liedyn_ros.retiming.moving.replanning import replan, rest_of_law
from liedyn_ros.retiming.paths.composed import PathPart
from liedyn_ros.retiming.paths.moving_end import MovingEnd
from liedyn_ros.retiming.paths.path import Path
from liedyn_ros.retiming.result import Retimed
from liedyn_ros.retiming.retime import retime

DOUBLINGS, HALVINGS = 7, 5  # of the way, tried from a part of the path on
FEW = 20  # intervals of a try
FURTHER = 1.0, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0  # times the way, where the tries were too coarse


def stop_along(dynamics: Machine, path: Path, limits: MotionLimits | None = None, *,
               start: MovingEnd, intervals: int = 100, strict: bool = True,
               external: ArrayLike | None = None, budget: RetimingBudget | None = None
               ) -> Retimed:
    """
    Return the run that comes to rest on a path after the shortest way, to about 3 % of it.

    path begins where the machine is; start is its motion there. Arguments are those of retime,
    within limits of rates too. The path of the result is a PathPart: its length is the way. Raises
    what retime raises; LimitError names the limit that the longest stop exceeds (15.17).
    """
    budget = budget or RetimingBudget()

    def tried(way: float, few: bool) -> Retimed | None:
        try:
            return run(way, few)
        except (LimitError, ConvergenceError):
            return None

    def run(way: float, few: bool) -> Retimed:
        return retime(dynamics, PathPart(path, 0.0, min(way, path.length)), limits, start=start,
                      intervals=FEW if few else intervals, strict=strict and not few,
                      external=external, budget=budget)

    high = path.length / 2.0**DOUBLINGS
    while high < path.length and tried(high, True) is None:
        high *= 2.0
    low = high / 2.0
    for _ in range(HALVINGS):
        middle = (low * high)**0.5
        low, high = (low, middle) if tried(middle, True) is not None else (middle, high)
    for further in FURTHER:
        found = tried(further * high, False)
        if found is not None:
            return found
    return run(path.length, False)


def stop_run(run: Retimed, t: float, limits: MotionLimits | None = None, *,
             intervals: int = 100, strict: bool = True, budget: RetimingBudget | None = None
             ) -> Retimed:
    """
    Return the stop of stop_along from an instant t (s) of a run, within its limits or others.

    A run that brakes with all its torque cannot stop earlier. Where no shorter stop is found, it
    is the run planned again to its end. So nothing is refused where no limit falls. Raises what
    replan raises, and LimitError for a run that passes its end (15.17).
    """
    law = rest_of_law(run, t)
    if law.end is not None:
        raise LimitError('run: expected one that ends at rest, got one that passes its end at '
                         f'speed {law.end.speed:.6g}')
    if law.start is None:
        raise LimitError(f't: expected an instant at which the run moves, got {t!r}')
    try:
        return stop_along(run.dynamics, law.path, limits or run.limits, start=law.start,
                          intervals=intervals, strict=strict, external=run.external, budget=budget)
    except (LimitError, ConvergenceError):
        return replan(run, t, limits, strict=strict, budget=budget)
