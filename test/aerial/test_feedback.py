# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The feedback: its feedforward against differences, its errors against their poles."""

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.aerial import FlightSimulation
from liedyn_ros.aerial.vehicle import Lags
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.control import Feedback, Gains, ReferenceMotion, tracking_error
from liedyn_ros.control.feedback import RateFeedback
from liedyn_ros.dynamics import Dynamics

RNG = np.random.default_rng(3)


def test_error_on_the_reference_is_zero(machine, reference):
    motion = reference.at(3.0)
    error = tracking_error(machine.model, motion, motion.q, motion.v)
    np.testing.assert_allclose(error.error, 0.0, atol=1e-15)
    np.testing.assert_allclose(error.rate, 0.0, atol=1e-15)
    np.testing.assert_allclose(error.velocity, motion.v, atol=1e-15)
    np.testing.assert_allclose(error.acceleration, motion.a, atol=1e-15)
    np.testing.assert_allclose(error.jerk, motion.jerk, atol=1e-15)


def test_acceleration_keeps_the_rate(machine, reference):  # (Ali 6)
    """Far from the reference too: moved with this acceleration, the rate stays what it is."""
    model, t, h = machine.model, 3.0, 1e-4
    motion = reference.at(t)
    q, v = model.integrate(motion.q, 0.5 * RNG.normal(size=12)), RNG.normal(size=12)
    a = tracking_error(model, motion, q, v).acceleration
    rates = [tracking_error(model, reference.at(t + d),
                            model.integrate(q, d * v + 0.5 * d**2 * a), v + d * a).rate
             for d in (-h, h)]
    np.testing.assert_allclose((rates[1] - rates[0]) / (2.0 * h), 0.0, atol=1e-6)


def test_rate_is_the_derivative_of_the_error(machine, reference):
    """To first order in the error, as the exponential coordinates are."""
    model, t, h = machine.model, 3.0, 1e-5
    motion = reference.at(t)
    q = model.integrate(motion.q, 1e-6 * RNG.normal(size=12))
    v = motion.v + 1e-3 * RNG.normal(size=12)
    errors = [tracking_error(model, reference.at(t + d), model.integrate(q, d * v), v).error
              for d in (-h, h)]
    rate = tracking_error(model, motion, q, v).rate
    np.testing.assert_allclose((errors[1] - errors[0]) / (2.0 * h), rate, atol=1e-5)


@pytest.mark.parametrize('coordinate', [0, 2, 5, 6, 11])
def test_errors_obey_the_poles(machine, coordinate):
    """
    Held at rest, e'' + 3 p e' + 3 p^2 e + p^3 int(e) = 0 has the solution below.

    Commands that are held for a step are off by the order p dt. Twice the errors of half the step
    less those of the step are off by the order (p dt)^2, of which five are allowed.
    """
    model, gains, dt = machine.model, Gains(5.0, 5.0, 5.0), 2e-3
    hover = np.concatenate((np.zeros(6), [1.0], np.zeros(6)))
    still = ReferenceMotion(hover, *np.zeros((3, 12)))
    start = np.zeros(12)
    start[coordinate] = 0.02

    def errors(dt, count):
        simulation = FlightSimulation(machine, model.integrate(hover, start), dt)
        dynamics, feedback = Dynamics(model), Feedback(model, gains)
        found = []
        for _ in range(count):
            error = tracking_error(model, still, simulation.q, simulation.v)
            found.append(error.error[coordinate])
            tau = dynamics.inverse(simulation.q, simulation.v, feedback.acceleration(error, dt))
            simulation.command_wrench(tau[:6])
            simulation.command_torques(tau[6:])
            simulation.step()
        return np.array(found)

    pt = 5.0 * dt * np.arange(300)
    np.testing.assert_allclose(
        2.0 * errors(0.5 * dt, 600)[::2] - errors(dt, 300),
        0.02 * (1.0 + pt - pt**2) * np.exp(-pt), atol=0.02 * 5.0 * (5.0 * dt)**2)


