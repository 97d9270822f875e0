# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The simulation and the closed loop, with masses that the controller knows wrongly."""

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.aerial import AerialManipulator, FlightSimulation
from liedyn_ros.aerial.vehicle import Lags
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.control import Drives, Feedback, Gains, tracking_error
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import so3
from liedyn_ros.model import ModelBuilder, scale_masses, SpatialInertia

RATE = 200  # Hz, the least that is asked for


def fly(machine, reference, known, seconds, delay=0):
    """Return times and errors of a flight; commands arrive some ms late."""
    simulation = FlightSimulation(machine, reference.at(0.0).q)
    feedback, dynamics, waiting, times, errors = (
        Feedback(machine.model, Gains()), Dynamics(known), [], [], [])
    for k in range(1000 * seconds):
        if k % (1000 // RATE) == 0:
            q, v = simulation.q, simulation.v
            error = tracking_error(machine.model, reference.at(simulation.time), q, v)
            tau = dynamics.inverse(q, v, feedback.acceleration(error, 1.0 / RATE))
            waiting.append((k + delay, machine.command(tau, q)))
            times.append(simulation.time)
            errors.append(error.error)
        while waiting and waiting[0][0] <= k:
            command = waiting.pop(0)[1]
            simulation.command_rotors(command.rotors.speeds)
            simulation.command_torques(command.torques)
        simulation.step()
    return np.array(times), np.array(errors)


@pytest.mark.parametrize('factor', [0.95, 1.05])
@pytest.mark.parametrize('delay', [0, 8, 50])
def test_tracks_with_five_percent_error_in_all_masses(machine, reference, factor, delay):
    times, errors = fly(machine, reference, scale_masses(machine.model, factor), 3, delay)
    settled = errors[times >= 2.0]
    assert np.linalg.norm(settled[:, 3:6], axis=1).max() < 0.01
    assert np.degrees(np.linalg.norm(settled[:, :3], axis=1).max()) < 1.0
    assert np.degrees(np.abs(settled[:, 6:]).max()) < 1.0


def test_integral_takes_the_sag_away(machine, reference):
    """Without it, 0.05 g over the error gain would stay."""
    times, errors = fly(machine, reference, scale_masses(machine.model, 1.05), 3)
    sag = 0.05 * 9.81 / (3.0 * Gains().position**2)
    assert np.abs(errors[times >= 2.0, 5]).max() < 0.1 * sag


def test_scaled_model_is_scaled(machine, reference):
    model = machine.model
    heavy, motion = scale_masses(model, 1.05), reference.at(4.0)[:3]
    assert heavy.mass == pytest.approx(1.05 * model.mass, rel=1e-14)
    np.testing.assert_allclose(
        Dynamics(heavy).inverse(*motion), 1.05 * Dynamics(model).inverse(*motion), rtol=1e-12)
    assert model.mass == pytest.approx(4.68, rel=1e-14)
    with refused(LiedynError, 'factor', expected=0):
        scale_masses(model, 0.0)


def test_stands_until_commanded_then_falls(machine, reference):
    start = reference.at(0.0).q
    simulation = FlightSimulation(machine, start)
    simulation.step()
    simulation.command_rotors(np.zeros(6))
    simulation.step()
    assert not simulation.moves
    np.testing.assert_array_equal(simulation.q, start)
    simulation.command_torques(np.zeros(6))
    for _ in range(100):
        simulation.step()
    assert simulation.time == 102 * 1e-3
    dynamics = Dynamics(machine.model)
    fallen = dynamics.center_of_mass(simulation.q) - dynamics.center_of_mass(start)
    np.testing.assert_allclose(fallen, [0.0, 0.0, -0.5 * 9.81 * 0.01], atol=1e-12)


@pytest.mark.parametrize('both', [False, True], ids=['base', 'base and joints'])
@pytest.mark.parametrize('lags', [Lags(), Lags(0.04, 0.04)], ids=['no lag', 'lags'])
def test_drives_without_commands_level_the_base(machine, reference, both, lags):
    """With masses that they know 20 % wrongly, from a tilt and turn rates."""
    q = machine.model.integrate(reference.at(0.0).q, np.r_[0.2, -0.15, 0.4, np.zeros(9)])
    hold = machine.dynamics.inverse(q, np.zeros(12), np.zeros(12))
    simulation = FlightSimulation(
        machine, q, 2e-3, lags, AerialManipulator(scale_masses(machine.model, 0.8)))
    simulation.v[:6] = 0.3, 0.2, 0.1, 0.2, 0.1, 0.0

    def command_joints():
        simulation.command_torques(
            hold[6:] - 2.0 * (simulation.q[7:] - q[7:]) - 0.2 * simulation.v[6:])

    simulation.command_wrench(hold[:6])
    command_joints()
    for _ in range(1100):
        if not both:
            command_joints()
        simulation.step()
    assert simulation.drives is Drives.HOVERING
    assert np.degrees(np.arccos(so3.from_quaternion(simulation.q[3:7])[2, 2])) < 5.0
    assert abs(simulation.q[2] - q[2]) < 0.3
    assert np.abs(simulation.q[7:] - q[7:]).max() < 0.3
    simulation.command_wrench(hold[:6])
    command_joints()
    simulation.step()
    assert simulation.drives is Drives.COMMANDED


def test_joints_without_commands_are_held_alone(machine, reference):
    q = reference.at(0.0).q
    hold = machine.dynamics.inverse(q, np.zeros(12), np.zeros(12))
    simulation = FlightSimulation(machine, q, 2e-3)
    simulation.command_torques(np.zeros(6))
    for _ in range(300):
        simulation.command_wrench(hold[:6])
        simulation.step()
    assert simulation.drives is Drives.HOLDING
    assert np.abs(simulation.v[6:]).max() < 2.0  # it was 8 as they fell


def test_without_a_bound_the_last_command_holds(machine, reference):
    simulation = FlightSimulation(machine, reference.at(0.0).q, 2e-3)
    simulation.command_timeout = np.inf
    simulation.command_rotors(np.zeros(6))
    simulation.command_torques(np.zeros(6))
    for _ in range(250):
        simulation.step()
    assert simulation.drives is Drives.COMMANDED and simulation.q[2] < 1.0


def test_refused_commands_change_nothing(machine, reference):
    simulation = FlightSimulation(machine, reference.at(0.0).q)
    for command, value, named in (
            (simulation.command_rotors, np.full(6, 1500.0), 'speed of rotor rotor_0'),
            (simulation.command_rotors, np.zeros(5), 'speeds'),
            (simulation.command_wrench, [np.nan] * 6, 'wrench'),
            (simulation.command_torques, [0, 0, 9, 0, 0, 0], 'left_elbow')):
        with refused(LiedynError, named):
            command(value)
    assert not simulation.moves


def test_command_stays_within_limits(machine, reference):
    command = machine.command(
        np.concatenate((np.zeros(5), [1e3], [0, 0, 20, 0, 0, -20])), reference.at(0.0).q)
    assert not command.rotors.reached
    assert {'left_elbow', 'right_elbow'} <= set(command.at_limit)
    assert (np.abs(command.torques) <= 8.0).all()
    assert (command.rotors.speeds <= 1400.0).all()


def test_machine_needs_a_free_base(machine):
    builder = ModelBuilder('post')
    builder.add_body('post', SpatialInertia(1.0, [0, 0, 0], 0.1 * np.eye(3)))
    builder.add_joint('hinge', 'revolute', None, 'post', axis=[0, 0, 1])
    with refused(LiedynError, 'joint hinge'):
        AerialManipulator(builder.build())
