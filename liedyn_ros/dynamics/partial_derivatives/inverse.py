# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of inverse dynamics (13.2, 13.4)."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.frames import Frames
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import inverse_jacobians
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    inverse_product, inverse_product_transposed)
from liedyn_ros.dynamics.partial_derivatives.kernels.second import (
    inverse_second, inverse_second_all)
from liedyn_ros.dynamics.partial_derivatives.kernels.states import (
    inverse_gradients_of_states, inverse_jacobians_of_states)
from liedyn_ros.dynamics.partial_derivatives.many_states import results, ScratchBuffers, StatePool
from liedyn_ros.dynamics.partial_derivatives.parameter_products import ParameterProducts
from liedyn_ros.dynamics.partial_derivatives.parameters import (
    kinematic_jacobians, KinematicJacobians, Parameters, vector_of)
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import InverseRateJacobians, RateTables
from liedyn_ros.dynamics.partial_derivatives.time_products import WrenchDerivatives
from liedyn_ros.dynamics.tree.constants import Arguments, Constants, NO_WRENCHES
from liedyn_ros.dynamics.tree.inputs import kernel_array, order_of_rows
from liedyn_ros.dynamics.tree.screw_tree import dual_bracket
from liedyn_ros.jit.bound_kernel import CheckedKernel
from liedyn_ros.lie import so3


class InverseJacobians(NamedTuple):
    """
    The partial derivatives of tau.

    by_q, by_v and by_a = M (nv, nv): row k is tau[k]. by_gravity (nv, 3): by the acceleration of
    gravity in the ground. Those by q are along the tangents of model.integrate, v and a staying
    the same numbers.

    >>> np.allclose(robot.inverse.partial_derivatives(q, v, a).by_a, robot.mass_matrix(q))
    True
    """

    by_q: Array
    by_v: Array
    by_a: Array
    by_gravity: Array


class InverseGradient(NamedTuple):
    """
    The partial derivatives by_q, by_v and by_a of y . tau, each (nv,).

    >>> robot.inverse.partial_derivatives.gradient(q, v, a, np.ones(6)).by_q.shape
    (6,)
    """

    by_q: Array
    by_v: Array
    by_a: Array


class InverseSecondDerivatives(NamedTuple):
    """
    The second derivatives by_qq, by_qv, by_vv and by_qa of tau, each (nv, nv, nv).

    by_qv[i, k, j] is the derivative of dtau[i]/dq[k] by v[j]; by_qa is that of the mass matrix,
    dM[i, j]/dq[k]. by_qq is not symmetric between two coordinates of one spherical or free joint
    (13.5): the last index is that of the derivative that is taken last.

    >>> robot.inverse.partial_derivatives.second_derivatives(q, v, a).by_qq.shape
    (6, 6, 6)
    """

    by_qq: Array
    by_qv: Array
    by_vv: Array
    by_qa: Array


