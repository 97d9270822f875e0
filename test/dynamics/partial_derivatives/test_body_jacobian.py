# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Hessian and rates of body Jacobians beside differences; derivatives of many states."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case, TREES
from support.refusals import refused
from support.witnesses.tangents import tangent_derivatives

from liedyn_ros.common.errors import ModelError, NotFiniteError, ShapeError, SingularError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.partial_derivatives.body_jacobian import (
    body_jacobian_hessian, body_jacobian_rates)
from liedyn_ros.model import ModelBuilder

TOLERANCE = 1e-9
STATES = 70  # more than a share of a thread


def test_hessian_beside_differences(case: Case) -> None:
    for body in case.model.bodies[-3:]:
        wanted = tangent_derivatives(
            case.model, case.q, lambda at: case.dynamics.frames.jacobian(at, body))
        assert_same(body_jacobian_hessian(case.model, case.q, body), wanted, TOLERANCE, floor=1.0)


def test_rates_are_hessians_along_the_motion(case: Case) -> None:
    body, model = case.model.bodies[-1], case.model
    rates = body_jacobian_rates(model, case.q, [case.v, case.a], body)
    np.testing.assert_allclose(rates[0], case.dynamics.frames.jacobian(case.q, body), atol=1e-12)
    first = np.einsum('b,bka->ka', case.v, body_jacobian_hessian(model, case.q, body))
    assert_same(rates[1], first, 1e-12, floor=1.0)
    # d/dt of E_v J: along q by the tangents, along v by linearity.
    second = np.einsum('b,bka->ka', case.a, body_jacobian_hessian(model, case.q, body))
    along = tangent_derivatives(model, case.q, lambda at: np.einsum(
        'b,bka->ka', case.v, body_jacobian_hessian(model, at, body)))
    second += np.einsum('b,bka->ka', case.v, along)
    assert_same(rates[2], second, TOLERANCE, floor=1.0)


def test_rates_move_the_body(case: Case) -> None:
    v, a = case.v, case.a
    motion = case.dynamics.kinematics(case.q, v, a)
    for b, body in enumerate(case.model.bodies):
        rates = body_jacobian_rates(case.model, case.q, [v], body)
        np.testing.assert_allclose(rates[0] @ v, motion.twists[b], atol=1e-11)
        np.testing.assert_allclose(
            rates[0] @ a + rates[1] @ v, motion.accelerations[b], atol=1e-10)


def test_refusals(case: Case) -> None:
    with refused(ModelError, 'nobody'):
        body_jacobian_hessian(case.model, case.q, 'nobody')
    with refused(ShapeError, 'motion'):
        body_jacobian_rates(case.model, case.q, case.v, case.model.bodies[0])


@pytest.mark.parametrize('tree', TREES[:2], ids=str)
@pytest.mark.parametrize('loaded', (False, True), ids=('free', 'loaded'))
def test_each_state_is_as_alone(tree, loaded: bool) -> None:
    case = make_case(*tree)
    model, rng, dynamics = case.model, case.rng, case.dynamics
    q = np.array([model.random(rng) for _ in range(STATES)])
    v, x, y = rng.normal(size=(3, STATES, model.nv))
    wrenches = rng.normal(size=(STATES, len(model.bodies), 6)) if loaded else None
    for of in (dynamics.inverse.partial_derivatives, dynamics.forward.partial_derivatives):
        whole = of.batch(q, v, x, wrenches)
        weighed = of.gradient_batch(q, v, x, y, wrenches)
        for s in (0, 31, 32, STATES - 1):
            external = None if wrenches is None else wrenches[s]
            for found, single in ((whole, of(q[s], v[s], x[s], external)),
                                  (weighed, of.gradient(q[s], v[s], x[s], y[s], external))):
                assert type(found) is type(single)
                for one, other in zip(found, single):
                    assert_same(one[s], other, 1e-12)


def test_refusals_name_the_state() -> None:
    case = make_case(*TREES[0])
    of, n = case.dynamics.forward.partial_derivatives, case.model.nv
    q, zero = np.tile(case.q, (5, 1)), np.zeros((5, n))
    bad = zero.copy()
    bad[3, 0] = np.nan
    with refused(NotFiniteError, 'tau[3]', indices=(0,)):
        of.batch(q, zero, bad)
    with refused(NotFiniteError, 'y[3]', indices=(0,)):
        of.gradient_batch(q, zero, zero, bad)
    with refused(ShapeError, 'v'):
        of.batch(q, zero[:4], zero)
    assert of.batch(q[:0], zero[:0], zero[:0]).by_q.shape == (0, n, n)
    builder = ModelBuilder('rotor')
    builder.add_body('rotor', None)
    builder.add_joint('shaft', 'revolute', None, 'rotor', axis=[0, 0, 1])
    with refused(SingularError, 'shaft', indices=(0,)):
        Dynamics(builder.build()).forward.partial_derivatives.batch(*np.zeros((3, 2, 1)))
