# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Models written as MJCF: MuJoCo computes the same machine from the text."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import random_looped
from support.machines.random_models import random_inertia, random_model, random_pose
from support.refusals import refused
from support.witnesses.mujoco_twin import mujoco

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning, LiedynError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, project
from liedyn_ros.model import (
    CLOSURE_TYPES, Model, ModelBuilder, SpatialInertia, to_mjcf, Visual)

pytestmark = pytest.mark.filterwarnings('ignore::liedyn_ros.common.errors.DescriptionWarning')
AXIAL = 'revolute', 'prismatic', 'continuous', 'universal', 'cylindrical', 'planar'


def compiled(model: Model):
    """Return MuJoCo's model of the text, and a function that takes it to a state."""
    there = mujoco.MjModel.from_xml_string(to_mjcf(model))
    there.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    there.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)

    def state(q, v, tau):
        data = mujoco.MjData(there)
        data.qpos[:] = q
        for joint in model.joint_list:  # w first
            if joint.type_name == 'spherical':
                data.qpos[joint.qi:joint.qi + 4] = np.roll(q[joint.q_slice], 1)
        data.qvel[:], data.qfrc_applied[:] = v, tau
        mujoco.mj_forward(there, data)
        return data
    return there, state


def assert_same_machine(model: Model) -> None:
    """Require poses and accelerations of MuJoCo, without friction and limits, in three states."""
    there, state = compiled(model)
    there.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    there.dof_frictionloss[:] = 0.0
    rng, dynamics = np.random.default_rng(7), Dynamics(model)
    assert there.nv == model.nv
    for joint in model.joint_list:  # balls have one number of damping there
        if joint.type_name == 'spherical':
            there.dof_damping[joint.v_slice] = joint.damping
    assert [there.joint(i).name for i in range(there.njnt)] == [
        name.removesuffix('/wx') for name in model.coordinate_names
        if not name.endswith(('/wy', '/wz'))]
    for _ in range(3):
        q, (v, tau) = model.random(rng), rng.normal(size=(2, model.nv))
        data = state(q, v, tau)
        for i in range(1, there.nbody):
            pose = dynamics.frames.pose(q, there.body(i).name)
            assert_same(pose[:3, 3], data.xpos[i], 1e-10, 1.0)
            assert_same(pose[:3, :3], data.xmat[i].reshape(3, 3), 1e-10)
        friction = np.sign(v) * model.link_table.friction
        assert_same(dynamics.forward(q, v, tau + friction), data.qacc, 1e-8)


@pytest.mark.parametrize('seed', range(4))
def test_trees_are_the_same_machine_in_mujoco(seed: int) -> None:
    assert_same_machine(random_model(seed, 8, False, (*AXIAL, 'fixed', 'spherical')))


def test_a_chain_of_bodies_without_mass_is_one_body_there() -> None:
    rng, builder = np.random.default_rng(3), ModelBuilder('r')
    parent = None
    for i in range(6):
        builder.add_body(f'b{i}', random_inertia(rng) if i % 3 == 2 else None)
        builder.add_joint(f'j{i}', AXIAL[i % 3], parent, f'b{i}', placement=random_pose(rng),
                          axis=rng.normal(size=3), limits={'effort': 3.0})
        parent = f'b{i}'
    model = builder.build()
    assert_same_machine(model)
    assert mujoco.MjModel.from_xml_string(to_mjcf(model)).nbody == 3


@pytest.mark.parametrize('kind', sorted(set(CLOSURE_TYPES) - {'helical'}))
@pytest.mark.parametrize('grounded', [False, True])
def test_closures_leave_the_same_motions_free(kind: str, grounded: bool) -> None:
    looped = random_looped(4, (kind,), types=('revolute', 'prismatic'), grounded=grounded)
    model, rng = looped.model, np.random.default_rng(5)
    there, state = compiled(model)
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q, v = project(dynamics, looped.q, rng.normal(size=model.nv))
    data = state(q, *np.zeros((2, model.nv)))
    held = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    rows = data.efc_J.reshape(-1, there.nv)[held]
    assert_same(data.efc_pos[held], np.zeros(held.sum()), 1e-8, 1.0)
    assert_same(rows @ v, np.zeros(len(rows)), 1e-8, 1.0)
    assert np.linalg.matrix_rank(rows, tol=1e-7) == np.linalg.matrix_rank(
        dynamics.jacobian(q), tol=1e-7)


