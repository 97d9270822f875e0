# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Linear models of a machine with closed loops about a state, and along a motion (13.9)."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, project
from liedyn_ros.dynamics.linearization.trees import along, follow, LinearModel, of_jacobians


def linearize_constrained(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike,
                          tau: ArrayLike, external: ArrayLike | None = None) -> LinearModel:
    """
    Return the continuous model about a motion of a machine with closed loops (13.48).

    As for linearize, with displacements eta and dv of all coordinates. Those of a machine satisfy
    A eta = 0, and the motion of the model preserves it. Raises the errors of
    dynamics.forward.partial_derivatives.
    """
    at = dynamics.forward.partial_derivatives(q, v, tau, external=external)
    return of_jacobians(dynamics.model, np.asarray(v), at.by_q, at.by_v, at.by_tau)


def linearize_constrained_along(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
        external: ArrayLike | None = None) -> LinearModel:
    """
    Return the continuous models along a trajectory, A (K, 2 nv, 2 nv) and B (K, 2 nv, nv).

    q (K, nq), v and tau (K, nv), external (K, B, 6): a state a row, on the constraints. Raises
    the errors of linearize_constrained.
    """
    return along(dynamics.model, partial(linearize_constrained, dynamics), q, v, tau, external)


def constrained_transition(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
        external: ArrayLike | None = None, tolerance: float = 1e-10,
        budget: Budget | None = None) -> tuple[Array, Array, LinearModel]:
    """
    Return q (nq,) and v (nv,) after dt (s) under held forces, and the discrete model of the step.

    As for transition. The step begins on the constraints and ends there, by a projection of what
    the integration has left open. Raises the errors of dynamics.forward.partial_derivatives and
    project, LimitError, ConvergenceError where the step becomes too small, or BudgetError.
    """
    dynamics.require_closed(q, v)

    def at(q: Array, v: Array, tau: Array) -> tuple[Array, LinearModel]:
        found = dynamics.forward.partial_derivatives(
            q, v, tau, external=external, closed=False)
        return found.a, of_jacobians(dynamics.model, v, found.by_q, found.by_v, found.by_tau)

    if external is not None:
        external = as_array('external', external, (len(dynamics.model.bodies), 6))
    q, v, step = follow(dynamics.model, at, q, v, dt, tau, tolerance, budget)
    return *project(dynamics, q, v), step
