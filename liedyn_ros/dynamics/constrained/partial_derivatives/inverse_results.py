# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Results of derivatives of the inverse dynamics of machines with closed loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.partial_derivatives.equations import by_parameters
from liedyn_ros.dynamics.constrained.partial_derivatives.jacobians import Blocks
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import (
    LoopKinematicJacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.products import ConstrainedProduct
from liedyn_ros.dynamics.constrained.solver.solution import (
    ConstrainedSolution, SolvedArray, with_solution)
from liedyn_ros.dynamics.constrained.solver.tasks import Mask


class ConstrainedInverseJacobians(NamedTuple):
    """
    The joint forces tau (nv,), the multipliers (m,), and their partial derivatives.

    by_q, by_v and by_a (nv, nv): row k is tau[k]. by_tau (nv, nv) is by the forces of passive
    joints, by_need (nv, nv) by the forces that the tree needs for the motion. multipliers_by_q,
    multipliers_by_v, multipliers_by_a, multipliers_by_tau and multipliers_by_need are (m, nv).
    by_gravity (nv, 3) is by the acceleration of gravity in the ground. Those by q are along the
    tangents of model.integrate. Changes have a meaning where they keep the motion on the
    constraints.

    Arrays of time_derivatives have a first axis of orders (r + 1); by_a, by_tau and by_need have
    two. Entry [k, j] is tau^(k) by order j, zero for j > k. by_gravity is None there.

    >>> linkage.inverse.partial_derivatives(closed, rest, rest).by_need.shape
    (3, 3)
    """

    by_q: Array
    by_v: Array
    by_a: Array
    by_tau: Array
    by_need: Array
    tau: Array
    multipliers: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_a: Array
    multipliers_by_tau: Array
    multipliers_by_need: Array
    by_gravity: Any = None

    def by_parameters(self, forces: Array) -> SolvedArray:
        """
        Return how joint forces and multipliers vary with parameters of the tree.

        Args:
            forces: as for ConstrainedForwardJacobians.by_parameters.

        Returns:
            those of tau (nv, ...), with those of multipliers (m, ...) as an attribute.

        >>> found = linkage.inverse.partial_derivatives(closed, rest, rest)
        >>> found.by_parameters(np.eye(3)).shape
        (3, 3)
        """
        tau, multipliers = (by_parameters(each, forces) for each in (
            self.by_need, self.multipliers_by_need))
        return with_solution(tau, ConstrainedProduct(np.zeros_like(tau), tau, multipliers))


class ConstrainedInverseGradient(NamedTuple):
    """
    The partial derivatives by_q, by_v, by_a and by_tau of y . tau + z . multipliers, each (nv,).

    >>> linkage.inverse.partial_derivatives.gradient(closed, rest, rest, np.ones(3)).by_a.shape
    (3,)
    """

    by_q: Array
    by_v: Array
    by_a: Array
    by_tau: Array


class ConstrainedInverseSecondDerivatives(NamedTuple):
    """
    The second derivatives of tau and of the multipliers, but for those that are zero.

    by_qq, by_qv, by_vv, by_qa and by_qtau are (nv, nv, nv); multipliers_by_qq, multipliers_by_qv,
    multipliers_by_vv, multipliers_by_qa and multipliers_by_qtau (m, nv, nv). by_qa[i, k, j] is the
    derivative of dtau[i]/dq[k] by a[j], by_qtau by the forces of passive joints. by_qq is not
    symmetric between two coordinates of one spherical or free joint (13.5): the last index is that
    of the derivative that is taken last.

    >>> linkage.inverse.partial_derivatives.second_derivatives(closed, rest, rest).by_qa.shape
    (3, 3, 3)
    """

    by_qq: Array
    by_qv: Array
    by_vv: Array
    by_qa: Array
    by_qtau: Array
    multipliers_by_qq: Array
    multipliers_by_qv: Array
    multipliers_by_vv: Array
    multipliers_by_qa: Array
    multipliers_by_qtau: Array


class InverseKinematicJacobians(NamedTuple):
    """
    Jacobians of joint forces tau and multipliers by kinematic parameters.

    >>> linkage.inverse.partial_derivatives.by_kinematics(closed, rest, rest).tau.by_length.shape
    (3, 1)
    """

    tau: LoopKinematicJacobians
    multipliers: LoopKinematicJacobians


def inverse_jacobians_of(found: ConstrainedSolution, driven: Mask, by_forces: Blocks,
                         by_multipliers: Blocks, gravity: Array | None = None
                         ) -> ConstrainedInverseJacobians:
    """Return the result: forces that are given are needed no more."""
    by_tau, multipliers_by_tau = (-blocks[-1] * ~driven for blocks in (by_forces, by_multipliers))
    passive = np.flatnonzero(~driven)
    for k in range(len(by_tau) if by_tau.ndim > 2 else 1):
        (by_tau[k, k] if by_tau.ndim > 2 else by_tau)[passive, passive] += 1.0
    (by_q, by_v, by_a, by_need), (m_by_q, m_by_v, m_by_a, m_by_need) = by_forces, by_multipliers
    return ConstrainedInverseJacobians(
        by_q, by_v, by_a, by_tau, by_need, found.tau, found.multipliers, m_by_q, m_by_v, m_by_a,
        multipliers_by_tau, m_by_need, None if gravity is None else by_need @ gravity)
