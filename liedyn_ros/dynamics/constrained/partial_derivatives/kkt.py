# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The linear system of all Jacobians of machines with closed loops, at every order (13.19), (13.19b).

Forward, hybrid and inverse dynamics have the same saddle point matrix. Its upper block is the mass
matrix, or the weights of inverse dynamics. Only the right-hand sides differ. It is dense, for all
columns of a Jacobian at once. kernels/products.py solves the same equations for one direction, or
for one row, with the sparse factors of the dynamics.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.partial_derivatives.rate_partials import earlier


class KktSystem:
    """
    The matrix of H y - A^T lam = f, A y = g, lam = A mu + l, factored.

    upper (c, c) is H; jacobian (r + 1, m, c) is A, A', ..., and rank that of A. The last equation
    makes multipliers those of least norm: without l they are in the range of A. With a basis U of
    this range, lam = U s + l is determined. Where rows are independent, lam is so without mu.
    """

    def __init__(self, upper: Array, jacobian: Array, rank: int) -> None:
        """Factor the matrix of y and s."""
        self.size, self.jacobian, self.redundant = len(upper), jacobian, rank < jacobian.shape[1]
        self.turned = jacobian.swapaxes(1, 2)
        self.basis = np.linalg.svd(jacobian[0])[0][:, :rank] if self.redundant else np.eye(rank)
        rows = self.basis.T @ jacobian[0]
        self._rows = rows
        matrix = np.zeros((self.size + rank, self.size + rank))
        matrix[:self.size, :self.size], matrix[:self.size, self.size:] = upper, -rows.T
        matrix[self.size:, :self.size] = rows
        self.solve = solver_of(matrix)

    @cached_property
    def inverse(self) -> Array:
        """Return the matrix (c, rank) that has mu of least norm with A mu = U s, given s."""
        return np.linalg.pinv(self._rows)

    def potentials(self, multipliers: Array) -> Array:
        """Return mu (r + 1, c), given lam = A mu (r + 1, m) along the motion."""
        found: list[Array] = []
        for k, lam in enumerate(multipliers[..., None]):
            rest = lam - earlier(k, self.jacobian, found)
            found.append(self.inverse @ (self.basis.T @ rest))
        return np.array(found)[..., 0]


class KktSeries:
    """The solution of a KktSystem along a motion, one order after the other."""

    def __init__(self, system: KktSystem) -> None:
        """Begin before order zero."""
        self._system = system
        self.y: list[Array] = []
        self.multipliers: list[Array] = []
        self.potentials: list[Array] = []  # mu, where constraints are redundant

    def step(self, forces: Array, gaps: Array, offset: Array) -> None:
        """
        Append y (..., c, x), the multipliers (..., m, x) and mu (..., c, x) of the next order k.

        forces is (H y - A^T lam)^(k), offset l^(k), read where constraints are redundant. gaps is
        A y^(k): what lower orders of y add to (A y)^(k), the caller subtracts.
        """
        system, k = self._system, len(self.y)
        offset = offset + earlier(k, system.jacobian, self.potentials) if system.redundant else (
            np.zeros((len(system.basis), 1)))
        forces = forces + system.turned[0] @ offset + earlier(k, system.turned, self.multipliers)
        found = system.solve(np.concatenate([forces, system.basis.T @ gaps], axis=-2))
        y, s = found[..., :system.size, :], found[..., system.size:, :]
        self.y.append(y)
        self.multipliers.append(system.basis @ s + offset)
        if system.redundant:
            self.potentials.append(system.inverse @ s)


def solver_of(matrix: Array) -> Callable[[Array], Array]:
    """
    Return a function that solves linear equations with a matrix, for sides (..., n, c).

    The matrix is inverted once. Blocks of columns are multiplied with the inverse one by one. For
    all at once BLAS would set up threads, which takes longer than to solve.
    """
    inverse = as_array('derivatives', np.linalg.inv(matrix), matrix.shape)

    def solve(sides: Array) -> Array:
        solved = inverse @ sides
        solved += inverse @ (sides - matrix @ solved)
        return as_array('derivatives', solved, sides.shape)
    return solve
