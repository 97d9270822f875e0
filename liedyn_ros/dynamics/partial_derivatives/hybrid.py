# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of forward and hybrid dynamics (13.15, 13.18, 13.23)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.partial_derivatives.inverse import InversePartialDerivatives
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_products import (
    forward_product, forward_product_transposed)
from liedyn_ros.dynamics.partial_derivatives.kernels.hybrid import (
    forward_jacobians, hybrid_tree_jacobians)
from liedyn_ros.dynamics.partial_derivatives.kernels.states import (
    forward_gradients_of_states, forward_jacobians_of_states)
from liedyn_ros.dynamics.partial_derivatives.many_states import (
    PartialDerivatives, results, ScratchBuffers, StatePool)
from liedyn_ros.dynamics.partial_derivatives.parameter_products import on_lines, ParameterProducts
from liedyn_ros.dynamics.partial_derivatives.parameters import (
    kinematic_jacobians, KinematicJacobians, Parameters, vector_of)
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import (
    ForwardRateJacobians, ForwardRateTables)
from liedyn_ros.dynamics.partial_derivatives.time_products import TimeDerivativeProducts
from liedyn_ros.dynamics.tree.constants import Arguments, Constants, NO_WRENCHES
from liedyn_ros.dynamics.tree.inputs import copied, raise_refusal
from liedyn_ros.jit.bound_kernel import BoundKernel, CheckedKernel
from liedyn_ros.jit.simd import LANES


class HybridJacobians(NamedTuple):
    """
    a and tau (nv,), and their partial derivatives, each (nv, nv).

    They are a_by_q, a_by_v and a_by_given, tau_by_q, tau_by_v and tau_by_given.
    by_given is by the given acceleration of prescribed coordinates, and the given force of the
    others. The rows of these given numbers are zero, and unit rows in by_given. prescribed (nv,)
    is the mask of the call.

    >>> robot.hybrid.partial_derivatives(q, v, ['elbow'], a, tau).a_by_given[2, 2].item()
    1.0
    """

    a: Array
    tau: Array
    a_by_q: Array
    a_by_v: Array
    a_by_given: Array
    tau_by_q: Array
    tau_by_v: Array
    tau_by_given: Array
    prescribed: NDArray[np.bool_]

    def by_parameters(self, forces: Array) -> tuple[Array, Array]:
        """
        Return the derivatives of a and tau by parameters.

        Args:
            forces: derivatives (nv, ...) of inverse dynamics by them: a Regressor has them as
                torque at a, inverse.partial_derivatives by gravity, by wrenches and by kinematics.

        Returns:
            those of a and of tau, each (nv, ...).

        >>> found = robot.hybrid.partial_derivatives(q, v, ['elbow'], a, tau)
        >>> found.by_parameters(ld.Regressor(model).torque(q, v, found.a))[0].shape[0]
        6
        """
        free = ~self.prescribed
        a, tau = (-np.einsum('ij,j...->i...', by_given[:, free], forces[free])
                  for by_given in (self.a_by_given, self.tau_by_given))
        tau += forces
        tau[free] = 0.0
        return a, tau


class HybridProduct(NamedTuple):
    """
    The derivatives of a and tau (nv,) along a direction.

    >>> robot.hybrid.partial_derivatives.product(q, v, ['elbow'], a, tau, v, v, v).tau.shape
    (6,)
    """

    a: Array
    tau: Array


class HybridGradient(NamedTuple):
    """
    a and tau, and by_q, by_v and by_given of y . x, each (nv,); x: the unknown a and tau.

    >>> robot.hybrid.partial_derivatives.gradient(q, v, ['elbow'], a, tau, v).by_given.shape
    (6,)
    """

    a: Array
    tau: Array
    by_q: Array
    by_v: Array
    by_given: Array


