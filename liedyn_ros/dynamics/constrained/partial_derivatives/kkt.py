# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The linear system of second derivatives of machines with closed loops (13.19), (13.19b).

Forward, hybrid and inverse dynamics have the same saddle point matrix. Its upper block is the mass
matrix, or the weights of inverse dynamics. Only the right-hand sides differ. It is dense, for many
columns at once. First derivatives use the sparse factors of the dynamics: kernels/sides.py has all
columns, kernels/products.py one of them.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from liedyn_ros.common.checks import Array, as_array


class KktSystem:
    """
    The matrix of H y - A^T lam = f, A y = g, lam = A mu + l, factored.

    upper (c, c) is H, rows (m, c) is A of a rank. The last equation makes multipliers those of
    least norm: without l they are in the range of A. With a basis U of this range, lam = U s + l
    is determined. Where rows are independent, lam is so without mu. Of several mu the one of least
    energy counts, as in the dynamics: mass (c, c) is that of mu.
    """

    def __init__(self, upper: Array, rows: Array, rank: int, mass: Array) -> None:
        """Factor the matrix of y and s."""
        self.redundant = rank < len(rows)
        self._size, self._turned = len(upper), rows.T
        self._basis = np.linalg.svd(rows)[0][:, :rank] if self.redundant else np.eye(rank)
        self._rows, self._mass = self._basis.T @ rows, mass
        matrix = np.zeros((self._size + rank, self._size + rank))
        matrix[:self._size, :self._size], matrix[:self._size, self._size:] = upper, -self._rows.T
        matrix[self._size:, :self._size] = self._rows
        self._solve = solver_of(matrix)

    @cached_property
    def _inverse(self) -> Array:
        """Return the matrix (c, rank) that has mu of least energy with A mu = U s, given s."""
        energy = self._mass + self._rows.T @ self._rows  # regular; the second part is given by s
        response = np.linalg.solve(energy, self._rows.T)
        return np.asarray(response @ np.linalg.inv(self._rows @ response))

    def potentials(self, multipliers: Array) -> Array:
        """Return mu (c,) with lam = A mu (m,)."""
        return np.asarray(self._inverse @ (self._basis.T @ multipliers))

    def solve(self, forces: Array, gaps: Array, offset: Array) -> tuple[Array, Array, Array]:
        """
        Return y (c, x), the multipliers (m, x), and mu (c, x) where constraints are redundant.

        forces is f, gaps g, offset l, read where constraints are redundant.
        """
        if not self.redundant:
            offset = np.zeros((len(self._basis), 1))
        found = self._solve(np.concatenate(
            [forces + self._turned @ offset, self._basis.T @ gaps], axis=-2))
        y, s = found[:self._size], found[self._size:]
        return y, self._basis @ s + offset, self._inverse @ s if self.redundant else y


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
