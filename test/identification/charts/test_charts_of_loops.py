# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Charts of machines with closed loops, beside rebuilt models, differences, and each state."""

from dataclasses import replace

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.loop_states import ALL, state
from support.refusals import refused

from liedyn_ros.common.errors import InertiaError, ModelError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, project
from liedyn_ros.dynamics.partial_derivatives import Parameters
from liedyn_ros.identification.charts import ParameterChart
from liedyn_ros.model import ModelBuilder, SpatialInertia

PARTS = 'inertia', 'damping', 'friction', 'rotor_inertia'
STEP = 1e-6


@pytest.mark.parametrize('name, inertia', [
    ('revolute', 'log_cholesky'), ('bennett', 'log_cholesky'), ('floating', 'log_euclidean'),
    ('gears', 'linear')])
def test_dynamics_are_those_of_the_rebuilt_machine(name: str, inertia: str) -> None:
    dynamics, q, v, tau, w, rng = state(ALL[name])
    y = rng.normal(size=dynamics.model.nv)
    chart = ParameterChart(dynamics.model, PARTS, inertia=inertia)
    before = chart.dynamics.forward(q, v, tau[0], w).a
    assert_same(before, ConstrainedDynamics(dynamics.model).forward(q, v, tau[0], w).a, 1e-9)
    size = 1e-3 if inertia == 'linear' else 0.05  # beside it bodies cannot be
    x = chart.start + size * np.abs(rng.normal(size=chart.size))
    moved, rebuilt = chart.at(x), ConstrainedDynamics(chart.to_model())
    found, expected = (each.forward(q, v, tau, external=None) for each in (moved, rebuilt))
    assert_same(found.a, expected.a, 1e-8)
    assert_same(found.wrenches, expected.wrenches, 1e-8)
    assert not np.allclose(before, found.a[0])
    many = moved.forward.batch([q, q], [v, 0.0 * v], tau[:2])
    assert_same(many.a[0], moved.forward(q, v, tau[0]).a, 1e-12)
    a, all_held = moved.forward(q, v, tau[0]).a, np.ones(len(v), dtype=bool)
    assert_same(*(each.inverse(q, v, a, actuated=all_held).tau for each in (moved, rebuilt)), 1e-8)
    mine, others = Parameters(dynamics.model), Parameters(dynamics.model)
    for each, slope in ((moved, mine), (rebuilt, others)):
        each.forward.partial_derivatives.gradient(q, v, tau[0], y, w, parameters=slope)
    assert_same(mine.vector, others.vector, 1e-7)
    assert_same(*(each.forward.partial_derivatives(q, v, tau[0], w).by_q
                  for each in (moved, rebuilt)), 1e-7)
    assert_same(chart.at(chart.start).forward(q, v, tau[0], w).a, before, 1e-9)


@pytest.mark.parametrize('name', ('revolute', 'bennett'))
def test_gradients_away_from_the_start_are_those_by_differences(name: str) -> None:
    dynamics, q, v, tau, _, rng = state(ALL[name])
    y = rng.normal(size=dynamics.model.nv)
    chart = ParameterChart(dynamics.model, PARTS)
    x, dx = chart.start + 0.1 * rng.random(chart.size), rng.normal(size=chart.size)
    slope, rest = Parameters(dynamics.model), np.zeros(dynamics.model.nv)
    calls = chart.at(x).forward.partial_derivatives
    calls.gradient(q, v, tau[0], y, parameters=slope)
    along = calls.product(q, v, tau[0], rest, rest, rest, parameters=chart.push(dx)).a
    pulled = chart.pull(slope)
    ahead, back = (chart.at(x + s * STEP * dx).forward(q, v, tau[0]).a for s in (1.0, -1.0))
    expected = (ahead - back) / (2.0 * STEP)
    assert_same(along, expected, 1e-6)
    assert pulled @ dx == pytest.approx(y @ expected, rel=1e-6)


def test_couplings_alone_take_placements_too() -> None:
    coupled = replace(ALL['gears'].model, closures=())
    rng, chart = np.random.default_rng(3), ParameterChart(coupled, ('placement', 'inertia'))
    moved = chart.at(chart.start + 0.1 * rng.normal(size=chart.size))
    rebuilt, (v, tau) = ConstrainedDynamics(chart.to_model()), rng.normal(size=(2, coupled.nv))
    q, v = project(rebuilt, coupled.random(rng), v)
    assert_same(*(each.forward(q, v, tau).a for each in (moved, rebuilt)), 1e-8)


def test_refusals() -> None:
    builder = ModelBuilder('light')
    builder.add_body('bar', SpatialInertia(1.0, [0, 0, 0.5], np.eye(3)))
    builder.add_body('none', SpatialInertia(0.0, [0, 0, 0], np.zeros((3, 3)), False))
    builder.add_joint('hinge', 'revolute', None, 'bar', axis=[1, 0, 0])
    builder.add_joint('elbow', 'revolute', 'bar', 'none', axis=[1, 0, 0])
    builder.add_coupling('elbow', 'hinge', 1.0, 0.0)
    with refused(InertiaError, 'none', got='zero'):
        ParameterChart(builder.build(), inertia='linear')
    with refused(ModelError, 'parts', got='it'):
        ParameterChart(ALL['revolute'].model, ('placement',))
