# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mass matrix as a product, adjoints of chains, and products of exponentials."""

import numpy as np
from scipy.linalg import block_diag
from support.comparison import assert_same
from support.machines.dynamics_cases import Case
from support.refusals import refused
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.lagrangian import (
    adjoint_product, adjoint_product_derivative, adjoint_product_second_derivative, body_factors,
    Factor, home_factors, product_of_exponentials, ProductOfExponentials)
from liedyn_ros.dynamics.tree.screw_tree import ScrewTree
from liedyn_ros.lie import se3
from liedyn_ros.model import Limits

TOLERANCE = 1e-12


def test_mass_matrix_is_the_product_of_its_factors(case: Case) -> None:  # (Park 35, 41 to 51)
    wanted = case.dynamics.mass_matrix(case.q)
    body, home = body_factors(case.model, case.q), home_factors(case.model, case.q)
    assert_same(body.mass_matrix, wanted, TOLERANCE)
    assert_same(home.mass_matrix, wanted, TOLERANCE)
    homes = ScrewTree(case.model, case.model.neutral()).poses
    change = block_diag(*se3.adjoint(homes))
    back = np.linalg.inv(change)
    assert_same(home.screws, change @ body.screws, TOLERANCE)
    assert_same(home.transports, change @ body.transports @ back, TOLERANCE)
    assert_same(home.inertias, back.T @ body.inertias @ back, TOLERANCE)


def test_product_of_exponentials_places_the_bodies(case: Case) -> None:  # (Park 31, Ali 8)
    product = product_of_exponentials(case.model)
    x = case.model.difference(case.model.neutral(), case.q)
    np.testing.assert_allclose(
        product.poses(x), case.dynamics.kinematics(case.q).poses, rtol=0.0, atol=1e-12)


def test_model_of_a_product_is_the_same_machine(case: Case) -> None:
    model = product_of_exponentials(case.model).to_model()
    assert model.coordinate_names == case.model.coordinate_names
    q = model.integrate(
        model.neutral(), case.model.difference(case.model.neutral(), case.q))
    # The frames of joints, in which spherical and free joints have their v, are the same.
    for dissipation in (False, True):
        ours = Dynamics(model, dissipation=dissipation)
        other = Dynamics(case.model, dissipation=dissipation)
        assert_same(ours.inverse(q, case.v, case.a), other.inverse(case.q, case.v, case.a), 1e-11)
    for name in case.model.bodies:
        assert_same(
            ours.frames.jacobian(q, name), case.dynamics.frames.jacobian(case.q, name),
            TOLERANCE)
    np.testing.assert_array_equal(model.limits.lower, case.model.limits.lower)
    np.testing.assert_array_equal(model.limits.effort, case.model.limits.effort)


def test_screws_of_no_joint_are_refused() -> None:
    for screws in ([[0.0, 0, 2.0, 0, 0, 0]], [[0.0, 0, 0.5, 0, 0, 0.5]],
                   np.eye(6)[3:], np.eye(6)[::-1]):
        size = len(screws)
        factor = Factor('odd', -1, np.array(screws), Limits(nv=size), *np.zeros((5, size)),
                        np.zeros((size, 4)))
        with refused(ModelError, 'factor odd'):
            ProductOfExponentials('odd', np.zeros(3), (factor,), (), (), np.empty((0, 4, 4))
                                  ).to_model()


def test_derivatives_of_adjoint_products() -> None:  # (Park 37, 53, 54)
    rng = np.random.default_rng(0)
    screws, x = rng.normal(size=(5, 6)), rng.normal(size=5)

    def by(k, function):
        return difference(lambda s: function(x + s * np.eye(5)[k]))

    for i, j in ((0, 4), (1, 3), (2, 2), (3, 2)):
        for k in range(5):
            got = adjoint_product_derivative(screws, x, j, i, k)
            wanted = by(k, lambda at, i=i, j=j: adjoint_product(screws, at, j, i))
            np.testing.assert_allclose(got, wanted, rtol=0.0, atol=1e-10)
            for other in range(5):
                got = adjoint_product_second_derivative(screws, x, j, i, k, other)
                wanted = by(other, lambda at, i=i, j=j, k=k: adjoint_product_derivative(
                    screws, at, j, i, k))
                np.testing.assert_allclose(got, wanted, rtol=0.0, atol=1e-9)
    with refused(LimitError, 'place', got=5):
        adjoint_product(screws, x, 5, 0)
