# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
What partial derivatives of machines with closed loops share: linear systems and their solution.

Redundant constraints are left out of the systems. The multipliers of all then follow.
"""

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, ConstrainedSolution, ConstraintStatus)
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.constrained.partial_derivatives.rate_partials import earlier, RatePartials
from liedyn_ros.dynamics.partial_derivatives.inverse import InverseJacobians
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import InverseRateJacobians


def regular_forward(dynamics: ConstrainedDynamics, q: Array, v: Array, tau: Array,
                    external: ArrayLike | None, closed: bool = True) -> ConstrainedSolution:
    """Return the solution of forward dynamics where it has derivatives, or raise."""
    found = dynamics.forward(q, v, tau, external=external, closed=closed)
    if found.status is ConstraintStatus.SINGULAR:
        refuse_rank(dynamics, found.rank)
    return found


def refuse_rank(dynamics: ConstrainedDynamics, rank: int) -> NoReturn:
    """Raise SingularError for a configuration in which too few constraints are independent."""
    raise SingularError(f'q: expected a configuration in which {dynamics.mobility.rank} '
                        f'constraints are independent, got {rank}')


def one_order(dynamics: ConstrainedDynamics, external: ArrayLike | None) -> Array | None:
    """Return wrenches (B, 6) as series of order zero (1, B, 6), if there are any."""
    if external is None:
        return None
    return as_array('external', external, (len(dynamics.model.bodies), 6))[None]


def vary_equations(
        dynamics: ConstrainedDynamics, q: Array, motion: Array, multipliers: Array,
        external: ArrayLike | None) -> tuple[ConstraintRates, Array, Array]:
    """
    Return the constraints along a motion, and how the equations of forward dynamics vary there.

    motion is v, a, a', ... (r + 2, nv), multipliers are (r + 1, m). First come the derivatives of
    ID - A^T lam, as of force_rates, then those (r + 1, r + 3, m, nv) of A a + A' v.
    """
    constraints, partials = ConstraintRates(dynamics, q, motion), RatePartials(
        dynamics.model, motion)
    forces = force_rates(dynamics, q, motion, external, partials(
        [constraints.vary_forces(multipliers)], len(multipliers)))
    gaps = partials([constraints.vary_rows(motion), constraints.rows], len(motion))[1:]
    return constraints, forces, gaps


def force_rates(dynamics: ConstrainedDynamics, q: Array, motion: Array,
                external: ArrayLike | None, of_constraints: Array) -> Array:
    """
    Return the partial derivatives (r + 1, r + 3, nv, nv) of ID - A^T lam by q, v, a, a', ...

    Entry [k, j] is that of order k by the j-th of these. motion is v, a, a', ... (r + 2, nv),
    of_constraints are the same of A^T lam, the multipliers as they are.
    """
    derivatives, v, a = dynamics.tree.inverse.partial_derivatives, motion[0], motion[1:]
    tree: InverseJacobians | InverseRateJacobians
    if len(a) == 1:  # the kernel of order zero is quicker
        tree = derivatives(q, v, a[0], None if external is None else np.asarray(external)[0])
    else:
        tree = derivatives.time_derivatives(q, v, a, external)
    result = -of_constraints
    result[:, 0] += tree.by_q
    result[:, 1] += tree.by_v
    result[:, 2:] += tree.by_a
    return result


class ForwardSystem:
    """
    The linear system M a - A^T lam = forces, A a = gaps (13.19), factored.

    kept (k,) are rows of A (m, nv), as many as its rank, on which the others depend.
    """

    def __init__(self, mass: Array, jacobian: Array, rank: int) -> None:
        """Choose rows, and factor the matrix."""
        self.kept: NDArray[np.int64] = np.arange(0)
        if len(jacobian):
            self.kept = qr(jacobian.T, mode='r', pivoting=True)[1][:rank]
        rows = jacobian[self.kept]
        self.solve = solver_of(np.block(
            [[mass, -rows.T], [rows, np.zeros((len(rows), len(rows)))]]))


def solver_of(matrix: Array) -> Callable[[Array], Array]:
    """
    Return what solves linear equations with a matrix, factored once, for sides (..., n, c).

    Blocks of columns are multiplied with the inverse, each apart: BLAS would set up threads for
    all at once, which takes longer than to solve.
    """
    inverse = as_array('derivatives', np.linalg.inv(matrix), matrix.shape)

    def solve(sides: Array) -> Array:
        solved = inverse @ sides
        solved += inverse @ (sides - matrix @ solved)
        return as_array('derivatives', solved, sides.shape)
    return solve


def least_multipliers(jacobian: Array, kept: NDArray[np.int64], changes: Sequence[Array]
                      ) -> list[Array]:
    """
    Return changes (..., m, c) of all multipliers at each order, of least norm along the motion.

    changes (..., k, c) are those of the kept ones alone, which press the same. jacobian
    (r + 1, m, nv) is A, A', ... (12.26).
    """
    if len(kept) == jacobian.shape[1]:
        order = np.argsort(kept)
        return [each[..., order, :] for each in changes]
    turned, inverse = jacobian.swapaxes(1, 2), np.linalg.pinv(jacobian[0].T, rcond=1e-9)
    found: list[Array] = []
    potentials: list[Array] = []
    for k, change in enumerate(changes):
        presses = (turned[0][:, kept] @ change + earlier(k, turned[:, :, kept], changes)
                   - earlier(k, turned, found))
        moved = earlier(k, jacobian, potentials)
        found.append(moved + inverse @ (presses - turned[0] @ moved))
        potentials.append(inverse.T @ (found[k] - moved))
    return found
