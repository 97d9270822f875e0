# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Products with the Jacobians of time derivatives, and with the transposed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array


class TimeDerivativesGradient(NamedTuple):
    """The gradients by q and v (nv,), and by what is given (r + 1, nv): a or tau and its own."""

    by_q: Array
    by_v: Array
    by_given: Array


class TimeDerivativeProducts:
    """
    Products for an algorithm whose time_derivatives has Jacobians, `_given` by its input.

    >>> rates = np.zeros((2, 6))
    >>> robot.inverse.partial_derivatives.time_derivatives_product(
    ...     q, v, rates, v, v, rates).shape
    (2, 6)
    """

    _given: str
    time_derivatives: Callable[..., Any]

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
