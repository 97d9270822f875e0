# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Models built in Python: order, names, axes, and what is refused."""

import pickle

import numpy as np
import pytest
from support.machines.random_models import random_model, random_rotation
from support.refusals import refused

from liedyn_ros.common.errors import (
    LiedynError, LimitError, ModelError, NotInGroupError, ShapeError)
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.model.parts.geometry import perpendicular

INERTIA = SpatialInertia(1.0, (0.0, 0.0, 0.1), np.eye(3))


def builder_of(*bodies: str) -> ModelBuilder:
    """Return a builder that has bodies and no joint."""
    builder = ModelBuilder('test')
    for body in bodies:
        builder.add_body(body, INERTIA)
    return builder


def test_joints_stand_depth_first_in_order_of_addition() -> None:
    builder = builder_of('tip', 'base', 'other', 'arm')
    builder.add_joint('wrist', 'revolute', 'arm', 'tip', axis=(0, 0, 1))
    builder.add_joint('shoulder', 'spherical', 'base', 'arm')
    builder.add_joint('root', 'free', None, 'base')
    builder.add_joint('neck', 'universal', 'base', 'other', axis=(1, 0, 0), second_axis=(0, 1, 0))
    model = builder.build()
    assert model.joints == ('root', 'shoulder', 'wrist', 'neck')
    assert model.bodies == ('base', 'arm', 'tip', 'other')
    assert [model.joint(name).q_slice for name in model.joints] == [
        slice(0, 7), slice(7, 11), slice(11, 12), slice(12, 14)]
    assert [model.joint(name).v_slice for name in model.joints] == [
        slice(0, 6), slice(6, 9), slice(9, 10), slice(10, 12)]
    assert model.coordinate_names[5:] == (
        'root/vz', 'shoulder/wx', 'shoulder/wy', 'shoulder/wz', 'wrist', 'neck/first',
        'neck/second')


@pytest.mark.parametrize('length', [1e200, 1e-200])
def test_an_axis_may_have_any_length(length: float) -> None:
    """Its square would overflow, or vanish."""
    builder = builder_of('arm')
    builder.add_joint('turn', 'continuous', None, 'arm', axis=(0.6 * length, 0.0, -0.8 * length))
    np.testing.assert_allclose(builder.build().joint('turn').axis, (0.6, 0.0, -0.8), rtol=1e-15)


def test_fixed_bodies_keep_their_names_and_give_their_inertia_away() -> None:
    builder = builder_of('floor', 'arm', 'tool')
    builder.add_joint('hold', 'fixed', None, 'floor')
    builder.add_joint('turn', 'continuous', 'floor', 'arm', axis=(0, 0, 2.0))
    placement = np.eye(4)
    placement[:3, 3] = (1.0, 0.0, 0.0)
    builder.add_joint('mount', 'fixed', 'arm', 'tool', placement=placement)
    model = builder.build()
    table = model.link_table
    assert model.joints == ('hold', 'turn', 'mount') and model.coordinate_names == ('turn',)
    assert list(table.body_link) == [-1, 0, 0] and len(table.kind) == 1
    np.testing.assert_allclose(
        table.inertia[0], [2, 1, 0, 0.2, 2.02, 0, -0.1, 3.02, 0, 3], rtol=1e-15)
    np.testing.assert_array_equal(table.body_placement[2, 9:], (1, 0, 0))
    assert model.mass == 3.0


def test_limits_and_resistances_follow_the_coordinates() -> None:
    builder = builder_of('base', 'hand')
    builder.add_joint('root', 'free', None, 'base')
    builder.add_joint(
        'slide', 'cylindrical', 'base', 'hand', axis=(1, 0, 0), damping=(0.1, 0.2), friction=0.3,
        limits={'lower': (-1, -2), 'upper': 3, 'effort': (4, 5)})
    model = builder.build()
    np.testing.assert_array_equal(model.limits.lower, [-np.inf] * 6 + [-1, -2])
    np.testing.assert_array_equal(model.limits.upper, [np.inf] * 6 + [3, 3])
    np.testing.assert_array_equal(model.limits.velocity, [np.inf] * 8)
    np.testing.assert_array_equal(model.limits.effort[6:], [4, 5])
    np.testing.assert_array_equal(model.link_table.damping, [0] * 6 + [0.1, 0.2])
    np.testing.assert_array_equal(model.link_table.friction, [0] * 6 + [0.3, 0.3])


