# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Actuators with lag: against the exponential, a fall in closed form, and flights without lag."""

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.aerial import FlightSimulation
from liedyn_ros.aerial.vehicle import Lags
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.control import Feedback, Gains, LaggedActuators, tracking_error
from liedyn_ros.control.feedback import RateFeedback
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.integrators import runge_kutta_munthe_kaas
from liedyn_ros.model import scale_masses

RNG = np.random.default_rng(5)
PERIOD = 4  # steps of 1 ms between two commands


def fly(machine, reference, feedback, lags, seconds, factor=1.05, known_lags=None):
    """Return configurations and errors of a flight, one of each for every command."""
    known = Dynamics(scale_masses(machine.model, factor))
    simulation = FlightSimulation(machine, reference.at(0.0).q, lags=lags)
    law, flown, errors = feedback(machine.model, Gains()), [], []
    for k in range(1000 * seconds):
        if k % PERIOD == 0:
            q, v = simulation.q, simulation.v
            error = tracking_error(machine.model, reference.at(simulation.time), q, v)
            flown.append(q)
            errors.append(error.error)
            a = law.acceleration(error, 1e-3 * PERIOD)
            command = machine.command(
                known.inverse(q, v, a) if feedback is Feedback else
                (known_lags or lags).lead(known.inverse.time_derivatives(q, v, a)), q)
            simulation.command_rotors(command.rotors.speeds)
            simulation.command_torques(command.torques)
        simulation.step()
    return np.array(flown), np.array(errors)


def worst(errors):
    """Return the largest errors of attitude, position and joints after 2 s."""
    settled = errors[2000 // PERIOD:]
    return np.array([np.linalg.norm(settled[:, :3], axis=1).max(),
                     np.linalg.norm(settled[:, 3:6], axis=1).max(),
                     np.abs(settled[:, 6:]).max()])


@pytest.mark.parametrize('step', [1e-4, 1e-3, 0.3])
def test_forces_are_the_exact_response(step):
    lags, start, command = Lags(0.02, 0.1), RNG.normal(size=12), RNG.normal(size=12)
    lag = lags.of(12)
    np.testing.assert_array_equal(lag, [0.02] * 6 + [0.1] * 6)
    actuators, means = LaggedActuators(start, lag, step), []
    for _ in range(50):
        means.append(actuators.step(command))
    t = step * np.arange(51)[:, None]
    integral = command * t + (start - command) * lag * (1.0 - np.exp(-t / lag))
    np.testing.assert_allclose(means, np.diff(integral, axis=0) / step, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize('lag', [0.0, -0.0, 1e-320])
def test_without_a_lag_worth_the_name_forces_are_there_at_once(lag):
    start, command = RNG.normal(size=(2, 12))
    actuators = LaggedActuators(start, lag, 1e-3)
    np.testing.assert_array_equal(actuators.step(command), command)


def test_rates_given_the_forces_are_followed():
    """A command ahead by (8.8) is what makes forces grow as a ramp."""
    lags, step, start, rate = Lags(0.02, 0.1), 1e-5, RNG.normal(size=12), RNG.normal(size=12)
    actuators = LaggedActuators(start, lags.of(12), step)
    for k in range(1000):
        mean = actuators.step(lags.lead(np.stack((start + (k + 0.5) * step * rate, rate))))
        np.testing.assert_allclose(mean, start + (k + 0.5) * step * rate, atol=1e-6)


def test_machine_falls_as_its_rotors_slow_down(machine, reference):
    """With all commands zero and one lag the forces stay a share of those that hold it."""
    lag, dt, start = 0.1, 1e-3, reference.at(0.0).q
    simulation = FlightSimulation(machine, start, dt, Lags(lag, lag))
    simulation.command_rotors(np.zeros(6))
    simulation.command_torques(np.zeros(6))
    for _ in range(200):
        simulation.step()
    lost = 1.0 - np.exp(-0.2 / lag)  # of what held it
    fallen = 9.81 * (0.5 * 0.2**2 - lag * 0.2 + lag**2 * lost)
    # A step has the mean force, so it falls by dt^3 / 12 times the force's rate further; what is
    # left is of the order dt^4.
    fallen += 9.81 * lost * dt**2 / 12.0
    np.testing.assert_allclose(
        simulation.q[:3] - start[:3], [0, 0, -fallen], atol=9.81 * dt**4)
    np.testing.assert_allclose(simulation.q[3:], start[3:], atol=1e-9)


def test_without_lag_forces_are_the_commands(machine, reference):
    """Bit for bit the integrator's result for held commands."""
    dynamics, q, v = Dynamics(machine.model), reference.at(0.0).q, np.zeros(12)
    simulation = FlightSimulation(machine, q)
    for _ in range(50):
        tau = dynamics.inverse(q, v, np.zeros(12)) * RNG.uniform(0.9, 1.1, 12)
        simulation.command_wrench(tau[:6])
        simulation.command_torques(tau[6:])
        simulation.step()
        q, v = runge_kutta_munthe_kaas.step(dynamics, q, v, 1e-3, tau)
        np.testing.assert_array_equal(simulation.q, q)
        np.testing.assert_array_equal(simulation.v, v)


@pytest.mark.full
@pytest.mark.parametrize(('factor', 'begin', 'apart'), [(1.0, 0.0, 5e-6), (1.05, 2.0, 5e-5)])
def test_known_lags_do_not_show(machine, reference, factor, begin, apart):
    """
    The flight is that of actuators without lag, there as good as with efforts alone.

    With wrong masses from when the forces that hold the machine, which are right, are forgotten.
    """
    without, errors = fly(machine, reference, RateFeedback, Lags(), 3, factor)
    for lags in (Lags(0.05, 0.05), Lags(0.1, 0.02)):
        flown, _ = fly(machine, reference, RateFeedback, lags, 3, factor)
        difference = np.abs(flown - without)[round(1e3 * begin) // PERIOD:]
        assert difference[:, :3].max() < apart and difference[:, 3:].max() < 10.0 * apart
    plain = worst(fly(machine, reference, Feedback, Lags(), 3, factor)[1])
    assert (worst(errors) < 2.0 * plain).all()


@pytest.mark.full
def test_rates_beat_efforts(machine, reference):
    """At 0.1 s errors are 3 to 40 times smaller, and less than half with lags known 20 % wrong."""
    lags = Lags(0.1, 0.1)
    efforts = worst(fly(machine, reference, Feedback, lags, 3)[1])
    for known in (Lags(0.08, 0.08), lags, Lags(0.12, 0.12)):
        rates = worst(fly(machine, reference, RateFeedback, lags, 3, known_lags=known)[1])
        assert (rates < 0.5 * efforts).all()


def test_force_rates_are_derivatives_along_the_flight(machine, reference):
    dynamics, t, h = Dynamics(machine.model), 1.3, 1e-5
    q, *motion = reference.at(t)
    before, after = (dynamics.inverse(*reference.at(t + d)[:3]) for d in (-h, h))
    tau = dynamics.inverse.time_derivatives(q, motion[0], motion[1:])
    np.testing.assert_allclose((after - before) / (2.0 * h), tau[1], atol=1e-6)


@pytest.mark.parametrize('lag', [-0.1, np.nan, np.inf])
def test_refuses(lag):
    with refused(LiedynError, 'lag of joints', expected=0):
        Lags(joints=lag)
