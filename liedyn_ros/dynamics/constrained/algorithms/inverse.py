# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained inverse dynamics: the joint forces of a motion (Kim 57 to 66)."""

from functools import cached_property
from typing import cast, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, ModelError
from liedyn_ros.dynamics.constrained.constraints.rank import solve_passive
from liedyn_ros.dynamics.constrained.kernels import solver as kernels
from liedyn_ros.dynamics.constrained.kernels.tables import DEFECT
from liedyn_ros.dynamics.constrained.partial_derivatives.inverse import (
    ConstrainedInversePartialDerivatives)
from liedyn_ros.dynamics.constrained.solver.solution import (
    CONSISTENT, ConstrainedSolution, ConstrainedSolutions, ConstraintStatus)
from liedyn_ros.dynamics.constrained.solver.solver import Solver, suffix_of
from liedyn_ros.dynamics.constrained.solver.tasks import inverse_task, LEAST_TORQUE
from liedyn_ros.dynamics.tree.inputs import mask


class ConstrainedInverse:
    """
    The joint forces of a motion that the constraints allow; called as dynamics.inverse.

    actuated (nv,) is by default the model's; tau holds the forces of passive joints, by default
    zero. If there are more actuators than needed, least_torque takes the least sum of w tau^2 over
    them. least_force takes the least sum of w lam^2 over the constraints. weights are (nv,) or
    (m,), by default 1. They carry units: moments against forces.

    Arrays are as ConstrainedDynamics says. Raises what it says, LiedynError for a motion that
    breaks a loop, and ModelError where the actuators are too few, naming what they leave free.
    """

    def __init__(self, solver: Solver) -> None:
        """Take what runs the kernel."""
        self._solver = solver

    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
                 tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
                 redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
                 external: ArrayLike | None = None) -> ConstrainedSolution:
        """Return the solution of a state."""
        return cast(ConstrainedSolution, self._solve(
            False, q, v, a, tau, actuated, redundancy, weights, external))

    def batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
              tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
              redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
              external: ArrayLike | None = None) -> ConstrainedSolutions:
        """
        Return the solutions of q (K, nq), v (K, nv), a and tau (K, nv) or (K, order + 1, nv).

        Actuators, redundancy and weights are the same for all.
        """
        return cast(ConstrainedSolutions, self._solve(
            True, q, v, a, tau, actuated, redundancy, weights, external))

    @cached_property
    def partial_derivatives(self) -> ConstrainedInversePartialDerivatives:
        """Return the derivatives of tau and the multipliers by all input: call it."""
        return ConstrainedInversePartialDerivatives(self._solver, self)

    def _solve(self, batch: bool, q: ArrayLike, v: ArrayLike, a: ArrayLike,
               tau: ArrayLike | None, actuated: ArrayLike | None, redundancy: str,
               weights: ArrayLike | None, external: ArrayLike | None
               ) -> ConstrainedSolution | ConstrainedSolutions:
        solver = self._solver
        driven = solver.model.actuated if actuated is None else mask(
            'actuated', actuated, solver.model.nv)
        task = inverse_task(solver.constraints.m, driven, redundancy, weights)
        found = None if batch else solver.attempt(task, q, v, a, tau, external, True, False)
        if found is not None and found.status is not ConstraintStatus.INCONSISTENT:
            return found
        states = solver.states(batch, q, v, a, tau, external, (solver.everywhere,) * 2)
        results, s, code = solver.run(task, states, True)
        if code == kernels.UNMOVED:
            self._refuse_actuators(states.q[s] if batch else states.q, driven,
                                   suffix_of(states, s))
        solver.check(states, s, code, a=states.a)
        for s, report in enumerate(np.atleast_2d(results.report)):
            if report[DEFECT] > CONSISTENT:
                raise LiedynError(
                    f'a{suffix_of(states, s)}: expected a motion that the constraints allow, got '
                    f'one that leaves {report[DEFECT]:.3g} of them open. '
                    'complete_acceleration computes it from the accelerations of the actuated '
                    'joints')
        return solver.solution(states, results, False)

    def _refuse_actuators(self, q: Array, driven: NDArray[np.bool_], suffix: str) -> NoReturn:
        solver = self._solver
        _, free = solve_passive(solver.constraints.jacobian(q), ~driven)
        moves = np.abs(free).max(axis=0, initial=0.0) > 1e-6
        names = [name for name, passive in zip(solver.model.coordinate_names, ~driven) if passive]
        at = f' at q{suffix}' if suffix else ''
        raise ModelError(f'actuated: expected actuators that decide the motion, got '
                         f'{int(driven.sum())}, which leave mobility {len(free)} to '
                         f'{[name for name, moving in zip(names, moves) if moving]}{at}')
