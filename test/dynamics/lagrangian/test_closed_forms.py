# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Closed forms: factors, matrices and symbols beside recursions, differences and each other."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from support.comparison import assert_same
from support.machines.dynamics_cases import Case
from support.machines.random_models import random_model
from support.refusals import refused
from support.witnesses.tangents import difference, tangent_derivatives

from liedyn_ros.common.errors import LimitError, ModelError, ShapeError
from liedyn_ros.dynamics import Dynamics, TreeMotion
from liedyn_ros.dynamics.lagrangian import (
    adjoint_product, adjoint_product_derivative, adjoint_product_second_derivative, body_factors,
    christoffel_symbols, Factor, gravity_terms, home_factors, levi_civita_coriolis,
    product_of_exponentials, ProductOfExponentials)
from liedyn_ros.dynamics.tree.screw_tree import ScrewTree
from liedyn_ros.lie import se3
from liedyn_ros.model import JOINT_TYPES, Limits, Model

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


def koszul(model: Model, q):
    """Return Gamma_ijk from differences of the mass matrix and the brackets (13.41)."""
    tree = ScrewTree(model, q)
    d = tangent_derivatives(model, q, lambda at: ScrewTree(model, at).mass_matrix)
    c = np.einsum('ijl,lk->ijk', tree.structure_constants, tree.mass_matrix)
    return 0.5 * (d + np.einsum('jik->ijk', d) - np.einsum('kij->ijk', d)
                  + c - np.einsum('ikj->ijk', c) - np.einsum('jki->ijk', c))


def test_symbols_are_those_of_differences_of_the_mass_matrix(case: Case) -> None:
    # (Park 40, 52, Ali 60)
    tree = ScrewTree(case.model, case.q)
    assert_same(case.dynamics.mass_matrix(case.q), tree.mass_matrix, TOLERANCE)
    assert_same(christoffel_symbols(case.model, case.q), koszul(case.model, case.q), 1e-9)


def test_symbols_are_metric_and_without_torsion(case: Case) -> None:
    tree, gamma = ScrewTree(case.model, case.q), christoffel_symbols(case.model, case.q)
    lowered = tree.structure_constants @ tree.mass_matrix
    assert_same(gamma - np.swapaxes(gamma, 0, 1) + np.abs(gamma).max(),
                lowered + np.abs(gamma).max(), TOLERANCE)
    rate = np.einsum('ijk,i->jk', gamma, case.v)
    along = TreeMotion(case.model, case.q, [case.v, case.a]).equations.mass[1]
    assert_same(rate + rate.T, along, TOLERANCE)


def papers_symbols(model: Model, q):
    """Return Gamma_ijk by the closed formulas of Park, for links of one degree of freedom."""
    tree, home = ScrewTree(model, q), ScrewTree(model, model.neutral())
    result = np.zeros((model.nv,) * 3)
    for link in range(model.link_table.N):
        # Z_l^i = Ad_l^{i+1} A_i and U_l(t, b) = Ad_l^t [Ad_{t-1}^{b+1} A_b, A_t], in the
        # home-inertial trivialisation of link l: both are spatial quantities moved back by E_l.
        path = tree.path(link)
        back = se3.adjoint(home.poses[link] @ se3.inverse(tree.poses[link]))
        brackets = np.swapaxes(tree.brackets[np.ix_(path, path)], 0, 1) @ back.T
        u = brackets @ home.inertias[link] @ back @ tree.screws[path].T  # <U_l(t, b), Z_l^i>
        for i, j, k in np.ndindex(u.shape):
            at, i, j = (path[i], path[j], path[k]), min(i, j), max(i, j)
            if k <= i:
                value = u[i, k, j] + u[j, k, i] + u[j, i, k]  # (6.11)
            elif k <= j:
                value = u[j, k, i] + u[j, i, k] - u[k, i, j]  # (6.12)
            else:
                value = u[j, i, k] - u[k, i, j] - u[k, j, i]  # (6.13)
            result[at] += 0.5 * value
    return result


@pytest.mark.parametrize('seed', range(3))
def test_symbols_are_the_papers_three_cases(seed: int) -> None:  # (Park 55 to 57)
    chains = [name for name in JOINT_TYPES if name not in ('spherical', 'free')]
    model = random_model(seed, 8, False, chains)
    q = model.random(np.random.default_rng(seed))
    assert_same(papers_symbols(model, q), christoffel_symbols(model, q), TOLERANCE)


def test_the_two_coriolis_matrices_are_two_connections(case: Case) -> None:  # (Park 29)
    model, q, v = case.model, case.q, case.v
    ours = levi_civita_coriolis(model, q, v)
    admissible = case.dynamics.coriolis_matrix(q, v)
    assert_same(ours, np.einsum('ijk,i->kj', christoffel_symbols(model, q), v), TOLERANCE)
    assert_same(ours @ v, admissible @ v, TOLERANCE)
    assert_same(ours @ v, case.dynamics.bias(q, v) - case.dynamics.gravity_vector(q), TOLERANCE)
    assert_same(ours + ours.T, admissible + admissible.T, TOLERANCE)
    assert np.abs(ours - admissible).max() > 1e-3 * np.abs(ours).max()


def test_gravity_terms(case: Case) -> None:  # (Park 58, 59)
    terms = gravity_terms(case.model, case.q)
    assert terms.potential == pytest.approx(case.dynamics.potential_energy(case.q), rel=1e-12)
    assert_same(terms.gradient, case.dynamics.gravity_vector(case.q), TOLERANCE)
    assert_same(terms.hessian, tangent_derivatives(
        case.model, case.q, case.dynamics.gravity_vector), 1e-9)


def test_refusals_of_symbols(case: Case) -> None:
    with refused(ShapeError, 'q'):
        christoffel_symbols(case.model, case.q[1:])
    with refused(ShapeError, 'v'):
        levi_civita_coriolis(case.model, case.q, case.v[1:])
