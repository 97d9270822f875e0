# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Solves the tasks of constrained dynamics: of one state, and of many."""

from __future__ import annotations

from functools import cached_property, partial
import math
from typing import cast, NamedTuple, NoReturn, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.constrained.configurations.mobility import (
    Mobility, mobility, usual_rank)
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.rank import equilibrated, pivots_of
from liedyn_ros.dynamics.constrained.constraints.tables import ConstrainedData, exclusive
from liedyn_ros.dynamics.constrained.kernels.tables import (
    ACTUATION, DEFECT, INVERSE_CONDITION, RANK, REPORT_WIDTH)
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_STATE, CONSISTENT, NEAR_SINGULAR, OFF_LOOP)
from liedyn_ros.dynamics.constrained.solver.inputs import Inputs, States, Task, wrench_series
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.dynamics.constrained.solver.refusals import (
    at_risk, refuse_actuators, refuse_limits, refuse_massless, refuse_motion, refuse_open,
    require_order_digits)
from liedyn_ros.dynamics.constrained.solver.solution import (
    ConstrainedSolution, ConstrainedSolutions, ConstraintStatus)
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.tree.inputs import raise_refusal
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model

NO_ORDER_WRENCHES = np.zeros((0, 1, 6))  # kernels look no further than the number of bodies
_FLOAT64 = np.dtype(np.float64)


class Results(NamedTuple):
    """The results of the kernel for each state."""

    a: Array
    tau: Array
    multipliers: Array
    wrenches: Array
    report: Array


class BatchTables:
    """The tables of one thread that runs batches; they grow with the order."""

    def __init__(self, source: ConstrainedData) -> None:
        """Lay out the tables of a machine, whose parameters stay those of the source."""
        self._source, self._data = source, source.twin()

    def run(self, *arrays: Array, task: Task) -> tuple[int, int]:
        """Return the first state that was refused, their number if none, and the code."""
        data, orders = self._data, arrays[3].shape[1]  # of a
        data.reserve(orders - 1)
        data.share(self._source)
        return solver.solve_states(data.workspace, task.table, CLOSED_STATE, *arrays)


