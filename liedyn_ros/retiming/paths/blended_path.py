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
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model import Model
from liedyn_ros.retiming.paths.path import chords, curved_joints, PathSamples

# Integral of the step 6 x^5 - 15 x^4 + 10 x^3, highest power first; its value at 1 is 1/2.
_ROUNDED = np.array([1.0, -3.0, 2.5, 0.0, 0.0, 0.0, 0.0])


class BlendedPath:
    """
    Straight lines through waypoints (K, nq), whose corners are rounded by polynomials.

    A corner is left at blend before it, and joined at blend behind it, rad or m of the lines. A
    line shorter than two blends has none of its own left but its middle. The direction turns as
    the smooth step of degree five, so three derivatives by s are continuous. It passes a waypoint
    at less than 0.16 blend times the change of direction. Raises what SplinePath raises,
    LimitError for a blend that is not above zero, and ModelError for spherical and free joints.
    """

    def __init__(self, model: Model, waypoints: ArrayLike, blend: float) -> None:
        """Lay out the lines and the corners."""
        curved = [joint.name for joint in curved_joints(model)]
        if curved:
            raise ModelError(f'expected joints whose q is a vector, got {curved}: take a '
                             'SplinePath')
        self.model, self.waypoints = model, as_array('waypoints', waypoints, (-1, model.nq))
        steps = chords(self.waypoints)
        self.length = float(steps.sum())
        of = _piecewise(self.waypoints, steps, as_positive('blend', blend))
        self._of = [of, *(of.derivative(order) for order in (1, 2, 3))]

    def __call__(self, s: ArrayLike) -> PathSamples:
        """Return the samples at s (K,), from 0 to length."""
        return PathSamples(*(derivative(s) for derivative in self._of))


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
