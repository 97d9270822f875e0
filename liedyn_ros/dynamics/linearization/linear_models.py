# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Linear models of a machine about a state, and along a motion (13.9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, MinimalCoordinates, project
from liedyn_ros.dynamics.constrained.minimal_motions import all_accelerations, directions, spread
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators.runge_kutta_munthe_kaas import chart_rate
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import velocity_brackets
from liedyn_ros.model import Model

MAX_EVALUATIONS = 100_000  # of a motion over one step, unless a caller has another budget
Robot: TypeAlias = Dynamics | ConstrainedDynamics | MinimalCoordinates


class LinearModel(NamedTuple):
    """
    dx/dt = A x + B dtau, or x' = A x + B dtau after a step.

    x = (eta, dv) (2 nv,): the displaced configuration is model.integrate(q, eta), the velocity
    v + dv. A is (2 nv, 2 nv), B (2 nv, nv); along a trajectory both have a leading axis K.

    >>> linearize(robot, q, v, tau).B.shape
    (12, 6)
    """

    A: Array
    B: Array

    def discrete(self, dt: float, *, ramp: bool = False) -> LinearModel:
        """
        Return the step of a continuous model, exact for constant A and B.

        The forces are constant too. Where the machine moves, A and B change within the step: see
        transition.

        Args:
            dt: length of the step; s.
            ramp: whether forces change linearly to the next step's; B (2 nv, 2 nv) then has a
                second block for these: x' = A x + B (dtau, dtau').

        Returns:
            the discrete model.

        Raises:
            LimitError: for a step that is not above 0, or grows beyond all numbers.

        >>> linearize(robot, q, v, tau).discrete(0.01).A.shape
        (12, 12)
        """
        from scipy.linalg import expm  # which takes long to import, and no stream needs it
        dt, (*leading, size, inputs) = as_positive('dt', dt), self.B.shape
        width = size + (2 if ramp else 1) * inputs
        block = np.zeros((*leading, width, width))
        if ramp:
            block[..., size:size + inputs, size + inputs:] = np.eye(inputs)
        with np.errstate(over='ignore', invalid='ignore'):  # what overflows is refused
            block[..., :size, :size] = dt * self.A
            block[..., :size, size:size + inputs] = dt * self.B
            _require_finite('dt', f'{dt:g} s', self, block)
            power = expm(block)[..., :size, :]  # (13.49)
            if ramp:
                power[..., size:size + inputs] -= power[..., size + inputs:]
        _require_finite('dt', f'{dt:g} s', self, power)
        return LinearModel(power[..., :size], power[..., size:])


def linearize(dynamics: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
              external: ArrayLike | None = None) -> LinearModel:
    """
    Return the continuous model about a motion, which need not be at rest (13.48).

    It has displacements eta and dv of all coordinates. Those of a machine with loops satisfy
    A eta = 0, which the motion of the model preserves; regulators need those of its
    MinimalCoordinates, of as many states as it has.

    Args:
        dynamics: a Dynamics, a ConstrainedDynamics or MinimalCoordinates.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        tau: joint forces (nv,); N m and N.
        external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame of
            its body; by default none.

    Returns:
        A (2 nv, 2 nv) and B (2 nv, nv).

    Raises:
        LimitError: where the model is not finite.
        LiedynError: for a state that is wrong or open.

    >>> linearize(robot, q, v, tau).A.shape
    (12, 12)
    """
    if isinstance(dynamics, MinimalCoordinates):
        whole, _, rates, forces = lifted(dynamics, q, v, tau)
        at = all_accelerations(dynamics, q, rates, forces, external)
        return reduced(dynamics, q, v, _of_jacobians(
            whole.model, rates, at.by_q, at.by_v, at.by_tau))
    found = dynamics.forward.partial_derivatives(q, v, tau, external)
    return _of_jacobians(dynamics.model, np.asarray(v), found.by_q, found.by_v, found.by_tau)


def lifted(least: MinimalCoordinates, q: ArrayLike, v: ArrayLike, tau: ArrayLike
           ) -> tuple[ConstrainedDynamics, ArrayLike, Array, Array]:
    """Return the whole machine, and a state and forces of independent coordinates as its own."""
    return least.dynamics, q, least.velocity(q, v), spread(least, tau)


def reduced(least: MinimalCoordinates, q: ArrayLike, v: ArrayLike, whole: LinearModel
            ) -> LinearModel:
    """Return the model of independent coordinates, from one of the whole machine (13.49a)."""
    kept = np.tile(least.known, 2)
    return LinearModel(whole.A[kept] @ directions(least, q, v), whole.B[kept][:, least.known])


def _of_jacobians(model: Model, v: Array, by_q: Array, by_v: Array, by_tau: Array) -> LinearModel:
    """Return the model whose accelerations have these Jacobians (13.48)."""
    n = model.nv
    a, b = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))
    a[:n, :n], a[:n, n:] = -velocity_brackets(model, v), np.eye(n)
    a[n:, :n], a[n:, n:], b[n:] = by_q, by_v, by_tau
    linear = LinearModel(a, b)
    _require_finite('v', f'{np.abs(v).max(initial=0.0):g} as the largest', linear, a, b)
    return linear


def _require_finite(name: str, given: str, linear: LinearModel, *results: Array) -> None:
    """Raise LimitError where a result that follows from a linear model is not finite."""
    if not all(np.isfinite(result).all() for result in results):
        raise LimitError(f'{name}: expected one whose linear model is finite, got {given}; the '
                         f'largest entry of A is {np.abs(linear.A).max(initial=0.0):.3g}')


