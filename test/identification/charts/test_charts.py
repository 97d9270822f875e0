# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Charts of parameters: back and forth, beside rebuilt models, differences, and an optimiser."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import InertiaError, LimitError, ModelError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.partial_derivatives import Parameters
from liedyn_ros.identification import is_consistent, pseudo_inertia
from liedyn_ros.identification.charts import CHART_PARTS, INERTIA_CHARTS, ParameterChart
from liedyn_ros.identification.consistency import parameters_of
from liedyn_ros.model import ModelBuilder, SpatialInertia

STEP = 1e-6


def bodies(seed: int = 1) -> np.ndarray:
    """Return the parameters (5, 10) of random bodies."""
    factors = np.random.default_rng(seed).normal(size=(5, 4, 4))
    return parameters_of(factors @ factors.swapaxes(1, 2))


@pytest.mark.parametrize('name', INERTIA_CHARTS)
def test_inertias_back_and_forth_with_their_derivatives(name: str) -> None:
    chart, given = INERTIA_CHARTS[name], bodies()
    x = chart.numbers(given)
    at = chart.point(x)
    assert_same(at.parameters, given, 1e-12)
    moved = np.stack([(chart.point(x + h).parameters - chart.point(x - h).parameters)
                      / (2.0 * STEP) for h in STEP * np.eye(10)], axis=-1)
    assert_same(at.by_x, moved, 1e-7)


@pytest.mark.parametrize('name', ('log_cholesky', 'log_euclidean'))
def test_any_numbers_are_a_body(name: str) -> None:
    x = 2.0 * np.random.default_rng(2).normal(size=(50, 10))
    assert all(is_consistent(each) for each in INERTIA_CHARTS[name].point(x).parameters)


def test_the_pseudo_inertia_is_that_of_the_definitions() -> None:
    alpha, d, s, t = 0.3, (0.1, -0.4, 0.2), (0.5, -0.7, 0.9), (0.2, -0.1, 0.6)
    upper = np.exp(alpha) * np.array([
        [np.exp(d[0]), s[0], s[2], t[0]], [0.0, np.exp(d[1]), s[1], t[1]],
        [0.0, 0.0, np.exp(d[2]), t[2]], [0.0, 0.0, 0.0, 1.0]])
    found = INERTIA_CHARTS['log_cholesky'].point(np.array([[alpha, *d, *s, *t]])).parameters[0]
    assert_same(pseudo_inertia(found), upper @ upper.T)
    assert_same(found[1:4] / found[0], t)
    symmetric = np.random.default_rng(3).normal(size=(4, 4))
    symmetric += symmetric.T
    found = INERTIA_CHARTS['log_euclidean'].point(symmetric[np.triu_indices(4)][None])
    assert_same(pseudo_inertia(found.parameters[0]), expm(symmetric), 1e-10)


@pytest.mark.parametrize('inertia', INERTIA_CHARTS)
@pytest.mark.parametrize('seed, floating', [(1, False), (4, True)])
def test_dynamics_are_those_of_the_rebuilt_model(inertia: str, seed: int, floating: bool) -> None:
    model, rng = random_model(seed, 8, floating), np.random.default_rng(5)
    chart = ParameterChart(model, CHART_PARTS, inertia=inertia)
    q, (v, tau, y) = model.random(rng), rng.normal(size=(3, model.nv))
    before = Dynamics(model).forward(q, v, tau)
    assert_same(chart.dynamics.forward(q, v, tau), before, 1e-9)
    size = 1e-3 if inertia == 'linear' else 0.05  # beside it bodies cannot be
    x = chart.start + size * np.abs(rng.normal(size=chart.size))
    moved, rebuilt = chart.at(x), Dynamics(chart.to_model())
    assert_same(moved.forward(q, v, tau), rebuilt.forward(q, v, tau), 1e-8)
    assert_same(moved.mass_matrix(q), rebuilt.mass_matrix(q), 1e-10)
    assert_same(moved.kinematics(q, v).poses, rebuilt.kinematics(q, v).poses, 1e-10)
    assert_same(chart.numbers(chart.to_model()), x, 1e-8)
    mine, others = Parameters(model), Parameters(model)
    for each, slope in ((moved, mine), (rebuilt, others)):
        each.forward.partial_derivatives.gradient(q, v, tau, y, parameters=slope)
    assert_same(mine.vector, others.vector, 1e-7)
    assert not np.allclose(before, rebuilt.forward(q, v, tau))
    assert_same(chart.at(chart.start).forward(q, v, tau), before, 1e-9)


