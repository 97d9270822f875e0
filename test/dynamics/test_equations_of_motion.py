# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse, forward and hybrid dynamics against each other, their matrices and physics."""

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case, rate_along, TREES

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, SpatialInertia


def test_forward_undoes_inverse(case: Case) -> None:  # (Kim Table 4)
    d = case.dynamics
    tau = d.inverse(case.q, case.v, case.a, case.external)
    np.testing.assert_allclose(
        d.forward(case.q, case.v, tau, case.external), case.a, atol=1e-11)


def test_inverse_is_mass_matrix_coriolis_gravity_and_wrenches(case: Case) -> None:
    # (Kim 13, 32, 42, Park 11)
    d = case.dynamics
    applied = sum(d.frames.jacobian(case.q, body).T @ wrench
                  for body, wrench in zip(case.model.bodies, case.external))
    wanted = (d.mass_matrix(case.q) @ case.a + d.coriolis_matrix(case.q, case.v) @ case.v
              + d.gravity_vector(case.q) - applied)
    got = d.inverse(case.q, case.v, case.a, case.external)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * abs(got).max())


@pytest.mark.parametrize('share', [0.0, 0.3, 0.7, 1.0])
def test_hybrid_solves_for_what_is_not_given(case: Case, share: float) -> None:  # (Kim Table 3)
    """Any subset of coordinates, parts of group joints and of the base among them."""
    d, q, v = case.dynamics, case.q, case.v
    tau = d.inverse(q, v, case.a, case.external)
    given = case.rng.random(case.model.nv) < share
    a, force = d.hybrid(q, v, given, np.where(given, case.a, np.nan),
                        np.where(given, np.nan, tau), case.external)
    np.testing.assert_allclose(a, case.a, atol=1e-11)
    np.testing.assert_allclose(force, tau, atol=1e-12 * abs(tau).max())


def test_hybrid_is_the_dense_solution(case: Case) -> None:  # (Kim 43 to 53)
    d, n = case.dynamics, case.model.nv
    given, tau = case.rng.random(n) < 0.5, case.rng.normal(size=n)
    a, force = d.hybrid(case.q, case.v, given, case.a, tau)
    mass, bias = d.mass_matrix(case.q), d.bias(case.q, case.v)
    free = ~given
    wanted = np.linalg.solve(mass[np.ix_(free, free)], tau[free] - bias[free]
                             - mass[np.ix_(free, given)] @ case.a[given])  # (3.15)
    np.testing.assert_allclose(a[free], wanted, rtol=1e-9, atol=1e-9 * abs(wanted).max())
    np.testing.assert_allclose(force, mass @ a + bias, rtol=1e-9, atol=1e-9 * abs(force).max())


def test_mass_matrix_is_symmetric_positive_and_gives_the_energy(case: Case) -> None:  # (Kim 15)
    mass = case.dynamics.mass_matrix(case.q)
    assert (mass == mass.T).all()
    assert np.linalg.eigvalsh(mass)[0] > 0.0
    assert case.dynamics.kinetic_energy(case.q, case.v) == pytest.approx(
        0.5 * case.v @ mass @ case.v, rel=1e-13)


def test_mass_matrix_rate_minus_twice_coriolis_is_skew(case: Case) -> None:
    d = case.dynamics
    skew = rate_along(case, d.mass_matrix) - 2.0 * d.coriolis_matrix(case.q, case.v)
    np.testing.assert_allclose(skew, -skew.T, atol=1e-9 * abs(skew).max())


def test_gravity_is_the_gradient_of_the_potential(case: Case) -> None:
    d = case.dynamics
    power = rate_along(case, d.potential_energy)
    assert power == pytest.approx(d.gravity_vector(case.q) @ case.v, rel=1e-8, abs=1e-8)


def test_power_of_forces_and_wrenches_is_the_rate_of_energy(case: Case) -> None:
    # (Kim 42, Park 24 to 27)
    d, q, v = case.dynamics, case.q, case.v
    tau = d.inverse(q, v, case.a, case.external)
    wrenches = np.sum(case.external * d.kinematics(q, v).twists)
    at_this_velocity = rate_along(case, lambda x: d.kinetic_energy(x, v) + d.potential_energy(x))
    rate = at_this_velocity + v @ d.mass_matrix(q) @ case.a
    assert rate == pytest.approx(tau @ v + wrenches, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize('tree', TREES[:2])
def test_damping_and_friction_act_on_joints(tree: tuple[int, bool]) -> None:
    case, smooth = make_case(*tree, dissipation=True), make_case(*tree)
    table, v = case.model.link_table, case.v
    resistance = table.damping * v + table.friction * np.sign(v)
    assert abs(resistance).max() > 0.1
    tau = case.dynamics.inverse(case.q, v, case.a)
    np.testing.assert_allclose(
        tau, smooth.dynamics.inverse(case.q, v, case.a) + resistance, atol=1e-11)
    np.testing.assert_array_equal(case.dynamics.resistance(v), resistance)
    np.testing.assert_allclose(case.dynamics.forward(case.q, v, tau), case.a, atol=1e-11)
    given = case.rng.random(case.model.nv) < 0.5
    a, force = case.dynamics.hybrid(case.q, v, given, case.a, tau)
    np.testing.assert_allclose(a, case.a, atol=1e-11)
    np.testing.assert_allclose(force, tau, atol=1e-11)
    assert (case.dynamics.gravity_vector(case.q) == smooth.dynamics.gravity_vector(case.q)).all()


def test_a_pendulum_swings_as_the_textbook_says() -> None:
    builder = ModelBuilder('pendulum', gravity=(0.0, 0.0, -9.81))
    builder.add_body('bob', SpatialInertia(2.0, (0.0, 0.0, -0.5), np.diag((0.1, 0.1, 0.1))))
    builder.add_joint('pivot', 'revolute', None, 'bob', axis=(1.0, 0.0, 0.0))
    dynamics = Dynamics(builder.build())
    inertia, weight = 0.1 + 2.0 * 0.25, 2.0 * 9.81 * 0.5
    assert dynamics.forward([0.3], [2.0], [0.7]) == pytest.approx(
        (0.7 - weight * np.sin(0.3)) / inertia, rel=1e-14)
    assert dynamics.potential_energy([0.3]) == pytest.approx(-weight * np.cos(0.3), rel=1e-14)
