# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Any robot in MuJoCo: it stands, brakes, touches, and refuses as our simulators do."""

import numpy as np
import pytest
from support.machines.looped_machines import five_bar
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    DescriptionError, DescriptionWarning, LiedynError, LimitError, ShapeError)
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives
from liedyn_ros.control.robot_simulation import RobotSimulation
from liedyn_ros.dynamics import Dynamics, LOCAL
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.dynamics.mujoco_twin import MujocoTwin
from liedyn_ros.lie import se3
from liedyn_ros.model import load_model, ModelBuilder, SpatialInertia, to_mjcf

pytest.importorskip('mujoco')


def quadruped():
    """Return a trunk with a sensor of moments that no body has, on four legs without shapes."""
    builder = ModelBuilder('quadruped')
    builder.add_body('trunk', SpatialInertia(0.001, np.zeros(3), np.full((3, 3), 1e-6),
                                             physical=False))
    builder.add_joint('float', 'free', None, 'trunk')
    builder.add_body('box', SpatialInertia(6.0, np.zeros(3), np.diag([0.05, 0.15, 0.18])))
    builder.add_joint('mount', 'fixed', 'trunk', 'box')
    for name, x, y in (('a', 0.2, 0.1), ('b', 0.2, -0.1), ('c', -0.2, 0.1), ('d', -0.2, -0.1)):
        builder.add_body(name, SpatialInertia(0.4, [0.0, 0.0, -0.15], np.diag(
            [0.003, 0.003, 0.0001])))
        builder.add_joint(f'hip_{name}', 'revolute', 'trunk', name, axis=(0, 1, 0),
                          placement=se3.from_rotation_translation(np.eye(3), [x, y, 0.0]))
    return builder.build()


def test_a_legged_robot_stands_by_its_brakes_on_what_it_weighs():
    model = quadruped()
    low = RobotSimulation(model, model.neutral(), ground=0.1).lowest
    q = model.neutral()
    q[2] += 0.1 - low
    robot = RobotSimulation(model, q, ground=0.1)
    assert robot.lowest == pytest.approx(0.1, abs=1e-12) and not robot.moves
    robot.step()
    assert robot.q[2] == q[2] and robot.drives is Drives.STANDING  # as on a stand
    robot.command(np.zeros(4))
    for _ in range(100):
        robot.step()
    assert robot.drives is Drives.COMMANDED
    for _ in range(1500):
        robot.step()
    assert robot.drives is Drives.BRAKED and np.abs(robot.v).max() < 1e-2
    assert set(robot.touches()) == {'a', 'b', 'c', 'd'}
    poses = Dynamics(model).kinematics(robot.q).poses
    force = sum(poses[model.body_index(name)][:3, :3] @ wrench[3:]
                for name, wrench in robot.touches().items())
    np.testing.assert_allclose(force, [0.0, 0.0, 9.81 * model.mass], atol=0.05)
    robot.command(np.zeros(4))
    robot.step()
    assert robot.drives is Drives.COMMANDED


def test_improper_moments_are_those_of_the_body_that_they_are_fixed_to():
    """Accelerations are those of our dynamics, which computes with them as they are."""
    model, dt, rng = quadruped(), 1e-6, np.random.default_rng(1)
    q, v, tau = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    q[:3] = 0.0
    twin = MujocoTwin(model, dt)
    twin.set_state(q, v)
    found = (twin.step(tau)[1] - v) / dt
    np.testing.assert_allclose(found, Dynamics(model).forward(q, v, tau), rtol=1e-3, atol=1e-2)


def test_a_hand_that_presses_a_table_feels_the_wrench_that_is_told():
    """At rest efforts beside the weight are those of the contact, by the Jacobians."""
    model = load_model(config_file('arm.urdf'))
    dynamics, still = Dynamics(model), np.zeros(model.nv)
    at = np.full(model.nv, 0.6)
    reach = dynamics.kinematics(at).poses[-1][:3, 3]
    box = [*(reach - [0.0, 0.0, 0.17]), 0.4, 0.4, 0.4]  # it wants to be 3 cm inside
    robot = RobotSimulation(model, at - [0.0, 0.3, 0.0, 0.0, 0.0, 0.0], box=box)
    with refused(LimitError, robot.driven[0], got=1e9):
        robot.command([1e9, *still[1:]])
    for _ in range(6000):
        efforts = dynamics.inverse(robot.q, still, 100.0 * (at - robot.q) - 20.0 * robot.v)
        robot.command(np.clip(efforts, -robot.limits, robot.limits))
        robot.step()
    assert np.abs(robot.v).max() < 0.1 and robot.touches()
    felt = sum((dynamics.frames.jacobian(robot.q, name, LOCAL).T @ wrench
                for name, wrench in robot.touches().items()), np.zeros(model.nv))
    assert np.abs(felt).max() > 0.1
    np.testing.assert_allclose(
        felt, dynamics.inverse(robot.q, still, still) - robot.efforts, atol=2e-2)


def test_closed_loops_brake_and_wrong_commands_change_nothing():
    model = five_bar()
    robot = RobotSimulation(model, assemble(ConstrainedDynamics(model), [0.7, 0.9, 1.9, -0.5]))
    with refused(LiedynError, ANY):
        RobotSimulation(model, robot.q + [0.0, 0.2, -0.1, 0.0])
    with pytest.raises(ShapeError):
        robot.command([1.0])
    assert not robot.moves
    robot.command_timeout = 0.0
    robot.command([0.0, 0.0])
    for _ in range(500):
        robot.step()
    q = robot.q.copy()
    for _ in range(500):
        robot.step()
    assert robot.drives is Drives.BRAKED
    np.testing.assert_allclose(robot.q, q, atol=1e-4)


@pytest.mark.parametrize(('moments', 'nearest'), [
    ((1.0, 1.0, 3.0), 1.5), ((0.0, 0.0, 0.0), 0.0), ((0.1, -0.1, 0.1), 0.0)])
def test_moments_that_no_body_has_are_the_nearest_ones_and_named(moments, nearest):
    builder = ModelBuilder('thin')
    builder.add_body('rod', SpatialInertia(1.0, [0.5, 0.0, 0.0], np.diag(moments),
                                           physical=False))
    builder.add_joint('turn', 'continuous', None, 'rod', axis=(0, 1, 0))
    with refused(DescriptionError, 'body rod'):
        to_mjcf(builder.build())
    with pytest.warns(DescriptionWarning, match='rod'):
        robot = RobotSimulation(builder.build(), [0.0])
    robot.command([0.0])
    for _ in range(10):
        robot.step()
    np.testing.assert_allclose(robot.v, 0.01 * 9.81 * 0.5 / (0.25 + nearest), rtol=1e-4)


def test_a_robot_that_cannot_be_commanded_falls():
    builder = ModelBuilder('drone')
    builder.add_body('base', SpatialInertia(1.0, np.zeros(3), 0.01 * np.eye(3)))
    builder.add_joint('float', 'free', None, 'base')
    robot = RobotSimulation(builder.build(), [0.0] * 6 + [1.0])
    robot.command([])
    for _ in range(100):
        robot.step()
    assert robot.driven == () and robot.v[5] == pytest.approx(-0.981, rel=1e-6)
