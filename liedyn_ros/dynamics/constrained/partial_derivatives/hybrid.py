# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of the hybrid dynamics of machines with closed loops, to any order (13.37b).

Of each coordinate the acceleration is prescribed or the force given. F are the coordinates whose
force is given. The varied equations are M_FF a_F - A_F^T lam = f, A_F a_F = g and lam = A_F mu,
and their time derivatives. Forward dynamics prescribes nothing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.constrained.constraints.tables import exclusive
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import require_series
from liedyn_ros.dynamics.constrained.partial_derivatives.digits import require_derivative_digits
from liedyn_ros.dynamics.constrained.partial_derivatives.equations import by_parameters
from liedyn_ros.dynamics.constrained.partial_derivatives.jacobians import Blocks
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import (
    kinematic_jacobians, LoopKinematicJacobians, Pull, rows_of)
from liedyn_ros.dynamics.constrained.partial_derivatives.products import ConstrainedProduct
from liedyn_ros.dynamics.constrained.partial_derivatives.second import hybrid_seconds
from liedyn_ros.dynamics.constrained.partial_derivatives.states import Known, ManyLoopStates
from liedyn_ros.dynamics.constrained.solver.inputs import hybrid_task, Mask, States, Task
from liedyn_ros.dynamics.constrained.solver.solution import (
    ConstrainedSolution, ConstraintStatus, pair_of, SolvedPair)
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.dynamics.partial_derivatives.time_products import HigherDerivatives
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.tree.inputs import copied, order_of_rows


class ConstrainedHybridJacobians(NamedTuple):
    """
    a and tau (nv,), the multipliers (m,), and their partial derivatives, one row for each.

    a_by_q, a_by_v, a_by_given, tau_by_q, tau_by_v and tau_by_given are (nv, nv); multipliers_by_q,
    multipliers_by_v and multipliers_by_given (m, nv).
    by_given is by the known of each coordinate: its acceleration where it is prescribed, its force
    elsewhere. The rows of known ones are zero, and unit rows in by_given. Changes have a meaning
    where they keep the motion on the constraints. prescribed (nv,) is as it was given.

    Of time_derivatives, arrays have a first axis of orders (r + 1); by_given has two: entry
    [k, j] is order k by order j, zero for j > k.

    >>> known = linkage.model.actuated
    >>> linkage.hybrid.partial_derivatives(closed, rest, known, rest, rest).a_by_q.shape
    (3, 3)
    """

    a: Array
    tau: Array
    a_by_q: Array
    a_by_v: Array
    a_by_given: Array
    tau_by_q: Array
    tau_by_v: Array
    tau_by_given: Array
    prescribed: Mask
    multipliers: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_given: Array

    def by_parameters(self, forces: Array) -> SolvedPair:
        """
        Return how accelerations, joint forces and multipliers vary with parameters of the tree.

        Args:
            forces: as for ConstrainedForwardJacobians.by_parameters.

        Returns:
            those of a and of tau (nv, ...), with those of multipliers (m, ...) as an attribute.

        >>> driven, derive = linkage.model.actuated, linkage.hybrid.partial_derivatives
        >>> found = derive(closed, rest, driven, rest, rest)
        >>> found.by_parameters(np.eye(3))[1].shape
        (3, 3)
        """
        known = self.prescribed.reshape(-1, *(1,) * (np.ndim(forces) - self.a.ndim))
        needed = np.where(known, 0.0, forces)
        return pair_of(ConstrainedProduct(
            -by_parameters(self.a_by_given, needed),
            np.where(known, forces - by_parameters(self.tau_by_given, needed), 0.0),
            -by_parameters(self.multipliers_by_given, needed)))


class ConstrainedHybridGradient(NamedTuple):
    """
    a, tau, and by_q, by_v and by_given of y . x + z . multipliers, each (nv,); x: unknowns.

    >>> partial, known = linkage.hybrid.partial_derivatives, linkage.model.actuated
    >>> partial.gradient(closed, rest, known, rest, rest, np.ones(3)).by_given.shape
    (3,)
    """

    a: Array
    tau: Array
    by_q: Array
    by_v: Array
    by_given: Array


class ConstrainedHybridSecondDerivatives(NamedTuple):
    """
    The second derivatives of a, tau (nv, nv, nv) and the multipliers (m, nv, nv).

    All but zero ones. a_by_qgiven[i, k, j] is the derivative of da[i]/dq[k] by the known of
    coordinate j, as in ConstrainedHybridJacobians. Known ones have zero rows. by_qq is not
    symmetric between two coordinates of one spherical or free joint (13.5): the last index is
    that of the derivative that is taken last.
    """

    a_by_qq: Array
    a_by_qv: Array
    a_by_vv: Array
    a_by_qgiven: Array
    tau_by_qq: Array
    tau_by_qv: Array
    tau_by_vv: Array
    tau_by_qgiven: Array
    multipliers_by_qq: Array
    multipliers_by_qv: Array
    multipliers_by_vv: Array
    multipliers_by_qgiven: Array


