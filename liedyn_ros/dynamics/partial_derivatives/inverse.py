# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of inverse dynamics (13.2, 13.4)."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import inverse_jacobians
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    inverse_product, inverse_product_transposed)
from liedyn_ros.dynamics.partial_derivatives.kernels.second import inverse_second
from liedyn_ros.dynamics.partial_derivatives.kinematic_parameters import (
    held_wrench_jacobian, inverse_kinematic_jacobians, KinematicJacobians)
from liedyn_ros.dynamics.partial_derivatives.parameter_products import ParameterProducts
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import InverseRateJacobians, RateTables
from liedyn_ros.dynamics.partial_derivatives.results import require_room, room
from liedyn_ros.dynamics.partial_derivatives.tables import PartialTables
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.inputs import borrowed, refuse
from liedyn_ros.dynamics.tree.kernels.kinematics import jacobian
from liedyn_ros.dynamics.tree.orders import order_of_rows
from liedyn_ros.jit.bound_kernel import BoundKernel


class InverseJacobians(NamedTuple):
    """
    The partial derivatives of tau.

    by_q, by_v and by_a = M (nv, nv): row k is tau[k]. by_gravity (nv, 3): by the acceleration of
    gravity in the ground. Those by q are along the tangents of model.integrate, v and a staying
    the same numbers.
    """

    by_q: Array
    by_v: Array
    by_a: Array
    by_gravity: Array


class InverseGradient(NamedTuple):
    """The partial derivatives of y . tau, each (nv,)."""

    by_q: Array
    by_v: Array
    by_a: Array


