# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The input of constrained dynamics, with an axis of orders, and its tasks."""

from __future__ import annotations

from functools import lru_cache
import math
from typing import cast, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_finite, wrong_shape
from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.kernels.tables import TASK
from liedyn_ros.dynamics.constrained.solver.kernels import solver as kernels
from liedyn_ros.dynamics.tree.inputs import MAX_ORDER
from liedyn_ros.model.configuration import with_unit_quaternions

Mask = NDArray[np.bool_]

NO_USUAL_RANK = np.iinfo(np.int64).max
LEAST_TORQUE, LEAST_FORCE = 'least_torque', 'least_force'  # of inverse dynamics


class Sharing(TypedDict, total=False):
    """Arguments of inverse dynamics that choose joint forces, where several have a motion."""

    tau: ArrayLike | None
    actuated: ArrayLike | None
    redundancy: str
    weights: ArrayLike | None


class Task(NamedTuple):
    """
    A task of the kernel: HYBRID, LEAST_FORCE or LEAST_TORQUE, and the array of a TASK.

    reads_a and reads_tau (nv,) are masks of the input that it reads, driven (nv,) that of the
    actuated coordinates. unprescribed says that it reads no acceleration.
    """

    kind: int
    table: Array
    reads_a: Mask
    reads_tau: Mask
    driven: Mask
    unprescribed: bool

    @property
    def weight(self) -> Array:
        """Return 1 / sqrt(W) (m,) of LEAST_FORCE, or 1 / Q (nv,) of LEAST_TORQUE."""
        return TASK.array(self.table, 'weight')

    def of_rank(self, most: int) -> Task:
        """Return the task where the constraints count with a rank of at most `most`."""
        table = self.table.copy()
        TASK.array(table, 'most')[0] = most
        return self._replace(table=table)


def hybrid_task(free: Mask) -> Task:
    """Return the task of hybrid dynamics, given the mask of unknown accelerations (nv,)."""
    return _hybrid(free.tobytes())


@lru_cache(maxsize=256)
def _hybrid(free: bytes) -> Task:
    """Return the task of hybrid dynamics, given the bytes of the mask of free coordinates."""
    unknown = np.frombuffer(free, dtype=np.bool_)
    table = TASK.pack(kind=[kernels.HYBRID_TASK], free=unknown, most=[NO_USUAL_RANK], chosen=[],
                      weight=[], limit=[])
    return Task(kernels.HYBRID_TASK, table, ~unknown, unknown, unknown, bool(unknown.all()))


def inverse_task(constraints: Constraints, actuated: ArrayLike | None = None,
                 redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
                 limits: Array | None = None) -> tuple[Mask, Task]:
    """
    Return the actuated coordinates (nv,), and the task of inverse dynamics under constraints.

    actuated names them, or is a mask; by default those of the model. Spins of rods, which nothing
    drives, count as actuated too. limits (nv,) bound the forces of least torque. Raises
    LiedynError for another redundancy, name or mask, and ShapeError, NotFiniteError or LimitError
    for wrong weights.
    """
    driven = (constraints.model.leading if actuated is None
              else constraints.names.mask('actuated', actuated))
    driven = driven | idle_spins(constraints, driven)
    if not isinstance(redundancy, str) or redundancy not in (LEAST_TORQUE, LEAST_FORCE):
        raise LiedynError(f'redundancy: expected {LEAST_TORQUE} or {LEAST_FORCE}, '
                          f'got {redundancy!r}')
    if weights is None:
        return driven, _unweighted(constraints.m, driven.tobytes(), redundancy,
                                   None if limits is None else limits.tobytes())
    return driven, _weighted(constraints.m, driven, redundancy, weights, limits)


@lru_cache(maxsize=256)
def _unweighted(m: int, actuated: bytes, redundancy: str, limits: bytes | None) -> Task:
    """Return the task with unit weights; actuated are bytes of bool (nv,), limits of float64."""
    return _weighted(m, np.frombuffer(actuated, dtype=np.bool_), redundancy, None,
                     None if limits is None else np.frombuffer(limits))


def _weighted(m: int, actuated: Mask, redundancy: str, weights: ArrayLike | None,
              limits: Array | None) -> Task:
    passive, everywhere = np.flatnonzero(~actuated), np.ones(len(actuated), dtype=np.bool_)
    if redundancy == LEAST_FORCE or (len(passive) == m and limits is None):
        kind, free, chosen = kernels.LEAST_FORCE_TASK, ~everywhere, passive
        weight = 1.0 / np.sqrt(_weights(weights if redundancy == LEAST_FORCE else None, m))
    else:
        kind, free, chosen = kernels.LEAST_TORQUE_TASK, everywhere, np.flatnonzero(actuated)
        weight = 1.0 / _weights(weights, len(actuated))
    table = TASK.pack(kind=[kind], free=free, most=[NO_USUAL_RANK], chosen=chosen,
                      weight=weight, limit=[] if limits is None else limits)
    return Task(kind, table, everywhere, everywhere, actuated.copy(), False)


def _weights(weights: ArrayLike | None, size: int) -> Array:
    if weights is None:
        return np.ones(size)
    array = as_array('weights', weights, (size,))
    if not (array > 0.0).all():
        raise LimitError(f'weights: expected numbers above 0, got {array.tolist()}')
    return array


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
