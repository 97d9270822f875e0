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

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.algorithms.orders import WithOrders
from liedyn_ros.dynamics.constrained.configurations.assembly import projected_velocity
from liedyn_ros.dynamics.constrained.partial_derivatives.forward import (
    ConstrainedForwardPartialDerivatives)
from liedyn_ros.dynamics.constrained.solver.solution import SolvedArray, with_solution
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.constrained.solver.tasks import hybrid_task
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT


class ConstrainedForward(WithOrders[SolvedArray]):
    """
    The accelerations under joint forces, which are unique; called as dynamics.forward.

    They solve (Kim 54, 55), by (Kim 67 to 69). Arrays are as ConstrainedDynamics says, and so is
    what is raised.

    >>> linkage.forward(closed, rest, rest).solution.status.name
    'REDUNDANT'
    """

    _series = 'tau'

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver = solver
        self._task = hybrid_task(np.ones(solver.model.nv, dtype=np.bool_))

    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                 external: ArrayLike | None = None, out: Array | None = None, *,
                 closed: bool = True, project: bool = False,
                 max_error: float = NO_DIGIT) -> SolvedArray:
        """
        Return the accelerations under joint forces, which are unique.

        Args:
            q: closed configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            tau: joint forces (nv,); N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            out: array that takes the result; by default a new one.
            closed: whether the state must be on the constraints; else the velocity stays off them
                as it is.
            project: move the velocity onto the constraints first, as an impact would.
            max_error: largest estimated relative error of an order; with math.inf there is no
                estimate.

        Returns:
            a (nv,), an array with the whole solution in its attribute solution.

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a state that is wrong or open.

        >>> linkage.forward(closed, rest, rest).shape
        (3,)
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
        found = self._solver.solve_batch(self._task, q, v, None, tau, external, max_error)
        return with_solution(found.a, found)

    @cached_property
    def partial_derivatives(self) -> ConstrainedForwardPartialDerivatives:
        """Return the derivatives of a and the multipliers by all input: call it."""
        return ConstrainedForwardPartialDerivatives(self._solver)
