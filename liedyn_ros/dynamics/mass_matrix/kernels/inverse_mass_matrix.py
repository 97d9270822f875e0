# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The inverse of a mass matrix by its factors along the tree (Featherstone, 6.5)."""

from liedyn_ros.dynamics.algorithms.kernels import aba, crba
from liedyn_ros.dynamics.mass_matrix.kernels.factorization import (
    factor_tree_matrix, invert_tree_matrix)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, VECTOR
from liedyn_ros.jit.simd import get, put
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def inverse_mass_matrix(
        model: MATRIX, data: MATRIX, before: INTEGERS, factors: MATRIX, roots: MATRIX, q: VECTOR,
        out: MATRIX):
    """
    Write M^-1 (nv, nv); return the code of forward.

    factors and roots (nv, nv filled up to LANES) are scratch buffers.
    """
    n = len(before)
    if not crba.crba(model, data, q, out):
        return aba.REFUSED
    factors[:] = 0.0
    for i in range(n):
        for j in range(i + 1):
            put(factors, i, j, get(out, i, j))
    code = factor_tree_matrix(before, factors)
    if code > 0:
        return code
    invert_tree_matrix(before, factors, roots)
    for i in range(n):
        for j in range(i, n):
            x = get(factors, i, j)
            put(out, i, j, x)
            put(out, j, i, x)
    return aba.DONE if finite(out) else aba.REFUSED
