# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained hybrid dynamics: of each coordinate either is known."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from numpy.typing import ArrayLike

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained.partial_derivatives.hybrid import (
    ConstrainedHybridPartialDerivatives)
from liedyn_ros.dynamics.constrained.solver.solution import pair_of, SolvedPair
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.constrained.solver.tasks import hybrid_task, Task
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.tree.orders import order_of_rows


class ConstrainedHybrid:
    """
    The motion where some accelerations are given and the other forces; called as dynamics.hybrid.

    The equations are (Kim 70 to 80).
    prescribed names joints, or is a mask (nv,): there a is read, and tau elsewhere. The status is
    INCONSISTENT where what is prescribed breaks a loop. Where it decides more than can move,
    constraint forces are those of least norm. Arrays are as ConstrainedDynamics says, and so is
    what is raised.
    """

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver = solver

    def __call__(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                 tau: ArrayLike, external: ArrayLike | None = None, *,
                 max_error: float = NO_DIGIT) -> SolvedPair:
        """
        Return a and tau of a state, which have the other parts of the solution as attributes.

        max_error is as in forward dynamics.
        """
        return pair_of(self._solver.solve(
            self._task(prescribed, tau), q, v, a, tau, external, max_error=max_error))

    def batch(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
              tau: ArrayLike, external: ArrayLike | None = None, *,
              max_error: float = NO_DIGIT) -> SolvedPair:
        """
        Return a and tau of q (K, nq), v (K, nv), a and tau (K, nv) or (K, order + 1, nv).

        All states have the same coordinates prescribed.
        """
        return pair_of(self._solver.solve_batch(
            self._task(prescribed, tau), q, v, a, tau, external, max_error))

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                         tau: ArrayLike, external: ArrayLike | None = None, **options: Any
                         ) -> SolvedPair:
        """Return a and tau (r + 1, nv) of a and tau (r + 1, nv), as of a machine without loops."""
        order_of_rows('a', a, 0)
        return self(q, v, prescribed, a, tau, external, **options)

    def time_derivatives_batch(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike,
                               a: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None,
                               **options: Any) -> SolvedPair:
        """Return a and tau (K, r + 1, nv) of K states, as of a machine without loops."""
        order_of_rows('a', a, 1)
        return self.batch(q, v, prescribed, a, tau, external, **options)

    @cached_property
    def partial_derivatives(self) -> ConstrainedHybridPartialDerivatives:
        """Return the derivatives of a, tau and the multipliers by all input: call it."""
        return ConstrainedHybridPartialDerivatives(self._solver)

    def _task(self, prescribed: ArrayLike, tau: ArrayLike | None) -> Task:
        task = hybrid_task(~self._solver.constraints.names.mask('prescribed', prescribed))
        if tau is None and task.reads_tau.any():
            raise LiedynError('tau: expected forces where accelerations are unknown, got None')
        return task
