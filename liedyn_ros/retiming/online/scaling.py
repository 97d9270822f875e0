# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A retimed run whose speed is scaled while it runs, where limits change or the machine lags."""

from __future__ import annotations

from enum import IntEnum
import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LimitError
from liedyn_ros.retiming.limits import MotionLimits
from liedyn_ros.retiming.online.kernels import scaling as kernels
from liedyn_ros.retiming.online.table import plan_table, raised_limits, with_intervals
from liedyn_ros.retiming.result import Retimed, RetimedSamples


class ScalingStatus(IntEnum):
    """
    How a scaled run goes on.

    FOLLOWS: at the plan's speed. SCALED: at another, or on the way to it. STOPS: on the way to
    rest. STANDS: at rest on the path. EXCEEDS: no scaling was found that keeps the limits from
    here on, and the one that exceeds them least is run. ENDED: at the end of the path, at rest
    there from the next step on.

    >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
    >>> OnlineScaling(run).step(0.01).status.name
    'FOLLOWS'
    """

    FOLLOWS = 0
    SCALED = 1
    STOPS = 2
    STANDS = 3
    EXCEEDS = 4
    ENDED = 5


class ScaledInstant(NamedTuple):
    """
    An instant of a scaled run.

    planned_time: the instant of the plan, s. share (3,): of the plan's speed, with two derivatives
    by time. place (4,): p of the plan's law, with three. status: how the run goes on. used: the
    largest part of a limit that is used now; expected: the same from here to the end. held_by: the
    limit and the coordinate that keep the run below the speed asked for, or are exceeded; None
    where nothing does.

    >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
    >>> round(OnlineScaling(run).step(0.01).planned_time, 6)
    0.01
    """

    planned_time: float
    share: tuple[float, ...]
    place: tuple[float, ...]
    status: ScalingStatus
    used: float
    expected: float
    held_by: tuple[str, str] | None


