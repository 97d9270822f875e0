# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of higher order of dynamics, and products with Jacobians of time derivatives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.partial_derivatives.many_states import PartialDerivatives


class TimeDerivativesGradient(NamedTuple):
    """The gradients by q and v (nv,), and by what is given (r + 1, nv): a or tau and its own."""

    by_q: Array
    by_v: Array
    by_given: Array


class HigherDerivatives(PartialDerivatives):
    """
    Derivatives of higher order, and by kinematic parameters.

    >>> robot.inverse.partial_derivatives.second_derivatives(q, v, a).by_qq.shape
    (6, 6, 6)
    """

    def time_derivatives(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the result with its time derivatives to order r, and the Jacobians of each.

        Of a tree's inverse dynamics these are the Jacobians alone.

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: of hybrid dynamics: names of joints or coordinates, or a mask (nv,).
            a: of inverse and hybrid dynamics: (r + 1, nv) with time derivatives.
            tau: of forward and hybrid dynamics: (r + 1, nv) with time derivatives.
            external: wrenches (r + 1, B, 6) with time derivatives; by default none.
            closed: of loops: whether the state must be on the constraints; else the velocity stays
                off them as it is.
            max_error: of loops: largest estimated relative error of an order; with math.inf there
                is no estimate.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            arrays with a first axis of orders; by_a, by_tau and by_given with two of them.

        Raises:
            SingularError: naming a coordinate that moves no inertia, and where the rank of the
                constraints drops.
            LiedynError: for a state that is wrong or open.
            LimitError: for r > 30, and for the first order whose estimated error, or that of its
                Jacobians, exceeds max_error.

        >>> robot.forward.partial_derivatives.time_derivatives(q, v, [tau, tau]).by_tau.shape
        (2, 2, 6, 6)
        """
        raise NotImplementedError

    def second_derivatives(self, *arguments: Any, **options: Any) -> Any:
        """
        Return all second derivatives by q, v and what is given, in O(n^3) to O(n^4).

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: of hybrid dynamics: names of joints or coordinates, or a mask (nv,), of
                those whose acceleration is given; tau gives the force of the others.
            a: of inverse and hybrid dynamics: acceleration (nv,); rad/s^2 and m/s^2.
            tau: of forward and hybrid dynamics: joint forces (nv,); N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            closed: of loops: whether the state must be on the constraints; else the velocity stays
                off them as it is.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            each (nv, nv, nv), of the multipliers (m, nv, nv).

        Raises:
            SingularError: naming a coordinate that moves no inertia, and where the rank of the
                constraints drops.
            LiedynError: for a state that is wrong or open.

        >>> robot.inverse.partial_derivatives.second_derivatives(q, v, a).by_qq.shape
        (6, 6, 6)
        """
        raise NotImplementedError

    def by_kinematics(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the derivatives by link lengths: by placements, axes and pitches of joints.

        Of loops, frames and lengths of closures too. It takes O(n^2) of a tree, and n + m
        gradients of loops.

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: of hybrid dynamics: names of joints or coordinates, or a mask (nv,), of
                those whose acceleration is given; tau gives the force of the others.
            a: of inverse and hybrid dynamics: acceleration (nv,); rad/s^2 and m/s^2.
            tau: of forward and hybrid dynamics: joint forces (nv,); N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            see KinematicJacobians, and LoopKinematicJacobians of each result of loops.

        Raises:
            SingularError: naming a coordinate that moves no inertia, and where the rank of the
                constraints drops.
            LiedynError: for a state that is wrong or open.

        >>> robot.forward.partial_derivatives.by_kinematics(q, v, tau).by_axis.shape[0]
        6
        """
        raise NotImplementedError


class TimeDerivativeProducts(HigherDerivatives):
    """
    Products for an algorithm whose time_derivatives has Jacobians, `_given` by its input.

    >>> rates = np.zeros((2, 6))
    >>> robot.inverse.partial_derivatives.time_derivatives_product(
    ...     q, v, rates, v, v, rates).shape
    (2, 6)
    """

    _given: str

    def gradient_product(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the derivative of the gradient of y . x along a direction.

        It is the matrix of second derivatives of y . x times a vector, in O(n) of a tree and
        O(n^3) of loops. The matrix is not symmetric between two coordinates of one spherical or
        free joint (13.5): the direction differentiates last.

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: of hybrid dynamics: names of joints or coordinates, or a mask (nv,), of
                those whose acceleration is given; tau gives the force of the others.
            a: of inverse and hybrid dynamics: acceleration (nv,); rad/s^2 and m/s^2.
            tau: of forward and hybrid dynamics: joint forces (nv,); N m and N.
            y: weights (nv,) of the result.
            dq: change of q (nv,), along the tangents of model.integrate; rad and m.
            dv: change of v (nv,).
            da: of inverse dynamics: change of a (nv,).
            dtau: of forward dynamics: change of tau (nv,); of inverse dynamics of loops: that of
                the forces of passive joints, by default zero.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            each (nv,).

        Raises:
            SingularError: naming a coordinate that moves no inertia, and where the rank of the
                constraints drops.
            LiedynError: for a state that is wrong or open.

        >>> robot.forward.partial_derivatives.gradient_product(q, v, tau, v, v, v, v).by_q.shape
        (6,)
        """
        raise NotImplementedError

    def time_derivatives_product(
            self, q: ArrayLike, v: ArrayLike, given: ArrayLike, dq: ArrayLike, dv: ArrayLike,
            dgiven: ArrayLike, external: ArrayLike | None = None) -> Array:
        """
        Return the change of the result and its time derivatives along a direction, the JVP.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            given: a or tau with time derivatives (r + 1, nv).
            dq: change of q (nv,), along the tangents of model.integrate; rad and m.
            dv: change of v (nv,).
            dgiven: their change (r + 1, nv).
            external: wrenches (r + 1, B, 6) with time derivatives; by default none.

        Returns:
            (r + 1, nv).

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> orders = np.ones((2, 6))
        >>> derive = robot.inverse.partial_derivatives
        >>> derive.time_derivatives_product(q, v, orders, v, v, orders).shape
        (2, 6)
        """
        at = self.time_derivatives(q, v, given, external)
        by = getattr(at, self._given)
        rows, nv = by.shape[0], by.shape[-1]
        dq, dv = as_array('dq', dq, (nv,)), as_array('dv', dv, (nv,))
        dgiven = as_array('dgiven', dgiven, (rows, nv))
        return np.asarray(at.by_q @ dq + at.by_v @ dv + np.einsum('kjab,jb->ka', by, dgiven))

    def time_derivatives_gradient(
            self, q: ArrayLike, v: ArrayLike, given: ArrayLike, y: ArrayLike,
            external: ArrayLike | None = None) -> TimeDerivativesGradient:
        """
        Return the gradient of the sum of y times the result and its time derivatives, the VJP.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            given: a or tau with time derivatives (r + 1, nv).
            y: weights (r + 1, nv) of the result.
            external: wrenches (r + 1, B, 6) with time derivatives; by default none.

        Returns:
            by_q and by_v (nv,), by what is given (r + 1, nv).

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> orders = np.ones((2, 6))
        >>> derive = robot.inverse.partial_derivatives
        >>> derive.time_derivatives_gradient(q, v, orders, orders).by_q.shape
        (6,)
        """
        at = self.time_derivatives(q, v, given, external)
        by = getattr(at, self._given)
        y = as_array('y', y, (by.shape[0], by.shape[-1]))
        return TimeDerivativesGradient(
            np.einsum('kab,ka->b', at.by_q, y), np.einsum('kab,ka->b', at.by_v, y),
            np.einsum('kjab,ka->jb', by, y))


class WrenchDerivatives(TimeDerivativeProducts):
    """
    Derivatives of inverse dynamics by external wrenches.

    >>> robot.inverse.partial_derivatives.by_external(q).shape[0]
    6
    """

    def by_external(self, *arguments: Any, **options: Any) -> Array:
        """
        Return the derivatives of tau by the wrenches on bodies, of a tree -J_b^T (13.29).

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            (nv, B, 6).

        Raises:
            SingularError: where the rank of the constraints drops.
            LiedynError: for a configuration that is wrong or open.

        >>> robot.inverse.partial_derivatives.by_external(q).shape[0]
        6
        """
        raise NotImplementedError

    def by_world_fixed_wrenches(self, *arguments: Any, **options: Any) -> Array:
        """
        Return the term to add to by_q for wrenches that are fixed in the ground (13.14).

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            external: wrenches (B, 6) at q in the frames of their bodies; N m and N.
            at_body: whether moment and force keep their directions and act at the origin of the
                moving body, as a weight does; else they stay constant about the origin of the
                ground.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            (nv, nv).

        Raises:
            SingularError: where the rank of the constraints drops.
            LiedynError: for a configuration that is wrong or open.

        >>> derive = robot.inverse.partial_derivatives
        >>> derive.by_world_fixed_wrenches(q, np.zeros((len(model.bodies), 6))).shape
        (6, 6)
        """
        raise NotImplementedError
