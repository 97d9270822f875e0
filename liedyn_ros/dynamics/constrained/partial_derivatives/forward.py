# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of the forward dynamics of machines with closed loops (13.19, 13.20).

The equations M a + b = tau + A^T lam and A a + Adot v = 0 are varied, as for all orders.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.partial_derivatives.forward_rates import (
    constrained_rate_jacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.systems import one_order


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
    tau = as_array('tau', tau, (dynamics.model.nv,))
    at = constrained_rate_jacobians(
        dynamics, q, v, tau[None], one_order(dynamics, external), closed=closed)
    return ConstrainedJacobians(
        at.a[0], at.multipliers[0], at.by_q[0], at.by_v[0], at.by_tau[0, 0],
        at.multipliers_by_q[0], at.multipliers_by_v[0], at.multipliers_by_tau[0, 0])
