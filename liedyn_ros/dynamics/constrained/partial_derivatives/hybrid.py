# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of the hybrid dynamics of machines with closed loops.

With F the coordinates whose force is given, the dynamics are M_FF a_F - A_F^T lam = rest_F and
A_F a_F = rest. The multipliers of least norm are lam = A_F mu. All three equations are varied.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, ConstrainedSolution, ConstraintStatus)
from liedyn_ros.dynamics.constrained.partial_derivatives.function_rows import require_series
from liedyn_ros.dynamics.constrained.partial_derivatives.systems import one_order, vary_equations
from liedyn_ros.dynamics.partial_derivatives.hybrid import hold, push
from liedyn_ros.dynamics.tree.inputs import mask

DEPENDENT = 1e-10  # smallest singular value of what is solved for, of the largest


class ConstrainedHybridJacobians(NamedTuple):
    """
    a and tau (nv,), the multipliers (m,), and their partial derivatives, one row for each.

    by_given is by what is known of each coordinate: its acceleration where it is prescribed, its
    force elsewhere. The rows of what is known itself are zero, and unit rows in by_given. Changes
    have a meaning where they keep the motion on the constraints. prescribed (nv,) is as it was
    given.
    """

    a: Array
    tau: Array
    multipliers: Array
    a_by_q: Array
    a_by_v: Array
    a_by_given: Array
    tau_by_q: Array
    tau_by_v: Array
    tau_by_given: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_given: Array
    prescribed: NDArray[np.bool_]

    def by_parameters(self, forces: Array) -> tuple[Array, Array, Array]:
        """Return how a, tau and multipliers vary, as ConstrainedJacobians.by_parameters says."""
        known = self.prescribed
        return (push(known, self.a_by_given, forces), hold(known, self.tau_by_given, forces),
                push(known, self.multipliers_by_given, forces))


def constrained_hybrid_partial_derivatives(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike,
        a: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None
        ) -> ConstrainedHybridJacobians:
    """
    Return a, tau, multipliers and their derivatives at a motion on the constraints.

    Arguments are those of dynamics.hybrid at order 0; external (B, 6) stay the same in the frames
    of their bodies. Raises what dynamics.hybrid raises, ModelError for functions without
    jacobian_series, and SingularError where what is prescribed breaks a loop, or constraints
    become dependent.
    """
    n = dynamics.model.nv
    q, v = dynamics.model.check_configuration(q), as_array('v', v, (n,))
    known = mask('prescribed', prescribed, n)
    require_series(dynamics)
    found = regular_hybrid(dynamics, q, v, known, a, tau, external)
    constraints, (forces,), (gaps,) = vary_equations(
        dynamics, q, np.vstack([v, found.a]), found.multipliers[None],
        one_order(dynamics, external))
    leans = constraints.vary_rows(potential(dynamics, q, known, found.multipliers)[None])[0]
    moved, needed, pressed = respond(dynamics, q, known, forces[2], Sides(
        np.hstack([*forces[:2], forces[2] * known - np.diag(1.0 * ~known)]),
        -np.hstack([*gaps[:2], gaps[2] * known]),
        np.hstack([leans, np.zeros((dynamics.m, 2 * n))])))
    given = np.eye(n)
    moved[known, 2 * n:], needed[~known, 2 * n:] = given[known], given[~known]
    a_by, tau_by, multipliers_by = (np.hsplit(x, 3) for x in (moved, needed, pressed))
    return ConstrainedHybridJacobians(
        found.a, found.tau, found.multipliers, a_by[0], a_by[1], a_by[2], tau_by[0], tau_by[1],
        tau_by[2], multipliers_by[0], multipliers_by[1], multipliers_by[2], known)


class Sides(NamedTuple):
    """
    What columns (c) change of the equations, where the motion and the multipliers stay.

    needs (nv, c): of the forces ID - A^T lam. gaps (m, c): -D(A a + A' v), which a_F must close.
    leans (m, c): of A_F mu, mu (nv,) being potential's.
    """

    needs: Array
    gaps: Array
    leans: Array


def regular_hybrid(dynamics: ConstrainedDynamics, q: Array, v: Array, known: NDArray[np.bool_],
                   a: ArrayLike, tau: ArrayLike, external: ArrayLike | None
                   ) -> ConstrainedSolution:
    """Return the solution of hybrid dynamics where it has derivatives, or raise."""
    found = dynamics.hybrid(q, v, known, a, tau, external=external)
    require_solved(found)
    return found


def potential(dynamics: ConstrainedDynamics, q: Array, known: NDArray[np.bool_],
              multipliers: Array) -> Array:
    """Return mu (nv,), zero where accelerations are known, with A_F mu = lam."""
    mu = np.zeros(len(known))
    mu[~known] = np.linalg.lstsq(
        dynamics.jacobian(q)[:, ~known], multipliers, rcond=DEPENDENT)[0]
    return mu


def respond(dynamics: ConstrainedDynamics, q: Array, known: NDArray[np.bool_], mass: Array,
            sides: Sides) -> tuple[Array, Array, Array]:
    """Return how a, tau (nv, c) and the multipliers (m, c) follow; zero where they are given."""
    jacobian, free, (n, columns) = dynamics.jacobian(q), ~known, sides.needs.shape
    f, m, loose = int(free.sum()), dynamics.m, jacobian[:, free]
    matrix = np.zeros((f + 2 * m, 2 * f + m))  # of a_F, lam and mu
    matrix[:f, :f], matrix[:f, f:f + m] = mass[np.ix_(free, free)], -loose.T
    matrix[f:f + m, :f] = loose
    matrix[f + m:, f:f + m], matrix[f + m:, f + m:] = np.eye(m), -loose
    solved = np.linalg.lstsq(
        matrix, np.vstack([-sides.needs[free], sides.gaps, sides.leans]), rcond=DEPENDENT)[0]
    moved, pressed = np.zeros((n, columns)), as_array(
        'derivatives', solved[f:f + m], (m, columns))
    moved[free] = solved[:f]
    needed = sides.needs + mass @ moved - jacobian.T @ pressed
    needed[free] = 0.0
    return moved, needed, pressed


def require_solved(found: ConstrainedSolution) -> None:
    """Raise SingularError where what is prescribed breaks a loop, or the machine is singular."""
    if found.status in (ConstraintStatus.SINGULAR, ConstraintStatus.INCONSISTENT):
        raise SingularError('prescribed: expected accelerations that the constraints allow, in a '
                            f'configuration that is not singular, got {found.status.value}')
