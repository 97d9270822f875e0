# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained inverse dynamics: the joint forces of a motion."""

from __future__ import annotations

from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics.constrained.constraints.rank import solve_passive
from liedyn_ros.dynamics.constrained.partial_derivatives.inverse import (
    ConstrainedInversePartialDerivatives)
from liedyn_ros.dynamics.constrained.solver.effort_limits import EffortSplit, split_efforts
from liedyn_ros.dynamics.constrained.solver.solution import (
    ConstrainedSolution, ConstrainedSolutions)
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.constrained.solver.tasks import inverse_task, LEAST_TORQUE


class ConstrainedInverse:
    """
    The joint forces of a motion that the constraints allow; called as dynamics.inverse.

    The equations are (Kim 56 to 66).
    actuated names joints, or is a mask (nv,), by default that of the model; tau holds the forces
    of passive joints, by default zero. If there are more actuators than needed, least_torque takes
    the least sum of w tau^2 over them. least_force takes the least sum of w lam^2 over the
    constraints. weights are (nv,) or (m,), by default 1. They carry units: moments against forces.
    within_limits takes the least torque within the effort limits of the model. Derivatives are
    those of the motion while the same actuators stay at a limit. LimitError: the limits are not
    enough.

    Arrays and errors are as in ConstrainedDynamics. Raises LiedynError for a motion that breaks a
    loop. Raises ModelError for too few actuators, or where they do not hold the machine, as at a
    dead centre. It names them, and the coordinates that they leave free.
    """

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver = solver

    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None = None,
                 *, tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
                 redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
                 within_limits: bool = False) -> ConstrainedSolution:
        """Return the solution of a state."""
        if within_limits:
            return self._limited(q, v, a, external, tau, actuated, redundancy, weights)
        _, task = inverse_task(
            self._solver.constraints.names, self._solver.constraints.m, actuated, redundancy,
            weights)
        return self._solver.solve(task, q, v, a, tau, external)

    def _limited(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None,
                 tau: ArrayLike | None, actuated: ArrayLike | None, redundancy: str,
                 weights: ArrayLike | None) -> ConstrainedSolution:
        """Return the solution with efforts within the limits."""
        if redundancy != LEAST_TORQUE:
            raise LiedynError(f'redundancy: expected {LEAST_TORQUE} where efforts are within '
                              f'limits, got {redundancy!r}')
        constraints = self._solver.constraints
        driven, task = inverse_task(
            constraints.names, constraints.m, actuated, redundancy, weights)
        found = self._solver.solve(task, q, v, a, tau, external)
        first = np.reshape(found.tau, (-1, len(driven)))[0]
        limits = constraints.model.limits.effort
        if (np.abs(first) <= limits)[driven].all():
            return found
        _, free = solve_passive(constraints.jacobian(q), np.ones_like(driven))
        costs = np.ones(len(driven)) if weights is None else np.asarray(weights)
        split = split_efforts(free[:, driven], free[:, driven] @ first[driven], costs[driven],
                              limits[driven])
        if split.missing:
            self._refuse(driven, split)
        given = np.zeros_like(found.tau) if tau is None else np.array(tau, dtype=np.float64)
        held = np.flatnonzero(driven)[split.at_limit]
        given[..., held] = 0.0
        np.reshape(given, (-1, len(driven)))[0, held] = split.efforts[split.at_limit]
        still = driven.copy()
        still[held] = False
        return self(q, v, a, external, tau=given, actuated=still, weights=weights)

    def _refuse(self, driven: NDArray[np.bool_], split: EffortSplit) -> NoReturn:
        """Raise the error for limits of effort that do not hold the motion."""
        names = np.array(self._solver.model.coordinate_names)[driven][split.at_limit].tolist()
        raise LimitError(
            f'tau: expected a motion within the effort limits of the actuators, got one that '
            f'takes more than {names} have: {100.0 * split.missing:.3g} % stays open', names=names,
            expected=0.0, got=split.missing)

    def batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None = None, *,
              tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
              redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None
              ) -> ConstrainedSolutions:
        """
        Return the solutions of q (K, nq), v (K, nv), a and tau (K, nv) or (K, order + 1, nv).

        Actuators, redundancy and weights are the same for all.
        """
        _, task = inverse_task(
            self._solver.constraints.names, self._solver.constraints.m, actuated, redundancy,
            weights)
        return self._solver.solve_batch(task, q, v, a, tau, external)

    @cached_property
    def partial_derivatives(self) -> ConstrainedInversePartialDerivatives:
        """Return the derivatives of tau and the multipliers by all input: call it."""
        return ConstrainedInversePartialDerivatives(self._solver)