class Solver:
    """Runs tasks on the tables of one ConstrainedDynamics, or of threads for many states."""

    def __init__(self, constraints: Constraints) -> None:
        """Bind the kernel."""
        self.constraints, self.lock = constraints, constraints.lock
        nv, m = self._nv, self._m = self.model.nv, constraints.m
        self.inputs = Inputs(constraints)
        self._pool = BatchPool(partial(BatchTables, constraints.data))
        self._ends = nv, 2 * nv, 2 * nv + m, 2 * nv + m + 6 * len(self.model.closures)
        self._rest, self._usual_ranks = np.zeros(nv), dict[bytes, int | None]()
        self._forward: Task | None = None  # where states are off the loops
        self.bind()

    def bind(self) -> None:
        """Bind the kernel to the tables, which are new if they had to grow."""
        self._kernel = BoundKernel(solver.solve_constrained, self.constraints.data.workspace)

    @property
    def model(self) -> Model:
        """Return the model, with its closures where they are now."""
        return self.constraints.model

    def follow_closures(self) -> None:
        """Let go of tables whose closures are elsewhere; ranks stay what they are."""
        self.__dict__.pop('_elsewhere', None)

    def take_ranks(self, other: Solver) -> None:
        """Take the ranks and the mobility that another solver of the same closures has found."""
        self._usual_ranks = dict(other._usual_ranks)
        if 'mobility' in other.__dict__:
            self.__dict__['mobility'] = other.mobility

    @cached_property
    def mobility(self) -> Mobility:
        """Return the mobility at configurations that are not singular."""
        return mobility(self._elsewhere)

    @cached_property
    def _elsewhere(self) -> Constraints:
        """Return the constraints with their own tables; those of a solution stay as they are."""
        return Constraints(self.model, functions=self.constraints.functions)

    def usual_rank(self, task: Task) -> int | None:
        """
        Return the rank on the free coordinates of a task where no configuration is singular.

        None if the machine cannot close: then nothing says which rows are redundant.
        """
        every = task.kind != solver.HYBRID_TASK or task.unprescribed  # all are free
        free = b'' if every else task.driven.tobytes()
        if free not in self._usual_ranks:
            try:
                self._usual_ranks[free] = self.mobility.rank if every else usual_rank(
                    self._elsewhere, task.driven)
            except ConvergenceError:
                self._usual_ranks[free] = None
        return self._usual_ranks[free]

    @exclusive
    def solve(self, task: Task, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
              tau: ArrayLike | None, external: ArrayLike | None, closed: bool = True,
              max_error: float = NO_DIGIT) -> ConstrainedSolution:
        """
        Return the solution of a task at a state, required to be closed or not.

        a may be None if the task reads nothing of it; tau None is zero. Raises the errors of
        ConstrainedDynamics, and of inverse dynamics for its tasks. Raises LimitError for an order
        whose estimated relative error exceeds max_error.
        """
        if not closed:
            task = self._on_loops(task)
        found = self._attempt(task, q, v, a, tau, external, closed)
        if found is None:
            state = self.inputs.one(task, q, v, a, tau, external)
            found = self._solution_of(task, self._solve_checked(task, state, closed, ''),
                                      None if state.single else len(state.a), q)
        if found.a.ndim > 1 and at_risk(
                found.inverse_condition_number, len(found.a) - 1, max_error):
            self._require_digits(task, self.inputs.one(task, q, v, a, tau, external),
                                 (found.a, found.tau), found.rank, max_error)
        return found

    def _require_digits(self, task: Task, state: States, found: tuple[Array, Array], rank: int,
                        max_error: float, suffix: str = '') -> None:
        """Raise LimitError for an order that loses its digits near a singular configuration."""
        run = self._run_with_functions if self.constraints.functions else self._run
        ranked, rows = task.of_rank(rank), len(state.a)
        if task.kind != solver.HYBRID_TASK:  # forces that cancel within the loops count too
            tree = self.constraints.tree.inverse
            found = found[0], np.hstack([found[1], tree.time_derivatives(
                state.q, state.v, found[0])])

        def solve(q: Array) -> tuple[Array, Array] | None:
            code, numbers = run(ranked, state._replace(q=q), math.inf, rows)
            parts = self._parts(numbers, rows)
            tau = np.hstack([parts.tau, found[1][:, self._nv:]])
            return (parts.a, tau) if code == solver.DONE else None

        residual = self.constraints.largest(self.constraints.residual(state.q))
        require_order_digits(self.model, solve, state.q, found, residual, max_error, suffix)

    def _on_loops(self, task: Task) -> Task:
        """Return the task with the rank that the constraints have where nothing is singular."""
        usual = self.usual_rank(task)
        if usual is None:
            return task
        if not task.unprescribed:
            return task.of_rank(usual)
        if self._forward is None:
            self._forward = task.of_rank(usual)
        return self._forward

    def _seems_stuck(self, task: Task, code: int) -> bool:
        """Return whether actuators may be refused for rows that rounding made independent."""
        return (code == solver.MOTION_UNDETERMINED and task.kind == solver.LEAST_TORQUE_TASK
                and (self.usual_rank(task) or 0) < self._m)

    def _beyond(self, task: Task, report: Array) -> bool:
        """Return whether rows count only because the state is off the loops by rounding."""
        if report.item(INVERSE_CONDITION) >= OFF_LOOP or task.kind == solver.LEAST_FORCE_TASK:
            return False
        usual = self.usual_rank(task)
        return usual is not None and int(report.item(RANK)) > usual

    def solve_batch(self, task: Task, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
                    tau: ArrayLike | None, external: ArrayLike | None,
                    max_error: float = NO_DIGIT) -> ConstrainedSolutions:
        """Return the solutions of K closed states, on all cores; errors name the first one."""
        states = self.inputs.many(task, q, v, a, tau, external)
        rows = states.a.shape[:-1]
        results = Results(
            states.a, states.tau, np.zeros((*rows, self._m)),
            np.zeros((*rows, len(self.model.closures), 6)), np.zeros((rows[0], REPORT_WIDTH)))
        if self.constraints.functions:  # these are Python's
            for s in range(rows[0]):
                with self.lock.inner:
                    found = self._solve_checked(task, states.state(s), True, f'[{s}]')
                for whole, part in zip(results, self._parts(found, rows[1])):
                    whole[s] = part
        else:
            s, code = self._pool.run(partial(BatchTables.run, task=task),
                                     (states.external, states.q, states.v, *results))
            if self._seems_stuck(task, code):
                s, code = self._pool.run(partial(BatchTables.run, task=self._on_loops(task)),
                                         (states.external, states.q, states.v, *results))
            if code != solver.DONE:
                self._refuse(task, states.state(s), code, f'[{s}]')
            for s in np.flatnonzero(
                    results.report[:, INVERSE_CONDITION] < OFF_LOOP).tolist():
                if not self._beyond(task, results.report[s]):
                    continue
                with self.lock.inner:
                    found = self._solve_checked(task, states.state(s), True, f'[{s}]')
                for whole, part in zip(results, self._parts(found, rows[1])):
                    whole[s] = part
        if rows[1] > 1:
            for s, report in enumerate(results.report):
                if at_risk(report.item(INVERSE_CONDITION), rows[1] - 1, max_error):
                    self._require_digits(
                        task, states.state(s), (results.a[s], results.tau[s]),
                        int(report.item(RANK)), max_error, f'[{s}]')
        return self._solutions_of(task, results, states.single, states.q)

    def _attempt(self, task: Task, q: ArrayLike, v: ArrayLike, a: ArrayLike | None,
                 tau: ArrayLike | None, external: ArrayLike | None, closed: bool
                 ) -> ConstrainedSolution | None:
        """
        Return the solution of a state, which the kernel checks.

        None if it has refused, or if arrays are not as the kernel takes them: then `solve` checks
        and converts them.
        """
        known = tau if a is None else a
        if a is None and not task.unprescribed:  # a is read
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
        wrenches: Array = NO_ORDER_WRENCHES
        if external is not None:
            bodies = len(self.model.bodies), 6
            if not _is_plain(external) or external.shape != (
                    bodies if known.ndim == 1 else (rows, *bodies)):
                return None
            wrenches = wrench_series(external.reshape(rows, *bodies))
        forces = (self._rest if rows == 1 else np.zeros((rows, self._nv))) if tau is None else tau
        motion = forces if a is None else a  # HYBRID reads no unknown acceleration
        if known.ndim == 2:
            motion, forces = cast(Array, motion).reshape(-1), cast(Array, forces).reshape(-1)
        if self.constraints.functions and (rows > 1 or not self._meets_functions(q, v, closed)):
            return None
        found = np.empty(rows * self._ends[-1] + REPORT_WIDTH)
        limit = CLOSED_STATE if closed else math.inf
        code = self._kernel.attempt(
            task.table, limit, wrenches, q, v, motion, forces, found)
        if code != solver.DONE or self._beyond(task, found[-REPORT_WIDTH:]):
            return None
        return self._solution_of(task, found, rows if known.ndim == 2 else None, q)

    def _meets_functions(self, q: ArrayLike, v: ArrayLike, closed: bool) -> bool:
        """Write functions at a state; return False for a wrong one, or one off the functions."""
        if not (_is_plain(q) and _is_plain(v) and q.shape == (self.model.nq,)
                and v.shape == (self._nv,) and np.isfinite(q).all() and np.isfinite(v).all()):
            return False
        residual = self.constraints.write_functions(q, v)
        return not closed or bool(np.abs(residual).max() <= CLOSED_STATE)

    def _solve_checked(self, task: Task, state: States, closed: bool, suffix: str) -> Array:
        """Return the results at a checked state, or raise; suffix names the state."""
        self.constraints.reserve(len(state.a) - 1)
        run = self._run_with_functions if self.constraints.functions else self._run
        limit = CLOSED_STATE if closed else math.inf
        code, found = run(task, state, limit, len(state.a))
        if self._seems_stuck(task, code) or (
                code == solver.DONE and self._beyond(task, found[-REPORT_WIDTH:])):
            code, found = run(self._on_loops(task), state, limit, len(state.a))
        if code != solver.DONE:
            self._refuse(task, state, code, suffix)
        return found

    def _run_with_functions(self, task: Task, state: States, limit: float, orders: int
                            ) -> tuple[int, Array]:
        """
        Run the kernel with a user's functions, and return its code and results.

        Functions are Python's, and their rows change along the motion. If accelerations are
        unknown, the motion is known to the order below only: then orders follow each other.
        """
        residual = self.constraints.write_functions(state.q, state.v)
        code: int = solver.OFF_CONSTRAINTS
        found: Array = np.zeros(0)
        if limit == CLOSED_STATE and not np.abs(residual).max() <= CLOSED_STATE:
            return code, found
        hybrid = task.kind == solver.HYBRID_TASK
        for rows in range(1, orders + 1) if hybrid else (orders,):
            if orders > 1:
                below = (rows - 1, self._nv)  # of known accelerations
                a = found[:math.prod(below)].reshape(below) if hybrid else state.a[:-1]
                self.constraints.write_function_series(state.q, np.vstack((state.v, a)))
            code, found = self._run(task, state, limit, rows)
            if code != solver.DONE:
                break
        return code, found

    def _run(self, task: Task, state: States, limit: float, rows: int) -> tuple[int, Array]:
        """Run the kernel to an order below rows, and return its code and results."""
        found = np.zeros(rows * self._ends[-1] + REPORT_WIDTH)
        code = int(self._kernel.call(
            task.table, limit, state.external, state.q, state.v, state.a[:rows].ravel(),
            state.tau[:rows].ravel(), found))
        return code, found

    def _parts(self, found: Array, rows: int) -> Results:
        """Return the results (rows, ...) of the kernel, views of one array."""
        a, tau, m, end = (rows * each for each in self._ends)
        return Results(found[:a].reshape(rows, self._nv), found[a:tau].reshape(rows, self._nv),
                       found[tau:m].reshape(rows, self._m), found[m:end].reshape(rows, -1, 6),
                       found[end:])

    def _solution_of(self, task: Task, found: Array, rows: int | None, q: ArrayLike
                     ) -> ConstrainedSolution:
        """Return the results of the kernel, with an axis of orders unless rows is None."""
        rank, inverse_condition_number, defect = (
            int(found.item(RANK - REPORT_WIDTH)), found.item(INVERSE_CONDITION - REPORT_WIDTH),
            found.item(DEFECT - REPORT_WIDTH))
        actuation = found.item(ACTUATION - REPORT_WIDTH)
        status = self._status(task, q, rank, inverse_condition_number, defect, actuation, '')
        held = None if task.kind == solver.HYBRID_TASK else actuation
        if rows is None:
            a, tau, m, end = self._ends
            return ConstrainedSolution(
                found[:a], found[a:tau], found[tau:m], found[m:end].reshape(-1, 6), rank,
                inverse_condition_number, status, held)
        return ConstrainedSolution(
            *self._parts(found, rows)[:-1], rank, inverse_condition_number, status, held)

    def _solutions_of(self, task: Task, results: Results, single: bool, q: Array
                      ) -> ConstrainedSolutions:
        """Return the results of K states, without the axis of orders if they are single."""
        at = slice(None), 0 if single else slice(None)
        arrays = results.a[at], results.tau[at], results.multipliers[at], results.wrenches[at]
        rank = results.report[:, RANK].astype(np.int64)
        conditions = results.report[:, INVERSE_CONDITION].copy()
        actuation = results.report[:, ACTUATION].copy()
        status = tuple(self._status(task, q[s], *each, f'[{s}]') for s, each in enumerate(zip(
            rank.tolist(), conditions.tolist(), results.report[:, DEFECT].tolist(),
            actuation.tolist())))
        return ConstrainedSolutions(*arrays, rank, conditions, status,
                                    None if task.kind == solver.HYBRID_TASK else actuation)

    def _status(self, task: Task, q: ArrayLike, rank: int, inverse_condition_number: float,
                defect: float, actuation: float, suffix: str) -> ConstraintStatus:
        """Return the status, or raise LiedynError for a motion that inverse dynamics refuses."""
        if defect > CONSISTENT:
            if task.kind != solver.HYBRID_TASK:
                refuse_motion(defect, suffix)
            return ConstraintStatus.INCONSISTENT
        if task.kind == solver.HYBRID_TASK and rank < self._m:
            usual = self.usual_rank(task)
            if usual is not None and (rank < usual or (
                    task.unprescribed and rank < self._nv
                    and not self.mobility.degrees_of_freedom)):  # taut
                return ConstraintStatus.SINGULAR
        judged = self._m and (rank or task.kind != solver.HYBRID_TASK)  # no row is free to judge
        if actuation < NEAR_SINGULAR or (
                judged and inverse_condition_number < NEAR_SINGULAR and (
                    task.kind == solver.LEAST_FORCE_TASK or self._is_near(task, q, rank))):
            return ConstraintStatus.NEAR_SINGULAR
        return ConstraintStatus.REGULAR if rank == self._m else ConstraintStatus.REDUNDANT

    def _is_near(self, task: Task, q: ArrayLike, rank: int) -> bool:
        """Return whether A alone is nearly of a lower rank: light links do not count (12.59)."""
        is_hybrid = task.kind == solver.HYBRID_TASK
        free = task.reads_tau if is_hybrid else np.ones(self._nv, dtype=np.bool_)
        pivots = pivots_of(equilibrated(
            self.constraints, self.model.check_configuration(q), free).T)
        return bool(pivots[rank - 1] < NEAR_SINGULAR * pivots[0])

    def _refuse(self, task: Task, state: States, code: int, suffix: str) -> NoReturn:
        """Raise the error for a code of the kernel at a state."""
        if code == solver.OFF_CONSTRAINTS:
            refuse_open(self.constraints, state.q, state.v, suffix)
        if code == solver.MOTION_UNDETERMINED:
            refuse_actuators(self.constraints, task, state.q, suffix)
        if code == solver.LIMITS_INSUFFICIENT:
            found = self._parts(self._run(task, state, math.inf, 1)[1], 1)
            refuse_limits(self.constraints, task, found.tau[0], found.report, suffix)
        if code != solver.REFUSED:
            refuse_massless(self.constraints, task, state.q, suffix)
        name, given = ('tau', state.tau) if task.kind == solver.HYBRID_TASK else ('a', state.a)
        raise_refusal(self.model, code, suffix, state.q, v=state.v, **{
            name: given[0] if state.single else given})


def _is_plain(value: object) -> TypeGuard[Array]:
    """Return whether a value is an array as kernels take it; they look at its layout."""
    return type(value) is np.ndarray and value.dtype is _FLOAT64
