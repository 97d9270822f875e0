# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The derivatives of steps of trees: runge_kutta_munthe_kaas stage by stage (13.56)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators import stormer_verlet
from liedyn_ros.dynamics.linearization.chart_rates import rate_by_chart
from liedyn_ros.dynamics.linearization.trees import LinearModel
from liedyn_ros.dynamics.linearization.variational_steps import Step, varied_variational_step
from liedyn_ros.dynamics.tree.kernels.retraction import exponential_rate
from liedyn_ros.model.retraction_derivatives import difference_derivatives


def linearize_step(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
                   external: ArrayLike | None = None, scheme: str = 'runge_kutta_munthe_kaas'
                   ) -> tuple[Array, Array, LinearModel]:
    """
    Return the state after a step of a scheme, q (nq,) and v (nv,), and the step's derivatives.

    The model is discrete: x' = A x + B dtau, with x = (eta, dv) before and after the step, eta
    along the tangents of model.integrate. It is exact for the numbers of the step, where
    transition is that of the motion. The scheme is runge_kutta_munthe_kaas or stormer_verlet.
    Raises the errors of its step, and LimitError for another scheme.
    """
    require_scheme(scheme, 'runge_kutta_munthe_kaas', 'stormer_verlet')
    model, dt = dynamics.model, as_positive('dt', dt)
    q, v = model.check_configuration(q), as_array('v', v, (model.nv,))
    if scheme == 'stormer_verlet':
        taken = Step(q, v, *stormer_verlet.step(dynamics, q, v, dt, tau, external), dt, tau,
                     external)
        none = np.zeros((0, model.nv))
        return taken.q1, taken.v1, varied_variational_step(
            dynamics, taken, none, none, lambda q, v, y: (np.zeros((model.nv, model.nv)), none))

    def accelerate(q: Array, v: Array) -> Acceleration:
        at = dynamics.forward.partial_derivatives(q, v, tau, external)
        return Acceleration(at.a, at.by_q, at.by_v, at.by_tau)

    return varied_step(dynamics, accelerate, q, v, dt)


def require_scheme(scheme: str, *known: str) -> None:
    """Raise LimitError for a scheme whose steps have no derivatives here."""
    if scheme not in known:
        raise LimitError(f'scheme: expected one of {list(known)}, got {scheme!r}')


class Acceleration(NamedTuple):
    """The accelerations a (nv,) at a state, and their derivatives (nv, nv)."""

    a: Array
    by_q: Array
    by_v: Array
    by_tau: Array


def varied_step(tree: Dynamics, accelerate: Callable[[Array, Array], Acceleration], q: Array,
                v: Array, dt: float) -> tuple[Array, Array, LinearModel]:
    """Return q (nq,) and v (nv,) after the stages of a step, with their derivatives."""
    model, table = tree.model, tree.constants.table
    n = model.nv
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
