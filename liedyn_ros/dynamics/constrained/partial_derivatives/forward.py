# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of the forward dynamics of machines with closed loops (13.19), (13.37b).

They are those of hybrid dynamics without prescribed accelerations.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.constraints.tables import exclusive
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import require_series
from liedyn_ros.dynamics.constrained.partial_derivatives.digits import require_derivative_digits
from liedyn_ros.dynamics.constrained.partial_derivatives.equations import (
    by_parameters, refuse_rank)
from liedyn_ros.dynamics.constrained.partial_derivatives.jacobians import Blocks
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import (
    kinematic_jacobians, LoopKinematicJacobians, Pull)
from liedyn_ros.dynamics.constrained.partial_derivatives.products import ConstrainedProduct
from liedyn_ros.dynamics.constrained.partial_derivatives.second import (
    forward_gradient_change, hybrid_seconds)
from liedyn_ros.dynamics.constrained.partial_derivatives.states import Found, Known, ManyLoopStates
from liedyn_ros.dynamics.constrained.solver.inputs import hybrid_task, Mask, States, Task
from liedyn_ros.dynamics.constrained.solver.solution import (
    ConstrainedSolution, ConstraintStatus, SolvedArray, with_solution)
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.partial_derivatives.many_states import written
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.dynamics.partial_derivatives.time_products import TimeDerivativeProducts
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.tree.inputs import order_of_rows


class ConstrainedForwardJacobians(NamedTuple):
    """
    The accelerations a (nv,), the multipliers (m,), and their partial derivatives.

    by_q, by_v and by_tau (nv, nv): row k is a[k]; multipliers_by_q,
    multipliers_by_v and multipliers_by_tau (m, nv). Those by q are along the tangents of
    model.integrate. A displacement or a change of velocity
    may leave the constraints: accelerations then keep A v as it is, as with forward's
    closed=False. Where constraints are redundant, changes have a meaning that keep them.
    by_gravity (nv, 3) is by the acceleration of gravity in the ground.

    Of time_derivatives, arrays have a first axis of orders (r + 1); by_tau has two: entry [k, j]
    is a^(k) by tau^(j), zero for j > k. by_gravity is None there.

    >>> linkage.forward.partial_derivatives(closed, rest, rest).multipliers_by_q.shape
    (5, 3)
    """

    a: Array
    by_q: Array
    by_v: Array
    by_tau: Array
    multipliers: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_tau: Array
    by_gravity: Any = None

    def by_parameters(self, forces: Array) -> SolvedArray:
        """
        Return how accelerations and multipliers vary with parameters of the tree.

        Parameters that place closures, or move joints, change the constraints too: by_kinematics
        has them.

        Args:
            forces: derivatives (nv, ...) of inverse dynamics by them, see
                HybridJacobians.by_parameters; of time derivatives (r + 1, nv, ...).

        Returns:
            those of a (nv, ...), with those of multipliers (m, ...) as an attribute.

        >>> found = linkage.forward.partial_derivatives(closed, rest, rest)
        >>> found.by_parameters(np.eye(3)).shape
        (3, 3)
        """
        a, multipliers = (-by_parameters(each, forces) for each in (
            self.by_tau, self.multipliers_by_tau))
        return with_solution(a, ConstrainedProduct(a, np.zeros_like(a), multipliers))


class ConstrainedForwardGradient(NamedTuple):
    """
    The accelerations a, and by_q, by_v and by_tau of y . a + z . multipliers, each (nv,).

    >>> linkage.forward.partial_derivatives.gradient(closed, rest, rest, np.ones(3)).by_tau.shape
    (3,)
    """

    a: Array
    by_q: Array
    by_v: Array
    by_tau: Array


class ConstrainedForwardSecondDerivatives(NamedTuple):
    """
    The second derivatives of a and of the multipliers, but for those that are zero.

    by_qq, by_qv, by_vv and by_qtau are (nv, nv, nv); multipliers_by_qq, multipliers_by_qv,
    multipliers_by_vv and multipliers_by_qtau (m, nv, nv). by_qv[i, k, j] is the derivative of
    da[i]/dq[k] by v[j]. by_qq is not symmetric between two coordinates of one spherical or free
    joint (13.5): the last index is that of the derivative that is taken last. Changes have the
    meaning that they have in ConstrainedForwardJacobians.

    >>> linkage.forward.partial_derivatives.second_derivatives(closed, rest, rest).by_qq.shape
    (3, 3, 3)
    """

    by_qq: Array
    by_qv: Array
    by_vv: Array
    by_qtau: Array
    multipliers_by_qq: Array
    multipliers_by_qv: Array
    multipliers_by_vv: Array
    multipliers_by_qtau: Array