class InversePartialDerivatives(WrenchDerivatives):
    """
    Derivatives of tau at a motion q, v, a (13.2); Jacobians take O(n depth).

    >>> robot.inverse.partial_derivatives(q, v, a).by_v.shape
    (6, 6)
    """

    _given = 'by_a'

    def __init__(self, constants: Constants) -> None:
        """Bind the kernels to scratch buffers."""
        self._constants, self._model = constants, constants.model
        model, n = self._model, self._model.nv
        self._nv, self._bodies = n, len(model.bodies)
        self._scratch = scratch = ScratchBuffers(constants)
        self._shapes, self._rates = ((n, n), (n, n), (n, n), (n, 3)), ((n,), (n,), (n,))
        frames = constants.table, scratch.links, scratch.columns
        bodies = constants.table, scratch.data, scratch.products
        state = 'q v a external'
        self._jacobians = CheckedKernel(
            Arguments(model, f'{state} out out out out', done=True, shapes=self._shapes),
            inverse_jacobians, *frames)
        self._product = CheckedKernel(
            Arguments(model, f'{state} dq dv da', done=True), inverse_product, *bodies)
        self._gradient = CheckedKernel(
            Arguments(model, f'{state} y', done=True), inverse_product_transposed, *bodies)
        self._second = CheckedKernel(
            Arguments(model, f'{state} y dq dv da', done=True), inverse_second, *frames,
            scratch.variations)
        self._cubes = ((n, n, n),) * 4
        self._second_all = CheckedKernel(
            Arguments(model, f'{state} out out out out', done=True, shapes=self._cubes),
            inverse_second_all, *frames, scratch.variations, np.zeros((7, n)))
        self._series = RateTables(constants)

    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                 external: ArrayLike | None = None, out: InverseJacobians | None = None
                 ) -> InverseJacobians:
        result = results(InverseJacobians, self._shapes, out)
        self._jacobians.call(q, v, a, NO_WRENCHES if external is None else external, *result)
        return result

    def batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
              external: ArrayLike | None = None) -> InverseJacobians:
        result: InverseJacobians = self._jacobian_pool.run(
            inverse_jacobians_of_states, InverseJacobians, self._shapes, external, q, v=v, a=a)
        return result

    def gradient_batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike,
                       external: ArrayLike | None = None) -> InverseGradient:
        result: InverseGradient = self._gradient_pool.run(
            inverse_gradients_of_states, InverseGradient, self._rates, external, q, v=v, a=a, y=y)
        return result

    def product(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, dq: ArrayLike, dv: ArrayLike,
                da: ArrayLike, external: ArrayLike | None = None, *,
                parameters: Parameters | None = None) -> Array:
        out, wrenches = np.empty(self._nv), NO_WRENCHES if external is None else external
        if parameters is None:
            self._product.call(q, v, a, wrenches, dq, dv, da, out)
        else:
            kernels = self.parameter_kernels
            kernels.product.call(q, v, a, wrenches, dq, dv, da,
                                 vector_of(parameters, self._model, kernels.shapes), out)
        return out

    def gradient(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike,
                 external: ArrayLike | None = None, *, parameters: Parameters | None = None
                 ) -> InverseGradient:
        wrenches = NO_WRENCHES if external is None else external
        if parameters is None:
            result = results(InverseGradient, self._rates)
            self._gradient.call(q, v, a, wrenches, y, *result)
            return result
        by = np.empty((3, self._nv))
        kernels = self.parameter_kernels
        kernels.gradient.call(q, v, a, wrenches, y, by,
                              vector_of(parameters, self._model, kernels.shapes))
        return tuple.__new__(InverseGradient, (by[0], by[1], by[2]))

    def gradient_product(
            self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, dq: ArrayLike,
            dv: ArrayLike, da: ArrayLike, external: ArrayLike | None = None) -> InverseGradient:
        result = results(InverseGradient, self._rates)
        self._second.call(q, v, a, NO_WRENCHES if external is None else external, y, dq, dv, da,
                          *result)
        return result

    def second_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                           external: ArrayLike | None = None) -> InverseSecondDerivatives:
        result = results(InverseSecondDerivatives, self._cubes)
        self._second_all.call(q, v, a, NO_WRENCHES if external is None else external, *result)
        return result

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         external: ArrayLike | None = None) -> InverseRateJacobians:
        order = order_of_rows('a', a, 0, self._nv)
        q, v = self._model.check_configuration(q), as_array('v', v, (self._nv,))
        a = as_array('a', a, (order + 1, self._nv))
        if external is not None:
            external = as_array('external', external, (order + 1, self._bodies, 6))
        return self._series.jacobians(q, v, a, external)

    def by_external(self, q: ArrayLike) -> Array:
        return -self._body_jacobians(q).transpose(2, 0, 1)

    def by_world_fixed_wrenches(
            self, q: ArrayLike, external: ArrayLike, *, at_body: bool = False) -> Array:
        external = kernel_array('external', external, (self._bodies, 6))
        return world_fixed_wrench_jacobian(self._body_jacobians(q), external, at_body)

    def by_kinematics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                      external: ArrayLike | None = None) -> KinematicJacobians:
        wrenches, by = NO_WRENCHES if external is None else external, np.empty((3, self._nv))
        rows = self.parameter_kernels.rows
        return kinematic_jacobians(self._model, lambda y, *rest: rows.call(
            q, v, a, wrenches, y, by, *rest))

    def _body_jacobians(self, q: ArrayLike) -> Array:
        return self._frames.jacobian(q, range(self._bodies))

    @cached_property
    def _frames(self) -> Frames:
        return Frames(self._constants)

    @cached_property
    def _jacobian_pool(self) -> StatePool:
        return StatePool(self._constants, lambda scratch: (scratch.links, scratch.columns))

    @cached_property
    def _gradient_pool(self) -> StatePool:
        return StatePool(self._constants, lambda scratch: (scratch.data, scratch.products))

    @cached_property
    def parameter_kernels(self) -> ParameterProducts:
        """Return the kernels of products and gradients by all parameters."""
        return ParameterProducts(self._constants, 'inverse')


def world_fixed_wrench_jacobian(jacobians: Array, external: Array, at_body: bool) -> Array:
    """
    Return the term (nv, nv) of dtau/dq for wrenches fixed in the ground (13.14).

    jacobians (B, 6, nv) are those of the bodies, external (B, 6) their wrenches in their frames.
    A wrench that is constant about the origin of the ground varies by N(W) g with a displacement g
    of its body. With at_body it keeps its directions and its point on the body.
    """
    held = dual_bracket(external)
    if at_body:
        held[:, :3, 3:], held[:, 3:, 3:] = 0.0, 0.0
        held[:, 3:, :3] = so3.hat(external[:, 3:])
    return -np.einsum('bai,bac,bcj->ij', jacobians, held, jacobians)
