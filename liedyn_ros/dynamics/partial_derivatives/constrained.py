# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Partial derivatives of the forward dynamics of machines with closed loops (13.19, 13.20).

The equations M a + b = tau + A^T lam and A a + Adot v = 0 are varied. The rows of A are jets.
"""

from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, ConstrainedSolution, ConstraintStatus)
from liedyn_ros.dynamics.partial_derivatives.closure_rows import StateRows


class ConstrainedJacobians(NamedTuple):
    """
    The accelerations a (nv,), the multipliers (m,), and their partial derivatives.

    by_q, by_v and by_tau (nv, nv): row k is a[k]; multipliers_by_q, _by_v and _by_tau (m, nv).
    Those by q are along the tangents of model.integrate. A displacement or a change of velocity
    may leave the constraints: accelerations then keep A v as it is, as with forward's
    closed=False. Where constraints are redundant, only those that keep them have a meaning, and
    the change of the multipliers is the one of least norm.
    """

    a: Array
    multipliers: Array
    by_q: Array
    by_v: Array
    by_tau: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_tau: Array

    def by_parameters(self, forces: Array) -> tuple[Array, Array]:
        """
        Return how a (nv, ...) and the multipliers (m, ...) vary with parameters of the tree.

        forces are as HybridJacobians.by_parameters says. Parameters that place closures, or move
        joints, change the constraints too: constrained_by_kinematics has them.
        """
        return (-np.einsum('ij,j...->i...', self.by_tau, forces),
                -np.einsum('ij,j...->i...', self.multipliers_by_tau, forces))


def constrained_partial_derivatives(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
        external: ArrayLike | None = None, *, closed: bool = True) -> ConstrainedJacobians:
    """
    Return accelerations, multipliers and their derivatives at a state on the constraints.

    Arrays and closed are those of dynamics.forward; external (B, 6) stay the same in the frames of
    their bodies. Raises what dynamics.forward raises, ModelError for functions without
    jacobian_series, and SingularError where fewer constraints are independent than elsewhere:
    there are no derivatives.
    """
    model, n = dynamics.model, dynamics.model.nv
    q, v = model.check_configuration(q), as_array('v', v, (n,))
    tau = as_array('tau', tau, (n,))
    found = regular_forward(dynamics, q, v, tau, external, closed)
    tree = dynamics.tree.inverse.partial_derivatives(q, v, found.a, external)
    rows = StateRows(dynamics, q, v, found.a)
    forces, gaps = np.zeros((n, 3 * n)), np.zeros((dynamics.m, 3 * n))  # for q, v and tau
    forces[:, :2 * n] = rows.force_changes(found.multipliers) - np.hstack([tree.by_q, tree.by_v])
    forces[:, 2 * n:] = np.eye(n)
    gaps[:, :2 * n] = -rows.acceleration_changes()
    a, multipliers = respond(dynamics, q, tree.by_a, found.rank, forces, gaps)
    return ConstrainedJacobians(
        found.a, found.multipliers, *np.hsplit(a, 3), *np.hsplit(multipliers, 3))


def regular_forward(dynamics: ConstrainedDynamics, q: Array, v: Array, tau: Array,
                    external: ArrayLike | None, closed: bool = True) -> ConstrainedSolution:
    """Return the solution of forward dynamics where it has derivatives, or raise."""
    found = dynamics.forward(q, v, tau, external=external, closed=closed)
    if found.status is ConstraintStatus.SINGULAR:
        refuse_rank(dynamics, found.rank)
    return found


def respond(dynamics: ConstrainedDynamics, q: Array, mass: Array, rank: int, forces: Array,
            gaps: Array) -> tuple[Array, Array]:
    """Return a (nv, c) and lam (m, c) of M a - A^T lam = forces, A a = gaps (13.19)."""
    jacobian, (n, columns) = dynamics.jacobian(q), forces.shape
    kept = qr(jacobian.T, mode='r', pivoting=True)[1][:rank] if dynamics.m else []
    matrix = np.zeros((n + len(kept), n + len(kept)))
    matrix[:n, :n], matrix[:n, n:], matrix[n:, :n] = mass, -jacobian[kept].T, jacobian[kept]
    solved = as_array('derivatives', np.linalg.solve(
        matrix, np.vstack([forces, gaps[kept]])), (-1, columns))
    presses = jacobian[kept].T @ solved[n:]
    return solved[:n], as_array('derivatives', np.linalg.pinv(
        jacobian.T, rcond=1e-9) @ presses, (dynamics.m, columns))


def refuse_rank(dynamics: ConstrainedDynamics, rank: int) -> NoReturn:
    """Raise SingularError for a configuration in which too few constraints are independent."""
    raise SingularError(f'q: expected a configuration in which {dynamics.mobility.rank} '
                        f'constraints are independent, got {rank}')
