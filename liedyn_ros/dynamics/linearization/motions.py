# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motions of many steps, of trees and loops, the gradient of their cost, of a step (13.56)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LiedynError, LimitError, SingularityWarning, warn
from liedyn_ros.dynamics.constrained import (
    constrained_stormer_verlet, ConstrainedDynamics, MinimalCoordinates, projected_runge_kutta)
from liedyn_ros.dynamics.constrained.constraints.rank import passes_singularity
from liedyn_ros.dynamics.constrained.minimal_motions import directions, spread
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators import runge_kutta_munthe_kaas, stormer_verlet
from liedyn_ros.dynamics.linearization.closed_loops import projection, pull_verlet
from liedyn_ros.dynamics.linearization.linear_models import lifted, LinearModel, reduced, Robot
from liedyn_ros.dynamics.linearization.variational_steps import rate_by_chart, Step
from liedyn_ros.dynamics.tree.kernels.kinematics import exponential_rate
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


Controller: TypeAlias = Callable[[float, Array, Array], ArrayLike]
Cost: TypeAlias = Callable[[int, Array, Array], tuple[float, ArrayLike, ArrayLike]]
_STEPS: dict[str, tuple[Callable[..., tuple[Array, Array]], ...]] = {  # of trees, and of loops
    RUNGE_KUTTA: (runge_kutta_munthe_kaas.step, projected_runge_kutta.step),
    STORMER_VERLET: (stormer_verlet.step, constrained_stormer_verlet.step)}


class SimulatedMotion(NamedTuple):
    """
    The states of a motion, t (K + 1,), s, q (K + 1, nq), v (K + 1, nv), and its tau (K, nv).

    >>> motion = ld.simulate(robot, q, v, lambda t, q, v: 0.0 * v, 1e-3, 10)
    >>> motion.t.shape, motion.tau.shape
    ((11,), (10, 6))
    """

    t: Array
    q: Array
    v: Array
    tau: Array


class MotionGradient(NamedTuple):
    """
    A cost, its gradient by_q and by_v (nv,), of the first state, and by_tau (K, nv).

    >>> def cost(k, q, v):
    ...     return 0.5 * v @ v, np.zeros(6), v
    >>> ld.motion_gradient(robot, q, v, np.zeros((5, 6)), 1e-3, cost).by_q.shape
    (6,)
    """

    cost: float
    by_q: Array
    by_v: Array
    by_tau: Array


def simulate(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike | Controller, dt: float,
             steps: int, *, external: ArrayLike | None = None, scheme: str = RUNGE_KUTTA
             ) -> SimulatedMotion:
    """
    Return the motion of a robot under joint forces; loops stay closed.

    The scheme is of fourth order; STORMER_VERLET keeps energy in long motions without dissipation.
    A SingularityWarning tells when loops have passed a singular configuration.

    Args:
        robot: a Dynamics, a ConstrainedDynamics or MinimalCoordinates.
        q: configuration (nq,) at the start; rad and m.
        v: velocity (nv,) at the start; rad/s and m/s.
        tau: joint forces (nv,), N m and N, or (steps, nv) with a row a step, or what a controller
            of time, q and v returns at each step, which holds it.
        dt: step, s.
        steps: how many.
        external: wrenches (B, 6) on bodies; by default none.
        scheme: RUNGE_KUTTA or STORMER_VERLET.

    Returns:
        a SimulatedMotion of steps + 1 states.

    Raises:
        LimitError: for another scheme.
        LiedynError: for a start off the loops, which `project` moves onto them, and as its steps;
            `indices` has the number of that step.

    >>> weightless = ld.simulate(robot, q, v, lambda t, q, v: robot.gravity_vector(q), 1e-3, 100)
    >>> weightless.q.shape
    (101, 6)
    """
    require_scheme(scheme)
    if isinstance(robot, MinimalCoordinates):
        forces = partial(_led, robot, tau) if callable(tau) else spread(robot, tau)
        whole = simulate(robot.dynamics, q, robot.velocity(q, v), forces, dt, steps,
                         external=external, scheme=scheme)
        return whole._replace(v=whole.v[:, robot.known], tau=whole.tau[:, robot.known])
    step = _STEPS[scheme][isinstance(robot, ConstrainedDynamics)]
    dt, steps, model = as_positive('dt', dt), _count('steps', steps, 0), robot.model
    times = np.asarray(dt * np.arange(steps + 1), np.float64)
    made = SimulatedMotion(times, np.empty((steps + 1, model.nq)), np.empty((steps + 1, model.nv)),
                           np.empty((steps, model.nv)))
    made.q[0], made.v[0] = model.check_configuration(q), as_array('v', v, (model.nv,))
    if isinstance(robot, ConstrainedDynamics):
        robot.require_closed_state(made.q[0], made.v[0])
    if not callable(tau):
        shape = () if np.ndim(tau) < 2 else (steps,)
        made.tau[:] = as_array('tau', tau, (*shape, model.nv))
    for k in range(steps):
        if callable(tau):
            made.tau[k] = as_array('tau', tau(made.t[k], made.q[k], made.v[k]), (model.nv,))
        try:
            made.q[k + 1], made.v[k + 1] = step(
                robot, made.q[k], made.v[k], dt, made.tau[k], external)
        except LiedynError as error:
            advice = f'; where damping or springs are stiff, dt has to be shorter than {dt} s'
            error.indices, error.args = (k,), (f'step {k}: {error}{advice if k else ""}',)
            raise
    return _watched(robot, made) if isinstance(robot, ConstrainedDynamics) else made


