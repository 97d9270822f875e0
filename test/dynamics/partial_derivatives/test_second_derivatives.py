# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Second derivatives as products with two vectors, beside differences of the gradients."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case, TREES
from support.refusals import refused
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import NotFiniteError


@pytest.fixture(params=TREES[:4], ids=str)
def damped(request) -> Case:
    """Return a machine with damping and friction, at rates away from where friction jumps."""
    case = make_case(*request.param, dissipation=True)
    return case._replace(v=case.v + 0.1 * np.sign(case.v))


def test_inverse_beside_differences(damped: Case) -> None:
    partial, w = damped.dynamics.inverse.partial_derivatives, damped.external
    q, v, a = damped.q, damped.v, damped.a
    y, dq, dv, da = damped.rng.normal(size=(4, len(v)))
    got = partial.gradient_product(q, v, a, y, dq, dv, da, w)
    wanted = difference(lambda s: np.array(partial.gradient(
        damped.model.integrate(q, s * dq), v + s * dv, a + s * da, y, w)))
    for ours, other in zip(got, wanted):
        assert_same(ours, other)


def test_forward_beside_differences(damped: Case) -> None:
    d, w = damped.dynamics, damped.external
    partial, q, v = d.forward.partial_derivatives, damped.q, damped.v
    tau = d.inverse(q, v, damped.a, w)
    y, dq, dv, dtau = damped.rng.normal(size=(4, len(v)))
    got = partial.gradient_product(q, v, tau, y, dq, dv, dtau, w)
    wanted = difference(lambda s: np.array(partial.gradient(
        damped.model.integrate(q, s * dq), v + s * dv, tau + s * dtau, y, w)), 1e-3)
    for ours, other in zip(got, wanted):
        assert_same(ours, other)


def test_all_of_inverse_beside_differences_and_products(damped: Case) -> None:
    partial, w, n = damped.dynamics.inverse.partial_derivatives, damped.external, len(damped.v)
    q, v, a = damped.q, damped.v, damped.a
    got = partial.second_derivatives(q, v, a, w)
    y, dq, dv, da = damped.rng.normal(size=(4, n))
    of_jacobian = difference(lambda s: np.array(partial(
        damped.model.integrate(q, s * dq), v + s * dv, a + s * da, w)[:3]))
    mass_rate = np.einsum('ikj,k->ij', got.by_qa, dq)
    assert_same(got.by_qq @ dq + got.by_qv @ dv + got.by_qa @ da, of_jacobian[0])
    assert_same(np.einsum('ikj,k->ij', got.by_qv, dq) + got.by_vv @ dv, of_jacobian[1])
    assert_same(mass_rate, of_jacobian[2])
    product = partial.gradient_product(q, v, a, y, dq, dv, da, w)
    assert_same(y @ (got.by_qq @ dq + got.by_qv @ dv + got.by_qa @ da), product.by_q)
    assert_same(y @ mass_rate, product.by_a)


def test_all_of_forward_beside_differences(damped: Case) -> None:
    d, w = damped.dynamics, damped.external
    partial, q, v = d.forward.partial_derivatives, damped.q, damped.v
    tau = d.inverse(q, v, damped.a, w)
    got = partial.second_derivatives(q, v, tau, w)
    dq, dv, dtau = damped.rng.normal(size=(3, len(v)))
    by_q, by_v, by_tau = difference(lambda s: np.array(partial(
        damped.model.integrate(q, s * dq), v + s * dv, tau + s * dtau, w)[1:4]), 1e-3)
    # Differences over 1e-3 leave rounding that solving with the mass matrix makes larger.
    left = 1e-9 + 5.0 * np.finfo(float).eps / 1e-3 * np.linalg.cond(d.mass_matrix(q))
    assert_same(got.by_qq @ dq + got.by_qv @ dv + got.by_qtau @ dtau, by_q, left)
    assert_same(np.einsum('ikj,k->ij', got.by_qv, dq) + got.by_vv @ dv, by_v, left)
    assert_same(np.einsum('ikj,k->ij', got.by_qtau, dq), by_tau, left)


def test_the_order_matters_by_the_structure_constants_alone(damped: Case) -> None:
    # x_i z_j (E_i E_j - E_j E_i) L = [x, z]_k E_k L (13.5).
    partial, n = damped.dynamics.inverse.partial_derivatives, damped.model.nv
    state, rest = (damped.q, damped.v, damped.a), np.zeros(n)
    y, x, z = damped.rng.normal(size=(3, n))
    one = partial.gradient_product(*state, y, x, rest, rest).by_q @ z
    other = partial.gradient_product(*state, y, z, rest, rest).by_q @ x
    from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import velocity_brackets
    bracket = velocity_brackets(damped.model, x) @ z
    assert one - other == pytest.approx(
        partial.gradient(*state, y).by_q @ bracket, rel=1e-9, abs=1e-9 * abs(one))


def test_refusals(damped: Case) -> None:
    v = damped.v
    with refused(NotFiniteError, 'dv', indices=(0,)):
        damped.dynamics.inverse.partial_derivatives.gradient_product(
            damped.q, v, v, v, v, np.full_like(v, np.nan), v)
