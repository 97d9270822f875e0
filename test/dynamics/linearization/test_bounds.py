# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Linear models end, with numbers or an error; a start off the loops is refused as by forward."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.machines.loop_states import EVERY, state
from support.machines.looped_machines import four_bar
from support.refusals import ANY, refused

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import BudgetError, ConvergenceError, LiedynError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, constrained_stormer_verlet, ConstrainedDynamics, project,
    projected_runge_kutta)
from liedyn_ros.dynamics.linearization import (
    linear_models, linearize, linearize_step, LinearModel, motion_gradient, RUNGE_KUTTA, simulate,
    STORMER_VERLET, transition)
from liedyn_ros.model import load_model, ModelBuilder, SpatialInertia

TINY = 1.9e-3  # m
DT, REST = 1e-3, np.zeros(3)


@pytest.fixture
def upright() -> Dynamics:
    """Return a pendulum that stands on its pivot: it falls as exp(72 t)."""
    builder = ModelBuilder('upright')
    builder.add_body('bob', SpatialInertia(1.0, (0.0, 0.0, TINY), np.zeros((3, 3))))
    builder.add_joint('pivot', 'revolute', None, 'bob', axis=(1.0, 0.0, 0.0))
    return Dynamics(builder.build())


@pytest.fixture
def aerial() -> Dynamics:
    """Return the flying base with two arms."""
    return Dynamics(load_model(config_file('aerial_manipulator.yaml')))


@pytest.mark.parametrize('ramp', (False, True))
def test_a_step_that_overflows_is_refused_with_its_size(upright: Dynamics, ramp: bool) -> None:
    model = linearize(upright, [0.0], [0.0], [0.0])
    assert all(np.isfinite(part).all() for part in model.discrete(1.0, ramp=ramp))
    with refused(LimitError, 'dt', got=10):
        model.discrete(10.0, ramp=ramp)
    with refused(LimitError, 'dt'):
        model.discrete(1e308, ramp=ramp)


@pytest.mark.parametrize('effort', (1e3, 1e4))
def test_large_efforts_on_a_flying_base(aerial: Dynamics, effort: float) -> None:
    model, tau = aerial.model, np.zeros(aerial.model.nv)
    q = model.neutral()
    q[7:], tau[6:] = 0.3, effort
    with refused(LimitError, 'dt', got=10):
        linearize(aerial, q, np.zeros(model.nv), tau).discrete(10.0)


def test_a_model_that_is_not_finite_is_refused() -> None:
    with refused(LimitError, 'dt'):
        LinearModel(np.full((2, 2), np.nan), np.zeros((2, 1))).discrete(1.0)


def test_a_falling_motion_that_overflows_is_refused(upright: Dynamics) -> None:
    held = np.array([0.0])
    with refused(ConvergenceError, 'transition'):
        transition(upright, held, held, 10.0, held)


def test_a_fast_motion_ends_within_the_default_budget(
        aerial: Dynamics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_models, 'MAX_EVALUATIONS', 200)
    v = np.zeros(aerial.model.nv)
    v[0] = 1000.0
    with refused(BudgetError, expected=200):
        transition(aerial, aerial.model.neutral(), v, 10.0, np.zeros(len(v)))


def test_a_budget_bounds_a_machine_with_loops() -> None:
    dynamics, q, v, tau, _, _ = state(EVERY['revolute'])
    with refused(BudgetError, expected=20):
        transition(dynamics, q, 1e3 * v, 10.0, tau[0], budget=Budget(evaluations=20))


def cost(k: int, q: Array, v: Array) -> tuple[float, Array, Array]:
    """Return none."""
    return 0.0, REST, REST


GOING_ON: dict[str, Callable[[ConstrainedDynamics, Array, Array], Any]] = {
    'projected step': lambda d, q, v: projected_runge_kutta.step(d, q, v, DT, REST),
    'variational step': lambda d, q, v: constrained_stormer_verlet.step(d, q, v, DT, REST),
    'rollout': lambda d, q, v: simulate(d, q, v, REST, DT, 3),
    'variational rollout': lambda d, q, v: simulate(
        d, q, v, REST, DT, 3, scheme=STORMER_VERLET),
    'rollout of no step': lambda d, q, v: simulate(d, q, v, REST, DT, 0),
    'derivatives of a step': lambda d, q, v: linearize_step(d, q, v, DT, REST, None, RUNGE_KUTTA),
    'of a variational one': lambda d, q, v: linearize_step(
        d, q, v, DT, REST, None, STORMER_VERLET),
    'transition': lambda d, q, v: transition(d, q, v, DT, REST),
    'gradient': lambda d, q, v: motion_gradient(d, q, v, np.zeros((3, 3)), DT, cost),
    'gradient of no step': lambda d, q, v: motion_gradient(d, q, v, np.zeros((0, 3)), DT, cost)}


@pytest.mark.parametrize('go_on', GOING_ON.values(), ids=GOING_ON)
@pytest.mark.parametrize(('dq', 'dv'), [
    ([0.0, 0.2, -0.1], REST), ([0.0, 3e-6, 0.0], REST), (REST, [2.0, 0.0, 0.0])])
def test_a_start_off_the_loops(go_on: Callable[..., Any], dq: list[float], dv: list[float]
                               ) -> None:
    machine = ConstrainedDynamics(four_bar())
    q = assemble(machine)
    v = complete_velocity(machine, q, [1.0, 0.0, 0.0])
    go_on(machine, q, v)
    with refused(LiedynError, ANY) as wanted:
        machine.forward(q + dq, v + dv, REST)
    with refused(LiedynError, *wanted.value.names, expected=0.0, got=wanted.value.got) as found:
        go_on(machine, q + dq, v + dv)
    assert str(found.value) == str(wanted.value)
    go_on(machine, *project(machine, q + dq, v + dv))
