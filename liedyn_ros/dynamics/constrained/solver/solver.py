# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What constrained forward, hybrid and inverse dynamics share: checks, and the kernel's runs."""

from functools import cached_property, partial
import math
from typing import cast, NamedTuple, NoReturn, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_finite
from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.constrained.configurations.mobility import Mobility, mobility
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.tables import ConstrainedData
from liedyn_ros.dynamics.constrained.kernels import batch, solver
from liedyn_ros.dynamics.constrained.kernels.tables import (
    DEFECT, QUALITY, RANK, REPORT_WIDTH)
from liedyn_ros.dynamics.constrained.kernels.tolerances import CLOSED_STATE
from liedyn_ros.dynamics.constrained.solver.solution import (
    CONSISTENT, ConstrainedSolution, ConstrainedSolutions, ConstraintStatus, NEAR_SINGULAR)
from liedyn_ros.dynamics.constrained.solver.tasks import Task
from liedyn_ros.dynamics.tree.inputs import stop
from liedyn_ros.dynamics.tree.orders import MAX_ORDER
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model
from liedyn_ros.model.configuration import with_unit_quaternions

NO_WRENCHES = np.zeros((0, 1, 6))  # kernels look no further than the number of bodies
_FLOAT64 = np.dtype(np.float64)


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
    """What the kernel writes for each state."""

    a: Array
    tau: Array
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
        return batch.solve_batch(data.words, task.words, CLOSED_STATE, *arrays)


