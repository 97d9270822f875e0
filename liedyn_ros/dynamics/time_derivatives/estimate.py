# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The estimated rounding error of each order of forward and hybrid dynamics.

Masses, forces and wrenches in another unit describe the same motion, but all numbers that depend
on them are rounded differently. So the orders in two units differ by about their rounding error.
The estimate is the root mean square of the differences from two units (7.42). theory 7.7 has the
share of estimates within a factor of ten.
"""

from functools import partial
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.batch.pool import BatchPool, LaneTables
from liedyn_ros.dynamics.time_derivatives.kernels.aba import (
    compare, hybrid_derivatives, ZERO_THRESHOLD)
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.jit.bound_kernel import BoundKernel

NO_DIGIT = 0.1  # of the largest entry: an order with that error has no digit left
TRIED_MASS_UNITS = 3.0, 1.0 / 3.0  # kg; no powers of two, which round as 1 does
ERROR_ADVICE = ', or set max_error'


class ErrorEstimator:
    """Solves the equations of one model in other units of mass; threads may share it."""

    def __init__(self, constants: Constants) -> None:
        """Lay out the constants in each unit."""
        self._constants = [
            Constants(constants.model, constants.dissipation, unit) for unit in TRIED_MASS_UNITS]
        self._data = Data(constants)
        self._kernels: tuple[int, list[BoundKernel]] = -1, []  # and the order they are for
        self._lanes = [BatchPool(partial(LaneTables, other)) for other in self._constants]

    def error(self, q: Array, v: Array, prescribed: NDArray[np.bool_], a: Array, tau: Array,
              external: Array) -> Array:
        """
        Return the error of each order of a and tau (r + 1, nv), the larger of both (r + 1,).

        It is relative to the largest entry; inf if there is no solution in another unit.
        """
        return np.sqrt(self._compare(q, v, prescribed, a, tau, external)[0])

    def require_digits(self, taken: tuple[Any, ...], max_error: float) -> None:
        """Raise LimitError for the first order, of what `error` takes, that exceeds a limit."""
        squares, largest = self._compare(*taken)
        if not largest <= max_error:
            require_digits(np.sqrt(squares), max_error, ERROR_ADVICE)

    def _compare(self, q: Array, v: Array, prescribed: NDArray[np.bool_], a: Array, tau: Array,
                 external: Array) -> tuple[Array, float]:
        """Return the square of the error of each order, and the largest error."""
        squares, largest = np.zeros(len(a)), 0.0
        for unit, solve in zip(TRIED_MASS_UNITS, self._for_order(len(a) - 1)):
            other_a, other_tau = a.copy(), unit * tau
            loads = unit * external if len(external) else external
            if solve.call(q, v, prescribed, other_a, other_tau, loads) != DONE:
                return np.full(len(a), math.inf), math.inf
            largest = compare(a, tau, other_a, other_tau, unit, 1.0 / len(TRIED_MASS_UNITS),
                              squares)
        return squares, largest

    def _for_order(self, order: int) -> list[BoundKernel]:
        """Return the kernel of each unit, with scratch buffers up to an order."""
        most, kernels = self._kernels
        if order > most:
            buffer = self._data.series_buffer(order)
            kernels = [BoundKernel(hybrid_derivatives, other.table, self._data.table, buffer)
                       for other in self._constants]
            self._kernels = order, kernels  # at once: other threads read them
        return kernels

    def require_batch_digits(self, q: Array, v: Array, prescribed: NDArray[np.bool_], a: Array,
                             tau: Array, external: Array, max_error: float) -> None:
        """Raise LimitError for the first order of the first state (K, ...) that exceeds it."""
        squares: Array = np.zeros(a.shape[:2])
        for unit, lanes in zip(TRIED_MASS_UNITS, self._lanes):
            other_a, other_tau = a.copy(), unit * tau

            def task(tables: LaneTables, *arrays: Array) -> tuple[int, int]:
                return tables.hybrid(prescribed, *arrays)

            state, code = lanes.run(task, (q, v, other_a, other_tau, unit * external))
            if code != DONE:
                squares[state] = math.inf
            squares += np.maximum(
                relative_difference(a, other_a),
                relative_difference(tau, other_tau / unit))**2 / len(TRIED_MASS_UNITS)
        error = np.sqrt(squares)
        lost = np.flatnonzero(~(error <= max_error).all(axis=1))
        if len(lost):
            require_digits(error[lost[0]], max_error, ERROR_ADVICE, f'[{lost[0]}], ')


def require_digits(error: Array, max_error: float, advice: str = '', state: str = '') -> None:
    """Raise LimitError for the first order whose relative error exceeds a limit."""
    lost = np.flatnonzero(~(error <= max_error))
    if len(lost):
        raise LimitError(
            f'{state}order {lost[0]}: expected a relative error of {max_error:g} at most, got '
            f'{error[lost[0]]:.2g}; lower the order{advice}',
            expected=max_error, got=float(error[lost[0]]), indices=lost[:1])


def relative_difference(x: Array, y: Array) -> Array:
    """Return the largest difference of each row over the largest entry (K, r + 1)."""
    largest = np.abs(x).max(axis=2, initial=0.0)
    smallest = ZERO_THRESHOLD * np.maximum(1.0, largest[:, :1])
    return np.asarray(np.abs(x - y).max(axis=2, initial=0.0) / np.maximum(largest, smallest))
