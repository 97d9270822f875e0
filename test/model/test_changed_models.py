# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Joints locked, models attached, payloads: beside the machines that they come from."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import ModelError, NotInGroupError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_urdf, ModelBuilder, pose, SpatialInertia

PLACEMENT = pose([0.3, -0.2, 0.5], [0.4, -1.1, 2.0])
BLOCK = SpatialInertia(1.5, [0.1, 0.0, -0.2], np.diag([0.02, 0.03, 0.04]))


@pytest.mark.parametrize('seed', range(4))
def test_locked_joints_are_joints_that_do_not_move(seed):
    model, rng = random_model(seed, 10, True), np.random.default_rng(seed)
    q = model.random(rng)
    locked = [joint for joint in model.joint_list[1:] if joint.name != 'base_joint'][::2]
    builder = ModelBuilder.of(model)
    for joint in locked:
        builder.lock_joint(joint.name, q[joint.q_slice])
    reduced = builder.build()
    free = [joint for joint in model.joint_list if joint not in locked]
    in_q = np.concatenate([np.arange(model.nq)[joint.q_slice] for joint in free])
    in_v = np.concatenate([np.arange(model.nv)[joint.v_slice] for joint in free])
    assert (reduced.nq, reduced.nv) == (len(in_q), len(in_v))
    v, a = np.zeros((2, model.nv))
    v[in_v], a[in_v] = rng.normal(size=(2, len(in_v)))
    wanted = Dynamics(model, dissipation=False).inverse(q, v, a)[in_v]
    ours = Dynamics(reduced, dissipation=False)
    assert_same(ours.inverse(q[in_q], v[in_v], a[in_v]), wanted, 1e-11)
    np.testing.assert_allclose(ours.kinematics(q[in_q]).poses,
                               Dynamics(model).kinematics(q).poses, atol=1e-12)


@pytest.mark.parametrize('seed', range(4))
def test_a_joint_moves_its_child_as_the_kernels_do(seed):
    model = random_model(seed, 10, False)
    q = model.random(np.random.default_rng(seed))
    poses = dict(zip(model.bodies, Dynamics(model).kinematics(q).poses))
    for joint in model.joint_list:
        parent = np.eye(4) if joint.parent is None else poses[joint.parent]
        np.testing.assert_allclose(
            parent @ joint.placement @ joint.motion(q[joint.q_slice]), poses[joint.child],
            atol=1e-12)


@pytest.mark.parametrize('floating', [False, True])
def test_an_attached_model_moves_with_its_body(floating):
    arm, tool = random_model(1, 6, floating), random_model(2, 5, False)
    builder = ModelBuilder.of(arm)
    builder.add_model(tool, arm.bodies[-1], placement=PLACEMENT, prefix='tool_')
    both, rng = builder.build(), np.random.default_rng(3)
    q, of_tool = both.random(rng), [both.joint(f'tool_{name}') for name in tool.joints]
    own = np.concatenate([q[joint.q_slice] for joint in of_tool])
    rest = np.concatenate([q[both.joint(name).q_slice] for name in arm.joints])
    poses = dict(zip(both.bodies, Dynamics(both).kinematics(q).poses))
    base = Dynamics(arm).kinematics(rest).poses[-1] @ PLACEMENT
    for name, at in zip(tool.bodies, Dynamics(tool).kinematics(own).poses):
        np.testing.assert_allclose(poses[f'tool_{name}'], base @ at, atol=1e-12)
    assert both.mass == pytest.approx(arm.mass + tool.mass)


def test_a_payload_weighs_where_it_is_held():
    model = load_urdf(URDF).with_frame('fingers', 'hand', PLACEMENT)
    builder = ModelBuilder.of(model)
    builder.add_payload('cup', 'fingers', BLOCK, PLACEMENT)
    loaded, q, v, a = Dynamics(builder.build()), [0.4], [1.1], [-0.7]
    wrench = np.zeros((len(loaded.model.bodies), 6))
    center = PLACEMENT @ PLACEMENT @ [*BLOCK.center_of_mass, 1.0]
    np.testing.assert_allclose(
        loaded.frames.pose(q, 'cup') @ [*BLOCK.center_of_mass, 1.0],
        loaded.frames.pose(q, 'hand') @ center, atol=1e-13)
    light = Dynamics(model)
    turn = loaded.frames.pose(q, 'hand')[:3, :3] @ center[:3]
    lever = turn[:2] @ turn[:2]  # squared distance from the axis, which is vertical
    rotation = (loaded.frames.pose(q, 'cup')[:3, :3])[2]
    inertia = BLOCK.mass * lever + rotation @ BLOCK.inertia_about_com @ rotation
    assert loaded.inverse(q, v, a, wrench) - light.inverse(q, v, a) == pytest.approx(
        a[0] * inertia)


def test_refusals():
    builder = ModelBuilder.of(load_urdf(URDF))
    with refused(ModelError, 'trun'):
        builder.lock_joint('trun', 0.0)
    with refused(ShapeError, 'joint turn: position', expected=(1,)):
        builder.lock_joint('turn', [0.0, 1.0])
    with pytest.raises(NotInGroupError):
        random_model(1, 6, True).joint_list[0].motion([0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    with refused(ModelError, 'joint root_joint'):
        builder.add_model(load_urdf(URDF, floating=True), 'hand', prefix='second_')
    with refused(ModelError, 'body base'):
        builder.add_model(load_urdf(URDF), 'hand')
    assert 'second_hand' not in builder.build().bodies  # what was refused has left nothing
    with refused(ModelError, 'hnad'):
        builder.add_payload('cup', 'hnad', BLOCK)
    with refused(ModelError, 'payload hand'):
        builder.add_payload('hand', 'hand', BLOCK)
    builder = ModelBuilder.of(load_urdf(URDF).with_frame('post', None))
    with refused(ModelError, 'payload cup'):
        builder.add_payload('cup', 'post', BLOCK)


@pytest.mark.parametrize(('joint', 'position'), [('turn', 0.2), ('follow', 0.4)])
def test_joints_that_couplings_hold_are_locked_with_their_partner(joint, position):
    model = load_urdf(URDF.replace('</robot>', FOLLOWER))
    builder = ModelBuilder.of(model)
    builder.lock_joint(joint, position)
    locked = builder.build()
    assert locked.couplings == () and locked.nv == model.nv - 2
    q = np.zeros(model.nq)
    for name, at in (('turn', 0.2), ('follow', 0.4)):
        q[model.joint(name).qi] = at
    last = model.joint('follow').child
    assert_same(Dynamics(locked).frames.pose(np.zeros(locked.nq), last),
                Dynamics(model).frames.pose(q, last), 1e-14)
    with refused(ModelError, 'joint follow', expected=pytest.approx(0.4)):
        builder.lock_joint('follow', 0.5)
    builder.lock_joint('follow', [0.4])


URDF = """<robot name="arm"><link name="base"/><link name="hand"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="hand"/>
<axis xyz="0 0 1"/><origin xyz="0 0.2 1"/></joint></robot>"""
FOLLOWER = """<link name="finger"/><joint name="follow" type="continuous"><parent link="hand"/>
<child link="finger"/><mimic joint="turn" multiplier="2"/></joint></robot>"""
