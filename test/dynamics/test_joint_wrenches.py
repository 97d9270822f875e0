# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Wrenches of joints, beside the joint forces, the recursions, and the balance of a machine."""

import numpy as np
from support.machines.dynamics_cases import Case

from liedyn_ros.dynamics import Dynamics, joint_wrenches
from liedyn_ros.lie import se3
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.model.parts.geometry import pose


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
