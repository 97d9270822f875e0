# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The derivatives of a step of runge_kutta_munthe_kaas, stage by stage (13.56)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bernoulli, factorial

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.linearization.trees import LinearModel
from liedyn_ros.dynamics.tree.kernels.retraction import exponential_rate
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model
from liedyn_ros.model.kernels import kinds
from liedyn_ros.model.retraction_derivatives import difference_derivatives

_TERMS = 80  # of the series below: rounding for turns of up to 4 rad in a step
_SERIES = (-1.0) ** np.arange(_TERMS) * bernoulli(_TERMS - 1) / factorial(np.arange(_TERMS))


def linearize_step(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
                   external: ArrayLike | None = None) -> tuple[Array, Array, LinearModel]:
    """
    Return what runge_kutta_munthe_kaas.step returns, and the derivatives of that step itself.

    The model is discrete: x' = A x + B dtau, with x = (eta, dv) before and after the step, eta
    along the tangents of model.integrate. It is exact for the numbers of the step, where
    transition is that of the motion. Raises the errors of dynamics.forward.
    """
    model, dt = dynamics.model, as_positive('dt', dt)
    q, v = model.check_configuration(q), as_array('v', v, (model.nv,))

    def accelerate(q: Array, v: Array) -> Acceleration:
        at = dynamics.forward.partial_derivatives(q, v, tau, external)
        return Acceleration(at.a, at.by_q, at.by_v, at.by_tau)

    return varied_step(dynamics, accelerate, q, v, dt)


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
        by_dx = difference_derivatives(model.link_table, x).by_q1 @ by_rate + _rate_by_chart(
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


def _rate_by_chart(model: Model, x: Array, v: Array) -> Array:
    """Return the derivative (nv, nv) by x of the rate J_r(x)^-1 v of coordinates x (13.56)."""
    result = np.zeros((model.nv, model.nv))
    for kind, at in zip(model.link_table.kind, model.link_table.vi):
        if kind in (kinds.SPHERICAL, kinds.FREE):
            bracket, size = (so3.hat, 3) if kind == kinds.SPHERICAL else (se3.ad, 6)
            place = slice(at, at + size)
            result[place, place] = _block(bracket, x[place], v[place])
    return result


def _block(bracket: Callable[[Array], Array], x: Array, v: Array) -> Array:
    """Return - sum_k c_k sum_j ad_x^j ad_w, w = ad_x^(k - 1 - j) v, c those of J_r^-1."""
    step, inner = bracket(x), v
    inside: Array = np.zeros((len(x), len(x)))
    result = np.zeros_like(inside)
    for weight in _SERIES[1:]:
        inside = step @ inside + bracket(inner)
        result -= weight * inside
        inner = step @ inner
    return result
