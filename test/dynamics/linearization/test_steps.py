# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The derivatives of steps, of loops too, beside differences and beside the motion's own."""

import numpy as np
import pytest
from scipy.linalg import null_space
from support.comparison import assert_same
from support.machines.loop_states import ALL, EVERY, state
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import ConvergenceError, LimitError, NotFiniteError
from liedyn_ros.dynamics import Dynamics, runge_kutta_munthe_kaas
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, project, projected_runge_kutta
from liedyn_ros.dynamics.integrators.runge_kutta_munthe_kaas import advance
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


def beside(dynamics, q, v, dt, tau, external):
    """Return the end of a step from a state beside the constraints, which `step` refuses."""
    def accelerate(q, v):
        return dynamics.forward(q, v, tau, external, closed=False).a

    return project(dynamics, *advance(dynamics.tree, accelerate, q, v, dt))


@pytest.mark.parametrize('name, dt', [
    ('revolute', 0.01), ('balls', 0.01), ('floating', 0.01), ('gears', 0.02), ('springs', 0.01)])
def test_differences_of_the_step_in_all_directions(name: str, dt: float) -> None:
    dynamics, q, v, tau, w, _ = state(EVERY[name])
    model, n = dynamics.model, dynamics.model.nv
    q1, v1, linear = linearize_step(dynamics, q, v, dt, tau[0], w)
    ended = projected_runge_kutta.step(dynamics, q, v, dt, tau[0], w)
    assert_same(q1, ended[0], 1e-12)
    assert_same(v1, ended[1], 1e-12)
    columns = []
    for push in STEP * np.eye(3 * n):
        (ahead, fast), (back, slow) = (beside(
            dynamics, model.integrate(q, s * push[:n]), v + s * push[n:2 * n], dt,
            tau[0] + s * push[2 * n:], w) for s in (1.0, -1.0))
        columns.append(np.concatenate([
            model.difference(q1, ahead) - model.difference(q1, back), fast - slow]) / (2 * STEP))
    # Newton's last step, which ends at 1e-12 and below, is the differences' rounding.
    assert_same(np.hstack([linear.A, linear.B]), np.array(columns).T, 1e-13 / STEP)


@pytest.mark.parametrize('name', ('bennett', 'side by side'))
def test_redundant_machines_along_their_motions(name: str) -> None:
    dynamics, q, v, tau, *_ = state(ALL[name])
    model, dt = dynamics.model, 0.01
    q1, _, linear = linearize_step(dynamics, q, v, dt, tau[0])
    for eta in null_space(dynamics.jacobian(q), rcond=1e-8).T:
        starts = [project(dynamics, model.integrate(q, s * STEP * eta), v) for s in (1.0, -1.0)]
        x = [np.concatenate([model.difference(q, at), rate]) for at, rate in starts]
        ends = [projected_runge_kutta.step(dynamics, *start, dt, tau[0]) for start in starts]
        y = [np.concatenate([model.difference(q1, at), rate]) for at, rate in ends]
        assert_same(linear.A @ (x[0] - x[1]) / (2 * STEP), (y[0] - y[1]) / (2 * STEP), 1e-5)


@pytest.mark.parametrize('name', ('revolute', 'floating'))
def test_a_short_step_is_that_of_the_motion_and_keeps_the_loops(name: str) -> None:
    dynamics, q, v, tau, *_ = state(EVERY[name])
    dynamics, v = ConstrainedDynamics(dynamics.model, dissipation=False), 0.3 * v
    n = dynamics.model.nv
    _, _, exact = transition(dynamics, q, v, 1e-3, tau[0])
    q1, _, found = linearize_step(dynamics, q, v, 1e-3, tau[0])
    along = null_space(dynamics.jacobian(q))
    assert_same(found.A[:, n:] @ along, exact.A[:, n:] @ along, 1e-7)
    assert_same(found.B, exact.B, 1e-7)
    rows = dynamics.jacobian(q1) @ np.hstack([found.A[:n], found.B[:n]])
    np.testing.assert_allclose(rows, 0.0, rtol=0.0, atol=1e-9)


def test_refusals_on_loops() -> None:
    dynamics, q, v, tau, *_ = state(EVERY['revolute'])
    with refused(LimitError, 'dt'):
        linearize_step(dynamics, q, v, 0.0, tau[0])
    with refused(ConvergenceError, 'dt'):
        linearize_step(dynamics, q, 3.0 * v, 0.2, tau[0])
