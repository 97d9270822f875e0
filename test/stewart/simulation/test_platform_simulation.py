# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A platform under leg forces: its integrator, its drives, the ends of its travel."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, leg_rates, load_geometry, MujocoPlatformSimulation, PlatformSimulation,
    StewartDynamics)

GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))
HOME = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
PUSH = np.array([30.0, -20.0, 10.0, 25.0, -15.0, 5.0])  # N


def held():
    """Return the forces that hold the platform at home."""
    return StewartDynamics(GEOMETRY).inverse(HOME, np.zeros(6), np.zeros(6)).forces


def pushed(dt, seconds=0.2, lag=0.0):
    """Return a simulation after a time under forces that push the platform."""
    simulation = PlatformSimulation(GEOMETRY, HOME, dt, lag)
    simulation.command(held() + PUSH)
    for _ in range(round(seconds / dt)):
        simulation.step()
    return simulation


def test_motion_against_scipy():
    """Its Runge-Kutta method of order eight, in exponential coordinates about home."""
    dynamics, forces, simulation = StewartDynamics(GEOMETRY), held() + PUSH, pushed(1e-3)

    def rate(_, y):
        pose = se3.normalize(HOME @ se3.exp(y[:6]))
        return np.concatenate((se3.right_jacobian_inverse(y[:6]) @ y[6:],
                               dynamics.forward(pose, y[6:], forces).acceleration))

    end = solve_ivp(rate, (0.0, 0.2), np.zeros(12), 'DOP853', rtol=1e-10, atol=1e-11).y[:, -1]
    np.testing.assert_allclose(simulation.pose, HOME @ se3.exp(end[:6]), atol=1e-9)
    np.testing.assert_allclose(simulation.twist, end[6:], atol=1e-8)
    assert np.abs(simulation.pose - HOME).max() > 0.01


def test_the_method_is_of_fourth_order():
    best = pushed(1e-3)
    errors = [np.abs(pushed(dt).twist - best.twist).max() for dt in (0.04, 0.02)]
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.35)


def test_energy_is_the_work_of_the_legs():
    dynamics, simulation = StewartDynamics(GEOMETRY), pushed(1e-3)
    lengths = leg_lengths(GEOMETRY, np.stack((HOME, simulation.pose)))
    work = (held() + PUSH) @ (lengths[1] - lengths[0])
    gained = sum(dynamics.energy(simulation.pose, simulation.twist)) - sum(
        dynamics.energy(HOME, np.zeros(6)))
    assert gained == pytest.approx(work, rel=1e-8)


def test_drives_that_lag_give_an_impulse_less():
    """Forces that rise as 1 - exp(-t / lag): the impulse is that of a time lag less."""
    seconds, lag = 0.02, 0.005
    dynamics = StewartDynamics(GEOMETRY)
    jolt = dynamics.forward(HOME, np.zeros(6), held() + PUSH).acceleration
    simulation = pushed(1e-3, seconds, lag)
    risen = seconds - lag * (1.0 - np.exp(-seconds / lag))
    np.testing.assert_allclose(simulation.twist, risen * jolt, rtol=0.05, atol=2e-3)


def test_it_is_held_until_commanded_and_then_reports_its_legs():
    simulation = PlatformSimulation(GEOMETRY, HOME)
    for _ in range(10):
        simulation.step()
    assert (simulation.moves, simulation.time) == (False, 10 * 1e-3)
    np.testing.assert_array_equal(simulation.pose, HOME)
    sample = pushed(1e-3).sample()
    np.testing.assert_allclose(sample.lengths, leg_lengths(GEOMETRY, sample.pose), atol=1e-14)
    np.testing.assert_allclose(
        sample.leg_rates, leg_rates(GEOMETRY, sample.pose, sample.twist), atol=1e-14)


def test_the_end_of_travel_ends_the_motion():
    simulation = PlatformSimulation(GEOMETRY, HOME)
    simulation.command(held() + 100.0)
    with refused(LiedynError, 'leg_1', indices=(0,)):
        for _ in range(1000):
            simulation.step()
    assert (leg_lengths(GEOMETRY, simulation.pose) <= 0.95).all()


@pytest.mark.parametrize('file', [
    'stewart_geometry.yaml', 'stewart_cable_robot.yaml', 'stewart_cranks.yaml'])
def test_drives_without_commands_brake(file):
    """In motion under a load; the brakes of cables pull alone."""
    geometry = load_geometry(config_file(file))
    home = HOME if geometry.home is None else geometry.home
    simulation = PlatformSimulation(geometry, home)
    forces = StewartDynamics(geometry).inverse(home, np.zeros(6), np.zeros(6)).forces
    simulation.load = np.array([0.1, 0.0, 0.0, 3.0, -2.0, 1.0])
    simulation.command(forces)
    for _ in range(150):
        simulation.step()
    assert simulation.drives is Drives.COMMANDED and np.abs(simulation.twist).max() > 0.01
    for _ in range(400):
        simulation.step()
    at = simulation.pose
    assert simulation.drives is Drives.BRAKED and np.abs(simulation.twist).max() < 1e-9
    for _ in range(200):
        simulation.step()
    np.testing.assert_allclose(simulation.pose, at, atol=1e-9)
    simulation.command(forces)
    simulation.step()
    assert simulation.drives is Drives.COMMANDED


def test_refuses():
    simulation = PlatformSimulation(GEOMETRY, HOME)
    for value, indices in ((np.zeros(5), ()), ([np.nan] * 6, (0,))):
        with refused(LiedynError, 'forces', indices=indices):
            simulation.command(value)
    assert not simulation.moves
    with refused(LiedynError, 'lag', expected=0):
        PlatformSimulation(GEOMETRY, HOME, lag=-1.0)
    low = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.05])
    with refused(LiedynError, 'leg_1', indices=(0,)):
        PlatformSimulation(GEOMETRY, low)
    octahedron = load_geometry(config_file('stewart_octahedron.yaml'))
    with refused(LiedynError, 'octahedron', got='none', expected='masses'):
        PlatformSimulation(octahedron, HOME)


def test_mujoco_moves_it_as_our_dynamics_do():
    """After 50 ms; what differs are its soft constraints and its integrator of first order."""
    pytest.importorskip('mujoco')
    ours, theirs = (kind(GEOMETRY, HOME, 2e-4) for kind in (
        PlatformSimulation, MujocoPlatformSimulation))
    for simulation in (ours, theirs):
        simulation.command(held() + PUSH)
        simulation.load = np.array([0.0, 0.0, 0.1, 3.0, 0.0, 0.0])
        for _ in range(250):
            simulation.step()
    np.testing.assert_allclose(theirs.twist, ours.twist, atol=0.02 * np.abs(ours.twist).max())
    np.testing.assert_allclose(theirs.pose, ours.pose, atol=1e-3)


def test_dry_friction_holds_and_sensors_have_steps():
    pytest.importorskip('mujoco')
    simulation = MujocoPlatformSimulation(GEOMETRY, HOME, 1e-3, 0.0, 1e-4, 50.0)
    simulation.command(1.1 * held())
    for _ in range(200):
        simulation.step()
    assert abs(simulation.pose[2, 3] - HOME[2, 3]) < 1e-3
    steps = simulation.sample().lengths / 1e-4
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
