# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The shortest stop along a path, from a motion on it, or from an instant of a run."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.limits import Machine, MotionLimits
from liedyn_ros.retiming.paths.path import MovingEnd, Path, PathPart
from liedyn_ros.retiming.replanning.replanning import replan, rest_of_law
from liedyn_ros.retiming.result import Retimed
from liedyn_ros.retiming.retime import any_run, retime

STOP_PARTS, STOP_HALVINGS = 7, 5  # of the way, tried from a part of the path on
TRIAL_INTERVALS = 20  # intervals of a try
# Times the way, where the tries were too coarse
STOP_LENGTHS = 1.0, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0
# Of the rest, before a stop
STOP_DELAYS = 0.0, 1.0 / 64.0, 1.0 / 32.0, 1.0 / 16.0, 0.125, 0.25, 0.5


class Stop(NamedTuple):
    """
    A run followed to the instant begins (s) of it, and halt, the run to rest from there on.

    >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
    >>> stop_run(run, 0.3 * run.duration, intervals=20).halt.duration > 0.0
    True
    """

    begins: float
    halt: Retimed


def stop_along(dynamics: Machine, path: Path, limits: MotionLimits | None = None, *,
               start: MovingEnd, intervals: int = 100, strict: bool = True,
               external: ArrayLike | None = None, budget: RetimingBudget | None = None
               ) -> Retimed:
    """
    Return the run that comes to rest on a path after the shortest way, to about 3 % of it (15.17).

    The path of the result is a PathPart: its length is the way.

    Args:
        dynamics: a Dynamics or a ConstrainedDynamics.
        path: begins where the machine is.
        limits: by default the limits of the model, of rates too.
        start: motion along the path.
        intervals: of the spline.
        strict: as for retime.
        external: wrenches (B, 6) that keep still on the bodies; N m and N.
        budget: bound of the work.

    Returns:
        the run.

    Raises:
        LimitError: naming the limit that the longest stop exceeds.

    >>> line = SplinePath(model, [q, q + 0.5])
    >>> halt = stop_along(robot, line, start=MovingEnd(0.5), intervals=20)
    >>> halt.law.path.length < line.length
    True
    """
    tries = _Tries(dynamics, path, limits, start, intervals, strict, external,
                   budget or RetimingBudget())
    return tries.shortest() or tries.run(path.length)


def stop_run(run: Retimed, t: float, limits: MotionLimits | None = None, *,
             intervals: int = 100, strict: bool = True, budget: RetimingBudget | None = None
             ) -> Stop:
    """
    Return the stop of stop_along from an instant of a run, within its limits or others (15.17).

    A run that brakes with all its torque cannot be left just then. At its own limits it is
    followed for a while first. Where no stop is found, it is planned again to its end. So nothing
    is refused where no limit falls.

    Args:
        run: what retime returned.
        t: instant; s.
        limits: by default the limits of the run.
        intervals: of the spline.
        strict: as for retime.
        budget: bound of the work.

    Returns:
        the instant at which the run is left, and the run to rest.

    Raises:
        LimitError: for a run that passes its end, and for an instant at which it does not move.

    >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
    >>> stop_run(run, 0.3 * run.duration, intervals=20).begins < run.duration
    True
    """
    budget, first = budget or RetimingBudget(), rest_of_law(run, t)
    if first.end is not None:
        raise LimitError('run: expected one that ends at rest, got one that passes its end at '
                         f'speed {first.end.speed:.6g}')
    if first.start is None:
        raise LimitError(f't: expected an instant at which the run moves, got {t!r}')
    for wait in STOP_DELAYS if limits is None else STOP_DELAYS[:1]:
        begins = t + wait * (run.duration - t)
        law = rest_of_law(run, begins)
        if law.start is None:
            continue
        found = _Tries(run.dynamics, law.path, limits or run.limits, law.start, intervals, strict,
                       run.external, budget).shortest()
        if found is not None:
            return Stop(begins, found)
    return Stop(t, replan(run, t, limits, strict=strict, budget=budget))


class _Tries(NamedTuple):
    """The arguments of stops along ways of a path."""

    dynamics: Machine
    path: Path
    limits: MotionLimits | None
    start: MovingEnd
    intervals: int
    strict: bool
    external: ArrayLike | None
    budget: RetimingBudget

    def run(self, way: float, few: bool = False) -> Retimed:
        """Return the run to rest at the end of a way; raises what retime raises."""
        path = PathPart(self.path, 0.0, min(way, self.path.length))
        if few:
            return any_run(self.dynamics, path, self.limits or MotionLimits(), start=self.start,
                           intervals=TRIAL_INTERVALS, external=self.external, budget=self.budget)
        return retime(self.dynamics, path, self.limits, start=self.start,
                      intervals=self.intervals, strict=self.strict, external=self.external,
                      budget=self.budget)

    def tried(self, way: float, few: bool) -> Retimed | None:
        """Return the run, or None where there is none."""
        try:
            return self.run(way, few)
        except (LimitError, ConvergenceError):
            return None

    def shortest(self) -> Retimed | None:
        """Return the run along the shortest way that is found, if any."""
        high = self.path.length / 2.0**STOP_PARTS
        while self.tried(high, True) is None:
            if high >= self.path.length:
                return None
            high *= 2.0
        low = high / 2.0
        for _ in range(STOP_HALVINGS):
            middle = (low * high)**0.5
            low, high = (low, middle) if self.tried(middle, True) is not None else (middle, high)
        tries = (self.tried(further * high, False) for further in STOP_LENGTHS)
        return next((found for found in tries if found is not None), None)
