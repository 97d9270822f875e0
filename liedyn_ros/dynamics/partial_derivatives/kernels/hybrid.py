# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The Jacobians of hybrid dynamics from those of inverse dynamics at the same motion (13.37b)."""

from liedyn_ros.dynamics.mass_matrix.kernels.factorization import (
    factor_tree_matrix, solve_tree_matrix)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, TRUTHS
from liedyn_ros.jit.simd import put
from liedyn_ros.linear_algebra.kernels.rows import add_scaled_row, clear_row, copy_scaled
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def hybrid_tree_jacobians(
        before: INTEGERS, factors: MATRIX, sides: MATRIX, prescribed: TRUTHS, by_q: MATRIX,
        by_v: MATRIX, mass: MATRIX, found: CUBE):
    """
    Write how accelerations, then joint forces, vary by q, v and what is given (6, nv, nv).

    before and factors are as in forward_jacobians; sides (nv + 1, 3 nv or more) is a scratch
    buffer. The mass matrix of the coordinates without a prescribed acceleration is as sparse as
    that of all. Returns whether all that is found is finite.
    """
    n, width = len(before), sides.shape[1]
    for i in range(n):
        for j in range(n):
            fixed = 1.0 if i == j else 0.0
            factors[i, j] = fixed if prescribed[i] or prescribed[j] else mass[i, j]
        write_given_side(sides, i, prescribed, by_q, by_v, mass)
    factor_tree_matrix(before, factors)
    solve_tree_matrix(before, factors, sides[:n], width)
    for i in range(n):
        for b in range(3):
            copy_scaled(sides, i, b * n, found[b], i, 0, n, 1.0)
        clear_row(sides, n, 0, width)
        if prescribed[i]:
            copy_scaled(by_q, i, 0, sides, n, 0, n, 1.0)
            copy_scaled(by_v, i, 0, sides, n, n, n, 1.0)
            for j in range(n):
                if mass[i, j] != 0.0:
                    add_scaled_row(sides, n, sides, j, mass[i, j], 0, width)
        else:
            put(sides, n, 2 * n + i, 1.0)
        for b in range(3):
            copy_scaled(sides, n, b * n, found[3 + b], i, 0, n, 1.0)
    return finite(found)


@kernel
def write_given_side(sides, i, prescribed, by_q, by_v, mass):
    """Write the side of coordinate i: what moves it, or its acceleration."""
    n = len(mass)
    clear_row(sides, i, 0, sides.shape[1])
    if prescribed[i]:
        put(sides, i, 2 * n + i, 1.0)
        return
    copy_scaled(by_q, i, 0, sides, i, 0, n, -1.0)
    copy_scaled(by_v, i, 0, sides, i, n, n, -1.0)
    for j in range(n):
        if prescribed[j]:
            put(sides, i, 2 * n + j, -mass[i, j])
    put(sides, i, 2 * n + i, 1.0)
