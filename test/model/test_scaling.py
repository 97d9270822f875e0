# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model with scaled masses: all ten parameters of each body scale, and the rest stays."""

from dataclasses import fields
import math

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.model_variants import sprung
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, scale_masses

FACTOR = 1.3


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