class HybridPartialDerivatives(PartialDerivatives):
    """
    Derivatives of a and tau by q, v, and the given a and tau.

    >>> robot.hybrid.partial_derivatives(q, v, ['elbow'], a, tau).tau_by_q.shape
    (6, 6)
    """

    def __init__(self, constants: Constants, solve: Callable[..., tuple[Array, Array]],
                 mask: Callable[..., NDArray[np.bool_]]) -> None:
        """Take the dynamics, and the function that reads prescribed."""
        self._constants, self._solve, self._mask = constants, solve, mask
        self._model = constants.model

    def __call__(self, q: ArrayLike, v: ArrayLike, prescribed: Any, a: ArrayLike,
                 tau: ArrayLike, external: ArrayLike | None = None) -> HybridJacobians:
        a, tau = self._solve(q, v, prescribed, a, tau, external)
        at = self._inverse(q, v, a, external)
        known, n = self._mask(prescribed), self._model.nv
        found = np.empty((6, n, n))
        if not self._jacobians.call(known, at.by_q, at.by_v, at.by_a, found):
            as_array('derivatives', found, found.shape)
        by_q, by_v, by_given, tau_by_q, tau_by_v, tau_by_given = found
        return HybridJacobians(
            a, tau, by_q, by_v, by_given, tau_by_q, tau_by_v, tau_by_given, known)

    def product(self, q: ArrayLike, v: ArrayLike, prescribed: Any, a: ArrayLike, tau: ArrayLike,
                dq: ArrayLike, dv: ArrayLike, given: ArrayLike,
                external: ArrayLike | None = None, *, parameters: Parameters | None = None
                ) -> HybridProduct:
        out, kernels = np.empty((2, self._model.nv)), self.parameter_kernels
        change = self._nothing if parameters is None else parameters
        kernels.product.call(
            q, v, self._mask(prescribed), self._copied('a', a), self._copied('tau', tau),
            NO_WRENCHES if external is None else external, dq, dv, given,
            vector_of(change, self._model, kernels.shapes), out)
        return HybridProduct(out[0], out[1])

    def gradient(self, q: ArrayLike, v: ArrayLike, prescribed: Any, a: ArrayLike, tau: ArrayLike,
                 y: ArrayLike, external: ArrayLike | None = None, *,
                 parameters: Parameters | None = None) -> HybridGradient:
        a, tau, by = self._copied('a', a), self._copied('tau', tau), np.empty((5, self._model.nv))
        kernels = self.parameter_kernels
        result = Parameters(self._model) if parameters is None else parameters
        kernels.gradient.call(
            q, v, self._mask(prescribed), a, tau, NO_WRENCHES if external is None else external,
            y, by, vector_of(result, self._model, kernels.shapes))
        return HybridGradient(a, tau, by[0], by[1], by[2])

    @cached_property
    def _jacobians(self) -> BoundKernel:
        scratch, n = ScratchBuffers(self._constants), self._model.nv
        width = -(-3 * n // LANES) * LANES
        return BoundKernel(hybrid_tree_jacobians, scratch.before, scratch.factors,
                           on_lines((n + 1) * width).reshape(n + 1, width))

    @cached_property
    def _inverse(self) -> InversePartialDerivatives:
        return InversePartialDerivatives(self._constants)

    @cached_property
    def parameter_kernels(self) -> ParameterProducts:
        """Return the kernels of products and gradients by all parameters."""
        return ParameterProducts(self._constants, 'hybrid')

    @cached_property
    def _nothing(self) -> Parameters:
        """Return a zero change of parameters."""
        return Parameters(self._model)

    def _copied(self, name: str, value: ArrayLike) -> Array:
        return copied(name, value, (self._model.nv,))


class ForwardJacobians(NamedTuple):
    """
    The accelerations a (nv,) and their partial derivatives.

    by_q, by_v and by_tau = M^-1 (nv, nv): row k is a[k]. by_gravity (nv, 3): by the acceleration
    of gravity in the ground. Those by q are along the tangents of model.integrate, v and tau
    staying the same numbers.

    >>> robot.forward.partial_derivatives(q, v, tau).by_gravity.shape
    (6, 3)
    """

    a: Array
    by_q: Array
    by_v: Array
    by_tau: Array
    by_gravity: Array

    def by_parameters(self, forces: Array) -> Array:
        """
        Return the derivatives of a by parameters, or by wrenches.

        Args:
            forces: derivatives (nv, ...) of inverse dynamics by them, as for
                HybridJacobians.by_parameters.

        Returns:
            (nv, ...).

        >>> found = robot.forward.partial_derivatives(q, v, tau)
        >>> found.by_parameters(robot.inverse.partial_derivatives.by_external(q)).shape[0]
        6
        """
        return np.asarray(-np.tensordot(self.by_tau, forces, 1), dtype=np.float64)


class ForwardGradient(NamedTuple):
    """
    The accelerations a, and the partial derivatives by_q, by_v and by_tau of y . a, each (nv,).

    >>> robot.forward.partial_derivatives.gradient(q, v, tau, np.ones(6)).by_tau.shape
    (6,)
    """

    a: Array
    by_q: Array
    by_v: Array
    by_tau: Array


class ForwardSecondDerivatives(NamedTuple):
    """
    The second derivatives by_qq, by_qv, by_vv and by_qtau of a, each (nv, nv, nv).

    by_qv[i, k, j] is the derivative of da[i]/dq[k] by v[j]; by_qtau is that of the inverse mass
    matrix. The order of by_qq is that of InverseSecondDerivatives.

    >>> robot.forward.partial_derivatives.second_derivatives(q, v, tau).by_qv.shape
    (6, 6, 6)
    """

    by_qq: Array
    by_qv: Array
    by_vv: Array
    by_qtau: Array


class ForwardPartialDerivatives(TimeDerivativeProducts):
    """
    Derivatives of a at q, v and tau (13.15); Jacobians take O(n^2 depth).

    >>> robot.forward.partial_derivatives(q, v, tau).by_q.shape
    (6, 6)
    """

    _given = 'by_tau'

    def __init__(self, constants: Constants, solve: Callable[..., Array]) -> None:
        """Bind the kernels to scratch buffers; solve: forward.time_derivatives."""
        self._solve = solve
        self._constants, self._model, self._nv = constants, constants.model, constants.model.nv
        scratch, n, state = ScratchBuffers(constants), self._nv, 'q v tau external'
        self._shapes, self._rates = ((n,), (n, n), (n, n), (n, n), (n, 3)), ((n,),) * 4
        tables = constants.table, scratch.data
        self._jacobians = CheckedKernel(
            Arguments(self._model, f'{state} out out out out out', shapes=self._shapes),
            forward_jacobians, *tables, scratch.links, scratch.columns, scratch.before,
            scratch.factors, scratch.sides)
        self._product = CheckedKernel(
            Arguments(self._model, f'{state} dq dv dtau'), forward_product, *tables,
            scratch.products)
        self._gradient = CheckedKernel(
            Arguments(self._model, f'{state} y'), forward_product_transposed, *tables,
            scratch.products)
        self._inverse, self._series = InversePartialDerivatives(constants), ForwardRateTables(
            scratch.before)

    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                 external: ArrayLike | None = None, out: ForwardJacobians | None = None
                 ) -> ForwardJacobians:
        result = results(ForwardJacobians, self._shapes, out)
        self._jacobians.call(q, v, tau, NO_WRENCHES if external is None else external, *result)
        return result

    def batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
              external: ArrayLike | None = None) -> ForwardJacobians:
        result: ForwardJacobians = self._jacobian_pool.run(
            forward_jacobians_of_states, ForwardJacobians, self._shapes, external, q, v=v,
            tau=tau)
        return result

    def gradient_batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, y: ArrayLike,
                       external: ArrayLike | None = None) -> ForwardGradient:
        result: ForwardGradient = self._gradient_pool.run(
            forward_gradients_of_states, ForwardGradient, self._rates, external, q, v=v, tau=tau,
            y=y)
        return result

    def product(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dq: ArrayLike, dv: ArrayLike,
                dtau: ArrayLike, external: ArrayLike | None = None, *,
                parameters: Parameters | None = None) -> Array:
        wrenches = NO_WRENCHES if external is None else external
        if parameters is None:
            a, out = np.empty(self._nv), np.empty(self._nv)
            self._product.call(q, v, tau, wrenches, dq, dv, dtau, a, out)
            return out
        both = np.empty((2, self._nv))
        kernels = self.parameter_kernels
        kernels.product.call(q, v, tau, wrenches, dq, dv, dtau,
                             vector_of(parameters, self._model, kernels.shapes), both)
        return both[1]

    def gradient(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, y: ArrayLike,
                 external: ArrayLike | None = None, *, parameters: Parameters | None = None
                 ) -> ForwardGradient:
        wrenches = NO_WRENCHES if external is None else external
        if parameters is None:
            result = results(ForwardGradient, self._rates)
            self._gradient.call(q, v, tau, wrenches, y, *result)
            return result
        by = np.empty((4, self._nv))
        kernels = self.parameter_kernels
        kernels.gradient.call(q, v, tau, wrenches, y, by,
                              vector_of(parameters, self._model, kernels.shapes))
        return tuple.__new__(ForwardGradient, (by[0], by[1], by[2], by[3]))

    def gradient_product(
            self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, y: ArrayLike, dq: ArrayLike,
            dv: ArrayLike, dtau: ArrayLike, external: ArrayLike | None = None) -> ForwardGradient:
        inverse, rest = self._inverse, np.zeros(self._nv)
        a, _, _, lam = self.gradient(q, v, tau, y, external)
        da = self.product(q, v, tau, dq, dv, dtau, external)
        # M' lam: lam is an acceleration from rest, without gravity.
        change = (inverse.product(q, rest, lam, dq, rest, rest)
                  - inverse.product(q, rest, rest, dq, rest, rest))
        lam_rate = -self.gradient(q, v, tau, change, external).by_tau
        second = inverse.gradient_product(q, v, a, lam, dq, dv, da, external)
        first = inverse.gradient(q, v, a, lam_rate, external)
        return ForwardGradient(
            da, -second.by_q - first.by_q, -second.by_v - first.by_v, lam_rate)

    def second_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                           external: ArrayLike | None = None) -> ForwardSecondDerivatives:
        a, by_q, by_v, by_tau, _ = self(q, v, tau, external)
        of = self._inverse.second_derivatives(q, v, a, external)
        by_a_q = of.by_qa @ by_q  # along q, of M as it acts on the change of a by q
        tau_by = (of.by_qq + by_a_q + by_a_q.transpose(0, 2, 1), of.by_qv + of.by_qa @ by_v,
                  of.by_vv, of.by_qa @ by_tau)
        return ForwardSecondDerivatives(*(
            np.asarray(-np.tensordot(by_tau, each, 1), dtype=np.float64) for each in tau_by))

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         external: ArrayLike | None = None) -> ForwardRateJacobians:
        a = self._solve(q, v, tau, external)
        result, code = self._series.jacobians(
            a, self._inverse.time_derivatives(q, v, a, external))
        if code != DONE:
            raise_refusal(self._model, code, '', np.asarray(q))
        return result

    def by_kinematics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                      external: ArrayLike | None = None) -> KinematicJacobians:
        wrenches, by = NO_WRENCHES if external is None else external, np.empty((4, self._nv))
        rows = self.parameter_kernels.rows
        return kinematic_jacobians(self._model, lambda y, *rest: rows.call(
            q, v, tau, wrenches, y, by, *rest))

    @cached_property
    def _jacobian_pool(self) -> StatePool:
        return StatePool(self._constants, lambda scratch: (
            scratch.data, scratch.links, scratch.columns, scratch.before, scratch.factors,
            scratch.sides))

    @cached_property
    def _gradient_pool(self) -> StatePool:
        return StatePool(self._constants, lambda scratch: (scratch.data, scratch.products))

    @cached_property
    def parameter_kernels(self) -> ParameterProducts:
        """Return the kernels of products and gradients by all parameters."""
        return ParameterProducts(self._constants, 'forward')
