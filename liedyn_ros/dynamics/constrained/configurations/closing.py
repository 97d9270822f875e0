# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One start of an assembly: from a configuration to the nearest one on the constraints."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_CONFIGURATION, STALLED_RESIDUAL)
from liedyn_ros.model import Model

ITERATIONS = 200  # of one start


class Bounds(NamedTuple):
    """Position limits of coordinates (k,): which ones, where they are in q, rad or m."""

    coordinate: NDArray[np.int64]
    at: NDArray[np.int64]
    lower: Array
    upper: Array

    def clipped(self, q: Array, step: Array) -> Array:
        """Return a step (nv,) that ends at the limits where it would go beyond."""
        step[self.coordinate] = np.clip(
            q[self.at] + step[self.coordinate], self.lower, self.upper) - q[self.at]
        return step

    def beyond(self, q: Array) -> NDArray[np.int64]:
        """Return the coordinates whose positions in q (nq,) are off limits."""
        at = q[self.at]
        return self.coordinate[(at < self.lower) | (at > self.upper)]

    def stops(self, q: Array, slope: Array) -> NDArray[np.int64]:
        """Return the coordinates that a descent along a slope (nv,) would take off limits."""
        slope = slope[self.coordinate]
        return self.coordinate[((q[self.at] <= self.lower) & (slope > 0.0))
                               | ((q[self.at] >= self.upper) & (slope < 0.0))]


def bounds_of(model: Model, free: NDArray[np.bool_]) -> Bounds:
    """Return the position limits of the coordinates of a mask (nv,)."""
    lower, upper = model.limits.lower, model.limits.upper
    found = np.flatnonzero(free & (np.isfinite(lower) | np.isfinite(upper)))
    return Bounds(found, model.link_table.position_at[found], lower[found], upper[found])


def close(constraints: Constraints, q: Array, free: NDArray[np.bool_],
          bounds: Bounds | None = None) -> tuple[Array, float]:
    """
    Return where Levenberg-Marquardt leads from q, and the largest residual there (12.31).

    Coordinates of the mask free (nv,) move. Those of bounds rest at a limit while the descent
    leads beyond. Residuals are compared with the sizes of their rows.
    """
    model, damping = constraints.model, 1e-3
    if bounds is not None:
        q = model.integrate(q, bounds.clipped(q, np.zeros(model.nv)))
    f, rows = _compared(constraints, q)
    cost = f @ f
    for _ in range(ITERATIONS):
        if np.abs(f).max(initial=0.0) <= CLOSED_CONFIGURATION:
            break
        moves = free.copy()
        if bounds is not None:
            moves[bounds.stops(q, rows.T @ f)] = False
        step = _step(rows[:, moves], f, damping, moves)
        trial = model.integrate(q, step if bounds is None else bounds.clipped(q, step))
        trial_f, trial_rows = _compared(constraints, trial)
        if trial_f @ trial_f < cost:
            gain = 1.0 - (trial_f @ trial_f) / cost
            q, f, rows, cost = trial, trial_f, trial_rows, trial_f @ trial_f
            damping = max(0.1 * damping, 1e-15)
            if gain < 1e-6 and cost > STALLED_RESIDUAL**2:
                break  # a minimum that is not closed
        else:
            damping *= 10.0
            if damping > 1e8:
                break
    return q, float(np.abs(f).max(initial=0.0))


def _step(a: Array, f: Array, damping: float, moves: NDArray[np.bool_]) -> Array:
    """Return the damped step (nv,) of the coordinates that move, no longer than pi."""
    normal, step = a.T @ a, np.zeros(len(moves))
    scale = damping * max(np.diag(normal).max(initial=0.0), 1e-12)
    step[moves] = -np.linalg.solve(normal + scale * np.eye(len(normal)), a.T @ f)
    return step / max(1.0, np.abs(step).max(initial=0.0) / np.pi)


def _compared(constraints: Constraints, q: Array) -> tuple[Array, Array]:
    """Return residuals (m,) and their derivative (m, nv) over the sizes of the rows."""
    f, rows = constraints.residual_and_jacobian(q)
    return f / constraints.row_sizes, rows / constraints.row_sizes[:, None]
