# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The filters of a value by its square, and the odds of its having gone through zero.

Witnesses: the matrix exponential, quadrature, scipy's normal distribution, and Gaussian processes.
"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import multivariate_normal, norm

from liedyn_ros.stewart.tracking.branch.kernels import passage

PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # of a row's covariance


def matrix(row):
    """Return the covariance (3, 3) of a filter's row."""
    covariance = np.empty((3, 3))
    for (i, j), entry in zip(PLACES, row[3:9]):
        covariance[i, j] = covariance[j, i] = entry
    return covariance


def row_of(mean, covariance, evidence=0.0):
    """Return a filter's row."""
    return np.array([*mean, *(covariance[place] for place in PLACES), evidence])


def random_row(rng, scale=1.0):
    """Return a filter's row with any mean and covariance."""
    root = rng.normal(size=(3, 3))
    return row_of(scale * rng.normal(size=3), scale ** 2 * root @ root.T)


@pytest.mark.parametrize('dt', [0.3, -0.3, 2.0])
def test_prediction_is_van_loans(dt):
    rng, jerk = np.random.default_rng(1), 0.7
    drift, diffusion = np.diag([1.0, 1.0], 1), np.diag([0.0, 0.0, jerk])
    forward = dt > 0.0  # back in time the noise adds, too
    both = expm(abs(dt) * np.block([
        [-drift if forward else drift, diffusion], [np.zeros((3, 3)),
                                                    drift.T if forward else -drift.T]]))
    move = both[3:, 3:].T
    row = random_row(rng)
    mean, covariance = move @ row[:3], move @ matrix(row) @ move.T + move @ both[:3, 3:]
    passage.predict_filter(row, dt, jerk)
    np.testing.assert_allclose(row[:3], mean, rtol=1e-12)
    np.testing.assert_allclose(matrix(row), covariance, rtol=1e-11)


def test_correction_has_the_moments_of_a_normal_value():
    rng, variance = np.random.default_rng(2), 0.04
    row = random_row(rng, 0.5)
    value, spread = np.linspace(-8.0, 8.0, 4001), np.sqrt(row[3])
    density = norm.pdf(value, row[0], spread) * (value[1] - value[0])
    mean = density @ value ** 2
    total = density @ (value ** 2 - mean) ** 2 + variance
    shared = density @ ((value - row[0]) * (value ** 2 - mean))  # covariance with the square
    gain = matrix(row)[:, 0] / row[3] * shared / total
    expected = row_of(row[:3] + gain * (1.3 - mean), matrix(row) - total * np.outer(gain, gain))
    evidence = passage.correct_filter(row, 1.3, variance)
    np.testing.assert_allclose(row[:9], expected[:9], rtol=1e-9)
    assert evidence == pytest.approx(
        norm.logpdf(1.3, mean, np.sqrt(total)) - norm.logpdf(0.0, 0.0, np.sqrt(variance)) + 0.5)
    assert np.isnan(passage.correct_filter(row, 100.0, variance))


def test_agreement_is_a_normal_density():
    rng = np.random.default_rng(3)
    for _ in range(20):
        before, after = random_row(rng), random_row(rng)
        for sign in (1.0, -1.0):
            density = multivariate_normal.logpdf(
                sign * after[:3], before[:3], matrix(before) + matrix(after))
            assert passage.match_likelihood(before, after, sign) == pytest.approx(
                density + 1.5 * np.log(2.0 * np.pi), rel=1e-9)


def process(times, jerk):
    """Return the covariance of a value at times, from 0 on, started as `start_filter` does."""
    early, late = np.minimum.outer(times, times), np.maximum.outer(times, times)
    gap = late - early
    unknown = (passage.UNKNOWN_RATE * np.outer(times, times)
               + passage.UNKNOWN_ACCELERATION * np.outer(times, times) ** 2 / 4.0)
    return unknown + jerk * (gap ** 2 * early ** 3 / 12.0 + gap * early ** 4 / 8.0
                             + early ** 5 / 20.0)


