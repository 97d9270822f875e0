# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The numerical rank of constraints: one of A alone, whatever masses and units are.

Kernels of dynamics weigh A by the inertia that its rows meet, for accuracy (12.51). Both are made
free of units by the motions that coordinates can give the closures, never by entries of A. So a
row that vanishes at a dead centre stays small.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE

SMALLEST_LENGTH = 1e-6  # of the longest column: shorter ones can be rounding errors
_PASSIVE_WEIGHT = 1e3  # passive coordinates follow, unless a driven one decides so much less
SCALING_ROUNDS = 3  # of scaling; further ones hardly change the pivots of machines that were tried


def rank_of(sizes: Array, tolerance: float = RANK_TOLERANCE) -> int:
    """Return how many singular values or pivots exceed a tolerance times the largest."""
    return int((sizes > tolerance * sizes.max(initial=0.0)).sum())


def independent_columns(columns: Array, tolerance: float = RANK_TOLERANCE
                        ) -> tuple[int, NDArray[np.int64]]:
    """Return the rank of columns (m, n) and their order (n,), independent ones first."""
    from scipy.linalg import qr  # imported by Constraints: it takes long, and no stream waits
    if not columns.size:  # which LAPACK refuses through an old SciPy
        return 0, np.arange(columns.shape[1])
    _, r, order = qr(columns, mode='economic', pivoting=True)
    return rank_of(np.abs(np.diag(r)), tolerance), order


def passes_singularity(rows: Array, later: Array) -> bool:
    """
    Return whether a short step passes a singular configuration, of A (m, nv) before and after it.

    The determinant of A A'^T, of independent rows, is positive unless they turn over (12.51).
    """
    rank, order = independent_columns(rows.T)
    independent = order[:rank]
    return bool(np.linalg.slogdet(rows[independent] @ later[independent].T)[0] <= 0.0)


def independent_coordinates(
        constraints: Constraints, q: ArrayLike, driven: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask (nv,) of coordinates that decide the motion, driven ones first."""
    rows = constraints.jacobian(q) / constraints.row_sizes[:, None]
    rank, _ = independent_columns(rows)
    _, order = independent_columns(np.where(driven, rows, _PASSIVE_WEIGHT * rows))
    known = np.ones(len(driven), dtype=np.bool_)
    known[order[:rank]] = False
    return known


def pivots_of(columns: Array) -> Array:
    """Return the sizes of the pivots of columns (m, n), the largest first."""
    from scipy.linalg import qr
    if not columns.size:
        return np.empty(0)
    r, _ = qr(columns, mode='r', pivoting=True)
    return np.abs(np.diag(r))


def equilibrated(constraints: Constraints, q: Array, free: NDArray[np.bool_]) -> Array:
    """
    Return the rows (m, f) of A on free coordinates (nv,), scaled so that neither end has units.

    Rows and columns of the sizes that entries can have are brought to length one in turn
    (12.59, Ruiz 2001). A is scaled as they are.
    """
    rows, sizes = (each[:, free] for each in constraints.rows_and_sizes(q))
    for done in range(2 * SCALING_ROUNDS + 1):
        lengths = np.sqrt((sizes * sizes).sum(axis=(done + 1) % 2, keepdims=True))
        lengths[lengths == 0.0] = 1.0
        rows, sizes = rows / lengths, sizes / lengths
        if done == 0:
            sizes = np.where(sizes > 0.0, np.maximum(sizes, SMALLEST_LENGTH), 0.0)
    return np.asarray(rows)


def solve_passive(rows: Array, passive: NDArray[np.bool_]) -> tuple[Array, Array]:
    """
    Return how passive coordinates follow the constraints: the pseudo-inverse and the null space.

    rows (m, nv) are A, passive (nv,) is a mask of p coordinates. The pseudo-inverse (p, m) maps
    A v to the rates of the passive coordinates; the null space (f, p) holds their free motions.
    Rank counts columns of length one, as for least joint forces. Columns that can be rounding
    errors stay short.
    """
    left, sizes, right, scale = _factor_passive(rows, passive)
    rank = rank_of(sizes)
    inverse = (right[:rank].T / sizes[:rank]) @ left[:, :rank].T
    return np.asarray(scale[:, None] * inverse), np.asarray(right[rank:] * scale)


def unheld_motions(rows: Array, passive: NDArray[np.bool_]) -> Array:
    """
    Return the motions (f, p) of passive coordinates that actuators do not hold; at least one.

    They are the null space of solve_passive. Where it is empty, it is the motion nearest to it.
    """
    _, sizes, right, scale = _factor_passive(rows, passive)
    return np.asarray(right[min(rank_of(sizes), max(len(right) - 1, 0)):] * scale)


def _factor_passive(rows: Array, passive: NDArray[np.bool_]
                    ) -> tuple[Array, Array, Array, Array]:
    """Return the singular value decomposition of passive columns of rows, and their scale (p,)."""
    columns = rows[:, passive]
    lengths = np.linalg.norm(columns, axis=0)
    least = SMALLEST_LENGTH * lengths.max(initial=0.0)
    scale = 1.0 / np.maximum(lengths, least if least > 0.0 else 1.0)
    return *np.linalg.svd(columns * scale), scale
