# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Transforms of recordings: those of the core, of Pinocchio, and of a URDF worked out by hand."""

import numpy as np
import pytest
from support.machines.random_models import random_model
from support.recordings.bag_files import STORE

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.model import load_urdf, to_urdf
from liedyn_ros.recordings.bags.transforms import (
    RobotFrames, tf_message, TRANSFORM_TYPE, urdf_of)

SLIDER = """<robot name="gripper"><link name="palm"/><link name="left"/><link name="right"/>
<link name="tip"/>
<joint name="open" type="prismatic"><parent link="palm"/><child link="left"/>
<origin xyz="0 0.1 0" rpy="0 0 1.5707963267948966"/><axis xyz="1 0 0"/>
<limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="follow" type="revolute"><parent link="palm"/><child link="right"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/>
<mimic joint="open" multiplier="2" offset="0.1"/></joint>
<joint name="end" type="fixed"><parent link="left"/><child link="tip"/>
<origin xyz="0 0 0.5"/></joint></robot>"""


def transforms_of(data):
    """Return stamp (ns) and pose (4, 4) by parent and child, as another library reads them."""
    found = {}
    for each in STORE.deserialize_cdr(data, TRANSFORM_TYPE).transforms:
        move, turn, stamp = each.transform.translation, each.transform.rotation, each.header.stamp
        found[each.header.frame_id, each.child_frame_id] = (
            stamp.sec * 10**9 + stamp.nanosec, pose_of(
                SO3.from_quaternion([turn.x, turn.y, turn.z, turn.w]), [move.x, move.y, move.z]))
    return found


def pose_of(rotation, position):
    return SE3.from_rotation_translation(rotation, position).matrix


def heard(robot, names, position):
    return transforms_of(tf_message(7_000_000_003, robot.at(dict(zip(names, position)))))


@pytest.mark.parametrize('seed', range(3))
def test_bodies_are_where_the_core_and_pinocchio_have_them(seed):
    model = load_urdf(to_urdf(random_model(seed, 9, False, types=(
        'revolute', 'prismatic', 'continuous', 'fixed'))))
    rng = np.random.default_rng(seed)
    names = [joint.name for joint in model.joint_list if joint.type_name != 'fixed']
    q = rng.uniform(-1.0, 1.0, model.nq)
    found = heard(RobotFrames(model), names[::-1],
                  [q[model.joint(name).qi] for name in names[::-1]])
    poses = Dynamics(model).kinematics(q).poses
    inside = [each for each in model.joint_list if each.parent is not None]
    assert found.keys() == {(each.parent, each.child) for each in inside}
    for each in inside:
        stamp, pose = found[each.parent, each.child]
        above, below = (poses[model.body_index(name)] for name in (each.parent, each.child))
        assert stamp == 7_000_000_003
        assert np.abs(above @ pose - below).max() < 1e-14
    pinocchio = pytest.importorskip('pinocchio')
    theirs = pinocchio.buildModelFromXML(to_urdf(model))
    data, at = theirs.createData(), pinocchio.neutral(theirs)
    for name in names:
        joint = theirs.joints[theirs.getJointId(name)]
        value = q[model.joint(name).qi]
        at[joint.idx_q:joint.idx_q + joint.nq] = (
            value if joint.nq == 1 else (np.cos(value), np.sin(value)))
    pinocchio.framesForwardKinematics(theirs, data, at)
    for (parent, child), (_, pose) in found.items():
        above, below = (data.oMf[theirs.getFrameId(name)].homogeneous for name in (parent, child))
        assert np.abs(above @ pose - below).max() < 1e-14


def test_a_joint_that_mimics_another_follows_it_and_an_unknown_one_is_left_out():
    robot = RobotFrames(load_urdf(SLIDER))
    assert heard(robot, ['other'], [0.3]).keys() == {('left', 'tip')}
    found = heard(robot, ['open', 'other'], [0.25, 0.3])
    turn = SO3.from_rpy(0.0, 0.0, np.pi / 2)
    assert np.allclose(found['palm', 'left'][1], pose_of(turn, [0.0, 0.35, 0.0]))
    assert np.allclose(found['palm', 'right'][1][:3, :3], SO3.from_rpy(0.0, 0.0, 0.6).matrix)
    assert np.allclose(found['left', 'tip'][1][:3, 3], [0.0, 0.0, 0.5])
    found = heard(robot, ['open', 'follow'], [np.nan, -0.2])  # the gap is left as it was
    assert np.allclose(found['palm', 'left'][1][:3, 3], [0.0, 0.35, 0.0])
    assert np.allclose(found['palm', 'right'][1][:3, :3], SO3.from_rpy(0.0, 0.0, -0.2).matrix)


def test_the_urdf_of_a_file_is_its_text_and_of_another_format_is_written(tmp_path):
    file = tmp_path / 'gripper.urdf'
    file.write_text(SLIDER)
    model = load_urdf(file)
    assert urdf_of(file, model) == SLIDER
    assert model.joints == ('root_joint', 'open', 'end', 'follow')
    assert model.joints == ('root_joint', 'open', 'end', 'follow')
    assert load_urdf(urdf_of(tmp_path / 'gripper.yaml', model)).joints == model.joints
    ball = random_model(0, 4, False, types=('spherical',))
    assert urdf_of(tmp_path / 'ball.yaml', ball) is None
    assert RobotFrames(ball).at({}) == []
    assert transforms_of(tf_message(0, [])) == {}


@pytest.mark.parametrize('encoding', ['latin-1', 'utf-16', 'utf-8-sig'])
def test_the_urdf_of_a_file_may_have_any_encoding(tmp_path, encoding):
    """It was loaded, and ended the command that asked for its text."""
    path = tmp_path / 'arm.urdf'
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
                     '<robot name="Ger\xe4t"><link name="a"/></robot>'.encode(encoding))
    model = load_urdf(path)
    assert load_urdf(urdf_of(path, model)).name == model.name == 'Ger\xe4t'
