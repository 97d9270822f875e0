# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Geodesics of the mass metric: how a machine moves without gravity, forces and dissipation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators.runge_kutta_munthe_kaas import chart_rate
from liedyn_ros.model import Model

DEFAULT_TOLERANCE = 1e-12  # of a step, relative


class Geodesic(NamedTuple):
    """
    The configurations (K, nq) and velocities (K, nv) of a geodesic at the times (K,) asked for.

    >>> geodesic(model, q + 0.5, v, [0.0, 0.1]).velocities.shape
    (2, 6)
    """

    times: Array
    configurations: Array
    velocities: Array


def geodesic(model: Model, q: ArrayLike, v: ArrayLike, times: ArrayLike,
             tolerance: float = DEFAULT_TOLERANCE) -> Geodesic:
    """
    Return the geodesic that leaves a state.

    Its acceleration is -M^-1 C v, so that its speed sqrt(v^T M v) is constant (13.47). Between two
    times the motion is integrated in exponential coordinates about the first of them, by a
    Runge-Kutta method of order eight.

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        times: increasing (K,), from 0 on; s.
        tolerance: error of the integration, relative.

    Returns:
        configurations (K, nq) and velocities (K, nv).

    Raises:
        LimitError: for times that do not increase.
        ConvergenceError: where the step becomes too small.

    >>> geodesic(model, q + 0.5, v, [0.0, 0.1]).configurations.shape
    (2, 6)
    """
    dynamics = Dynamics(model, dissipation=False)
    times = as_array('times', times, (-1,))
    tolerance = as_positive('tolerance', tolerance)
    if len(times) and (times[0] < 0.0 or (np.diff(times) <= 0.0).any()):
        raise LimitError(f'times: expected increasing ones from 0 on, got {times.tolist()}')
    q, v, now = model.check_configuration(q), as_array('v', v, (model.nv,)), 0.0
    configurations, velocities = [], []
    for time in times:
        q, v, now = *_advance(dynamics, q, v, time - now, tolerance), time
        configurations.append(q)
        velocities.append(v)
    return Geodesic(times, np.array(configurations).reshape(-1, model.nq),
                    np.array(velocities).reshape(-1, model.nv))


def _advance(dynamics: Dynamics, q: Array, v: Array, span: float, tolerance: float
             ) -> tuple[Array, Array]:
    model = dynamics.model
    if span == 0.0:
        return q, v

    def rate(_: float, state: Array) -> Array:
        x, now = np.split(state, 2)
        here = model.integrate(q, x)
        return np.concatenate([
            chart_rate(model, x, now),
            dynamics.forward(here, now, dynamics.bias(here, np.zeros(model.nv)))])

    from scipy.integrate import solve_ivp  # which takes long to import, and no node needs it
    result = solve_ivp(rate, (0.0, span), np.concatenate([np.zeros(model.nv), v]),
                       method='DOP853', rtol=tolerance, atol=tolerance)
    if not result.success:
        raise ConvergenceError(f'geodesic: expected a motion over {span} s, got: {result.message}')
    x, v = np.split(result.y[:, -1], 2)
    return model.integrate(q, x), v
