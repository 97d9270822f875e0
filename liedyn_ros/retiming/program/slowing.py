# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How much a run is to be slowed, so that it keeps its limits within the intervals too."""

from __future__ import annotations

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.retiming.grid import Grid
from liedyn_ros.retiming.result import Margins
from liedyn_ros.retiming.rows import Rows, STATES

SLOWEST = 1e-16  # of z, below which no limit can be kept
FACTOR_TOLERANCE = 1e-7  # of the factor


def slowing(grid: Grid, unknowns: Array, margins: Margins) -> float:
    """
    Return the factor of z, at most 1, that keeps all limits within the intervals (15.8).

    Each row is a polynomial in the root of the factor, whose terms are found once. Rows that no
    factor brings to their limits are left out. Raises ConvergenceError.
    """
    rows = [_terms(margins, each, grid, unknowns) for each in (margins.states, margins.rates)
            if each.bound.size]

    def keeps_limits(factor: float) -> bool:
        return all(_most(powers, terms, factor) <= 1.0 for powers, terms in rows)

    if keeps_limits(1.0):
        return 1.0
    low, high = 0.25, 1.0
    while not keeps_limits(low):  # ends, since rest keeps all limits
        low, high = low / 4.0, low
        if low < SLOWEST:
            raise ConvergenceError('retiming: expected a run that a slower one brings within the '
                                   'limits; give more intervals')
    while high > low * (1.0 + FACTOR_TOLERANCE):
        middle = (low * high)**0.5
        low, high = (middle, high) if keeps_limits(middle) else (low, middle)
    return low


def _terms(margins: Margins, rows: Rows, grid: Grid, unknowns: Array) -> tuple[Array, Array]:
    """Return powers (3,) of the factor and the terms (3, M, CHECKS) of M rows of intervals."""
    z, dz, ddz = margins.speed(grid, unknowns)
    root, inner = np.sqrt(z), rows.slope * dz + rows.value * z
    if rows.kind == STATES:
        powers, terms = (1.0, 0.5, 0.0), (inner, rows.root * root, rows.constant)
    else:
        powers, terms = (1.5, 1.0, 0.5), (
            (inner + rows.curvature * ddz) * root, rows.root_value * z + rows.root_slope * dz,
            rows.constant * root)
    parts = np.moveaxis(np.reshape(
        [term / rows.bound for term in terms], (3, *margins.p.shape, -1)), 2, 3)
    bends = np.abs(np.diff(parts, 2, axis=3)).max(axis=3) / 8.0
    most = np.maximum(parts, 0.0).sum(axis=0).max(axis=2) + bends.sum(axis=0)
    return np.array(powers), parts[:, most > 1.0]


def _most(powers: Array, terms: Array, factor: float) -> float:
    """Return the largest share of a limit, between the checks too, as Margins.worst has it."""
    values = np.tensordot(factor**powers, terms, 1)
    between = np.abs(np.diff(values, 2, axis=1)).max(axis=1, initial=0.0) / 8.0
    return float((values.max(axis=1, initial=-np.inf) + between).max(initial=0.0))
