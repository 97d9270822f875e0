# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Real robots, as Pinocchio's own parser reads them."""

import numpy as np
import pytest
from support.machines.example_robots import example_robot, example_urdfs
from support.refusals import refused
from support.witnesses.link_kinematics import body_poses, inertia_matrix, unpack

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.model import load_urdf

pin = pytest.importorskip('pinocchio')
pinocchio_twin = pytest.importorskip('support.witnesses.pinocchio_twin')

pytestmark = pytest.mark.filterwarnings(  # of mimic joints and inertias; tested by themselves
    'ignore::liedyn_ros.common.errors.DescriptionWarning')

ROBOTS = {
    'quadruped': 'go2_description/urdf/go2.urdf',
    'quadruped with point feet': 'solo_description/robots/solo12.urdf',
    'arm of six joints': 'ur_description/urdf/ur5_robot.urdf',
    'arm of seven joints': 'xarm_description/urdf/xarm7.urdf',
    'humanoid': 'g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf',
    'humanoid on wheels, mimic joints': 'tiago_pro_description/robots/tiago_pro.urdf',
    'gripper with a mimic joint': 'panda_description/urdf/panda.urdf',
    'continuous joints': 'kinova_description/robots/kinova.urdf',
}


@pytest.mark.parametrize('floating', [False, True])
@pytest.mark.parametrize('path', ROBOTS.values(), ids=list(ROBOTS))
def test_same_robot_as_pinocchio(path: str, floating: bool) -> None:
    file = example_robot(path)
    model = load_urdf(file, floating=floating)
    twin, rng = pinocchio_twin.parsed_by_pinocchio(file, model), np.random.default_rng(0)
    other, data = twin.model, twin.model.createData()
    turns = sum(joint.type_name == 'continuous' for joint in model.joint_list)
    assert (model.nq + turns, model.nv) == (other.nq, other.nv)  # Pinocchio: cosine and sine
    assert model.mass == pytest.approx(sum(each.mass for each in other.inertias), rel=1e-14)
    for _ in range(5):
        q = model.random(rng)
        pin.framesForwardKinematics(other, data, twin.to_configuration(q))
        wanted = [data.oMf[other.getFrameId(name, pin.FrameType.BODY)].homogeneous
                  for name in model.bodies]
        np.testing.assert_allclose(body_poses(model.link_table, q), wanted, atol=1e-12)


@pytest.mark.parametrize('path', ROBOTS.values(), ids=list(ROBOTS))
def test_same_inertias_and_limits_as_pinocchio(path: str) -> None:
    file = example_robot(path)
    model, other = load_urdf(file), pin.buildModelFromUrdf(str(file))
    for joint in model.joint_list:
        if joint.type_name == 'fixed':  # theirs has merged it
            assert not other.existJointName(joint.name)
            continue
        index = other.getJointId(joint.name)
        body = model.body_index(joint.child)
        pose_link_body = pin.SE3(unpack(model.link_table.body_placement[body]))
        np.testing.assert_allclose(
            inertia_matrix(model.link_table.inertia[model.link_table.body_link[body]]),
            pose_link_body.act(other.inertias[index]).matrix(), atol=1e-14)
        at, place = other.joints[index].idx_v, joint.v_slice
        assert model.limits.effort[place] == other.effortLimit[at]
        assert model.limits.velocity[place] == other.velocityLimit[at]
        assert model.link_table.damping[place] == other.damping[at]
        assert model.link_table.friction[place] == other.friction[at]
        if joint.type_name != 'continuous':
            at = other.joints[index].idx_q
            assert model.limits.lower[place] == other.lowerPositionLimit[at]
            assert model.limits.upper[place] == other.upperPositionLimit[at]


def test_mimic_joints_are_couplings() -> None:
    coupling, = load_urdf(example_robot(ROBOTS['gripper with a mimic joint'])).couplings
    assert (coupling.joint, coupling.leader) == ('panda_finger_joint2', 'panda_finger_joint1')


def test_impossible_robots_load_with_a_warning_unless_strict() -> None:
    file = example_robot('hyq_description/robots/hyq_no_sensors.urdf')
    with pytest.warns(DescriptionWarning, match=r"links \['base_link', 'lf_foot', .* positive"):
        assert load_urdf(file).nv == 12
    with refused(DescriptionError, 'inertia_about_com'):
        load_urdf(file, strict=True)


@pytest.mark.parametrize('name', ['panda', 'anymal', 'go1', 'b1', 'icub', 'tiago', 'pr2'])
def test_common_robots_load_by_default(name: str) -> None:
    paths = [path for family in example_urdfs().values() for path in family
             if path.endswith(f'/{name}.urdf')]
    if not paths:
        pytest.skip('needs the example-robot-data wheel')
    for path in paths:
        assert load_urdf(example_robot(path)).nv > 0
