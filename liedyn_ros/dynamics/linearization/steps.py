# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The derivatives of steps: a Runge-Kutta step, backwards stage by stage (13.56)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics.constrained import (
    constrained_stormer_verlet, ConstrainedDynamics, MinimalCoordinates)
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators import stormer_verlet
from liedyn_ros.dynamics.linearization.closed_loops import projection, pull_verlet
from liedyn_ros.dynamics.linearization.linear_models import (
    lifted, LinearModel, reduced, Robot)
from liedyn_ros.dynamics.linearization.variational_steps import rate_by_chart, Step
from liedyn_ros.dynamics.tree.kernels.retraction import exponential_rate
from liedyn_ros.model.configuration import difference_derivatives

RUNGE_KUTTA, STORMER_VERLET = 'runge_kutta', 'stormer_verlet'


def linearize_step(dynamics: Robot, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
                   external: ArrayLike | None = None, scheme: str = RUNGE_KUTTA
                   ) -> tuple[Array, Array, LinearModel]:
    """
    Return the state after a step of an integrator, and the derivatives of the step.

    The model is discrete: x' = A x + B dtau, with x = (eta, dv) before and after the step, eta
    along the tangents of model.integrate. It is exact for the numbers of the step, where
    transition is that of the motion. Displacements that open loops are projected. Where
    constraints are redundant, only those that keep them have a meaning.

    Args:
        dynamics: a Dynamics, a ConstrainedDynamics or MinimalCoordinates.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        dt: time step; s.
        tau: joint forces (nv,); N m and N.
        external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame of
            its body; by default none.
        scheme: RUNGE_KUTTA or STORMER_VERLET, as of simulate.

    Returns:
        q (nq,), v (nv,) and the model.

    Raises:
        LimitError: for another scheme.
        ConvergenceError: where a step is so long that it ends far from the constraints.
        LiedynError: for a state that is wrong or open.

    >>> linearize_step(robot, q, v, 0.01, tau)[2].A.shape
    (12, 12)
    """
    require_scheme(scheme)
    if isinstance(dynamics, MinimalCoordinates):
        whole, _, rates, forces = lifted(dynamics, q, v, tau)
        q1, v1, linear = linearize_step(whole, q, rates, dt, forces, external, scheme)
        return q1, v1[dynamics.known], reduced(dynamics, q, v, linear)
    model, dt = dynamics.model, as_positive('dt', dt)
    q, v, every = model.check_configuration(q), as_array('v', v, (model.nv,)), np.eye(2 * model.nv)
    if scheme == STORMER_VERLET:
        step: Callable[..., tuple[Array, Array]] = constrained_stormer_verlet.step if isinstance(
            dynamics, ConstrainedDynamics) else stormer_verlet.step
        taken = Step(q, v, *step(dynamics, q, v, dt, tau, external), dt, tau, external)
        return taken.q1, taken.v1, LinearModel(*pull_verlet(dynamics, taken, every))
    if isinstance(dynamics, ConstrainedDynamics):
        dynamics.require_closed_state(q, v)
    q, v, by_state, by_tau = pull_step(dynamics, q, v, dt, tau, external, every)
    return q, v, LinearModel(by_state, by_tau)


def require_scheme(scheme: str) -> None:
    """Raise LimitError for another scheme."""
    if scheme not in (RUNGE_KUTTA, STORMER_VERLET):
        raise LimitError(
            f'scheme: expected {RUNGE_KUTTA!r} or {STORMER_VERLET!r}, got {scheme!r}')


def pull_step(dynamics: Dynamics | ConstrainedDynamics, q: Array, v: Array, dt: float,
              tau: ArrayLike, external: ArrayLike | None, by: Array
              ) -> tuple[Array, Array, Array, Array]:
    """
    Return q, v after a Runge-Kutta step, by A (k, 2 nv) and by B (k, nv), for by (k, 2 nv).

    A gradient takes the place of Jacobians where k is 1.
    """
    model, n, options = dynamics.model, dynamics.model.nv, dict[str, Any]()
    table = (dynamics if isinstance(dynamics, Dynamics) else dynamics.tree).constants.table
    if isinstance(dynamics, ConstrainedDynamics):
        options['closed'] = False
    derivatives: Any = dynamics.forward.partial_derivatives
    shares, weights = (0.5, 0.5, 1.0, 0.0), (dt / 6.0, dt / 3.0, dt / 3.0, dt / 6.0)
    x, moved, rise = np.zeros((3, n))
    rate, places = v, list[tuple[Array, Array, Array, Any]]()
    for share, weight in zip(shares, weights):
        at, dx = model.integrate(q, x), np.empty(n)
        exponential_rate(table, x, rate, dx)
        found = None if len(by) == 1 else derivatives(at, rate, tau, external, **options)
        places.append((x, rate, at, found))
        a = np.asarray(dynamics.forward(at, rate, tau, external, **options)
                       if found is None else found.a)
        x, rate, moved, rise = (share * dt * dx, v + share * dt * a, moved + weight * dx,
                                rise + weight * a)
    q1, v1 = model.integrate(q, moved), v + rise
    if isinstance(dynamics, ConstrainedDynamics):
        q1, v1, rows = projection(dynamics, q1, v1)
        by = by @ rows
    turn = model.integrate_derivatives(q, moved)
    by_q, by_v, by_tau = by[:, :n] @ turn.by_q, by[:, n:].copy(), np.zeros((len(by), n))
    by_moved, by_rise = by[:, :n] @ turn.by_dv, by[:, n:]
    of_dx, of_dv = weights[3] * by_moved, weights[3] * by_rise  # of the last stage
    for k in reversed(range(4)):
        x, rate, at, found = places[k]
        if found is None:
            found = derivatives.gradient(at, rate, tau, of_dv[0], external, **options)
            of_at, of_rate, of_tau = found.by_q[None], found.by_v[None], found.by_tau[None]
        else:
            of_at, of_rate, of_tau = (of_dv @ each for each in (
                found.by_q, found.by_v, found.by_tau))
        turn = model.integrate_derivatives(q, x)
        by_q += of_at @ turn.by_q
        of_x = of_at @ turn.by_dv + of_dx @ rate_by_chart(model, x, rate)
        of_rate = of_rate + of_dx @ difference_derivatives(model.link_table, x).by_q1
        by_v += of_rate
        by_tau += of_tau
        step = shares[k - 1] * dt
        of_dx, of_dv = (weights[k - 1] * by_moved + step * of_x,
                        weights[k - 1] * by_rise + step * of_rate)
    return q1, v1, np.hstack((by_q, by_v)), by_tau
