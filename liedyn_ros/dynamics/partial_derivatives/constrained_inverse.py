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
Partial derivatives of the inverse dynamics of machines with closed loops.

Joint forces and multipliers are the least of those with E tau + A^T lam = r, r being the forces of
the tree. With a vector mu that makes a linear system of it: W tau = E^T mu, A mu = 0, or
E^T mu = 0, W lam = A mu where the multipliers are the least. Its sides are varied.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LEAST_FORCE, LEAST_TORQUE
from liedyn_ros.dynamics.inputs import mask
from liedyn_ros.dynamics.partial_derivatives.closure_rows import StateRows
from liedyn_ros.dynamics.partial_derivatives.constrained import refuse_rank


class ConstrainedInverseJacobians(NamedTuple):
    """
    The joint forces tau (nv,), the multipliers (m,), and their partial derivatives.

    by_q, by_v and by_a (nv, nv): row k is tau[k]. by_tau (nv, nv) is by the forces of passive
    joints, by_need (nv, nv) by the forces that the tree needs for the motion. multipliers_by_q,
    _by_v, _by_a, _by_tau and _by_need are (m, nv). Those by q are along the
    tangents of model.integrate. Changes have a meaning where they keep the motion on the
    constraints. Where constraints are redundant and torques the least, the change of the
    multipliers is the one of least norm.
    """

    tau: Array
    multipliers: Array
    by_q: Array
    by_v: Array
    by_a: Array
    by_tau: Array
    by_need: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_a: Array
    multipliers_by_tau: Array
    multipliers_by_need: Array

    def by_parameters(self, forces: Array) -> tuple[Array, Array]:
        """Return how tau and multipliers vary, as ConstrainedJacobians.by_parameters says."""
        return (np.einsum('ij,j...->i...', self.by_need, forces),
                np.einsum('ij,j...->i...', self.multipliers_by_need, forces))


def constrained_inverse_partial_derivatives(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
        tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
        redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
        external: ArrayLike | None = None) -> ConstrainedInverseJacobians:
    """
    Return joint forces, multipliers and their derivatives at a motion on the constraints.

    Arguments are those of dynamics.inverse at order 0; external (B, 6) stay the same in the frames
    of their bodies. Raises what dynamics.inverse raises, ModelError for functions without
    jacobian_series, and SingularError where fewer constraints are independent than elsewhere:
    there are no derivatives.
    """
    n = dynamics.model.nv
    q, v, a = dynamics.model.check_configuration(q), as_array('v', v, (n,)), as_array('a', a, (n,))
    system = InverseSystem(dynamics, q, v, a, tau, actuated, redundancy, weights, external)
    tree, found = dynamics.tree.inverse.partial_derivatives(q, v, a, external), system.found
    leans, needs = np.zeros((dynamics.m, 5 * n)), np.zeros((n, 5 * n))
    leans[:, :n] = StateRows(
        dynamics, q, np.zeros(n), system.mu).acceleration_changes()[:, :n]  # of A mu
    needs[:, :2 * n] = np.hstack([tree.by_q, tree.by_v]) - StateRows(
        dynamics, q, v, a).force_changes(found.multipliers)
    passive = np.diag(1.0 * ~system.driven)
    needs[:, 2 * n:] = np.hstack([tree.by_a, -passive, np.eye(n)])
    forces, multipliers = system.respond(needs, leans)
    forces[:, 3 * n:4 * n] += passive
    return ConstrainedInverseJacobians(
        found.tau, found.multipliers, *np.hsplit(forces, 5), *np.hsplit(multipliers, 5))


