# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained forward and hybrid dynamics: of each coordinate either is known; orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.algorithms.algorithm import Forms
from liedyn_ros.dynamics.constrained.configurations.assembly import projected_velocity
from liedyn_ros.dynamics.constrained.partial_derivatives.forward import (
    ConstrainedForwardPartialDerivatives)
from liedyn_ros.dynamics.constrained.partial_derivatives.hybrid import (
    ConstrainedHybridPartialDerivatives)
from liedyn_ros.dynamics.constrained.solver.inputs import hybrid_task, Task
from liedyn_ros.dynamics.constrained.solver.solution import (
    pair_of, SolvedArray, SolvedPair, with_solution)
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.tree.inputs import order_of_rows
from liedyn_ros.model import Model

Result = TypeVar('Result')


class WithOrders(Forms, Generic[Result]):
    """
    An algorithm whose call and batch take orders of _series, the argument at _place.

    >>> linkage.inverse.time_derivatives(closed, rest, np.zeros((2, 3))).shape
    (2, 3)
    """

    _solver: Solver
    _series, _place = 'a', 2

    @property
    def model(self) -> Model:
        """Return the model, with its closures where they are now."""
        return self._solver.model

    def time_derivatives(self, *arguments: Any, **options: Any) -> Result:
        call: Callable[..., Result] = self.__call__  # type: ignore[operator]
        return self._with_orders(call, 0, arguments, options)

    def time_derivatives_batch(self, *arguments: Any, **options: Any) -> Result:
        return self._with_orders(self.batch, 1, arguments, options)

    def _with_orders(self, call: Callable[..., Result], axis: int, arguments: tuple[Any, ...],
                     options: dict[str, Any]) -> Result:
        given = [*arguments[self._place:self._place + 1], options.get(self._series)]
        if given[0] is not None:  # without it the call says so
            order_of_rows(self._series, given[0], axis)
        return call(*arguments, **options)


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
