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
Partial derivatives of tau, tau', ... of machines with closed loops, to any order.

The system of constrained_inverse for tau, lam and mu holds along the motion, K x = s. So its time
derivatives are K x^(k) = s^(k) - sum C(k, i) K^(k-i) x^(i), whose partial derivatives follow from
those of the sides (13.34): one factor serves all orders.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.algorithm import order_of_rows
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LEAST_FORCE, LEAST_TORQUE
from liedyn_ros.dynamics.inputs import mask
from liedyn_ros.dynamics.partial_derivatives.constrained_inverse import row_part, system_matrix
from liedyn_ros.dynamics.partial_derivatives.constrained_rates import (
    force_rates, least_multipliers, solver_of)
from liedyn_ros.dynamics.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.partial_derivatives.function_rows import require_series
from liedyn_ros.dynamics.partial_derivatives.rate_partials import (
    by_blocks, earlier, RatePartials)


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
    rows, n = order_of_rows('a', a, 0) + 1, dynamics.model.nv
    q, v = dynamics.model.check_configuration(q), as_array('v', v, (n,))
    a = as_array('a', a, (rows, n))
    require_series(dynamics)
    found = dynamics.inverse(q, v, a, tau=tau, actuated=actuated, redundancy=redundancy,
                             weights=weights, external=external)
    driven = dynamics.model.actuated if actuated is None else mask('actuated', actuated, n)
    motion = np.vstack([v, a])
    constraints = ConstraintRates(dynamics, q, motion)
    system = InverseSystemRates(dynamics, constraints.rows, driven, redundancy, weights)
    mu = system.potentials(dynamics.tree.inverse.time_derivatives(q, v, a, external) - np.where(
        driven, 0.0, found.tau))
    partials = RatePartials(dynamics.model, motion)
    forces = force_rates(dynamics, q, motion, external, partials(
        [constraints.vary_forces(found.multipliers)], rows))
    given, passive = np.zeros((rows, rows, n, n)), np.diag(1.0 * ~driven)
    for k in range(rows):
        given[k, k] = passive
    moved, pressed = system.respond(np.concatenate([forces, -given], axis=1), partials(
        [constraints.vary_rows(mu)], rows))
    moved[:, -rows:] += given
    return ConstrainedInverseRateJacobians(
        found.tau, found.multipliers, *by_blocks(moved), *by_blocks(pressed))


class InverseSystemRates:
    """
    The linear system of (tau, lam, mu) along a motion, factored once.

    jacobian (K, m, nv) is A, A', ...; the rest is as for constrained_inverse.system_matrix.
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
        sides = np.zeros((len(needs), len(self._matrices[0]), 1))
        sides[:, -needs.shape[1]:, 0] = needs
        return np.array([each[-needs.shape[1]:, 0] for each in self._solve(sides)])

    def respond(self, needs: Array, leans: Array) -> tuple[Array, list[Array]]:
        """
        Return how tau (r + 1, c, nv, nv) and lam (c, m, nv) follow; zero where tau is given.

        needs (r + 1, c, nv, nv) are what c blocks of columns change of ID - A^T lam, less the
        forces given; leans (r + 1, b, m, nv) what the first b of them change of A mu.
        """
        d, k, (rows, blocks, n) = self._d, len(self._kept), needs.shape[:3]
        sides = np.zeros((rows, blocks, d + k + n, n))
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
