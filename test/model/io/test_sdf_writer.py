# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Models written as SDF and read again: the same machine, drawn where its loops are closed."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import random_looped
from support.machines.random_models import random_inertia, random_model, random_pose

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning, LiedynError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, mobility, project
from liedyn_ros.model import load_sdf, ModelBuilder, pose, to_sdf

pytestmark = pytest.mark.filterwarnings(
    'ignore::liedyn_ros.common.errors.DescriptionWarning')
TYPES = 'revolute', 'prismatic', 'continuous', 'universal', 'helical', 'fixed', 'spherical'
CLOSURES = 'weld', 'revolute', 'prismatic', 'spherical', 'universal', 'helical'


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('floating', [False, True])
def test_trees_come_back_from_sdf(seed: int, floating: bool) -> None:
    model = random_model(seed, 9, floating, TYPES)
    again = load_sdf(to_sdf(model))
    q, rng = model.random(np.random.default_rng(seed)), np.random.default_rng(7)
    v, tau = rng.normal(size=(2, model.nv))
    assert again.coordinate_names[6 * floating:] == model.coordinate_names[6 * floating:]
    here, there = (Dynamics(each, dissipation=False) for each in (model, again))
    for body in model.bodies:
        assert_same(there.frames.pose(q, body), here.frames.pose(q, body), 1e-12, 1.0)
    assert_same(there.forward(q, v, tau), here.forward(q, v, tau), 1e-9)
    assert_same(again.limits.lower[np.isfinite(again.limits.lower)],
                model.limits.lower[np.isfinite(model.limits.lower)], 1e-12)


@pytest.mark.parametrize('kind', CLOSURES)
@pytest.mark.parametrize('grounded', [False, True])
def test_loops_come_back_where_they_are_drawn(kind: str, grounded: bool) -> None:
    looped = random_looped(4, (kind,), types=('revolute', 'prismatic'), grounded=grounded)
    again = load_sdf(to_sdf(looped.model, looped.q))
    here, there = ConstrainedDynamics(looped.model), ConstrainedDynamics(again)
    zero = np.zeros(again.nq)
    assert again.closures[0].type_name == kind
    assert mobility(there, zero).degrees_of_freedom == mobility(
        here, looped.q).degrees_of_freedom
    rng = np.random.default_rng(3)
    q, v = project(here, looped.q, rng.normal(size=again.nv))
    tau = rng.normal(size=again.nv)
    assert_same(there.forward(zero, v, tau).a, here.forward(q, v, tau).a, 1e-7)
    with pytest.raises(DescriptionError):
        to_sdf(looped.model)


def test_couplings_and_springs_are_moved_with_the_zero() -> None:
    rng, builder = np.random.default_rng(3), ModelBuilder('r')
    for i, parent in enumerate((None, 'b0')):
        builder.add_body(f'b{i}', random_inertia(rng))
        builder.add_joint(f'j{i}', 'revolute', parent, f'b{i}', axis=rng.normal(size=3),
                          placement=random_pose(rng), stiffness=3.0, rest=0.2,
                          limits={'lower': -1.0, 'upper': 2.0})
    builder.add_coupling('j1', 'j0', 2.0, 0.3)
    model = builder.build()
    q = np.array((0.4, 1.1))
    again = load_sdf(to_sdf(model, q))
    assert_same(again.limits.lower, -1.0 - q)
    assert_same(Dynamics(again).inverse(*np.zeros((3, 2))),
                Dynamics(model).inverse(q, *np.zeros((2, 2))))
    assert again.couplings[0].offset == pytest.approx(0.3 + 2.0 * 0.4 - 1.1)


def test_bodies_without_mass_are_frames_and_places_of_joints() -> None:
    rng, builder = np.random.default_rng(3), ModelBuilder('r')
    builder.add_body('world', None)
    builder.add_joint('ground', 'fixed', None, 'world')
    builder.add_body('turning', None)
    builder.add_joint('j', 'revolute', 'world', 'turning', axis=(0, 1, 1),
                      placement=random_pose(rng))
    builder.add_body('arm', random_inertia(rng))
    builder.add_joint('mount', 'fixed', 'turning', 'arm', placement=random_pose(rng))
    builder.add_body('tool', None)
    builder.add_joint('flange', 'fixed', 'arm', 'tool', placement=random_pose(rng))
    model = builder.build().with_frame('tip', 'tool', pose((1.0, 0.0, 0.0)))
    again = load_sdf(to_sdf(model))
    q = np.array((0.4,))
    assert_same(Dynamics(again).mass_matrix(q), Dynamics(model).mass_matrix(q))
    assert again.bodies[-1] == 'arm'


def test_names_that_links_joints_and_frames_share_are_told_apart() -> None:
    rng, builder = np.random.default_rng(3), ModelBuilder('r')
    for parent, child in ((None, 'b0'), ('b0', 'b1')):
        builder.add_body(child, random_inertia(rng))
        builder.add_joint(child, 'revolute', parent, child, axis=rng.normal(size=3))
    builder.add_coupling('b1', 'b0', 2.0, 0.3)
    model = builder.build().with_frame('b1_joint', 'b1', np.eye(4))
    with pytest.warns(DescriptionWarning, match='b0_joint'):
        text = to_sdf(model)
    again = load_sdf(text)
    assert again.bodies == model.bodies and again.couplings[0].leader == 'b0_joint'
    assert '<frame name="b1_joint_frame"' in text


def test_what_sdf_lacks_is_named() -> None:
    for kind in ('cylindrical', 'planar'):
        with pytest.raises(DescriptionError):
            to_sdf(random_model(1, 1, False, (kind,)))
    builder = ModelBuilder('r')
    builder.add_body('a', random_inertia(np.random.default_rng(1)))
    builder.add_joint('j', 'revolute', None, 'a', axis=(0, 0, 1), armature=1.0)
    with pytest.warns(DescriptionWarning, match='armature'):
        to_sdf(builder.build())
    with pytest.raises(DescriptionError):
        to_sdf(random_looped(4, ('rod',), types=('revolute',)).model)
    with pytest.raises(LiedynError):
        to_sdf('a model')


def test_names_of_models_in_models_are_those_of_one_model() -> None:
    link = ('<link name="{}"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz>'
            '</inertia></inertial></link>')
    model = load_sdf(f'<sdf version="1.9"><model name="m">{link.format("a")}{link.format("i__n")}'
                     f'<model name="i">{link.format("b")}</model></model></sdf>')
    with pytest.warns(DescriptionWarning, match='i::b.*written with _-_'):
        text = to_sdf(model)
    assert '::' not in text and 'i_-_b' in load_sdf(text).bodies


def test_no_two_names_become_one_and_that_of_the_model_is_named() -> None:
    builder = ModelBuilder('a::m')
    for name in ('a_::b', 'a::_b', 'a_-::b', 'a::-_b'):
        builder.add_body(name, random_inertia(np.random.default_rng(1)))
        builder.add_joint(f'{name}_joint', 'fixed', None, name)
    with pytest.warns(DescriptionWarning, match=r"names \['a::m', .*written with _--_"):
        again = load_sdf(to_sdf(builder.build()))
    assert len(again.bodies) == 4 and again.name == 'a_--_m'
