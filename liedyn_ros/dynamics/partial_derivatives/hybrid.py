# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of hybrid dynamics (13.18)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.partial_derivatives.inverse import (
    InversePartialDerivatives)
from liedyn_ros.dynamics.partial_derivatives.kernels.hybrid import hybrid_tree_jacobians
from liedyn_ros.dynamics.partial_derivatives.many_states import PartialDerivatives
from liedyn_ros.dynamics.partial_derivatives.parameter_products import (
    on_lines, ParameterProducts)
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters, vector_of
from liedyn_ros.dynamics.partial_derivatives.tables import ScratchBuffers
from liedyn_ros.dynamics.tree.arguments import NO_WRENCHES
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.inputs import copied
from liedyn_ros.jit.bound_kernel import BoundKernel
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
