# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of a tree and the matrices of its equations, with derivatives to order r."""

from math import comb, factorial

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case, rate_along
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics import TreeMotion, WORLD
from liedyn_ros.dynamics.partial_derivatives.body_jacobian import body_jacobian_rates
from liedyn_ros.lie import BODY, se3
from liedyn_ros.model import JOINT_TYPES

ORDER = 4


@pytest.fixture
def motion(case: Case):
    """Return v and its derivatives."""
    return np.vstack([case.v, case.a, case.rng.normal(size=(ORDER - 1, case.model.nv))])


def test_motion_of_bodies_is_that_of_kinematics(case: Case, motion) -> None:
    tree = TreeMotion(case.model, case.q, motion)
    wanted = case.dynamics.kinematics(case.q, case.v, case.a)
    np.testing.assert_allclose(tree.poses, wanted.poses, atol=1e-13)
    for b, name in enumerate(case.model.bodies):
        twists = tree.body(name).to(BODY).time_derivatives
        np.testing.assert_allclose(twists[0], wanted.twists[b], atol=1e-11)
        np.testing.assert_allclose(twists[1], wanted.accelerations[b], atol=1e-10)


@pytest.mark.parametrize('seed', range(3))
def test_higher_orders_are_rates_of_lower_ones(seed: int) -> None:
    types = [name for name in JOINT_TYPES if name not in ('spherical', 'free')]
    model, rng, h = random_model(seed, 8, False, types), np.random.default_rng(seed), 1e-3
    q, path = model.random(rng), rng.normal(size=(ORDER + 1, model.nv))

    def at(t: float) -> TreeMotion:
        """Return the motion along polynomials of time."""
        powers = [t**k / factorial(k) for k in range(ORDER + 2)]
        later = [sum(powers[j - i] * path[j] for j in range(i, ORDER + 1))
                 for i in range(ORDER + 1)]
        return TreeMotion(model, q + powers[1:] @ path, later)

    tree, near = at(0.0), [at(k * h) for k in (-2, -1, 1, 2)]
    for name in ('screws', 'twists'):
        values = np.array([getattr(each, name) for each in near])
        rate = np.tensordot([1, -8, 8, -1], values, axes=1) / (12.0 * h)
        wanted = getattr(tree, name)[1:]
        np.testing.assert_allclose(rate[:-1], wanted, atol=1e-6 * np.abs(wanted).max())


def test_jacobians_are_those_of_the_body_frame(case: Case, motion) -> None:
    tree, name = TreeMotion(case.model, case.q, motion), case.model.bodies[-1]
    spatial = tree.spatial_jacobian(name)
    np.testing.assert_allclose(
        spatial[0], case.dynamics.frames.jacobian(case.q, name, WORLD), atol=1e-12)
    body = body_jacobian_rates(case.model, case.q, motion[:ORDER], name)
    back = tree.body(name).inverse_adjoints()
    for k in range(ORDER + 1):
        found = sum(comb(k, j) * back[j] @ spatial[k - j] for j in range(k + 1))
        np.testing.assert_allclose(found, body[k], atol=1e-9 * max(1.0, np.abs(body[k]).max()))
    sums = [sum(comb(k, j) * spatial[j] @ motion[k - j] for j in range(k + 1))
            for k in range(ORDER + 1)]
    b = case.model.body_index(name)
    np.testing.assert_allclose(tree.twists[:, b], sums, rtol=1e-10, atol=1e-9)


def test_equations_give_the_derivatives_of_tau(case: Case, motion) -> None:
    # (Ali 21, Ali Lemma 1)
    mass, coriolis, gravity = TreeMotion(case.model, case.q, motion).equations
    assert_same(mass[0], case.dynamics.mass_matrix(case.q), 1e-12)
    assert_same(coriolis[0], case.dynamics.coriolis_matrix(case.q, case.v), 1e-12)
    assert_same(gravity[0], case.dynamics.gravity_vector(case.q), 1e-12)
    assert_same(mass[1], rate_along(case, case.dynamics.mass_matrix), 1e-9)  # (Ali 61)
    tau = case.dynamics.inverse.time_derivatives(case.q, motion[0], motion[1:])
    for k in range(ORDER):
        found = gravity[k] + sum(
            comb(k, j) * (mass[k - j] @ motion[j + 1] + coriolis[k - j] @ motion[j])
            for j in range(k + 1))
        np.testing.assert_allclose(found, tau[k], atol=1e-10 * np.abs(tau[k]).max())
    for k in range(ORDER):  # Ali Lemma 1, and its derivatives
        skew = mass[k + 1] - 2.0 * coriolis[k]
        np.testing.assert_allclose(skew, -skew.T, atol=1e-10 * np.abs(mass[k + 1]).max())


def test_screws_are_columns_of_their_bodies() -> None:
    case = make_case(0, True)
    tree = TreeMotion(case.model, case.q, [case.v])
    for joint in case.model.joint_list:
        wanted = case.dynamics.frames.jacobian(case.q, joint.child)[:, joint.v_slice]
        pose = tree.poses[case.model.body_index(joint.child)]
        found = se3.adjoint(se3.inverse(pose)) @ tree.screws[0, joint.v_slice].T
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_refusals() -> None:
    case = make_case(0, False)
    with refused(ShapeError, 'motion'):
        TreeMotion(case.model, case.q, np.zeros((0, case.model.nv)))
    with refused(LimitError, 'motion', got=32):
        TreeMotion(case.model, case.q, np.zeros((32, case.model.nv)))
