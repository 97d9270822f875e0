# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The Jacobians of forward, hybrid and inverse dynamics, of all columns at once.

Those of order zero are one kernel, but where users' constraint functions are Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, prod

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.constraints.sparsity import padded
from liedyn_ros.dynamics.constrained.partial_derivatives.equations import (
    EquationMotion, numbers_of, one_order, VariedEquations)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.changes import (
    hybrid_changes, inverse_changes, write_rate_potentials)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    VARIATION_WIDTH)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.jacobians import (
    hybrid_loop_jacobians, inverse_loop_jacobians)
from liedyn_ros.dynamics.constrained.solver.inputs import Task
from liedyn_ros.dynamics.constrained.solver.kernels import solver as kernels
from liedyn_ros.dynamics.constrained.solver.solution import ConstrainedSolution
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.partial_derivatives.inverse import InverseJacobians
from liedyn_ros.dynamics.partial_derivatives.parameter_products import on_lines
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.jit.simd import LANES

Blocks = list[Array]  # by q, by v, and by each series that is given


class LoopJacobians:
    """Kernels after calls of one solver, with scratch buffers that grow with the order."""

    series_given = 1  # how many series columns are by

    def __init__(self, solver: Solver, kernel: Callable[..., bool], *further: Array) -> None:
        """Allocate the buffers of order zero; the kernel has further ones."""
        self._constraints = solver.constraints
        self._n, self._m = solver.model.nv, solver.constraints.m
        self._tree: InverseJacobians | None = None
        self._orders = 1
        inside = jacobian_buffers(solver, self.series_given == 2, *further)
        *_, self._lanes, self._changes = inside
        self._kernel = BoundKernel(kernel, *inside)

    def _order_zero(self, task: Task, q: ArrayLike, v: ArrayLike, a: Array,
                    external: ArrayLike | None, rows: list[int]) -> list[Array]:
        """Return the blocks (blocks, rows, nv) of each kind, which has so many rows."""
        constraints = self._constraints
        tree = self._tree = constraints.tree.inverse.partial_derivatives(
            q, v, a, external, self._tree)
        result = self._result(rows, 1)
        if not self._kernel.call(constraints.data.workspace, task.table, tree.by_q, tree.by_v,
                                 tree.by_a, result):
            as_array('derivatives', result, result.shape)
        return self._parted(result, rows, 1)

    def of_gravity(self, q: ArrayLike, v: ArrayLike, a: Array, external: ArrayLike | None
                   ) -> Array:
        """Return how forces of the tree vary with gravity (nv, 3), after a call at the state."""
        if self._tree is None or self._constraints.functions:
            self._tree = self._constraints.tree.inverse.partial_derivatives(
                q, v, a, external, self._tree)
        return self._tree.by_gravity

    def _varied(self, q: ArrayLike, v: ArrayLike, a: Array, multipliers: Array,
                external: ArrayLike | None) -> VariedEquations:
        """Return how the equations of the tree and of the constraints vary along a motion."""
        q, v = self._constraints.model.check_configuration(q), as_array('v', v, (self._n,))
        if len(a) > self._orders:
            self._orders, self._changes = len(a), self._table(len(a))
        return VariedEquations(
            self._constraints, EquationMotion(q, np.vstack([v, a]), multipliers,
                                              numbers_of(external)))

    def _blocks(self, result: Array, rows: list[int], orders: int) -> list[Blocks]:
        """Return the blocks of each kind: by q, by v (r + 1, ...), then (r + 1, r + 1, ...)."""
        as_array('derivatives', result, result.shape)
        found = []
        for by in self._parted(result, rows, orders):
            given = by[2 * orders:].reshape(
                self.series_given, orders, orders, *by.shape[1:])
            found.append([by[:orders], by[orders:2 * orders], *given])
        return found

    def _table(self, orders: int) -> Array:
        return table_of_changes(self._n, self._m, self.series_given, orders)

    def _result(self, rows: list[int], orders: int) -> Array:
        return np.empty(sum(rows) * self._n * orders * (2 + self.series_given * orders))

    def _parted(self, result: Array, rows: list[int], orders: int) -> list[Array]:
        """Return the blocks (blocks, rows, nv) of each kind, which follow each other."""
        parts: list[Array] = []
        begin, blocks = 0, orders * (2 + self.series_given * orders)
        for count in rows:
            end = begin + blocks * count * self._n
            parts.append(result[begin:end].reshape(blocks, count, self._n))
            begin = end
        return parts


