# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The Jacobians of forward dynamics of order zero, in one kernel, where all rows are independent.

Redundant rows, constraint functions and time derivatives take the series of hybrid.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.constraints.sparsity import padded
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    VARIATION_WIDTH)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.jacobians import (
    forward_loop_jacobians)
from liedyn_ros.dynamics.constrained.solver.solution import ConstrainedSolution
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.constrained.solver.tasks import Task
from liedyn_ros.dynamics.partial_derivatives.inverse import InverseJacobians
from liedyn_ros.jit.bound_kernel import BoundKernel

Blocks = tuple[Array, Array, Array, Array, Array, Array]


class ForwardLoopJacobians:
    """The kernel, after calls of one solver, with scratch buffers."""

    def __init__(self, solver: Solver, task: Task) -> None:
        """Allocate the buffers."""
        self._constraints = solver.constraints
        n, m = solver.model.nv, solver.constraints.m
        self._n, self._m, self._end = n, m, 3 * n * n
        self._kernel = BoundKernel(
            forward_loop_jacobians, task.table,
            np.zeros((solver.model.link_table.N + 1, VARIATION_WIDTH)),
            np.zeros((n + m, padded(n + m) + padded(3 * n))))
        self._tree: InverseJacobians | None = None

    def __call__(self, q: ArrayLike, v: ArrayLike, found: ConstrainedSolution,
                 external: ArrayLike | None) -> Blocks | None:
        """
        Return how a and the multipliers vary with q, v and tau, after the call that found them.

        None where rows are redundant, or where numbers are too large.
        """
        if found.rank < self._m:
            return None
        tree = self._tree = self._constraints.tree.inverse.partial_derivatives(
            q, v, found.a, external, self._tree)
        result = np.empty(self._end + 3 * self._m * self._n)
        if not self._kernel.call(self._constraints.data.workspace, tree.by_q, tree.by_v,
                                 tree.by_a, result):
            return None
        a, multipliers = (result[:self._end].reshape(3, self._n, self._n),
                          result[self._end:].reshape(3, self._m, self._n))
        return a[0], a[1], a[2], multipliers[0], multipliers[1], multipliers[2]
