# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Second derivatives, and those of tau^(k) and a^(k), beside differences."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case, TREES
from support.refusals import refused
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import LimitError, NotFiniteError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder


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


ORDER = 3
TOLERANCE = 1e-9  # of differences of eighth order


@pytest.fixture(params=((0, False), (1, True)), ids=('fixed', 'floating'))
def moving(request):
    """Return a damped machine, and a (r + 1, nv) and wrenches (r + 1, B, 6) to order three."""
    case = make_case(*request.param, dissipation=True)
    a = case.rng.normal(size=(ORDER + 1, case.model.nv))
    external = case.rng.normal(size=(ORDER + 1, *case.external.shape))
    return case._replace(v=case.v + 0.1 * np.sign(case.v)), a, external


def test_inverse_orders_beside_differences(moving) -> None:
    case, a, w = moving
    d, q, v, n = case.dynamics, case.q, case.v, case.model.nv
    got = d.inverse.partial_derivatives.time_derivatives(q, v, a, w)
    for _ in range(4):
        x, y = case.rng.normal(size=(2, n))
        z = case.rng.normal(size=a.shape)
        by_q = difference(lambda s: d.inverse.time_derivatives(
            case.model.integrate(q, s * x), v, a, w))
        by_v = difference(lambda s: d.inverse.time_derivatives(q, v + s * y, a, w))
        by_a = difference(lambda s: d.inverse.time_derivatives(q, v, a + s * z, w))
        for k in range(ORDER + 1):
            assert_same(got.by_q[k] @ x, by_q[k], TOLERANCE)
            assert_same(got.by_v[k] @ y, by_v[k], TOLERANCE)
            assert_same(np.einsum('jab,jb->a', got.by_a[k], z), by_a[k], TOLERANCE)


def test_order_zero_is_that_of_the_recursion(moving) -> None:
    case, a, w = moving
    partial = case.dynamics.inverse.partial_derivatives
    full, series = (partial(case.q, case.v, a[0], w[0]),
                    partial.time_derivatives(case.q, case.v, a, w))
    for got, wanted in ((series.by_q[0], full.by_q), (series.by_v[0], full.by_v),
                        (series.by_a[2, 2], full.by_a)):
        assert_same(got, wanted, 1e-12)
    assert not series.by_a[0, 1:].any()


def test_forward_orders_beside_differences() -> None:
    case = make_case(1, True)  # well conditioned, so that differences tell something
    d, q, v, n = case.dynamics, case.q, 0.3 * case.v, case.model.nv
    a = 0.3 * case.rng.normal(size=(ORDER + 1, n))
    tau = d.inverse.time_derivatives(q, v, a)
    got = d.forward.partial_derivatives.time_derivatives(q, v, tau)
    assert_same(got.a, a, TOLERANCE)
    x, y, z = case.rng.normal(size=n), case.rng.normal(size=n), case.rng.normal(size=tau.shape)
    by_q = difference(lambda s: d.forward.time_derivatives(
        case.model.integrate(q, s * x), v, tau), 1e-3)
    by_v = difference(lambda s: d.forward.time_derivatives(q, v + s * y, tau), 1e-3)
    by_tau = difference(lambda s: d.forward.time_derivatives(q, v, tau + s * z), 1e-3)
    for k in range(ORDER + 1):
        assert_same(got.by_q[k] @ x, by_q[k], TOLERANCE)
        assert_same(got.by_v[k] @ y, by_v[k], TOLERANCE)
        assert_same(np.einsum('jab,jb->a', got.by_tau[k], z), by_tau[k], TOLERANCE)


def test_forward_is_the_inverse_of_inverse(moving) -> None:
    # Along any change of q, v and the forces the two must agree: J_a da = dtau - J_q dq - J_v dv.
    case, a, w = moving
    d, state = case.dynamics, (case.q, case.v)
    tau = d.inverse.time_derivatives(*state, a, w)
    back = d.inverse.partial_derivatives.time_derivatives(*state, a, w)
    ahead = d.forward.partial_derivatives.time_derivatives(*state, tau, w)
    for k in range(ORDER + 1):
        assert_same(np.einsum('jab,jbc->ac', back.by_a[k], ahead.by_q), -back.by_q[k], TOLERANCE)
        assert_same(np.einsum('jab,jbc->ac', back.by_a[k], ahead.by_v), -back.by_v[k], TOLERANCE)
        product = np.einsum('jab,jibc->iac', back.by_a[k], ahead.by_tau)
        product[k] -= np.eye(case.model.nv)
        terms = np.einsum('jab,jibc->iac', np.abs(back.by_a[k]), np.abs(ahead.by_tau)).max()
        assert np.abs(product).max() < 1e-12 * terms


def test_refusals_of_orders(moving) -> None:
    case, a, _ = moving
    partial = case.dynamics.inverse.partial_derivatives
    with refused(ShapeError, 'a'):
        partial.time_derivatives(case.q, case.v, a[0])
    with refused(LimitError, 'a'):
        partial.time_derivatives(case.q, case.v, np.zeros((40, case.model.nv)))


def test_a_machine_that_cannot_move() -> None:
    builder = ModelBuilder('rock')
    builder.add_body('rock', None)
    builder.add_joint('ground', 'fixed', None, 'rock')
    got = Dynamics(builder.build()).forward.partial_derivatives.time_derivatives(
        [], [], np.zeros((3, 0)))
    assert got.by_q.shape == (3, 0, 0) and got.by_tau.shape == (3, 3, 0, 0)
