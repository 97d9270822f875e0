# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Hessian and time derivatives of body Jacobians beside differences and the motion of bodies."""

import numpy as np
from support.comparison import assert_same
from support.machines.dynamics_cases import Case
from support.refusals import refused
from support.witnesses.tangents import tangent_derivatives

from liedyn_ros.common.errors import ModelError, ShapeError
from liedyn_ros.dynamics.partial_derivatives.body_jacobian import (
    body_jacobian_hessian, body_jacobian_rates)

TOLERANCE = 1e-9


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
