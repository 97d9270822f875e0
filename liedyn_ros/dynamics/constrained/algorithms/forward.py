# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained forward dynamics: the accelerations under joint forces."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.configurations.assembly import projected_velocity
from liedyn_ros.dynamics.constrained.partial_derivatives.forward import (
    ConstrainedForwardPartialDerivatives)
from liedyn_ros.dynamics.constrained.solver.solution import SolvedArray, with_solution
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.constrained.solver.tasks import hybrid_task
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.tree.orders import order_of_rows


class ConstrainedForward:
    """
    The accelerations under joint forces, which are unique; called as dynamics.forward.

    They solve (Kim 54, 55), by (Kim 67 to 69). Arrays are as ConstrainedDynamics says, and so is
    what is raised.
    """

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver = solver
        self._task = hybrid_task(np.ones(solver.model.nv, dtype=np.bool_))

    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                 external: ArrayLike | None = None, out: Array | None = None, *,
                 closed: bool = True, project: bool = False,
                 max_error: float = NO_DIGIT) -> SolvedArray:
        """
        Return a of a state, which has the other parts of its solution as attributes.

        out is written, if it is given. Near singular configurations high orders lose digits.
        Raises LimitError for the first order whose estimated relative error exceeds max_error;
        with math.inf there is no estimate.

        closed False accepts a state off the constraints, as in the stages of an integrator, and as
        Pinocchio's constraintDynamics does. The accelerations then keep A v as it is. project
        moves v to the constraints first, as a plastic impact would. Then q is to be closed, and
        accelerations are those after the impact.
        """
        if project:
            constraints = self._solver.constraints
            v = projected_velocity(
                constraints, constraints.model.check_configuration(q),
                as_array('v', v, (constraints.model.nv,)))
        found = self._solver.solve(self._task, q, v, None, tau, external, closed, max_error)
        return with_solution(found.a, found, out)

    def batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None,
              *, max_error: float = NO_DIGIT) -> SolvedArray:
        """Return a of q (K, nq), v (K, nv), tau (K, nv) or (K, order + 1, nv)."""
        found = self._solver.solve_batch(self._task, q, v, None, tau, external, max_error)
        return with_solution(found.a, found)

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         external: ArrayLike | None = None, **options: Any) -> SolvedArray:
        """Return a (r + 1, nv) of tau (r + 1, nv), as of a machine without loops."""
        order_of_rows('tau', tau, 0)
        return self(q, v, tau, external, **options)

    def time_derivatives_batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                               external: ArrayLike | None = None, **options: Any) -> SolvedArray:
        """Return a (K, r + 1, nv) of tau (K, r + 1, nv), as of a machine without loops."""
        order_of_rows('tau', tau, 1)
        return self.batch(q, v, tau, external, **options)

    @cached_property
    def partial_derivatives(self) -> ConstrainedForwardPartialDerivatives:
        """Return the derivatives of a and the multipliers by all input: call it."""
        return ConstrainedForwardPartialDerivatives(self._solver)