class OnlineScaling:
    """
    A retimed run, passed at a share of its speed that changes while it runs.

    Each step goes on by a cycle and chooses how to go on: by a cubic to a level, which is held
    to the end. It is taken where all limits hold all along, so that it keeps them. The level falls
    as soon as the plan would exceed a lowered limit later. It rises to the plan's speed once the
    place is behind. The path is never left (15.11 to 15.14).

    state (NUMBERS,) is all that changes but for the limits: a copy that is written back goes on
    from there.

    >>> scaling = OnlineScaling(retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20))
    >>> scaling.step(0.01, 0.5).share[0] <= 1.0  # half of the plan's speed is asked for
    True
    """

    def __init__(self, run: Retimed) -> None:
        """
        Take a run with its limits, at its begin.

        Args:
            run: with its limits, at its begin.
        """
        self.run = run = with_intervals(run)
        self._plan = plan_table(run)
        self._rows = [key for each in (run.margins.states, run.margins.rates)
                      for key in zip(each.names, each.of)]
        self._raised: Array = np.ones(len(self._rows))
        self.state = np.zeros(kernels.SCALING_WIDTH)
        self.reset()

    def reset(self) -> None:
        """
        Go back to the begin of the run, at the plan's speed; the limits stay.

        >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
        >>> OnlineScaling(run).reset()
        """
        self.state[:] = 0.0
        state = self.state
        state[[kernels.SPEED, kernels.START_SPEED, kernels.END_SPEED, kernels.SPEED_AHEAD]] = 1.0
        state[[kernels.LIMIT_USE, kernels.LIMIT_TIME]] = 1.0, math.inf
        state[[kernels.LIMIT_ROW, kernels.ROW_AHEAD]] = -1.0
        state[kernels.LIMITS_CHANGED] = float((self._raised != 1.0).any())

    def use(self, limits: MotionLimits) -> None:
        """
        Apply limits from now on: the limits of the plan, higher or lower.

        Args:
            limits: with the names of the plan's.

        Raises:
            LimitError: for one that the plan has not.

        >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
        >>> OnlineScaling(run).use(run.limits)
        """
        before, self._raised = self._raised, raised_limits(self.run, limits)
        row = int(self.state[kernels.LIMIT_ROW])
        if row >= 0 and before[row] > 0.0:  # until all rows are looked at
            self.state[kernels.LIMIT_USE] *= self._raised[row] / before[row]
        self.state[kernels.LIMITS_CHANGED] = 1.0

    def step(self, cycle: float, speed: float = 1.0) -> ScaledInstant:
        """
        Go on by a cycle, and towards a share of the plan's speed, as limits allow.

        Args:
            cycle: s.
            speed: share from 0, to stop, to 1.

        Returns:
            where the run is.

        Raises:
            LimitError: for a cycle that is not above 0 or a speed that is not from 0 to 1.

        >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
        >>> OnlineScaling(run).step(0.01).status
        <ScalingStatus.FOLLOWS: 0>
        """
        if not 0.0 <= speed <= 1.0:
            raise LimitError(f'speed: expected a share from 0 to 1, got {speed!r}')
        if not 0.0 < cycle < math.inf:
            as_positive('cycle', cycle)
        used = kernels.scale_plan(self._plan, self._raised, self.state, float(speed),
                                  float(cycle))
        values = self.state.tolist()
        status = self._status(values)
        row = -1
        if status is ScalingStatus.EXCEEDS:
            row = int(values[kernels.LIMIT_ROW])
        elif values[kernels.SPEED_AHEAD] < speed:
            row = int(values[kernels.ROW_AHEAD])
        return ScaledInstant(
            values[kernels.TIME], tuple(values[kernels.SPEED:kernels.P]),
            tuple(values[kernels.P:kernels.SINCE_SCALING]), status, used,
            values[kernels.LIMIT_USE], None if row < 0 else self._rows[row])

    def samples(self, instants: list[ScaledInstant], t: Array) -> RetimedSamples:
        """
        Return the motion at instants, with torques and rates.

        Args:
            instants: of this run.
            t: their times (K,); s.

        Returns:
            the samples.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
        >>> scaling = OnlineScaling(run)
        >>> scaling.samples([scaling.step(0.01)], [0.01]).torque.shape
        (1, 6)
        """
        places = np.array([each.place for each in instants]).reshape(-1, 4)
        return self.run.passed(as_array('t', t, (len(places),)), *places.T)

    def _status(self, values: list[float]) -> ScalingStatus:
        """Return how a state goes on."""
        if values[kernels.TIME] >= self.run.duration:
            return ScalingStatus.ENDED
        if values[kernels.LIMIT_USE] > 1.0 + kernels.LIMIT_TOLERANCE:
            return ScalingStatus.EXCEEDS
        over = values[kernels.SINCE_SCALING] >= values[kernels.DURATION]
        if values[kernels.END_SPEED] == 0.0:
            return ScalingStatus.STANDS if over else ScalingStatus.STOPS
        return ScalingStatus.FOLLOWS if over and values[kernels.END_SPEED] == 1.0 \
            else ScalingStatus.SCALED


def speed_for_lag(lag: float, tolerated: float, most: float) -> float:
    """
    Return the share of the plan's speed for a machine that lags by some error.

    It is 1 up to a tolerated lag and falls to 0 at the most.

    Args:
        lag: error; in any unit, as what follows.
        tolerated: from 0 on.
        most: above it.

    Returns:
        share from 0 to 1.

    Raises:
        LimitError: for numbers that are not finite, or not in this order.

    >>> speed_for_lag(0.02, 0.01, 0.03)
    0.5
    """
    if not (0.0 <= tolerated < most < math.inf and abs(lag) < math.inf):
        raise LimitError(f'lag: expected a finite one, and 0 <= tolerated < most, got '
                         f'{lag!r}, {tolerated!r} and {most!r}')
    return min(max((most - abs(lag)) / (most - tolerated), 0.0), 1.0)