def test_couplings_screws_and_motors_are_those_of_the_model() -> None:
    rng, builder = np.random.default_rng(3), ModelBuilder('r')
    parent = None
    for i, kind in enumerate(('revolute', 'revolute', 'prismatic', 'helical')):
        builder.add_body(f'b{i}', random_inertia(rng))
        builder.add_joint(f'j{i}', kind, parent, f'b{i}', axis=rng.normal(size=3),
                          pitch=0.3 if kind == 'helical' else 0.0, actuated=i > 0)
        parent = f'b{i}'
    builder.add_coupling('j0', 'j1', 2.0, 0.1)
    builder.add_coupling('j2', 'j1', 2.0, 0.2, {'j0': -0.5})
    there = compiled(builder.build())[0]
    q = np.array((0.1 + 2.0 * 0.7, 0.7, 0.2 + 2.0 * 0.7 - 0.5 * 1.5, 0.4, 0.3 * 0.4))
    data = mujoco.MjData(there)
    data.qpos[:] = q
    mujoco.mj_forward(there, data)
    assert_same(data.efc_pos[:3], np.zeros(3), 1e-12, 1.0)
    assert [there.joint(i).name for i in there.actuator_trnid[:, 0]] == ['j1', 'j2', 'j3']


def test_visuals_touch_nothing_and_have_no_mass() -> None:
    builder = ModelBuilder('r')
    builder.add_body('a', random_inertia(np.random.default_rng(1)), [
        Visual('box', (1.0, 2.0, 3.0)), Visual('cylinder', (1.0, 2.0)), Visual('sphere', (1.0,))])
    builder.add_joint('root', 'free', None, 'a', placement=random_pose(np.random.default_rng(2)))
    model = builder.build()
    there = mujoco.MjModel.from_xml_string(to_mjcf(model))
    assert_same(there.geom_size, [[0.5, 1.0, 1.5], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert not there.geom_contype.any()
    assert there.body_mass[1] == model.mass
    assert_same(there.qpos0[:3], model.joint('root').placement[:3, 3])


def test_what_mujoco_lacks_is_named() -> None:
    builder = ModelBuilder('r')
    builder.add_body('a', random_inertia(np.random.default_rng(1)))
    builder.add_joint('j', 'revolute', None, 'a', axis=(0, 0, 1),
                      limits={'lower': 0.0, 'upper': 0.0})
    with pytest.warns(DescriptionWarning, match=r"\['j'\]: limits not written"):
        text = to_mjcf(builder.build())
    assert not mujoco.MjModel.from_xml_string(text).jnt_limited.any()
    builder.add_body('b', random_inertia(np.random.default_rng(1)))
    builder.add_joint('k', 'free', 'a', 'b')
    with pytest.raises(DescriptionError):
        to_mjcf(builder.build())
    with pytest.raises(DescriptionError):
        to_mjcf(random_looped(4, ('helical',), types=('revolute',)).model)
    with pytest.raises(LiedynError):
        to_mjcf('a model')


def test_a_moving_body_without_mass_is_refused() -> None:
    builder = ModelBuilder('r')
    builder.add_body('a', None)
    builder.add_joint('j', 'revolute', None, 'a', axis=(0, 0, 1))
    with refused(DescriptionError, 'body a'):
        to_mjcf(builder.build())


def test_a_root_named_world_is_the_ground() -> None:
    rng, builder = np.random.default_rng(3), ModelBuilder('r')
    builder.add_body('world', None)
    builder.add_joint('fix', 'fixed', None, 'world', placement=random_pose(rng))
    builder.add_body('a', random_inertia(rng))
    builder.add_joint('j', 'revolute', 'world', 'a', axis=(0, 1, 1), placement=random_pose(rng))
    assert_same_machine(builder.build())


def test_a_point_mass_is_refused_as_mujoco_does() -> None:
    builder = ModelBuilder('point')
    builder.add_body('ball', SpatialInertia(1.0, (0.0, 0.0, 1.0), np.zeros((3, 3))))
    builder.add_joint('j', 'continuous', None, 'ball', axis=(0, 1, 0))
    with refused(DescriptionError, 'body ball'):
        to_mjcf(builder.build())
