# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The references that the tracker's rates of detection are compared with."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.stewart import bounds
from benchmarks.stewart.faults import NOISE, OUTLIER, STEP

COUNT, MIDDLE, SIZE = 41, 20, 1e-3


def fault(kind):
    """Return what is added in the middle of readings, (COUNT,), m."""
    return bounds.shape(kind, SIZE, np.zeros(COUNT), MIDDLE)


def test_the_smoother_leaves_the_rest_of_a_parabola_where_noise_is_all():
    readings = np.random.default_rng(0).normal(size=COUNT)
    steps = np.arange(COUNT)
    parabola = np.polyval(np.polyfit(steps, readings, 2), steps)
    np.testing.assert_allclose(bounds.rough(readings, 1e9), readings - parabola, atol=1e-4)


@pytest.mark.parametrize('ratio', [1.0, 1e2, 1e4])
def test_the_smoother_is_the_conditional_mean_of_a_gaussian_motion(ratio):
    rng = np.random.default_rng(1)
    readings = rng.normal(size=COUNT)
    walk = np.linalg.matrix_power(np.tril(np.ones((COUNT, COUNT))), bounds.ORDER)
    start = np.vander(np.arange(COUNT) / COUNT, bounds.ORDER)
    motion = walk[:, bounds.ORDER:] @ walk[:, bounds.ORDER:].T / ratio + 1e11 * start @ start.T
    mean = motion @ np.linalg.solve(motion + np.eye(COUNT), readings)
    np.testing.assert_allclose(bounds.rough(readings, ratio), readings - mean, atol=1e-3)


def test_the_smoother_has_the_false_alarms_of_its_threshold():
    rng, outlier = np.random.default_rng(2), fault(OUTLIER)
    weights = bounds.rough(outlier, 10.0)
    walk = np.linalg.matrix_power(np.tril(np.ones((COUNT, COUNT))), bounds.ORDER)
    motion = rng.normal(size=(4000, COUNT)) @ walk.T * NOISE / 10.0**0.5
    scores = (motion + NOISE * rng.normal(size=motion.shape)) @ weights
    assert scores.std() == pytest.approx(NOISE * (weights @ outlier) ** 0.5, rel=0.05)


def test_the_nearest_motion_without_acceleration_is_the_fitted_line():
    rest = bounds.distance(np.zeros(COUNT), fault(OUTLIER), 1e-13)
    assert rest == pytest.approx(SIZE * (1.0 - 1.0 / COUNT) ** 0.5, rel=1e-6)


@pytest.mark.parametrize(('kind', 'needed'), [(OUTLIER, 2.0), (STEP, 1.0)])
def test_a_fault_that_an_acceleration_explains_is_no_distance_from_a_motion(kind, needed):
    still = np.zeros(COUNT)
    assert bounds.distance(still, fault(kind), 1.001 * needed * SIZE) < 1e-9
    assert bounds.distance(still, fault(kind), 0.95 * needed * SIZE) > 1e-5


def test_later_readings_never_hide_a_fault():
    rests = [bounds.distance(np.zeros(COUNT)[:end], fault(STEP)[:end], 3e-4)
             for end in range(MIDDLE + 1, COUNT)]
    assert (np.diff(rests) > -1e-9).all() and rests[-1] > 1.05 * rests[0]


def test_the_best_test_names_what_no_motion_differs_from_once_an_hour():
    alarms = 3600.0 * 500.0 * 2.0 * norm.sf(bounds.threshold(500))
    assert alarms == pytest.approx(1.0)
    assert bounds.power(bounds.threshold(500), 500) == pytest.approx(0.5)