class InverseSystem:
    """
    The linear system of (tau, lam, mu) at a motion, and its solution.

    found is that of dynamics.inverse, whose arguments these are; mu (nv,) is that of the solution,
    driven (nv,) says which joints are actuated. Raises what dynamics.inverse raises, ModelError or
    SingularError.
    """

    def __init__(self, dynamics: ConstrainedDynamics, q: Array, v: Array, a: Array,
                 tau: ArrayLike | None, actuated: ArrayLike | None, redundancy: str,
                 weights: ArrayLike | None, external: ArrayLike | None) -> None:
        """Solve it."""
        self.found = dynamics.inverse(q, v, a, tau=tau, actuated=actuated, redundancy=redundancy,
                                      weights=weights, external=external)
        n = dynamics.model.nv
        self.driven = dynamics.model.actuated if actuated is None else mask(
            'actuated', actuated, n)
        self._jacobian, self._redundancy = dynamics.jacobian(q), redundancy
        self._matrix, self._kept = system_matrix(
            dynamics, self._jacobian, self.driven, redundancy, weights)
        need = dynamics.tree.inverse(q, v, a, external) - np.where(
            self.driven, 0.0, self.found.tau)
        sides = np.zeros(len(self._matrix))
        sides[-n:] = need
        self.mu = as_array('derivatives', np.linalg.solve(self._matrix, sides)[-n:], (n,))

    def respond(self, needs: Array, leans: Array) -> tuple[Array, Array]:
        """
        Return how tau (nv, c) and the multipliers (m, c) follow; zero where tau is given.

        needs (nv, c) are what columns change of ID - A^T lam, less what they change of the forces
        given; leans (m, c) of A mu.
        """
        d, k, (n, columns) = int(self.driven.sum()), len(self._kept), needs.shape
        sides = np.zeros((d + k + n, columns))
        sides[d:d + k] = (1.0 if self._redundancy == LEAST_FORCE else -1.0) * leans[self._kept]
        sides[d + k:] = needs
        solved = as_array('derivatives', np.linalg.solve(self._matrix, sides), (-1, columns))
        forces, multipliers = np.zeros((n, columns)), solved[d:d + k]
        forces[self.driven] = solved[:d]
        if self._redundancy == LEAST_TORQUE and len(self._jacobian):
            rows = self._jacobian
            multipliers = np.linalg.pinv(rows.T, rcond=1e-9) @ rows[self._kept].T @ multipliers
        return forces, multipliers.reshape(len(self._jacobian), columns)


def system_matrix(dynamics: ConstrainedDynamics, jacobian: Array, driven: NDArray[np.bool_],
                  redundancy: str, weights: ArrayLike | None
                  ) -> tuple[Array, NDArray[np.int64]]:
    """Return the matrix of (tau, lam, mu), and the rows of constraints that it has."""
    n, kept = jacobian.shape[1], _independent(dynamics, jacobian)
    if redundancy == LEAST_FORCE:
        kept = np.arange(dynamics.m)
    d, k = int(driven.sum()), len(kept)
    weight = np.ones(n if redundancy == LEAST_TORQUE else k) if weights is None else np.asarray(
        weights, dtype=np.float64)
    selected = np.eye(n)[:, driven]
    result = row_part(jacobian[kept], d, redundancy)
    if redundancy == LEAST_TORQUE:
        result[:d, :d] = np.diag(weight[driven])
    else:
        result[d:d + k, d:d + k] = np.diag(weight)
    result[:d, d + k:], result[d + k:, :d] = -selected.T, selected
    return result, kept


def row_part(rows: Array, d: int, redundancy: str) -> Array:
    """Return the part of the matrix of (tau, lam, mu) that rows of A make, of d actuators."""
    k, n = rows.shape
    result = np.zeros((d + k + n, d + k + n))
    result[d:d + k, d + k:] = rows if redundancy == LEAST_TORQUE else -rows
    result[d + k:, d:d + k] = rows.T
    return result


def _independent(dynamics: ConstrainedDynamics, jacobian: Array) -> NDArray[np.int64]:
    """Return rows of constraints that all others depend on, or raise SingularError."""
    if not dynamics.m:
        return np.arange(0)
    factor, order = qr(jacobian.T, mode='r', pivoting=True)
    sizes = np.abs(np.diag(factor))
    rank = int((sizes > 1e-8 * sizes[0]).sum())
    if rank < dynamics.mobility.rank:
        refuse_rank(dynamics, rank)
    return np.sort(order[:rank])