class ForwardKinematicJacobians(NamedTuple):
    """
    Jacobians of accelerations a and multipliers of forward dynamics by link lengths and the like.

    >>> linkage.forward.partial_derivatives.by_kinematics(closed, rest, rest).a.by_axis.shape
    (3, 3, 3)
    """

    a: LoopKinematicJacobians
    multipliers: LoopKinematicJacobians


class ConstrainedForwardPartialDerivatives(ManyLoopStates, TimeDerivativeProducts):
    """
    Derivatives of a and the multipliers at a state on the constraints.

    Each call raises the errors of dynamics.forward, ModelError for constraint functions without
    jacobian_series, and SingularError in configurations with fewer independent constraints.

    >>> linkage.forward.partial_derivatives(closed, rest, rest).by_tau.shape
    (3, 3)
    """

    _given = 'by_tau'

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        super().__init__(solver)
        self._task = hybrid_task(np.ones(solver.model.nv, dtype=np.bool_))

    @exclusive
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                 external: ArrayLike | None = None, out: ConstrainedForwardJacobians | None = None,
                 *, closed: bool = True) -> ConstrainedForwardJacobians:
        tau = as_array('tau', tau, (self._model.nv,))
        require_series(self._solver.constraints)
        found = self._regular(q, v, tau, external, closed)
        a, multipliers = self._jacobians(self._task, q, v, found, external)
        return written(_jacobians_of(found, a, multipliers, self._jacobians.of_gravity(
            q, v, found.a, external)), out)

    @exclusive
    def time_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         external: ArrayLike | None = None, *, closed: bool = True,
                         max_error: float = NO_DIGIT) -> ConstrainedForwardJacobians:
        constraints, n = self._solver.constraints, self._model.nv
        tau = as_array('tau', tau, (order_of_rows('tau', tau, 0, n) + 1, n))
        q, v = self._model.check_configuration(q), as_array('v', v, (n,))
        require_series(constraints)
        found = self._regular(q, v, tau, external, closed, max_error)
        a, multipliers = self._jacobians.series(self._task, q, v, found, external)

        def again(at: Array) -> list[Blocks]:
            other = self._solver.solve(self._task.of_rank(found.rank), at, v, None, tau, external,
                                       closed, math.inf)
            return self._jacobians.series(self._task, at, v, other, external)[:1]

        require_derivative_digits(self._solver, (q, v), found, [a], again, max_error)
        return _jacobians_of(found, a, multipliers)

    @exclusive
    def product(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dq: ArrayLike, dv: ArrayLike,
                dtau: ArrayLike, external: ArrayLike | None = None, *,
                parameters: Parameters | None = None) -> SolvedArray:
        arrays = self._products.parameter_arrays(q, external, parameters)
        motion = q, v, self._run(q, v, tau, external)
        rest = np.zeros(self._model.nv)
        change = self._products.product(self._task, motion, (dq, dv, rest, dtau), arrays)
        return with_solution(change.a, change)

    @exclusive
    def gradient(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, y: ArrayLike,
                 external: ArrayLike | None = None, *, z: ArrayLike | None = None,
                 parameters: Parameters | None = None, closed: bool = True
                 ) -> ConstrainedForwardGradient:
        arrays = self._products.parameter_arrays(q, external, parameters)
        motion = q, v, self._run(q, v, tau, external, closed)
        by_q, by_v, _, by_tau = self._products.gradient(self._task, motion, y, z, arrays)
        return ConstrainedForwardGradient(motion[2], by_q, by_v, by_tau)

    @exclusive
    def second_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                           external: ArrayLike | None = None, *, closed: bool = True
                           ) -> ConstrainedForwardSecondDerivatives:
        constraints, n = self._solver.constraints, self._model.nv
        q, v = self._model.check_configuration(q), as_array('v', v, (n,))
        tau = as_array('tau', tau, (n,))
        require_series(constraints)
        found = self._regular(q, v, tau, external, closed)
        a, _, multipliers = hybrid_seconds(
            constraints, q, v, np.ones(n, dtype=bool), found, external)
        return ConstrainedForwardSecondDerivatives(*a, *multipliers)

    @exclusive
    def gradient_product(
            self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, y: ArrayLike, dq: ArrayLike,
            dv: ArrayLike, dtau: ArrayLike, external: ArrayLike | None = None
            ) -> ConstrainedForwardGradient:
        n = self._model.nv
        q = self._model.check_configuration(q)
        v, tau, y, dq, dv, dtau = (as_array(name, each, (n,)) for name, each in zip(
            ('v', 'tau', 'y', 'dq', 'dv', 'dtau'), (v, tau, y, dq, dv, dtau)))
        change = self.product(q, v, tau, dq, dv, dtau, external)
        found = self._regular(q, v, tau, external, True)
        by_q, by_v, by_a, by_multipliers = forward_gradient_change(
            self._solver.constraints, q, v, found, y,
            (dq, dv, change.view(np.ndarray), change.multipliers), external)
        inner = self.gradient(q, v, tau, by_a, external, z=by_multipliers)
        return ConstrainedForwardGradient(
            change.view(np.ndarray), by_q + inner.by_q, by_v + inner.by_v, inner.by_tau)

    @exclusive
    def by_kinematics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                      external: ArrayLike | None = None) -> ForwardKinematicJacobians:
        products, tau = self._products, as_array('tau', tau, (self._model.nv,))

        def begin(by: Parameters) -> Pull:
            arrays = products.parameter_arrays(q, external, by)
            self._regular(q, v, tau, external, True)
            return products.rows(self._task, arrays)

        return ForwardKinematicJacobians(
            *kinematic_jacobians(self._solver.constraints, begin))

    def _plan(self, given: list[Any], external: Array | None, options: dict[str, Any]
              ) -> Known | None:
        q, v, tau = given
        states = self._solver.inputs.many(self._task, q, v, None, tau, external)
        return None if options else (self._task, self._task.driven, states)

    def _all_jacobians(self, task: Task, mask: Mask, states: States) -> tuple[Any, Mask]:
        found, (a, multipliers) = self._batches.jacobians(
            task, states, [self._model.nv, self._solver.constraints.m])
        return _jacobians_of(
            found, np.moveaxis(a, 1, 0), np.moveaxis(multipliers, 1, 0),
            self._of_gravity(states)), found.good

    def _all_gradients(self, task: Task, mask: Mask, states: States, y: Array
                       ) -> tuple[Any, Mask]:
        found = self._batches.gradients(task, states, y)
        return ConstrainedForwardGradient(found.a, *(
            found.derivatives[:, k] for k in (0, 1, 3))), found.good

    def _run(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: ArrayLike | None,
             closed: bool = True) -> Array:
        """Run forward dynamics at order zero, which leaves its factors; return a."""
        if type(tau) is not np.ndarray or tau.shape != (self._model.nv,):
            tau = as_array('tau', tau, (self._model.nv,))
        require_series(self._solver.constraints)
        return self._regular(q, v, tau, external, closed).a

    def _regular(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: ArrayLike | None,
                 closed: bool, max_error: float = NO_DIGIT) -> ConstrainedSolution:
        """Return the solution where it has derivatives, or raise SingularError."""
        found = self._solver.solve(
            self._task, q, v, None, tau, external, closed, max_error)
        if found.status is ConstraintStatus.SINGULAR:
            refuse_rank(self._solver, found.rank)
        return found


def _jacobians_of(found: ConstrainedSolution | Found, a: Any, multipliers: Any,
                  gravity: Array | None = None) -> ConstrainedForwardJacobians:
    """Return the result of blocks by q, v and tau, and of how forces of the tree vary with g."""
    return ConstrainedForwardJacobians(
        found.a, a[0], a[1], a[2], found.multipliers, multipliers[0], multipliers[1],
        multipliers[2], None if gravity is None else -a[2] @ gravity)
