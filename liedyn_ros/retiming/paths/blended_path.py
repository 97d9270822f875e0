# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Straight lines between waypoints, with corners that are rounded."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PPoly

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3
from liedyn_ros.model import Model
from liedyn_ros.retiming.paths.path import curved_joints, lengths, note_turns, PathSamples

# Integral of the step 6 x^5 - 15 x^4 + 10 x^3, highest power first; its value at 1 is 1/2.
_ROUNDED = np.array([1.0, -3.0, 2.5, 0.0, 0.0, 0.0, 0.0])


class BlendedPath:
    """
    Straight lines through waypoints (K, nq), whose corners are rounded by polynomials.

    Where a joint is spherical or free, a line is the one rotation or screw from a waypoint to the
    next. A corner is left at blend before it, and joined at blend behind it, rad or m of the
    lines. A line shorter than two blends has none of its own left but its middle. The direction
    turns as the smooth step of degree five, so three derivatives by s are continuous. It passes a
    waypoint at less than 0.16 blend times the change of direction. Raises what SplinePath raises,
    and LimitError for a blend that is not above zero.

    >>> BlendedPath(model, [q, q + 0.5, q], blend=0.1).length > 0.0
    True
    """

    def __init__(self, model: Model, waypoints: ArrayLike, blend: float) -> None:
        """
        Lay out the lines and the corners.

        Args:
            model: a Model.
            waypoints: (K, nq), rad and m.
            blend: rad or m, from a corner to where it is left and joined.
        """
        self.model, self.waypoints = model, as_array('waypoints', waypoints, (-1, model.nq))
        note_turns(model, self.waypoints)
        self._curved = [joint.v_slice for joint in curved_joints(model)]
        if self._curved:
            self._moves: Array = np.array([model.difference(*pair) for pair in zip(
                self.waypoints, self.waypoints[1:])]).reshape(-1, model.nv)
        else:
            self._moves = np.diff(self.waypoints, axis=0)
        self.length, self._shares = rounded_shares(self._moves, blend)
        self.start = self.end = None  # at rest

    def __call__(self, s: ArrayLike) -> PathSamples:
        """
        Return the samples of the path.

        Args:
            s: places (K,) from 0 to length; rad or m.

        Returns:
            q (K, nq), and three derivatives by s.

        >>> BlendedPath(model, [q, q + 0.5, q], 0.1)([0.0, 0.2]).q.shape
        (2, 6)
        """
        shares = np.array([derivative(np.asarray(s, dtype=float)) for derivative in self._shares])
        rates: Array = shares[1:] @ self._moves
        if not self._curved:
            return PathSamples(self.waypoints[0] + shares[0] @ self._moves, *rates)
        for at in self._curved:
            rates[:, :, at] = along_screws(self._moves[:, at], shares)
        return PathSamples(np.array([self._configuration(each) for each in shares[0]]), *rates)

    def _configuration(self, shares: Array) -> Array:
        """Return q where shares (M,) of the moves are done, at most two of them in part."""
        first = int(np.count_nonzero(shares >= 1.0))
        q = self.waypoints[first]
        for k in range(first, len(shares)):
            if shares[k] <= 0.0:
                break
            q = self.model.integrate(q, shares[k] * self._moves[k])
        return q


def rounded_shares(moves: Array, blend: float) -> tuple[float, list[PPoly]]:
    """
    Return the length, and by s which share (M,) of each of the moves (M, n) is done (15.16).

    With three derivatives. In a corner the move before ends while the next one begins. Raises
    LimitError.
    """
    if not len(moves):
        raise LimitError('waypoints: expected at least 2, got 1')
    steps = lengths(moves)
    done = np.tri(len(moves) + 1, len(moves), -1)
    of = _piecewise(done, steps, as_positive('blend', blend))
    return float(steps.sum()), [of, *(of.derivative(order) for order in (1, 2, 3))]


def along_screws(screws: Array, shares: Array) -> Array:
    """
    Return the twist and two derivatives (3, K, n) of the product of exp(share screw) (15.16).

    screws (M, 6), or (M, 3) of rotations; shares (4, K, M) with three derivatives.
    """
    full = np.zeros((len(screws), 6))
    full[:, :screws.shape[1]] = screws
    v, dv, ddv = np.zeros((3, shares.shape[1], 6))
    for k, screw in enumerate(full):
        share, rate, bend, third = shares[:, :, k, None]
        back, turn = se3.adjoint(se3.exp(-share * screw)), se3.ad(screw).T
        x, dx, ddx = ((back @ each[..., None])[..., 0] for each in (v, dv, ddv))
        ddx = ddx - rate * (dx @ turn) - bend * (x @ turn)
        dx = dx - rate * (x @ turn)
        ddx = ddx - rate * (dx @ turn)
        v, dv, ddv = x + rate * screw, dx + bend * screw, ddx + third * screw
    return np.array([v, dv, ddv])[..., :screws.shape[1]]


def _piecewise(waypoints: Array, steps: Array, blend: float) -> PPoly:
    """Return the path by s: a line of each chord, and a corner at each inner waypoint."""
    directions = np.diff(waypoints, axis=0) / steps[:, None]
    at = np.concatenate([[0.0], np.cumsum(steps)])
    half = np.minimum(np.minimum(steps[:-1], steps[1:]) / 2.0, blend)  # of each corner
    knots, pieces, begin = [0.0], [], waypoints[0]
    for k, direction in enumerate(directions):
        start, end = knots[-1], at[k + 1] - (half[k] if k < len(half) else 0.0)
        if end > start:
            pieces.append(_polynomial([direction, begin]))
            knots.append(end)
            begin = begin + (end - start) * direction
        if k < len(half):
            width = 2.0 * half[k]
            turn = directions[k + 1] - direction
            powers = _ROUNDED[:, None] * turn * width / width**np.arange(6, -1, -1)[:, None]
            powers[5] += direction
            powers[6] += begin
            pieces.append(powers)
            knots.append(at[k + 1] + half[k])
            begin = begin + half[k] * (direction + directions[k + 1])
    return PPoly(np.stack(pieces, axis=1), knots)


def _polynomial(powers: list[Array]) -> Array:
    """Return the coefficients of degree six of a polynomial of less."""
    full = np.zeros((7, len(powers[0])))
    full[7 - len(powers):] = powers
    return full
