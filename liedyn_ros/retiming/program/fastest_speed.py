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
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
import scipy.sparse as sparse

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.grid import Grid, Speed
from liedyn_ros.retiming.rows import Rows

BINDING_SHARE = 0.5  # rows that use less of their limit than this enter once they bind
SLACK = 1e-7  # of a limit, by which a row left out may be exceeded before it enters
PARTIAL_ROUNDS, ROW_ROUNDS = 3, 20  # turns in which rows enter that are missing; then all enter
MIN_SPEED_RATIO = 1e-6  # of the uniform run's z, which a spline keeps above between the ends too
DUALITY_GAPS = 1e-6, 1e-5, 1e-4  # of the time, at which the solver stops; the next where it stalls
Whole: TypeAlias = NDArray[np.integer[Any]]
REFINEMENT = 1e-8  # of a side, to which the solver refines its linear equations
PENALTY = 1e3  # times of the uniform run, for limits that are exceeded by their whole size


class LinearRows(NamedTuple):
    """
    Rows slope z' + value z + curvature z'' + lifted y <= rest, (K, R) each.

    Without curvature they stand at the fine grid, with it at the places of limits.
    """

    curvature: Array | None
    slope: Array
    value: Array
    lifted: Array
    rest: Array


def inner(rows: Rows, at: Speed) -> LinearRows:
    """Return rows that imply those of states, linear and exact at a speed (15.5)."""
    y = at.root[:, None]
    above = np.maximum(rows.root, 0.0)  # sqrt(z) lies below its tangent, and y below sqrt(z)
    return _of_states(rows, rows.value + above / (2.0 * y), np.minimum(rows.root, 0.0),
                      rows.bound - rows.constant - above * y / 2.0)


def outer(rows: Rows, at: Speed) -> LinearRows:
    """Return rows that follow from those of states: the bound on time from below (15.5)."""
    y = at.root[:, None]
    below = np.minimum(rows.root, 0.0)
    return _of_states(rows, rows.value + below / (2.0 * y), np.maximum(rows.root, 0.0),
                      rows.bound - rows.constant - below * y / 2.0)


def _of_states(rows: Rows, value: Array, lifted: Array, rest: Array) -> LinearRows:
    """Return rows in parts of their limits, so that limits of any size make the same program."""
    return LinearRows(None, *(each / rows.bound for each in (rows.slope, value, lifted, rest)))


def inner_rates(rows: Rows, at: Speed) -> LinearRows:
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
    return LinearRows(*(scale * each for each in (
        rows.curvature, rows.slope + by_slope, rows.value + by_value + rows.bound / (2.0 * y * z),
        np.zeros_like(rows.value), 1.5 * rows.bound / y - rows.constant - rest)))


class PathEnd(NamedTuple):
    """An end of the path, 0 or -1, that is passed with a given z, and z' and z'' unless None."""

    at: int
    z: float
    dz: float | None
    ddz: float | None = None

    def scaled(self, z: float) -> PathEnd:
        """Return the end of a path run at the speed sqrt(z)."""
        return PathEnd(self.at, self.z / z, *(
            None if each is None else each / z for each in (self.dz, self.ddz)))


class Triplets(NamedTuple):
    """Entries of a matrix: rows, columns and values (K,)."""

    row: Whole
    column: Whole
    entry: Array

    def below(self, rows: int) -> Triplets:
        """Return the entries that many rows further down."""
        return self._replace(row=self.row + rows)


class Bands(NamedTuple):
    """Places (K,) of the fine grid, first column of each, and three entries (K, 3) of matrices."""

    fine: Whole
    first: Whole
    bands: list[Array]


