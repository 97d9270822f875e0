# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
What inverse, forward and hybrid dynamics share: the forms of an algorithm, and how kernels run.

An algorithm is an object with one call for each form:

    algorithm(q, v, ...)                        one state
    algorithm.time_derivatives(q, v, ...)       one state; a, tau, external with an axis of orders
    algorithm.batch(q, v, ...)                  K states, one a row
    algorithm.batch_time_derivatives(q, v, ...) K states, each with an axis of orders

A new algorithm is one module with one such class, and one attribute of Dynamics.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import borrowed
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model.configuration import with_unit_quaternions


class Algorithm:
    """
    The model and the tables that an algorithm works with.

    A call runs one kernel, which holds Python's lock: threads may share an algorithm, and an
    exception or an interrupt leaves nothing behind.
    """

    def __init__(self, constants: Constants, data: Data, lanes: BatchPool) -> None:
        """Take the constants, the data of calls that bring none, and the tables of batches."""
        self.model, self._constants, self._data, self._lanes = (
            constants.model, constants, data, lanes)
        self._nq, self._nv, self._bodies = self.model.nq, self.model.nv, len(self.model.bodies)
        self._q_shape, self._v_shape = (self._nq,), (self._nv,)
        self._wrench_shape = (self._bodies, 6)
        self._no_wrenches = np.empty((0, 6))
        self._no_wrench_rows = np.empty((0, self._bodies, 6))
        self._order, self._series_kernel = -1, BoundKernel(_unbound)

    def _tables(self, data: Data | None) -> tuple[Array, ...]:
        """Return the first arguments of kernels at order zero."""
        return self._constants.table, self._checked(data).table

    def _checked(self, data: Data | None) -> Data:
        if data is None:
            return self._data
        if data.constants.model is not self.model:
            raise LiedynError(f'data: expected data of {self.model.name}, got data of another '
                              f'model, {data.constants.model.name}')
        return data

    def _for_order(self, order: int, kernel: Any, with_data: bool, data: Data | None
                   ) -> BoundKernel:
        """Return a kernel bound to tables with room for an order."""
        if data is None and order <= self._order:
            return self._series_kernel
        used = self._checked(data)
        tables = (self._constants.table, *((used.table,) if with_data else ()), used.room(order))
        bound = BoundKernel(kernel, *tables)
        if data is None:
            self._series_kernel, self._order = bound, order
        return bound

    def _position(self, q: ArrayLike) -> Array:
        return with_unit_quaternions(self.model.link_table, borrowed('q', q, self._q_shape))

    def _rate(self, name: str, value: ArrayLike) -> Array:
        return borrowed(name, value, self._v_shape)

    def _wrenches(self, external: ArrayLike | None) -> Array:
        """Return wrenches (B, 6), or none (0, 6)."""
        if external is None:
            return self._no_wrenches
        return borrowed('external', external, self._wrench_shape)

    def _wrench_rows(self, external: ArrayLike | None, order: int) -> Array:
        """Return wrenches (order + 1, B, 6), or none (0, B, 6)."""
        if external is None:
            return self._no_wrench_rows
        return time_derivatives_of('external', external, (order + 1, *self._wrench_shape))

    def _states(self, q: ArrayLike) -> Array:
        """Return configurations (K, nq)."""
        shape = np.shape(q) if isinstance(q, np.ndarray) else ()
        if len(shape) == 1:
            raise ShapeError(f'q: expected shape (K, {self._nq}), a state a row, got {shape}')
        states = borrowed('q', q, (shape[0] if shape else -1, self._nq))
        return with_unit_quaternions(self.model.link_table, states)

    def _wrenches_of(self, external: ArrayLike | None, *axes: int) -> Array:
        """Return wrenches (*axes, B, 6), or none, with a first axis of 0."""
        if external is None:
            return np.empty((0, *axes[1:], *self._wrench_shape))
        return borrowed('external', external, (*axes, *self._wrench_shape))


def _unbound() -> None:
    """Stand where no kernel is bound yet."""


def time_derivatives_of(
        name: str, value: ArrayLike, shape: tuple[int, ...], take: Any = borrowed) -> Array:
    """Return an array with a row for each order, or raise ShapeError or LiedynError."""
    try:
        return take(name, value, shape)
    except ShapeError as error:
        given = np.shape(value)
        if len(given) == len(shape) and given[0] != shape[0] and given[1:] == shape[1:]:
            raise ShapeError(
                f'{name}: expected time derivatives 0 to {shape[0] - 1}, one a row, shape '
                f'{shape}, got {given[0]} rows') from error
        raise


def of_state(wrenches: Array, state: int) -> dict[str, Array]:
    """Return the wrenches on one state of a batch, if there are any, by name."""
    return {'external': wrenches[state]} if len(wrenches) else {}


def applied(wrenches: Array) -> dict[str, Array]:
    """Return wrenches, if there are any, by name."""
    return {'external': wrenches} if len(wrenches) else {}