@pytest.mark.parametrize('inertia', INERTIA_CHARTS)
def test_gradients_away_from_the_start_are_those_by_differences(inertia: str) -> None:
    model, rng = random_model(2, 6, True), np.random.default_rng(6)
    chart = ParameterChart(model, CHART_PARTS, inertia=inertia)
    q, (v, a, y) = model.random(rng), rng.normal(size=(3, model.nv))
    x, dx = chart.start + 0.3 * rng.random(chart.size), rng.normal(size=chart.size)
    slope, rest = Parameters(model), np.zeros(model.nv)
    chart.at(x).inverse.partial_derivatives.gradient(q, v, a, y, parameters=slope)
    along = chart.dynamics.inverse.partial_derivatives.product(
        q, v, a, rest, rest, rest, parameters=chart.push(dx))
    pulled = chart.pull(slope)
    ahead, back = (np.array(chart.at(x + s * STEP * dx).inverse(q, v, a)) for s in (1, -1))
    expected = (ahead - back) / (2.0 * STEP)
    assert_same(along, expected, 1e-6)
    assert pulled @ dx == pytest.approx(y @ expected, rel=1e-6)


def test_an_optimiser_finds_the_masses_of_a_motion() -> None:
    model, rng = random_model(3, 4, False, ('revolute',)), np.random.default_rng(7)
    truth, start = ParameterChart(model), ParameterChart(model)
    truth.at(truth.start + 0.4 * rng.normal(size=truth.size))
    states = [(model.random(rng), *rng.normal(size=(2, model.nv))) for _ in range(12)]
    forces = [truth.dynamics.inverse(*state) for state in states]
    slope = Parameters(model)

    def misfit(x):
        dynamics, value, gradient = start.at(x), 0.0, np.zeros(start.size)
        for state, force in zip(states, forces):
            off = dynamics.inverse(*state) - force
            dynamics.inverse.partial_derivatives.gradient(*state, off, parameters=slope)
            value, gradient = value + 0.5 * off @ off, gradient + start.pull(slope)
        return value, gradient

    first = misfit(start.start)[0]
    found = minimize(misfit, start.start, jac=True, method='L-BFGS-B', options={'maxiter': 300})
    assert found.fun < 1e-4 * first
    assert all(is_consistent(body.inertia.parameters())
               for body in start.to_model().body_list if body.inertia is not None)
    assert misfit(found.x)[0] == pytest.approx(found.fun)


def test_refusals() -> None:
    builder = ModelBuilder('point')
    builder.add_body('mass', SpatialInertia(1.0, [0, 0, 0.5], np.zeros((3, 3))))
    builder.add_joint('hinge', 'revolute', None, 'mass', axis=[1, 0, 0])
    point = builder.build()
    with refused(InertiaError, 'parameters', indices=(0,), got=0):
        ParameterChart(point)
    linear = ParameterChart(point, ('inertia', 'damping'), inertia='linear')
    with refused(ShapeError, 'x', expected=(11,)):
        linear.at(np.zeros(10))
    linear.at(np.append(linear.start[:-1], -1.0))
    with refused(LimitError, 'damping', got=-1, expected=0):
        linear.to_model()
    with refused(ModelError, 'gravity'):
        ParameterChart(point, ('gravity',))
    with refused(ModelError, 'cholesky'):
        ParameterChart(point, inertia='cholesky')
    with refused(ModelError, 'model'):
        linear.numbers(random_model(1, 3, False))
    whole = ParameterChart(random_model(1, 3, False))
    with refused(LimitError, 'x'):
        whole.at(np.full(whole.size, 400.0))
