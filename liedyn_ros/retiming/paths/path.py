# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Geometric paths: configurations by a parameter s, their parts and chains, and moving ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import DescriptionWarning, LimitError, warn
from liedyn_ros.lie.time_derivatives import twists_of_exponential
from liedyn_ros.model import Joint, JOINT_TYPES, Model

PATH_DEGREE = 5  # of splines: the third derivative is continuous
LONGEST_MOVE = 1.0 / np.finfo(float).eps  # rad or m of a move; a longer one has no digit of a turn


class PathSamples(NamedTuple):
    """
    A path at K values of s: q (K, nq); v, a and jerk (K, nv) by s, not by time.

    >>> SplinePath(model, [q, q + 0.5])(np.array([0.0, 0.1])).jerk.shape
    (2, 6)
    """

    q: Array
    v: Array
    a: Array
    jerk: Array


class Path(Protocol):
    """
    Anything that gives the samples of a path; s runs from 0 to length.

    >>> path: Path = SplinePath(model, [q, q + 0.5])
    >>> round(path.length, 6)
    1.224745
    """

    length: float

    def __call__(self, s: Array) -> PathSamples:
        """
        Return the samples of the path.

        Args:
            s: places (K,) from 0 to length; rad or m.

        Returns:
            q (K, nq), and three derivatives by s.

        >>> SplinePath(model, [q, q + 0.5])(np.array([0.0, 0.1])).v.shape
        (2, 6)
        """


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

    >>> moving = SplinePath(model, [q, q + 0.5], start=[v, 0.0 * v])
    >>> moving.end is None, moving.start.speed > 0.0
    (True, True)
    """

    def __init__(self, model: Model, waypoints: ArrayLike, start: ArrayLike | None = None,
                 end: ArrayLike | None = None) -> None:
        """
        Fit the spline.

        Args:
            model: a Model.
            waypoints: (K, nq), rad and m.
            start: (2, nv), v and a at the begin; at rest by default.
            end: (2, nv), as start, at the end.

        Raises:
            LimitError, NotInGroupError.
        """
        self.model, self.waypoints = model, as_array('waypoints', waypoints, (-1, model.nq))
        note_turns(model, self.waypoints)
        self._curved = [joint.v_slice for joint in curved_joints(model)]
        if self._curved and end is not None and np.any(end):
            raise LimitError('end: expected rest, as joints turn in space, got a motion')
        self.length, self._of, self.start, self.end = spline(self._coordinates(), start, end)

    def __call__(self, s: ArrayLike) -> PathSamples:
        """
        Return the samples of the path.

        Args:
            s: places (K,) from 0 to length; rad or m.

        Returns:
            q (K, nq), and three derivatives by s.

        >>> SplinePath(model, [q, q + 0.5])([0.0, 0.1]).v.shape
        (2, 6)
        """
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
        degree = PATH_DEGREE
        of = make_interp_spline(knots, waypoints, k=degree, bc_type=tuple(
            list(enumerate(rows, 1)) if len(rows) else [(3, np.zeros(size)), (4, np.zeros(size))]
            for _, rows in ends))
    else:
        # One polynomial below: kinks would break strict
        degree = min(PATH_DEGREE, len(waypoints) - 1)
        of = make_interp_spline(  # old releases of SciPy place no knots of even degrees
            knots, waypoints, k=degree, t=None if degree == PATH_DEGREE else
            np.repeat(knots[[0, -1]], degree + 1))
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
        if not abs(move).max() < LONGEST_MOVE:
            raise LimitError(
                f'waypoints[{k + 1}]: expected a move of less than {LONGEST_MOVE:.3g} from the '
                f'one '
                f'before, got {abs(move).max():g}', names=(f'waypoints[{k + 1}]',),
                expected=LONGEST_MOVE, got=float(abs(move).max()))
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


class MovingEnd(NamedTuple):
    """
    How a run passes an end of its path: speed ds/dt > 0; acceleration d^2s/dt^2, None for any.

    Both are of the path's own s. Where rates of torque are limited and the machine moves already,
    the acceleration decides whether its torque is continuous.

    >>> MovingEnd(0.5).acceleration is None
    True
    """

    speed: float
    acceleration: float | None = None


def end_of(name: str, motion: ArrayLike, size: int) -> tuple[MovingEnd | None, Array]:
    """
    Return how a path is passed where it has a velocity and an acceleration by time.

    motion (2, size) has both. The second result has the derivatives (2, size) of the path by s: a
    path with these goes on as the motion does. At rest there are none (15.16). Raises ShapeError
    and NotFiniteError.
    """
    v, a = as_array(name, motion, (2, size))
    speed = float(np.linalg.norm(v))
    if speed == 0.0:
        return None, np.zeros((0, size))
    along = v / speed
    acceleration = float(a @ along)
    return (MovingEnd(speed, acceleration),
            np.array([along, (a - acceleration * along) / speed**2]))


def require_no_ends(start: ArrayLike | None, end: ArrayLike | None) -> None:
    """Raise LimitError where lines with rounded corners are to begin or end in motion."""
    for name, motion in (('start', start), ('end', end)):
        if motion is not None and np.any(motion):
            raise LimitError(f'{name}: expected rest with a blend, as lines have their own '
                             'direction, got a motion; take the spline')


JOIN_TOLERANCE = 1e-9  # of the largest derivative, to which paths that are joined agree


class PathPart:
    """
    A path from one of its s to another; its own s begins at 0.

    Raises LimitError unless 0 <= start < end <= length of the path.

    >>> round(PathPart(SplinePath(model, [q, q + 0.5]), 0.1, 0.3).length, 6)
    0.2
    """

    def __init__(self, path: Path, start: float, end: float) -> None:
        """
        Take the path and the part of it.

        Args:
            path: of which it is a part.
            start: where it begins, s of the path.
            end: where it ends.

        Raises:
            LimitError: unless 0 <= start < end <= length of the path.
        """
        if not 0.0 <= start < end <= path.length:
            raise LimitError(f'expected 0 <= start < end <= {path.length:.9g}, got start = '
                             f'{start!r} and end = {end!r}')
        self.path, self.start, self.length = path, float(start), float(end - start)

    def __call__(self, s: Array) -> PathSamples:
        """
        Return the samples of the part.

        Args:
            s: places (K,) from 0 to length; rad or m.

        Returns:
            q (K, nq), and three derivatives by s.

        >>> PathPart(SplinePath(model, [q, q + 0.5]), 0.1, 0.3)(np.array([0.0])).q.shape
        (1, 6)
        """
        return self.path(np.clip(self.start + s, 0.0, self.path.length))


class JoinedPath:
    """
    Paths that follow each other without a stop.

    Each begins where the one before ends, in the same direction by s, with the same second
    derivative. Raises LimitError naming the pair and the derivative that differ. Paths that meet
    in a corner want a run each.

    >>> line = SplinePath(model, [q, q + 0.5])
    >>> parts = JoinedPath([PathPart(line, 0.0, 0.3), PathPart(line, 0.3, line.length)])
    >>> abs(parts.length - line.length) < 1e-9
    True
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """
        Take the paths, and compare their ends.

        Args:
            paths: in their order.

        Raises:
            LimitError: naming the pair and the derivative that differ.
        """
        if not paths:
            raise LimitError('paths: expected at least one, got none')
        self.paths = tuple(paths)
        self._starts = np.cumsum([0.0] + [path.length for path in self.paths])
        self.length = float(self._starts[-1])
        for k, (before, after) in enumerate(zip(self.paths, self.paths[1:])):
            end, start = before(np.array([before.length])), after(np.zeros(1))
            for name in ('q', 'v', 'a'):
                one, other = getattr(end, name)[0], getattr(start, name)[0]
                apart = np.abs(one - other).max()
                if not apart <= JOIN_TOLERANCE * max(1.0, np.abs(one).max()):
                    raise LimitError(f'paths[{k + 1}]: expected the {name} of the end before, '
                                     f'{one.tolist()}, got {other.tolist()}')

    def __call__(self, s: Array) -> PathSamples:
        """
        Return the samples of the path.

        Args:
            s: rising places (K,) from 0 to length; rad or m.

        Returns:
            q (K, nq), and three derivatives by s.

        >>> line = SplinePath(model, [q, q + 0.5])
        >>> first, second = PathPart(line, 0.0, 0.3), PathPart(line, 0.3, line.length)
        >>> JoinedPath([first, second])(np.array([0.0, 0.5])).q.shape
        (2, 6)
        """
        s = np.asarray(s, dtype=float)
        which = np.clip(np.searchsorted(self._starts, s, side='right') - 1, 0,
                        len(self.paths) - 1)
        parts = []
        for k in np.unique(which):
            own = s[which == k] - self._starts[k]
            parts.append(self.paths[k](np.clip(own, 0.0, self.paths[k].length)))
        return PathSamples(*(np.concatenate(each) for each in zip(*parts)))
