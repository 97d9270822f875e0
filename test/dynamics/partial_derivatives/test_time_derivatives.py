# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of tau^(k) and a^(k) beside differences, to order three."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import make_case
from support.refusals import refused
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder

ORDER = 3
TOLERANCE = 1e-9  # of differences of eighth order


@pytest.fixture(params=((0, False), (1, True)), ids=('fixed', 'floating'))
def moving(request):
    """Return a damped machine, and a (r + 1, nv) and wrenches (r + 1, B, 6) to order three."""
    case = make_case(*request.param, dissipation=True)
    a = case.rng.normal(size=(ORDER + 1, case.model.nv))
    external = case.rng.normal(size=(ORDER + 1, *case.external.shape))
    return case._replace(v=case.v + 0.1 * np.sign(case.v)), a, external


def test_inverse_beside_differences(moving) -> None:
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


def test_forward_beside_differences() -> None:
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


def test_refusals(moving) -> None:
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
