# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts of a model by name, and its floating base beside kinematics and differences."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    LiedynError, LimitError, ModelError, NameSetError, NotFiniteError, NotInGroupError, ShapeError)
from liedyn_ros.dynamics import FloatingBase, Names, WORLD
from liedyn_ros.lie import SPATIAL
from liedyn_ros.model import ModelBuilder


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


@pytest.fixture(params=[0, 1])
def tree(request) -> Case:
    """Return a floating machine whose base joint stands somewhere."""
    return make_case(request.param, True)


def test_pose_is_that_of_the_kinematics(tree: Case) -> None:
    base = FloatingBase(tree.model)
    place = tree.model.body_index(base.body)
    pose = base.pose(tree.q)
    assert_allclose(pose, tree.dynamics.kinematics(tree.q).poses[place], atol=1e-12)
    q = np.copy(tree.q)
    q[:7] = base.coordinates(pose)
    assert_allclose(base.pose(q), pose, atol=1e-12)


def test_spatial_twist_is_that_of_the_jacobian(tree: Case) -> None:
    base = FloatingBase(tree.model)
    twist, = base.motion(tree.q, [tree.v]).to(SPATIAL).time_derivatives
    jacobian = tree.dynamics.frames.jacobian(tree.q, base.body, WORLD)
    assert_allclose(twist, jacobian @ tree.v, atol=1e-12)


def test_poses_are_derivatives(tree: Case) -> None:  # (Ali 20)
    base, h = FloatingBase(tree.model), 1e-4
    before, now, after = (
        base.pose(tree.model.integrate(tree.q, t * tree.v + 0.5 * t * t * tree.a))
        for t in (-h, 0.0, h))
    poses = base.motion(tree.q, [tree.v, tree.a]).poses()
    assert_allclose(poses[0], now, atol=1e-12)
    assert_allclose(poses[1], (after - before) / (2.0 * h), atol=1e-5)
    assert_allclose(poses[2], (after - 2.0 * now + before) / h**2, atol=1e-4)


def test_spatial_acceleration_by_differences(tree: Case) -> None:
    """Along a motion of constant a, whose spatial twist changes by v too."""
    base, h = FloatingBase(tree.model), 1e-5
    before, after = (
        base.motion(tree.model.integrate(tree.q, t * tree.v + 0.5 * t * t * tree.a),
                    [tree.v + t * tree.a]).to(SPATIAL).time_derivatives[0] for t in (-h, h))
    spatial = base.to_spatial(tree.q, tree.v, tree.a)
    assert_allclose(spatial[:6], (after - before) / (2.0 * h), atol=1e-6)
    assert_allclose(spatial[6:], tree.a[6:])


@pytest.mark.parametrize('order', [None, 0, 1, 5, 10])
def test_there_and_back(tree: Case, order: int | None) -> None:
    base = FloatingBase(tree.model)
    a = tree.rng.normal(size=tree.model.nv if order is None else (order + 1, tree.model.nv))
    spatial = base.to_spatial(tree.q, tree.v, a)
    assert spatial.shape == a.shape
    back = base.to_body(tree.q, tree.v, spatial)
    scale = np.maximum(1.0, np.abs(spatial).max(axis=-1, keepdims=True))
    assert_allclose((back - a) / scale, np.zeros_like(a), atol=1e-9)


def test_what_is_not_the_bases_may_be_unknown(tree: Case) -> None:
    """As hybrid dynamics does not read accelerations that are not prescribed."""
    a = np.copy(tree.a)
    a[6:] = np.nan
    spatial = FloatingBase(tree.model).to_spatial(tree.q, tree.v, a)
    assert np.isfinite(spatial[:6]).all()
    assert np.isnan(spatial[6:]).all()


def test_a_fixed_base_is_none() -> None:
    builder = ModelBuilder('rock')
    builder.add_body('rock', None)
    builder.add_joint('bed', 'fixed', None, 'rock')
    for model in (make_case(0, False).model, builder.build()):
        with refused(ModelError, ANY, got='one that is fixed'):
            FloatingBase(model)


@pytest.mark.parametrize(('spoil', 'error', 'named', 'got'), [
    (lambda q, v, a: (q[:-1], v, a), ShapeError, 'q', (28,)),
    (lambda q, v, a: (2.0 * q, v, a), NotInGroupError, 'q', 1.9999999999999998),
    (lambda q, v, a: (q, v[:6], a), ShapeError, 'v', (6,)),
    (lambda q, v, a: (q, np.nan * v, a), NotFiniteError, 'v', ANY),
    (lambda q, v, a: (q, v, a[:6]), ShapeError, 'a', (6,)),
    (lambda q, v, a: (q, v, a[None, None]), ShapeError, 'a', ANY),
    (lambda q, v, a: (q, v, np.nan * a), NotFiniteError, 'twists', ANY),
    (lambda q, v, a: (q, v, [[1.0], [1.0, 2.0]]), LiedynError, 'a', [[1.0], [1.0, 2.0]]),
    (lambda q, v, a: (q, 1e200 * v, a), NotFiniteError, 'twists', ANY),
])
def test_refusals_of_bases(spoil, error: type, named: str, got: object) -> None:
    tree = make_case(1, True)
    with refused(error, named, got=got):
        FloatingBase(tree.model).to_spatial(*spoil(tree.q, tree.v, tree.a))
