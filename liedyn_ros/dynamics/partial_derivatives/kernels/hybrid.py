# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Jacobians of forward and hybrid dynamics from those of inverse dynamics (13.15), (13.37b)."""

from liedyn_ros.dynamics.algorithms.kernels import aba
from liedyn_ros.dynamics.mass_matrix.kernels.factorization import (
    factor_tree_matrix, read_solutions, solve_tree_matrix)
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import (
    clear_matrix, is_square, shares_memory, write_jacobians)
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import all_finite
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, TRUTHS, VECTOR, WHOLE
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.jit.simd import LANES, put
from liedyn_ros.linear_algebra.kernels.rows import add_scaled_row, clear_row, copy_scaled
from liedyn_ros.model.kernels.configuration import finite


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


@kernel
def forward_jacobians(
        model: MATRIX, data: MATRIX, links: MATRIX, columns: MATRIX, before: INTEGERS,
        factors: MATRIX, sides: MATRIX, q: VECTOR, v: VECTOR, tau: VECTOR, external: MATRIX,
        a: VECTOR, by_q: MATRIX, by_v: MATRIX, by_tau: MATRIX, by_gravity: MATRIX) -> WHOLE:
    """
    Write a, da/dq, da/dv, da/dtau = M^-1 and da/d(gravity).

    factors (nv, nv filled up to LANES) and sides (nv, width) are scratch buffers. Returns the code
    of forward, and REFUSED for results of another shape, or that share memory with the input.
    """
    n = len(v)
    if not (len(a) == n and is_square(by_q, n) and is_square(by_v, n) and is_square(by_tau, n)
            and by_gravity.shape == (n, 3)):
        return aba.REFUSED
    if (shares_memory(by_q, q, v, tau, external) or shares_memory(by_v, q, v, tau, external)
            or shares_memory(by_tau, q, v, tau, external)
        or shares_memory(by_gravity, q, v, tau, external)
            or overlap(by_q, by_v) or overlap(by_q, by_tau) or overlap(by_v, by_tau)):
        return aba.REFUSED
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    clear_matrix(sides)
    clear_matrix(factors)
    if not write_jacobians(model, data, links, columns, q, v, a, external, sides, sides, factors,
                           sides, n, 2 * n):
        return aba.REFUSED
    code = factor_tree_matrix(before, factors)
    if code > 0:
        return code
    start = sides.shape[1] - (n + LANES - 1) // LANES * LANES
    for i in range(n):
        put(sides, i, start + i, 1.0)
    solve_tree_matrix(before, factors, sides, start)
    read_solutions(sides, start, by_q, by_v, by_tau, by_gravity)
    good = all_finite(by_q) and all_finite(by_v) and all_finite(by_tau)
    return aba.DONE if good else aba.REFUSED
