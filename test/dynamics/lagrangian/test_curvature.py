# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The curvature of the mass metric: symmetries, known spaces, differences, geodesics."""

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.refusals import refused
from support.witnesses.tangents import difference, tangent_derivatives

from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.lagrangian import christoffel_symbols, curvature, geodesic
from liedyn_ros.dynamics.tree.screw_tree import ScrewTree
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia

TOLERANCE = 1e-10


def two_links(lengths=(0.7, 0.5), masses=(1.3, 0.8), moments=(0.2, 0.1)) -> Model:
    """Return a planar arm of two links without gravity, mass centres at half their lengths."""
    builder, parent = ModelBuilder('two_links', (0.0, 0.0, 0.0)), None
    for i, (mass, moment) in enumerate(zip(masses, moments)):
        place = np.eye(4)
        place[0, 3] = lengths[0] if i else 0.0
        inertia = SpatialInertia(mass, (lengths[i] / 2, 0, 0), np.diag([moment] * 3))
        builder.add_body(f'link_{i}', inertia)
        builder.add_joint(f'joint_{i}', 'revolute', parent, f'link_{i}', placement=place,
                          axis=(0.0, 0.0, 1.0))
        parent = f'link_{i}'
    return builder.build()


def test_symmetries(case: Case) -> None:
    r = curvature(case.model, case.q).riemann
    bound = TOLERANCE * np.abs(r).max()
    for zero in (r + np.swapaxes(r, 0, 1), r + np.swapaxes(r, 2, 3),
                 r - np.einsum('klij->ijkl', r),
                 r + np.einsum('iklj->ijkl', r) + np.einsum('iljk->ijkl', r)):  # Bianchi
        assert np.abs(zero).max() <= bound


def test_ricci_and_scalar_curvature_sum_those_of_planes(case: Case) -> None:
    found = curvature(case.model, case.q)
    frame = np.linalg.inv(np.linalg.cholesky(found.metric)).T  # columns are orthonormal
    planes = np.einsum('ijkl,ia,jb,ka,lb->ab', found.riemann, *[frame] * 4, optimize=True)
    size = np.abs(planes).max()
    assert found.sectional(*frame.T[:2]) == pytest.approx(planes[0, 1], abs=TOLERANCE * size)
    assert found.scalar == pytest.approx(planes.sum(), rel=0.0, abs=TOLERANCE * size)
    ricci = frame.T @ found.ricci @ frame
    np.testing.assert_allclose(ricci, ricci.T, rtol=0.0, atol=TOLERANCE * size)
    np.testing.assert_allclose(
        np.diag(ricci), planes.sum(axis=0), rtol=0.0, atol=TOLERANCE * size)


