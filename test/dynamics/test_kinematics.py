# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses, twists, accelerations, Jacobians and totals against differences of each other."""

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case, rate_along
from support.witnesses.link_kinematics import body_poses

from liedyn_ros.dynamics import WORLD
from liedyn_ros.lie import se3
from liedyn_ros.model.kernels.kinds import FREE


def test_poses_are_those_of_the_link_table(case: Case) -> None:
    np.testing.assert_allclose(
        case.dynamics.kinematics(case.q).poses, body_poses(case.model.link_table, case.q),
        atol=1e-13)


def test_twists_are_the_rates_of_poses(case: Case) -> None:  # (Kim 37)
    motion = case.dynamics.kinematics(case.q, case.v)
    rates = rate_along(case, lambda q: case.dynamics.kinematics(q).poses)
    np.testing.assert_allclose(rates, motion.poses @ se3.hat(motion.twists), atol=1e-9)


def test_jacobians_map_velocities_to_twists(case: Case) -> None:  # (Kim 11)
    motion = case.dynamics.kinematics(case.q, case.v)
    for body, pose, twist in zip(case.model.bodies, motion.poses, motion.twists):
        jacobian = case.dynamics.frames.jacobian(case.q, body)
        np.testing.assert_allclose(jacobian @ case.v, twist, atol=1e-12)
        np.testing.assert_allclose(case.dynamics.frames.jacobian(case.q, body, WORLD),
                                   se3.adjoint(pose) @ jacobian, atol=1e-12)


def test_accelerations_are_the_rates_of_twists(case: Case) -> None:  # (Kim 41)
    d = case.dynamics
    motion = d.kinematics(case.q, case.v, case.a)
    rates = rate_along(case, lambda q: d.kinematics(q, case.v).twists)
    for b, body in enumerate(case.model.bodies):
        np.testing.assert_allclose(
            motion.accelerations[b], rates[b] + d.frames.jacobian(case.q, body) @ case.a,
            atol=1e-8)


def test_linear_momentum_is_mass_times_the_rate_of_the_center(case: Case) -> None:  # (Kim 23)
    d, moving = case.dynamics, case.model.link_table.inertia[:, 0].sum()
    velocity = rate_along(case, d.center_of_mass)
    np.testing.assert_allclose(d.momentum(case.q, case.v)[3:], moving * velocity, atol=1e-9)


def test_momentum_is_the_wrench_of_the_ground_in_an_instant(case: Case) -> None:
    """A change of velocity v in no time takes the impulse M v, and changes momentum by p(v)."""
    d, n = case.dynamics, case.model.nv
    momenta = np.array([d.momentum(case.q, row) for row in np.eye(n)]).T
    np.testing.assert_allclose(momenta @ case.v, d.momentum(case.q, case.v), atol=1e-11)


@pytest.mark.parametrize('seed', range(4))
def test_momentum_of_a_free_base_is_its_rows_of_the_mass_matrix(seed: int) -> None:  # (Kim 24)
    case = make_case(seed, True)
    d, table = case.dynamics, case.model.link_table
    assert table.kind[0] == FREE
    momenta = np.array([d.momentum(case.q, row) for row in np.eye(case.model.nv)]).T
    base = d.kinematics(case.q).poses[int(np.flatnonzero(table.body_link == 0)[0])]
    np.testing.assert_allclose(
        se3.adjoint(base).T @ momenta, d.mass_matrix(case.q)[:6], atol=1e-11)


def test_potential_energy_is_weight_times_height(case: Case) -> None:
    d, moving = case.dynamics, case.model.link_table.inertia[:, 0].sum()
    assert d.potential_energy(case.q) == pytest.approx(
        -moving * case.model.gravity @ d.center_of_mass(case.q), rel=1e-12)
