# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The inverse of a mass matrix by its factors along the tree (Featherstone, 6.5)."""

from liedyn_ros.dynamics.algorithms.kernels import aba, crba
from liedyn_ros.dynamics.partial_derivatives.kernels.factorization import (
    factor_tree_matrix, solve_tree_matrix)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.simd import get, put
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def inverse_mass_matrix(model, data, before, factors, sides, q, out):
    """
    Write M^-1 (nv, nv); return the code of forward.

    factors (nv, nv) and sides (nv, nv, filled up to LANES) are scratch buffers.
    """
    n = len(factors)
    if out.shape[0] != n or out.shape[1] != n or overlap(out, q):
        return aba.REFUSED
    if not crba.crba(model, data, q, factors):
        return aba.REFUSED
    code = factor_tree_matrix(before, factors)
    if code > 0:
        return code
    sides[:] = 0.0
    for i in range(n):
        put(sides, i, i, 1.0)
    solve_tree_matrix(before, factors, sides, 0)
    for i in range(n):
        for j in range(i, n):
            x = get(sides, i, j)
            put(out, i, j, x)
            put(out, j, i, x)
    return aba.DONE if finite(out.reshape(-1)) else aba.REFUSED
