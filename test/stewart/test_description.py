# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as a tree for URDF: its ends by three ways of forward kinematics."""

from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.platforms.leg_types import example, HOMES

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import load_urdf, to_urdf
from liedyn_ros.stewart.description import PlatformTree
from liedyn_ros.stewart.platform.kinematics import leg_ends

pinocchio = pytest.importorskip('pinocchio')
CASES = [*HOMES, 'spindles']


@cache
def machine(name):
    """Return an example, a tree of it, and poses about its home."""
    geometry, home = example(name)
    rng = np.random.default_rng(7)
    poses = [home @ se3.exp(np.array([0.15] * 3 + [0.02] * 3) * rng.uniform(-1.0, 1.0, 6))
             for _ in range(20)]
    tree = PlatformTree(geometry, home, base='b', platform='p', prefix='left/')
    return geometry, tree, [home, *poses]


@cache
def own_dynamics(text):
    return Dynamics(load_urdf(text))


def by_own_kinematics(text, values, pose):
    """Return the poses of links by the package's loader and kinematics."""
    dynamics = own_dynamics(text)
    model = dynamics.model
    q = model.neutral()
    for name, value in values.items():
        q[model.joint(name).qi] = value
    at = model.joint('p_joint').qi
    q[at:at + 7] = [*pose[:3, 3], *Rotation.from_matrix(pose[:3, :3]).as_quat()]
    return dict(zip(model.bodies, dynamics.kinematics(q).poses))


pinocchio_model = cache(pinocchio.buildModelFromXML)


def by_pinocchio(text, values, pose):
    model = pinocchio_model(text)
    data, q = model.createData(), pinocchio.neutral(model)
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q:joint.idx_q + joint.nq] = (
            value if joint.nq == 1 else (np.cos(value), np.sin(value)))
    floating = model.joints[model.getJointId('p_joint')]
    q[floating.idx_q:floating.idx_q + 7] = [
        *pose[:3, 3], *Rotation.from_matrix(pose[:3, :3]).as_quat()]
    pinocchio.framesForwardKinematics(model, data, q)
    return {frame.name: data.oMf[k].homogeneous for k, frame in enumerate(model.frames)
            if frame.type == pinocchio.FrameType.BODY}


def by_xml(text, values, pose):
    """Multiply the placements that robot_state_publisher reads, joint after joint."""
    found = {'b': np.eye(4)}
    for joint in ElementTree.fromstring(text).iter('joint'):
        origin, at, moved = joint.find('origin'), np.eye(4), np.eye(4)
        at[:3, :3] = Rotation.from_euler(
            'xyz', [float(x) for x in origin.get('rpy').split()]).as_matrix()
        at[:3, 3] = [float(x) for x in origin.get('xyz').split()]
        if joint.get('type') == 'floating':
            moved = pose
        else:
            axis = np.array([float(x) for x in joint.find('axis').get('xyz').split()])
            step = values[joint.get('name')] * axis
            if joint.get('type') == 'prismatic':
                moved[:3, 3] = step
            else:
                moved[:3, :3] = Rotation.from_rotvec(step).as_matrix()
        found[joint.find('child').get('link')] = (
            found[joint.find('parent').get('link')] @ at @ moved)
    return found


@pytest.mark.parametrize('forward', [by_own_kinematics, by_pinocchio, by_xml])
@pytest.mark.parametrize('name', CASES)
def test_platform_and_ends_of_legs_are_where_they_should(name, forward):
    geometry, tree, poses = machine(name)
    text = to_urdf(tree.model)
    for pose in poses:
        values = dict(zip(tree.joints, tree.joint_values(pose)))
        links = forward(text, values, pose)
        np.testing.assert_allclose(links['p'], pose, atol=1e-9)
        for leg, leg_type, end in zip(
                geometry.leg_names, geometry.leg_types, leg_ends(geometry, pose)[1]):
            rod = links[f'left/{leg}_rod']
            length = getattr(leg_type, 'rod', 0.0)  # a strut's frame is at its end
            np.testing.assert_allclose(rod[:3, 3] + length * rod[:3, 2], end, atol=1e-9)
