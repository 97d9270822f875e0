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

from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained.algorithms.hybrid import WithOrders
from liedyn_ros.dynamics.constrained.partial_derivatives.inverse import (
    ConstrainedInversePartialDerivatives)
from liedyn_ros.dynamics.constrained.solver.inputs import inverse_task, LEAST_TORQUE, Task
from liedyn_ros.dynamics.constrained.solver.solution import SolvedArray, with_solution
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT


class ConstrainedInverse(WithOrders[SolvedArray]):
    """
    The joint forces of a motion that the constraints allow; called as dynamics.inverse.

    The equations are (Kim 56 to 66).
    actuated names joints, or is a mask (nv,), by default that of the model; tau holds the forces
    of passive joints, by default zero. If there are more actuators than needed, least_torque takes
    the least sum of w tau^2 over them. least_force takes the least sum of w lam^2 over the
    constraints. weights are (nv,) or (m,), by default 1. They carry units: moments against forces.
    within_limits takes the least torque within the effort limits of the model. Derivatives are
    those of the motion while the same actuators stay at a limit. LimitError: the limits are not
    enough. Rods between ball joints spin as a says. tau has the moment that this takes in a
    coordinate of the rod, none where its mass is on its line.

    Arrays and errors are as in ConstrainedDynamics. Raises LiedynError for a motion that breaks a
    loop. Raises ModelError for too few actuators, or where they do not hold the machine, as at a
    dead centre. It names them, and the coordinates that they leave free.

    >>> linkage.inverse(closed, rest, rest)[1:]  # of passive joints
    array([0., 0.])
    """

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver = solver

    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None = None,
                 out: Array | None = None, *, tau: ArrayLike | None = None,
                 actuated: ArrayLike | None = None, redundancy: str = LEAST_TORQUE,
                 weights: ArrayLike | None = None, within_limits: bool = False,
                 max_error: float = NO_DIGIT) -> SolvedArray:
        """
        Return the joint forces of a motion. Where several do it, redundancy says which.

        Args:
            q: closed configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,); rad/s^2 and m/s^2.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            out: array that takes the result; by default a new one.
            tau: forces of passive joints, by default zero; N m and N.
            actuated: names of joints, or a mask (nv,), of those that bear forces; by default those
                of the model.
            redundancy: LEAST_TORQUE or LEAST_FORCE: which of the forces that do the same.
            weights: (nv,) of the squares of joint forces.
            within_limits: take the least torque within the effort limits of the model.
            max_error: largest estimated relative error of an order; with math.inf there is no
                estimate.

        Returns:
            tau (nv,), an array with the whole solution in its attribute solution.

        Raises:
            ModelError: where the actuators cannot have the motion.
            LiedynError: for a state that is wrong or open.

        >>> linkage.inverse(closed, rest, rest).shape
        (3,)
        """
        found = self._solver.solve(self._task(actuated, redundancy, weights, within_limits),
                                   q, v, a, tau, external, max_error=max_error)
        return with_solution(found.tau, found, out)

    def batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None = None, *,
              tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
              redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
              within_limits: bool = False, max_error: float = NO_DIGIT) -> SolvedArray:
        found = self._solver.solve_batch(
            self._task(actuated, redundancy, weights, within_limits), q, v, a, tau, external,
            max_error)
        return with_solution(found.tau, found)

    @cached_property
    def partial_derivatives(self) -> ConstrainedInversePartialDerivatives:
        """Return the derivatives of tau and the multipliers by all input: call it."""
        return ConstrainedInversePartialDerivatives(self._solver)

    def _task(self, actuated: ArrayLike | None, redundancy: str, weights: ArrayLike | None,
              within_limits: bool) -> Task:
        if within_limits and redundancy != LEAST_TORQUE:
            raise LiedynError(f'redundancy: expected {LEAST_TORQUE} where efforts are within '
                              f'limits, got {redundancy!r}')
        constraints = self._solver.constraints
        return inverse_task(
            constraints, actuated, redundancy, weights,
            constraints.model.limits.effort if within_limits else None)[1]