class FastestSpeed:
    """
    min of the sum of w d, d >= 1 / y, y <= sqrt(z), under linear rows (15.7).

    The cones are of second order; with clarabel's power cone the program stalls. Rows far from
    their limits enter only once the solution reaches them. Where ends are passed at a given speed,
    all limits may be exceeded by one share of them, at a price (15.10).
    """

    def __init__(self, grid: Grid, ends: Sequence[PathEnd] = (),
                 budget: RetimingBudget | None = None, hopeless: float = np.inf) -> None:
        """Lay out the cones on a grid. Limits exceeded by the share hopeless raise an error."""
        self._budget, self._hopeless = budget or RetimingBudget(), hopeless
        self._grid, self._count = grid, grid.intervals + 1
        self._fixed, self._fixed_sides = _fixed(grid, ends)
        fine: Whole = np.arange(2 * grid.intervals + 1)
        bands, of = grid.bands(), np.minimum(3 * (fine // 2) + fine % 2, len(grid.places) - 1)
        self._fine = Bands(fine, of // 3, [each[of] for each in bands[:2]])
        self._places = Bands(grid.places, np.arange(len(grid.places)) // 3, bands)
        self._cones, self._cone_sides = self._lifts()

    def solve(self, linear: list[LinearRows], start: Array) -> tuple[Array, float]:
        """
        Return the coefficients of z, and the share by which limits are exceeded.

        start (N + 2,) tells which rows are near their limits. Nothing is exceeded without ends
        that are passed. Raises ConvergenceError.
        """
        columns, entries, sides = self._rows(linear)
        unknowns = np.concatenate([start, np.sqrt(self._grid.at_ends(start).z)])
        scale = np.maximum(np.abs(sides), 1e-3)
        left: Array = (entries * unknowns[columns]).sum(axis=1) - sides
        taken: NDArray[np.bool_] = left > (BINDING_SHARE - 1.0) * scale
        shared = np.arange(len(sides)) < len(sides) - self._grid.unknowns  # z stays above zero
        for turn in range(ROW_ROUNDS):
            unknowns, excess = self._conic(columns[taken], entries[taken], sides[taken],
                                           int((taken & shared).sum()))
            if excess > self._hopeless:  # by further rows they are exceeded further
                raise ConvergenceError(f'retiming: expected limits exceeded by at most '
                                       f'{self._hopeless:g} of them, got {excess:.3g}')
            left = (entries * unknowns[columns]).sum(axis=1) - sides
            missing = ~taken & (left > excess * shared + SLACK * scale)
            if not missing.any():
                return unknowns[:self._grid.unknowns], excess
            # A few rows a turn would take hundreds of turns
            taken |= missing | (turn >= PARTIAL_ROUNDS)
        raise ConvergenceError(f'retiming: expected all limits within {ROW_ROUNDS} rounds, '
                               f'got {np.count_nonzero(missing)} still exceeded')

    def _rows(self, linear: list[LinearRows]) -> tuple[Whole, Array, Array]:
        """Return columns and entries (M, 5) of all rows, by coefficients of z and y, and sides."""
        n, columns, entries, sides = self._grid.unknowns, [], [], []
        for rows in linear:
            at = self._fine if rows.curvature is None else self._places
            given = [rows.value, rows.slope]
            given += [] if rows.curvature is None else [rows.curvature]
            place, column = np.nonzero(np.any([*given, rows.lifted], axis=0))
            lifted = 0.5 * rows.lifted[place, column, None]  # y between two ends is their mean
            of_z = np.sum([values[place, column, None] * band[place]
                           for values, band in zip(given, at.bands)], axis=0)
            entries.append(np.hstack([of_z, lifted, lifted]))
            fine = at.fine[place, None]
            columns.append(np.hstack([at.first[place, None] + np.arange(3), n + fine // 2,
                                      n + (fine + 1) // 2]))
            sides.append(rows.rest[place, column])
        least = np.zeros((n, 5))  # coefficients above zero keep z above it
        least[:, 0] = -1.0
        columns.append(np.repeat(np.arange(n)[:, None], 5, axis=1))
        return (np.concatenate(columns), np.concatenate([*entries, least]),
                np.concatenate([*sides, np.full(n, -MIN_SPEED_RATIO)]))

    def _lifts(self) -> tuple[Triplets, Array]:
        """Return the cones |(2 y, z - 1)| <= z + 1 and |(2, d - y)| <= d + y, three rows each."""
        count, at = self._count, np.arange(self._count)
        y, d = self._grid.unknowns + at, self._grid.unknowns + count + at
        z: Whole = self._fine.first[::2, None] + np.arange(3)
        band = self._fine.bands[0][::2]
        row: Whole = 6 * at
        parts = [(np.repeat(row + of, 3), z.ravel(), -band.ravel()) for of in (0, 2)] + [
            (row + of, column, np.full(count, entry)) for of, column, entry in (
                (1, y, -2.0), (3, y, -1.0), (3, d, -1.0), (5, y, 1.0), (5, d, -1.0))]
        sides = np.tile([1.0, 0.0, -1.0, 0.0, 2.0, 0.0], count)
        return Triplets(*map(np.concatenate, zip(*parts))), sides

    def _conic(self, columns: Whole, entries: Array, sides: Array, limits: int
               ) -> tuple[Array, float]:
        """Return the coefficients of z and y under some rows, the first of limits; and excess."""
        require_extra('retiming', 'clarabel', reason='retiming solves conic programs')
        import clarabel  # here: paths and limits need no solver
        count, total = self._count, self._grid.unknowns + 2 * self._count
        fixed, own = len(self._fixed_sides), len(sides)
        parts = [self._fixed, Triplets(np.repeat(fixed + np.arange(own), 5), columns.ravel(),
                                       entries.ravel()), self._cones.below(fixed + own)]
        cost: Array = np.zeros(total)
        cost[-count:] = self._grid.weights
        cones = [clarabel.ZeroConeT(fixed)] if fixed else []
        cones += [clarabel.NonnegativeConeT(own)]
        cones += [clarabel.SecondOrderConeT(3)] * (2 * count)
        given = np.concatenate([self._fixed_sides, sides, self._cone_sides])
        if fixed:  # the last unknown is the share, above zero, by which limits are exceeded
            shared = np.append(fixed + np.arange(limits), len(given))
            parts.append(Triplets(shared, np.full(limits + 1, total), np.full(limits + 1, -1.0)))
            given, cost = np.append(given, 0.0), np.append(cost, PENALTY)
            cones.append(clarabel.NonnegativeConeT(1))
        rows = _matrix(parts, (len(given), len(cost)))
        for gap in DUALITY_GAPS:
            self._budget.look()
            solution = clarabel.DefaultSolver(
                sparse.csc_matrix((len(cost), len(cost))), cost, rows, given, cones,
                _settings(clarabel.DefaultSettings(), gap, self._budget.left)).solve()
            if str(solution.status) in ('Solved', 'AlmostSolved'):
                found = np.array(solution.x)
                return found[:total - count], max(found[-1], 0.0) if fixed else 0.0
        self._budget.look()  # which may be why there is none
        raise ConvergenceError('retiming: expected a solution within the limits, got none to '
                               f'{DUALITY_GAPS[-1]:g} of the time; give other intervals')


def _fixed(grid: Grid, ends: Sequence[PathEnd]) -> tuple[Triplets, Array]:
    """Return the equations of the speeds at the ends, by all unknowns of the program (15.9)."""
    none: Whole = np.zeros(0, dtype=int)
    parts, sides = [Triplets(none, none, np.zeros(0))], list[float]()
    for at, *given in ends:
        first: Whole = np.arange(3) + (0 if at == 0 else grid.intervals - 1)
        for band, side in zip(grid.bands(), given):
            if side is not None:
                parts.append(Triplets(np.full(3, len(sides)), first, band[at]))
                sides.append(side)
    return Triplets(*map(np.concatenate, zip(*parts))), np.array(sides)


def _matrix(parts: list[Triplets], shape: tuple[int, int]) -> sparse.csc_matrix:
    """Return the sparse matrix of some entries; those of one place are added."""
    row, column, entry = map(np.concatenate, zip(*parts))
    kept = entry != 0.0
    return sparse.coo_matrix((entry[kept], (row[kept], column[kept])), shape).tocsc()


def _settings(settings: Any, gap: float, seconds: float) -> Any:
    """Return settings for one thread that stop at a gap of the time."""
    settings.verbose, settings.max_threads, settings.time_limit = False, 1, seconds
    settings.tol_gap_abs = settings.tol_gap_rel = gap
    settings.iterative_refinement_abstol = settings.iterative_refinement_reltol = REFINEMENT
    settings.tol_feas = max(settings.tol_feas, 1e-2 * gap)
    return settings
