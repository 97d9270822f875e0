# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Linear models end: within their bound of work, and with numbers or with an error."""

import numpy as np
import pytest
from support.machines.loop_states import EVERY, state
from support.refusals import refused

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.errors import BudgetError, ConvergenceError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.linearization import (
    linear_models, linearize, LinearModel, transition)
from liedyn_ros.model import load_model, ModelBuilder, SpatialInertia

TINY = 1.9e-3  # m


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
