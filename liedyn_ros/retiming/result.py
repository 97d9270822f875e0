# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A retimed path: where it is when, its torques, and what limits bind where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.model import Model
from liedyn_ros.retiming.coefficients import torques
from liedyn_ros.retiming.grid import Grid, Speed
from liedyn_ros.retiming.law import Law
from liedyn_ros.retiming.limits import Machine, MotionLimits
from liedyn_ros.retiming.rows import Rows, SQUARED_ROWS

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_NEWTON = 8
_DOUBLINGS, _HALVINGS = 40, 50  # of z, from that of the run


class RetimedSamples(NamedTuple):
    """
    A run at K instants: t (K,), s; q (K, nq); v, a, jerk, torque and torque_rate (K, nv).

    Derivatives are by time. path_speed (K,) and path_acceleration are those of s.

    >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
    >>> run.at([0.0, run.duration]).torque.shape
    (2, 6)
    """

    t: Array
    s: Array
    q: Array
    v: Array
    a: Array
    jerk: Array
    torque: Array
    torque_rate: Array
    path_speed: Array
    path_acceleration: Array


class Margins(NamedTuple):
    """The rows of all limits at p (N, CHECKS) of each of N intervals, both ends included."""

    model: Model
    p: Array
    states: Rows
    rates: Rows

    def within(self, rows: Rows, grid: Grid, unknowns: Array) -> Array:
        """
        Return how much of each limit of some rows is used (N, CHECKS, R): 1 where it binds.

        The second derivative of z is that of the interval, at its ends too.
        """
        return rows.used(Speed(*(each[:, 0] for each in self.speed(grid, unknowns)))).reshape(
            *self.p.shape, -1)

    def speed(self, grid: Grid, unknowns: Array) -> Speed:
        """Return the speed at the places of the rows, (N CHECKS, 1) each."""
        z, dz, ddz = (each[:grid.intervals, None] for each in grid.at_ends(unknowns))
        s: Array = self.p - grid.ends[:-1, None]
        return Speed(*(each.reshape(-1, 1) for each in (
            z + s * (dz + 0.5 * s * ddz), dz + s * ddz, np.broadcast_to(ddz, s.shape))))

    def eased(self, share: float) -> Margins:
        """Return the margins of limits that are a share of their own."""
        return self._replace(states=self.states.eased(share), rates=self.rates.eased(share))

    def fine_rows(self) -> tuple[Rows, Rows]:
        """Return the rows of states and of rates at the ends and middles of intervals."""
        intervals, count = self.p.shape
        places = np.append(
            (count * np.arange(intervals)[:, None] + [0, count // 2]).ravel(), self.p.size - 1)
        return self.states.at(places), self.rates.at(places)

    def at_grid(self) -> Margins:
        """Return the margins at both ends and the middle of each interval alone."""
        count = self.p.shape[1]
        columns: NDArray[np.int64] = np.array([0, count // 2, count - 1])
        places = (count * np.arange(len(self.p))[:, None] + columns).ravel()
        return self._replace(p=self.p[:, columns], states=self.states.at(places),
                             rates=self.rates.at(places))

    def used(self, grid: Grid, unknowns: Array) -> dict[tuple[str, str], Array]:
        """Return by limit and coordinate how much of it the run takes (N, CHECKS)."""
        result: dict[tuple[str, str], Array] = {}
        for rows in (self.states, self.rates):
            values = self.within(rows, grid, unknowns)
            for column, key in enumerate(zip(rows.names, rows.of)):
                share = values[..., column]
                if key[0] in SQUARED_ROWS:
                    share = np.sqrt(share)
                result[key] = np.maximum(result.get(key, -np.inf), share)
        return result

    def worst(self, rows: Rows, grid: Grid, unknowns: Array) -> Array:
        """
        Return how much is used at most in each interval (N, R), between the checks too.

        A parabola through three checks exceeds them by an eighth of their second difference.
        """
        values = self.within(rows, grid, unknowns)
        if self.p.shape[1] <= 3:
            return values.max(axis=1)
        between = np.abs(np.diff(values, 2, axis=1)).max(axis=1) / 8.0
        return values.max(axis=1) + between

    def most(self, grid: Grid, unknowns: Array) -> float:
        """Return how much of its limit the worst row uses anywhere, between the checks too."""
        return float(max((self.worst(rows, grid, unknowns).max()
                          for rows in (self.states, self.rates) if rows.bound.size), default=0.0))

    def worst_place(self, grid: Grid, unknowns: Array) -> tuple[float, float, Rows, int, int]:
        """Return the worst row: its share, p, rows, place and column."""
        found = []
        for rows in (self.states, self.rates):
            used = self.worst(rows, grid, unknowns)
            if used.size:
                at, row = map(int, np.unravel_index(np.argmax(used), used.shape))
                found.append((float(used.max()), rows, at, row))
        share, rows, interval, row = max(found, key=lambda each: each[0])
        place = int(np.argmax(self.within(rows, grid, unknowns)[interval, :, row]))
        return (share, float(self.p[interval, place]), rows,
                interval * self.p.shape[1] + place, row)


@dataclass(frozen=True)
class Retimed:
    """
    The fastest run along a path that was found.

    dynamics, limits and external wrenches are those that retime was called with. law and grid say
    where the path is when, unknowns are their numbers, margins the rows of all limits. round_times
    has the duration (s) of the uniform run, then that of each round; without the uniform run where
    ends are passed. used has the used share of each limit at each place.

    >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
    >>> run.duration <= run.uniform_duration
    True
    """

    dynamics: Machine
    limits: MotionLimits
    law: Law
    grid: Grid
    unknowns: Array
    external: Array | None
    margins: Margins
    round_times: tuple[float, ...]
    _find_lower_bound: Callable[[], float]

    @cached_property
    def interval_times(self) -> Array:
        """Return the instants (N + 1,) at the ends of the intervals, s."""
        return travel_time(self.grid, self.unknowns)

    @property
    def duration(self) -> float:
        """Return the time of the run, s."""
        return float(self.interval_times[-1])

    @cached_property
    def lower_bound(self) -> float:
        """
        Return the time (s) without limits of rates, a convex problem: no run is faster.

        It is that of the grid, whose error may leave it above the run's own time: then it is this.
        """
        return min(self._find_lower_bound(), self.duration)

    @property
    def uniform_duration(self) -> float:
        """Return the time of the fastest run that only slows the path's own law down, s."""
        return self.round_times[0] if self.law.start is self.law.end is None else np.inf

    @cached_property
    def used(self) -> dict[tuple[str, str], Array]:
        """Return how much of each limit is used, by limit and coordinate, at margins.p."""
        return self.margins.used(self.grid, self.unknowns)

    @property
    def binding(self) -> list[tuple[str, str]]:
        """Return for each interval the limit and coordinate that uses most of its limit."""
        keys, values = list(self.used), np.array(list(self.used.values())).max(axis=2)
        return [keys[k] for k in values.argmax(axis=0)]

    def at(self, t: ArrayLike) -> RetimedSamples:
        """
        Return the run at instants.

        Args:
            t: (K,) from 0 to duration; s.

        Returns:
            the samples.

        Raises:
            LimitError: for an instant beyond.

        >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
        >>> run.at([0.0, run.duration]).q.round(6)[-1]
        array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
        """
        t = as_array('t', t, (-1,))
        if len(t) and not (t.min() >= 0.0 and t.max() <= self.duration):
            raise LimitError(f't: expected instants from 0 to {self.duration:.9g} s, '
                             f'got {t.min():.9g} to {t.max():.9g}')
        p = self.place(t)
        z, dz, ddz = self.grid.evaluate(self.unknowns, p)
        root = np.sqrt(z)
        return self.passed(t, p, root, dz / 2.0, root * ddz / 2.0)

    def passed(self, t: Array, p: Array, speed: Array, acceleration: Array, jerk: Array
               ) -> RetimedSamples:
        """
        Return the path passed at places whose derivatives by time are given.

        Args:
            t: times (K,); s.
            p: places (K,) of the law.
            speed: their derivatives (K,); 1/s.
            acceleration: second ones; 1/s^2.
            jerk: third ones; 1/s^3.

        Returns:
            the samples.

        >>> run, none = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20), np.zeros(1)
        >>> run.passed(none, none, none, none, none).v.any().item()
        False
        """
        path = self.law(p)
        p1, p2, p3 = (each[:, None] for each in (speed, acceleration, jerk))
        v, a = path.v * p1, path.a * p1**2 + path.v * p2
        third = path.jerk * p1**3 + 3.0 * path.a * p1 * p2 + path.v * p3
        wrenches = None if self.external is None else np.broadcast_to(
            self.external, (len(t), *self.external.shape))
        tau = torques(self.dynamics, path.q, v, np.stack([a, third], axis=1), wrenches)
        s, ds, dds, _ = self.law.derivatives(p)
        return RetimedSamples(t, s, path.q, v, a, third, tau[:, 0], tau[:, 1], ds * speed,
                              dds * speed**2 + ds * acceleration)

    def place(self, t: Array) -> Array:
        """
        Return the places of the law at instants, by Newton's method in the interval of each.

        Args:
            t: (K,) from 0 to duration; s.

        Returns:
            p (K,).

        >>> run = retime(robot, SplinePath(model, [q, q + 0.5]), intervals=20)
        >>> run.place(np.array([0.0, run.duration])).round(9)
        array([0., 1.])
        """
        last = self.grid.intervals - 1
        k = np.clip(np.searchsorted(self.interval_times, t, side='right') - 1, 0, last)
        start, width = self.grid.ends[k], np.diff(self.grid.ends)[k]
        span = self.interval_times[k + 1] - self.interval_times[k]
        p = start + width * (t - self.interval_times[k]) / span
        for _ in range(_NEWTON):
            error = elapsed(self.grid, self.unknowns, start, p) - (t - self.interval_times[k])
            p -= error * np.sqrt(self.grid.evaluate(self.unknowns, p)[0])
            p = np.clip(p, start, start + width)
        return p


def travel_time(grid: Grid, unknowns: Array) -> Array:
    """Return the time (N + 1,) at the ends of intervals, the integral of dp / sqrt(z)."""
    return np.concatenate([[0.0], np.cumsum(elapsed(
        grid, unknowns, grid.ends[:-1], grid.ends[1:]))])


def elapsed(grid: Grid, unknowns: Array, start: Array, end: Array) -> Array:
    """Return the time from start to end (K,), each within an interval."""
    half = (end - start) / 2.0
    p = (start + end)[:, None] / 2.0 + half[:, None] * _NODES
    z = grid.evaluate(unknowns, p.ravel())[0].reshape(p.shape)
    return half * (_WEIGHTS / np.sqrt(z)).sum(axis=1)


class PhasePlane(NamedTuple):
    """Places s (K,) of a path, the speed ds/dt of a run there, and the highest one possible."""

    s: Array
    speed: Array
    limit: Array


def phase_plane(run: Retimed) -> PhasePlane:
    """
    Return the speeds along the path of a run, and those at which limits leave no acceleration.

    These limits are of velocity, acceleration and torque, as TOPP has them; limits of rates have
    none at a place by itself. limit is infinite where none of them bounds the speed.
    """
    margins = run.margins.at_grid()
    p = margins.p.ravel()
    z = run.grid.evaluate(run.unknowns, p)[0]
    s, ds, *_ = run.law.derivatives(p)
    highest = _highest(margins.states, z)
    limit = np.where(np.isinf(highest), np.inf, ds * np.sqrt(np.where(
        np.isinf(highest), 0.0, highest)))
    return PhasePlane(s, ds * np.sqrt(z), limit)


def _highest(rows: Rows, z: Array) -> Array:
    """Return at each grid point the largest squared speed (K,) for which a slope exists."""
    low, high = z, z
    for _ in range(_DOUBLINGS):
        kept = _possible(rows, high)
        low, high = np.where(kept, high, low), np.where(kept, 2.0 * high, high)
    unbounded = _possible(rows, high)
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        kept = _possible(rows, middle)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return np.where(unbounded, np.inf, low)


def _possible(rows: Rows, z: Array) -> Array:
    """Return whether some slope keeps all rows at z (K,)."""
    room = rows.bound - rows.constant - rows.value * z[:, None] - rows.root * np.sqrt(z)[:, None]
    with np.errstate(divide='ignore', invalid='ignore'):
        ends = room / rows.slope
    most = np.where(rows.slope > 0.0, ends, np.inf).min(axis=1, initial=np.inf)
    least = np.where(rows.slope < 0.0, ends, -np.inf).max(axis=1, initial=-np.inf)
    still = np.where(rows.slope == 0.0, room, np.inf).min(axis=1, initial=np.inf)
    return np.asarray((most >= least) & (still >= 0.0))