@pytest.mark.parametrize('lags', [Lags(), Lags(0.1, 0.1), Lags(0.05, 0.2), Lags(0.3, 0.01)])
@pytest.mark.parametrize('coordinate', [0, 5, 8])
def test_errors_obey_the_poles_whatever_the_lags(machine, coordinate, lags):
    """From rest, (s + p)^4 e = 0 has the solution below; what differs halves with the step."""
    model, pole, dt = machine.model, 4.0**(1.0 / 3.0) * 5.0, 1e-3
    hover = np.concatenate((np.zeros(6), [1.0], np.zeros(6)))
    still = ReferenceMotion(hover, *np.zeros((3, 12)))
    start = np.zeros(12)
    start[coordinate] = 0.02
    simulation = FlightSimulation(machine, model.integrate(hover, start), dt, lags)
    dynamics, feedback = Dynamics(model), RateFeedback(model, Gains(5.0, 5.0, 5.0))
    errors = []
    for _ in range(600):
        q, v = simulation.q, simulation.v
        error = tracking_error(model, still, q, v)
        errors.append(error.error[coordinate])
        u = lags.lead(dynamics.inverse.time_derivatives(
            q, v, feedback.acceleration(error, dt)))
        simulation.command_wrench(u[:6])
        simulation.command_torques(u[6:])
        simulation.step()
    pt = pole * dt * np.arange(600)
    np.testing.assert_allclose(
        errors, 0.02 * (1.0 + pt + 0.5 * pt**2 - 0.5 * pt**3) * np.exp(-pt), atol=0.03 * 0.02)


def test_jerk_is_the_derivative_of_the_acceleration(machine, reference):
    """Far from the reference, moved with what is commanded: every part of (8.9) and (8.10)."""
    model, t, h = machine.model, 1.3, 1e-5
    motion = reference.at(t)
    q, v = model.integrate(motion.q, 0.3 * RNG.normal(size=12)), RNG.normal(size=12)
    feedback = RateFeedback(model, Gains(integral_limit=100.0))
    error = tracking_error(model, motion, q, v)
    feedback.acceleration(error, 0.1)
    a, jerk = feedback.acceleration(error, 0.1)  # with the filter and the integral at work
    after = tracking_error(model, reference.at(t + h),
                           model.integrate(q, h * v + 0.5 * h**2 * a), v + h * a)
    np.testing.assert_allclose(
        (feedback.acceleration(after, h)[0] - a) / h, jerk, rtol=1e-3, atol=1e-2)


def test_integral_is_bounded_and_forgotten(machine, reference):
    motion, gains = reference.at(0.0), Gains(integral_limit=0.5)
    feedback = Feedback(machine.model, gains)
    q = machine.model.integrate(motion.q, np.full(12, 0.1))
    error = tracking_error(machine.model, motion, q, motion.v)
    first = feedback.acceleration(error, 0.0)
    for _ in range(100):
        last = feedback.acceleration(error, 0.1)
    np.testing.assert_allclose(first - last, 0.5, atol=1e-12)
    feedback.reset()
    np.testing.assert_array_equal(feedback.acceleration(error, 0.0), first)


def test_filter_is_forgotten_and_settles_where_feedback_does(machine, reference):
    motion = reference.at(0.0)
    feedback = RateFeedback(machine.model, Gains(5.0, 5.0, 5.0, 0.5))
    q = machine.model.integrate(motion.q, np.full(12, 0.1))
    error = tracking_error(machine.model, motion, q, motion.v)
    first = feedback.acceleration(error, 0.0)
    for _ in range(100):
        last = feedback.acceleration(error, 0.1)
    wanted = error.acceleration - 4.0**(2.0 / 3.0) * 25.0 * error.error - 0.5
    np.testing.assert_allclose(last, [wanted, np.zeros(12)], atol=1e-6)
    feedback.reset()
    np.testing.assert_array_equal(feedback.acceleration(error, 0.0), first)


def test_refuses(machine, reference):
    motion = reference.at(0.0)
    with refused(LiedynError, 'gain position', expected=0):
        Gains(position=-1.0)
    with refused(LiedynError, 'v', indices=(2,)):
        tracking_error(machine.model, motion, motion.q, np.where(np.arange(12) == 2, np.nan, 0.0))
    with refused(LiedynError, 'q1', indices=(3,)):
        tracking_error(machine.model, motion, 2.0 * motion.q, motion.v)


@pytest.mark.parametrize('feedback', [Feedback, RateFeedback])
@pytest.mark.parametrize('part', ['error', 'rate'])
def test_errors_of_another_machine_are_refused(machine, reference, feedback, part):
    motion = reference.at(3.0)
    error = tracking_error(machine.model, motion, motion.q, motion.v)
    back = feedback(machine.model, Gains())
    for wrong in (np.zeros(3), np.zeros((12, 1)), np.full(12, np.nan)):
        with pytest.raises(LiedynError):
            back.acceleration(error._replace(**{part: wrong}), 0.01)
