# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The least time under limits that are linear in the speed's square: one conic program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sparse

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.grid import Grid, Speed
from liedyn_ros.retiming.rows import Rows

NEAR = 0.25  # rows that use less of their limit than this enter once they bind
SLACK = 1e-7  # of a limit, by which a row left out may be exceeded before it enters
FEW, ROUNDS = 3, 20  # turns in which rows enter that are missing; then all enter
LEAST = 1e-6  # of the uniform run's z, which a spline keeps above between the ends too
GAPS = 1e-6, 1e-5, 1e-4  # of the time, at which the solver stops; the next where it stalls
PENALTY = 1e3  # times of the uniform run, for limits that are exceeded by their whole size


class Linear(NamedTuple):
    """
    Rows slope z' + value z + curvature z'' + lifted y <= rest, (K, R) each.

    Without curvature they stand at the fine grid, with it at the places of limits.
    """

    curvature: Array | None
    slope: Array
    value: Array
    lifted: Array
    rest: Array


def inner(rows: Rows, at: Speed) -> Linear:
    """Return rows that imply those of states, linear and exact at a speed (15.5)."""
    y = at.root[:, None]
    above = np.maximum(rows.root, 0.0)  # sqrt(z) lies below its tangent, and y below sqrt(z)
    return _of_states(rows, rows.value + above / (2.0 * y), np.minimum(rows.root, 0.0),
                      rows.bound - rows.constant - above * y / 2.0)


def outer(rows: Rows, at: Speed) -> Linear:
    """Return rows that follow from those of states: the bound on time from below (15.5)."""
    y = at.root[:, None]
    below = np.minimum(rows.root, 0.0)
    return _of_states(rows, rows.value + below / (2.0 * y), np.maximum(rows.root, 0.0),
                      rows.bound - rows.constant - below * y / 2.0)


def _of_states(rows: Rows, value: Array, lifted: Array, rest: Array) -> Linear:
    """Return rows in parts of their limits, so that limits of any size make the same program."""
    return Linear(None, *(each / rows.bound for each in (rows.slope, value, lifted, rest)))


def inner_rates(rows: Rows, at: Speed) -> Linear:
    """
    Return rows for those of rates, linear and exact at a speed (15.6).

    They imply those of rates where nothing is viscous: 1 / sqrt(z) lies above its tangent.
    Viscous terms are linearized, and may need a smaller step.
    """
    z, dz, _ = (each[:, None] for each in at)
    y = np.sqrt(z)
    by_value = rows.root_value / (2.0 * y) - rows.root_slope * dz / (2.0 * y * z)
    by_slope = rows.root_slope / y
    rest = (rows.root_value * y + rows.root_slope * dz / y) / 2.0
    scale = y / rows.bound
    return Linear(*(scale * each for each in (
        rows.curvature, rows.slope + by_slope, rows.value + by_value + rows.bound / (2.0 * y * z),
        np.zeros_like(rows.value), 1.5 * rows.bound / y - rows.constant - rest)))


class End(NamedTuple):
    """An end of the path, 0 or -1, that is passed with a given z, and z' unless it is None."""

    at: int
    z: float
    dz: float | None