@pytest.mark.parametrize('arguments, error, name', [
    ({'type_name': 'hinge'}, ModelError, 'hinge'),
    ({'axis': None}, ModelError, 'joint j'),
    ({'type_name': 'free'}, ModelError, 'joint j'),
    ({'axis': (0, 0, 0)}, ModelError, 'axis'),
    ({'axis': (0, 1)}, ShapeError, 'joint j: axis'),
    ({'second_axis': (1, 0, 0)}, ModelError, 'joint j'),
    ({'type_name': 'universal'}, ModelError, 'joint j'),
    ({'type_name': 'universal', 'second_axis': (1, 0, 1)}, ModelError, 'joint j'),
    ({'pitch': 0.1}, ModelError, 'joint j'),
    ({'placement': 2 * np.eye(4)}, NotInGroupError, 'joint j: placement'),
    ({'placement': np.diag([1, 1, -1, 1])}, NotInGroupError, 'joint j: placement'),
    ({'type_name': 'continuous', 'limits': {'lower': 0}}, ModelError, 'joint j'),
    ({'limits': {'lower': 1, 'upper': 0}}, LimitError, 'limits'),
    ({'limits': {'velocity': -1}}, LimitError, 'limits velocity'),
    ({'limits': {'effort': (1, 2)}}, ShapeError, 'limits effort'),
    ({'limits': {'lower': np.nan}}, LimitError, 'limits lower'),
    ({'limits': {'low': 1}}, ModelError, 'joint j'),
    ({'limits': {'lower': 'a'}}, LiedynError, 'joint j: limits lower'),
    ({'damping': 'x'}, LiedynError, 'joint j: damping'),
    ({'damping': -1}, ModelError, 'damping'),
    ({'friction': np.inf}, ModelError, 'friction'),
])
def test_refuses_joints(
        arguments: dict[str, object], error: type[LiedynError], name: str) -> None:
    with refused(error, name):
        builder_of('a').add_joint(**{
            'name': 'j', 'type_name': 'revolute', 'parent': None, 'child': 'a', 'axis': (0, 0, 1),
            **arguments})


def test_refuses_a_graph_that_is_no_tree() -> None:
    with refused(ModelError, 'model test'):
        builder_of().build()
    with refused(ModelError, 'body a'):
        builder_of('a', 'a')
    builder = builder_of('a', 'b', 'c')
    builder.add_joint('one', 'fixed', 'b', 'a')
    with refused(ModelError, 'joint one'):
        builder.add_joint('one', 'fixed', None, 'b')
    with refused(ModelError, 'joint two'):
        builder.add_joint('two', 'fixed', None, 'a')
    builder.add_joint('two', 'fixed', 'a', 'b')
    with refused(ModelError, "bodies ['c']"):
        builder.build()
    builder.add_joint('three', 'fixed', None, 'c')
    with refused(ModelError, "bodies ['a', 'b']"):
        builder.build()
    builder.add_joint('four', 'fixed', 'd', 'e')
    with refused(ModelError, 'd', got='d'):
        builder.build()


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    builder = builder_of('a')
    builder.add_joint('root', 'free', None, 'a')
    with refused(ModelError, 'rot', got='rot'):
        builder.build().joint('rot')
    for call in (builder.make_passive, lambda name: builder.replace_joint(name, 'revolute'),
                 lambda name: builder.lock_joint(name, [])):
        with refused(ModelError, 'rot') as caught:
            call('rot')
        assert caught.value.names == ('rot',) and caught.value.expected == ('root',)


def test_models_survive_pickling() -> None:
    model = random_model(3, 12, True)
    again = pickle.loads(pickle.dumps(model))
    assert again.joints == model.joints
    np.testing.assert_array_equal(again.link_table.placement, model.link_table.placement)


def test_perpendicular_is_the_turned_x_axis() -> None:
    rng = np.random.default_rng(0)
    axes = [random_rotation(rng)[:, 0] for _ in range(100)]
    for axis in (*axes, *np.eye(3), *-np.eye(3)):
        x = perpendicular(axis)
        assert abs(x @ axis) < 1e-15 and abs(np.linalg.norm(x) - 1.0) < 1e-15
    np.testing.assert_array_equal(perpendicular(np.array([0.0, 0.0, 1.0])), (1, 0, 0))


@pytest.mark.parametrize('leaders', [('one',), ('two', 'two')])
def test_joints_that_lead_themselves_or_twice_are_refused(leaders: tuple[str, ...]) -> None:
    builder = ModelBuilder('coupled')
    for name in ('one', 'two'):
        builder.add_body(name, None)
        builder.add_joint(name, 'revolute', None, name, axis=[0, 0, 1])
    builder.add_coupling('one', leaders[0], 2.0, 0.0, dict.fromkeys(leaders[1:], 1.0))
    with refused(ModelError, 'coupling of joint one'):
        builder.build()
