# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Mass properties: the ten parameters, what is refused, and models with scaled masses."""

from dataclasses import fields
import math

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.model_variants import sprung
from support.machines.random_models import random_inertia, random_model, random_pose
from support.refusals import ANY, refused

from liedyn_ros.common.errors import InertiaError, LimitError, NotFiniteError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, scale_masses, SpatialInertia

CENTER = (0.1, -0.2, 0.3)
FACTOR = 1.3


def test_parameters_of_a_cloud_of_points() -> None:  # (Kim 20 to 22, Park 21)
    rng = np.random.default_rng(0)
    masses, points, pose = rng.uniform(0.1, 1.0, 9), rng.normal(size=(9, 3)), random_pose(rng)
    parts = [SpatialInertia(m, x, np.zeros((3, 3))) for m, x in zip(masses, points)]
    seen = points @ pose[:3, :3].T + pose[:3, 3]
    second = (masses[:, None] * seen).T @ seen
    moments = np.trace(second) * np.eye(3) - second
    np.testing.assert_allclose(
        sum(part.parameters(pose) for part in parts),
        [masses.sum(), *(masses @ seen), *moments[np.triu_indices(3)]], rtol=1e-13)


def test_kinetic_energy_does_not_depend_on_the_frame() -> None:
    rng = np.random.default_rng(1)
    inertia, pose = random_inertia(rng), random_pose(rng)
    w, v = rng.normal(size=(2, 3))  # twist of the body in its own frame
    seen_w = pose[:3, :3] @ w
    seen_v = pose[:3, :3] @ v + np.cross(pose[:3, 3], seen_w)
    assert energy(inertia.parameters(pose), seen_w, seen_v) == pytest.approx(
        energy(inertia.parameters(), w, v), rel=1e-13)


@pytest.mark.parametrize('moments', [
    (0.0, 0.0, 0.0),  # a point mass
    (1.0, 1.0, 2.0),  # a flat plate, at the bound of the triangle inequality
    (1.0, 1.0, 2.0 + 1e-7),  # the same, rounded by a file
])
def test_takes_the_limits_of_rigid_bodies(moments: tuple[float, float, float]) -> None:
    assert SpatialInertia(2.0, CENTER, np.diag(moments)).mass == 2.0


@pytest.mark.parametrize('mass, inertia, named, got', [
    (0.0, np.eye(3), 'mass', 0.0),
    (-1.0, np.eye(3), 'mass', -1.0),
    (1.0, np.diag([1.0, 1.0, 0.0]), 'inertia_about_com', ANY),
    (1.0, np.diag([1.0, -1.0, 1.0]), 'inertia_about_com', ANY),
    (1.0, np.diag([1.0, 1.0, 2.1]), 'inertia_about_com', '1, 1, 2.1 kg m^2'),
    (1.0, np.eye(3) + np.eye(3, k=1), 'inertia_about_com', ANY),
])
def test_refuses_what_no_body_has(mass: float, inertia: np.ndarray,
                                  named: str, got: object) -> None:
    with refused(InertiaError, named, got=got):
        SpatialInertia(mass, CENTER, inertia)


def test_impossible_bodies_only_when_asked_for() -> None:
    flat = np.diag([1.0, 1.0, 3.0])
    assert SpatialInertia(0.0, CENTER, flat, physical=False).inertia_about_com[2, 2] == 3.0
    assert SpatialInertia(-1.0, CENTER, flat, physical=False).mass == -1.0  # of a fit
    with refused(InertiaError, 'inertia_about_com'):
        SpatialInertia(1.0, CENTER, np.eye(3, k=1), physical=False)


def test_refuses_shapes_and_nan() -> None:
    with refused(ShapeError, 'center_of_mass', got=(2,)):
        SpatialInertia(1.0, (0.0, 0.0), np.eye(3))
    with refused(NotFiniteError, 'inertia_about_com', indices=(1, 1)):
        SpatialInertia(1.0, CENTER, np.diag([1.0, np.nan, 1.0]))


def energy(parameters: np.ndarray, w: np.ndarray, v: np.ndarray) -> float:
    """Return V^T I V / 2 from the ten parameters."""
    m, h = parameters[0], parameters[1:4]
    xx, xy, xz, yy, yz, zz = parameters[4:]
    moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return 0.5 * (w @ moments @ w + m * (v @ v)) + v @ np.cross(w, h)


def test_all_ten_parameters_of_each_body_scale() -> None:
    model = random_model(5, 10, True)
    scaled = scale_masses(model, FACTOR)
    rounding = 50 * np.finfo(float).eps  # five times that of ten sums or products
    for before, after in zip(model.body_list, scaled.body_list):
        assert_same(after.inertia.parameters(), FACTOR * before.inertia.parameters(), rounding)
        np.testing.assert_array_equal(
            after.inertia.center_of_mass, before.inertia.center_of_mass)
    np.testing.assert_allclose(
        scaled.link_table.inertia, FACTOR * model.link_table.inertia, rtol=1e-13, atol=1e-15)
    assert scaled.mass == pytest.approx(FACTOR * model.mass, rel=rounding)


@pytest.mark.parametrize('armature', [0.0, 3.0])
def test_the_mass_matrix_and_the_forces_scale(armature: float) -> None:
    model = sprung(random_model(5, 10, True), 2, 0.0, armature)
    rng = np.random.default_rng(1)
    one, other = (Dynamics(m, dissipation=False) for m in (model, scale_masses(model, FACTOR)))
    q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    np.testing.assert_allclose(other.mass_matrix(q), FACTOR * one.mass_matrix(q), rtol=1e-12)
    np.testing.assert_allclose(
        other.inverse(q, v, a), FACTOR * one.inverse(q, v, a), rtol=1e-11, atol=1e-12)


def test_what_is_no_inertia_stays() -> None:
    model = sprung(random_model(6, 10, False))
    scaled = scale_masses(model, FACTOR)
    assert scaled.bodies == model.bodies
    for field in fields(model.link_table):
        if field.name not in ('inertia', 'armature'):
            np.testing.assert_array_equal(
                getattr(scaled.link_table, field.name), getattr(model.link_table, field.name))


def test_massless_bodies_stay_massless() -> None:
    builder = ModelBuilder('r')
    builder.add_body('a', None)
    builder.add_joint('j', 'free', None, 'a')
    assert scale_masses(builder.build(), FACTOR).body('a').inertia is None


@pytest.mark.parametrize('factor', [0.0, -1.0, math.inf, math.nan])
def test_refuses_an_invalid_factor(factor: float) -> None:
    with refused(LimitError, 'factor'):
        scale_masses(random_model(6, 2, False), factor)