def linearize_along(dynamics: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                    external: ArrayLike | None = None) -> LinearModel:
    """
    Return the continuous models along a trajectory of K states.

    Args:
        dynamics: a Dynamics, a ConstrainedDynamics or MinimalCoordinates.
        q: configurations (K, nq); rad and m.
        v: velocities (K, nv); rad/s and m/s.
        tau: joint forces (K, nv); N m and N.
        external: wrenches (K, B, 6) on bodies, each in its frame; by default none.

    Returns:
        A (K, 2 nv, 2 nv) and B (K, 2 nv, nv).

    Raises:
        LiedynError: for a state that is wrong or open.

    >>> linearize_along(robot, [q, q], [v, v], [tau, tau]).B.shape
    (2, 12, 6)
    """
    model = dynamics.model
    n, q = model.nv, as_array('q', q, (-1, model.nq))
    v, tau = (as_array(name, x, (len(q), n)) for name, x in (('v', v), ('tau', tau)))
    if external is not None:
        external = as_array('external', external, (len(q), len(model.bodies), 6))
    models = LinearModel(np.empty((len(q), 2 * n, 2 * n)), np.empty((len(q), 2 * n, n)))
    for k in range(len(q)):
        models.A[k], models.B[k] = linearize(
            dynamics, q[k], v[k], tau[k], None if external is None else external[k])
    return models


def transition(dynamics: Robot, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
               external: ArrayLike | None = None, tolerance: float = 1e-10,
               budget: Budget | None = None) -> tuple[Array, Array, LinearModel]:
    """
    Return the state after a step of constant forces, and the discrete model of the step.

    A and B follow the motion: they are the derivatives of the state after the step by the state
    before it and by tau. A Runge-Kutta method of order eight integrates them with the state. Loops
    are closed where the step begins, and again where it ends.

    Args:
        dynamics: a Dynamics, a ConstrainedDynamics or MinimalCoordinates.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        dt: length of the step; s.
        tau: joint forces (nv,); N m and N.
        external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame of
            its body; by default none.
        tolerance: error of the integration, relative.
        budget: bound of its work; by default MAX_EVALUATIONS of the motion.

    Returns:
        q (nq,), v (nv,) and the model.

    Raises:
        ConvergenceError: where the step becomes too small.
        BudgetError: where it takes too much work.
        LiedynError: for a state that is wrong or open.

    >>> transition(robot, q, v, 0.01, tau)[2].A.shape
    (12, 12)
    """
    if isinstance(dynamics, MinimalCoordinates):
        whole, _, rates, forces = lifted(dynamics, q, v, tau)
        q1, v1, linear = transition(whole, q, rates, dt, forces, external, tolerance, budget)
        return q1, v1[dynamics.known], reduced(dynamics, q, v, linear)
    options: dict[str, Any] = {}
    if isinstance(dynamics, ConstrainedDynamics):
        dynamics.require_closed(q, v)
        options['closed'] = False
    if external is not None:
        external = as_array('external', external, (len(dynamics.model.bodies), 6))

    def at(q: Array, v: Array, tau: Array) -> tuple[Array, LinearModel]:
        found = dynamics.forward.partial_derivatives(q, v, tau, external, **options)
        return found.a, _of_jacobians(dynamics.model, v, found.by_q, found.by_v, found.by_tau)

    q, v, step = _follow(dynamics.model, at, q, v, dt, tau, tolerance, budget)
    if isinstance(dynamics, ConstrainedDynamics):
        q, v = project(dynamics, q, v)
    return q, v, step


def _follow(model: Model, at: Callable[[Array, Array, Array], tuple[Array, LinearModel]],
            q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike, tolerance: float,
            budget: Budget | None) -> tuple[Array, Array, LinearModel]:
    """Integrate as transition; at(q, v, tau) are accelerations and the continuous model."""
    from scipy.integrate import DOP853  # which takes long to import, and no stream needs it

    n = model.nv
    q, v = model.check_configuration(q), as_array('v', v, (n,))
    tau, dt = as_array('tau', tau, (n,)), as_positive('dt', dt)
    tolerance, size = as_positive('tolerance', tolerance), 2 * n
    budget = Budget(evaluations=MAX_EVALUATIONS) if budget is None else budget

    def rate(time: float, state: Array) -> Array:
        budget.spend(time / dt)
        x, now = state[:n], state[n:size]
        acceleration, linear = at(model.integrate(q, x), now, tau)
        matrix = linear.A @ state[size:].reshape(size, -1)
        matrix[:, size:] += linear.B
        return np.concatenate([chart_rate(model, x, now), acceleration, matrix.ravel()])

    start = np.concatenate([np.zeros(n), v, np.eye(size, size + n).ravel()])
    message: str | None = None
    with np.errstate(over='ignore', invalid='ignore'):  # what overflows is refused
        solver = DOP853(rate, 0.0, start, dt, rtol=tolerance, atol=tolerance)
        while solver.status == 'running':
            message = solver.step()
    if message is not None:
        raise ConvergenceError(f'transition: expected a motion over {dt} s, got: {message}')
    end = solver.y
    matrix = end[size:].reshape(size, -1)
    linear = LinearModel(matrix[:, :size], matrix[:, size:])
    _require_finite('dt', f'{dt:g} s', linear, end)
    return model.integrate(q, end[:n]), end[n:size], linear
