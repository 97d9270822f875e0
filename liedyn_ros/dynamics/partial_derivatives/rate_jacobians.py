# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of the time derivatives of tau and a, to any order (13.6).

tau^(k) is a function of q, v, v', ... to v^(k+1). Its partial derivatives are sums of time
derivatives of the Jacobians of order zero (13.34). At spherical and free joints a displacement
does not commute with the motion: factors Gamma of brackets appear (13.33).
"""

from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_rates import forward_rate_jacobians
from liedyn_ros.dynamics.partial_derivatives.kernels.rate_jacobians import (
    COLUMN_SERIES_WIDTH, inverse_rate_jacobians, SERIES_WIDTH)
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model import Model


class InverseRateJacobians(NamedTuple):
    """
    The partial derivatives of tau, tau', ... to order r.

    by_q (r + 1, nv, nv): row k is that of tau^(k). by_v (r + 1, nv, nv) the same. by_a
    (r + 1, r + 1, nv, nv): entry [k, j] is tau^(k) by a^(j), zero for j > k, M for j = k.

    >>> robot.inverse.partial_derivatives.time_derivatives(q, v, np.zeros((2, 6))).by_a.shape
    (2, 2, 6, 6)
    """

    by_q: Array
    by_v: Array
    by_a: Array


class ForwardRateJacobians(NamedTuple):
    """
    a, a', ... to order r (r + 1, nv), and their partial derivatives.

    by_q and by_v (r + 1, nv, nv). by_tau (r + 1, r + 1, nv, nv): entry [k, j] is a^(k) by tau^(j),
    zero for j > k, M^-1 for j = k.

    >>> robot.forward.partial_derivatives.time_derivatives(q, v, np.zeros((2, 6))).by_tau.shape
    (2, 2, 6, 6)
    """

    a: Array
    by_q: Array
    by_v: Array
    by_tau: Array


class RateTables:
    """Scratch buffers of one model; they grow with the order, and are undefined between calls."""

    def __init__(self, constants: Constants) -> None:
        """Start without buffers."""
        self._constants = constants
        self._buffers: tuple[int, tuple[Array, ...]] = 0, ()  # and for how many orders

    def jacobians(self, q: Array, v: Array, a: Array, external: Array | None
                  ) -> InverseRateJacobians:
        """
        Return the partial derivatives at a checked motion, a (r + 1, nv).

        Raises NotFiniteError where a number overflows.
        """
        rows, n = a.shape
        buffers = self._of_orders(rows)
        motion = np.vstack([v, a])
        wrenches = np.empty((rows, 0, 6)) if external is None else np.ascontiguousarray(external)
        result = InverseRateJacobians(
            np.empty((rows, n, n)), np.empty((rows, n, n)), np.zeros((rows, rows, n, n)))
        inverse_rate_jacobians(
            self._constants.table, *buffers, np.array(q), motion, wrenches, *result)
        for name, each in zip(result._fields, result):
            as_array(name, each, each.shape)
        return result

    def _of_orders(self, rows: int) -> tuple[Array, ...]:
        """Return the buffers of so many orders, or of more."""
        most, buffers = self._buffers
        if rows > most:
            count, n = self._constants.links, self._constants.model.nv
            buffers = (
                np.zeros(((rows + 1) * count, SERIES_WIDTH)),
                np.zeros(((rows + 1) * n, COLUMN_SERIES_WIDTH)), np.zeros((3, rows, n, n)),
                np.zeros((rows, rows, 6, 6)), np.zeros((rows, 5)),
                np.array([float(factorial(k)) for k in range(rows + 2)]))
            self._buffers = rows, buffers  # at once: other threads read them
        return buffers


class ForwardRateTables:
    """Scratch buffers of one model; they grow with the order, and are undefined between calls."""

    def __init__(self, before: NDArray[np.int64]) -> None:
        """Take the coordinates before each one on its path (nv,), -1 for none."""
        n = len(before)
        self._before, self._factors = before, np.zeros((n, -(-n // LANES) * LANES))
        self._sides = np.zeros(0)

    def jacobians(self, a: Array, at: InverseRateJacobians) -> tuple[ForwardRateJacobians, int]:
        """
        Return forward dynamics' Jacobians from inverse dynamics' at its solution a (13.37).

        The number is 0, or k + 1 where coordinate k moves no inertia. Raises NotFiniteError where
        a number overflows.
        """
        rows, n = a.shape
        size = n * sum(-(-(k + 3) * n // LANES) * LANES for k in range(rows))
        sides = self._sides
        if len(sides) < size:
            sides = self._sides = np.zeros(size)
        result = ForwardRateJacobians(
            a, np.empty((rows, n, n)), np.empty((rows, n, n)), np.empty((rows, rows, n, n)))
        code = forward_rate_jacobians(
            self._before, self._factors, sides, tuple(at), *result[1:])
        if not code:
            for name, each in zip(result._fields, result):
                as_array(name, each, each.shape)
        return result, code


def velocity_brackets(model: Model, v: Array) -> Array:
    """Return A (nv, nv): the brackets with v of spherical and free joints, zero elsewhere."""
    result = np.zeros((model.nv, model.nv))
    for group, place in model.link_table.groups:
        result[place, place] = group.ad(v[place])
    return result
