# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How tasks move under forces at them: mobility and operational-space inertia (12.66)."""

import math

from liedyn_ros.dynamics.algorithms.kernels import aba
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.dynamics.mass_matrix.kernels.factorization import solve_mass
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR, WHOLE
from liedyn_ros.linear_algebra.kernels.elimination import factor_cholesky, solve_cholesky_negated
from liedyn_ros.linear_algebra.kernels.orthogonal import orthogonalize_columns, write_identity
from liedyn_ros.model.kernels.configuration import finite


@kernel
def tree_mobility(
        model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, tau: VECTOR, external: MATRIX,
        jacobian: MATRIX, a: VECTOR, response: MATRIX, mobility: MATRIX) -> WHOLE:
    """
    Write a (nv,), and of tasks J (t, nv) M^-1 J^T transposed and J M^-1 J^T; return a code.

    Forward dynamics leaves the factors of M in data.
    """
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    for k in range(len(jacobian)):
        solve_mass(model, data, jacobian[k], response[k])
    return aba.DONE if write_mobility(jacobian, response, mobility) else aba.REFUSED


@kernel
def loop_mobility(mass: MATRIX, motions: MATRIX, jacobian: MATRIX, factor: MATRIX,
                  response: MATRIX, mobility: MATRIX) -> TRUTH:
    """
    Write (P J^T)^T (t, nv) and J P J^T (t, t), P = N mass^-1 N^T; return whether all is well.

    mass (nv, nv) is that of independent coordinates: dependent ones have rows and columns of zeros
    in it, which get a one on the diagonal, and columns of zeros in N (nv, nv).
    """
    n = len(motions)
    for j in range(n):
        if motions[j, j] == 0.0:
            mass[j, j] = 1.0
    flat = factor.reshape(n * n)
    if not factor_cholesky(mass[0], mass.reshape(n * n), 0.0, 0.0, flat):
        return False
    for k in range(len(jacobian)):
        push = mass[0]  # no longer needed
        for j in range(n):
            total = 0.0
            for i in range(n):
                total += motions[i, j] * jacobian[k, i]
            push[j] = total
        solve_cholesky_negated(push, flat, push, push)
        for i in range(n):
            total = 0.0
            for j in range(n):
                total -= motions[i, j] * push[j]
            response[k, i] = total
    return write_mobility(jacobian, response, mobility)


@kernel
def write_mobility(jacobian, response, mobility):
    """Write J R^T (t, t) of responses R (t, nv); return whether it is finite."""
    for k in range(len(jacobian)):
        for i in range(k + 1):
            total = 0.0
            for j in range(jacobian.shape[1]):
                total += jacobian[k, j] * response[i, j]
            mobility[k, i], mobility[i, k] = total, total
    return finite(mobility)


@kernel
def invert_on_range(mobility: MATRIX, mix: MATRIX, size: VECTOR, inertia: MATRIX) -> WHOLE:
    """
    Write the inverse (t, t) of a mobility on its range, and return its rank; units play no part.

    With rows of unit length, mix (t, t) are its principal directions and size (t,) how much these
    move. A row that moves by RANK_TOLERANCE of the largest one does so by rounding.
    """
    t, least = len(mobility), 0.0
    write_identity(mix)
    for i in range(t):
        least = max(least, RANK_TOLERANCE**2 * mobility[i, i])
    for i in range(t):
        for j in range(t):
            moves = min(mobility[i, i], mobility[j, j]) > least
            inertia[i, j] = mobility[i, j] / math.sqrt(
                mobility[i, i] * mobility[j, j]) if moves else 0.0
    orthogonalize_columns(inertia, mix, size)
    rank, most = 0, 1e-300
    for p in range(t):
        most = max(most, size[p])
    for p in range(t):
        if size[p] > RANK_TOLERANCE * most:
            rank += 1
    for i in range(t):
        for j in range(i + 1):
            total, moves = 0.0, min(mobility[i, i], mobility[j, j]) > least
            for p in range(t):
                if size[p] > RANK_TOLERANCE * most:
                    total += mix[p, i] * mix[p, j] / size[p]
            total = total / math.sqrt(mobility[i, i] * mobility[j, j]) if moves else 0.0
            inertia[i, j], inertia[j, i] = total, total
    return rank
