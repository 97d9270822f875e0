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

from collections.abc import Callable
from functools import cached_property, partial
import math
from typing import Any, cast, NamedTuple, NoReturn, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_finite
from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
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
NO_WRENCHES = np.zeros((0, 1, 6))  # kernels look no further than the number of bodies
_FLOAT64 = np.dtype(np.float64)


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

    def run(self, task: Task, *arrays: Array) -> tuple[int, int]:
        """Return the first state that was refused, their number if none, and the code."""
        data, orders = self._data, arrays[3].shape[1]  # of a
        data.make_room(orders - 1)
        return batch.solve_batch(
            data.machine, data.motion, data.by_row, data.by_column, data.space, CLOSED, *task,
            *arrays)


class Solver:
    """Runs tasks on the tables of one ConstrainedDynamics, or of threads where states are many."""

    def __init__(self, constraints: Constraints, dissipation: bool) -> None:
        """Bind the kernel."""
        self.constraints, self.model = constraints, constraints.model
        self.everywhere = np.ones(self.model.nv, dtype=np.bool_)
        self.nowhere = np.zeros(self.model.nv, dtype=np.bool_)
        self._unknown = [function.name for function in constraints.functions
                         if function.jacobian_series is None]
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

    def attempt(self, task: Task, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
                tau: ArrayLike | None, external: ArrayLike | None, closed: bool,
                reads: tuple[NDArray[np.bool_], NDArray[np.bool_]]
                ) -> tuple[States, Results] | None:
        """
        Return a state, of a and tau what is read, and its results; the kernel checks all.

        None where it has refused, or where arrays are not as it takes them: `states` and `run`
        find out what is wrong, or convert.
        """
        known, nv = tau if a is None else a, self.model.nv
        if (not _is_plain(known) or not _is_plain(q) or q.shape != (self.model.nq,)
                or not _is_plain(v) or v.shape != (nv,) or known.shape[-1] != nv
                or not known.size or known.ndim > 2):
            return None
        single = known.ndim == 1
        rows = len(known) if not single else 1
        if rows > self.constraints.data.order + 1 or (tau is not None and tau is not known and (
                not _is_plain(tau) or tau.shape != known.shape)):
            return None
        pressed: Array = NO_WRENCHES
        if external is not None:
            wrenches = (len(self.model.bodies), 6)
            if not _is_plain(external) or external.shape != (
                    wrenches if single else (rows, *wrenches)):
                return None
            pressed = _series(external.reshape(rows, *wrenches))
        if self.constraints.functions and (
                (rows > 1 and self._unknown) or not np.isfinite(q).all()
                or not np.isfinite(v).all()):
            return None
        accelerations = (np.zeros((rows, nv)) if a is None
                         else _read(known, reads[0], self.everywhere))
        forces = (np.zeros((rows, nv)) if tau is None
                  else _read(cast(Array, tau), reads[1], self.everywhere))
        states = States(q, v, accelerations.reshape(rows, nv), forces.reshape(rows, nv),
                        pressed, single)
        results = self._results((rows,), ())
        code = self._execute(self._kernel.attempt, task, (
            pressed, q, v, states.a, states.tau, *results), closed)
        return (states, results) if code == solver.DONE else None

    def _results(self, rows: tuple[int, ...], shape: tuple[int, ...]) -> Results:
        return Results(
            np.zeros((*rows, self.constraints.m)),
            np.zeros((*rows, len(self.model.closures), 6)),
            np.zeros((*shape, REPORT_WIDTH)))

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
        results = self._results(a.shape[:-1], states.shape)
        arrays = external, q, v, a, tau, *results
        if not states.shape:
            return results, 0, self._run_one(task, arrays, closed, '')
        if not self.constraints.functions:
            s, code = self._pool.run(partial(_run, task=task), arrays)
            if code == solver.OPEN:
                self._refuse_open(q[s], v[s], f'[{s}]')
            return results, s, code
        for s in range(len(q)):  # functions are Python's
            code = self._run_one(task, tuple(array[s] for array in arrays), closed, f'[{s}]')
            if code != solver.DONE:
                return results, s, code
        return results, len(q), solver.DONE

    def _run_one(self, task: Task, arrays: tuple[Array, ...], closed: bool, suffix: str) -> int:
        q, v, a = arrays[1:4]
        if self.constraints.make_room(len(a) - 1):
            self._bind()
        code = int(self._execute(self._kernel, task, arrays, closed))
        if code == solver.OPEN:
            self._refuse_open(q, v, suffix)
        return code

    def _execute(self, run: Callable[..., Any], task: Task, arrays: tuple[Array, ...],
                 closed: bool) -> Any:
        """
        Run the kernel on a state, and return its code.

        Functions, which are Python's, write how their rows change along the motion. Where that is
        sought, it is known to the order below only: then an order is solved after the other.
        """
        limit = CLOSED if closed else math.inf
        if not self.constraints.functions:
            return run(limit, *task, *arrays)
        external, q, v, a, tau, multipliers, wrenches, report = arrays
        residual = self.constraints.write_functions(q, v)
        if closed and not np.abs(residual).max() <= CLOSED:
            return solver.OPEN
        orders, code = len(a), None
        for k in range(orders if task.kind == solver.HYBRID else 1):
            rows = k + 1 if task.kind == solver.HYBRID else orders
            if orders > 1:
                self.constraints.write_function_series(q, np.vstack((v, a[:rows - 1])))
            code = run(limit, *task, external, q, v, a[:rows], tau[:rows], multipliers[:rows],
                       wrenches[:rows], report)
            if code != solver.DONE:
                break
        return code

    def _refuse_open(self, q: Array, v: Array, suffix: str) -> NoReturn:
        """Raise the error for a state off the constraints."""
        self.constraints.require_closed_state(q, v, suffix)
        raise LiedynError(f'q{suffix}, v{suffix}: expected a state on the constraints within '
                          f'{CLOSED}, got one at this limit')

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
        order = rows.shape[-2] - 1
        if order > MAX_ORDER:
            raise LimitError(f'{name}: expected orders 0 to {MAX_ORDER}, got {order}')
        if order > 0 and self._unknown:
            raise LimitError(
                f'{name}: expected order 0 alone, as the constraint functions {self._unknown} '
                f'have no jacobian_series, got {order}')
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
        return _series(wrenches.reshape(*rows, *core))


def _series(wrenches: Array) -> Array:
    """Return Taylor coefficients (..., B, orders, 6) of derivatives (..., orders, B, 6)."""
    orders = wrenches.shape[-3]
    if orders == 1:
        return np.array(wrenches, order='C').reshape(
            *wrenches.shape[:-3], wrenches.shape[-2], 1, 6)
    factorials = np.array([math.factorial(k) for k in range(orders)])
    return np.ascontiguousarray(
        np.swapaxes(wrenches / factorials[:, None, None], -3, -2))


def _is_plain(value: object) -> TypeGuard[Array]:
    """Return whether a value is an array as kernels take it; they look at its layout."""
    return type(value) is np.ndarray and value.dtype is _FLOAT64


def _read(value: Array, read: NDArray[np.bool_], everywhere: NDArray[np.bool_]) -> Array:
    """Return a contiguous copy of what is read, zero elsewhere."""
    return value.copy() if read is everywhere else np.where(read, value, 0.0)


def suffix_of(states: States, s: int) -> str:
    """Return what names a state of a batch in messages."""
    return f'[{s}]' if states.shape else ''


def _run(tables: BatchTables, *arrays: Array, task: Task) -> tuple[int, int]:
    return tables.run(task, *arrays)
