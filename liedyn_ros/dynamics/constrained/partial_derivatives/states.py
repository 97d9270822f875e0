# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of K states of machines with closed loops, shared by all cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.constrained.kernels.tables import (
    DEFECT, INVERSE_CONDITION, RANK, REPORT_WIDTH)
from liedyn_ros.dynamics.constrained.kernels.tolerances import CONSISTENT, OFF_LOOP
from liedyn_ros.dynamics.constrained.partial_derivatives.jacobians import (
    HybridLoopJacobians, jacobian_buffers)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels import states as kernels
from liedyn_ros.dynamics.constrained.partial_derivatives.products import buffers, LoopProducts
from liedyn_ros.dynamics.constrained.solver.inputs import Mask, States, Task
from liedyn_ros.dynamics.constrained.solver.kernels.solver import LEAST_FORCE_TASK
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.partial_derivatives.many_states import (
    of_state, PartialDerivatives, ScratchBuffers)


class Found(NamedTuple):
    """
    Solutions of K states, and what a kernel has found with them (K, ...).

    good (K,) says of which states it is what the call of one state returns.
    """

    a: Array
    tau: Array
    multipliers: Array
    good: NDArray[np.bool_]
    derivatives: Array


class LoopTables:
    """The tables of one thread that differentiates machines with closed loops."""

    def __init__(self, solver: Solver, inverse: bool) -> None:
        """Allocate the tables of one thread."""
        constraints, n, m = solver.constraints, solver.model.nv, solver.constraints.m
        self._source, tree = constraints.data, constraints.tree.constants
        self._data = self._source.twin()
        scratch = ScratchBuffers(tree)
        further = (np.zeros((1, 3, m, n)),) if inverse else ()
        self.jacobians = (tree.table, scratch.links, scratch.columns,
                          *jacobian_buffers(solver, inverse, *further), *map(
                              np.empty, ((n, n), (n, n), (n, n), (n, 3))))
        self.product = buffers(n, m, solver.model.link_table.N)

    def workspace(self) -> Array:
        """Return the workspace, with the parameters that the machine has now."""
        self._data.share(self._source)
        return self._data.workspace


class LoopBatches:
    """Runs kernels.states on K states, each thread with tables of its own."""

    def __init__(self, solver: Solver, inverse: bool) -> None:
        """Take the solver."""
        self._solver, self._inverse = solver, inverse

    @cached_property
    def _pool(self) -> BatchPool:
        return BatchPool(partial(LoopTables, self._solver, self._inverse))

    def jacobians(self, task: Task, states: States, rows: list[int]) -> tuple[Found, list[Array]]:
        """Return all, and blocks (K, blocks, rows, nv) of each kind, which has so many rows."""
        n, blocks = self._solver.model.nv, 4 if self._inverse else 3
        kernel = (kernels.inverse_jacobians_of_loops if self._inverse
                  else kernels.hybrid_jacobians_of_states)

        def run(tables: LoopTables, *arrays: Array) -> tuple[int, int]:
            found: tuple[int, int] = kernel(
                tables.workspace(), task.table, *tables.jacobians, *arrays)
            return found

        pushes = states.external.reshape(len(states.q), -1, 6)
        whole = self._run(run, task, states, (pushes,), (), (sum(rows) * n * blocks,))
        ends = np.cumsum([0, *(blocks * n * count for count in rows)])
        return whole, [whole.derivatives[:, begin:end].reshape(len(states.q), blocks, count, n)
                       for begin, end, count in zip(ends, ends[1:], rows)]

    def gradients(self, task: Task, states: States, y: Array) -> Found:
        """Return all, with rows (K, 4, nv) as LoopProducts.pull has them."""
        z = np.zeros(self._solver.constraints.m)

        def run(tables: LoopTables, *arrays: Array) -> tuple[int, int]:
            found: tuple[int, int] = kernels.gradients_of_loops(
                tables.workspace(), task.table, tables.product, *arrays[:-1], z, arrays[-1])
            return found

        return self._run(run, task, states, (), (y,), (4, self._solver.model.nv))

    def _run(self, run: Callable[..., tuple[int, int]], task: Task, states: States,
             before: tuple[Array, ...], behind: tuple[Array, ...], shape: tuple[int, ...]
             ) -> Found:
        count, model = len(states.q), self._solver.model
        multipliers = np.zeros((count, 1, self._solver.constraints.m))
        wrenches = np.zeros((count, 1, len(model.closures), 6))
        report, good = np.zeros((count, REPORT_WIDTH)), np.zeros(count, dtype=np.bool_)
        flags: Any = good  # the one array that is not of float64
        found = np.empty((count, *shape))
        self._pool.run(run, (states.external, *before, states.q, states.v, states.a, states.tau,
                             multipliers, wrenches, report, flags, *behind, found))
        good &= self._as_alone(task, report)
        return Found(states.a[:, 0], states.tau[:, 0], multipliers[:, 0], good, found)

    def _as_alone(self, task: Task, report: Array) -> NDArray[np.bool_]:
        """Return whether the call of one state takes reports (K, ...) as they are."""
        good = (report[:, INVERSE_CONDITION] >= OFF_LOOP) & (report[:, DEFECT] <= CONSISTENT)
        if task.kind == LEAST_FORCE_TASK or (report[:, RANK] == self._solver.constraints.m).all():
            return np.asarray(good)
        usual = self._solver.usual_rank(task)
        if usual is None:  # nothing says which rows are redundant
            return np.zeros_like(good)
        free = self._solver.mobility.degrees_of_freedom
        return np.asarray(good & (report[:, RANK] >= usual) & bool(free))