def motion_gradient(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: float,
                    cost: Cost, *, external: ArrayLike | None = None, scheme: str = RUNGE_KUTTA,
                    kept: int | None = None) -> MotionGradient:
    """
    Return the cost of the states of a motion and its gradient, backwards over the steps.

    States between stored ones are computed again: memory grows with the root of the steps.

    Args:
        robot: a Dynamics, a ConstrainedDynamics or MinimalCoordinates.
        q: configuration (nq,) at the start; rad and m.
        v: velocity (nv,) at the start; rad/s and m/s.
        tau: joint forces (steps, nv), N m and N.
        dt: step, s.
        cost: function of k, q and v that returns the cost of state k, from 0 to steps, and its
            gradients (nv,) by q, along tangents of model.integrate, and by v.
        external: wrenches (B, 6) on bodies; by default none.
        scheme: RUNGE_KUTTA or STORMER_VERLET.
        kept: steps from one stored state to the next, by default the root of their number.

    Returns:
        the cost, and its gradient by q, v and tau.

    Raises:
        LimitError: for another scheme or count.
        LiedynError: as simulate and linearize_step.

    >>> def cost(k, q, v):
    ...     return 0.5 * v @ v, np.zeros(6), v
    >>> ld.motion_gradient(robot, q, v, np.zeros((5, 6)), 1e-3, cost).by_tau.shape
    (5, 6)
    """
    if isinstance(robot, MinimalCoordinates):
        total, *by, by_tau = motion_gradient(
            robot.dynamics, q, robot.velocity(q, v), spread(robot, tau), dt, partial(
                _spread_cost, robot, cost), external=external, scheme=scheme, kept=kept)
        by_q, by_v = np.split(np.concatenate(by) @ directions(robot, q, v), 2)
        return MotionGradient(total, by_q, by_v, by_tau[:, robot.known])
    tau = as_array('tau', tau, (-1, robot.model.nv))
    model, (count, n) = robot.model, tau.shape
    every = max(1, math.isqrt(count)) if kept is None else _count('kept', kept, 1)
    run, kept_states = partial(simulate, robot, external=external, scheme=scheme), [
        (model.check_configuration(q), as_array('v', v, (n,)))]
    for first in range(0, count - every, every):
        ahead = run(*kept_states[-1], tau[first:first + every], dt, every)
        kept_states.append((ahead.q[-1].copy(), ahead.v[-1].copy()))
    total, by_tau, by_after = 0.0, np.zeros_like(tau), np.zeros_like(tau, shape=2 * n)
    for block in reversed(range(len(kept_states))):
        rows = tau[(first := block * every):(block + 1) * every]
        states = run(*kept_states[block], rows, dt, len(rows))
        if first + len(rows) == count:
            part, by_after = _cost_of(cost, count, states.q[-1], states.v[-1], n)
            total += part
        for k in reversed(range(len(rows))):
            by_after, by_tau[first + k] = _pulled(robot, scheme, Step(
                states.q[k], states.v[k], states.q[k + 1], states.v[k + 1], dt, rows[k],
                external), by_after)
            part, own = _cost_of(cost, first + k, states.q[k], states.v[k], n)
            total, by_after = total + part, by_after + own
    return MotionGradient(total, by_after[:n], by_after[n:], by_tau)


def _watched(robot: ConstrainedDynamics, made: SimulatedMotion) -> SimulatedMotion:
    """Return the motion; warn where closed loops passed a singular configuration."""
    rows, passed = robot.jacobian(made.q[0]), list[float]()
    for t, q in zip(made.t, made.q[1:]):
        before, rows = rows, robot.jacobian(q)
        passed += [t] * passes_singularity(before, rows)
    if passed:
        warn(f'simulate: expected a motion that its forces decide, got one through {len(passed)} '
             f'singular configurations, the first after t = {passed[0]:.6g} s, where loops can go '
             'on in several ways; look at the motion until there', SingularityWarning)
    return made


def _pulled(robot: Dynamics | ConstrainedDynamics, scheme: str, taken: Step, by: Array
            ) -> tuple[Array, Array]:
    """Return the gradients by the state before a step (2 nv,) and by tau of that behind it."""
    by_state, by_tau = pull_verlet(robot, taken, by[None]) if scheme == STORMER_VERLET else (
        pull_step(robot, taken.q, taken.v, *taken[4:], by[None])[2:])
    return by_state[0], by_tau[0]


def _led(least: MinimalCoordinates, controller: Controller, t: float, q: Array, v: Array
         ) -> Array:
    """Return the forces of all coordinates by a controller of independent ones."""
    return spread(least, controller(t, q, v[least.known]))


def _spread_cost(least: MinimalCoordinates, cost: Cost, k: int, q: Array, v: Array
                 ) -> tuple[float, Array, Array]:
    """Return a cost by independent coordinates, and its gradients by all."""
    value, by_q, by_v = cost(k, q, v[least.known])
    return value, spread(least, by_q), spread(least, by_v)


def _cost_of(cost: Cost, k: int, q: Array, v: Array, nv: int) -> tuple[float, Array]:
    """Return the cost of state k and its gradient (2 nv,)."""
    value, by_q, by_v = cost(k, q, v)
    return float(value), np.concatenate((
        as_array('by_q', by_q, (nv,)), as_array('by_v', by_v, (nv,))))


def _count(name: str, value: int, least: int) -> int:
    if not isinstance(value, int | np.integer) or value < least:
        raise LimitError(f'{name}: expected a whole number of {least} or more, got {value!r}',
                         names=[name], expected=least, got=value)
    return int(value)
