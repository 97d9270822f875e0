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

from functools import cached_property
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.constraints.exclusive import exclusive
from liedyn_ros.dynamics.constrained.partial_derivatives.digits import require_derivative_digits
from liedyn_ros.dynamics.constrained.partial_derivatives.equations import (
    by_parameters, refuse_rank)
from liedyn_ros.dynamics.constrained.partial_derivatives.function_rows import require_series
from liedyn_ros.dynamics.constrained.partial_derivatives.jacobians import (
    Blocks, HybridLoopJacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import (
    kinematic_jacobians, LoopKinematicJacobians, Pull)
from liedyn_ros.dynamics.constrained.partial_derivatives.products import (
    ConstrainedProduct, LoopProducts)
from liedyn_ros.dynamics.constrained.partial_derivatives.second import hybrid_seconds
from liedyn_ros.dynamics.constrained.partial_derivatives.states import Known, ManyStates
from liedyn_ros.dynamics.constrained.solver.inputs import States
from liedyn_ros.dynamics.constrained.solver.solution import (
    ConstrainedSolution, ConstraintStatus)
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.constrained.solver.tasks import hybrid_task, Mask, Task
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.dynamics.partial_derivatives.time_products import TimeDerivativeProducts
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.tree.orders import order_of_rows


class ConstrainedForwardJacobians(NamedTuple):
    """
    The accelerations a (nv,), the multipliers (m,), and their partial derivatives.

    by_q, by_v and by_tau (nv, nv): row k is a[k]; multipliers_by_q, _by_v and _by_tau (m, nv).
    Those by q are along the tangents of model.integrate. A displacement or a change of velocity
    may leave the constraints: accelerations then keep A v as it is, as with forward's
    closed=False. Where constraints are redundant, changes have a meaning that keep them.

    Of time_derivatives, arrays have a first axis of orders (r + 1); by_tau has two: entry [k, j]
    is a^(k) by tau^(j), zero for j > k.
    """

    a: Array
    multipliers: Array
    by_q: Array
    by_v: Array
    by_tau: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_tau: Array

    def by_parameters(self, forces: Array) -> tuple[Array, Array]:
        """
        Return how a (nv, ...) and the multipliers (m, ...) vary with parameters of the tree.

        forces (nv, ...) are as for HybridJacobians, with orders (r + 1, nv, ...). Parameters that
        place closures, or move joints, change the constraints too: by_kinematics has them.
        """
        return -by_parameters(self.by_tau, forces), -by_parameters(self.multipliers_by_tau, forces)


class ConstrainedForwardGradient(NamedTuple):
    """The partial derivatives of y . a + z . multipliers, each (nv,)."""

    by_q: Array
    by_v: Array
    by_tau: Array


class ConstrainedForwardSecondDerivatives(NamedTuple):
    """
    The second derivatives of a (nv, nv, nv) and of the multipliers (m, nv, nv), but for zero ones.

    by_qv[i, k, j] is the derivative of da[i]/dq[k] by v[j]. by_qq is not symmetric between two
    coordinates of one spherical or free joint (13.5): the last index is that of the derivative
    that is taken last. Changes have the meaning that they have in ConstrainedForwardJacobians.
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
    """Jacobians of accelerations and multipliers of forward dynamics by kinematic parameters."""

    a: LoopKinematicJacobians
    multipliers: LoopKinematicJacobians


class ConstrainedForwardPartialDerivatives(ManyStates, TimeDerivativeProducts):
    """
    Derivatives of a and the multipliers at a state on the constraints.

    Called as dynamics.forward.partial_derivatives. External wrenches (B, 6) stay the same in the
    frames of their bodies. Each call raises the errors of dynamics.forward, ModelError for
    constraint functions without jacobian_series, and SingularError in configurations with fewer
    independent constraints.
    """

    _given = 'by_tau'

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver, self._model = solver, solver.model
        self.lock = solver.lock
        self._task = hybrid_task(np.ones(solver.model.nv, dtype=np.bool_))

    @exclusive
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                 external: ArrayLike | None = None, *, closed: bool = True
                 ) -> ConstrainedForwardJacobians:
        """Return a, the multipliers and all Jacobians, in O(n^3); closed is that of forward."""
        tau = as_array('tau', tau, (self._model.nv,))
        require_series(self._solver.constraints)
        found = self._regular(q, v, tau, external, closed)
        a, multipliers = self._jacobians(self._task, q, v, found, external)
        return ConstrainedForwardJacobians(found.a, found.multipliers, *a, *multipliers)

    @exclusive
    def time_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         external: ArrayLike | None = None, *, closed: bool = True,
                         max_error: float = NO_DIGIT) -> ConstrainedForwardJacobians:
        """
        Return a and the multipliers with time derivatives to order r, and the Jacobians of each.

        tau is (r + 1, nv), external (r + 1, B, 6). Raises LimitError for the first order of a
        whose estimated relative error exceeds max_error, or whose Jacobians between states on the
        constraints do. With math.inf there is no estimate.
        """
        constraints, n = self._solver.constraints, self._model.nv
        tau = as_array('tau', tau, (order_of_rows('tau', tau, 0) + 1, n))
        q, v = self._model.check_configuration(q), as_array('v', v, (n,))
        require_series(constraints)
        found = self._regular(q, v, tau, external, closed, max_error)
        a, multipliers = self._jacobians.series(self._task, q, v, found, external)

        def again(at: Array) -> list[Blocks]:
            other = self._solver.solve(self._task.of_rank(found.rank), at, v, None, tau, external,
                                       closed, math.inf)
            return self._jacobians.series(self._task, at, v, other, external)[:1]

        require_derivative_digits(self._solver, (q, v), found, [a], again, max_error)
        return ConstrainedForwardJacobians(found.a, found.multipliers, *a, *multipliers)

    @exclusive
    def product(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dq: ArrayLike, dv: ArrayLike,
                dtau: ArrayLike, external: ArrayLike | None = None, *,
                parameters: Parameters | None = None) -> ConstrainedProduct:
        """
        Return by_q dq + by_v dv + by_tau dtau in O(n + n m): the JVP.

        parameters are changes of all parameters of model and external, which add up.
        """
        arrays = self._products.parameter_arrays(q, external, parameters)
        motion = q, v, self._run(q, v, tau, external)
        rest = np.zeros(self._model.nv)
        return self._products.product(self._task, motion, (dq, dv, rest, dtau), arrays)

    @exclusive
    def gradient(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, y: ArrayLike,
                 external: ArrayLike | None = None, *, z: ArrayLike | None = None,
                 parameters: Parameters | None = None) -> ConstrainedForwardGradient:
        """
        Return the gradient of y . a + z . multipliers in O(n + n m): the VJP.

        y is (nv,), z (m,), by default zero. The gradient by parameters is written into parameters.
        """
        arrays = self._products.parameter_arrays(q, external, parameters)
        motion = q, v, self._run(q, v, tau, external)
        by_q, by_v, _, by_tau = self._products.gradient(self._task, motion, y, z, arrays)
        return ConstrainedForwardGradient(by_q, by_v, by_tau)

    @exclusive
    def second_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                           external: ArrayLike | None = None, *, closed: bool = True
                           ) -> ConstrainedForwardSecondDerivatives:
        """Return all second derivatives by q, v and tau, in O(n^4); closed is that of forward."""
        constraints, n = self._solver.constraints, self._model.nv
        q, v = self._model.check_configuration(q), as_array('v', v, (n,))
        tau = as_array('tau', tau, (n,))
        require_series(constraints)
        found = self._regular(q, v, tau, external, closed)
        a, _, multipliers = hybrid_seconds(
            constraints, q, v, np.ones(n, dtype=bool), found, external)
        return ConstrainedForwardSecondDerivatives(*a, *multipliers)

    @exclusive
    def by_kinematics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                      external: ArrayLike | None = None) -> ForwardKinematicJacobians:
        """
        Return how a and the multipliers vary with kinematic parameters, such as link lengths.

        It takes a call of forward dynamics, and n + m gradients: see kinematic_jacobians.
        """
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
        return ConstrainedForwardJacobians(
            found.a, found.multipliers, a[:, 0], a[:, 1], a[:, 2], multipliers[:, 0],
            multipliers[:, 1], multipliers[:, 2]), found.good

    def _all_gradients(self, task: Task, mask: Mask, states: States, y: Array
                       ) -> tuple[Any, Mask]:
        found = self._batches.gradients(task, states, y)
        return ConstrainedForwardGradient(*(
            found.derivatives[:, k] for k in (0, 1, 3))), found.good

    @cached_property
    def _jacobians(self) -> HybridLoopJacobians:
        return HybridLoopJacobians(self._solver)

    @cached_property
    def _products(self) -> LoopProducts:
        return LoopProducts(self._solver)

    def _run(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: ArrayLike | None
             ) -> Array:
        """Run forward dynamics at order zero, which leaves its factors; return a."""
        if type(tau) is not np.ndarray or tau.shape != (self._model.nv,):
            tau = as_array('tau', tau, (self._model.nv,))
        require_series(self._solver.constraints)
        return self._regular(q, v, tau, external, True).a

    def _regular(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: ArrayLike | None,
                 closed: bool, max_error: float = NO_DIGIT) -> ConstrainedSolution:
        """Return the solution where it has derivatives, or raise SingularError."""
        found = self._solver.solve(
            self._task, q, v, None, tau, external, closed, max_error)
        if found.status is ConstraintStatus.SINGULAR:
            refuse_rank(self._solver, found.rank)
        return found