Known = tuple[Task, Mask, States]  # a task, its coordinates that are prescribed or driven


class ManyLoopStates(PartialDerivatives):
    """
    Derivatives of many states by kernels on all cores, with the bits of the single call.

    Python runs it for states near singular ones, with constraint functions, and with the options
    closed, tau and z.

    >>> linkage.inverse.partial_derivatives.batch([closed], [rest], [rest]).by_q.shape
    (1, 3, 3)
    """

    _inverse = False

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver, self._model, self.lock = solver, solver.model, solver.lock

    def _of_states(self, call: Callable[..., Any], given: list[Any], external: Array | None,
                   options: dict[str, Any]) -> Any:
        weights = given[-1:] if call.__name__ == 'gradient' else []
        known = self._known(given[:len(given) - len(weights)], external, options)
        if known is None or (weights and weights[0].shape != (
                len(given[0]), self._solver.model.nv)):
            return super()._of_states(call, given, external, options)
        found, good = self._all_gradients(*known, *weights) if weights else (
            self._all_jacobians(*known))
        for s in np.flatnonzero(~good):  # by single calls
            for whole, part in zip(found, of_state(call, int(s), given, external, options)):
                whole[s] = part
        return found

    def _plan(self, given: list[Any], external: Array | None, options: dict[str, Any]
              ) -> Known | None:
        """Return task, mask and states, or None for options that are of single calls."""
        raise NotImplementedError

    def _all_jacobians(self, task: Task, mask: Mask, states: States) -> tuple[Any, Mask]:
        """Return the Jacobians of K states, and which are good."""
        raise NotImplementedError

    def _all_gradients(self, task: Task, mask: Mask, states: States, y: Array
                       ) -> tuple[Any, Mask]:
        """Return the gradients of K states, and which are good."""
        raise NotImplementedError

    def _of_gravity(self, states: States) -> Array:
        """Return how forces of the tree vary with gravity (K, nv, 3)."""
        rest = np.zeros_like(states.v)
        tree = self._solver.constraints.tree.inverse.partial_derivatives
        return tree.batch(states.q, rest, rest).by_gravity

    @cached_property
    def _jacobians(self) -> Any:
        return HybridLoopJacobians(self._solver)

    @cached_property
    def _products(self) -> LoopProducts:
        return LoopProducts(self._solver)

    @cached_property
    def _batches(self) -> LoopBatches:
        return LoopBatches(self._solver, self._inverse)

    def _known(self, given: list[Any], external: Array | None, options: dict[str, Any]
               ) -> Known | None:
        if self._solver.constraints.functions:
            return None
        try:
            known = self._plan(given, external, options)
        except (LiedynError, TypeError, ValueError):  # the single call says what is wrong
            return None
        return known if known is not None and known[2].single else None
