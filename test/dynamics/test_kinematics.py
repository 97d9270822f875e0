# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses, twists, Jacobians, totals and wrenches of joints against each other and balances."""

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case, rate_along
from support.witnesses.link_kinematics import body_poses

from liedyn_ros.dynamics import Dynamics, joint_wrenches, WORLD
from liedyn_ros.lie import se3
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.model.kernels.kinds import FREE
from liedyn_ros.model.parts.geometry import pose


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
    for body, place, twist in zip(case.model.bodies, motion.poses, motion.twists):
        jacobian = case.dynamics.frames.jacobian(case.q, body)
        np.testing.assert_allclose(jacobian @ case.v, twist, atol=1e-12)
        np.testing.assert_allclose(case.dynamics.frames.jacobian(case.q, body, WORLD),
                                   se3.adjoint(place) @ jacobian, atol=1e-12)


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


def test_parts_along_the_screws_are_the_forces_of_the_joints(case: Case) -> None:
    wrenches = joint_wrenches(case.dynamics, case.q, case.v, case.a, case.external)
    tau = case.dynamics.inverse(case.q, case.v, case.a, case.external)
    for joint, wrench in zip(case.model.joint_list, wrenches):
        screws = case.dynamics.frames.jacobian(case.q, joint.child)[:, joint.v_slice]
        np.testing.assert_allclose(screws.T @ wrench, tau[joint.v_slice], atol=1e-9)


def test_ground_feels_the_rate_of_momentum(case: Case) -> None:
    wrenches = joint_wrenches(case.dynamics, case.q, case.v, case.a)
    h, total = 1e-5, np.zeros(6)
    poses = case.dynamics.kinematics(case.q).poses
    for joint, wrench, place in zip(case.model.joint_list, wrenches, poses):
        if joint.parent is None:
            total += se3.adjoint(se3.inverse(place)).T @ wrench
    q, v, a = case.q, case.v, case.a

    def momentum(t: float):
        """Return the momentum a time later."""
        return case.dynamics.momentum(case.model.integrate(q, t * v + 0.5 * t * t * a), v + t * a)

    rate = (momentum(h) - momentum(-h)) / (2.0 * h)
    weight = np.zeros(6)
    for body, place in zip(case.model.body_list, poses):
        if body.inertia is not None:
            force = body.inertia.mass * case.model.gravity
            center = place[:3, :3] @ body.inertia.center_of_mass + place[:3, 3]
            weight += np.concatenate([np.cross(center, force), force])
    np.testing.assert_allclose(total, rate - weight, atol=1e-5 * max(1.0, np.abs(total).max()))


def test_fixed_joints_bear_what_is_behind_them() -> None:
    builder = ModelBuilder('crane')
    for name in ('post', 'arm', 'load'):
        builder.add_body(name, SpatialInertia(2.0, [0.5, 0.0, 0.0], np.eye(3)))
    builder.add_joint('base', 'fixed', None, 'post')
    builder.add_joint('turn', 'revolute', 'post', 'arm', axis=[0, 0, 1])
    builder.add_joint('weld', 'fixed', 'arm', 'load', placement=pose((1.0, 0.0, 0.0)))
    dynamics, zero = Dynamics(builder.build()), np.zeros(1)
    base, turn, weld = joint_wrenches(dynamics, zero, zero, zero)
    g = 2.0 * 9.81
    np.testing.assert_allclose(weld, [0, -0.5 * g, 0, 0, 0, g], atol=1e-12)
    np.testing.assert_allclose(turn, [0, -2.0 * g, 0, 0, 0, 2.0 * g], atol=1e-12)
    np.testing.assert_allclose(base, [0, -2.5 * g, 0, 0, 0, 3.0 * g], atol=1e-12)
    spinning = joint_wrenches(dynamics, zero, np.array([3.0]), zero)
    np.testing.assert_allclose(spinning[2, 3:], [-2.0 * 1.5 * 9.0, 0, g], atol=1e-12)
