# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The controller of a platform: what it commands, its poles, what it gains from force rates."""

import numpy as np
import pytest

from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Gains
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    load_geometry, PlatformController, PlatformSimulation, SmoothTrajectory, StewartDynamics)

GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))
HOME = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
MOVING = SmoothTrajectory(
    HOME, [0.2, 0.2, 0.3, 0.06, 0.06, 0.06], [0.23, 0.31, 0.17, 0.29, 0.19, 0.37], np.arange(6.0))
STILL = SmoothTrajectory(HOME, np.zeros(6), np.zeros(6), np.zeros(6))


def track(trajectory, steps, period, lag, known, start=HOME, gains=Gains(), dt=1e-3):
    """Return the displacement (n, 6) from the reference at every command, in steps of dt, s."""
    simulation = PlatformSimulation(GEOMETRY, start, dt, lag)
    controller = PlatformController(StewartDynamics(GEOMETRY), trajectory, gains, known)
    errors = []
    for k in range(steps):
        if k % period == 0:
            command = controller.command(
                simulation.time, dt * period, simulation.pose, simulation.twist)
            errors.append(command.error.error)
            simulation.command(command.forces)
        simulation.step()
    return np.array(errors)


@pytest.mark.parametrize('lag', [0.0, 0.05, 0.2])
@pytest.mark.parametrize('coordinate', [0, 5])
def test_errors_obey_the_poles_whatever_the_lag(coordinate, lag):
    """From rest, (s + p)^4 e = 0 has the solution below; what differs halves with the step."""
    start = np.zeros(6)
    start[coordinate] = 0.02
    errors = track(STILL, 500, 1, lag, lag, HOME @ se3.exp(start), Gains(5.0, 5.0))
    pt = 4.0**(1.0 / 3.0) * 5.0 * 1e-3 * np.arange(500)
    np.testing.assert_allclose(
        errors[:, coordinate], 0.02 * (1.0 + pt + 0.5 * pt**2 - 0.5 * pt**3) * np.exp(-pt),
        atol=0.03 * 0.02)


@pytest.mark.full
def test_force_rates_make_up_for_lag():
    """Largest errors of attitude and position from 1.5 to 2.2 s."""
    def worst(lag, known):
        settled = track(MOVING, 1100, 2, lag, known, dt=2e-3)[375:]
        return np.array([np.linalg.norm(part, axis=1).max()
                         for part in (settled[:, :3], settled[:, 3:])])

    without, told, untold = worst(0.0, 0.0), worst(0.03, 0.03), worst(0.03, 0.0)
    np.testing.assert_allclose(told, without, rtol=0.1)
    assert (untold > 8.0 * told).all()


def test_commands_are_ahead_of_the_forces_by_their_rates():
    """The rates are those of the forces along the motion that they make."""
    controller = PlatformController(StewartDynamics(GEOMETRY), MOVING, lag=0.05)
    pose, twist, t, h = MOVING.pose(2.0), MOVING.twist(2.0), 2.0, 1e-5
    command = controller.command(t, 0.0, pose, twist)
    np.testing.assert_allclose(command.forces, command.wanted[0] + 0.05 * command.wanted[1])
    np.testing.assert_allclose(command.error.error, 0.0, atol=1e-14)
    around = [PlatformController(StewartDynamics(GEOMETRY), MOVING).command(
        t + d, 0.0, MOVING.pose(t + d), MOVING.twist(t + d)).wanted[0] for d in (-h, h)]
    np.testing.assert_allclose(
        (around[1] - around[0]) / (2.0 * h), command.wanted[1], rtol=1e-5, atol=1e-4)


def test_reset_forgets():
    controller = PlatformController(StewartDynamics(GEOMETRY), STILL)
    away = HOME @ se3.exp([0.0, 0.0, 0.0, 0.01, 0.0, 0.0])
    first = controller.command(0.0, 0.0, away, np.zeros(6)).forces
    for _ in range(10):
        later = controller.command(0.0, 0.1, away, np.zeros(6)).forces
    assert np.abs(later - first).max() > 1e-3
    controller.reset()
    np.testing.assert_array_equal(
        controller.command(0.0, 0.0, away, np.zeros(6)).forces, first)


@pytest.mark.parametrize('age', [0.03, 0.05])
def test_states_of_one_delay_count_alike(age):
    """At 50 Hz commands hold for 40 ms: older states are reckoned on, others never."""
    controller = PlatformController(StewartDynamics(GEOMETRY), STILL)
    controller.begin(0.0)
    ahead = []
    for k in range(12):
        controller.see(0.02 * k, HOME, np.zeros(6), age)
        ahead.append(controller.last.time - 0.02 * k)
    assert controller.hold == pytest.approx(0.04)
    np.testing.assert_allclose(ahead[4:], age if age > 0.04 else 0.0, atol=1e-12)
