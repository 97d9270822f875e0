# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The floating base: against the kinematics, differences of poses, and itself undone."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    LiedynError, ModelError, NotFiniteError, NotInGroupError, ShapeError)
from liedyn_ros.dynamics import FloatingBase, WORLD
from liedyn_ros.lie import SPATIAL
from liedyn_ros.model import ModelBuilder


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
def test_refusals(spoil, error: type, named: str, got: object) -> None:
    tree = make_case(1, True)
    with refused(error, named, got=got):
        FloatingBase(tree.model).to_spatial(*spoil(tree.q, tree.v, tree.a))
