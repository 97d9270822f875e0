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

from numpy.typing import ArrayLike

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained.algorithms.orders import WithOrders
from liedyn_ros.dynamics.constrained.partial_derivatives.hybrid import (
    ConstrainedHybridPartialDerivatives)
from liedyn_ros.dynamics.constrained.solver.solution import pair_of, SolvedPair
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.constrained.solver.tasks import hybrid_task, Task
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT


class ConstrainedHybrid(WithOrders[SolvedPair]):
    """
    The motion where some accelerations are given and the other forces; called as dynamics.hybrid.

    The equations are (Kim 70 to 80).
    prescribed names joints, or is a mask (nv,): there a is read, and tau elsewhere. The status is
    INCONSISTENT where what is prescribed breaks a loop. Where it decides more than can move,
    constraint forces are those of least norm. Arrays are as ConstrainedDynamics says, and so is
    what is raised.

    >>> driven = linkage.hybrid(closed, rest, ['crank_joint'], [1.0, 0.0, 0.0], rest)
    >>> driven.a[0].round(9).item()
    1.0
    """

    _place = 3

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver = solver

    def __call__(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                 tau: ArrayLike, external: ArrayLike | None = None, *,
                 max_error: float = NO_DIGIT) -> SolvedPair:
        """
        Return all of a and tau, from what is known of each.

        Args:
            q: closed configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: names of joints or coordinates, or a mask (nv,), of those whose
                acceleration is given; tau gives the force of the others.
            a: acceleration (nv,); rad/s^2 and m/s^2.
            tau: joint forces (nv,); N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            max_error: largest estimated relative error of an order; with math.inf there is no
                estimate.

        Returns:
            the solution.

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a state that is wrong or open.

        >>> linkage.hybrid(closed, rest, linkage.model.actuated, rest, rest).a.shape
        (3,)
        """
        return pair_of(self._solver.solve(
            self._task(prescribed, tau), q, v, a, tau, external, max_error=max_error))

    def batch(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
              tau: ArrayLike, external: ArrayLike | None = None, *,
              max_error: float = NO_DIGIT) -> SolvedPair:
        return pair_of(self._solver.solve_batch(
            self._task(prescribed, tau), q, v, a, tau, external, max_error))

    @cached_property
    def partial_derivatives(self) -> ConstrainedHybridPartialDerivatives:
        """Return the derivatives of a, tau and the multipliers by all input: call it."""
        return ConstrainedHybridPartialDerivatives(self._solver)

    def _task(self, prescribed: ArrayLike, tau: ArrayLike | None) -> Task:
        task = hybrid_task(~self._solver.constraints.names.mask('prescribed', prescribed))
        if tau is None and task.reads_tau.any():
            raise LiedynError('tau: expected forces where accelerations are unknown, got None')
        return task