class InversePartialDerivatives:
    """
    Derivatives of tau at a motion q, v, a; called as dynamics.inverse.partial_derivatives.

    External wrenches (B, 6) stay the same in the frame of their body. Damping counts; the jump of
    Coulomb friction has no derivative. Each call raises what dynamics.inverse raises.
    """

    def __init__(self, constants: Constants) -> None:
        """Make room."""
        self._model, self._constants = constants.model, constants
        self._nv, self._bodies = constants.model.nv, len(constants.model.bodies)
        self._room = tables = PartialTables(constants)
        frames, bodies = (constants.table, tables.links, tables.columns), (
            constants.table, tables.data, tables.products)
        self._jacobians = BoundKernel(inverse_jacobians, *frames)
        self._product = BoundKernel(inverse_product, *bodies)
        self._transposed = BoundKernel(inverse_product_transposed, *bodies)
        self._second = BoundKernel(inverse_second, *frames, tables.variations)
        self._series = RateTables(constants)
        self._no_wrenches, n = np.empty((0, 6)), self._nv
        self._shapes, self._rates = ((n, n), (n, n), (n, n), (n, 3)), ((n,), (n,), (n,))

    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                 external: ArrayLike | None = None, out: InverseJacobians | None = None
                 ) -> InverseJacobians:
        """
        Return all Jacobians, in O(n depth).

        out is an earlier result, to be written again. Raises LiedynError for a result of another
        kind, ShapeError for one of another model, or that shares memory with an input.
        """
        result = room(InverseJacobians, self._shapes, out)
        wrenches = self._no_wrenches if external is None else external
        if self._jacobians.attempt(q, v, a, wrenches, *result):
            return result
        q, v, a, wrenches = self._inputs(q, v, a, external)
        require_room(InverseJacobians, self._shapes, out, q=q, v=v, a=a, external=wrenches)
        if not self._jacobians(q, v, a, wrenches, *result):
            refuse(self._model, '', q, v=v, a=a, external=wrenches)
        return result

    def product(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, dq: ArrayLike, dv: ArrayLike,
                da: ArrayLike, external: ArrayLike | None = None, *,
                parameters: Parameters | None = None) -> Array:
        """
        Return by_q dq + by_v dv + by_a da (nv,) in O(n): the derivative in one direction.

        parameters are changes of all that the model and external say, and count as well.
        """
        if parameters is not None:
            return self._by_parameters.inverse_product(
                q, v, a, external, (dq, dv, da), parameters)
        out, wrenches = np.empty(self._nv), self._no_wrenches if external is None else external
        if self._product.attempt(q, v, a, wrenches, dq, dv, da, out):
            return out
        q, v, a, wrenches = self._inputs(q, v, a, external)
        dq, dv, da = self._rate('dq', dq), self._rate('dv', dv), self._rate('da', da)
        if not self._product(q, v, a, wrenches, dq, dv, da, out):
            refuse(self._model, '', q, v=v, a=a, dq=dq, dv=dv, da=da, external=wrenches)
        return out

    def gradient(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike,
                 external: ArrayLike | None = None, *, parameters: Parameters | None = None
                 ) -> InverseGradient:
        """
        Return y^T by_q, y^T by_v and y^T by_a in O(n): the gradient of y . tau.

        That by parameters is written into parameters.
        """
        if parameters is not None:
            return tuple.__new__(InverseGradient, self._by_parameters.inverse_gradient(
                q, v, a, external, y, parameters))
        result = room(InverseGradient, self._rates)
        wrenches = self._no_wrenches if external is None else external
        if self._transposed.attempt(q, v, a, wrenches, y, *result):
            return result
        q, v, a, wrenches = self._inputs(q, v, a, external)
        y = self._rate('y', y)
        if not self._transposed(q, v, a, wrenches, y, *result):
            refuse(self._model, '', q, v=v, a=a, y=y, external=wrenches)
        return result

    def gradient_product(
            self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, dq: ArrayLike,
            dv: ArrayLike, da: ArrayLike, external: ArrayLike | None = None) -> InverseGradient:
        """
        Return the derivative of gradient(q, v, a, y) along dq, dv, da in O(n) (13.24).

        It is the matrix of second derivatives of y . tau times a vector. That matrix is not
        symmetric between two coordinates of one spherical or free joint (13.5): the direction
        differentiates last.
        """
        q, v, a, wrenches = self._inputs(q, v, a, external)
        y, result = self._rate('y', y), InverseGradient(*np.empty((3, self._nv)))
        dq, dv, da = self._rate('dq', dq), self._rate('dv', dv), self._rate('da', da)
        if not self._second(q, v, a, wrenches, y, dq, dv, da, *result):
            refuse(self._model, '', q, v=v, a=a, y=y, dq=dq, dv=dv, da=da, external=wrenches)
        return result

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         external: ArrayLike | None = None) -> InverseRateJacobians:
        """
        Return the Jacobians of tau and of its time derivatives to order r, O(n depth r^2).

        a (r + 1, nv) is the acceleration and its derivatives; external is (r + 1, B, 6).
        """
        order = order_of_rows('a', a, 0)
        q, v = self._model.check_configuration(q), as_array('v', v, (self._nv,))
        a = as_array('a', a, (order + 1, self._nv))
        if external is not None:
            external = as_array('external', external, (order + 1, self._bodies, 6))
        return self._series.jacobians(q, v, a, external)

    def by_external(self, q: ArrayLike) -> Array:
        """Return the derivatives (nv, B, 6) of tau by the wrenches on bodies, -J_b^T (13.29)."""
        return -self._body_jacobians(q).transpose(2, 0, 1)

    def by_held_wrenches(self, q: ArrayLike, external: ArrayLike, *, at_body: bool = False
                         ) -> Array:
        """
        Return what by_q (nv, nv) gains where wrenches keep still in the ground (13.14).

        external (B, 6) are the wrenches at q in the frames of their bodies, as ever. Without more
        they stay the same about the origin of the ground. With at_body moment and force keep
        their directions and act at the origin of the body, which moves, as a weight does.
        """
        external = borrowed('external', external, (self._bodies, 6))
        return held_wrench_jacobian(self._body_jacobians(q), external, at_body)

    def by_kinematics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                      external: ArrayLike | None = None) -> KinematicJacobians:
        """Return the derivatives of tau by placements, axes and pitches of joints, O(n J)."""
        q, v = self._model.check_configuration(q), as_array('v', v, (self._nv,))
        a = as_array('a', a, (self._nv,))
        if external is not None:
            external = as_array('external', external, (self._bodies, 6))
        return inverse_kinematic_jacobians(self._model, q, v, a, external)

    def _body_jacobians(self, q: ArrayLike) -> Array:
        q, result = borrowed('q', q, (self._model.nq,)), np.empty((self._bodies, 6, self._nv))
        for b, matrix in enumerate(result):
            if not jacobian(self._constants.table, self._room.data, b, False, q, matrix):
                refuse(self._model, '', q)
        return result

    @cached_property
    def _by_parameters(self) -> ParameterProducts:
        return ParameterProducts(self._constants)

    def _inputs(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None
                ) -> tuple[Array, Array, Array, Array]:
        wrenches = self._no_wrenches if external is None else borrowed(
            'external', external, (self._bodies, 6))
        return (borrowed('q', q, (self._model.nq,)), self._rate('v', v), self._rate('a', a),
                wrenches)

    def _rate(self, name: str, value: ArrayLike) -> Array:
        return borrowed(name, value, (self._nv,))