class Solver:
    """Runs tasks on the tables of one ConstrainedDynamics, or of threads where states are many."""

    def __init__(self, constraints: Constraints, dissipation: bool) -> None:
        """Bind the kernel."""
        self.constraints, self.model = constraints, constraints.model
        nv, m = self.model.nv, constraints.m
        self.everywhere = np.ones(nv, dtype=np.bool_)
        self.nowhere = np.zeros(nv, dtype=np.bool_)
        self._unknown = [function.name for function in constraints.functions
                         if function.jacobian_series is None]
        self._pool = BatchPool(partial(BatchTables, self.model, dissipation))
        self._nv, self._m = nv, m
        self._ends = nv, 2 * nv, 2 * nv + m, 2 * nv + m + 6 * len(self.model.closures)
        self._rest = np.zeros(nv)
        self._bind()

    def _bind(self) -> None:
        """Bind the kernel to the tables, which are new where there is room for more orders."""
        self._kernel = BoundKernel(solver.solve, self.constraints.data.words)

    @cached_property
    def mobility(self) -> Mobility:
        """Return what the constraints leave free where the machine is not singular."""
        return mobility(self.constraints)

    def attempt(self, task: Task, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
                tau: ArrayLike | None, external: ArrayLike | None, closed: bool,
                unprescribed: bool) -> ConstrainedSolution | None:
        """
        Return the solution of a state, which the kernel checks.

        None where it has refused, or where arrays are not as it takes them: `states` and `run`
        find out what is wrong, or convert.
        """
        known = tau if a is None else a
        if a is None and not unprescribed:  # what is read of a was not given
            return None
        if type(known) is not np.ndarray or known.ndim > 2:
            return None
        rows = 1
        if known.ndim == 2:
            rows, nv = known.shape
            if nv != self._nv or not 0 < rows <= self.constraints.data.order + 1:
                return None
            if tau is not None and tau is not known and (
                    type(tau) is not np.ndarray or tau.shape != known.shape):
                return None
        pressed: Array = NO_WRENCHES
        if external is not None:
            bodies = len(self.model.bodies), 6
            if not _is_plain(external) or external.shape != (
                    bodies if known.ndim == 1 else (rows, *bodies)):
                return None
            pressed = _series(external.reshape(rows, *bodies))
        forces = (self._rest if rows == 1 else np.zeros((rows, self._nv))) if tau is None else tau
        motion = forces if a is None else a  # HYBRID reads no acceleration that it seeks
        if known.ndim == 2:
            motion, forces = cast(Array, motion).reshape(-1), cast(Array, forces).reshape(-1)
        if self.constraints.functions and (rows > 1 or not self._meets_functions(q, v, closed)):
            return None
        found = np.empty(rows * self._ends[-1] + REPORT_WIDTH)
        code = self._kernel.attempt(
            task.words, CLOSED_STATE if closed else math.inf, pressed, q, v, motion, forces, found)
        if code != solver.DONE:
            return None
        return self._solution_of(found, rows if known.ndim == 2 else None, unprescribed)

    def _meets_functions(self, q: ArrayLike, v: ArrayLike, closed: bool) -> bool:
        """Write functions at a state; return False where it is not known, or not on them."""
        if not (_is_plain(q) and _is_plain(v) and q.shape == (self.model.nq,)
                and v.shape == (self._nv,) and np.isfinite(q).all() and np.isfinite(v).all()):
            return False
        residual = self.constraints.write_functions(q, v)
        return not closed or bool(np.abs(residual).max() <= CLOSED_STATE)

    def _solution_of(self, found: Array, rows: int | None, unprescribed: bool
                     ) -> ConstrainedSolution:
        """Return what `solve` has found, with an axis of orders where rows are told."""
        rank, quality, defect = (int(found.item(RANK - REPORT_WIDTH)),
                                 found.item(QUALITY - REPORT_WIDTH),
                                 found.item(DEFECT - REPORT_WIDTH))
        status = self._status(rank, quality, defect, unprescribed)
        a, tau, m, end = self._ends
        if rows is None:
            return ConstrainedSolution(
                found[:a], found[a:tau], found[tau:m], found[m:end].reshape(-1, 6), rank, quality,
                status)
        a, tau, m, end = rows * a, rows * tau, rows * m, rows * end
        return ConstrainedSolution(
            found[:a].reshape(rows, -1), found[a:tau].reshape(rows, -1),
            found[tau:m].reshape(rows, self._m), found[m:end].reshape(rows, -1, 6), rank, quality,
            status)

    def states(self, batch: bool, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
               tau: ArrayLike | None, external: ArrayLike | None,
               reads: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> States:
        """
        Return checked input, copied; of a and of tau what is read, each (nv,).

        Where nothing is read of a, it may be None. tau may be None, and is then zero.
        """
        q = self._batch(q) if batch else self.model.check_configuration(q)
        shape, nv = q.shape[:-1], self.model.nv
        v = np.array(as_array('v', v, (*shape, nv)))
        if a is not None or reads[0].any():
            a, single = self._orders('a', cast(ArrayLike, a), shape, reads[0])
            tau = np.zeros_like(a) if tau is None else self._like('tau', tau, a, single, reads[1])
        else:
            tau, single = self._orders('tau', cast(ArrayLike, tau), shape, reads[1])
            a = np.zeros(tau.shape)
        return States(q, v, a, tau, self._press(external, a.shape[:-1], single), single)

    def run(self, task: Task, states: States, closed: bool) -> tuple[Results, int, int]:
        """
        Solve a task at states, required to be closed or not.

        Returns what is found, the number of states or the first that was refused, and the code.
        """
        q, v, a, tau, external, _ = states
        rows = a.shape[:-1]
        results = Results(
            a, tau, np.zeros((*rows, self._m)), np.zeros((*rows, len(self.model.closures), 6)),
            np.zeros((*states.shape, REPORT_WIDTH)))
        if not states.shape:
            return results, 0, self._run_one(task, states, results, closed, '')
        if not self.constraints.functions:
            s, code = self._pool.run(partial(_run, task=task), (external, q, v, *results))
            if code == solver.OPEN:
                self._refuse_open(q[s], v[s], f'[{s}]')
            return results, s, code
        for s in range(len(q)):  # functions are Python's
            one = States(q[s], v[s], a[s], tau[s], external[s], states.single)
            code = self._run_one(task, one, Results(*(array[s] for array in results)), closed,
                                 f'[{s}]')
            if code != solver.DONE:
                return results, s, code
        return results, len(q), solver.DONE

    def _run_one(self, task: Task, state: States, results: Results, closed: bool, suffix: str
                 ) -> int:
        """Solve a task at one state, and return the kernel's code."""
        if self.constraints.make_room(len(state.a) - 1):
            self._bind()
        code = self._execute(task, state, results, CLOSED_STATE if closed else math.inf)
        if code == solver.OPEN:
            self._refuse_open(state.q, state.v, suffix)
        return code

    def _execute(self, task: Task, state: States, results: Results, limit: float) -> int:
        """
        Run the kernel on a state, and return its code.

        Functions, which are Python's, write how their rows change along the motion. Where that is
        sought, it is known to the order below only: then an order is solved after the other.
        """
        q, v, orders = state.q, state.v, len(state.a)
        if not self.constraints.functions:
            return self._write(task, state, results, limit, orders)
        residual = self.constraints.write_functions(q, v)
        if limit == CLOSED_STATE and not np.abs(residual).max() <= CLOSED_STATE:
            return solver.OPEN
        code: int = solver.DONE
        for k in range(orders if task.kind == solver.HYBRID else 1):
            if orders > 1:
                known = k if task.kind == solver.HYBRID else orders - 1
                self.constraints.write_function_series(
                    q, np.vstack((v, results.a[:known])))
            code = self._write(task, state, results, limit,
                               k + 1 if task.kind == solver.HYBRID else orders)
            if code != solver.DONE:
                break
        return code

    def _write(self, task: Task, state: States, results: Results, limit: float, rows: int) -> int:
        """Run the kernel to an order below rows, write what it finds, and return its code."""
        found = np.zeros(rows * self._ends[-1] + REPORT_WIDTH)
        code = int(self._kernel(
            task.words, limit, state.external, state.q, state.v, state.a[:rows].ravel(),
            state.tau[:rows].ravel(), found))
        if code != solver.DONE:
            return code
        at = 0
        for array in (*(each[:rows] for each in results[:-1]), results.report):
            array[:] = found[at:at + array.size].reshape(array.shape)
            at += array.size
        return code

    def _refuse_open(self, q: Array, v: Array, suffix: str) -> NoReturn:
        """Raise the error for a state off the constraints."""
        self.constraints.require_closed_state(q, v, suffix)
        raise LiedynError(f'q{suffix}, v{suffix}: expected a state on the constraints within '
                          f'{CLOSED_STATE}, got one at this limit')

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
        arrays = (results.a[at], results.tau[at], results.multipliers[at], results.wrenches[at])
        rank, quality = results.report[..., RANK].astype(np.int64), results.report[..., QUALITY]
        defect = results.report[..., DEFECT]
        if not states.shape:
            return ConstrainedSolution(
                *arrays, int(rank), float(quality),
                self._status(int(rank), float(quality), float(defect), unprescribed))
        return ConstrainedSolutions(*arrays, rank, quality.copy(), tuple(
            self._status(*each, unprescribed)
            for each in zip(rank.tolist(), quality.tolist(), defect.tolist())))

    def _status(self, rank: int, quality: float, defect: float, unprescribed: bool
                ) -> ConstraintStatus:
        if defect > CONSISTENT:
            return ConstraintStatus.INCONSISTENT
        if unprescribed and rank < self._m and rank < self.mobility.rank:
            return ConstraintStatus.SINGULAR
        if quality < NEAR_SINGULAR and self._m:
            return ConstraintStatus.NEAR_SINGULAR
        return ConstraintStatus.REGULAR if rank == self._m else ConstraintStatus.REDUNDANT

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


def suffix_of(states: States, s: int) -> str:
    """Return what names a state of a batch in messages."""
    return f'[{s}]' if states.shape else ''


def _run(tables: BatchTables, *arrays: Array, task: Task) -> tuple[int, int]:
    return tables.run(task, *arrays)
