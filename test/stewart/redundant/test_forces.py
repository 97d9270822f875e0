# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Forces of seven legs and more: least ones within limits, the dynamics, control, simulation."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from support.platforms.leg_types import home as home_of, mixed, redundant
from support.refusals import refused
import yaml

from liedyn_ros.common.errors import GeometryError, LimitError, ShapeError, SingularError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    ForceDistribution, leg_lengths, length_jacobian, load_geometry,
    PlatformController, PlatformMasses, PlatformSimulation,
    SmoothTrajectory, StewartDynamics)

CABLES = load_geometry(config_file('stewart_cable_robot.yaml'))
HIGH = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 1.2])
MASSES = PlatformMasses(5.0, (0.3, 0.2, 0.25, 0.01, -0.02, 0.03), (0.05, -0.02, 0.1))


def states(start, count, seed):
    """Return random poses about a start, body twists and accelerations."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        pose, twist, acceleration = rng.normal(size=(3, 6))
        yield start @ se3.exp(0.05 * pose), 0.3 * twist, 0.3 * acceleration


def conditions(geometry, forces, jacobian):
    """Return how far forces are from the least ones: what their own conditions leave (KKT)."""
    scales = geometry.drive_scales
    least, most = geometry.force_limits.T
    middle = np.array([0.5 * (low + high) if np.isfinite([low, high]).all()
                       else np.clip(0.0, low, high) for low, high in zip(least, most)])
    slope = (forces - middle) / scales ** 2
    inside = (forces > least + 1e-6) & (forces < most - 1e-6)
    multipliers = np.linalg.lstsq(jacobian[inside], slope[inside], rcond=None)[0]
    left = slope - jacobian @ multipliers
    wrong = np.where(forces <= least + 1e-6, np.minimum(left, 0.0), np.maximum(left, 0.0))
    return max(np.abs(left[inside]).max(initial=0.0), np.abs(wrong[~inside]).max(initial=0.0))


@pytest.mark.parametrize(('geometry', 'start'), [(CABLES, HIGH), (mixed(), home_of())])
def test_forces_hold_the_wrench_and_are_the_least(geometry, start):
    rng, distribution, bound = np.random.default_rng(1), ForceDistribution(geometry), 0
    for pose, _, _ in states(start, 100, 2):
        wrench = rng.normal(size=6) * [20.0, 20.0, 20.0, 300.0, 300.0, 300.0]
        held = distribution.hold(pose, wrench)
        jacobian = length_jacobian(geometry, pose)
        assert jacobian.T @ held.forces == pytest.approx(wrench, abs=1e-8 * 400.0)
        if held.within:
            least, most = geometry.force_limits.T
            assert (least <= held.forces).all() and (held.forces <= most).all()
            assert conditions(geometry, held.forces, jacobian) < 1e-6
            bound += ((held.forces == least) | (held.forces == most)).any()
    assert bound > 3, 'limits are met'


def test_another_solver_finds_the_same_forces():
    rng, distribution, narrow = np.random.default_rng(3), ForceDistribution(CABLES), 0
    for pose, _, _ in states(HIGH, 20, 4):
        wrench = rng.normal(size=6) * [10.0, 10.0, 10.0, 200.0, 200.0, 200.0]
        held, jacobian = distribution.hold(pose, wrench), length_jacobian(CABLES, pose)
        if not held.within:
            continue
        least, most = CABLES.force_limits.T
        found = minimize(
            lambda f: np.sum((f / 100.0 + 2.05) ** 2), 0.5 * (least + most), method='SLSQP',
            jac=lambda f: 0.02 * (f / 100.0 + 2.05), bounds=list(zip(least, most)),
            constraints={'type': 'eq', 'fun': lambda f: (jacobian.T @ f - wrench) / 100.0,
                         'jac': lambda f: jacobian.T / 100.0}, options={'ftol': 1e-14})
        assert held.forces == pytest.approx(found.x, abs=0.05)
        narrow += 1
    assert narrow > 4


def test_forces_are_found_wherever_a_linear_program_says_so():
    """It finds the largest room that all limits leave: none where it is negative."""
    rng, distribution, within = np.random.default_rng(1), ForceDistribution(CABLES), []
    least, most = CABLES.force_limits.T
    beside = np.vstack((np.eye(8), -np.eye(8)))
    for pose, _, _ in states(HIGH, 40, 2):
        wrench = rng.normal(size=6) * [20.0, 20.0, 20.0, 300.0, 300.0, 300.0]
        room = -linprog(
            [0.0] * 8 + [-1.0], A_ub=np.column_stack((beside, np.ones(16))),
            b_ub=np.concatenate((most, -least)), b_eq=wrench, bounds=(None, None),
            A_eq=np.column_stack((length_jacobian(CABLES, pose).T, np.zeros(6)))).fun
        assert abs(room) > 1e-3, 'N: as far as programs tell'
        within.append(distribution.hold(pose, wrench).within)
        assert within[-1] == (room > 0.0)
    assert 5 < sum(within) < 35


def test_wrenches_beyond_the_limits_are_said_so():
    held = ForceDistribution(CABLES).hold(HIGH, [0.0, 0.0, 0.0, 0.0, 0.0, -4000.0])
    assert not held.within
    assert length_jacobian(CABLES, HIGH).T @ held.forces == pytest.approx(
        [0.0, 0.0, 0.0, 0.0, 0.0, -4000.0], abs=1e-8)
    with refused(LimitError, 'acceleration'):
        StewartDynamics(CABLES).inverse(HIGH, np.zeros(6), [0.0, 0.0, 0.0, 0.0, 0.0, -400.0])


@pytest.mark.parametrize(('geometry', 'start'), [
    (CABLES, HIGH), (dataclasses.replace(mixed(), masses=MASSES), home_of())])
def test_motion_under_the_forces_of_a_motion_is_that_motion(geometry, start):
    dynamics, rng = StewartDynamics(geometry), np.random.default_rng(5)
    for pose, twist, acceleration in states(start, 20, 6):
        external = rng.normal(size=6)
        motion = dynamics.inverse(pose, twist, acceleration, external=external)
        back = dynamics.forward(pose, twist, motion.forces, external=external)
        assert back.acceleration == pytest.approx(acceleration, abs=1e-9)
        h = 1e-4
        path = [pose @ se3.exp(t * twist + 0.5 * t * t * acceleration) for t in (-h, 0.0, h)]
        before, now, after = leg_lengths(geometry, np.array(path))
        assert motion.leg_accelerations == pytest.approx(
            (before - 2.0 * now + after) / h ** 2, abs=1e-4)


def test_the_platform_moves_as_one_on_six_massless_legs():
    geometry = dataclasses.replace(redundant(8, 2), masses=MASSES)
    names = [geometry.leg_names[k] for k in (0, 1, 3, 4, 6, 7)]
    six = StewartDynamics(dataclasses.replace(geometry.six(names), masses=MASSES))
    dynamics = StewartDynamics(geometry)
    for pose, twist, acceleration in states(home_of(), 10, 7):
        forces = six.inverse(pose, twist, acceleration).forces
        every = dynamics.inverse(pose, twist, acceleration).forces
        assert length_jacobian(geometry, pose).T @ every == pytest.approx(
            length_jacobian(six.geometry, pose).T @ forces, abs=1e-9)
        assert dynamics.mass_matrix(pose) == pytest.approx(six.mass_matrix(pose), abs=1e-12)


def test_rates_of_forces_are_those_along_the_motion():
    dynamics = StewartDynamics(CABLES)
    pose, twist, acceleration = next(states(HIGH, 1, 8))
    jerk = np.array([0.3, -0.2, 0.1, 0.5, 0.4, -0.6])
    motion = dynamics.inverse(pose, twist, np.stack((acceleration, jerk)))
    now = dynamics.inverse(pose, twist, acceleration)
    assert motion.forces[0] == pytest.approx(now.forces)
    assert motion.leg_accelerations[0] == pytest.approx(now.leg_accelerations)
    h = 1e-3
    first, last = (dynamics.inverse(
        pose @ se3.exp(t * twist + 0.5 * t * t * acceleration), twist + t * acceleration,
        acceleration + t * jerk).forces for t in (-h, h))
    assert motion.forces[1] == pytest.approx((last - first) / (2.0 * h), rel=1e-3, abs=1e-2)


@pytest.mark.parametrize('geometry', [CABLES, redundant(8, 2)], ids=['wires', 'struts'])
def test_the_jacobian_changes_as_differences_say(geometry):
    dynamics = StewartDynamics(dataclasses.replace(geometry, masses=MASSES))
    start = HIGH if geometry is CABLES else home_of()
    for pose, twist, _ in states(start, 5, 9):
        h = 1e-4
        ahead, behind = (length_jacobian(geometry, pose @ se3.exp(way * h * twist)) @ twist
                         for way in (1.0, -1.0))
        still = dynamics.forward(pose, twist, np.zeros(8))
        expected = length_jacobian(geometry, pose) @ still.acceleration + (
            ahead - behind) / (2.0 * h)
        assert still.leg_accelerations == pytest.approx(expected, abs=1e-6)


@pytest.mark.full
def test_a_controller_moves_a_cable_robot_and_its_wires_pull():
    trajectory = SmoothTrajectory(
        HIGH, [0.1, 0.1, 0.1, 0.2, 0.2, 0.1], [0.23, 0.31, 0.17, 0.29, 0.19, 0.37],
        np.arange(6.0), 0.3)
    simulation = PlatformSimulation(CABLES, HIGH, 2e-3, lag=0.01)
    controller = PlatformController(StewartDynamics(CABLES), trajectory, lag=0.01)
    worst, moved = 0.0, 0.0
    for k in range(400):
        if k % 2 == 0:
            command = controller.command(
                simulation.time, 4e-3 if k else 0.0, simulation.pose, simulation.twist)
            simulation.command(command.forces)
            worst = max(worst, np.abs(command.error.error).max())
            assert (command.wanted[0] <= -10.0).all() and (command.wanted[0] >= -400.0).all()
        simulation.step()
        moved = max(moved, np.abs(simulation.pose - HIGH).max())
    assert worst < 1e-2 and moved > 0.05
    sample = simulation.sample()
    assert sample.lengths == pytest.approx(leg_lengths(CABLES, simulation.pose))
    with pytest.raises(ShapeError):
        simulation.command(np.zeros(6))


def test_what_no_dynamics_has_is_refused(tmp_path):
    for limits, named, got in (
            (np.tile([-5.0, 5.0], (8, 1)), 'force limits of wire_1', '-5.0, 5.0'),
            (np.zeros((8, 2)), 'force limits of wire_1', '0.0, 0.0'),
            (np.zeros((6, 2)), 'force_limits', (6, 2))):
        with refused(GeometryError, named, got=got):
            dataclasses.replace(CABLES, force_limits=limits)
    with refused(GeometryError, 'cable_robot', expected='masses'):
        StewartDynamics(dataclasses.replace(CABLES, masses=None))
    dynamics = StewartDynamics(CABLES)
    with refused(LimitError, expected=1):
        dynamics.inverse(HIGH, np.zeros(6), np.zeros((3, 6)))
    with refused(ShapeError, 'acceleration'):
        dynamics.inverse(HIGH, np.zeros(6), np.zeros(5))
    flat = dataclasses.replace(
        redundant(7), base_joints=np.tile([0.0, 0.0, -1.0], (7, 1)) + 1e-4 * np.eye(7, 3),
        masses=MASSES)
    with refused(SingularError, 'pose_base_platform'):
        ForceDistribution(dataclasses.replace(
            flat, base_joints=flat.platform_joints - [0.0, 0.0, 1.0])).hold(
                np.eye(4), np.ones(6))
    content = yaml.safe_load(config_file('stewart_cable_robot.yaml').read_text(encoding='utf-8'))
    assert load_geometry(config_file('stewart_cable_robot.yaml')).masses.mass == 12.0
    content['masses']['leg'] = {'cylinder': {'mass': 1.0}}
    path = tmp_path / 'heavy.yaml'
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding='utf-8')
    with pytest.raises(GeometryError) as caught:
        StewartDynamics(load_geometry(path))
    assert caught.value.names == ('masses',)
