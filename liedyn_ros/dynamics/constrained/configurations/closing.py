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
from liedyn_ros.dynamics.constrained.configurations.kernels.closing import (
    begin_closing, CLOSING, CLOSING_WIDTH, continue_closing, EVALUATE)
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.model import Model


class Bounds(NamedTuple):
    """Position limits of coordinates (k,): which ones, where they are in q, rad or m."""

    coordinate: NDArray[np.int64]
    at: NDArray[np.int64]
    lower: Array
    upper: Array

    def beyond(self, q: Array) -> NDArray[np.int64]:
        """Return the coordinates whose positions in q (nq,) are off limits."""
        at = q[self.at]
        return self.coordinate[(at < self.lower) | (at > self.upper)]


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
    return Closing(constraints, free, bounds).close(q)


class Closing:
    """Closing of configurations, one after another, by the same tables; for one thread."""

    def __init__(self, constraints: Constraints, free: NDArray[np.bool_],
                 bounds: Bounds | None = None) -> None:
        """Lay out the tables."""
        self._constraints, self._tables = constraints, closing_tables(constraints, free, bounds)
        self._q, self._f, self._trial, self._trial_f, self._trial_rows = (
            CLOSING.array(self._tables, name)
            for name in ('q', 'f', 'trial', 'trial_f', 'trial_rows'))

    def close(self, q: Array) -> tuple[Array, float]:
        """Return where the descent leads from q, and the largest residual there."""
        workspace, evaluate = (
            self._constraints.data.workspace, self._constraints.residual_and_jacobian_at)
        begin_closing(workspace, self._tables, self._constraints.model.check_configuration(q))
        command = EVALUATE
        while command == EVALUATE:
            self._trial_f[:], self._trial_rows[:] = evaluate(self._trial)
            command = continue_closing(workspace, self._tables)
        return self._q.copy(), float(np.abs(self._f).max(initial=0.0))


def closing_tables(constraints: Constraints, free: NDArray[np.bool_],
                   bounds: Bounds | None = None) -> Array:
    """Return the tables of a start."""
    model, m = constraints.model, constraints.m
    nq, nv, limits = model.nq, model.nv, np.full((2, model.nv), np.inf)
    if bounds is not None:
        limits[:, bounds.coordinate] = -bounds.lower, bounds.upper
    return CLOSING.pack(
        numbers=np.zeros(CLOSING_WIDTH), free=free, lower=-limits[0], upper=limits[1],
        size=constraints.row_sizes, q=np.zeros(nq), f=np.zeros(m), rows=np.zeros((m, nv)),
        trial=np.zeros(nq), trial_f=np.zeros(m), trial_rows=np.zeros((m, nv)),
        normal=np.zeros(nv * nv), right=np.zeros(nv), step=np.zeros(nv), moving=np.zeros(nv))