@pytest.mark.full
@pytest.mark.parametrize('turned', [False, True])
@pytest.mark.parametrize('jerk', [1.0, 30.0])
def test_odds_are_those_of_gaussian_processes(turned, jerk):
    rng, noise = np.random.default_rng(4), 1e-4
    times = np.delete(np.arange(0.0, 1.0, 0.01), range(40, 60))
    value = 0.05 + (times - 0.5) ** 2 if turned else 0.6 * (0.5 - times) + 0.1 * times ** 2
    squares = value ** 2 + noise * rng.normal(size=len(times))
    size, deviations = np.sqrt(squares), 0.5 * noise / np.abs(value)

    bank, jerks = np.empty((1, passage.FILTER_WIDTH)), np.array([jerk])
    passage.start_filter(bank[0], size[0], deviations[0] ** 2)
    for square in squares[1:40]:
        passage.predict_bank(bank, jerks, 0.01, 1.0, 0)
        passage.correct_bank(bank, square, noise ** 2)
    bins = np.stack((times - times[39], squares, np.full_like(times, noise ** 2)), axis=1)[40:]
    odds = passage.passage_odds(
        bank, jerks, bins, len(bins), np.empty((2, passage.FILTER_WIDTH)), np.empty((1, 3)))

    covariance = (process(times[1:], jerk) + deviations[0] ** 2
                  + np.diag(deviations[1:] ** 2))
    same, opposite = (
        -0.5 * misfit @ np.linalg.solve(covariance, misfit)
        for misfit in (size[1:] - size[0], np.where(times > 0.5, -size, size)[1:] - size[0]))
    assert odds == pytest.approx(same - opposite, rel=0.02)
    assert (odds > 0.0) is turned


def test_odds_of_the_mirror_image_are_opposite():
    rng, jerks = np.random.default_rng(5), np.array([0.1, 1.0, 10.0])
    bank = np.array([random_row(rng, 0.1) for _ in jerks])
    mirrored = bank.copy()
    mirrored[:, :3] *= -1.0
    times = np.arange(0.01, 1.0, 0.01)
    bins = np.stack((times, (0.3 * times) ** 2, np.full_like(times, 1e-8)), axis=1)
    work = np.empty((2, passage.FILTER_WIDTH)), np.empty((3, 3))
    odds = passage.passage_odds(bank, jerks, bins, len(bins), *work)
    assert odds != 0.0
    assert passage.passage_odds(mirrored, jerks, bins, len(bins), *work) == pytest.approx(-odds)
    bins[-1, 1] = 0.0
    assert passage.passage_odds(bank, jerks, bins, len(bins), *work) == 0.0


def test_bins_keep_means_and_information():
    rng, bins, tally = np.random.default_rng(6), np.empty((8, 3)), np.zeros(passage.BIN_WIDTH)
    tally[5] = 1.0
    samples = rng.uniform(0.5, 1.0, size=(64, 3))
    for k, sample in enumerate(samples):
        passage.collect_square(bins, tally, *sample)
        held = int(tally[4] * tally[5])
        count, size = int(tally[4]), int(tally[5])
        assert held + tally[3] == k + 1
        grouped = samples[:held].reshape(count, size, 3)
        np.testing.assert_allclose(bins[:count, :2], grouped[..., :2].mean(axis=1))
        np.testing.assert_allclose(bins[:count, 2], grouped[..., 2].sum(axis=1) / size ** 2)


def test_a_filter_left_behind_takes_over_the_best():
    jerks, bank = np.array([1e-3, 1e3]), np.empty((2, passage.FILTER_WIDTH))
    for row in bank:
        passage.start_filter(row, 1.0, 1e-8)
    times, believed = np.arange(1, 1500) * 1e-3, set()
    for value in 1.0 + np.where(times < 1.0, 0.0, 2.0 * (times - 1.0) ** 2):
        passage.predict_bank(bank, jerks, 1e-3, 0.998, 0)
        best, expected, rate = passage.correct_bank(bank, value ** 2, 1e-8)
        believed.add(best)
        assert np.ptp(bank[:, 9]) < passage.MAX_LOG_PENALTY + 1e-9
        assert expected == pytest.approx(value, abs=1e-3)
    assert believed == {0, 1}
    assert rate == pytest.approx(2.0, rel=0.02)