@pytest.mark.parametrize('seed', range(2))
def test_curvature_is_that_of_differences_of_the_symbols(seed: int) -> None:  # (Park 66)
    case = make_case(seed, True)
    model, q = case.model, case.q
    rates = tangent_derivatives(model, q, lambda at: christoffel_symbols(model, at))
    tree, gamma = ScrewTree(model, q), christoffel_symbols(model, q)
    raised = gamma @ np.linalg.inv(tree.mass_matrix)
    wanted = (np.einsum('klji->ijkl', rates) - np.einsum('lkji->ijkl', rates)
              + np.einsum('kjr,lir->ijkl', raised, gamma)
              - np.einsum('ljr,kir->ijkl', raised, gamma)
              - np.einsum('klr,rji->ijkl', tree.structure_constants, gamma))
    np.testing.assert_allclose(curvature(model, q).riemann, wanted, rtol=0.0,
                               atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize('angle', (0.0, 0.4, 1.3, 2.6))
def test_two_links_have_the_curvature_of_their_surface(angle: float) -> None:  # (Park 66)
    # M = [a + 2 b cos x2, d + b cos x2; ., d] depends on x2 alone: Brioschi's formula gives K.
    (l1, l2), (m1, m2), (i1, i2) = (0.7, 0.5), (1.3, 0.8), (0.2, 0.1)
    d, b = i2 + m2 * l2**2 / 4, m2 * l1 * l2 / 2
    a = i1 + m1 * l1**2 / 4 + m2 * l1**2 + d
    c, s = np.cos(angle), np.sin(angle)
    det = (a + 2 * b * c) * d - (d + b * c)**2
    # E_22 = -2 b c; E_2 = -2 b s; F_2 = -b s; G = d is constant.
    e, e2, f, f2, g = a + 2 * b * c, -2 * b * s, d + b * c, -b * s, d
    first = np.linalg.det([[b * c, 0.0, -e2 / 2], [f2, e, f], [0.0, f, g]])
    second = np.linalg.det([[0.0, e2 / 2, 0.0], [e2 / 2, e, f], [0.0, f, g]])
    wanted = (first - second) / det**2
    found = curvature(two_links(), [0.3, angle])
    assert found.riemann[0, 1, 0, 1] == pytest.approx(wanted * det, rel=1e-12, abs=1e-14)
    assert found.sectional([1.0, 0.2], [0.3, 1.0]) == pytest.approx(wanted, rel=1e-11, abs=1e-13)
    assert found.scalar == pytest.approx(2.0 * wanted, rel=1e-11, abs=1e-13)


def test_a_ball_that_turns_has_constant_curvature() -> None:
    builder = ModelBuilder('ball')
    builder.add_body('ball', SpatialInertia(2.0, (0, 0, 0), 0.3 * np.eye(3)))
    builder.add_joint('pivot', 'spherical', None, 'ball')
    model = builder.build()
    found = curvature(model, model.random(np.random.default_rng(0)))
    assert found.sectional([1.0, 0, 0], [0, 0.5, 2.0]) == pytest.approx(1 / (4 * 0.3), rel=1e-13)
    np.testing.assert_allclose(found.ricci, found.metric / (2 * 0.3), atol=1e-14)


def test_a_mass_that_slides_is_flat() -> None:
    builder = ModelBuilder('table')
    builder.add_body('box', SpatialInertia(2.0, (0.1, 0.2, 0), 0.3 * np.eye(3)))
    builder.add_joint('slide', 'planar', None, 'box', axis=(0, 0, 1.0))
    found = curvature(builder.build(), [0.3, 0.2, 0.9])
    assert np.abs(found.riemann).max() <= 1e-15


def test_speed_along_a_geodesic_is_constant(case: Case) -> None:
    model = case.model
    times = np.linspace(0.0, 0.5, 6)
    path = geodesic(model, case.q, 0.5 * case.v, times)
    free = Dynamics(model, dissipation=False)
    energies = [free.kinetic_energy(q, v)
                for q, v in zip(path.configurations, path.velocities)]
    np.testing.assert_allclose(np.sqrt(energies), np.sqrt(energies[0]), rtol=1e-10)
    np.testing.assert_allclose(path.configurations[0], case.q)


def test_neighbouring_geodesics_part_by_the_curvature() -> None:
    # Two links: the separation of two geodesics beside the equation of Jacobi (13.47).
    model, q, v = two_links(), np.array([0.3, 0.8]), np.array([0.5, -0.4])
    h, times, start = 1e-4, np.linspace(0.0, 1.0, 41), np.array([0.2, 0.7])
    paths = [geodesic(model, q + s * start, v, times) for s in (-h, h)]
    eta = (paths[1].configurations - paths[0].configurations) / (2 * h)
    rate = (paths[1].velocities - paths[0].velocities) / (2 * h)
    middle = geodesic(model, q, v, times)

    def along(k, x):
        """Return M^-1 C x, the part of the covariant derivative that is no derivative."""
        at, w = middle.configurations[k], middle.velocities[k]
        gamma = np.einsum('ijk,i,j->k', christoffel_symbols(model, at), w, x)
        return np.linalg.solve(ScrewTree(model, at).mass_matrix, gamma)

    first = np.array([r + along(k, e) for k, (r, e) in enumerate(zip(rate, eta))])
    k, dt = 20, times[1]
    second = difference(lambda s: first[k + round(s / dt)], dt) + along(k, first[k])
    at = curvature(model, middle.configurations[k])
    np.testing.assert_allclose(
        second, -at.deviation(eta[k], middle.velocities[k]), rtol=1e-6, atol=1e-8)


def test_refusals(case: Case) -> None:
    with refused(LimitError, 'times'):
        geodesic(case.model, case.q, case.v, [0.0, 0.2, 0.1])
    with refused(ShapeError, 'x'):
        curvature(case.model, case.q).sectional(case.v[1:], case.v)
