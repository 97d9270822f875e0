# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The input of constrained dynamics: checked, copied, with an axis of orders."""

from __future__ import annotations

import math
from typing import cast, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_finite, wrong_shape
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.solver.tasks import Task
from liedyn_ros.dynamics.tree.inputs import MAX_ORDER
from liedyn_ros.model.configuration import with_unit_quaternions


class States(NamedTuple):
    """
    One state or K states, and the known part of their motion and forces.

    q, v, a, tau and external have an axis of K states first, or none. a and tau have an axis of
    orders next; single says that none was given. external are Taylor coefficients (B, orders, 6).
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    external: Array
    single: bool

    def state(self, s: int) -> States:
        """Return one of K states."""
        return States(self.q[s], self.v[s], self.a[s], self.tau[s], self.external[s], self.single)


class Inputs:
    """Checks the input of tasks; where a task does not read a or tau, these become zero."""

    def __init__(self, constraints: Constraints) -> None:
        """Take a machine."""
        self.model = constraints.model
        self._unknown = [function.name for function in constraints.functions
                         if function.jacobian_series is None]

    def one(self, task: Task, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
            tau: ArrayLike | None, external: ArrayLike | None) -> States:
        """Return a state. a may be None if nothing of it is read; tau None is zero."""
        return self._checked(task, self.model.check_configuration(q), v, a, tau, external)

    def many(self, task: Task, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
             tau: ArrayLike | None, external: ArrayLike | None) -> States:
        """Return K states, with the first axis of each array."""
        return self._checked(task, self._batch(q), v, a, tau, external)

    def _checked(self, task: Task, q: Array, v: ArrayLike, a: ArrayLike | None,
                 tau: ArrayLike | None, external: ArrayLike | None) -> States:
        shape = q.shape[:-1]
        v = np.array(as_array('v', v, (*shape, self.model.nv)))
        if a is not None or task.reads_a.any():
            a, single = self._orders('a', cast(ArrayLike, a), shape, task.reads_a)
            tau = np.zeros_like(a) if tau is None else self._like(
                'tau', tau, a, single, task.reads_tau)
        else:
            tau, single = self._orders('tau', cast(ArrayLike, tau), shape, task.reads_tau)
            a = np.zeros(tau.shape)
        return States(q, v, a, tau, self._wrenches(external, a.shape[:-1], single), single)

    def _batch(self, q: ArrayLike) -> Array:
        array = as_numbers('q', q)
        if array.ndim != 2 or array.shape[1] != self.model.nq:
            raise ShapeError(f'q: expected shape (K, {self.model.nq}), a state a row, '
                             f'got {array.shape}', names=('q',), expected=(self.model.nq,),
                             got=array.shape)
        return with_unit_quaternions(self.model.link_table, np.array(array))

    def _orders(self, name: str, value: ArrayLike, shape: tuple[int, ...],
                read: NDArray[np.bool_]) -> tuple[Array, bool]:
        """Return derivatives (*shape, order + 1, nv), zero where not read; whether all are one."""
        array, core = as_numbers(name, value), (*shape, self.model.nv)
        single = array.ndim == len(core)
        rows = array[..., None, :] if single else array
        if (rows.ndim != len(core) + 1 or (*rows.shape[:-2], rows.shape[-1]) != core
                or not rows.shape[-2]):
            turned = array.ndim > len(shape) + 1 and (
                *array.shape[:-2], array.shape[-2]) == core
            wanted = (*shape, 'r + 1', self.model.nv)
            raise ShapeError(f'{name}: expected shape {core}, or ({", ".join(map(str, wanted))}), '
                             'a row for each order of differentiation, got '
                             f'{array.shape}{": transposed?" * turned}', names=(name,),
                             expected=core, got=array.shape)
        order = rows.shape[-2] - 1
        if order > MAX_ORDER:
            raise LimitError(f'{name}: expected orders 0 to {MAX_ORDER}, got {order}',
                             names=(name,), expected=(0, MAX_ORDER), got=order)
        if order > 0 and self._unknown:
            raise LimitError(
                f'{name}: expected order 0 alone, as the constraint functions {self._unknown} '
                f'have no jacobian_series, got {order}', names=self._unknown, got=order)
        rows = rows.copy() if read.all() else np.where(read, rows, 0.0)
        return require_finite(name, rows), single

    def _like(self, name: str, value: ArrayLike, known: Array, single: bool,
              read: NDArray[np.bool_]) -> Array:
        """Return derivatives as many as those known, zero where they are not read."""
        array = as_numbers(name, value)
        shape = (*known.shape[:-2], known.shape[-1]) if single else known.shape
        if array.shape != shape:
            raise wrong_shape(name, shape, array)
        return require_finite(name, np.where(read, array.reshape(known.shape), 0.0))

    def _wrenches(self, external: ArrayLike | None, rows: tuple[int, ...], single: bool) -> Array:
        """Return Taylor coefficients of external wrenches; without bodies if none are given."""
        shape, orders, core = rows[:-1], rows[-1], (len(self.model.bodies), 6)
        if external is None:
            return np.zeros((*shape, 0, orders, 6))
        wrenches = as_array('external', external, (*(shape if single else rows), *core))
        return wrench_series(wrenches.reshape(*rows, *core))


def wrench_series(wrenches: Array) -> Array:
    """Return Taylor coefficients (..., B, orders, 6) of derivatives (..., orders, B, 6)."""
    orders = wrenches.shape[-3]
    if orders == 1:
        return np.array(wrenches, order='C').reshape(
            *wrenches.shape[:-3], wrenches.shape[-2], 1, 6)
    factorials = np.array([math.factorial(k) for k in range(orders)])
    return np.ascontiguousarray(
        np.swapaxes(wrenches / factorials[:, None, None], -3, -2))
