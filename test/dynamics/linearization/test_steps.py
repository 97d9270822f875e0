# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The derivatives of steps, beside differences of the step, and beside the motion's own."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import LimitError, NotFiniteError
from liedyn_ros.dynamics import Dynamics, runge_kutta_munthe_kaas
from liedyn_ros.dynamics.linearization import linearize_step, transition

STEP = 1e-6


@pytest.mark.parametrize('seed, floating, dt, speed', [
    (1, False, 0.02, 1.0), (4, True, 0.01, 1.0), (4, True, 0.05, 3.0)])
def test_differences_of_the_step(seed: int, floating: bool, dt: float, speed: float) -> None:
    model, rng = random_model(seed, 6, floating), np.random.default_rng(2)
    dynamics = Dynamics(model, dissipation=False)
    q, v, tau = model.random(rng), speed * rng.normal(size=model.nv), rng.normal(size=model.nv)
    wrenches = rng.normal(size=(len(model.bodies), 6))
    q1, v1, linear = linearize_step(dynamics, q, v, dt, tau, wrenches)
    ended = runge_kutta_munthe_kaas.step(dynamics, q, v, dt, tau, wrenches)
    assert_same(q1, ended[0], 1e-12)
    assert_same(v1, ended[1], 1e-12)
    n, columns = model.nv, []
    for push in STEP * np.eye(3 * n):
        ends = [runge_kutta_munthe_kaas.step(
            dynamics, model.integrate(q, s * push[:n]), v + s * push[n:2 * n], dt,
            tau + s * push[2 * n:], wrenches) for s in (1.0, -1.0)]
        (ahead, fast), (back, slow) = ends
        columns.append(np.concatenate([
            model.difference(q1, ahead) - model.difference(q1, back), fast - slow]) / (2 * STEP))
    assert_same(np.hstack([linear.A, linear.B]), np.array(columns).T, 1e-6)


def test_a_short_step_is_that_of_the_motion() -> None:
    model, rng = random_model(4, 5, True), np.random.default_rng(3)
    dynamics = Dynamics(model, dissipation=False)
    q, v, tau = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    _, _, exact = transition(dynamics, q, v, 1e-3, tau)
    _, _, found = linearize_step(dynamics, q, v, 1e-3, tau)
    assert_same(found.A, exact.A, 1e-8)
    assert_same(found.B, exact.B, 1e-8)


def test_refusals() -> None:
    model = random_model(1, 3, False)
    dynamics, zero = Dynamics(model), np.zeros(model.nv)
    with refused(LimitError, 'dt'):
        linearize_step(dynamics, model.neutral(), zero, 0.0, zero)
    with refused(NotFiniteError, 'tau', indices=(0,)):
        linearize_step(dynamics, model.neutral(), zero, 0.1, np.full(model.nv, np.nan))
