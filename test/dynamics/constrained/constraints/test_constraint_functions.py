# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A user's own constraint functions: closed form, built-in closures, dense matrices, energy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.machines.looped_machines import random_looped
from support.refusals import ANY, refused
from support.witnesses import loop_witness

from liedyn_ros.common.errors import LiedynError, LimitError, NotFiniteError, ShapeError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, ConstrainedDynamics, ConstraintFunction, ConstraintStatus,
    project, projected_runge_kutta)
from liedyn_ros.model import ModelBuilder, SpatialInertia

LENGTH, MASS = 0.7, 1.3  # m, kg

CIRCLE = ConstraintFunction(
    'circle', 1, residual=lambda q: [0.5 * (q @ q - LENGTH**2)], jacobian=lambda q: [q],
    bias=lambda q, v: [v @ v])


def bead():
    """Return a bead that slides along x and y, of which gravity pulls along -y."""
    builder = ModelBuilder('bead', gravity=[0.0, -9.81, 0.0])
    builder.add_body('slide', SpatialInertia(1e-9, [0, 0, 0], 1e-9 * np.eye(3)))
    builder.add_joint('x', 'prismatic', None, 'slide', axis=[1, 0, 0])
    builder.add_body('bead', SpatialInertia(MASS, [0, 0, 0], 1e-9 * np.eye(3)))
    builder.add_joint('y', 'prismatic', 'slide', 'bead', axis=[0, 1, 0], actuated=False)
    return builder.build()


def state(angle, rate):
    """Return q and v of the bead at an angle from straight down."""
    along = np.array([np.cos(angle), np.sin(angle)])
    return LENGTH * np.array([np.sin(angle), -np.cos(angle)]), LENGTH * rate * along


def test_a_bead_on_a_circle_is_a_pendulum():
    dynamics, (q, v) = ConstrainedDynamics(bead(), functions=[CIRCLE]), state(0.8, 1.7)
    solution = dynamics.forward(q, v, np.zeros(2))
    turning = -9.81 / LENGTH * np.sin(0.8)
    expected = (LENGTH * turning * np.array([np.cos(0.8), np.sin(0.8)])
                - 1.7**2 * q)
    np.testing.assert_allclose(solution.a, expected, rtol=1e-7)
    pull = MASS * (1.7**2 + 9.81 * np.cos(0.8) / LENGTH)  # towards the centre, over the length
    np.testing.assert_allclose(solution.multipliers, [-pull], rtol=1e-7)
    assert (solution.status, solution.wrenches.shape) == (ConstraintStatus.REGULAR, (0, 6))
    assert dynamics.constraint_names == ('circle',)
    assert dynamics.mobility.degrees_of_freedom == 1


def test_inverse_and_hybrid_hold_it():
    """The joint along x holds the bead still: no force on y, so the circle bears its weight."""
    dynamics, (q, v) = ConstrainedDynamics(bead(), functions=[CIRCLE]), state(0.8, 0.0)
    needed = dynamics.inverse(q, v, np.zeros(2))
    np.testing.assert_allclose(needed.tau, [MASS * 9.81 * np.tan(0.8), 0.0], rtol=1e-7, atol=1e-9)
    back = dynamics.forward(q, v, needed.tau)
    np.testing.assert_allclose(back.a, 0.0, atol=1e-9)
    q, v = state(0.8, 1.7)
    a = complete_acceleration(dynamics, q, v, np.array([0.5, 0.0]))
    assert a @ q + v @ v == pytest.approx(0.0, abs=1e-9)
    assert a[0] == 0.5


def test_it_swings_as_scipy_says_and_keeps_energy_and_circle():
    dynamics, (q, v) = ConstrainedDynamics(bead(), functions=[CIRCLE]), state(1.2, 0.0)
    for _ in range(200):
        q, v = projected_runge_kutta.step(dynamics, q, v, 5e-3, np.zeros(2))
    end = solve_ivp(lambda _, y: (y[1], -9.81 / LENGTH * np.sin(y[0])), (0.0, 1.0), (1.2, 0.0),
                    rtol=1e-10, atol=1e-12).y[:, -1]
    expected_q, expected_v = state(*end)
    np.testing.assert_allclose(q, expected_q, atol=1e-7)
    np.testing.assert_allclose(v, expected_v, atol=1e-6)
    assert abs(q @ q - LENGTH**2) < 1e-11
    energy = 0.5 * v @ v + 9.81 * q[1]
    assert energy == pytest.approx(-9.81 * LENGTH * np.cos(1.2), rel=1e-6)