class HybridKinematicJacobians(NamedTuple):
    """
    Jacobians of accelerations a, joint forces tau and multipliers; zero of given ones.

    >>> partial, known = linkage.hybrid.partial_derivatives, linkage.model.actuated
    >>> partial.by_kinematics(closed, rest, known, rest, rest).tau.by_axis.shape
    (3, 3, 3)
    """

    a: LoopKinematicJacobians
    tau: LoopKinematicJacobians
    multipliers: LoopKinematicJacobians


class ConstrainedHybridPartialDerivatives(ManyLoopStates, HigherDerivatives):
    """
    Derivatives of a, tau and the multipliers at a motion on the constraints.

    Each call raises the errors of dynamics.hybrid, ModelError for constraint functions without
    jacobian_series, and SingularError where prescribed accelerations break a loop, or constraints
    become dependent.

    >>> known = linkage.model.actuated
    >>> linkage.hybrid.partial_derivatives(closed, rest, known, rest, rest).tau_by_given.shape
    (3, 3)
    """

    @exclusive
    def __call__(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                 tau: ArrayLike, external: ArrayLike | None = None) -> ConstrainedHybridJacobians:
        known = self._solver.constraints.names.mask('prescribed', prescribed)
        a, tau = (as_array(name, x, known.shape) for name, x in (('a', a), ('tau', tau)))
        require_series(self._solver.constraints)
        found = self._regular(q, v, known, a, tau, external)
        return self._result(known, found, self._jacobians(
            hybrid_task(~known), q, v, found, external))

    @exclusive
    def time_derivatives(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                         tau: ArrayLike, external: ArrayLike | None = None, *,
                         max_error: float = NO_DIGIT) -> ConstrainedHybridJacobians:
        constraints, n = self._solver.constraints, self._model.nv
        shape = order_of_rows('a', a, 0, n) + 1, n
        a, tau = as_array('a', a, shape), as_array('tau', tau, shape)
        q, v = self._model.check_configuration(q), as_array('v', v, (n,))
        known = constraints.names.mask('prescribed', prescribed)
        require_series(constraints)
        found = self._regular(q, v, known, a, tau, external, max_error)
        task = hybrid_task(~known)
        blocks = self._jacobians.series(task, q, v, found, external)

        def again(at: Array) -> list[Blocks]:
            other = self._solver.solve(
                task.of_rank(found.rank), at, v, a, tau, external, max_error=math.inf)
            return self._jacobians.series(task, at, v, other, external)[:-1]

        require_derivative_digits(self._solver, (q, v), found, blocks[:-1], again, max_error)
        return self._result(known, found, blocks)

    @exclusive
    def product(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                tau: ArrayLike, dq: ArrayLike, dv: ArrayLike, given: ArrayLike,
                external: ArrayLike | None = None, *, parameters: Parameters | None = None
                ) -> SolvedPair:
        arrays = self._products.parameter_arrays(q, external, parameters)
        known, found = self._run(q, v, prescribed, a, tau, external)
        given = as_array('given', given, known.shape)
        return pair_of(self._products.product(
            hybrid_task(~known), (q, v, found.a), (dq, dv, np.where(known, given, 0.0),
                                                   np.where(known, 0.0, given)), arrays))

    @exclusive
    def gradient(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                 tau: ArrayLike, y: ArrayLike, external: ArrayLike | None = None, *,
                 z: ArrayLike | None = None, parameters: Parameters | None = None
                 ) -> ConstrainedHybridGradient:
        arrays = self._products.parameter_arrays(q, external, parameters)
        known, found = self._run(q, v, prescribed, a, tau, external)
        by_q, by_v, by_a, by_tau = self._products.gradient(
            hybrid_task(~known), (q, v, found.a), y, z, arrays)
        return ConstrainedHybridGradient(
            found.a, found.tau, by_q, by_v, np.where(known, by_a, by_tau))

    @exclusive
    def second_derivatives(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                           tau: ArrayLike, external: ArrayLike | None = None
                           ) -> ConstrainedHybridSecondDerivatives:
        constraints, n = self._solver.constraints, self._model.nv
        q, v = self._model.check_configuration(q), as_array('v', v, (n,))
        a, tau = as_array('a', a, (n,)), as_array('tau', tau, (n,))
        known = constraints.names.mask('prescribed', prescribed)
        require_series(constraints)
        found = self._regular(q, v, known, a, tau, external)
        accelerations, forces, multipliers = hybrid_seconds(
            constraints, q, v, ~known, found, external)
        return ConstrainedHybridSecondDerivatives(*accelerations, *forces, *multipliers)

    @exclusive
    def by_kinematics(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                      tau: ArrayLike, external: ArrayLike | None = None
                      ) -> HybridKinematicJacobians:
        products = self._products
        known = self._solver.constraints.names.mask('prescribed', prescribed)

        def begin(by: Parameters) -> Pull:
            arrays = products.parameter_arrays(q, external, by)
            self._regular(q, v, known, a, tau, external)
            return products.rows(hybrid_task(~known), arrays)

        unknowns, multipliers = kinematic_jacobians(self._solver.constraints, begin)
        return HybridKinematicJacobians(
            rows_of(unknowns, ~known), rows_of(unknowns, known), multipliers)

    def _plan(self, given: list[Any], external: Array | None, options: dict[str, Any]
              ) -> Known | None:
        q, v, prescribed, a, tau = given
        known = self._solver.constraints.names.mask('prescribed', prescribed)
        task = hybrid_task(~known)
        states = self._solver.inputs.many(task, q, v, a, tau, external)
        return None if options else (task, known, states)

    def _all_jacobians(self, task: Task, mask: Mask, states: States) -> tuple[Any, Mask]:
        n, count = self._model.nv, len(states.q)
        rows = [n, n, self._solver.constraints.m] if mask.any() else [
            n, self._solver.constraints.m]
        found, blocks = self._batches.jacobians(task, states, rows)
        if not mask.any():
            blocks.insert(1, np.tile(np.stack(
                [np.zeros((n, n)), np.zeros((n, n)), np.eye(n)]), (count, 1, 1, 1)))
        a, tau, multipliers = (np.moveaxis(each, 1, 0) for each in blocks)
        return ConstrainedHybridJacobians(
            found.a, found.tau, a[0], a[1], a[2], tau[0], tau[1], tau[2],
            np.tile(mask, (count, 1)), found.multipliers, multipliers[0], multipliers[1],
            multipliers[2]), found.good

    def _all_gradients(self, task: Task, mask: Mask, states: States, y: Array
                       ) -> tuple[Any, Mask]:
        found = self._batches.gradients(task, states, y)
        by_q, by_v, by_a, by_tau = np.moveaxis(found.derivatives, 1, 0)
        return ConstrainedHybridGradient(
            found.a, found.tau, by_q, by_v, np.where(mask, by_a, by_tau)), found.good

    def _result(self, known: Mask, found: ConstrainedSolution, blocks: list[Blocks]
                ) -> ConstrainedHybridJacobians:
        """Return the result; where no acceleration is prescribed, all forces are given."""
        if not known.any():
            by_q, by_v, given = (np.zeros_like(each) for each in blocks[0])
            for k in range(max(len(given), 1) if given.ndim > 2 else 1):
                (given[k, k] if given.ndim > 2 else given)[:] = np.eye(len(known))
            blocks.insert(1, [by_q, by_v, given])
        a, tau, (by_q, by_v, given) = blocks
        return ConstrainedHybridJacobians(
            found.a, found.tau, a[0], a[1], a[2], tau[0], tau[1], tau[2], known, found.multipliers,
            by_q, by_v, given)

    def _run(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
             tau: ArrayLike, external: ArrayLike | None) -> tuple[Mask, ConstrainedSolution]:
        """Run hybrid dynamics at order zero; return the mask and the solution."""
        known = self._solver.constraints.names.mask('prescribed', prescribed)
        a, tau = copied('a', a, known.shape), copied('tau', tau, known.shape)
        require_series(self._solver.constraints)
        return known, self._regular(q, v, known, a, tau, external)

    def _regular(self, q: ArrayLike, v: ArrayLike, known: Mask, a: ArrayLike, tau: ArrayLike,
                 external: ArrayLike | None, max_error: float = NO_DIGIT) -> ConstrainedSolution:
        """Return the solution where it has derivatives, or raise SingularError."""
        found = self._solver.solve(
            hybrid_task(~known), q, v, a, tau, external, max_error=max_error)
        if found.status in (ConstraintStatus.SINGULAR, ConstraintStatus.INCONSISTENT):
            raise SingularError(
                'prescribed: expected accelerations that the constraints allow, in a '
                f'configuration that is not singular, got {found.status.value}')
        return found
