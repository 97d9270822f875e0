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

"""What constrained forward, hybrid and inverse dynamics share: checks, and the kernel's runs."""

from functools import cached_property, partial
import math
from typing import cast, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_finite
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.constrained.constraints import CLOSED, Constraints
from liedyn_ros.dynamics.constrained.data import ConstrainedData
from liedyn_ros.dynamics.constrained.kernels import batch, solver
from liedyn_ros.dynamics.constrained.kernels.tables import DEFECT, QUALITY, RANK, REPORT_WIDTH
from liedyn_ros.dynamics.constrained.mobility import Mobility, mobility
from liedyn_ros.dynamics.constrained.solution import (
    CONSISTENT, ConstrainedSolution, ConstrainedSolutions, ConstraintStatus, NEAR_SINGULAR)
from liedyn_ros.dynamics.inputs import stop
from liedyn_ros.dynamics.time_derivatives.orders import MAX_ORDER
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model
from liedyn_ros.model.configuration import with_unit_quaternions
from liedyn_ros.model.link_table import Indices

NOTHING, UNWEIGHTED = np.zeros(0, dtype=np.int64), np.zeros(0)


class Task(NamedTuple):
    """What solver.solve is told to seek."""

    kind: int
    free: NDArray[np.bool_]
    chosen: Indices = NOTHING
    weight: Array = UNWEIGHTED


class States(NamedTuple):
    """
    Checked states, and what is known of their motion and forces.

    Each array has the axes of shape, () or (K,), first. a and tau have an axis of orders next;
    single says that none was given. external are Taylor coefficients (B, orders, 6).
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    external: Array
    single: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Return () for one state, (K,) for a batch."""
        return self.q.shape[:-1]


class Results(NamedTuple):
    """What a task writes beside a and tau, and its reports."""

    multipliers: Array
    wrenches: Array
    report: Array


class BatchTables:
    """The tables of one thread that runs batches; they grow with the order."""

    def __init__(self, model: Model, dissipation: bool) -> None:
        """Lay out the tables of a model."""
        self._data = ConstrainedData(model, dissipation)
        m, closures = self._data.m, len(model.closures)
        self._position = np.zeros(closures), np.zeros(m), np.zeros((m, model.nv))

    def run(self, task: Task, *arrays: Array) -> tuple[int, int]:
        """Return the first state that was refused, their number if none, and the code."""
        data, orders = self._data, arrays[3].shape[1]  # of a
        data.make_room(orders - 1)
        return batch.solve_batch(
            data.machine, data.motion, data.by_row, data.by_column, data.space, *self._position,
            CLOSED, *task, *arrays)


