# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The closed form of order zero and one beside the recursions."""

import numpy as np
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, rate_along
from support.refusals import refused

from liedyn_ros.common.errors import NotFiniteError, ShapeError
from liedyn_ros.dynamics.lagrangian.closed_form import closed_form, closed_form_rate

TOLERANCE = 1e-12


def test_order_zero_is_that_of_the_recursions(case: Case) -> None:
    d, form = case.dynamics, closed_form(case.dynamics, case.q, case.v)
    assert_same(form.mass, d.mass_matrix(case.q), TOLERANCE)
    assert_same(form.coriolis, d.coriolis_matrix(case.q, case.v), TOLERANCE)
    assert_same(form.gravity, d.gravity_vector(case.q), TOLERANCE)
    tau = (form.mass @ case.a + form.coriolis @ case.v + form.gravity
           - np.einsum('vbk,bk', form.external, case.external))
    assert_same(tau, d.inverse(case.q, case.v, case.a, case.external), TOLERANCE)


def test_coriolis_is_admissible(case: Case) -> None:
    # (Ali 21, Ali Lemma 1), of the dense matrix and of the recursive one.
    rate = closed_form_rate(case.dynamics, case.q, case.v, case.a).mass
    for coriolis in (closed_form(case.dynamics, case.q, case.v).coriolis,
                     case.dynamics.coriolis_matrix(case.q, case.v)):
        skew = rate - 2.0 * coriolis
        assert np.abs(skew + skew.T).max() <= TOLERANCE * np.abs(rate).max()


def test_order_one_is_that_of_the_recursions(case: Case) -> None:
    d, form = case.dynamics, closed_form(case.dynamics, case.q, case.v)
    rate = closed_form_rate(d, case.q, case.v, case.a)
    jerk, force_rate = case.rng.normal(size=case.model.nv), case.rng.normal(
        size=case.external.shape)
    tau = (form.mass @ jerk + rate.by_acceleration @ case.a + rate.by_velocity @ case.v
           + rate.gravity - np.einsum('vbk,bk', rate.external, case.external)
           - np.einsum('vbk,bk', form.external, force_rate))
    assert_same(tau, d.inverse.time_derivatives(
        case.q, case.v, [case.a, jerk], [case.external, force_rate])[1], TOLERANCE)


def test_order_one_is_the_rate_of_order_zero(case: Case) -> None:  # (Ali 61)
    rate = closed_form_rate(case.dynamics, case.q, case.v, case.a)
    assert_same(rate.mass, rate_along(case, case.dynamics.mass_matrix), 1e-9)
    assert_same(rate.gravity, rate_along(case, case.dynamics.gravity_vector), 1e-9)
    external = rate_along(case, lambda q: closed_form(case.dynamics, q, case.v).external)
    assert_same(rate.external, external, 1e-9)


def test_refusals(case: Case) -> None:
    with refused(ShapeError, 'v'):
        closed_form(case.dynamics, case.q, case.v[1:])
    with refused(NotFiniteError, 'a', indices=(0,)):
        closed_form_rate(case.dynamics, case.q, case.v, np.full(len(case.a), np.nan))
