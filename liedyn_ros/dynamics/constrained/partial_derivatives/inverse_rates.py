# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of tau, tau', ... of machines with closed loops, to any order.

Joint forces and multipliers are the least of those with E tau + A^T lam = s, s being the forces of
the tree. With a vector mu that makes a linear system of it: W tau = E^T mu, A mu = 0, or
E^T mu = 0, W lam = A mu where the multipliers are the least. It holds along the motion, K x = s.
So its time derivatives are K x^(k) = s^(k) - sum C(k, i) K^(k-i) x^(i), whose partial derivatives
follow from those of the sides (13.34): one factor serves all orders.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, ConstrainedSolution, LEAST_FORCE, LEAST_TORQUE)
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.constrained.partial_derivatives.function_rows import require_series
from liedyn_ros.dynamics.constrained.partial_derivatives.rate_partials import (
    by_blocks, earlier, RatePartials)
from liedyn_ros.dynamics.constrained.partial_derivatives.systems import (
    force_rates, least_multipliers, refuse_rank, solver_of)
from liedyn_ros.dynamics.tree.inputs import mask
from liedyn_ros.dynamics.tree.orders import order_of_rows


class ConstrainedInverseRateJacobians(NamedTuple):
    """
    tau, tau', ... to order r (r + 1, nv), the multipliers (r + 1, m), and their derivatives.

    by_q and by_v (r + 1, nv, nv): row k is that of tau^(k). by_a (r + 1, r + 1, nv, nv): entry
    [k, j] is tau^(k) by a^(j), zero for j > k; by_tau the same by tau^(j) of passive joints.
    multipliers_by_q, _by_v (r + 1, m, nv), _by_a and _by_tau (r + 1, r + 1, m, nv) are those of
    lam^(k). Which changes have a meaning is as for ConstrainedInverseJacobians.
    """

    tau: Array
    multipliers: Array
    by_q: Array
    by_v: Array
    by_a: Array
    by_tau: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_a: Array
    multipliers_by_tau: Array


def constrained_inverse_rate_jacobians(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
        tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
        redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
        external: ArrayLike | None = None) -> ConstrainedInverseRateJacobians:
    """
    Return tau and the multipliers with their time derivatives to order r, and the Jacobians.

    a and tau are (r + 1, nv), external (r + 1, B, 6); else arguments are those of
    constrained_inverse_partial_derivatives. Raises what that function raises.
    """
    rows = order_of_rows('a', a, 0) + 1
    found, forces, multipliers = inverse_responses(
        dynamics, q, v, as_array('a', a, (rows, dynamics.model.nv)), tau, actuated, redundancy,
        weights, external)
    return ConstrainedInverseRateJacobians(
        found.tau, found.multipliers, *forces[:-1], *multipliers[:-1])


def inverse_responses(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: Array,
        tau: ArrayLike | None, actuated: ArrayLike | None, redundancy: str,
        weights: ArrayLike | None, external: ArrayLike | None
        ) -> tuple[ConstrainedSolution, list[Array], list[Array]]:
    """
    Return the solution to order r, and the derivatives of tau and of the multipliers.

    Each list has those by q, v, a and tau, as ConstrainedInverseRateJacobians has them, and by the
    forces that the tree needs for the motion, as by tau. a is (r + 1, nv).
    """
    rows, n = a.shape
    q, v = dynamics.model.check_configuration(q), as_array('v', v, (n,))
    require_series(dynamics)
    found = dynamics.inverse(q, v, a, tau=tau, actuated=actuated, redundancy=redundancy,
                             weights=weights, external=external)
    driven = dynamics.model.actuated if actuated is None else mask('actuated', actuated, n)
    motion = np.vstack([v, a])
    constraints = ConstraintRates(dynamics, q, motion)
    system = InverseSystem(dynamics, constraints.rows, driven, redundancy, weights)
    mu = system.potentials(dynamics.tree.inverse.time_derivatives(q, v, a, external) - np.where(
        driven, 0.0, found.tau))
    partials = RatePartials(dynamics.model, motion)
    forces = force_rates(dynamics, q, motion, external, partials(
        [constraints.vary_forces(found.multipliers)], rows))
    units = np.zeros((rows, rows, n, n))
    units[range(rows), range(rows)] = np.eye(n)
    moved, pressed = system.respond(np.concatenate([forces, units], axis=1), partials(
        [constraints.vary_rows(mu)], rows))
    of_forces, of_multipliers = by_blocks(moved), by_blocks(pressed)
    of_forces.insert(3, (units - of_forces[3]) * ~driven)  # given forces are needed no more
    of_multipliers.insert(3, -of_multipliers[3] * ~driven)
    return found, of_forces, of_multipliers


class InverseSystem:
    """
    The linear system of (tau, lam, mu) along a motion, factored once.

    jacobian (K, m, nv) is A, A', ...; the rest is as for dynamics.inverse.
    """

    def __init__(self, dynamics: ConstrainedDynamics, jacobian: Array, driven: NDArray[np.bool_],
                 redundancy: str, weights: ArrayLike | None) -> None:
        """Factor it, and differentiate its matrix."""
        matrix, self._kept = system_matrix(dynamics, jacobian[0], driven, redundancy, weights)
        self._driven, self._d, self._jacobian = driven, int(driven.sum()), jacobian
        self._sign = 1.0 if redundancy == LEAST_FORCE else -1.0
        self._factor, self._matrices = solver_of(matrix), np.array(
            [matrix, *(row_part(each[self._kept], self._d, redundancy) for each in jacobian[1:])])

    def potentials(self, needs: Array) -> Array:
        """Return mu (r + 1, nv) and its time derivatives of needed forces (r + 1, nv)."""
        sides, first = np.zeros((len(needs), len(self._matrices[0]), 1)), self._d + len(self._kept)
        sides[:, first:, 0] = needs
        return np.array([each[first:, 0] for each in self._solve(sides)])

    def respond(self, needs: Array, leans: Array) -> tuple[Array, list[Array]]:
        """
        Return how tau (r + 1, b, nv, c) and lam (b, m, c) follow; zero where tau is given.

        needs (r + 1, b, nv, c) are what b blocks of columns change of ID - A^T lam, less the
        forces given; leans (r + 1, h, m, c) what the first h of them change of A mu.
        """
        d, k, (rows, blocks, n, columns) = self._d, len(self._kept), needs.shape
        sides = np.zeros((rows, blocks, d + k + n, columns))
        sides[:, :leans.shape[1], d:d + k] = self._sign * leans[:, :, self._kept]
        sides[:, :, d + k:] = needs
        solved, moved = self._solve(sides), np.zeros(needs.shape)
        moved[:, :, self._driven] = [each[:, :d] for each in solved]
        return moved, least_multipliers(
            self._jacobian, self._kept, [each[:, d:d + k] for each in solved])

    def _solve(self, sides: Array) -> list[Array]:
        found: list[Array] = []
        for k, side in enumerate(sides):
            found.append(self._factor(side - earlier(k, self._matrices, found)))
        return found


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
    if not jacobian.size:
        return np.arange(0)
    factor, order = qr(jacobian.T, mode='r', pivoting=True)
    sizes = np.abs(np.diag(factor))
    rank = int((sizes > 1e-8 * sizes[0]).sum())
    if rank < dynamics.mobility.rank:
        refuse_rank(dynamics, rank)
    return np.sort(order[:rank])
