# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The Jacobians of a, a', ... from those of tau, tau', ... (13.34), (13.37).

Partial derivatives of time derivatives, from the time derivatives of partial ones (13.34). A
function f(q, v, a, ..) along a motion has the parts f_0 = D_q f, f_1 = df/dv, f_2 = df/da, each
with its time derivatives. At spherical and free joints a displacement does not commute with the
motion: factors Gamma of brackets appear (13.33).
"""

from liedyn_ros.dynamics.mass_matrix.kernels.factorization import (
    factor_tree_matrix, solve_tree_matrix)
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import load3
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, INTEGERS, MATRIX, RATE_JACOBIANS, VECTOR
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, put, put_lanes
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels import kinds


@kernel
def forward_rate_jacobians(
        before: INTEGERS, factors: MATRIX, sides: VECTOR, given: RATE_JACOBIANS, by_q: CUBE,
        by_v: CUBE, by_tau: ARRAY4):
    """
    Write the partial derivatives of a^(k) by q, v and tau^(j), as many as by_q has.

    given are those of tau^(k) by q, v and a^(j). before and factors are as in forward_jacobians.
    sides is a scratch buffer of blocks, see block. Returns k + 1 for a pivot k of M that is not
    above 0, else 0.
    """
    rows, n = len(by_q), len(before)
    for a in range(n):
        for b in range(n):
            factors[a, b] = given[2][0, 0, a, b]
    code = factor_tree_matrix(before, factors)
    if code > 0:
        return code
    for k in range(rows):
        first, end, width = block(k, n)
        own = sides[first:end].reshape(n, width)
        write_same_order(own, given[0][k], given[1][k], k)
        for i in range(k):
            first, end, width = block(i, n)
            subtract_lower_order(own, given[2][k, i], sides[first:end].reshape(n, width))
        solve_tree_matrix(before, factors, own, own.shape[1])
        read_block(own, 0, by_q[k])
        read_block(own, 1, by_v[k])
        for j in range(rows):
            if j <= k:
                read_block(own, 2 + j, by_tau[k, j])
            else:
                by_tau[k, j] = 0.0
    return 0


@inlined
def block(k, n):
    """
    Return where the block of a^(k) starts and ends, and its width.

    It has nv rows. Its columns are those by q, v, tau to tau^(k), filled up to a multiple of
    LANES. Blocks follow each other.
    """
    first, end, width = 0, 0, 0
    for i in range(k + 1):
        width = (((i + 3) * n + LANES - 1) // LANES) * LANES
        first, end = end, end + n * width
    return first, end, width


@kernel
def read_block(own, j, by):
    """Read nv columns of a block, the j-th ones."""
    n = len(by)
    for a in range(n):
        for b in range(n):
            by[a, b] = get(own, a, j * n + b)


@kernel
def write_same_order(own, by_q, by_v, k):
    """Write the part of q, v and tau^(k) at the same order."""
    n = len(own)
    for a in range(n):
        for c in range(0, own.shape[1], LANES):
            put_lanes(own, a, c, broadcast(0.0))
        for b in range(n):
            put(own, a, b, -by_q[a, b])
            put(own, a, n + b, -by_v[a, b])
        put(own, a, (2 + k) * n + a, 1.0)


@kernel
def subtract_lower_order(own, by_rate, earlier):
    """Subtract the part through a derivative of lower order; by_rate has the zeros of the tree."""
    for a in range(len(own)):
        for b in range(len(own)):
            factor = by_rate[a, b]
            if factor != 0.0:
                for c in range(0, earlier.shape[1], LANES):
                    put_lanes(own, a, c, get_lanes(own, a, c) - factor * get_lanes(earlier, b, c))


@kernel
def add_rate_sum(part, m, factorial, k, j, factor, out):
    """Add the term of part f_m (orders, rows, nv) in the derivative of f^(k) by v^(j-1)."""
    n = j - m
    if not 0 <= n <= k:
        return
    scale, source = factor * binomial(factorial, k, n), part[k - n]
    flat, size = source.reshape((1, source.size)), source.size
    target = out.reshape((1, size))
    whole = size // LANES * LANES
    for c in range(0, whole, LANES):
        put_lanes(target, 0, c, get_lanes(target, 0, c) + scale * get_lanes(flat, 0, c))
    for c in range(whole, size):
        target[0, c] += scale * flat[0, c]


@kernel
def add_turned_sum(part, gamma, factorial, k, j, first, size, factor, out):
    """Add to that of f^(k) what displacements of a joint by v^(j-1) give."""
    for n in range(j + 1, k + 1):
        scale = factor * binomial(factorial, k, n)
        for a in range(len(out)):
            for c in range(size):
                total = 0.0
                for e in range(size):
                    total += part[k - n, a, first + e] * gamma[n, j, e, c]
                out[a, first + c] += scale * total


@kernel
def binomial(factorial, k, n):
    """Return the binomial coefficient."""
    return factorial[k] / (factorial[n] * factorial[k - n])


@kernel
def is_noncommuting(kind):
    """Return whether displacements by a joint do not commute with its motion."""
    return kind == kinds.SPHERICAL or kind == kinds.FREE


@kernel
def chart_series(kind, gamma, factorial, motion, first, rows):
    """Write Gamma_nj of a spherical or free joint: eta^(n) by eta and by v^(j-1) (13.33)."""
    size = joints.degrees(kind)
    for j in range(rows):
        for c in range(size):
            for n in range(j, rows):
                for e in range(6):
                    gamma[n, j, e, c] = 1.0 if n == j and e == c else 0.0
                for a in range(n - j):
                    w, v = load3(motion, a, first), vec3.ZERO
                    if kind == kinds.FREE:
                        v = load3(motion, a, first + 3)
                    x = gamma[n - 1 - a, j]
                    dw, dv = se3.ad(w, v, (x[0, c], x[1, c], x[2, c]),
                                    (x[3, c], x[4, c], x[5, c]))
                    scale = binomial(factorial, n - 1, a)
                    for e in range(3):
                        gamma[n, j, e, c] -= scale * dw[e]
                        gamma[n, j, 3 + e, c] -= scale * dv[e]
