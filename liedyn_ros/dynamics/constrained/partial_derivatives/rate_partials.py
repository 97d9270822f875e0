# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The partial derivatives of time derivatives, from the time derivatives of partial ones (13.34).

A function f(q, v, a, ..) along a motion has the parts f_0 = D_q f, f_1 = df/dv, f_2 = df/da. Those
of f^(k) are sums of their time derivatives. At spherical and free joints a displacement does not
commute with the motion, and factors Gamma of brackets appear (13.33). The trees' kernel
rate_jacobians has the same sums for its own tables.
"""

from collections.abc import Sequence
from math import comb

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import velocity_brackets
from liedyn_ros.model import Model
from liedyn_ros.model.kernels.kinds import FREE, NV, SPHERICAL


class RatePartials:
    """Sums (13.34) along a motion v, v', ... (K, nv)."""

    def __init__(self, model: Model, motion: Array) -> None:
        """Compute the factors of displacements that do not commute with the motion."""
        table = model.link_table
        self._turned = np.array([at + k for kind, at in zip(table.kind, table.vi)
                                 if kind in (SPHERICAL, FREE) for k in range(NV[kind])], dtype=int)
        self._blocks = len(motion) + 1
        own = np.ix_(self._turned, self._turned)
        turns = [velocity_brackets(model, v)[own] for v in motion] if len(self._turned) else []
        self._gamma = gamma(turns, len(motion))

    def __call__(self, parts: Sequence[Array], count: int) -> Array:
        """
        Return the partial derivatives (count, K + 1, rows, nv) of f, f', ... by q, v, v', ...

        parts are f_0, f_1, ... (count, rows, nv), each with its time derivatives, count being at
        most K, and K - 1 with f_2.
        """
        result = np.zeros((count, self._blocks, *parts[0].shape[1:]))
        for k in range(count):
            for i in range(k + 1):
                for m, part in enumerate(parts):
                    result[k, i + m] += comb(k, i) * part[k - i]
                if len(self._turned):
                    turned = comb(k, i) * parts[0][k - i][:, self._turned]
                    result[k, :i, :, self._turned] += np.moveaxis(
                        turned @ self._gamma[i, :i], -1, 0)
        return result


def gamma(turns: Sequence[Array], orders: int) -> Array:
    """
    Return Gamma_ij (orders, orders, g, g), how eta^(i) follows from eta and v^(j-1) (13.33).

    turns are the brackets A, A', ... (g, g) with the velocity; orders of them, or none for g = 0.
    """
    g = len(turns[0]) if turns else 0
    result = np.zeros((orders, orders, g, g))
    if not g:
        return result
    for i in range(orders):
        result[i, i] = np.eye(g)
        for j in range(i):
            result[i, j] = -sum(comb(i - 1, h) * turns[h] @ result[i - 1 - h, j]
                                for h in range(i - j))
    return result


def earlier(k: int, matrices: Array, found: Sequence[Array]) -> Array:
    """
    Return (M x)^(k) - M x^(k): the terms of a product's derivative with x below order k.

    matrices are M, M', ... (k + 1, p, n), found are x, x', ... (..., n, c).
    """
    result = np.zeros((matrices.shape[1], 1))
    for i in range(k):
        result = result + comb(k, i) * matrices[k - i] @ found[i]
    return result


def by_blocks(orders: Sequence[Array] | Array) -> list[Array]:
    """
    Return derivatives by q, by v (r + 1, x, n), and by further series (r + 1, r + 1, x, n).

    orders has r + 1 arrays (c, x, n), by q, by v, then r + 1 of each series. Entry [k, j] of the
    latter is that of order k by order j.
    """
    blocks, count = np.array(orders), len(orders)
    return [blocks[:, 0].copy(), blocks[:, 1].copy(), *(
        blocks[:, j:j + count].copy() for j in range(2, blocks.shape[1], count))]
