# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of the inverse dynamics of machines with closed loops.

They are order zero of those of tau, tau', ... What the tree needs can vary by itself, too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LEAST_TORQUE
from liedyn_ros.dynamics.constrained.partial_derivatives.inverse_rates import inverse_responses
from liedyn_ros.dynamics.constrained.partial_derivatives.systems import one_order


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
    a = as_array('a', a, (n,))
    given = None if tau is None else as_array('tau', tau, (n,))[None]
    found, forces, multipliers = inverse_responses(
        dynamics, q, v, a[None], given, actuated, redundancy, weights,
        one_order(dynamics, external))
    return ConstrainedInverseJacobians(
        found.tau[0], found.multipliers[0], *(each.reshape(n, n) for each in forces),
        *(each.reshape(dynamics.m, n) for each in multipliers))
