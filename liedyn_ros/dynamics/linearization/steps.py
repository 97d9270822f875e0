# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The derivatives of steps: a Runge-Kutta step stage by stage (13.56)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, MinimalCoordinates
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators import stormer_verlet
from liedyn_ros.dynamics.linearization.closed_loops import (
    projection, pull_verlet_step, verlet_step)
from liedyn_ros.dynamics.linearization.linear_models import (
    lifted, LinearModel, reduced, Robot)
from liedyn_ros.dynamics.linearization.variational_steps import (
    pull_variational_step, rate_by_chart, Step, varied_variational_step)
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
    q, v = model.check_configuration(q), as_array('v', v, (model.nv,))
    if scheme == STORMER_VERLET:
        if isinstance(dynamics, ConstrainedDynamics):
            return verlet_step(dynamics, q, v, dt, tau, external)
        taken = Step(q, v, *stormer_verlet.step(dynamics, q, v, dt, tau, external), dt, tau,
                     external)
        none = np.zeros((0, model.nv))
        return taken.q1, taken.v1, varied_variational_step(
            dynamics, taken, none, none, lambda q, v, y: (np.zeros((model.nv, model.nv)), none))

    if isinstance(dynamics, ConstrainedDynamics):
        dynamics.require_closed_state(q, v)
        q, v, linear = _stages(
            dynamics.tree, lambda q, v: dynamics.forward.partial_derivatives(
                q, v, tau, external, closed=False), q, v, dt)
        q, v, rows = projection(dynamics, q, v)
        return q, v, LinearModel(rows @ linear.A, rows @ linear.B)
    return _stages(dynamics, lambda q, v: dynamics.forward.partial_derivatives(
        q, v, tau, external), q, v, dt)


def require_scheme(scheme: str) -> None:
    """Raise LimitError for another scheme."""
    if scheme not in (RUNGE_KUTTA, STORMER_VERLET):
        raise LimitError(
            f'scheme: expected {RUNGE_KUTTA!r} or {STORMER_VERLET!r}, got {scheme!r}')


def _stages(tree: Dynamics, accelerate: Callable[[Array, Array], Any], q: Array, v: Array,
            dt: float) -> tuple[Array, Array, LinearModel]:
    """Return q (nq,) and v (nv,) after the stages of a step, with their derivatives."""
    model, n, table = tree.model, tree.model.nv, tree.constants.table
    moved, faster, pushed = np.split(np.eye(3 * n), 3)

    def stage(x: Array, by_x: Array, rate: Array, by_rate: Array
              ) -> tuple[Array, Array, Array, Array]:
        """Return dx, dv and their derivatives (nv, 3 nv) at coordinates x about q."""
        dx, turn = np.empty(n), model.integrate_derivatives(q, x)
        exponential_rate(table, x, rate, dx)
        at = accelerate(model.integrate(q, x), rate)
        place = turn.by_q @ moved + turn.by_dv @ by_x
        by_dx = difference_derivatives(model.link_table, x).by_q1 @ by_rate + rate_by_chart(
            model, x, rate) @ by_x
        return dx, at.a, by_dx, at.by_q @ place + at.by_v @ by_rate + at.by_tau @ pushed

    first = stage(np.zeros(n), np.zeros_like(moved), v, faster)
    stages = [first]
    for share in (0.5, 0.5, 1.0):
        dx, dv, by_dx, by_dv = stages[-1]
        step = share * dt
        stages.append(stage(step * dx, step * by_dx, v + step * dv, faster + step * by_dv))
    x, rise, by_x, by_rise = (
        dt / 6.0 * (a + 2.0 * (b + c) + d) for a, b, c, d in zip(*stages))
    turn = model.integrate_derivatives(q, x)
    rows = np.vstack([turn.by_q @ moved + turn.by_dv @ by_x, faster + by_rise])
    return model.integrate(q, x), v + rise, LinearModel(rows[:, :2 * n], rows[:, 2 * n:])


def pull_verlet(dynamics: Dynamics | ConstrainedDynamics, taken: Step, by: Array
                ) -> tuple[Array, Array]:
    """Return A^T by (2 nv,) and B^T by (nv,) of a step of STORMER_VERLET, without A and B."""
    if isinstance(dynamics, ConstrainedDynamics):
        return pull_verlet_step(dynamics, taken, by)
    none = np.zeros((0, dynamics.model.nv))
    return pull_variational_step(
        dynamics, taken, none, none, lambda q, y, p, v, s: np.zeros_like(v), by)


def pull_step(dynamics: Dynamics | ConstrainedDynamics, q: Array, v: Array, dt: float, tau: Array,
              external: ArrayLike | None, by: Array) -> tuple[Array, Array]:
    """Return A^T by (2 nv,) and B^T by (nv,) of a Runge-Kutta step, without A and B."""
    model, n, options = dynamics.model, dynamics.model.nv, dict[str, Any]()
    table = (dynamics if isinstance(dynamics, Dynamics) else dynamics.tree).constants.table
    if isinstance(dynamics, ConstrainedDynamics):
        options['closed'] = False
    shares, weights = (0.5, 0.5, 1.0, 0.0), (dt / 6.0, dt / 3.0, dt / 3.0, dt / 6.0)
    x, moved, rise = np.zeros((3, n))
    rate, places = v, list[tuple[Array, Array, Array]]()
    for share, weight in zip(shares, weights):
        at, dx = model.integrate(q, x), np.empty(n)
        exponential_rate(table, x, rate, dx)
        places.append((x, rate, at))
        a = np.asarray(dynamics.forward(at, rate, tau, external, **options))
        x, rate, moved, rise = (share * dt * dx, v + share * dt * a, moved + weight * dx,
                                rise + weight * a)
    if isinstance(dynamics, ConstrainedDynamics):
        by = by @ projection(dynamics, model.integrate(q, moved), v + rise)[2]
    turn = model.integrate_derivatives(q, moved)
    by_q, by_v, by_tau = turn.by_q.T @ by[:n], by[n:].copy(), np.zeros(n)
    by_moved, by_rise = turn.by_dv.T @ by[:n], by[n:]
    of_dx, of_dv = weights[3] * by_moved, weights[3] * by_rise  # of the last stage
    for k in reversed(range(4)):
        x, rate, at = places[k]
        found = dynamics.forward.partial_derivatives.gradient(
            at, rate, tau, of_dv, external, **options)
        turn = model.integrate_derivatives(q, x)
        by_q += turn.by_q.T @ found.by_q
        of_x = turn.by_dv.T @ found.by_q + rate_by_chart(model, x, rate).T @ of_dx
        of_rate = found.by_v + difference_derivatives(model.link_table, x).by_q1.T @ of_dx
        by_v += of_rate
        by_tau += found.by_tau
        step = shares[k - 1] * dt
        of_dx, of_dv = (weights[k - 1] * by_moved + step * of_x,
                        weights[k - 1] * by_rise + step * of_rate)
    return np.concatenate((by_q, by_v)), by_tau