class FastestSpeed:
    """
    min of the sum of w d, d >= 1 / y, y <= sqrt(z), under linear rows (15.7).

    The cones are of second order; with clarabel's power cone the program stalls. Rows far from
    their limits enter only once the solution reaches them. Where ends are passed at a given speed,
    all limits may be exceeded by one share of them, at a price (15.10).
    """

    def __init__(self, grid: Grid, ends: Sequence[End] = (),
                 budget: RetimingBudget | None = None) -> None:
        """Lay out the cones on a grid, with the speeds at its ends."""
        self._budget = budget or RetimingBudget()
        self._grid, self._count = grid, grid.intervals + 1
        self._fixed, self._fixed_sides = _fixed(grid, ends)
        fine = np.arange(2 * grid.intervals + 1)  # y between two ends is their mean
        self._lift = sparse.csr_matrix(
            (np.full(2 * len(fine), 0.5), (np.repeat(fine, 2), np.stack(
                [fine // 2, (fine + 1) // 2], axis=1).ravel())))
        self._cones, self._cone_sides = self._lifts()

    def solve(self, linear: list[Linear], start: Array) -> tuple[Array, float]:
        """
        Return the coefficients of z, and the share by which limits are exceeded.

        start (N + 2,) tells which rows are near their limits. Nothing is exceeded without ends
        that are passed. Raises ConvergenceError.
        """
        matrix, sides = self._matrix(linear)
        unknowns = np.concatenate([start, np.sqrt(self._grid.value[::2] @ start)])
        scale = np.maximum(np.abs(sides), 1e-3)
        taken = (matrix @ unknowns - sides) > (NEAR - 1.0) * scale
        shared = np.arange(len(sides)) < len(sides) - self._grid.unknowns  # z stays above zero
        for turn in range(ROUNDS):
            unknowns, excess = self._conic(matrix[taken], sides[taken],
                                           np.count_nonzero(taken & shared))
            missing = ~taken & (matrix @ unknowns - sides > excess * shared + SLACK * scale)
            if not missing.any():
                return unknowns[:self._grid.unknowns], excess
            taken |= missing | (turn >= FEW)  # a few rows a turn would take hundreds of turns
        raise ConvergenceError(f'retiming: expected all limits within {ROUNDS} rounds, '
                               f'got {np.count_nonzero(missing)} still exceeded')

    def _matrix(self, linear: list[Linear]) -> tuple[sparse.csr_matrix, Array]:
        """Return the matrix and the right sides of all rows, by coefficients of z and by y."""
        grid, blocks, sides = self._grid, [], []
        for rows in linear:
            given = [rows.value, rows.slope, rows.lifted]
            given += [] if rows.curvature is None else [rows.curvature]
            place, column = np.nonzero(np.abs(given).sum(axis=0))
            fine = place if rows.curvature is None else grid.places[place]
            parts = [(rows.value, grid.value, fine), (rows.slope, grid.slope, fine)]
            if rows.curvature is not None:
                parts.append((rows.curvature, grid.curvature, place))
            entries = sum(_weighted(values[place, column], matrix[at])
                          for values, matrix, at in parts)
            lifted = _weighted(rows.lifted[place, column], self._lift[fine])
            blocks.append(sparse.hstack([entries, lifted]))
            sides.append(rows.rest[place, column])
        blocks.append(-sparse.eye(grid.unknowns, grid.unknowns + self._count))
        sides.append(np.full(grid.unknowns, -LEAST))  # coefficients above zero keep z above it
        return sparse.vstack(blocks).tocsr(), np.concatenate(sides)

    def _lifts(self) -> tuple[sparse.csc_matrix, Array]:
        """Return the cones |(2 y, z - 1)| <= z + 1 and |(2, d - y)| <= d + y, three rows each."""
        count, n = self._count, self._grid.unknowns
        cones = np.zeros((count, 2, 3, n + 2 * count))
        at, sides = np.arange(count), np.zeros((count, 2, 3))
        cones[:, 0, 0, :n] = cones[:, 0, 2, :n] = -self._grid.value[::2].toarray()
        cones[at, 0, 1, n + at] = -2.0
        cones[at, 1, 0, n + at] = cones[at, 1, 0, n + count + at] = -1.0
        cones[at, 1, 2, n + at], cones[at, 1, 2, n + count + at] = 1.0, -1.0
        sides[:, 0, 0], sides[:, 0, 2], sides[:, 1, 1] = 1.0, -1.0, 2.0
        return sparse.csc_matrix(cones.reshape(6 * count, -1)), sides.ravel()

    def _conic(self, matrix: sparse.csr_matrix, sides: Array, limits: int
               ) -> tuple[Array, float]:
        """Return the coefficients of z and y under some rows, the first of limits; and excess."""
        count, total = self._count, self._cones.shape[1]
        fixed = len(self._fixed_sides)
        blocks = [self._fixed, sparse.hstack([matrix, _nothing(matrix.shape[0], count)]),
                  self._cones]
        cost = np.zeros(total)
        cost[-count:] = self._grid.weights
        cones = [clarabel.ZeroConeT(fixed)] if fixed else []
        cones += [clarabel.NonnegativeConeT(matrix.shape[0])]
        cones += [clarabel.SecondOrderConeT(3)] * (2 * count)
        rows = sparse.vstack(blocks)
        given = np.concatenate([self._fixed_sides, sides, self._cone_sides])
        if fixed:  # the last unknown is the share, above zero, by which limits are exceeded
            shares = np.zeros((rows.shape[0], 1))
            shares[fixed:fixed + limits] = -1.0
            least = sparse.csr_matrix(([-1.0], ([0], [total])))
            rows = sparse.vstack([sparse.hstack([rows, shares]), least])
            given, cost = np.append(given, 0.0), np.append(cost, PENALTY)
            cones.append(clarabel.NonnegativeConeT(1))
        for gap in GAPS:
            self._budget.look()
            solution = clarabel.DefaultSolver(
                sparse.csc_matrix((len(cost), len(cost))), cost, rows.tocsc(), given, cones,
                _settings(gap, self._budget.left)).solve()
            if str(solution.status) in ('Solved', 'AlmostSolved'):
                found = np.array(solution.x)
                return found[:total - count], max(found[-1], 0.0) if fixed else 0.0
        self._budget.look()  # which may be why there is none
        raise ConvergenceError('retiming: expected a solution within the limits, got none to '
                               f'{GAPS[-1]:g} of the time; give other intervals')


def _fixed(grid: Grid, ends: Sequence[End]) -> tuple[sparse.csr_matrix, Array]:
    """Return the equations of the speeds at the ends, by all unknowns of the program (15.9)."""
    rows, sides = [_nothing(0, grid.unknowns)], []
    for at, z, dz in ends:
        rows.append(grid.value[[at]])
        sides.append(z)
        if dz is not None:
            rows.append(grid.slope[[at]])
            sides.append(dz)
    return sparse.hstack([sparse.vstack(rows), _nothing(len(sides), 2 * (grid.intervals + 1))
                          ]).tocsr(), np.array(sides)


def _nothing(rows: int, columns: int) -> sparse.csr_matrix:
    """Return a matrix without entries."""
    return sparse.csr_matrix((rows, columns))


def _settings(gap: float, seconds: float) -> clarabel.DefaultSettings:
    """Return settings for one thread that stop at a gap of the time."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.time_limit = False, 1, seconds
    settings.tol_gap_abs = settings.tol_gap_rel = gap
    settings.tol_feas = max(settings.tol_feas, 1e-2 * gap)
    return settings


def _weighted(weights: Array, rows: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return rows, each times its weight."""
    return sparse.diags(weights) @ rows
