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
from support.recordings.bag_files import joint_state, STORE

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.model import load_urdf, to_urdf
from liedyn_ros.recordings.bags.transforms import (
    description_message, ODOMETRY, robot_of_description, robot_of_file, RobotFrames, SEVERAL,
    STORE as OURS, tf_message, TRANSFORM_TYPE, urdf_of)

JOINT_STATE = 'sensor_msgs/msg/JointState'
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
    data = OURS.serialize_cdr(joint_state(7_000_000_003, names, position), JOINT_STATE)
    message = robot.message(JOINT_STATE, bytes(data))
    return {} if message is None else transforms_of(message)


@pytest.mark.parametrize('seed', range(3))
def test_bodies_are_where_the_core_and_pinocchio_have_them(seed):
    model = load_urdf(to_urdf(random_model(seed, 9, False, types=(
        'revolute', 'prismatic', 'continuous', 'fixed'))))
    robot = robot_of_description(description_message(to_urdf(model)))
    rng = np.random.default_rng(seed)
    names = [joint.name for joint in model.joint_list if joint.type_name != 'fixed']
    q = rng.uniform(-1.0, 1.0, model.nq)
    found = heard(RobotFrames(robot), names[::-1],
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


def made(kind, **fields):
    return STORE.types[kind](**fields)


def numbers():
    """Return what ROS has of a position, another type of it, and a rotation."""
    place = {'x': 1.0, 'y': 2.0, 'z': 3.0}
    return (made('geometry_msgs/msg/Point', **place), made('geometry_msgs/msg/Vector3', **place),
            made('geometry_msgs/msg/Quaternion', x=0.0, y=0.6, z=0.0, w=0.8))


def header(frame):
    return made('std_msgs/msg/Header', frame_id=frame, stamp=made(
        'builtin_interfaces/msg/Time', sec=3, nanosec=4))


def test_the_base_is_where_the_odometry_has_it_and_joints_of_several_degrees_as_their_message():
    robot = RobotFrames(load_urdf(SLIDER))
    point, vector, turn = numbers()
    zero = made('geometry_msgs/msg/Vector3', x=0.0, y=0.0, z=0.0)
    for child, count in (('robot/palm', 1), ('wheel', 0)):
        message = made(ODOMETRY, header=header('odom'), child_frame_id=child, pose=made(
            'geometry_msgs/msg/PoseWithCovariance', covariance=np.zeros(36),
            pose=made('geometry_msgs/msg/Pose', position=point, orientation=turn)), twist=made(
                'geometry_msgs/msg/TwistWithCovariance', covariance=np.zeros(36),
                twist=made('geometry_msgs/msg/Twist', linear=zero, angular=zero)))
        data = robot.message(ODOMETRY, bytes(STORE.serialize_cdr(message, ODOMETRY)))
        assert len({} if data is None else transforms_of(data)) == count
        if data is not None:
            stamp, pose = transforms_of(data)['odom', 'palm']
            assert stamp == 3_000_000_004 and (pose[:3, 3] == (1.0, 2.0, 3.0)).all()
    message = made(SEVERAL, header=header(''), joint_names=['open', 'nobody'], twist=[], wrench=[],
                   transforms=[made('geometry_msgs/msg/Transform', translation=vector,
                                    rotation=turn)] * 2)
    data = robot.message(SEVERAL, bytes(STORE.serialize_cdr(message, SEVERAL)))
    (names, (_, pose)), = transforms_of(data).items()
    assert names == ('palm', 'left') and (pose[:3, 3] == (1.0, 2.0, 3.0)).all()
    assert np.allclose(pose[:3, :3], SO3.from_quaternion([0.0, 0.6, 0.0, 0.8]).matrix)


def test_the_urdf_of_a_file_is_its_text_and_of_another_format_is_written(tmp_path):
    file = tmp_path / 'gripper.urdf'
    file.write_text(SLIDER)
    model, text = robot_of_file(file)
    assert text == SLIDER and model.joints == ('root_joint', 'open', 'end', 'follow')
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
    model, urdf = robot_of_file(path)
    assert load_urdf(urdf).name == model.name == 'Ger\xe4t'