class Solver:
    """Runs tasks on the tables of one ConstrainedDynamics, or of threads where states are many."""

    def __init__(self, constraints: Constraints, dissipation: bool) -> None:
        """Bind the kernel."""
        self.constraints, self.model = constraints, constraints.model
        self.everywhere = np.ones(self.model.nv, dtype=np.bool_)
        self.nowhere = np.zeros(self.model.nv, dtype=np.bool_)
        self._pool = BatchPool(partial(BatchTables, self.model, dissipation))
        self._bind()

    def _bind(self) -> None:
        """Bind the kernel to the tables, which are new where there is room for more orders."""
        data = self.constraints.data
        self._kernel = BoundKernel(
            solver.solve, data.machine, data.motion, data.by_row, data.by_column, data.space)

    @cached_property
    def mobility(self) -> Mobility:
        """Return what the constraints leave free where the machine is not singular."""
        return mobility(self.constraints)

    def states(self, batch: bool, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
               tau: ArrayLike | None, external: ArrayLike | None,
               reads: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> States:
        """
        Return checked input, copied; of a and of tau what is read, each (nv,).

        Either, not both, may be None, and is then zero.
        """
        q = self._batch(q) if batch else self.model.check_configuration(q)
        shape, nv = q.shape[:-1], self.model.nv
        v = np.array(as_array('v', v, (*shape, nv)))
        if a is not None:
            a, single = self._orders('a', a, shape, reads[0])
            tau = np.zeros_like(a) if tau is None else self._like('tau', tau, a, single, reads[1])
        else:
            tau, single = self._orders('tau', cast(ArrayLike, tau), shape, reads[1])
            a = np.zeros(tau.shape)
        return States(q, v, a, tau, self._press(external, a.shape[:-1], single), single)

    def run(self, task: Task, states: States, closed: bool) -> tuple[Results, int, int]:
        """
        Complete a and tau of states, required to be closed or not.

        Returns the rest, the number of states or the first that was refused, and the code.
        """
        q, v, a, tau, external, _ = states
        rows = a.shape[:-1]
        results = Results(
            np.zeros((*rows, self.constraints.m)),
            np.zeros((*rows, len(self.model.closures), 6)),
            np.zeros((*states.shape, REPORT_WIDTH)))
        arrays = external, q, v, a, tau, *results
        if not states.shape:
            return results, 0, self._run_one(task, arrays, closed, '')
        if not self.constraints.functions:
            s, code = self._pool.run(partial(_run, task=task), arrays)
            if code == batch.OPEN:
                self.constraints.require_closed_state(q[s], v[s], f'[{s}]')
            return results, s, code
        for s in range(len(q)):  # functions are Python's
            code = self._run_one(task, tuple(array[s] for array in arrays), closed, f'[{s}]')
            if code != solver.DONE:
                return results, s, code
        return results, len(q), solver.DONE

    def _run_one(self, task: Task, arrays: tuple[Array, ...], closed: bool, suffix: str) -> int:
        q, v, a = arrays[1:4]
        if closed:
            self.constraints.require_closed_state(q, v, suffix)
        self.constraints.write_functions(q, v)
        if self.constraints.make_room(len(a) - 1):
            self._bind()
        return int(self._kernel(*task, *arrays))

    def check(self, states: States, s: int, code: int, **given: Array) -> None:
        """Raise the error for a code of run, about its state and what was given with it."""
        if code != solver.DONE:
            one = (s,) if states.shape else ()
            row = (*one, 0) if states.single else one
            rows = {name: value[row] for name, value in given.items()}
            stop(self.model, code, suffix_of(states, s), states.q[one], v=states.v[one], **rows)

    def solution(self, states: States, results: Results, unprescribed: bool
                 ) -> ConstrainedSolution | ConstrainedSolutions:
        """Return what was computed of one state or of many."""
        at = (*(slice(None) for _ in states.shape), 0 if states.single else slice(None))
        arrays = (states.a[at], states.tau[at], results.multipliers[at], results.wrenches[at])
        if not states.shape:
            report = results.report
            return ConstrainedSolution(*arrays, int(report[RANK]), float(report[QUALITY]),
                                       self._status(report, unprescribed))
        return ConstrainedSolutions(
            *arrays, results.report[:, RANK].astype(np.int64), results.report[:, QUALITY].copy(),
            tuple(self._status(report, unprescribed) for report in results.report))

    def _status(self, report: Array, unprescribed: bool) -> ConstraintStatus:
        rank, m = int(report[RANK]), self.constraints.m
        if report[DEFECT] > CONSISTENT:
            return ConstraintStatus.INCONSISTENT
        if unprescribed and rank < m and rank < self.mobility.rank:
            return ConstraintStatus.SINGULAR
        if report[QUALITY] < NEAR_SINGULAR and m:
            return ConstraintStatus.NEAR_SINGULAR
        return ConstraintStatus.REGULAR if rank == m else ConstraintStatus.REDUNDANT

    def _batch(self, q: ArrayLike) -> Array:
        array = as_numbers('q', q)
        if array.ndim != 2 or array.shape[1] != self.model.nq:
            raise ShapeError(f'q: expected shape (K, {self.model.nq}), a state a row, '
                             f'got {array.shape}')
        return with_unit_quaternions(self.model.link_table, np.array(array))

    def _orders(self, name: str, value: ArrayLike, shape: tuple[int, ...],
                read: NDArray[np.bool_]) -> tuple[Array, bool]:
        """Return derivatives (*shape, order + 1, nv), zero where not read; whether all are one."""
        array, core = as_numbers(name, value), (*shape, self.model.nv)
        single = array.ndim == len(core)
        rows = array[..., None, :] if single else array
        if (rows.ndim != len(core) + 1 or (*rows.shape[:-2], rows.shape[-1]) != core
                or not rows.shape[-2]):
            raise ShapeError(f'{name}: expected shape {core}, or a row for each order of '
                             f'differentiation, got {array.shape}')
        order, functions = rows.shape[-2] - 1, self.constraints.functions
        if order > MAX_ORDER:
            raise LimitError(f'{name}: expected orders 0 to {MAX_ORDER}, got {order}')
        if order > 0 and functions:
            raise LimitError(
                f'{name}: expected order 0 alone, as the derivatives of the constraint functions '
                f'{[function.name for function in functions]} are not known beyond bias, '
                f'got {order}')
        rows = rows.copy() if read is self.everywhere else np.where(read, rows, 0.0)
        return require_finite(name, rows), single

    def _like(self, name: str, value: ArrayLike, known: Array, single: bool,
              read: NDArray[np.bool_]) -> Array:
        """Return derivatives as many as those known, zero where they are not read."""
        array = as_numbers(name, value)
        shape = (*known.shape[:-2], known.shape[-1]) if single else known.shape
        if array.shape != shape:
            raise ShapeError(f'{name}: expected shape {shape}, got {array.shape}')
        return require_finite(name, np.where(read, array.reshape(known.shape), 0.0))

    def _press(self, external: ArrayLike | None, rows: tuple[int, ...], single: bool) -> Array:
        """Return Taylor coefficients of wrenches, of no bodies where none are given."""
        shape, orders, core = rows[:-1], rows[-1], (len(self.model.bodies), 6)
        if external is None:
            return np.zeros((*shape, 0, orders, 6))
        wrenches = as_array('external', external, (*(shape if single else rows), *core))
        factorials = np.array([math.factorial(k) for k in range(orders)])
        series = wrenches.reshape(*rows, *core) / factorials[:, None, None]
        return np.ascontiguousarray(np.swapaxes(series, -3, -2))


def suffix_of(states: States, s: int) -> str:
    """Return what names a state of a batch in messages."""
    return f'[{s}]' if states.shape else ''


def _run(tables: BatchTables, *arrays: Array, task: Task) -> tuple[int, int]:
    return tables.run(task, *arrays)