@pytest.mark.parametrize('kind', ['rod', 'universal'])
def test_a_closure_and_the_same_as_a_function(kind):
    """Its equations of the dense witness, which are differentiated by differences."""
    looped = random_looped(31, (kind,), joints=4)
    model = looped.model
    closed = ConstrainedDynamics(model)
    q, v = project(closed, looped.q, np.random.default_rng(3).normal(size=model.nv))
    tau = np.random.default_rng(4).normal(size=model.nv)
    own = ConstraintFunction(
        kind, closed.m, lambda q: loop_witness.equations(model, q),
        lambda q: loop_witness.jacobian(model, q),
        lambda q, v: loop_witness.differences(
            lambda t: loop_witness.equations(model, model.integrate(q, t * v)),
            loop_witness.SECOND, 2))
    dynamics = ConstrainedDynamics(replace(model, closures=()), functions=[own])
    solution, expected = dynamics.forward(q, v, tau), closed.forward(q, v, tau)
    np.testing.assert_allclose(solution.a, expected.a, rtol=1e-6, atol=1e-6)
    for method in ('inverse', 'hybrid'):
        given = (expected.a,) if method == 'inverse' else (
            model.actuated, expected.a, np.zeros(model.nv))
        found, wanted = (getattr(each, method)(q, v, *given) for each in (dynamics, closed))
        np.testing.assert_allclose(found.tau, wanted.tau, rtol=1e-5, atol=1e-5)
    beside = ConstrainedDynamics(model, functions=[own])
    twice = beside.forward(q, v, tau)
    np.testing.assert_allclose(twice.a, expected.a, rtol=1e-6, atol=1e-6)
    assert (beside.m, twice.rank) == (2 * closed.m, expected.rank)


def test_several_rows_and_a_redundant_one():
    """The bead is held at a point by two rows of one function, and once more by another."""
    point = ConstraintFunction(
        'point', 2, lambda q: q - [0.1, 0.2], lambda q: np.eye(2), lambda q, v: np.zeros(2))
    again = ConstraintFunction(
        'again', 1, lambda q: [q[1] - 0.2], lambda q: [[0.0, 1.0]], lambda q, v: [0.0])
    dynamics = ConstrainedDynamics(bead(), functions=[point, again])
    assert dynamics.constraint_names == ('point[0]', 'point[1]', 'again')
    q = assemble(dynamics)
    np.testing.assert_allclose(q, [0.1, 0.2], atol=1e-9)
    solution = dynamics.forward(q, np.zeros(2), np.zeros(2))
    assert (solution.rank, solution.status) == (2, ConstraintStatus.REDUNDANT)
    np.testing.assert_allclose(
        dynamics.jacobian(q).T @ solution.multipliers, [0.0, 9.81 * MASS], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(solution.multipliers[1], solution.multipliers[2], rtol=1e-6)


def test_what_is_not_known_is_refused():
    dynamics, (q, v) = ConstrainedDynamics(bead(), functions=[CIRCLE]), state(0.8, 1.7)
    with refused(LimitError, 'circle', got=1):
        dynamics.forward(q, v, np.zeros((2, 2)))
    with refused(LiedynError, 'constraint plain'):
        ConstraintFunction('plain', 1, CIRCLE.residual, CIRCLE.jacobian)
    with refused(LiedynError, 'circle'):
        dynamics.forward(q + 0.1, v, np.zeros(2))
    with refused(LiedynError, 'functions'):
        dynamics.forward.partial_derivatives(q, v, np.zeros(2))
    with refused(LimitError, 'constraint none', got=0):
        ConstraintFunction('none', 0, np.sum, np.sum, np.add)
    for error, wrong in (
            (ShapeError, {'jacobian': lambda q: np.eye(2)}),
            (ShapeError, {'residual': lambda q: np.zeros(2)}),
            (NotFiniteError, {'bias': lambda q, v: [np.nan]})):
        name, = wrong
        bad = ConstraintFunction('bad', 1, **{
            'residual': CIRCLE.residual, 'jacobian': CIRCLE.jacobian, 'bias': CIRCLE.bias,
            **wrong})
        with refused(error, ANY) as caught:
            ConstrainedDynamics(bead(), functions=[bad]).forward(q, v, np.zeros(2))
        assert name in caught.value.names[0]
