# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
An estimate of what rounding leaves of each order of forward and hybrid dynamics.

Masses, forces and wrenches in another unit describe the same motion, but every number that
depends on them is rounded differently. So what two units make of an order differs by about as
much as either is wrong. The estimate is 0.2 to 10 times the error, or more where rounding errors
cancel by chance.
"""

import math

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constants import Constants
from liedyn_ros.dynamics.data import Data
from liedyn_ros.dynamics.kernels import tables
from liedyn_ros.dynamics.kernels.aba import DONE
from liedyn_ros.dynamics.time_derivatives.kernels.aba import hybrid

UNITS = 3.0, 5.0  # kg; no powers of two, which round as 1 does
SMALL = 1e-6  # of order zero, or of 1 in SI units: rounding of numbers that are smaller is none


class ErrorEstimator:
    """Solves the equations of one model in other units of mass; for one thread at a time."""

    def __init__(self, constants: Constants) -> None:
        """Lay out a table for each unit."""
        self._data = Data(constants)
        self._tables = [_in_unit(constants, unit) for unit in UNITS]

    def error(self, q: Array, v: Array, prescribed: NDArray[np.bool_], a: Array, tau: Array,
              external: Array) -> Array:
        """
        Return how wrong each order of a and tau (r + 1, nv) is, the larger of both (r + 1,).

        It is relative to the largest entry; inf where another unit finds no solution.
        """
        error, room = np.zeros(len(a)), self._data.room(len(a) - 1)
        for unit, table in zip(UNITS, self._tables):
            other_a, other_tau = a.copy(), unit * tau
            if hybrid(table, self._data.table, room, q, v, prescribed, other_a, other_tau,
                      unit * external) != DONE:
                return np.full(len(a), math.inf)
            error = np.maximum(error, np.maximum(
                _difference(a, other_a), _difference(tau, other_tau / unit)))
        return error


def _in_unit(constants: Constants, unit: float) -> Array:
    """Return the table of constants with all that has a mass in it multiplied."""
    table, rows = constants.table.copy(), slice(constants.links, constants.rows)
    table[1:constants.links, tables.INERTIA:tables.INERTIA + 10] *= unit
    table[rows, tables.DAMPING] *= unit
    table[rows, tables.FRICTION] *= unit
    return table


def _difference(x: Array, y: Array) -> Array:
    """Return the largest difference of each row over the largest entry."""
    if not x.size:
        return np.zeros(len(x))
    largest = np.abs(x).max(axis=1)
    return np.abs(x - y).max(axis=1) / np.maximum(largest, SMALL * max(1.0, largest[0]))
