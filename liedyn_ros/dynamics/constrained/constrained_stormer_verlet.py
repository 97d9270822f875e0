# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A variational integrator of second order on the constraints: RATTLE on Lie groups.

It is the step of trees (theory 3.4) with forces of constraints at both ends. Those at the start
lead to a closed configuration, those at the end to a velocity along the constraints (12.38). The
energy error stays bounded: use it for long simulations without dissipation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import ConvergenceError, SingularError
from liedyn_ros.dynamics.constrained.configurations.mobility import independent_constraints
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import STALLED_RESIDUAL
from liedyn_ros.dynamics.integrators.stormer_verlet import Flow

CONSTRAINED_ITERATIONS = 50


def step(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
         external: ArrayLike | None = None) -> tuple[Array, Array]:
    """
    Return the configuration (nq,) and velocity (nv,) after a time dt (s), above zero.

    The joint forces tau (nv,) and the wrenches on bodies are held over the step; dissipation is
    that of the velocity it starts with. Raises LiedynError for a state off the constraints, the
    errors of Dynamics.forward, and ConvergenceError when the step is too long for the motion.
    """
    model, dt = dynamics.model, as_positive('dt', dt)
    q, v = model.check_configuration(q), as_array('v', v, (model.nv,))
    dynamics.require_closed_state(q, v)
    flow, rows = Flow(dynamics.tree, v, dt, tau, external), independent_constraints(dynamics, q)
    momentum = flow.momentum(q, v) + flow.half_kick(q)
    q1, momentum = _closed(dynamics, flow, rows, q, v, dt, momentum)
    momentum = momentum + flow.half_kick(q1)
    jacobian = dynamics.jacobian(q1)[rows]
    response = _responses(flow, q1, jacobian)
    v1 = flow.velocity(q1, momentum)
    for _ in range(2):  # the second takes what rounding leaves over
        v1 = v1 - response @ _solve(jacobian @ response, jacobian @ v1)
    return q1, v1


def _closed(dynamics: ConstrainedDynamics, flow: Flow, rows: NDArray[np.int64], q: Array, v: Array,
            dt: float, momentum: Array) -> tuple[Array, Array]:
    """
    Return the closed configuration after a drift, and the momentum on arrival.

    Newton's method on the impulses of independent constraints at q, with the Jacobian of the
    arrival. It ends where rounding stops it. Rates are as near as the loops are closed until then.
    """
    before = dynamics.jacobian(q)[rows]
    response, rate, last = _responses(flow, q, before), v, np.inf
    impulse: Array = np.zeros(len(rows))
    for _ in range(CONSTRAINED_ITERATIONS):
        enough = last if last > STALLED_RESIDUAL else 0.0
        rate, arrived = flow.drift(q, rate, momentum + before.T @ impulse, enough)
        q1 = flow.arrival(q, rate)
        residual, jacobian = dynamics.residual_and_jacobian(q1)
        open_by = dynamics.largest(residual)
        if enough == 0.0 and (open_by == 0.0 or last <= open_by <= STALLED_RESIDUAL):
            return q1, arrived
        impulse = impulse - _solve(dt * (jacobian[rows] @ response), residual[rows])
        last = open_by
    raise ConvergenceError(f'step: expected {CONSTRAINED_ITERATIONS} iterations to close the '
                           f'loops, they are '
                           f'open by {last:.3g}; take a shorter step than {dt} s')


def _responses(flow: Flow, q: Array, jacobian: Array) -> Array:
    """Return M^-1 A^T (nv, r) of constraints (r, nv)."""
    return np.array([flow.response(q, row) for row in np.ascontiguousarray(jacobian)]).reshape(
        jacobian.shape).T


def _solve(matrix: Array, sides: Array) -> Array:
    """Solve for the impulses, or raise SingularError."""
    try:
        return np.asarray(np.linalg.solve(matrix, sides))
    except np.linalg.LinAlgError as error:
        raise SingularError('step: expected constraints that stay independent over a step, got a '
                            'singular configuration') from error
