# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The linear-quadratic regulator: its gains against scipy's and against those of the poles."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are
from support.refusals import refused

from liedyn_ros.aerial import LinearQuadraticFeedback, Reference
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Gains
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.linearization.trees import linearize, linearize_along, LinearModel
from liedyn_ros.model import load_model

DT = 1e-3


@pytest.fixture(scope='module')
def model():
    """Return the aerial manipulator."""
    return load_model(config_file('aerial_manipulator.yaml'))


def repeated(linear, count):
    """Return a model for each of some steps."""
    return LinearModel(*(np.repeat(x[None], count, axis=0) for x in linear))


def test_without_gravity_the_gains_are_those_of_the_poles(model):
    weightless = replace(model, link_table=replace(model.link_table, gravity=np.zeros(3)))
    dynamics = Dynamics(weightless, dissipation=False)
    q, zero, gains = Reference().at(0.0).q, np.zeros(model.nv), Gains()
    step = linearize(dynamics, q, zero, zero).discrete(DT)
    feedback = LinearQuadraticFeedback(weightless, repeated(step, 3), DT, gains)
    p = np.array([gains.rotation] * 3 + [gains.position] * 3 + [gains.joints] * 6)
    wanted = dynamics.mass_matrix(q) @ np.hstack(
        [np.diag(p**3), np.diag(3.0 * p**2), np.diag(3.0 * p)])
    np.testing.assert_allclose(
        feedback.gains, np.array([wanted] * 3), rtol=0.0, atol=0.02 * np.abs(wanted).max())


def test_gains_solve_the_riccati_equation(model):
    """The last ones are scipy's, and those before them bring errors to zero."""
    dynamics, n, at = Dynamics(model), model.nv, Reference().at(3.0)
    tau = dynamics.inverse(at.q, at.v, at.a)
    step = linearize(dynamics, at.q, at.v, tau).discrete(DT)
    gains = LinearQuadraticFeedback(model, repeated(step, 5), DT).gains
    np.testing.assert_allclose(gains[0], gains[-1], rtol=1e-6, atol=1e-6)
    a, b = np.eye(3 * n), np.zeros((3 * n, n))
    a[:n, n:2 * n], a[n:, n:], b[n:] = DT * np.eye(n), *step
    p = np.array([6.0] * 3 + [5.0] * 3 + [6.0] * 6)
    states = DT * np.diag(np.hstack([p**6, 3.0 * p**4, 3.0 * p**2]))
    forces = b[2 * n:].T @ b[2 * n:] / DT
    cost = solve_discrete_are(a, b, states, forces)
    wanted = np.linalg.solve(forces + b.T @ cost @ b, b.T @ cost @ a)
    np.testing.assert_allclose(gains[-1], wanted, rtol=1e-6, atol=1e-6)
    assert np.abs(np.linalg.eigvals(a - b @ gains[0])).max() < 1.0 - DT


def test_forces_turn_errors_back(model):
    dynamics, motion = Dynamics(model), Reference().at(1.0)
    linear = linearize_along(dynamics, motion.q[None], motion.v[None], np.zeros((1, model.nv)))
    feedback = LinearQuadraticFeedback(model, linear.discrete(DT), DT)
    assert np.abs(feedback.forces(motion, motion.q, motion.v, 0.0, DT)).max() < 1e-15
    high = motion.q.copy()
    high[2] += 0.01
    first = feedback.forces(motion, high, motion.v, 0.0, DT)
    assert first[5] < 0.0  # the base is pushed down
    later = [feedback.forces(motion, high, motion.v, 9.0, 0.1) for _ in range(100)]
    assert later[0][5] < first[5]  # the integral grows,
    np.testing.assert_allclose(later[-1], later[-2], rtol=1e-12)  # to its limit
    feedback.reset()
    np.testing.assert_array_equal(feedback.forces(motion, high, motion.v, 0.0, DT), first)


def test_refusals(model):
    n = model.nv
    with refused(ShapeError, 'A'):
        LinearQuadraticFeedback(model, LinearModel(np.eye(n), np.eye(n)), DT)
    with refused(LimitError, 'dt'):
        LinearQuadraticFeedback(
            model, LinearModel(np.zeros((1, 2 * n, 2 * n)), np.zeros((1, 2 * n, n))), 0.0)


def test_a_step_begins_at_its_multiple(model):
    """0.3 / 0.1 is less than 3 in floating-point numbers: the gains are those of step 3 there."""
    dynamics, at, dt = Dynamics(model), Reference().at(3.0), 0.1
    step = linearize(dynamics, at.q, at.v, dynamics.inverse(at.q, at.v, at.a)).discrete(dt)
    feedback = LinearQuadraticFeedback(model, repeated(step, 8), dt)
    feedback.gains = np.arange(8.0)[:, None, None] * np.ones_like(feedback.gains)
    v = at.v + 1.0
    for k in range(8):
        for t in (0.1 * k, k / 10.0, 0.1 * k + 0.05):
            feedback.reset()
            pushed = feedback.forces(at, at.q, v, t, dt)
            np.testing.assert_allclose(pushed, -float(k) * model.nv)


def test_a_trajectory_without_steps_is_refused(model):
    n = model.nv
    with refused(ShapeError, 'A', got='none'):
        LinearQuadraticFeedback(
            model, LinearModel(np.zeros((0, 2 * n, 2 * n)), np.zeros((0, 2 * n, n))), DT)


def test_a_machine_without_a_free_base_is_refused():
    crank = load_model(config_file('four_bar.yaml'))
    n = crank.nv
    with refused(ShapeError, 'model'):
        LinearQuadraticFeedback(
            crank, LinearModel(np.zeros((1, 2 * n, 2 * n)), np.zeros((1, 2 * n, n))), DT)
