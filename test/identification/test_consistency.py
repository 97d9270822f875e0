# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which inertias a body can have, beside clouds of points and the triangle inequality."""

from hypothesis import assume, given, settings, strategies as st
import numpy as np
from support.machines.random_models import random_inertia
from support.refusals import refused

from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.identification import is_consistent, nearest_consistent, pseudo_inertia
from liedyn_ros.identification.consistency import parameters_of

SEEDS = st.integers(0, 2**32 - 1)


def physical(parameters) -> bool:
    """Say whether mass, moments and the triangle inequality are right, with a strict margin."""
    mass, c = parameters[0], parameters[1:4] / parameters[0]
    j = parameters[[4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(3, 3)
    moments = np.linalg.eigvalsh(j - mass * ((c @ c) * np.eye(3) - np.outer(c, c)))
    return bool(mass > 0.0 and moments[0] > 0.0 and moments[0] + moments[1] > moments[2])


@settings(deadline=None)
@given(SEEDS)
def test_clouds_of_points_are_consistent(seed: int) -> None:
    pi = random_inertia(np.random.default_rng(seed)).parameters()
    assert is_consistent(pi)
    np.testing.assert_allclose(parameters_of(pseudo_inertia(pi)), pi, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(nearest_consistent(pi), pi, rtol=1e-12, atol=1e-13)


@settings(deadline=None)
@given(SEEDS)
def test_the_test_is_that_of_principal_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pi = random_inertia(rng).parameters() + rng.normal(size=10) * rng.choice([0.01, 0.1])
    pi[0] = abs(pi[0]) + 0.01
    assume(np.abs(np.linalg.eigvalsh(pseudo_inertia(pi))).min() > 1e-9)  # rounding decides less
    assert is_consistent(pi) == physical(pi)


@settings(deadline=None)
@given(SEEDS, st.sampled_from([0.1, 1.0, 3.0]))
def test_no_consistent_inertia_is_nearer(seed: int, length: float) -> None:
    rng = np.random.default_rng(seed)
    pi = random_inertia(rng).parameters() + rng.normal(size=10) * 0.3
    near = nearest_consistent(pi, length)
    assert is_consistent(near)
    scale = np.array([1.0 / length] * 3 + [1.0])

    def distance(other) -> float:
        return float(np.linalg.norm((pseudo_inertia(other) - pseudo_inertia(pi))
                                    * np.outer(scale, scale)))

    for _ in range(20):
        other = nearest_consistent(near + rng.normal(size=10) * 0.05, length)
        assert distance(other) >= distance(near) * (1.0 - 1e-12)


def test_bodies_at_the_border_count() -> None:
    point = [1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    rod = [1.0, 0, 0, 0, 0, 0, 0, 0.2, 0, 0.2]
    assert is_consistent(point) and is_consistent(rod)
    assert not is_consistent([1.0, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.3])  # triangle inequality
    assert not is_consistent([-1.0, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1])


def test_refusals() -> None:
    with refused(ShapeError, 'parameters'):
        is_consistent(np.ones((2, 10)))
    with refused(LimitError, 'length'):
        nearest_consistent(np.ones(10), 0.0)
