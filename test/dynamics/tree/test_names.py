# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts of a model by name: masks, orders and wrenches as Dynamics takes them."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    LimitError, ModelError, NameSetError, NotFiniteError, ShapeError)
from liedyn_ros.dynamics import Names


def test_every_joint_has_its_places(case: Case) -> None:
    names = Names(case.model)
    listed = list(names.others)[::-1]
    order = names.order(listed)
    assert_array_equal(case.q[order.q], np.concatenate(
        [case.q[case.model.joint(name).q_slice] for name in listed]))
    assert_array_equal(case.v[order.v], np.concatenate(
        [case.v[case.model.joint(name).v_slice] for name in listed]))
    assert len(order.v) == case.model.nv - 6 * (names.base is not None)


def test_names_of_the_base() -> None:
    model = make_case(1, True).model
    names = Names(model)
    assert (names.base, names.base_body) == (model.joint('base_joint'), 'base')
    expected = np.arange(model.nv) < 6
    for listed in (['base'], ['base_joint'], model.coordinate_names[:6]):
        assert_array_equal(names.prescribed(listed), expected)


def test_prescribed_is_what_its_names_are(case: Case) -> None:
    names, rng = Names(case.model), np.random.default_rng(0)
    assert not names.prescribed([]).any()
    assert names.prescribed(case.model.coordinate_names).all()
    for name, joint in names.others.items():
        mask = names.prescribed([name])
        assert_array_equal(mask, names.prescribed(joint.coordinate_names[::-1]))
        assert_array_equal(np.flatnonzero(mask), np.arange(case.model.nv)[joint.v_slice])
    some = rng.permutation(list(names.others))[:3].tolist()
    assert_array_equal(names.prescribed(some), sum(names.prescribed([name]) for name in some) > 0)


def test_hybrid_dynamics_by_names(case: Case) -> None:
    names = Names(case.model)
    mask = names.prescribed(list(names.others)[::2])
    a, tau = case.dynamics.hybrid(case.q, case.v, mask, case.a, np.zeros(case.model.nv))
    again = case.dynamics.inverse(case.q, case.v, a)
    assert_array_equal(a[mask], case.a[mask])
    assert_allclose(again, tau, atol=1e-9 * np.abs(tau).max())


def test_wrenches(case: Case) -> None:
    bodies, rng = case.model.bodies, np.random.default_rng(0)
    names, first, last = Names(case.model), rng.normal(size=6), rng.normal(size=(3, 6))
    expected = np.zeros((4, len(bodies), 6))
    expected[0, 0], expected[:3, -1] = first, last
    given = {bodies[-1]: last, bodies[0]: first}
    assert_array_equal(names.wrenches(given, order=3), expected)
    assert_array_equal(names.wrenches({bodies[0]: first.tolist(), bodies[-1]: last[:1]}),
                       expected[0])
    assert_array_equal(names.wrenches({}), np.zeros((len(bodies), 6)))


@pytest.mark.parametrize(('ask', 'error', 'named', 'got'), [
    (lambda n: n.order(['tail']), NameSetError, ANY, ('tail',)),
    (lambda n: n.order('tail'), NameSetError, 'joint_names', ANY),
    (lambda n: n.prescribed('base'), NameSetError, 'prescribed', ANY),
    (lambda n: n.prescribed(['tail']), NameSetError, 'tail', 'tail'),
    (lambda n: n.prescribed(['base', 'base_joint/wx']), NameSetError, 'prescribed', ANY),
    (lambda n: n.wrenches({'tail': np.zeros(6)}), ModelError, 'tail', 'tail'),
    (lambda n: n.wrenches({'base': np.zeros(5)}), ShapeError, 'external wrench on base', (5,)),
    (lambda n: n.wrenches({'base': np.zeros((2, 6))}), ShapeError,
     'external wrench on base', (2, 6)),
    (lambda n: n.wrenches({'base': np.zeros((1, 2, 6))}, 3), ShapeError,
     'external wrench on base', (1, 2, 6)),
    (lambda n: n.wrenches({'base': [0, 0, np.inf, 0, 0, 0]}), NotFiniteError,
     'external wrench on base', ANY),
    (lambda n: n.wrenches({}, -1), LimitError, 'order', -1),
])
def test_refusals(ask, error: type, named: str, got: object) -> None:
    names = Names(make_case(1, True).model)
    with refused(error, named, got=got):
        ask(names)