class HybridLoopJacobians(LoopJacobians):
    """Jacobians of forward and hybrid dynamics with closed loops."""

    def __init__(self, solver: Solver) -> None:
        """Allocate the buffers."""
        super().__init__(solver, hybrid_loop_jacobians)

    def __call__(self, task: Task, q: ArrayLike, v: ArrayLike, found: ConstrainedSolution,
                 external: ArrayLike | None) -> list[Blocks]:
        """
        Return how a, tau and the multipliers vary by q, v and what is given, after their call.

        found is of order zero. Joint forces are left out where all are given.
        """
        if self._constraints.functions:
            return order_zero_of(self.series(task, q, v, found._replace(
                a=found.a[None], multipliers=found.multipliers[None]), one_order(
                    self._constraints, external)))
        return [list(by) for by in self._order_zero(
            task, q, v, found.a, external, self._rows(task))]

    def series(self, task: Task, q: ArrayLike, v: ArrayLike, found: ConstrainedSolution,
               external: ArrayLike | None) -> list[Blocks]:
        """Return the Jacobians of each order of a solution (r + 1, ...)."""
        orders, rows = len(found.a), self._rows(task)
        varied = self._varied(q, v, found.a, found.multipliers, external)
        reactions: Array = np.zeros((orders, 3, 0, self._n))
        if found.rank < self._m:
            reactions = varied.reactions(self._constraints.data.potentials(orders))
        result = self._result(rows, orders)
        hybrid_changes(
            self._constraints.data.workspace, task.table,
            varied.kkt_partials(), varied.jacobian, reactions, self._lanes, self._changes[:orders],
            result)
        return self._blocks(result, rows, orders)

    def _rows(self, task: Task) -> list[int]:
        """Return how many rows accelerations, joint forces and multipliers have."""
        return [self._n, self._m] if task.unprescribed else [self._n, self._n, self._m]


class InverseLoopJacobians(LoopJacobians):
    """Jacobians of inverse dynamics with closed loops, also by the forces that the tree needs."""

    series_given = 2

    def __init__(self, solver: Solver) -> None:
        """Allocate the buffers."""
        super().__init__(solver, inverse_loop_jacobians, np.zeros(
            (1, 3, solver.constraints.m, solver.model.nv)))

    def __call__(self, task: Task, q: ArrayLike, v: ArrayLike, a: Array,
                 found: ConstrainedSolution, external: ArrayLike | None) -> list[Blocks]:
        """Return how tau and the multipliers vary by q, v, a and needs, after their call."""
        if self._constraints.functions:
            return order_zero_of(self.series(task, q, v, a[None], found._replace(
                multipliers=found.multipliers[None]), one_order(self._constraints, external)))
        return [list(by) for by in self._order_zero(
            task, q, v, a, external, [self._n, self._m])]

    def series(self, task: Task, q: ArrayLike, v: ArrayLike, a: Array,
               found: ConstrainedSolution, external: ArrayLike | None) -> list[Blocks]:
        """Return the Jacobians of each order of a solution; a is (r + 1, nv)."""
        data, (orders, n) = self._constraints.data, a.shape
        varied = self._varied(q, v, a, found.multipliers, external)
        slopes: Array = np.zeros((orders, orders + 2, self._m, n))
        reactions = slopes
        if task.kind == kernels.LEAST_FORCE_TASK:
            reactions = varied.reactions(np.where(task.driven, 0.0, data.potentials(orders)))
        else:
            rates = np.empty((orders, n))
            write_rate_potentials(
                data.workspace, np.array([float(factorial(k)) for k in range(orders)]), rates)
            slopes = varied.reactions(rates)
            if found.rank < self._m:
                reactions = varied.reactions(data.potentials(orders))
        result = self._result([n, self._m], orders)
        inverse_changes(
            data.workspace, task.table, varied.forces(), varied.jacobian, slopes, reactions,
            self._lanes, self._changes[:orders], result)
        return self._blocks(result, [n, self._m], orders)


def order_zero_of(found: list[Blocks]) -> list[Blocks]:
    """Return order zero of blocks (r + 1, ...) and (r + 1, r + 1, ...) of matrices."""
    return [[each[0, 0] if each.ndim == 4 else each[0] for each in blocks] for blocks in found]


def jacobian_buffers(solver: Solver, inverse: bool, *further: Array) -> tuple[Array, ...]:
    """Return the buffers of order zero of the kernels, with further ones of inverse dynamics."""
    n, m = solver.model.nv, solver.constraints.m
    return (np.zeros((solver.model.link_table.N + 1, VARIATION_WIDTH)),
            np.zeros((1, 3, n + m, n)), *further, np.zeros((1, 3, m, n)),
            np.zeros((n + m, LANES)), table_of_changes(n, m, 2 if inverse else 1, 1))


def table_of_changes(n: int, m: int, series_given: int, orders: int) -> Array:
    """Return the table of the columns of all changes."""
    shape = orders, 3 * n + 2 * m, padded((2 + series_given * orders) * n)
    return on_lines(prod(shape)).reshape(shape)
