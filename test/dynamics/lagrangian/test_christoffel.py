# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Christoffel symbols, Coriolis matrices and gravity terms beside differences and each other."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case
from support.machines.random_models import random_model
from support.refusals import refused
from support.witnesses.tangents import tangent_derivatives

from liedyn_ros.common.errors import ModelError, ShapeError
from liedyn_ros.dynamics import TreeMotion
from liedyn_ros.dynamics.lagrangian import (
    christoffel_symbols, christoffel_symbols_of_chains, gravity_terms, levi_civita_coriolis)
from liedyn_ros.dynamics.tree.screw_tree import ScrewTree
from liedyn_ros.model import JOINT_TYPES, Model

TOLERANCE = 1e-12


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


@pytest.mark.parametrize('seed', range(3))
def test_papers_formulas_are_the_one_line(seed: int) -> None:  # (Park 55 to 57)
    chains = [name for name in JOINT_TYPES if name not in ('spherical', 'free')]
    model = random_model(seed, 8, False, chains)
    q = model.random(np.random.default_rng(seed))
    assert_same(christoffel_symbols_of_chains(model, q), christoffel_symbols(model, q), TOLERANCE)


def test_papers_formulas_refuse_groups(case: Case) -> None:
    with refused(ModelError, 'christoffel_symbols_of_chains'):
        christoffel_symbols_of_chains(case.model, case.q)


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


def test_refusals(case: Case) -> None:
    with refused(ShapeError, 'q'):
        christoffel_symbols(case.model, case.q[1:])
    with refused(ShapeError, 'v'):
        levi_civita_coriolis(case.model, case.q, case.v[1:])
