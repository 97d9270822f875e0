# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of inverse dynamics of machines with closed loops, to any order (13.19c).

Joint forces and multipliers are the least with E tau + A^T lam = s, s being the forces of the
tree. Least torque makes it Q nu + A^T lam = s, A nu = 0, tau = Q nu and lam = A mu. There Q is
diagonal and zero for passive joints. Least force makes it W lam - A_p mu = 0, A_p^T lam = s_p for
the passive joints. These systems are varied, and so are their time derivatives.
"""

from __future__ import annotations

from functools import cached_property
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.constraints.tables import exclusive
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import require_series
from liedyn_ros.dynamics.constrained.partial_derivatives.digits import require_derivative_digits
from liedyn_ros.dynamics.constrained.partial_derivatives.equations import (
    by_parameters, refuse_rank)
from liedyn_ros.dynamics.constrained.partial_derivatives.jacobians import (
    Blocks, InverseLoopJacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import (
    kinematic_jacobians, LoopKinematicJacobians, Pull)
from liedyn_ros.dynamics.constrained.partial_derivatives.products import ConstrainedProduct
from liedyn_ros.dynamics.constrained.partial_derivatives.second import (
    least_force_gradient_change, least_force_seconds, least_torque_gradient_change,
    least_torque_seconds, tree_forces)
from liedyn_ros.dynamics.constrained.partial_derivatives.states import Known, ManyLoopStates
from liedyn_ros.dynamics.constrained.solver.inputs import (
    inverse_task, LEAST_TORQUE, Mask, Sharing, States, Task)
from liedyn_ros.dynamics.constrained.solver.kernels import solver as kernels
from liedyn_ros.dynamics.constrained.solver.solution import (
    ConstrainedSolution, SolvedArray, with_solution)
from liedyn_ros.dynamics.partial_derivatives.many_states import written
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.dynamics.partial_derivatives.time_products import WrenchDerivatives
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.tree.inputs import order_of_rows

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ConstrainedInverseJacobians(NamedTuple):
    """
    The joint forces tau (nv,), the multipliers (m,), and their partial derivatives.

    by_q, by_v and by_a (nv, nv): row k is tau[k]. by_tau (nv, nv) is by the forces of passive
    joints, by_need (nv, nv) by the forces that the tree needs for the motion. multipliers_by_q,
    multipliers_by_v, multipliers_by_a, multipliers_by_tau and multipliers_by_need are (m, nv).
    by_gravity (nv, 3) is by the acceleration of gravity in the ground. Those by q are along the
    tangents of model.integrate. Changes have a meaning where they keep the motion on the
    constraints.

    Arrays of time_derivatives have a first axis of orders (r + 1); by_a, by_tau and by_need have
    two. Entry [k, j] is tau^(k) by order j, zero for j > k. by_gravity is None there.

    >>> linkage.inverse.partial_derivatives(closed, rest, rest).by_need.shape
    (3, 3)
    """

    by_q: Array
    by_v: Array
    by_a: Array
    by_tau: Array
    by_need: Array
    tau: Array
    multipliers: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_a: Array
    multipliers_by_tau: Array
    multipliers_by_need: Array
    by_gravity: Any = None

    def by_parameters(self, forces: Array) -> SolvedArray:
        """
        Return how joint forces and multipliers vary with parameters of the tree.

        Args:
            forces: as for ConstrainedForwardJacobians.by_parameters.

        Returns:
            those of tau (nv, ...), with those of multipliers (m, ...) as an attribute.

        >>> found = linkage.inverse.partial_derivatives(closed, rest, rest)
        >>> found.by_parameters(np.eye(3)).shape
        (3, 3)
        """
        tau, multipliers = (by_parameters(each, forces) for each in (
            self.by_need, self.multipliers_by_need))
        return with_solution(tau, ConstrainedProduct(np.zeros_like(tau), tau, multipliers))


class ConstrainedInverseGradient(NamedTuple):
    """
    The partial derivatives by_q, by_v, by_a and by_tau of y . tau + z . multipliers, each (nv,).

    >>> linkage.inverse.partial_derivatives.gradient(closed, rest, rest, np.ones(3)).by_a.shape
    (3,)
    """

    by_q: Array
    by_v: Array
    by_a: Array
    by_tau: Array


class ConstrainedInverseSecondDerivatives(NamedTuple):
    """
    The second derivatives of tau and of the multipliers, but for those that are zero.

    by_qq, by_qv, by_vv, by_qa and by_qtau are (nv, nv, nv); multipliers_by_qq, multipliers_by_qv,
    multipliers_by_vv, multipliers_by_qa and multipliers_by_qtau (m, nv, nv). by_qa[i, k, j] is the
    derivative of dtau[i]/dq[k] by a[j], by_qtau by the forces of passive joints. by_qq is not
    symmetric between two coordinates of one spherical or free joint (13.5): the last index is that
    of the derivative that is taken last.

    >>> linkage.inverse.partial_derivatives.second_derivatives(closed, rest, rest).by_qa.shape
    (3, 3, 3)
    """

    by_qq: Array
    by_qv: Array
    by_vv: Array
    by_qa: Array
    by_qtau: Array
    multipliers_by_qq: Array
    multipliers_by_qv: Array
    multipliers_by_vv: Array
    multipliers_by_qa: Array
    multipliers_by_qtau: Array


class InverseKinematicJacobians(NamedTuple):
    """
    Jacobians of joint forces tau and multipliers by kinematic parameters.

    >>> linkage.inverse.partial_derivatives.by_kinematics(closed, rest, rest).tau.by_length.shape
    (3, 1)
    """

    tau: LoopKinematicJacobians
    multipliers: LoopKinematicJacobians


def inverse_jacobians_of(found: ConstrainedSolution, driven: Mask, by_forces: Blocks,
                         by_multipliers: Blocks, gravity: Array | None = None
                         ) -> ConstrainedInverseJacobians:
    """Return the result: forces that are given are needed no more."""
    by_tau, multipliers_by_tau = (-blocks[-1] * ~driven for blocks in (by_forces, by_multipliers))
    passive = np.flatnonzero(~driven)
    for k in range(len(by_tau) if by_tau.ndim > 2 else 1):
        (by_tau[k, k] if by_tau.ndim > 2 else by_tau)[passive, passive] += 1.0
    (by_q, by_v, by_a, by_need), (m_by_q, m_by_v, m_by_a, m_by_need) = by_forces, by_multipliers
    return ConstrainedInverseJacobians(
        by_q, by_v, by_a, by_tau, by_need, found.tau, found.multipliers, m_by_q, m_by_v, m_by_a,
        multipliers_by_tau, m_by_need, None if gravity is None else by_need @ gravity)


class ConstrainedInversePartialDerivatives(ManyLoopStates, WrenchDerivatives):
    """
    Derivatives of tau and the multipliers at a motion on the constraints.

    Each call raises the errors of dynamics.inverse, and ModelError for constraint functions
    without jacobian_series. It raises SingularError where the rank of the constraints drops: there
    are no derivatives.

    >>> linkage.inverse.partial_derivatives(closed, rest, rest).by_a.shape
    (3, 3)
    """

    _given, _inverse = 'by_a', True

    @exclusive
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None = None,
                 out: ConstrainedInverseJacobians | None = None, **options: Unpack[Sharing]
                 ) -> ConstrainedInverseJacobians:
        a = as_array('a', a, (self._model.nv,))
        require_series(self._solver.constraints)
        driven, task, found = self._regular(q, v, a, external, **options)
        forces, multipliers = self._jacobians(task, q, v, a, found, external)
        return written(inverse_jacobians_of(
            found, driven, forces, multipliers,
            self._jacobians.of_gravity(q, v, a, external)), out)

    @exclusive
    def time_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         external: ArrayLike | None = None, *, max_error: float = NO_DIGIT,
                         **options: Unpack[Sharing]) -> ConstrainedInverseJacobians:
        constraints, n = self._solver.constraints, self._model.nv
        a = as_array('a', a, (order_of_rows('a', a, 0, n) + 1, n))
        q, v = self._model.check_configuration(q), as_array('v', v, (n,))
        require_series(constraints)
        driven, task, found = self._regular(q, v, a, external, max_error, **options)
        forces, multipliers = self._jacobians.series(task, q, v, a, found, external)

        def again(at: Array) -> list[Blocks]:
            other = self._solver.solve(
                task.of_rank(found.rank), at, v, a, options.get('tau'), external,
                max_error=math.inf)
            return self._jacobians.series(task, at, v, a, other, external)[:1]

        require_derivative_digits(
            self._solver, (q, v), found, [forces], again, max_error, moving=True)
        return inverse_jacobians_of(found, driven, forces, multipliers)

    @exclusive
    def product(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, dq: ArrayLike, dv: ArrayLike,
                da: ArrayLike, external: ArrayLike | None = None, *, dtau: ArrayLike | None = None,
                parameters: Parameters | None = None, **options: Unpack[Sharing]) -> SolvedArray:
        arrays = self._products.parameter_arrays(q, external, parameters)
        passive, task = self._run(q, v, a, external, **options)
        given = np.zeros(len(passive)) if dtau is None else as_array('dtau', dtau, passive.shape)
        change = self._products.product(
            task, (q, v, a), (dq, dv, da, np.where(passive, given, 0.0)), arrays)
        return with_solution(change.tau, change)

    @exclusive
    def gradient(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike,
                 external: ArrayLike | None = None, *, z: ArrayLike | None = None,
                 parameters: Parameters | None = None, **options: Unpack[Sharing]
                 ) -> ConstrainedInverseGradient:
        arrays = self._products.parameter_arrays(q, external, parameters)
        passive, task = self._run(q, v, a, external, **options)
        by_q, by_v, by_a, by_forces = self._products.gradient(task, (q, v, a), y, z, arrays)
        return ConstrainedInverseGradient(
            by_q, by_v, by_a, np.where(passive, np.asarray(y) - by_forces, 0.0))

    @exclusive
    def second_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                           external: ArrayLike | None = None, **options: Unpack[Sharing]
                           ) -> ConstrainedInverseSecondDerivatives:
        constraints, n = self._solver.constraints, self._model.nv
        q, v = self._model.check_configuration(q), as_array('v', v, (n,))
        a = as_array('a', a, (n,))
        require_series(constraints)
        driven, task, found = self._regular(q, v, a, external, **options)
        rows, forces = tree_forces(constraints, (q, v, a), external)
        if task.kind == kernels.LEAST_FORCE_TASK:
            by_forces, by_multipliers = least_force_seconds(
                rows, forces, found.multipliers, driven, task.weight)
        else:
            needs = constraints.tree.inverse(q, v, a, external) - np.where(driven, 0.0, found.tau)
            by_forces, by_multipliers = least_torque_seconds(
                rows, forces, needs, found, driven, np.where(driven, task.weight, 0.0))
        return ConstrainedInverseSecondDerivatives(*by_forces, *by_multipliers)

    @exclusive
    def gradient_product(
            self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, dq: ArrayLike,
            dv: ArrayLike, da: ArrayLike, external: ArrayLike | None = None, *,
            dtau: ArrayLike | None = None, **options: Unpack[Sharing]
            ) -> ConstrainedInverseGradient:
        n = self._model.nv
        q, (v, a, y, dq, dv, da) = self._model.check_configuration(q), (
            as_array(name, each, (n,)) for name, each in zip(
                ('v', 'a', 'y', 'dq', 'dv', 'da'), (v, a, y, dq, dv, da)))
        directions = dq, dv, da, as_array('dtau', np.zeros(n) if dtau is None else dtau, (n,))
        require_series(self._solver.constraints)
        driven, task, found = self._regular(q, v, a, external, **options)
        if task.kind == kernels.LEAST_FORCE_TASK:
            return ConstrainedInverseGradient(*least_force_gradient_change(
                self._solver.constraints, (q, v, a), found, driven, task.weight, y, directions,
                external))
        return ConstrainedInverseGradient(*least_torque_gradient_change(
            self._solver.constraints, (q, v, a), found, np.where(driven, 0.0, 1.0),
            np.where(driven, task.weight, 0.0), y, directions, external))

    def by_external(self, q: ArrayLike, **options: Unpack[Sharing]) -> Array:
        tree = self._solver.constraints.tree.inverse.partial_derivatives
        return self._of_forces(q, tree.by_external(q), options)

    def by_world_fixed_wrenches(self, q: ArrayLike, external: ArrayLike, *, at_body: bool = False,
                                **options: Unpack[Sharing]) -> Array:
        tree = self._solver.constraints.tree.inverse.partial_derivatives
        return self._of_forces(
            q, tree.by_world_fixed_wrenches(q, external, at_body=at_body), options)

    def _of_forces(self, q: ArrayLike, forces: Array, options: Sharing) -> Array:
        """Return the change of tau by that of the tree's forces (nv, ...)."""
        rest = np.zeros(self._model.nv)
        return np.asarray(np.tensordot(self(q, rest, rest, **options).by_need, forces, 1))

    @exclusive
    def by_kinematics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                      external: ArrayLike | None = None, **options: Unpack[Sharing]
                      ) -> InverseKinematicJacobians:
        products, a = self._products, as_array('a', a, (self._model.nv,))

        def begin(by: Parameters) -> Pull:
            arrays = products.parameter_arrays(q, external, by)
            _, task, _ = self._regular(q, v, a, external, **options)
            return products.rows(task, arrays)

        return InverseKinematicJacobians(
            *kinematic_jacobians(self._solver.constraints, begin))

    def _plan(self, given: list[Any], external: Array | None, options: dict[str, Any]
              ) -> Known | None:
        q, v, a = given
        chosen = {'actuated': None, 'redundancy': LEAST_TORQUE, 'weights': None, **options}
        if len(chosen) > 3:
            return None
        constraints = self._solver.constraints
        driven, task = inverse_task(constraints, **chosen)
        return task, driven, self._solver.inputs.many(task, q, v, a, None, external)

    def _all_jacobians(self, task: Task, mask: Mask, states: States) -> tuple[Any, Mask]:
        found, (forces, multipliers) = self._batches.jacobians(
            task, states, [self._model.nv, self._solver.constraints.m])
        by_tau, multipliers_by_tau = (-each[:, 3] * ~mask for each in (forces, multipliers))
        by_tau[:, ~mask, ~mask] += 1.0
        return ConstrainedInverseJacobians(
            forces[:, 0], forces[:, 1], forces[:, 2], by_tau, forces[:, 3], found.tau,
            found.multipliers, multipliers[:, 0], multipliers[:, 1], multipliers[:, 2],
            multipliers_by_tau, multipliers[:, 3],
            forces[:, 3] @ self._of_gravity(states)), found.good

    def _all_gradients(self, task: Task, mask: Mask, states: States, y: Array
                       ) -> tuple[Any, Mask]:
        found = self._batches.gradients(task, states, y)
        by_q, by_v, by_a, by_forces = np.moveaxis(found.derivatives, 1, 0)
        return ConstrainedInverseGradient(
            by_q, by_v, by_a, np.where(~mask, y - by_forces, 0.0)), found.good

    @cached_property
    def _jacobians(self) -> InverseLoopJacobians:
        return InverseLoopJacobians(self._solver)

    def _run(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None,
             **options: Unpack[Sharing]) -> tuple[Mask, Task]:
        """Run inverse dynamics at order zero; return which joints are passive, and the task."""
        if type(a) is not np.ndarray or a.shape != (self._model.nv,):
            a = as_array('a', a, (self._model.nv,))
        require_series(self._solver.constraints)
        driven, task, _ = self._regular(q, v, a, external, **options)
        return ~driven, task

    def _regular(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None,
                 max_error: float = NO_DIGIT, *, tau: ArrayLike | None = None, **options: Any
                 ) -> tuple[Mask, Task, ConstrainedSolution]:
        """Return actuators, task and solution where it has derivatives, or raise."""
        driven, task = inverse_task(self._solver.constraints, **options)
        found = self._solver.solve(task, q, v, a, tau, external, max_error=max_error)
        if task.kind == kernels.LEAST_TORQUE_TASK and found.rank < (
                self._solver.usual_rank(task) or 0):
            refuse_rank(self._solver, found.rank)
        return driven, task, found
