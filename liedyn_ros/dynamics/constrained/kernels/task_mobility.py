# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How a frame moves under forces at it: mobility and operational-space inertia (12.66)."""

import math

from liedyn_ros.dynamics.algorithms.kernels import aba
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.dynamics.frames.kernels.jacobians import frame_jacobian
from liedyn_ros.dynamics.mass_matrix.kernels.solve import solve_mass
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR, WHOLE
from liedyn_ros.linear_algebra.kernels.singular_values import (
    orthogonalize_columns, write_identity)
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def task_mobility(
        model: MATRIX, data: MATRIX, q: VECTOR, v: VECTOR, tau: VECTOR, external: MATRIX,
        frame: WHOLE, axes: WHOLE, a: VECTOR, jacobian: MATRIX, response: MATRIX,
        mobility: MATRIX) -> WHOLE:
    """
    Write a (nv,), J and (M^-1 J^T)^T (6, nv), and J M^-1 J^T (6, 6); return the code of forward.

    Forward dynamics leaves the factors of M in data.
    """
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if not frame_jacobian(model, q, frame, axes, jacobian):
        return aba.REFUSED
    for k in range(6):
        solve_mass(model, data, jacobian[k], response[k])
    for k in range(6):
        for i in range(k + 1):
            total = 0.0
            for j in range(len(a)):
                total += jacobian[k, j] * response[i, j]
            mobility[k, i], mobility[i, k] = total, total
    return aba.DONE if finite(mobility) else aba.REFUSED


@kernel
def invert_on_range(mobility: MATRIX, mix: MATRIX, size: VECTOR, inertia: MATRIX) -> WHOLE:
    """
    Write the inverse (t, t) of a mobility on its range, and return its rank; units play no part.

    With rows of unit length, mix (t, t) are its principal directions and size (t,) how much these
    move.
    """
    t = len(mobility)
    write_identity(mix)
    for i in range(t):
        for j in range(t):
            scale = mobility[i, i] * mobility[j, j]
            inertia[i, j] = mobility[i, j] / math.sqrt(scale) if scale > 0.0 else 0.0
    orthogonalize_columns(inertia, mix, size)
    rank, most = 0, 1e-300
    for p in range(t):
        most = max(most, size[p])
    for p in range(t):
        if size[p] > RANK_TOLERANCE * most:
            rank += 1
    for i in range(t):
        for j in range(i + 1):
            total, scale = 0.0, mobility[i, i] * mobility[j, j]
            for p in range(t):
                if size[p] > RANK_TOLERANCE * most:
                    total += mix[p, i] * mix[p, j] / size[p]
            total = total / math.sqrt(scale) if scale > 0.0 else 0.0
            inertia[i, j], inertia[j, i] = total, total
    return rank
