# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of a, a', ... of machines with closed loops, to any order.

With the residuals r = ID - A^T lam - tau and c = A v, r^(k) = 0 and c^(k+1) = 0 hold along the
motion. Their partial derivatives by q, v and the accelerations are sums of time derivatives of
those of order zero (13.34). The derivatives by a^(k) and lam^(k) are M and A, the same for every
order, so one factor serves all:

    [M, -A^T; A, 0] (da^(k); dlam^(k)) = dtau^(k) - what q, v and lower orders change.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.partial_derivatives.function_rows import require_series
from liedyn_ros.dynamics.constrained.partial_derivatives.rate_partials import by_blocks, earlier
from liedyn_ros.dynamics.constrained.partial_derivatives.systems import (
    ForwardSystem, least_multipliers, regular_forward, vary_equations)
from liedyn_ros.dynamics.tree.orders import order_of_rows


class ConstrainedRateJacobians(NamedTuple):
    """
    a, a', ... to order r (r + 1, nv), the multipliers (r + 1, m), and their partial derivatives.

    by_q and by_v (r + 1, nv, nv): row k is that of a^(k). by_tau (r + 1, r + 1, nv, nv): entry
    [k, j] is a^(k) by tau^(j), zero for j > k. multipliers_by_q, _by_v (r + 1, m, nv) and _by_tau
    (r + 1, r + 1, m, nv) the same of lam^(k). What a change means off the constraints, and where
    they are redundant, is as for ConstrainedJacobians.
    """

    a: Array
    multipliers: Array
    by_q: Array
    by_v: Array
    by_tau: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_tau: Array


def constrained_rate_jacobians(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
        external: ArrayLike | None = None, *, closed: bool = True) -> ConstrainedRateJacobians:
    """
    Return a and the multipliers with their time derivatives to order r, and the Jacobians of each.

    tau is (r + 1, nv), external (r + 1, B, 6); else arguments are those of
    constrained_partial_derivatives. Raises what that function raises.
    """
    rows, n = order_of_rows('tau', tau, 0) + 1, dynamics.model.nv
    q, v = dynamics.model.check_configuration(q), as_array('v', v, (n,))
    require_series(dynamics)
    found = regular_forward(dynamics, q, v, as_array('tau', tau, (rows, n)), external, closed)
    constraints, forces, gaps = vary_equations(
        dynamics, q, np.vstack([v, found.a]), found.multipliers, external)
    jacobian = constraints.rows
    system = ForwardSystem(forces[0, 2], jacobian[0], found.rank)
    kept = system.kept
    moved: list[Array] = []
    pressed: list[Array] = []
    for k in range(rows):
        sides = np.zeros((rows + 2, n + len(kept), n))
        sides[:2, :n], sides[:2, n:] = -forces[k, :2], -gaps[k, :2, kept].swapaxes(0, 1)
        sides[2 + k, :n] = np.eye(n)
        for j in range(k):
            sides[:, :n] -= forces[k, 2 + j] @ moved[j]
            sides[:, n:] -= gaps[k, 2 + j, kept] @ moved[j]
        sides[:, :n] += earlier(k, jacobian[:, kept].swapaxes(1, 2), pressed)
        solved = system.solve(sides)
        moved.append(solved[:, :n])
        pressed.append(solved[:, n:])
    pressed = least_multipliers(jacobian, kept, pressed)
    return ConstrainedRateJacobians(
        found.a, found.multipliers, *by_blocks(moved), *by_blocks(pressed))
