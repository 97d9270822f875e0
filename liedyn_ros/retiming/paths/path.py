# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Geometric paths: configurations and their derivatives by a parameter s."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import DescriptionWarning, LimitError, warn
from liedyn_ros.lie.time_derivatives import twists_of_exponential
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.retiming.paths.moving_end import end_of, MovingEnd

DEGREE = 5  # of splines: the third derivative is continuous
MAX_MOVE = 1.0 / np.finfo(float).eps  # rad or m of a move; a longer one has no digit of a turn


class PathSamples(NamedTuple):
    """A path at K values of s: q (K, nq); v, a and jerk (K, nv) by s, not by time."""

    q: Array
    v: Array
    a: Array
    jerk: Array


class Path(Protocol):
    """Anything that gives the samples of a path; s runs from 0 to length."""

    length: float

    def __call__(self, s: Array) -> PathSamples:
        """Return the samples at s (K,)."""


def note_turns(model: Model, waypoints: Array) -> None:
    """Warn where a joint without limits turns by more than half a turn between two waypoints."""
    for joint in model.joint_list:
        steps = np.diff(waypoints[:, joint.qi]) if joint.type_name == 'continuous' else np.empty(0)
        for k in np.flatnonzero(abs(steps) > np.pi)[:1]:
            warn(
                f'waypoints[{k + 1}]: {joint.name}, which has no limits, turns by {steps[k]:.4g} '
                'rad; where a planner keeps angles within pi, the short way is meant: give '
                f'numpy.unwrap(waypoints[:, {joint.qi}]) for it', DescriptionWarning)


class SplinePath:
    """
    A quintic spline through waypoints (K, nq) of a tree.

    s is the length of the polygon through the waypoints, rad or m. Below six waypoints the spline
    has a lower degree. That of spherical and free joints is one of exponential coordinates about
    the first waypoint, so all rotations are less than pi from its own.

    start and end are v and a (2, nv) by time, with which the machine passes there. The path has
    their direction and bend; the attributes start and end are those of retime, None at rest.
    A joint without limits that turns by more than pi between two waypoints, as angles that a
    planner keeps within pi do, has a DescriptionWarning.
    Raises LimitError for fewer than two waypoints, and for one that repeats or turns too far.
    Raises it too for an end in motion where joints turn in space; and NotInGroupError.
    """

    def __init__(self, model: Model, waypoints: ArrayLike, start: ArrayLike | None = None,
                 end: ArrayLike | None = None) -> None:
        """Fit the spline."""
        self.model, self.waypoints = model, as_array('waypoints', waypoints, (-1, model.nq))
        note_turns(model, self.waypoints)
        self._curved = [joint.v_slice for joint in curved_joints(model)]
        if self._curved and end is not None and np.any(end):
            raise LimitError('end: expected rest, as joints turn in space, got a motion')
        self.length, self._of, self.start, self.end = spline(self._coordinates(), start, end)

    def __call__(self, s: ArrayLike) -> PathSamples:
        """Return the samples at s (K,), from 0 to length."""
        rows = np.array([derivative(s) for derivative in self._of])
        if not self._curved:
            return PathSamples(*rows)
        q = np.array([self.model.integrate(self.waypoints[0], dv) for dv in rows[0]])
        rates: Array = rows[1:].copy()
        for at in self._curved:
            for k in range(rates.shape[1]):
                rates[:, k, at] = _rates(rows[:, k, at])
        return PathSamples(q.reshape(-1, self.model.nq), *rates)

    def _coordinates(self) -> Array:
        """Return the waypoints, about the first one where joints turn in space."""
        if not self._curved:
            return self.waypoints
        result = np.array([self.model.difference(self.waypoints[0], q) for q in self.waypoints])
        for joint in curved_joints(self.model):
            turns = result[:, joint.v_slice][:, :3]
            far = np.flatnonzero(np.linalg.norm(np.diff(turns, axis=0), axis=1) > np.pi)
            if len(far):
                raise LimitError(f'waypoints[{far[0] + 1}]: expected {joint.name} within pi of '
                                 'its rotation at the first waypoint all the way, got a turn '
                                 'beyond it; retime the parts by themselves')
        return result


def _rates(rows: Array) -> Array:
    """Return the twist and two derivatives (3, n) of exp of coordinates and three (4, n)."""
    full = np.zeros((4, 6))
    full[:, :rows.shape[1]] = rows  # a spherical joint has no travel
    return twists_of_exponential(full)[:, :rows.shape[1]]


class Spline(NamedTuple):
    """A curve by s up to length, its derivatives from 0 to 3, and how its ends are passed."""

    length: float
    of: list[BSpline]
    start: MovingEnd | None
    end: MovingEnd | None


def spline(waypoints: Array, start: ArrayLike | None = None, end: ArrayLike | None = None
           ) -> Spline:
    """Return the spline by the length of the polygon, passing its ends with motions (2, n)."""
    steps = chords(waypoints)
    knots = np.concatenate([[0.0], np.cumsum(steps)])
    size = waypoints.shape[1]
    ends = [end_of(name, np.zeros((2, size)) if motion is None else motion, size)
            for name, motion in (('start', start), ('end', end))]
    if any(passed for passed, _ in ends):
        degree = DEGREE
        of = make_interp_spline(knots, waypoints, k=degree, bc_type=tuple(
            list(enumerate(rows, 1)) if len(rows) else [(3, np.zeros(size)), (4, np.zeros(size))]
            for _, rows in ends))
    else:
        degree = min(DEGREE, len(waypoints) - 1)  # one polynomial below: kinks would break strict
        of = make_interp_spline(knots, waypoints, k=degree)
    return Spline(
        float(knots[-1]), [of, *(of.derivative(order) if order <= degree else _none(of)
                                 for order in (1, 2, 3))], ends[0][0], ends[1][0])


def chords(waypoints: Array) -> Array:
    """Return the lengths between waypoints; raises LimitError for less than two, or for equal."""
    if len(waypoints) < 2:
        raise LimitError(f'waypoints: expected at least 2, got {len(waypoints)}')
    return lengths(np.diff(waypoints, axis=0))


def lengths(moves: Array) -> Array:
    """Return lengths of the moves between waypoints, (K,); raises LimitError for 0 and too far."""
    for k, move in enumerate(moves):
        if not abs(move).max() < MAX_MOVE:
            raise LimitError(
                f'waypoints[{k + 1}]: expected a move of less than {MAX_MOVE:.3g} from the one '
                f'before, got {abs(move).max():g}', names=(f'waypoints[{k + 1}]',),
                expected=MAX_MOVE, got=float(abs(move).max()))
    steps = np.linalg.norm(moves, axis=1)
    if not steps.all():
        k = int(np.flatnonzero(steps == 0.0)[0])
        raise LimitError(
            f'waypoints: expected each to differ from the one before, got {k} and {k + 1} equal')
    return np.asarray(steps)


def curved_joints(model: Model) -> list[Joint]:
    """Return the joints whose q is no vector: spherical and free."""
    return [joint for joint in model.joint_list
            if JOINT_TYPES[joint.type_name].nq != JOINT_TYPES[joint.type_name].nv]


def _none(of: BSpline) -> BSpline:
    """Return the derivative of a spline beyond its degree."""
    return BSpline(of.t[[0, -1]], np.zeros((1, of.c.shape[1])), 0)
